//! The shaders of a device by what tells them from each other: each is made when it is first needed, and kept for all
//! nodes.

use std::any::{Any, TypeId};
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use kernlink::error::Result;
use kernlink::tensor::Tensor;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::device::{GpuDevice, Groups, lock};
use crate::refusal::Refusal;
use crate::shader::{Program, Shader};

/// For each function that makes programs, the shaders by what it was called with.
#[derive(Default)]
pub(crate) struct Variants(Mutex<FxHashMap<TypeId, Box<dyn Any + Send>>>);

impl Variants {
    fn get<K, F>(&self, make: F, key: K) -> Arc<Shader>
    where
        K: Copy + Eq + Hash + Send + 'static,
        F: Fn(K) -> Program + 'static,
    {
        // A function by its type: what a closure holds would not be seen.
        const { assert!(size_of::<F>() == 0) };
        let made = || Arc::new(Shader::new(make(key)));
        let mut functions = lock(&self.0);
        let shaders =
            functions.entry(TypeId::of::<F>()).or_insert_with(|| Box::new(FxHashMap::<K, Arc<Shader>>::default()));
        match shaders.downcast_mut::<FxHashMap<K, Arc<Shader>>>() {
            Some(shaders) => shaders.entry(key).or_insert_with(made).clone(),
            None => made(),
        }
    }
}

impl GpuDevice {
    /// The shader of the program that a function makes of a key.
    pub(crate) fn shader<K, F>(&self, make: F, key: K) -> Arc<Shader>
    where
        K: Copy + Eq + Hash + Send + 'static,
        F: Fn(K) -> Program + 'static,
    {
        self.variants.get(make, key)
    }

    /// Records a run of [`GpuDevice::shader`].
    ///
    /// # Errors
    /// As [`GpuDevice::dispatch`].
    #[track_caller]
    pub(crate) fn run<K, F>(&self, make: F, key: K, tensors: &[&Tensor], params: &[u32], groups: Groups) -> Result<()>
    where
        K: Copy + Eq + Hash + Send + 'static,
        F: Fn(K) -> Program + 'static,
    {
        self.dispatch(&self.shader(make, key), tensors, params, groups)
    }

    /// Records a run of a shader that refuses some elements with this error, which it declares last of all.
    ///
    /// # Errors
    /// As [`GpuDevice::dispatch`].
    #[track_caller]
    pub(crate) fn dispatch_refusing(
        &self,
        refusal: Refusal,
        shader: &Shader,
        tensors: &[&Tensor],
        params: &[u32],
        groups: Groups,
    ) -> Result<()> {
        let mut tensors: SmallVec<[&Tensor; 8]> = SmallVec::from_slice(tensors);
        tensors.push(self.refusals()?);
        let mut params: SmallVec<[u32; 16]> = SmallVec::from_slice(params);
        params.push(refusal.number());
        self.dispatch(shader, &tensors, &params, groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::Entry;

    fn first(key: u32) -> Program {
        Program::trusted(format!("first {key}")).build(Entry::Elements, "")
    }

    fn second(key: u32) -> Program {
        Program::trusted(format!("second {key}")).build(Entry::Elements, "")
    }

    #[test]
    fn shaders_are_made_once_for_each_function_and_key() {
        let variants = Variants::default();
        let shader = variants.get(first, 1);
        assert!(Arc::ptr_eq(&shader, &variants.get(first, 1)));
        assert_eq!(variants.get(first, 2).program().label(), "first 2");
        assert_eq!(variants.get(second, 1).program().label(), "second 1");
        assert_eq!(shader.program().label(), "first 1");
    }
}

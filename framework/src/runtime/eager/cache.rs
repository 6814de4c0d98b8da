//! The kernels of an eager context, by op, device, dtypes and attrs.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use smallvec::SmallVec;

use super::prepared::Prepared;
use crate::attr::{AttrValue, FunctionRef};
use crate::graph::{ComputedOutput, NodeInput, NodeRequest, Operand};
use crate::runtime::functions::Functions;
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// Above so many bytes of attrs (a constant's value, say) a kernel without state is not worth keeping.
const MAX_KEY: usize = 4096;

/// So many kernels without state are kept: all of a program whose attrs do not change from call to call.
const MAX_KERNELS: usize = 4096;

/// All that decides about a kernel, in bytes: equal keys mean equal kernels.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Key(SmallVec<[u8; 96]>);

impl Key {
    /// The key of an op on device number `device`; `None` if its kernel is not worth keeping, an attr has no bytes to
    /// compare or an input is at fault. An op with state always has its kernel kept, unless it cannot be found again.
    #[inline]
    pub(super) fn new<V: ComputedOutput>(request: &NodeRequest<'_, V>, device: u8) -> Option<Key> {
        let stateful = request.op.is_stateful;
        // Without inputs and state there is nothing to compute twice: such an op is a constant.
        if !request.faults.is_empty() || (request.inputs.is_empty() && !stateful) {
            return None;
        }
        let mut key = KeyWriter { bytes: SmallVec::new(), limit: if stateful { usize::MAX } else { MAX_KEY } };
        key.request(request, device)?;
        Some(Key(key.bytes))
    }
}

/// Writes a key. Every function returns `None` as soon as there will be none, so that nothing large is copied for it.
struct KeyWriter {
    bytes: SmallVec<[u8; 96]>,
    limit: usize,
}

impl KeyWriter {
    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        if bytes.len() > self.limit.saturating_sub(self.bytes.len()) {
            return None;
        }
        self.bytes.extend_from_slice(bytes);
        Some(())
    }

    fn byte(&mut self, byte: u8) -> Option<()> {
        self.put(&[byte])
    }

    fn length(&mut self, length: usize) -> Option<()> {
        self.put(&(length as u32).to_le_bytes())
    }

    fn text(&mut self, text: &[u8]) -> Option<()> {
        self.length(text.len())?;
        self.put(text)
    }

    fn request<V: ComputedOutput>(&mut self, request: &NodeRequest<'_, V>, device: u8) -> Option<()> {
        self.byte(device)?;
        self.text(request.op.name.as_bytes())?;
        self.length(request.inputs.len())?;
        for input in &request.inputs {
            match input {
                NodeInput::Single(operand) => self.dtype_of(operand)?,
                NodeInput::List(operands) => self.list(0, operands, KeyWriter::dtype_of)?,
            }
        }
        for (name, value) in request.attrs.iter() {
            self.text(name.as_bytes())?;
            self.value(value)?;
        }
        Some(())
    }

    /// No dtype has number 0, which stands for a list.
    fn dtype_of<V: ComputedOutput>(&mut self, operand: &Operand<V>) -> Option<()> {
        self.byte(operand.as_tensor().dtype().number() as u8)
    }

    fn list<T>(&mut self, tag: u8, items: &[T], mut one: impl FnMut(&mut KeyWriter, &T) -> Option<()>) -> Option<()> {
        self.byte(tag)?;
        self.length(items.len())?;
        items.iter().try_for_each(|item| one(self, item))
    }

    fn value(&mut self, value: &AttrValue) -> Option<()> {
        let one = std::slice::from_ref::<i64>;
        match value {
            AttrValue::String(text) => self.list(1, std::slice::from_ref(text), |key, text| key.text(text)),
            AttrValue::Int(value) => self.list(2, one(value), KeyWriter::int),
            AttrValue::Float(value) => self.list(3, std::slice::from_ref(value), KeyWriter::float),
            AttrValue::Bool(value) => self.list(4, one(&i64::from(*value)), KeyWriter::int),
            AttrValue::Type(dtype) => self.list(5, one(&dtype.number().into()), KeyWriter::int),
            AttrValue::Shape(shape) => self.list(6, std::slice::from_ref(shape), KeyWriter::shape),
            AttrValue::Tensor(tensor) => self.list(7, std::slice::from_ref(tensor), KeyWriter::tensor),
            AttrValue::Func(function) => self.list(8, std::slice::from_ref(function), KeyWriter::function),
            AttrValue::ListString(list) => self.list(9, list, |key, text| key.text(text)),
            AttrValue::ListInt(list) => self.list(10, list, KeyWriter::int),
            AttrValue::ListFloat(list) => self.list(11, list, KeyWriter::float),
            AttrValue::ListBool(list) => self.list(12, list, |key, value| key.int(&i64::from(*value))),
            AttrValue::ListType(list) => self.list(13, list, |key, dtype| key.int(&dtype.number().into())),
            AttrValue::ListShape(list) => self.list(14, list, KeyWriter::shape),
            AttrValue::ListTensor(list) => self.list(15, list, KeyWriter::tensor),
            AttrValue::ListFunc(list) => self.list(16, list, KeyWriter::function),
            AttrValue::EmptyList => self.list(17, &[], KeyWriter::int),
            AttrValue::Placeholder(_) => None,
        }
    }

    fn int(&mut self, value: &i64) -> Option<()> {
        self.put(&value.to_le_bytes())
    }

    fn float(&mut self, value: &f32) -> Option<()> {
        self.put(&value.to_bits().to_le_bytes())
    }

    fn shape(&mut self, shape: &PartialShape) -> Option<()> {
        match shape.dims() {
            None => self.byte(0),
            Some(dims) => self.list(1, dims, |key, dim| key.int(&dim.map_or(-1, |dim| dim as i64))),
        }
    }

    /// By dtype, shape and elements; resources and variants have none to compare.
    fn tensor(&mut self, tensor: &Tensor) -> Option<()> {
        self.byte(tensor.dtype().number() as u8)?;
        self.list(0, tensor.shape().dims(), |key, dim| key.int(&(*dim as i64)))?;
        match tensor.as_slice::<crate::dtype::TString>() {
            Ok(texts) => self.list(0, texts, |key, text| key.text(text)),
            Err(_) => self.text(tensor.bytes().ok()?),
        }
    }

    fn function(&mut self, function: &FunctionRef) -> Option<()> {
        self.text(function.name.as_bytes())?;
        self.length(function.attrs.len())?;
        for (name, value) in &function.attrs {
            self.text(name.as_bytes())?;
            self.value(value)?;
        }
        Some(())
    }
}

/// Kernels that are ready to run, all made with one state of the registry, and the functions that they call.
pub(super) struct KernelCache(RwLock<Kernels>);

struct Kernels {
    functions: Arc<Functions>,
    /// Those in whose place others are, and that something still needs.
    former: Vec<Arc<Functions>>,
    generation: u64,
    by_key: HashMap<Key, Arc<Prepared>>,
    /// How many of them have no state.
    stateless: usize,
}

impl Kernels {
    fn clear(&mut self) {
        self.by_key.clear();
        self.stateless = 0;
    }

    fn insert(&mut self, key: Key, prepared: Arc<Prepared>) -> Arc<Prepared> {
        if let Some(kept) = self.by_key.get(&key) {
            return kept.clone();
        }
        if !prepared.is_stateful() {
            // Attrs that are new in every call: what is in use comes back, state would not.
            if self.stateless >= MAX_KERNELS {
                self.by_key.retain(|_, kernel| kernel.is_stateful());
                self.stateless = 0;
            }
            self.stateless += 1;
        }
        self.by_key.insert(key, prepared.clone());
        prepared
    }
}

impl KernelCache {
    pub(super) fn new(functions: Arc<Functions>) -> KernelCache {
        let (former, by_key) = (Vec::new(), HashMap::new());
        KernelCache(RwLock::new(Kernels { functions, former, generation: 0, by_key, stateless: 0 }))
    }

    fn read(&self) -> RwLockReadGuard<'_, Kernels> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Kernels> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The functions that kernels call.
    pub(super) fn functions(&self) -> Arc<Functions> {
        self.read().functions.clone()
    }

    /// Puts functions in the place of others, and drops the kernels that call some. The others stay as long as something holds one.
    pub(super) fn set_functions(&self, functions: Arc<Functions>) {
        let dropped = {
            let mut kernels = self.write();
            let replaced = std::mem::replace(&mut kernels.functions, functions);
            kernels.former.push(replaced);
            let former = kernels.former.extract_if(.., |functions| !functions.are_held()).collect::<Vec<_>>();
            let all = std::mem::take(&mut kernels.by_key);
            let (calling, others): (HashMap<_, _>, HashMap<_, _>) =
                all.into_iter().partition(|(_, kernel)| kernel.calls_functions());
            kernels.stateless = others.values().filter(|kernel| !kernel.is_stateful()).count();
            kernels.by_key = others;
            (calling, former)
        };
        // A kernel that goes may ask for the functions.
        drop(dropped);
    }

    /// Drops the kernels that call functions of these names.
    pub(super) fn forget_calls(&self, names: &HashSet<String>) {
        let dropped: Vec<Arc<Prepared>> = {
            let mut kernels = self.write();
            let going = |kernel: &Prepared| kernel.called().any(|function| names.contains(&function.name));
            let dropped: Vec<_> =
                kernels.by_key.extract_if(|_, kernel| going(kernel)).map(|(_, kernel)| kernel).collect();
            kernels.stateless -= dropped.iter().filter(|kernel| !kernel.is_stateful()).count();
            dropped
        };
        // A kernel that goes may ask for the functions.
        drop(dropped);
    }

    pub(super) fn get(&self, key: &Key, generation: u64) -> Option<Arc<Prepared>> {
        let kernels = self.read();
        if kernels.generation != generation {
            return None;
        }
        kernels.by_key.get(key).cloned()
    }

    /// Keeps a kernel, unless another thread was faster: all calls share the one that is kept. One that calls functions is not
    /// kept if `functions`, which it was made with, are others by now.
    pub(super) fn insert(
        &self,
        key: Key,
        prepared: Arc<Prepared>,
        generation: u64,
        functions: &Arc<Functions>,
    ) -> Arc<Prepared> {
        let mut kernels = self.write();
        if prepared.calls_functions() && !Arc::ptr_eq(functions, &kernels.functions) {
            return prepared;
        }
        if kernels.generation < generation {
            kernels.clear();
            kernels.generation = generation;
        } else if kernels.generation > generation {
            return prepared;
        }
        kernels.insert(key, prepared)
    }

    pub(super) fn len(&self) -> usize {
        self.read().by_key.len()
    }

    pub(super) fn clear(&self) {
        self.write().clear();
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;
    use crate::attr::AttrMap;
    use crate::op::{OpDef, OpDefBuilder};

    fn op(stateful: bool) -> OpDef {
        let op = OpDefBuilder::new("Keeps").attr("value: tensor").input("x: float").output("y: float");
        if stateful { op.stateful() } else { op }.build().unwrap()
    }

    fn has_key(op: &OpDef, value: impl Into<AttrValue>, with_input: bool) -> bool {
        let mut attrs = AttrMap::new();
        attrs.insert("value", value);
        let request = NodeRequest {
            op,
            inputs: if with_input {
                smallvec![NodeInput::Single(Operand::<Tensor>::Constant(Tensor::scalar(1.0f32)))]
            } else {
                smallvec![]
            },
            attrs,
            name: None,
            device: String::new(),
            control_inputs: Vec::new(),
            faults: Vec::new(),
        };
        Key::new(&request, 0).is_some()
    }

    #[test]
    fn what_is_not_kept_is_not_copied_into_a_key() {
        let (stateless, stateful) = (op(false), op(true));
        let large = Tensor::vector(&[0u8; MAX_KEY]).unwrap();
        let small = Tensor::vector(&[0u8; MAX_KEY / 2]).unwrap();
        let texts = Tensor::from("x".repeat(MAX_KEY).as_str());
        assert!(has_key(&stateless, small.clone(), true));
        assert!(!has_key(&stateless, large.clone(), true));
        assert!(!has_key(&stateless, texts, true));
        assert!(!has_key(&stateless, vec![small.clone(), small.clone()], true));
        assert!(!has_key(&stateless, vec![0i64; MAX_KEY / 8], true));
        assert!(has_key(&stateful, large.clone(), true), "its state is found again");
        assert!(!has_key(&stateless, small.clone(), false), "a constant");
        assert!(has_key(&stateful, large, false));
    }
}

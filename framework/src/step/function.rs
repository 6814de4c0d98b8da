//! Functions as kernels see them: something to call with tensors.

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, Weak};

use super::{Step, lock};
use crate::attr::FunctionRef;
use crate::device::BoxFuture;
use crate::dtype::DataType;
use crate::error::Result;
use crate::tensor::Tensor;

/// A function with its attrs, ready to be called.
pub trait Function: Send + Sync {
    /// The dtypes of the arguments.
    fn argument_dtypes(&self) -> &[DataType];

    /// The dtypes of the results.
    fn result_dtypes(&self) -> &[DataType];

    /// Runs the body in a step. `depth` counts the calls in which this one is nested.
    ///
    /// The future gives INVALID_ARGUMENT for arguments of the wrong number or dtype, RESOURCE_EXHAUSTED if calls are
    /// nested too deeply, the error of [`Step::check`] if the step is to end, and whatever a kernel of the body meets.
    fn call(
        self: Arc<Self>,
        step: &Arc<Step>,
        depth: u32,
        arguments: Vec<Tensor>,
    ) -> BoxFuture<'static, Result<Vec<Tensor>>>;
}

/// How often each function of a library is held.
pub(crate) type Holds = Arc<Mutex<HashMap<String, usize>>>;

/// Has a function stay in its library, with those that its attrs name; see [`FunctionLibrary::hold`].
pub struct HeldFunction {
    names: Vec<String>,
    holds: Holds,
}

impl HeldFunction {
    pub(crate) fn new(names: Vec<String>, holds: &Holds) -> HeldFunction {
        let mut counts = lock(holds);
        names.iter().for_each(|name| *counts.entry(name.clone()).or_default() += 1);
        drop(counts);
        HeldFunction { names, holds: holds.clone() }
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }
}

impl Drop for HeldFunction {
    fn drop(&mut self) {
        let mut counts = lock(&self.holds);
        for name in &self.names {
            if let Some(count) = counts.get_mut(name) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(name);
                }
            }
        }
    }
}

/// The functions of a graph.
pub trait FunctionLibrary: Any + Send + Sync {
    /// The function that `call` names, with the attrs of `call`, on a device. What is stateful in its body belongs to
    /// this instance.
    ///
    /// # Errors
    /// NOT_FOUND if there is none; INVALID_ARGUMENT if its body is invalid.
    fn instantiate(&self, call: &FunctionRef, device: &str) -> Result<Arc<dyn Function>>;

    /// As [`FunctionLibrary::instantiate`], for a caller who gives these values for the arguments with these numbers in every
    /// call: the body may be planned with them as constants.
    ///
    /// # Errors
    /// As [`FunctionLibrary::instantiate`].
    fn instantiate_with(
        &self,
        call: &FunctionRef,
        device: &str,
        values: Vec<(usize, Tensor)>,
    ) -> Result<Arc<dyn Function>> {
        drop(values);
        self.instantiate(call, device)
    }

    /// The library for who calls functions after the plan is gone that it was found in: the whole of it, which its session
    /// owns. `None` if there is no other than this one.
    fn whole(&self) -> Option<Weak<dyn FunctionLibrary>> {
        None
    }

    /// Has the function that `call` names, and what it calls, stay in the library for as long as somebody has what is returned: for
    /// values that instantiate it later. `None` if the library's functions stay in any case.
    ///
    /// # Errors
    /// NOT_FOUND if it went already.
    fn hold(&self, call: &FunctionRef) -> Result<Option<HeldFunction>> {
        let _ = call;
        Ok(None)
    }

    /// Whether result `index` of the function that `call` names is argument `index` in every call, as far as that is known.
    fn passes_on(&self, call: &FunctionRef, index: usize) -> bool {
        let _ = (call, index);
        false
    }

    /// Plans the bodies of those of these functions that were instantiated, and of what they call, where their first calls
    /// would.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there are too many.
    fn prepare(&self, names: &HashSet<String>) -> Result<()> {
        let _ = names;
        Ok(())
    }
}

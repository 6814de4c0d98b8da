//! Resource variables: tensors that runs read and assign.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Resource;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// A variable: a tensor that is replaced as a whole or, while nothing else shares it, changed in place.
///
/// What was read stays as it was when the variable changes later: readers share the elements, and an update copies
/// those that are shared.
pub struct Variable {
    dtype: DataType,
    value: Mutex<Option<Tensor>>,
    /// The host's value in the memory of the device that read it last, until someone may change it. Locked after `value`.
    copy: Mutex<Option<Tensor>>,
}

impl Variable {
    /// A variable without a value.
    pub fn new(dtype: DataType) -> Variable {
        Variable { dtype, value: Mutex::new(None), copy: Mutex::new(None) }
    }

    /// The dtype of its values.
    pub fn dtype(&self) -> DataType {
        self.dtype
    }

    /// The value, locked against others until the guard goes. `None` stands for a variable that was not initialised.
    ///
    /// Whoever changes it keeps to the dtype.
    pub fn lock(&self) -> MutexGuard<'_, Option<Tensor>> {
        let value = self.look();
        *self.copy() = None;
        value
    }

    /// [`Variable::lock`] for those who change nothing.
    pub(crate) fn look(&self) -> MutexGuard<'_, Option<Tensor>> {
        // A kernel that panicked with the lock left a whole tensor or none.
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The host's value in the memory of a device, locked; after the value where both are.
    pub(crate) fn copy(&self) -> MutexGuard<'_, Option<Tensor>> {
        self.copy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if there is none.
    #[track_caller]
    pub fn read(&self) -> Result<Tensor> {
        let value = self.look().clone();
        value.ok_or_else(|| Error::failed_precondition("the variable was not initialized"))
    }

    /// The value, if it is in a device's memory alone.
    pub(crate) fn away(&self) -> Option<Tensor> {
        self.look().as_ref().filter(|value| value.device_memory().is_some()).cloned()
    }

    /// Replaces a value `there`, in a device's memory, by its copy on the host, if it still is the variable's value. The copy
    /// on the device is kept for readers there.
    pub(crate) fn bring_home(&self, there: Tensor, host: Tensor) {
        let mut value = self.look();
        let memories = (value.as_ref().and_then(Tensor::device_memory), there.device_memory());
        let is_same = matches!(memories, (Some(now), Some(then)) if Arc::ptr_eq(now, then));
        if is_same {
            *value = Some(host);
            *self.copy() = Some(there);
        }
    }

    /// Replaces a value in a device's memory by the copy on the host that `bring` makes; the variable is locked meanwhile.
    ///
    /// # Errors
    /// Those of `bring`.
    pub(crate) fn bring_home_by(&self, bring: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<()> {
        let mut value = self.look();
        if let Some(there) = value.as_ref().filter(|value| value.device_memory().is_some()).cloned() {
            *value = Some(bring(&there)?);
            *self.copy() = Some(there);
        }
        Ok(())
    }

    /// Replaces the value.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the dtype is another.
    #[track_caller]
    pub fn assign(&self, value: Tensor) -> Result<()> {
        if value.dtype() != self.dtype {
            return Err(Error::invalid_argument(format!(
                "Trying to assign variable with wrong dtype. Expected {} got {}",
                self.dtype,
                value.dtype()
            )));
        }
        // The old value is dropped when the lock is gone.
        let old = self.lock().replace(value);
        drop(old);
        Ok(())
    }
}

impl Resource for Variable {
    fn type_name() -> &'static str {
        "tensorflow::Var"
    }

    fn debug_string(&self) -> String {
        match &*self.look() {
            Some(value) => format!("{}/{}", self.dtype, value.shape()),
            None => format!("{}, uninitialized", self.dtype),
        }
    }

    fn memory_used(&self) -> usize {
        self.look().as_ref().map_or(0, Tensor::num_bytes)
    }
}

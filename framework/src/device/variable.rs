//! Variables in the memory of a device.

use super::Device;
use crate::error::Result;
use crate::resource::Variable;
use crate::tensor::Tensor;

impl Variable {
    /// The value in a device's memory; `None` if the variable has no value. A value on the host is copied there once, not at
    /// each read, and stays on the host for kernels there.
    ///
    /// # Errors
    /// Those of [`Device::to_device`].
    pub fn read_on(&self, device: &dyn Device) -> Result<Option<Tensor>> {
        let value = self.look();
        let Some(value) = &*value else { return Ok(None) };
        if value.device_memory().is_some() {
            return Ok(Some(value.clone()));
        }
        let mut copy = self.copy();
        if let Some(there) = copy.as_ref().filter(|there| device.owns(there)) {
            return Ok(Some(there.clone()));
        }
        let there = device.to_device(value)?;
        *copy = Some(there.clone());
        Ok(Some(there))
    }
}

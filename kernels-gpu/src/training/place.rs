//! Variables whose values are in the device's memory.

use kernlink::device::Device as _;
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::kernel::place;
use kernlink::tensor::Tensor;

use crate::device::GpuDevice;

/// The value of the variable at input `input`, in the device's memory.
///
/// # Errors
/// As [`place::read`].
pub(crate) fn read(gpu: &GpuDevice, ctx: &RawContext<'_>, input: usize, dtype: DataType) -> Result<Tensor> {
    place::read_on(gpu, ctx, input, dtype)
}

/// Makes a variable's elements its own, and brings them to the device: copies them if they are shared.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(crate) fn writable(gpu: &GpuDevice, tensor: &mut Tensor) -> Result<()> {
    if tensor.device_memory().is_none() {
        *tensor = gpu.to_device(tensor)?;
    } else if !tensor.is_unique() {
        *tensor = gpu.copy(tensor)?;
    }
    Ok(())
}

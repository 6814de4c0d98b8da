//! How kernels change the elements of variables.

use kernlink::error::Result;
use kernlink::kernel::RawContext;
pub(crate) use kernlink::kernel::place::{forward, read, update};
use kernlink::tensor::Tensor;
use kernlink_kernels_common::element::match_objects;

/// Makes a variable's elements its own: copies them if they are shared.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(crate) fn writable(tensor: &mut Tensor) -> Result<()> {
    if !tensor.is_unique() {
        let dtype = tensor.dtype();
        *tensor = match_objects!(dtype, T => Tensor::from_elements(tensor.shape().clone(), tensor.as_slice::<T>()?)?, _ => {
            Tensor::from_bytes(dtype, tensor.shape().clone(), tensor.bytes()?)?
        });
    }
    Ok(())
}

/// How many of a variable's `count` rows a thread takes when rows are changed by index, which is `work` in nanoseconds or
/// so. Each thread goes through all the indices and does those of its own rows, so that each row is changed in order.
pub(crate) fn rows_of_a_thread(ctx: &RawContext<'_>, count: usize, work: usize) -> usize {
    let threads = if work < 40_000 { 1 } else { ctx.threads() };
    count.div_ceil(threads).max(1)
}

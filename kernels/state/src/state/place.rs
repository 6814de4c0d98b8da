//! How kernels change the elements of variables.

use kernlink::kernel::RawContext;
pub(crate) use kernlink::kernel::place::{forward, read, update};

/// How many of a variable's `count` rows a thread takes when rows are changed by index, which is `work` in nanoseconds or
/// so. Each thread goes through all the indices and does those of its own rows, so that each row is changed in order.
pub(crate) fn rows_of_a_thread(ctx: &RawContext<'_>, count: usize, work: usize) -> usize {
    let threads = if work < 40_000 { 1 } else { ctx.threads() };
    count.div_ceil(threads).max(1)
}

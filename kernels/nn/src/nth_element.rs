//! NthElement.

use std::cmp::Ordering;

use kernlink::dtype::RealNumber;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::tensor::scratch;
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::NthElement;

#[register_kernel(device = Cpu, op = NthElement, T = [realnumbertype])]
fn nth_element<T: RealNumber>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (input, n) = (ctx.input(O::INPUT)?, ctx.input(O::N)?);
    ensure!(n.rank() == 0, InvalidArgument, "n must be a scalar, not of shape {}", n.shape());
    let n = n.as_slice::<i32>()?[0];
    ensure!(n >= 0, InvalidArgument, "n must be >= 0, not {n}");
    let Some((&columns, rows)) = input.shape().split_last() else {
        bail!(InvalidArgument, "input must have at least one dimension");
    };
    let n = n as usize;
    ensure!(n < columns, InvalidArgument, "the rows of input must have more than {n} elements, not {columns}");
    let n = if attrs.reverse { columns - 1 - n } else { n };
    let mut output = ctx.allocate_output(O::VALUES, rows)?;
    let elements = input.as_slice::<T>()?;
    ctx.try_parallel_chunks(output.as_mut_slice::<T>()?, 1, columns.saturating_mul(8), |first, piece| {
        // Rows may be of any length if there are none.
        let mut row = scratch::room(if piece.is_empty() { 0 } else { columns })?;
        for (index, target) in piece.iter_mut().enumerate() {
            row.clear();
            row.extend_from_slice(&elements[(first + index) * columns..][..columns]);
            *target = *row.select_nth_unstable_by(n, order).1;
        }
        Ok(())
    })?;
    ctx.set_output(O::VALUES, output)
}

/// The order of numbers, with NaN after all others.
fn order<T: PartialOrd>(a: &T, b: &T) -> Ordering {
    let is_nan = |value: &T| value.partial_cmp(value).is_none();
    a.partial_cmp(b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

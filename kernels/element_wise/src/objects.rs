//! Element-wise loops over elements that are not plain bytes: strings, resources, variants.

use kernlink::Result;
use kernlink::dtype::Element;
use kernlink::kernel::RawContext;

use super::broadcast::Plan;

/// Sets output 0 to `f` of every pair of elements of inputs 0 and 1, broadcast.
///
/// # Errors
/// INVALID_ARGUMENT if the shapes or dtypes do not fit.
pub(super) fn zip<T: Element, U: Element>(
    ctx: &mut RawContext<'_>,
    limit: usize,
    f: impl Fn(&T, &T) -> U,
) -> Result<()> {
    let (x, y) = (ctx.input_at(0)?, ctx.input_at(1)?);
    let plan = Plan::new([x.shape(), y.shape()], limit)?;
    let mut output = ctx.allocate_output_at(0, plan.shape())?;
    let (x, y, out) = (x.as_slice::<T>()?, y.as_slice::<T>()?, output.as_mut_slice::<U>()?);
    let steps = plan.run_steps();
    plan.runs(0..out.len(), &mut |at, first, length| {
        for (i, out) in out[at..at + length].iter_mut().enumerate() {
            *out = f(&x[first[0] + i * steps[0]], &y[first[1] + i * steps[1]]);
        }
    });
    ctx.set_output_at(0, output)
}

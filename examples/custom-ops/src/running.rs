//! RunningMax and RunningMin: two ops that share a declaration, and one kernel for both.

use kernlink::prelude::*;

#[register_op(
    attr("T: {int32, int64}"),
    input("x: T"),
    output("y: T", "Of the shape of `x`."),
    shape_fn = shape::unchanged
)]
pub enum Running {
    /// For each element the greatest up to it, in row-major order.
    RunningMax,
    /// For each element the least up to it, in row-major order.
    RunningMin,
}

impl RunningMax {
    fn better<T: Ord>(a: T, b: T) -> T {
        a.max(b)
    }
}

impl RunningMin {
    fn better<T: Ord>(a: T, b: T) -> T {
        a.min(b)
    }
}

#[register_kernel(device = Cpu, op = [RunningMax, RunningMin], T = [i32, i64])]
fn compute<T: Number + Ord>(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let x = ctx.input(O::X)?;
    let mut output = ctx.allocate_output(O::Y, x.shape())?;
    let mut best: Option<T> = None;
    for (y, &x) in output.as_mut_slice::<T>()?.iter_mut().zip(x.as_slice::<T>()?) {
        *y = best.map_or(x, |best| O::better(best, x));
        best = Some(*y);
    }
    ctx.set_output(O::Y, output)
}

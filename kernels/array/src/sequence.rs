//! Sequences: Range, LinSpace.

use kernlink::dtype::Number;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::tensor::Tensor;
use kernlink_geometry::integers::{ensure_scalar, scalar};
use kernlink_geometry::sequence::{Progression, range};
use kernlink_kernels_common::number::Float;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

widest! {
    /// Elements of a sequence from number `first` on: `start`, and so many steps.
    fn progression<T: Number>(start: T, step: T, first: usize, piece: &mut [T]) {
        let element = |number: i64| start.wrapping_add(T::from_i64(number).wrapping_mul(step));
        match (i32::try_from(first), i32::try_from(first + piece.len())) {
            // Of integers with 32 bits processors convert several at a time.
            (Ok(first), Ok(_)) => {
                piece.iter_mut().enumerate().for_each(|(i, to)| *to = element(i64::from(first + i as i32)));
            }
            _ => piece.iter_mut().enumerate().for_each(|(i, to)| *to = element((first + i) as i64)),
        }
    }
}

#[register_kernel(device = Cpu, host_memory = ["start", "limit", "delta"], Tidx = [bf16, f64, f32, f16, i32, i64])]
#[register_kernel(device = Default, Tidx = [i32], host_memory = ["start", "limit", "delta", "output"])]
fn range_kernel<Tidx: Progression>(ctx: &mut KernelContext<'_, ops::Range>) -> Result<()> {
    type Op = ops::Range;
    let (start, delta, count) = range::<Tidx>(ctx.input(Op::START)?, ctx.input(Op::LIMIT)?, ctx.input(Op::DELTA)?)?;
    let mut output = ctx.allocate_output(Op::OUTPUT, [count])?;
    ctx.parallel_chunks(output.as_mut_slice::<Tidx>()?, 1024, 1, |first, piece| {
        progression(start, delta, first, piece)
    });
    ctx.set_output(Op::OUTPUT, output)
}

#[register_kernel(device = Cpu, host_memory = ["start", "stop", "num", "output"], T = [f64, f32], Tidx = [int32, int64])]
fn lin_space<T: Number + Float>(ctx: &mut KernelContext<'_, ops::LinSpace>) -> Result<()> {
    let value = |tensor: &Tensor, name: &str| {
        ensure_scalar(tensor, name)?;
        tensor.to_scalar::<T>()
    };
    let start = value(ctx.input(ops::LinSpace::START)?, "start")?;
    let stop = value(ctx.input(ops::LinSpace::STOP)?, "stop")?;
    let num = scalar(ctx.input(ops::LinSpace::NUM)?, "num")?;
    ensure!(num > 0, InvalidArgument, "Requires num > 0: {num}");
    let mut output = ctx.allocate_output(ops::LinSpace::OUTPUT, [num as usize])?;
    let elements = output.as_mut_slice::<T>()?;
    if num > 1 {
        let step = (stop - start) / T::from_i64(num - 1);
        ctx.parallel_chunks(elements, 1, 1, |first, piece| progression(start, step, first, piece));
    }
    // Arithmetic would not always begin and end exactly there.
    elements[0] = start;
    if let [_, .., last] = elements {
        *last = stop;
    }
    ctx.set_output(ops::LinSpace::OUTPUT, output)
}

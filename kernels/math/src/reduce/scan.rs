//! Cumsum, Cumprod and CumulativeLogsumexp: every partial result along an axis.

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawConstruction, RawContext};
use kernlink::op::Op;
use kernlink::tensor::Tensor;
use kernlink_geometry::reduce::scanned;
use kernlink_kernels_common::number::{Computed, Float};
use kernlink_macros::register_kernel;
use kernlink_ops::{Cumprod, Cumsum, CumulativeLogsumexp};

/// What is accumulated. TensorFlow rounds to the dtype after each step.
trait Accumulation<T>: Send + Sync + 'static {
    /// The result before the first element.
    fn start() -> T;
    /// The result with one more element.
    fn step(result: T, element: T) -> T;
}

struct Sums;

impl<T: Number> Accumulation<T> for Sums {
    fn start() -> T {
        T::ZERO
    }
    #[inline(always)]
    fn step(result: T, element: T) -> T {
        result.wrapping_add(element)
    }
}

struct Products;

impl<T: Number> Accumulation<T> for Products {
    fn start() -> T {
        T::ONE
    }
    #[inline(always)]
    fn step(result: T, element: T) -> T {
        result.wrapping_mul(element)
    }
}

/// Logarithms of sums of exponentials.
struct LogSums;

impl<T: Computed<Wide: Float>> Accumulation<T> for LogSums {
    fn start() -> T {
        T::narrow(T::Wide::neg_infinity())
    }
    #[inline(always)]
    fn step(result: T, element: T) -> T {
        let (a, b) = (result.widen(), element.widen());
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        // The difference of two infinities is no number. One NaN makes the result NaN.
        let is_infinite = high.is_infinite() && !low.is_nan();
        T::narrow(if is_infinite { high } else { high + (low - high).exp().ln_1p() })
    }
}

struct Scan<A, T> {
    way: Way,
    accumulation: PhantomData<fn(T) -> A>,
}

/// In which direction, and whether an element counts in the result at its own place.
#[derive(Clone, Copy)]
struct Way {
    exclusive: bool,
    reverse: bool,
}

impl<O: Op, A: Accumulation<T>, T: Number> OpKernel<O> for Scan<A, T> {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let ctx: &RawConstruction<'_> = ctx;
        let way = Way { exclusive: ctx.attrs.required("exclusive")?, reverse: ctx.attrs.required("reverse")? };
        Ok(Self { way, accumulation: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        scan(ctx, self.way, scan_all::<A, T>)
    }
}

/// Writes partial results of blocks of so many elements, rows of so many.
type ScanAll = fn(&RawContext<'_>, Way, usize, usize, &Tensor, &mut Tensor) -> Result<()>;

/// What such kernels have in common for all dtypes.
#[inline(never)]
fn scan(ctx: &mut RawContext<'_>, way: Way, scan_all: ScanAll) -> Result<()> {
    let input = ctx.input_at(0)?;
    let (size, inner) = scanned(input.shape(), ctx.input_at(1)?)?;
    let mut output = ctx.allocate_output_at(0, input.shape())?;
    if output.num_elements() > 0 {
        scan_all(ctx, way, size * inner, inner, input, &mut output)?;
    }
    ctx.set_output_at(0, output)
}

fn scan_all<A: Accumulation<T>, T: Number>(
    ctx: &RawContext<'_>,
    way: Way,
    block: usize,
    inner: usize,
    input: &Tensor,
    output: &mut Tensor,
) -> Result<()> {
    let input = input.as_slice::<T>()?;
    ctx.parallel_chunks(output.as_mut_slice::<T>()?, block, 1, |first, piece| {
        for (output, input) in piece.chunks_mut(block).zip(input[first..].chunks(block)) {
            if inner == 1 {
                scan_run::<A, T>(way, input, output);
            } else {
                scan_rows::<A, T>(way, inner, input, output);
            }
        }
    });
    Ok(())
}

fn scan_run<A: Accumulation<T>, T: Number>(way: Way, input: &[T], output: &mut [T]) {
    fn walk<'a, A: Accumulation<T>, T: Number>(exclusive: bool, steps: impl Iterator<Item = (&'a mut T, &'a T)>) {
        let mut result = A::start();
        for (target, &element) in steps {
            let next = A::step(result, element);
            *target = if exclusive { result } else { next };
            result = next;
        }
    }
    let steps = output.iter_mut().zip(input);
    if way.reverse { walk::<A, T>(way.exclusive, steps.rev()) } else { walk::<A, T>(way.exclusive, steps) }
}

fn scan_rows<A: Accumulation<T>, T: Number>(way: Way, inner: usize, input: &[T], output: &mut [T]) {
    let rows = input.len() / inner;
    let place = |step: usize| if way.reverse { rows - 1 - step } else { step };
    for step in 0..rows {
        let row = place(step) * inner..(place(step) + 1) * inner;
        let Some(before) = step.checked_sub(1).map(place) else {
            let row = &mut output[row.clone()];
            row.fill(A::start());
            if !way.exclusive {
                let input = &input[place(0) * inner..][..inner];
                row.iter_mut().zip(input).for_each(|(target, &element)| *target = A::step(*target, element));
            }
            continue;
        };
        // The row and the one before it are neighbours; which comes first depends on the direction.
        let (head, tail) = output.split_at_mut(row.start.max(before * inner));
        let (target, result) = if way.reverse {
            (&mut head[row.clone()], &tail[..inner])
        } else {
            (&mut tail[..inner], &head[before * inner..])
        };
        let input = if way.exclusive { &input[before * inner..][..inner] } else { &input[row] };
        for ((target, &result), &element) in target.iter_mut().zip(result).zip(input) {
            *target = A::step(result, element);
        }
    }
}

#[register_kernel(device = Cpu, op = Cumsum, T = [realnumbertype, Complex32, Complex64], Tidx = [int32, int64])]
type CumsumKernel<T> = Scan<Sums, T>;

#[register_kernel(device = Cpu, op = Cumprod, T = [realnumbertype, Complex32, Complex64], Tidx = [int32, int64])]
type CumprodKernel<T> = Scan<Products, T>;

#[register_kernel(
    device = Cpu, op = CumulativeLogsumexp, T = [f32, f64, f16, bf16], Tidx = [int32, int64], host_memory = ["axis"]
)]
type CumulativeLogsumexpKernel<T> = Scan<LogSums, T>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_runs_agree() {
        for (exclusive, reverse) in [(false, false), (false, true), (true, false), (true, true)] {
            let way = Way { exclusive, reverse };
            let (mut run, mut rows) = ([0; 4], [0; 8]);
            scan_run::<Products, i32>(way, &[2, 3, 5, 7], &mut run);
            scan_rows::<Products, i32>(way, 2, &[2, 2, 3, 3, 5, 5, 7, 7], &mut rows);
            let expected = match (exclusive, reverse) {
                (false, false) => [2, 6, 30, 210],
                (false, true) => [210, 105, 35, 7],
                (true, false) => [1, 2, 6, 30],
                (true, true) => [105, 35, 7, 1],
            };
            assert_eq!(run, expected);
            assert_eq!(rows, std::array::from_fn(|index| expected[index / 2]));
        }
    }
}

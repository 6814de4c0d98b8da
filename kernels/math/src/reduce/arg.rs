//! ArgMax and ArgMin: where the greatest or least element along an axis is, the first of equals. NaN is passed over.

use std::marker::PhantomData;

use kernlink::dtype::{DataType, Element};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::op::Op;
use kernlink::tensor::Tensor;
use kernlink::{Result, bail};
use kernlink_geometry::reduce::{Sought, sought};
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::{ArgMax, ArgMin};

use super::reducer::Ordered;

/// Which element is sought.
pub(super) trait Choice: Send + Sync + 'static {
    /// What every sought element is beyond, as TensorFlow starts: −∞ is not above it.
    fn start<T: Ordered>() -> T::Key;
    /// Whether `new` is to be preferred to `best`; not if it is NaN.
    fn beyond<T: Ordered>(new: T::Key, best: T::Key) -> bool;
}

struct Greatest;

impl Choice for Greatest {
    fn start<T: Ordered>() -> T::Key {
        T::LOWEST
    }
    #[inline(always)]
    fn beyond<T: Ordered>(new: T::Key, best: T::Key) -> bool {
        new > best
    }
}

struct Least;

impl Choice for Least {
    fn start<T: Ordered>() -> T::Key {
        T::HIGHEST
    }
    #[inline(always)]
    fn beyond<T: Ordered>(new: T::Key, best: T::Key) -> bool {
        new < best
    }
}

struct Arg<C, T>(PhantomData<fn(T) -> C>);

impl<O: Op, C: Choice, T: Ordered> OpKernel<O> for Arg<C, T> {
    fn new(_: &KernelConstruction<'_, O>) -> Result<Self> {
        Ok(Self(PhantomData))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        find(ctx, |ctx, sizes, input, found| {
            search::<C, T>(ctx, sizes, input.as_slice()?, found);
            Ok(())
        })
    }
}

/// Writes where the extremes of a tensor are.
type Search = fn(&RawContext<'_>, &Sought, &Tensor, &mut [i64]) -> Result<()>;

/// What such kernels have in common for all dtypes.
#[inline(never)]
fn find(ctx: &mut RawContext<'_>, search: Search) -> Result<()> {
    let sizes = sought(ctx.input_at(0)?.shape(), ctx.input_at(1)?)?;
    let mut found = Tensor::alloc(DataType::Int64, sizes.output.clone())?;
    if found.num_elements() > 0 {
        search(ctx, &sizes, ctx.input_at(0)?, found.as_mut_slice()?)?;
    }
    let output = convert(found, ctx.output_dtype_at(0)?)?;
    ctx.set_output_at(0, output)
}

fn search<C: Choice, T: Ordered>(ctx: &RawContext<'_>, sizes: &Sought, input: &[T], found: &mut [i64]) {
    let &Sought { size: axis, inner, .. } = sizes;
    if inner == 1 {
        ctx.parallel_chunks(found, 1, 1 + axis, |first, piece| {
            for (target, row) in piece.iter_mut().zip(input[first * axis..].chunks(axis)) {
                *target = search_run::<C, T>(row) as i64;
            }
        });
        return;
    }
    const TILE: usize = 256;
    ctx.parallel_chunks(found, inner.min(TILE), 1 + axis, |first, piece| {
        let mut best = [C::start::<T>(); TILE];
        let mut done = 0;
        while done < piece.len() {
            let (outer, column) = ((first + done) / inner, (first + done) % inner);
            let width = (inner - column).min(TILE).min(piece.len() - done);
            let (target, best) = (&mut piece[done..done + width], &mut best[..width]);
            target.fill(0);
            best.fill(C::start::<T>());
            for index in 0..axis {
                let row = &input[(outer * axis + index) * inner + column..][..width];
                for ((target, best), &element) in target.iter_mut().zip(best.iter_mut()).zip(row) {
                    let key = element.key();
                    let beyond = C::beyond::<T>(key, *best);
                    *best = if beyond { key } else { *best };
                    *target = if beyond { index as i64 } else { *target };
                }
            }
            done += width;
        }
    });
}

widest! {
    /// Finds the extreme, then its first place: two passes that vector instructions do beat one that remembers places.
    fn search_run<C: Choice, T: Ordered>(run: &[T]) -> usize {
        const LANES: usize = 32;
        let start = C::start::<T>();
        let better = |best: T::Key, key: T::Key| if C::beyond::<T>(key, best) { key } else { best };
        let (chunks, rest) = run.as_chunks::<LANES>();
        let mut lanes = [start; LANES];
        for chunk in chunks {
            let keys = T::key_chunk(chunk);
            for (best, key) in lanes.iter_mut().zip(keys) {
                *best = better(*best, key);
            }
        }
        let best = rest.iter().fold(start, |best, &element| better(best, element.key()));
        let best = lanes.into_iter().fold(best, better);
        if !C::beyond::<T>(best, start) {
            return 0;
        }
        let passed = chunks.iter().position(|chunk| T::key_chunk(chunk).iter().fold(false, |any, &key| any | (key == best)));
        let first = passed.map_or(run.len() - rest.len(), |chunk| chunk * LANES);
        first + run[first..].iter().position(|element| element.key() == best).unwrap_or(0)
    }
}

/// Places as the output's dtype, into which large ones wrap as TensorFlow's do.
fn convert(found: Tensor, dtype: DataType) -> Result<Tensor> {
    fn narrow<T: Element + Copy>(found: &Tensor, convert: impl Fn(i64) -> T) -> Result<Tensor> {
        let mut narrowed = Tensor::alloc(T::DTYPE, found.shape())?;
        for (target, &index) in narrowed.as_mut_slice::<T>()?.iter_mut().zip(found.as_slice::<i64>()?) {
            *target = convert(index);
        }
        Ok(narrowed)
    }
    match dtype {
        DataType::Int64 => Ok(found),
        DataType::Int32 => narrow(&found, |index| index as i32),
        DataType::Int16 => narrow(&found, |index| index as i16),
        DataType::Uint16 => narrow(&found, |index| index as u16),
        other => bail!(Unimplemented, "output_type {other} is not supported"),
    }
}

#[register_kernel(
    device = Cpu,
    op = ArgMax,
    T = [realnumbertype, bool],
    output_type = [int16, uint16, int32, int64],
    host_memory = ["dimension"],
)]
type ArgMaxKernel<T> = Arg<Greatest, T>;

#[register_kernel(
    device = Cpu,
    op = ArgMin,
    T = [realnumbertype, bool],
    output_type = [int32, int64],
    host_memory = ["dimension"],
)]
type ArgMinKernel<T> = Arg<Least, T>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_extreme_is_found_and_nan_is_not() {
        let mut run = vec![1.0f32; 50];
        (run[3], run[20], run[21], run[45]) = (f32::NAN, 7.0, 7.0, -2.0);
        assert_eq!(search_run::<Greatest, f32>(&run), 20);
        assert_eq!(search_run::<Least, f32>(&run), 45);
        assert_eq!(search_run::<Greatest, f32>(&[f32::NAN, f32::NAN]), 0);
        assert_eq!(search_run::<Greatest, f32>(&[f32::NEG_INFINITY, f32::MIN]), 0, "as TensorFlow does");
        assert_eq!(search_run::<Least, bool>(&[true, false, false]), 1);
    }
}

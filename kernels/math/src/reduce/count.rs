//! Counting: Bincount, DenseBincount, HistogramFixedWidth, Bucketize.

use std::sync::{Mutex, PoisonError};

use kernlink::dtype::{DataType, Element, Number, RealNumber};
use kernlink::kernel::{Attrs, KernelConstruction, KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::{Bincount, Bucketize, DenseBincount, HistogramFixedWidth};

/// The size in a scalar.
fn size(tensor: &Tensor) -> Result<usize> {
    ensure!(tensor.rank() == 0, InvalidArgument, "Shape must be rank 0 but is rank {}", tensor.rank());
    let size = tensor.to_i64_vec()?[0];
    ensure!(size >= 0, InvalidArgument, "size ({size}) must be non-negative");
    Ok(size as usize)
}

/// An integer that says which bin it counts in.
trait Value: Element + Copy + Sync {
    /// Its bin, of which none is as high as those of negative values.
    fn bin(self) -> u64;
    fn is_negative(self) -> bool;
}

macro_rules! value {
    ($($t:ty),+) => {$(
        impl Value for $t {
            #[inline(always)]
            fn bin(self) -> u64 { i64::from(self) as u64 }
            #[inline(always)]
            fn is_negative(self) -> bool { self < 0 }
        }
    )+};
}
value!(i32, i64);

/// Adds each value's weight to its bin, of which there are some; values beyond the last bin do not count. Without
/// weights each counts as 1; if `binary`, all together do.
fn count<T: Number, I: Value>(bins: &mut [T], values: &[I], weights: &[T], binary: bool) -> Result<()> {
    if binary {
        for value in values {
            if let Some(bin) = bins.get_mut(value.bin() as usize) {
                *bin = T::ONE;
            }
        }
    } else if weights.is_empty() {
        return tally(bins, values);
    } else {
        for (value, &weight) in values.iter().zip(weights) {
            if let Some(bin) = bins.get_mut(value.bin() as usize) {
                *bin = bin.wrapping_add(weight);
            }
        }
    }
    Ok(())
}

/// Bins of which there are several sets, so that equal values that follow each other need not wait for each other.
const SMALL: usize = 4096;

/// Adds to each bin how many of the values are its own.
fn tally<T: Number, I: Value>(bins: &mut [T], values: &[I]) -> Result<()> {
    const SETS: usize = 4;
    let size = bins.len();
    if size > SMALL || values.len() < SETS * size {
        for value in values {
            if let Some(bin) = bins.get_mut(value.bin() as usize) {
                *bin = bin.wrapping_add(T::ONE);
            }
        }
        return Ok(());
    }
    let mut counts = scratch::zeros::<[u32; SETS]>(size + 1)?;
    // A count of 32 bits does not overflow.
    for values in values.chunks(1 << 31) {
        let (chunks, rest) = values.as_chunks::<SETS>();
        for chunk in chunks {
            for (set, value) in chunk.iter().enumerate() {
                counts[value.bin().min(size as u64) as usize][set] += 1;
            }
        }
        for value in rest {
            counts[value.bin().min(size as u64) as usize][0] += 1;
        }
        for (bin, counts) in bins.iter_mut().zip(&mut counts) {
            let sum = counts.iter().map(|&count| i64::from(count)).sum();
            *bin = bin.wrapping_add(T::from_i64(sum));
            *counts = [0; SETS];
        }
    }
    Ok(())
}

/// Fails if a value is negative.
fn ensure_not_negative<I: Value + std::fmt::Display>(values: &[I]) -> Result<()> {
    for chunk in values.chunks(1024) {
        if chunk.iter().fold(false, |is_negative, value| is_negative | value.is_negative())
            && let Some(negative) = chunk.iter().find(|value| value.is_negative())
        {
            bail!(InvalidArgument, "Input must be non-negative! Negative input value found: {negative}");
        }
    }
    Ok(())
}

#[register_kernel(device = Cpu, T = [f32, f64, i32, i64])]
fn bincount<T: Number>(ctx: &mut KernelContext<'_, Bincount>) -> Result<()> {
    let size = size(ctx.input(Bincount::SIZE)?)?;
    let (values, weights) = (ctx.input(Bincount::ARR)?.as_slice::<i32>()?, ctx.input(Bincount::WEIGHTS)?.as_slice()?);
    ensure_not_negative(values)?;
    ensure!(
        weights.is_empty() || weights.len() == values.len(),
        InvalidArgument,
        "Input indices and weights must have the same size: {} and {}",
        values.len(),
        weights.len()
    );
    let mut bins = Tensor::zeros(T::DTYPE, [size])?;
    count_all::<T, _>(ctx, bins.as_mut_slice()?, values, weights, false)?;
    ctx.set_output(Bincount::BINS, bins)
}

/// As [`count`], on several threads if the bins are few and there are no weights, whose order matters.
fn count_all<T: Number, I: Value>(
    ctx: &RawContext<'_>,
    bins: &mut [T],
    values: &[I],
    weights: &[T],
    binary: bool,
) -> Result<()> {
    let size = bins.len();
    if size > SMALL || binary || !weights.is_empty() {
        return count(bins, values, weights, binary);
    }
    let sums = Mutex::new(scratch::zeros::<i64>(size)?);
    ctx.try_parallel_for(values.len(), 1, |range| {
        let mut own = scratch::zeros::<i64>(size)?;
        tally(&mut own, &values[range])?;
        let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
        for (sum, count) in sums.iter_mut().zip(own) {
            *sum += count;
        }
        Ok(())
    })?;
    // Rounded once, so that nothing depends on who counted what.
    for (bin, count) in bins.iter_mut().zip(sums.into_inner().unwrap_or_else(PoisonError::into_inner)) {
        *bin = bin.wrapping_add(T::from_i64(count));
    }
    Ok(())
}

#[register_kernel(device = Cpu, T = [f32, f64, i32, i64], Tidx = [i32, i64])]
fn dense_bincount<T: Number, Tidx: Value + std::fmt::Display>(
    attrs: &Attrs<DenseBincount>,
    ctx: &mut KernelContext<'_, DenseBincount>,
) -> Result<()> {
    let (input, weights) = (ctx.input(DenseBincount::INPUT)?, ctx.input(DenseBincount::WEIGHTS)?);
    ensure!(input.rank() <= 2, InvalidArgument, "Shape must be at most rank 2 but is rank {}", input.rank());
    ensure!(
        weights.num_elements() == 0 || weights.shape() == input.shape(),
        InvalidArgument,
        "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it acts as all weights \
         equal to 1. Received {}",
        weights.shape()
    );
    let size = size(ctx.input(DenseBincount::SIZE)?)?;
    let shape = if input.rank() == 2 { Shape::from([input.shape()[0], size]) } else { Shape::from([size]) };
    shape.check()?;
    let columns = input.shape().last().copied().unwrap_or(1);
    let (values, weights) = (input.as_slice::<Tidx>()?, weights.as_slice::<T>()?);
    ensure_not_negative(values)?;
    let mut bins = Tensor::zeros(T::DTYPE, shape)?;
    if bins.num_elements() > 0 && !values.is_empty() {
        let bins = bins.as_mut_slice::<T>()?;
        if bins.len() == size {
            count_all(ctx, bins, values, weights, attrs.binary_output)?;
        } else {
            ctx.try_parallel_chunks(bins, size, columns.div_ceil(size), |first, piece| {
                for (row, bins) in (first / size..).zip(piece.chunks_exact_mut(size)) {
                    let weights = if weights.is_empty() { weights } else { &weights[row * columns..][..columns] };
                    count(bins, &values[row * columns..][..columns], weights, attrs.binary_output)?;
                }
                Ok(())
            })?;
        }
    }
    ctx.set_output(DenseBincount::OUTPUT, bins)
}

/// The bins of a histogram.
struct Scale<T> {
    low: T,
    high: T,
    /// The width of a bin.
    step: f64,
    /// The number of the last bin.
    last: f64,
}

widest! {
    /// Writes the bin of each value; returns whether one is NaN.
    fn bins_of<T: RealNumber>(scale: &Scale<T>, values: &[T], bins: &mut [i32]) -> bool {
        let &Scale { low, high, step, last } = scale;
        let mut has_nan = false;
        for (bin, &value) in bins.iter_mut().zip(values) {
            has_nan |= value.as_f64().is_nan();
            let value = if value < low { low } else { value };
            let value = if value > high { high } else { value };
            // The NaN of infinite bounds is in the last bin. Added to this, what is left of the point is in the low bits:
            // processors without AVX-512 convert doubles one by one.
            const WHOLE: f64 = (1u64 << 52) as f64;
            let place = ((value.as_f64() - low.as_f64()) / step).min(last).max(0.0);
            *bin = (place.floor() + WHOLE).to_bits() as i32;
        }
        has_nan
    }
}

#[register_kernel(device = Cpu, op = HistogramFixedWidth, T = [f32, f64, i32, i64], dtype = [int32, int64])]
fn histogram<T: RealNumber>(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let range = ctx.input(O::VALUE_RANGE)?;
    let bins = ctx.input(O::NBINS)?;
    let &[low, high] = range.as_slice::<T>()? else {
        bail!(InvalidArgument, "value_range should be a vector of 2 elements.");
    };
    ensure!(range.rank() == 1, InvalidArgument, "value_range should be a vector of 2 elements.");
    ensure!(
        low < high,
        InvalidArgument,
        "value_range should satisfy value_range[0] < value_range[1], but got '[{}, {}]'",
        low.as_f64(),
        high.as_f64()
    );
    ensure!(bins.rank() == 0, InvalidArgument, "nbins should be a scalar.");
    let bins = bins.to_scalar::<i32>()?;
    ensure!(bins > 0, InvalidArgument, "nbins should be a positive number, but got '{bins}'");
    let mut counts: Vec<i64> = scratch::zeros(bins as usize)?;
    let values = ctx.input(O::VALUES)?.as_slice::<T>()?;
    if bins == 1 {
        // TensorFlow looks at no value then, so that even NaN counts.
        counts[0] = values.len() as i64;
    } else {
        // Each bound is divided by itself, as TensorFlow does: values at the edges of bins depend on every rounding.
        let (count, last) = (f64::from(bins), f64::from(bins - 1));
        let step = high.as_f64() / count - low.as_f64() / count;
        let scale = Scale { low, high, step, last };
        let mut block = [0; 512];
        for values in values.chunks(block.len()) {
            let block = &mut block[..values.len()];
            ensure!(!bins_of(&scale, values, block), InvalidArgument, "Histogram values must not contain NaN");
            block.iter().for_each(|&bin| counts[bin as usize] += 1);
        }
    }
    let shape = Shape::from([counts.len()]);
    let output = if ctx.output_dtype_at(0)? == DataType::Int64 {
        Tensor::from_elements(shape, &counts)?
    } else {
        Tensor::from_elements(shape, &scratch::collected(counts.iter().map(|&count| count as i32))?)?
    };
    ctx.set_output(O::OUT, output)
}

/// A number that is compared with a float as C++ does it.
trait Against: Element + Copy {
    fn below(self, boundary: f32) -> bool;
}

macro_rules! against {
    ($($t:ty => $wide:ty),+) => {$(
        impl Against for $t {
            fn below(self, boundary: f32) -> bool { (self as $wide) < boundary as $wide }
        }
    )+};
}
against!(f32 => f32, f64 => f64, i32 => f32, i64 => f32);

/// The boundaries, which must rise.
fn boundaries(ctx: &KernelConstruction<'_, Bucketize>) -> Result<Vec<f32>> {
    ensure!(ctx.attrs().boundaries.is_sorted(), InvalidArgument, "Expected sorted boundaries");
    Ok(ctx.attrs().boundaries.clone())
}

#[register_kernel(device = Cpu, T = [f32, f64, i32, i64], state = boundaries)]
fn bucketize<T: Against>(boundaries: &Vec<f32>, ctx: &mut KernelContext<'_, Bucketize>) -> Result<()> {
    let input = ctx.input(Bucketize::INPUT)?;
    let mut output = ctx.allocate_output(Bucketize::OUTPUT, input.shape())?;
    let values = input.as_slice::<T>()?;
    let cost = 2 + boundaries.len().checked_ilog2().unwrap_or(0) as usize;
    ctx.parallel_chunks(output.as_mut_slice::<i32>()?, 1, cost, |first, piece| {
        for (bucket, value) in piece.iter_mut().zip(&values[first..]) {
            *bucket = boundaries.partition_point(|&boundary| !value.below(boundary)) as i32;
        }
    });
    ctx.set_output(Bucketize::OUTPUT, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_sets_of_bins_count_as_one() {
        for (size, length) in [(1, 1), (3, 11), (3, 12), (3, 1001), (100, 399), (100, 4003), (SMALL + 1, 20_000)] {
            let values = (0..length).map(|i: i64| i * i % 7919 % (size as i64 + 2)).collect::<Vec<_>>();
            let mut expected = vec![5.0f32; size];
            for &value in &values {
                if let Some(bin) = expected.get_mut(value as usize) {
                    *bin += 1.0;
                }
            }
            let mut bins = vec![5.0f32; size];
            tally(&mut bins, &values).unwrap();
            assert_eq!(bins, expected, "{length} values in {size} bins");
            let mut bins = vec![5i32; size];
            tally(&mut bins, &values.iter().map(|&value| value as i32).collect::<Vec<_>>()).unwrap();
            assert!(bins.iter().zip(&expected).all(|(&bin, &count)| bin as f32 == count));
        }
    }
}

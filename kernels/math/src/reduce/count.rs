//! Counting: Bincount, DenseBincount, HistogramFixedWidth, Bucketize.

use kernlink::dtype::{DataType, Element, Number, RealNumber};
use kernlink::kernel::{Attrs, KernelConstruction, KernelContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::{Bincount, Bucketize, DenseBincount, HistogramFixedWidth};

/// The size in a scalar.
fn size(tensor: &Tensor) -> Result<usize> {
    ensure!(tensor.rank() == 0, InvalidArgument, "Shape must be rank 0 but is rank {}", tensor.rank());
    let size = tensor.to_i64_vec()?[0];
    ensure!(size >= 0, InvalidArgument, "size ({size}) must be non-negative");
    Ok(size as usize)
}

/// Adds each value's weight to its bin, of which there are some; values beyond the last bin do not count. Without
/// weights each counts as 1; if `binary`, all together do.
fn count<T: Number>(bins: &mut [T], values: &[i64], weights: &[T], binary: bool) {
    for (index, &value) in values.iter().enumerate() {
        if let Some(bin) = bins.get_mut(value as usize) {
            let weight = weights.get(index).copied().unwrap_or(T::ONE);
            *bin = if binary { T::ONE } else { bin.wrapping_add(weight) };
        }
    }
}

/// The elements, none of which is negative.
fn values(tensor: &Tensor) -> Result<Vec<i64>> {
    let values = tensor.to_i64_vec()?;
    if let Some(negative) = values.iter().find(|value| **value < 0) {
        bail!(InvalidArgument, "Input must be non-negative! Negative input value found: {negative}");
    }
    Ok(values)
}

#[register_kernel(device = Cpu, T = [f32, f64, i32, i64])]
fn bincount<T: Number>(ctx: &mut KernelContext<'_, Bincount>) -> Result<()> {
    let size = size(ctx.input(Bincount::SIZE)?)?;
    let (values, weights) = (values(ctx.input(Bincount::ARR)?)?, ctx.input(Bincount::WEIGHTS)?.as_slice::<T>()?);
    ensure!(
        weights.is_empty() || weights.len() == values.len(),
        InvalidArgument,
        "Input indices and weights must have the same size: {} and {}",
        values.len(),
        weights.len()
    );
    let mut bins = Tensor::zeros(T::DTYPE, [size])?;
    count(bins.as_mut_slice()?, &values, weights, false);
    ctx.set_output(Bincount::BINS, bins)
}

#[register_kernel(device = Cpu, T = [f32, f64, i32, i64], Tidx = [int32, int64])]
fn dense_bincount<T: Number>(attrs: &Attrs<DenseBincount>, ctx: &mut KernelContext<'_, DenseBincount>) -> Result<()> {
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
    let (values, weights) = (values(input)?, weights.as_slice::<T>()?);
    let mut bins = Tensor::zeros(T::DTYPE, shape)?;
    if bins.num_elements() > 0 && !values.is_empty() {
        ctx.parallel_chunks(bins.as_mut_slice::<T>()?, size, columns.div_ceil(size), |first, piece| {
            for (row, bins) in (first / size..).zip(piece.chunks_exact_mut(size)) {
                let weights = if weights.is_empty() { weights } else { &weights[row * columns..][..columns] };
                count(bins, &values[row * columns..][..columns], weights, attrs.binary_output);
            }
        });
    }
    ctx.set_output(DenseBincount::OUTPUT, bins)
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
        for &value in values {
            ensure!(!value.as_f64().is_nan(), InvalidArgument, "Histogram values must not contain NaN");
            let value = if value < low { low } else { value };
            let value = if value > high { high } else { value };
            // Casts saturate, and turn the NaN of infinite bounds into 0.
            let bin = ((value.as_f64() - low.as_f64()) / step).min(last) as usize;
            counts[bin] += 1;
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

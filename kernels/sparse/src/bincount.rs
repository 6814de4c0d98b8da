//! SparseBincount and RaggedBincount.

use kernlink::dtype::Number;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::integers::scalar;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::coo::Coo;
use super::elements::i64s;

/// The bins of one run: a row after the other.
struct Bins<'a, T> {
    bins: &'a mut [T],
    size: i64,
    weights: &'a [T],
    binary: bool,
}

impl<T: Number> Bins<'_, T> {
    /// Counts value `n` in a row.
    fn count(&mut self, row: usize, n: usize, value: i64) {
        if (0..self.size).contains(&value) {
            let slot = &mut self.bins[row * self.size as usize + value as usize];
            *slot =
                if self.binary { T::ONE } else { slot.wrapping_add(self.weights.get(n).copied().unwrap_or(T::ONE)) };
        }
    }
}

/// The number of bins.
fn bins(size: &Tensor) -> Result<i64> {
    let size = scalar(size, "size")?;
    ensure!(size >= 0, InvalidArgument, "size ({size}) must be non-negative");
    Ok(size)
}

fn ensure_weights_fit(weights: &Tensor, values: &Tensor) -> Result<()> {
    let (weights, values) = (weights.num_elements(), values.num_elements());
    ensure!(
        weights == 0 || weights == values,
        InvalidArgument,
        "Input indices and weights must have the same size, not {values} and {weights}."
    );
    Ok(())
}

#[register_kernel(device = Cpu, op = ops::SparseBincount, Tidx = [int32, int64], T = [i32, i64, f32, f64])]
fn sparse_bincount<T: Number>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let size = bins(ctx.input(O::SIZE)?)?;
    let values = ctx.input(O::VALUES)?;
    let coo = Coo::new(ctx.input(O::INDICES)?, values, ctx.input(O::DENSE_SHAPE)?)?;
    coo.ensure_within()?;
    let weights = ctx.input(O::WEIGHTS)?;
    ensure_weights_fit(weights, values)?;
    let numbers = i64s(values)?;
    let shape = match *coo.sizes {
        [_] => {
            ensure!(numbers.iter().all(|&value| value >= 0), InvalidArgument, "Input arr must be non-negative!");
            Shape::from_dims(&[size])?
        }
        [rows, ..] => Shape::from_dims(&[rows, size])?,
        [] => kernlink::bail!(InvalidArgument, "dense_shape must have at least one element"),
    };
    let mut output = Tensor::zeros(T::DTYPE, shape)?;
    let rows = coo.rank() > 1;
    let binary = attrs.binary_output;
    let mut bins = Bins { bins: output.as_mut_slice::<T>()?, size, weights: weights.as_slice()?, binary };
    for (n, &value) in numbers.iter().enumerate() {
        bins.count(if rows { coo.index(n)[0] as usize } else { 0 }, n, value);
    }
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(device = Cpu, op = ops::RaggedBincount, Tidx = [int32, int64], T = [i32, i64, f32, f64])]
fn ragged_bincount<T: Number>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let size = bins(ctx.input(O::SIZE)?)?;
    let (splits, values) = (ctx.input(O::SPLITS)?.as_slice::<i64>()?, ctx.input(O::VALUES)?);
    let weights = ctx.input(O::WEIGHTS)?;
    let (Some(&first), Some(&last)) = (splits.first(), splits.last()) else {
        kernlink::bail!(InvalidArgument, "Splits must be non-empty");
    };
    ensure!(first == 0, InvalidArgument, "Splits must start with 0, not with {first}");
    ensure!(
        last == values.num_elements() as i64,
        InvalidArgument,
        "Splits must end with the number of values, got {last} instead of {}",
        values.num_elements()
    );
    ensure!(splits.is_sorted(), InvalidArgument, "Splits must be sorted");
    ensure_weights_fit(weights, values)?;
    let mut output = Tensor::zeros(T::DTYPE, Shape::from_dims(&[splits.len() as i64 - 1, size])?)?;
    let numbers = i64s(values)?;
    let binary = attrs.binary_output;
    let mut bins = Bins { bins: output.as_mut_slice::<T>()?, size, weights: weights.as_slice()?, binary };
    for (row, ends) in splits.windows(2).enumerate() {
        for n in ends[0] as usize..ends[1] as usize {
            ensure!(numbers[n] >= 0, InvalidArgument, "Input must be non-negative");
            bins.count(row, n, numbers[n]);
        }
    }
    ctx.set_output(O::OUTPUT, output)
}

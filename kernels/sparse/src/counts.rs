//! DenseCountSparseOutput, SparseCountSparseOutput, RaggedCountSparseOutput.

use kernlink::dtype::Number;
use kernlink::error::{Error, Result};
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::coo::Coo;
use super::elements::i64s;

/// What the ops have in common.
struct Counter<'a> {
    min: i64,
    max: i64,
    binary: bool,
    values: &'a Tensor,
    weights: &'a Tensor,
}

impl Counter<'_> {
    fn ensure_weights_fit(&self) -> Result<()> {
        let (weights, values) = (self.weights, self.values);
        ensure!(
            weights.num_elements() == 0 || weights.shape() == values.shape(),
            InvalidArgument,
            "Weights and values must have the same shape. Weight shape: {}; values shape: {}",
            weights.shape(),
            values.shape()
        );
        Ok(())
    }

    /// Sets the outputs: the counts of the values, of which value `n` is in row `row(n)`; of so many rows, or of one that
    /// has no number.
    fn count<T: Number>(
        &self,
        ctx: &mut RawContext<'_>,
        row: impl Fn(usize) -> usize,
        rows: Option<i64>,
    ) -> Result<()> {
        let numbers = i64s(self.values)?;
        ensure!(numbers.iter().all(|&value| value >= 0), InvalidArgument, "Input values must all be non-negative");
        let within = |&value: &i64| self.max < 0 || value < self.max;
        let kept =
            || numbers.iter().enumerate().filter(|(_, value)| within(value)).map(|(n, &value)| (row(n), value, n));
        let greatest = numbers.iter().copied().filter(within).max().unwrap_or(0);
        let weights = self.weights.as_slice::<T>()?;
        let weight = |n: usize| weights.get(n).copied().unwrap_or(T::ONE);
        let places = usize::try_from(greatest).ok().filter(|&value| value < numbers.len().max(LEAST_PLACES));
        let found = match places {
            Some(greatest) if kept().is_sorted_by_key(|(row, ..)| row) => by_places(kept(), greatest + 1, weight)?,
            _ => by_order(scratch::collected(kept())?, weight)?,
        };
        let columns = if rows.is_some() { 2 } else { 1 };
        let mut indices = ctx.allocate_output_at(0, [found.len(), columns])?;
        let mut counts = ctx.allocate_output_at(1, [found.len()])?;
        let slots = indices.as_mut_slice::<i64>()?.chunks_exact_mut(columns);
        for ((&(row, value, sum), index), count) in found.iter().zip(slots).zip(counts.as_mut_slice::<T>()?) {
            index[0] = row as i64;
            index[columns - 1] = value;
            *count = if self.binary { T::ONE } else { sum };
        }
        let size = if self.max >= 0 { self.max } else { greatest.saturating_add(1).max(self.min) };
        ctx.set_output_at(0, indices)?;
        ctx.set_output_at(1, counts)?;
        ctx.set_output_at(
            2,
            match rows {
                Some(rows) => Tensor::vector(&[rows, size])?,
                None => Tensor::vector(&[size])?,
            },
        )
    }
}

/// Values below this are counted by their places, however few there are.
const LEAST_PLACES: usize = 1024;

/// The sum of each value's weights in each row, of values with their rows and numbers, whatever their order. Weights are added in
/// the order of the numbers.
fn by_order<T: Number>(
    mut kept: Vec<(usize, i64, usize)>,
    weight: impl Fn(usize) -> T,
) -> Result<Vec<(usize, i64, T)>> {
    kept.sort_unstable();
    let mut found = Vec::new();
    for group in kept.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let sum = group.iter().fold(T::ZERO, |sum, &(.., n)| sum.wrapping_add(weight(n)));
        scratch::push(&mut found, (group[0].0, group[0].1, sum))?;
    }
    Ok(found)
}

/// The same of rows one after the other, whose values have a place each.
fn by_places<T: Number>(
    kept: impl Iterator<Item = (usize, i64, usize)>,
    places: usize,
    weight: impl Fn(usize) -> T,
) -> Result<Vec<(usize, i64, T)>> {
    let mut sums: Vec<T> = scratch::filled(T::ZERO, places)?;
    let mut is_found: Vec<bool> = scratch::filled(false, places)?;
    let (mut found, mut values) = (Vec::new(), Vec::new());
    let mut finish = |row: usize, values: &mut Vec<usize>, sums: &mut [T], is_found: &mut [bool]| -> Result<()> {
        found.try_reserve(values.len()).map_err(|_| Error::resource_exhausted("no memory for the counts"))?;
        let mut add = |value: usize| {
            found.push((row, value as i64, std::mem::replace(&mut sums[value], T::ZERO)));
        };
        // Many values of a row are found in their places faster than they are sorted.
        if values.len() >= places / 8 {
            (0..places).filter(|&value| std::mem::take(&mut is_found[value])).for_each(add);
        } else {
            values.sort_unstable();
            values.iter().for_each(|&value| {
                is_found[value] = false;
                add(value);
            });
        }
        values.clear();
        Ok(())
    };
    let mut current = 0;
    for (row, value, n) in kept {
        if row != current {
            finish(current, &mut values, &mut sums, &mut is_found)?;
            current = row;
        }
        let value = value as usize;
        if !std::mem::replace(&mut is_found[value], true) {
            scratch::push(&mut values, value)?;
        }
        sums[value] = sums[value].wrapping_add(weight(n));
    }
    finish(current, &mut values, &mut sums, &mut is_found)?;
    Ok(found)
}

macro_rules! counter {
    ($attrs:expr, $ctx:expr, $op:ty) => {
        Counter {
            min: $attrs.minlength,
            max: $attrs.maxlength,
            binary: $attrs.binary_output,
            values: &$ctx.input(<$op>::VALUES)?.clone(),
            weights: &$ctx.input(<$op>::WEIGHTS)?.clone(),
        }
    };
}

#[register_kernel(device = Cpu, T = [int32, int64], output_type = [i32, i64, f32, f64])]
fn dense_count<output_type: Number>(
    attrs: &Attrs<ops::DenseCountSparseOutput>,
    ctx: &mut KernelContext<'_, ops::DenseCountSparseOutput>,
) -> Result<()> {
    let counter = counter!(attrs, ctx, ops::DenseCountSparseOutput);
    let shape = counter.values.shape().clone();
    counter.ensure_weights_fit()?;
    match *shape {
        [_] => counter.count::<output_type>(ctx, |_| 0, None),
        [0, _] => bail!(InvalidArgument, "Invalid input: Shapes dimension cannot be 0."),
        [rows, width] => counter.count::<output_type>(ctx, |n| n / width, Some(rows as i64)),
        _ => bail!(InvalidArgument, "Input must be a 1 or 2-dimensional tensor. Got: {shape}"),
    }
}

#[register_kernel(device = Cpu, T = [int32, int64], output_type = [i32, i64, f32, f64])]
fn sparse_count<output_type: Number>(
    attrs: &Attrs<ops::SparseCountSparseOutput>,
    ctx: &mut KernelContext<'_, ops::SparseCountSparseOutput>,
) -> Result<()> {
    type Op = ops::SparseCountSparseOutput;
    let counter = counter!(attrs, ctx, Op);
    let (indices, shape) = (ctx.input(Op::INDICES)?.clone(), ctx.input(Op::DENSE_SHAPE)?.clone());
    let coo = Coo::new(&indices, counter.values, &shape)?;
    ensure!(coo.rank() > 0, InvalidArgument, "The shape argument requires at least one element.");
    coo.ensure_within()?;
    counter.ensure_weights_fit()?;
    let rows = if coo.rank() == 1 { 1 } else { coo.sizes[0] };
    ensure!(
        0 < rows && rows < i64::from(i32::MAX),
        InvalidArgument,
        "Cannot allocate {rows} batches, is the dense shape too wide?"
    );
    if coo.rank() == 1 {
        return counter.count::<output_type>(ctx, |_| 0, None);
    }
    counter.count::<output_type>(ctx, |n| coo.index(n)[0] as usize, Some(rows))
}

#[register_kernel(device = Cpu, T = [int32, int64], output_type = [i32, i64, f32, f64])]
fn ragged_count<output_type: Number>(
    attrs: &Attrs<ops::RaggedCountSparseOutput>,
    ctx: &mut KernelContext<'_, ops::RaggedCountSparseOutput>,
) -> Result<()> {
    type Op = ops::RaggedCountSparseOutput;
    let counter = counter!(attrs, ctx, Op);
    let splits = ctx.input(Op::SPLITS)?.clone();
    let splits = splits.as_slice::<i64>()?;
    counter.ensure_weights_fit()?;
    ensure!(splits.len() >= 2, InvalidArgument, "Must provide at least 2 elements for the splits argument");
    ensure!(splits[0] == 0, InvalidArgument, "Splits must start with 0, not with {}", splits[0]);
    let (last, elements) = (splits[splits.len() - 1], counter.values.num_elements());
    ensure!(
        last == elements as i64,
        InvalidArgument,
        "Splits must end with the number of values, got {last} instead of {elements}"
    );
    ensure!(splits.is_sorted(), InvalidArgument, "Splits must be sorted");
    let row = |n: usize| splits.partition_point(|&split| split <= n as i64) - 1;
    counter.count::<output_type>(ctx, row, Some(splits.len() as i64 - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_as_orders_do() {
        for places in [1, 7, 40, 1000] {
            for per_row in [1, 5, 60] {
                let kept = (0..200usize).map(|n| (n / per_row * 2, (n * n * 31 % places) as i64, n));
                // Sums that depend on the order.
                let weight = |n: usize| 1.0 / (n as f32 + 3.0);
                let expected = by_order(kept.clone().collect(), weight).unwrap();
                assert_eq!(by_places(kept, places, weight).unwrap(), expected, "{places} places, {per_row} a row");
            }
        }
        assert!(by_places(std::iter::empty(), 9, |_| 1i64).unwrap().is_empty());
    }
}

//! DenseCountSparseOutput, SparseCountSparseOutput, RaggedCountSparseOutput.

use kernlink::dtype::Number;
use kernlink::error::Result;
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
        let kept = numbers.iter().enumerate().filter(|(_, value)| within(value));
        let mut order: Vec<(usize, i64, usize)> = scratch::collected(kept.map(|(n, &value)| (row(n), value, n)))?;
        // In their order within a value, in which weights are added.
        order.sort_unstable();
        let groups = || order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
        let total = groups().count();
        let weights = self.weights.as_slice::<T>()?;
        let weight = |n: usize| weights.get(n).copied().unwrap_or(T::ONE);
        let columns = if rows.is_some() { 2 } else { 1 };
        let mut indices = ctx.allocate_output_at(0, [total, columns])?;
        let mut counts = ctx.allocate_output_at(1, [total])?;
        let slots = indices.as_mut_slice::<i64>()?.chunks_exact_mut(columns);
        for ((group, index), count) in groups().zip(slots).zip(counts.as_mut_slice::<T>()?) {
            let (row, value, _) = group[0];
            index[0] = row as i64;
            index[columns - 1] = value;
            *count = match self.binary {
                true => T::ONE,
                false => group.iter().fold(T::ZERO, |sum, &(_, _, n)| sum.wrapping_add(weight(n))),
            };
        }
        let greatest = order.iter().map(|&(_, value, _)| value).max().unwrap_or(0);
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

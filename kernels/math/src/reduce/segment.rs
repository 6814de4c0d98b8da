//! Reductions of rows that belong together: SegmentSum, -Mean, -Prod, -Max, -Min, and UnsortedSegmentSum, -Prod, -Max,
//! -Min.

use std::marker::PhantomData;

use kernlink::dtype::{DataType, Pod};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::op::Op;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, ensure};
use kernlink_geometry::segments::unsorted;
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{
    SegmentMax, SegmentMean, SegmentMin, SegmentProd, SegmentSum, UnsortedSegmentMax, UnsortedSegmentMin,
    UnsortedSegmentProd, UnsortedSegmentSum,
};

use super::drive::{Reducing, Steps};
use super::reducer::{MaxOf, MeanOf, MinOf, Ordered, ProdOf, Reducer, SumOf, Summand};

/// What segments are reduced by.
trait SegmentReducer<T: Pod>: Reducer<T> {
    /// What a sorted reduction gives for a segment without rows.
    fn gap() -> T;
    /// What an unsorted reduction begins with.
    fn initial() -> Self::Acc;
}

macro_rules! segment_reducers {
    ($($reducer:ident<$dtype:ident>: $gap:expr, $initial:expr;)+) => {$(
        impl<T: $dtype> SegmentReducer<T> for $reducer {
            fn gap() -> T { $gap }
            fn initial() -> Self::Acc { $initial }
        }
    )+};
}
segment_reducers! {
    SumOf<Computed>: T::ZERO, <Self as Reducer<T>>::IDENTITY;
    MeanOf<Summand>: T::ZERO, <Self as Reducer<T>>::IDENTITY;
    ProdOf<Computed>: T::ONE, <Self as Reducer<T>>::IDENTITY;
    MaxOf<Ordered>: T::default(), T::LOWEST;
    MinOf<Ordered>: T::default(), T::HIGHEST;
}

/// The rows of one segment: `rows` in the order of the list of rows, and the row of the output.
struct Segment {
    rows: std::ops::Range<usize>,
    output: usize,
}

/// What is to be reduced. Segments are in the order of the output; one without rows has no entry.
struct Segments {
    /// The elements of a row.
    row: usize,
    segments: Vec<Segment>,
    /// The rows by segment; absent if they lie in that order.
    order: Option<Vec<usize>>,
}

/// Reduces segments of the elements of a tensor to those of another.
type Reduce = fn(&RawContext<'_>, &Segments, &Tensor, &mut Tensor) -> Result<()>;

impl Segments {
    /// Reduces each segment, beginning with `initial`. What the output has beside them becomes what `gap` is with its count.
    #[inline(never)]
    fn reduce<A: Copy + Send + Sync>(
        &self,
        ctx: &RawContext<'_>,
        steps: &dyn Steps<A>,
        sizes: (usize, usize),
        initial: A,
        gap: (A, usize),
    ) -> Result<()> {
        let ((elements, length), row) = (sizes, self.row);
        let cost = (elements / length.max(1)).max(1);
        ctx.try_parallel_for(length / row, cost.saturating_mul(row), |rows| {
            let mut next = self.segments.partition_point(|segment| segment.output < rows.start);
            let mut results = scratch::filled(initial, row)?;
            for number in rows {
                let segment = self.segments.get(next).filter(|segment| segment.output == number);
                let count = match segment {
                    None => {
                        results.fill(gap.0);
                        gap.1
                    }
                    Some(segment) => {
                        results.fill(initial);
                        steps.gather(&mut results, segment.rows.clone(), self.order.as_deref());
                        next += 1;
                        segment.rows.len()
                    }
                };
                // SAFETY: no other range has this row.
                unsafe { steps.finish(&results, count, number * row) };
            }
            Ok(())
        })
    }
}

/// An op with inputs `data` and `segment_ids`, which never fall.
struct Sorted<R, T>(PhantomData<fn(T) -> R>);

impl<O: Op, R: SegmentReducer<T>, T: Pod> OpKernel<O> for Sorted<R, T> {
    fn new(_: &KernelConstruction<'_, O>) -> Result<Self> {
        Ok(Self(PhantomData))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        reduce_sorted(ctx, |ctx, segments, data, output| {
            let (data, output) = (data.as_slice()?, output.as_mut_slice()?);
            let sizes = (data.len(), output.len());
            let steps = Reducing::<R, T>::new(data, output);
            segments.reduce(ctx, &steps, sizes, R::IDENTITY, (R::lift(R::gap()), 1))
        })
    }
}

/// What such ops have in common for all dtypes and reducers.
fn reduce_sorted(ctx: &mut RawContext<'_>, reduce: Reduce) -> Result<()> {
    let data = ctx.input_at(0)?;
    let (segments, rows) = sorted_segments(ctx)?;
    let mut shape = data.shape().clone();
    shape.dims_mut()[0] = rows;
    let row = shape[1..].iter().product();
    let mut output = ctx.allocate_output_at(0, shape)?;
    if output.num_elements() > 0 {
        reduce(ctx, &Segments { row, segments, order: None }, data, &mut output)?;
    }
    ctx.set_output_at(0, output)
}

/// The segments that vector 1 names, and how many rows the output has.
fn sorted_segments(ctx: &RawContext<'_>) -> Result<(Vec<Segment>, usize)> {
    let (data, ids) = (ctx.input_at(0)?, ctx.input_at(1)?);
    ensure!(data.rank() > 0, InvalidArgument, "input must be at least rank 1");
    ensure!(ids.rank() == 1, InvalidArgument, "segment_ids should be a vector, not of shape {}", ids.shape());
    ensure!(
        ids.num_elements() == data.shape()[0],
        InvalidArgument,
        "segment_ids should be the same size as dimension 0 of input: {} for {}",
        ids.num_elements(),
        data.shape()
    );
    let most = if ids.dtype() == DataType::Int32 { i32::MAX.into() } else { i64::MAX };
    let ids = ids.to_i64_vec()?;
    let mut segments: Vec<Segment> = Vec::new();
    let mut last = 0;
    for (row, &id) in ids.iter().enumerate() {
        ensure!((0..most).contains(&id), InvalidArgument, "segment ids must be >= 0 and below {most}, not {id}");
        ensure!(id >= last, InvalidArgument, "segment ids are not increasing: {id} follows {last}");
        match segments.last_mut() {
            Some(segment) if id == last => segment.rows.end = row + 1,
            _ => scratch::push(&mut segments, Segment { rows: row..row + 1, output: id as usize })?,
        }
        last = id;
    }
    Ok((segments, if ids.is_empty() { 0 } else { last as usize + 1 }))
}

/// An op with inputs `data`, `segment_ids` and `num_segments`.
struct Unsorted<R, T>(PhantomData<fn(T) -> R>);

/// The rows of an unsorted reduction.
enum Rows {
    /// By segment.
    Grouped(Segments),
    /// As they stand, with the segment of each, which the output has unless it is negative: rows of so few elements that it
    /// would take longer to group them than to reduce them.
    AsTheyStand { segments: Vec<i64>, row: usize },
}

/// The most elements of rows that are not grouped.
const SHORT: usize = 8;

impl<O: Op, R: SegmentReducer<T>, T: Pod> OpKernel<O> for Unsorted<R, T> {
    fn new(_: &KernelConstruction<'_, O>) -> Result<Self> {
        Ok(Self(PhantomData))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        reduce_unsorted(ctx, |ctx, rows, data, output| {
            let (data, output) = (data.as_slice()?, output.as_mut_slice()?);
            let sizes = (data.len(), output.len());
            let initial = R::initial();
            if data.is_empty() {
                output.fill(R::finish(initial, 0));
                return Ok(());
            }
            let steps = Reducing::<R, T>::new(data, output);
            match rows {
                Rows::Grouped(rows) => rows.reduce(ctx, &steps, sizes, initial, (initial, 0)),
                Rows::AsTheyStand { segments, row } => reduce_short(ctx, &steps, (segments, *row), sizes, initial),
            }
        })
    }
}

/// Reduces rows as they stand. Each thread passes over all of them for some of the segments.
#[inline(never)]
fn reduce_short<A: Copy + Send + Sync>(
    ctx: &RawContext<'_>,
    steps: &dyn Steps<A>,
    (segments, row): (&[i64], usize),
    (elements, length): (usize, usize),
    initial: A,
) -> Result<()> {
    let count = length / row;
    let share = count.div_ceil(ctx.threads().clamp(1, count.max(1))).max(1);
    ctx.try_parallel_for(count.div_ceil(share), elements, |shares| {
        for number in shares {
            let first = number * share;
            let mut results = scratch::filled(initial, share.min(count - first) * row)?;
            steps.scatter(&mut results, segments, first as i64, row);
            // SAFETY: no other share has these segments.
            unsafe { steps.finish(&results, 0, first * row) };
        }
        Ok(())
    })
}

/// What such ops have in common for all dtypes and reducers.
fn reduce_unsorted(
    ctx: &mut RawContext<'_>,
    reduce: fn(&RawContext<'_>, &Rows, &Tensor, &mut Tensor) -> Result<()>,
) -> Result<()> {
    let (data, ids, count) = (ctx.input_at(0)?, ctx.input_at(1)?, ctx.input_at(2)?);
    let (shape, row) = unsorted(data.shape(), ids.shape(), count)?;
    let count = shape[0];
    let mut output = ctx.allocate_output_at(0, shape)?;
    let ids = if data.num_elements() > 0 { ids.to_i64_vec()? } else { Vec::new() };
    ensure_within(&ids, count)?;
    let rows = if (1..=SHORT).contains(&row) {
        Rows::AsTheyStand { segments: ids, row }
    } else {
        let (segments, order) = group(&ids, count)?;
        Rows::Grouped(Segments { row, segments, order: Some(order) })
    };
    reduce(ctx, &rows, data, &mut output)?;
    ctx.set_output_at(0, output)
}

/// Checks that the output has each segment that is not negative.
fn ensure_within(ids: &[i64], count: usize) -> Result<()> {
    if let Some(row) = ids.iter().position(|&id| id >= count as i64) {
        kernlink::bail!(InvalidArgument, "segment_ids[{row}] = {} is out of range [0, {count})", ids[row]);
    }
    Ok(())
}

/// The rows by segment, those of a segment in their order; rows of negative segments are left out. The output has all others.
fn group(ids: &[i64], count: usize) -> Result<(Vec<Segment>, Vec<usize>)> {
    let mut order: Vec<usize>;
    if count <= 4 * ids.len() + 1024 {
        // How many rows come before those of each segment, and then where its next row goes.
        let mut starts = scratch::zeros::<usize>(count + 1)?;
        ids.iter().filter(|id| **id >= 0).for_each(|&id| starts[id as usize + 1] += 1);
        for segment in 0..count {
            starts[segment + 1] += starts[segment];
        }
        order = scratch::zeros(starts[count])?;
        for (row, &id) in ids.iter().enumerate().filter(|(_, id)| **id >= 0) {
            order[starts[id as usize]] = row;
            starts[id as usize] += 1;
        }
    } else {
        order = scratch::collected((0..ids.len()).filter(|&row| ids[row] >= 0))?;
        order.sort_unstable_by_key(|&row| (ids[row], row));
    }
    let mut segments: Vec<Segment> = Vec::new();
    for (place, &row) in order.iter().enumerate() {
        let output = ids[row] as usize;
        match segments.last_mut() {
            Some(segment) if segment.output == output => segment.rows.end = place + 1,
            _ => scratch::push(&mut segments, Segment { rows: place..place + 1, output })?,
        }
    }
    Ok((segments, order))
}

#[register_kernel(device = Cpu, op = SegmentSum, Tindices = [int32, int64], T = [realnumbertype, Complex32, Complex64])]
type SegmentSumKernel<T> = Sorted<SumOf, T>;

#[register_kernel(
    device = Cpu,
    op = SegmentMean,
    Tindices = [int32, int64],
    T = [realnumbertype, Complex32, Complex64],
)]
type SegmentMeanKernel<T> = Sorted<MeanOf, T>;

#[register_kernel(
    device = Cpu,
    op = SegmentProd,
    Tindices = [int32, int64],
    T = [realnumbertype, Complex32, Complex64],
)]
type SegmentProdKernel<T> = Sorted<ProdOf, T>;

#[register_kernel(device = Cpu, op = SegmentMax, Tindices = [int32, int64], T = [realnumbertype])]
type SegmentMaxKernel<T> = Sorted<MaxOf, T>;

#[register_kernel(device = Cpu, op = SegmentMin, Tindices = [int32, int64], T = [realnumbertype])]
type SegmentMinKernel<T> = Sorted<MinOf, T>;

#[register_kernel(
    device = Cpu,
    op = UnsortedSegmentSum,
    Tindices = [int16, int32, int64],
    T = [realnumbertype, Complex32, Complex64],
)]
type UnsortedSegmentSumKernel<T> = Unsorted<SumOf, T>;

#[register_kernel(
    device = Cpu,
    op = UnsortedSegmentProd,
    Tindices = [int32, int64],
    T = [realnumbertype, Complex32, Complex64],
)]
type UnsortedSegmentProdKernel<T> = Unsorted<ProdOf, T>;

#[register_kernel(device = Cpu, op = UnsortedSegmentMax, Tindices = [int32, int64], T = [realnumbertype])]
type UnsortedSegmentMaxKernel<T> = Unsorted<MaxOf, T>;

#[register_kernel(device = Cpu, op = UnsortedSegmentMin, Tindices = [int32, int64], T = [realnumbertype])]
type UnsortedSegmentMinKernel<T> = Unsorted<MinOf, T>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_grouped_alike_by_counting_and_by_sorting() {
        let ids = [3, -1, 0, 3, 2, 0];
        for count in [4, 1_000_000_000_000] {
            let (segments, order) = group(&ids, count).unwrap();
            assert_eq!(order, [2, 5, 4, 0, 3]);
            let found: Vec<_> = segments.iter().map(|segment| (segment.output, segment.rows.clone())).collect();
            assert_eq!(found, [(0, 0..2), (2, 2..3), (3, 3..5)]);
        }
        assert!(ensure_within(&ids, 3).is_err());
        assert!(ensure_within(&ids, 4).is_ok());
    }
}

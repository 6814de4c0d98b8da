//! Reductions of rows by segments.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, Value};
use kernlink_macros::register_gradient;

use super::{scalar_like, shape_of, with_ones_behind};
use crate::*;

/// How rows are told apart.
#[derive(Clone, Copy)]
enum Segments {
    /// By ids that never fall.
    Sorted { ids: Value },
    /// By ids in any order; rows whose ids are negative belong to none.
    Unsorted { ids: Value, count: Value },
}

impl Segments {
    /// The sums of rows.
    fn sums(self, g: &mut GradientScope<'_>, rows: Value) -> Result<Value> {
        match self {
            Segments::Sorted { ids } => segment_sum(g, rows, ids).build(),
            Segments::Unsorted { ids, count } => unsorted_segment_sum(g, rows, ids, count).build(),
        }
    }

    /// The products of rows.
    fn products(self, g: &mut GradientScope<'_>, rows: Value) -> Result<Value> {
        match self {
            Segments::Sorted { ids } => segment_prod(g, rows, ids).build(),
            Segments::Unsorted { ids, count } => unsorted_segment_prod(g, rows, ids, count).build(),
        }
    }

    /// For each row what its segment has, and zero where it has none.
    fn spread(self, g: &mut GradientScope<'_>, by_segment: Value) -> Result<Value> {
        let ids = match self {
            Segments::Sorted { ids } => return gather_v2(g, by_segment, ids, 0).build(),
            Segments::Unsorted { ids, .. } => ids,
        };
        let (place, is_there) = (maximum(g, ids, 0).build()?, greater_equal(g, ids, 0).build()?);
        let spread = gather_v2(g, by_segment, place, 0).build()?;
        let is_there = with_ones_behind(g, is_there, spread)?;
        let nothing = scalar_like(g, spread, 0.0)?;
        select_v2(g, is_there, spread, nothing).build()
    }
}

#[register_gradient(op = SegmentSum)]
fn segment_sum_gradient(g: &mut GradientScope<'_>, segment_ids: Value, d_output: Value) -> Result<(Value, NoGradient)> {
    Ok((Segments::Sorted { ids: segment_ids }.spread(g, d_output)?, NoGradient))
}

#[register_gradient(op = UnsortedSegmentSum)]
fn unsorted_segment_sum_gradient(
    g: &mut GradientScope<'_>,
    segment_ids: Value,
    num_segments: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    let segments = Segments::Unsorted { ids: segment_ids, count: num_segments };
    Ok((segments.spread(g, d_output)?, NoGradient, NoGradient))
}

#[register_gradient(op = SegmentMean)]
fn segment_mean_gradient(
    g: &mut GradientScope<'_>,
    segment_ids: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    let segments = Segments::Sorted { ids: segment_ids };
    let (dtype, ids) = (g.dtype(d_output)?, shape_of(g, segment_ids));
    let ones = g.ones(dtype, &ids)?;
    let counts = segments.sums(g, ones)?;
    let counts = with_ones_behind(g, counts, d_output)?;
    let share = real_div(g, d_output, counts).build()?;
    Ok((segments.spread(g, share)?, NoGradient))
}

/// Shared equally among all rows that have the extreme of their segment.
fn extreme(g: &mut GradientScope<'_>, segments: Segments, data: Value, output: Value, flow: Value) -> Result<Value> {
    let dtype = g.dtype(flow)?;
    let chosen = segments.spread(g, output)?;
    let is_it = equal(g, data, chosen).build()?;
    let counted = cast(g, is_it, dtype).build()?;
    let counts = segments.sums(g, counted)?;
    let share = real_div(g, flow, counts).build()?;
    let (share, nothing) = (segments.spread(g, share)?, scalar_like(g, flow, 0.0)?);
    select_v2(g, is_it, share, nothing).build()
}

#[register_gradient(op = [SegmentMax, SegmentMin])]
fn segment_extreme_gradient(
    g: &mut GradientScope<'_>,
    data: Value,
    segment_ids: Value,
    output: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    Ok((extreme(g, Segments::Sorted { ids: segment_ids }, data, output, d_output)?, NoGradient))
}

#[register_gradient(op = [UnsortedSegmentMax, UnsortedSegmentMin])]
fn unsorted_segment_extreme_gradient(
    g: &mut GradientScope<'_>,
    data: Value,
    segment_ids: Value,
    num_segments: Value,
    output: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    let segments = Segments::Unsorted { ids: segment_ids, count: num_segments };
    Ok((extreme(g, segments, data, output, d_output)?, NoGradient, NoGradient))
}

/// The product of the others: without zeros by division, with one zero for this one alone, with more for none.
fn of_product(g: &mut GradientScope<'_>, segments: Segments, data: Value, output: Value, flow: Value) -> Result<Value> {
    let (zero, one) = (scalar_like(g, data, 0.0)?, scalar_like(g, data, 1.0)?);
    let is_zero = equal(g, data, zero).build()?;
    let counted = cast(g, is_zero, DataType::Int32).build()?;
    let zeros = segments.sums(g, counted)?;
    let are_several = greater(g, zeros, 1).build()?;
    let flow = select_v2(g, are_several, zero, flow).build()?;
    let safe = select_v2(g, is_zero, one, data).build()?;
    let products = segments.products(g, safe)?;
    let (others, all) = (segments.spread(g, products)?, segments.spread(g, output)?);
    let divided = real_div(g, all, safe).build()?;
    let slope = select_v2(g, is_zero, others, divided).build()?;
    let flow = segments.spread(g, flow)?;
    super::times(g, flow, slope)
}

#[register_gradient(op = SegmentProd)]
fn segment_prod_gradient(
    g: &mut GradientScope<'_>,
    data: Value,
    segment_ids: Value,
    output: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    Ok((of_product(g, Segments::Sorted { ids: segment_ids }, data, output, d_output)?, NoGradient))
}

#[register_gradient(op = UnsortedSegmentProd)]
fn unsorted_segment_prod_gradient(
    g: &mut GradientScope<'_>,
    data: Value,
    segment_ids: Value,
    num_segments: Value,
    output: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    let segments = Segments::Unsorted { ids: segment_ids, count: num_segments };
    Ok((of_product(g, segments, data, output, d_output)?, NoGradient, NoGradient))
}

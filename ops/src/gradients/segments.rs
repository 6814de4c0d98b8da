//! Reductions of rows by segments.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
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

/// The rows of a sum over picked rows, as many as the tensor has from which they were picked.
#[cfg(feature = "sparse")]
mod picked {
    use kernlink::dtype::DataType;
    use kernlink::gradient::{Gradient, IndexedSlices};

    use super::*;

    /// How the sums are scaled.
    #[derive(Clone, Copy)]
    enum Scale {
        None,
        ByCount,
        ByRootOfCount,
    }

    /// Where the rows were picked, and into which segments they went.
    type Picks = [Value; 2];

    fn of_rows(g: &mut GradientScope<'_>, scale: Scale, data: &ShapeOf, picks: Picks, flow: Value) -> Result<Gradient> {
        let ([indices, ids], dense_shape) = (picks, g.dims(data)?);
        let rows = cast(g, dense_shape, DataType::Int32).build()?;
        let rows = strided_slice(g, rows, &[0i32][..], &[1i32][..], &[1i32][..]).shrink_axis_mask(1).build()?;
        if g.attrs().required::<bool>("sparse_gradient")? {
            let (values, indices) = match scale {
                Scale::None => {
                    let found = sparse_segment_sum_grad_v2(g, flow, indices, ids, rows).build()?;
                    (found.output, found.sorted_unique_indices)
                }
                Scale::ByCount => {
                    let found = sparse_segment_mean_grad_v2(g, flow, indices, ids, rows).build()?;
                    (found.output, found.sorted_unique_indices)
                }
                Scale::ByRootOfCount => {
                    let found = sparse_segment_sqrt_n_grad_v2(g, flow, indices, ids, rows).build()?;
                    (found.output, found.sorted_unique_indices)
                }
            };
            return Ok(IndexedSlices { values, indices, dense_shape }.into());
        }
        let dense = match scale {
            Scale::None => sparse_segment_sum_grad(g, flow, indices, ids, rows).build()?,
            Scale::ByCount => sparse_segment_mean_grad(g, flow, indices, ids, rows).build()?,
            Scale::ByRootOfCount => sparse_segment_sqrt_n_grad(g, flow, indices, ids, rows).build()?,
        };
        Ok(dense.into())
    }

    macro_rules! gradients {
        ($($op:ident, $counted:ident: $scale:ident, $name:ident, $counted_name:ident;)*) => {$(
            #[register_gradient(op = $op)]
            fn $name(
                g: &mut GradientScope<'_>,
                data: ShapeOf,
                indices: Value,
                segment_ids: Value,
                d_output: Value,
            ) -> Result<(Gradient, NoGradient, NoGradient)> {
                Ok((of_rows(g, Scale::$scale, &data, [indices, segment_ids], d_output)?, NoGradient, NoGradient))
            }

            #[register_gradient(op = $counted)]
            fn $counted_name(
                g: &mut GradientScope<'_>,
                data: ShapeOf,
                indices: Value,
                segment_ids: Value,
                d_output: Value,
            ) -> Result<(Gradient, NoGradient, NoGradient, NoGradient)> {
                let flow = of_rows(g, Scale::$scale, &data, [indices, segment_ids], d_output)?;
                Ok((flow, NoGradient, NoGradient, NoGradient))
            }
        )*};
    }

    gradients! {
        SparseSegmentSum, SparseSegmentSumWithNumSegments: None, of_sum, of_counted_sum;
        SparseSegmentMean, SparseSegmentMeanWithNumSegments: ByCount, of_mean, of_counted_mean;
        SparseSegmentSqrtN, SparseSegmentSqrtNWithNumSegments: ByRootOfCount, of_root, of_counted_root;
    }

    /// The gradients of the gradients, which are linear in what flows: the sums of what flows back to their rows.
    macro_rules! gradients_of_gradients {
        ($($op:ident: $name:ident $sums:ident;)*) => {$(
            #[register_gradient(op = $op)]
            fn $name(
                g: &mut GradientScope<'_>,
                grad: ShapeOf,
                indices: Value,
                segment_ids: Value,
                d_output: Value,
            ) -> Result<(Value, NoGradient, NoGradient, NoGradient)> {
                let dims = g.dims(&grad)?;
                let rows = strided_slice(g, dims, &[0i32][..], &[1i32][..], &[1i32][..]).shrink_axis_mask(1).build()?;
                let sums = $sums(g, d_output, indices, segment_ids, rows).build()?;
                Ok((sums, NoGradient, NoGradient, NoGradient))
            }
        )*};
    }

    gradients_of_gradients! {
        SparseSegmentSumGrad: of_sum_grad sparse_segment_sum_with_num_segments;
        SparseSegmentMeanGrad: of_mean_grad sparse_segment_mean_with_num_segments;
        SparseSegmentSqrtNGrad: of_root_grad sparse_segment_sqrt_n_with_num_segments;
    }
}

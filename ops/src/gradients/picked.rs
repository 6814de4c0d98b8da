//! Sums of picked rows, by segments: of a tensor's rows those that were picked get what flows back.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{Gradient, GradientScope, IndexedSlices, NoGradient, ShapeOf, Value};
use kernlink_macros::register_gradient;

use crate::*;

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

/// How many gradients macros register here.
pub(super) const BY_MACROS: usize = OF_SUMS + OF_GRADIENTS;

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
    )*

        const OF_SUMS: usize = [$(stringify!($op), stringify!($counted)),*].len();
    };
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
    )*

        const OF_GRADIENTS: usize = [$(stringify!($op)),*].len();
    };
}

gradients_of_gradients! {
    SparseSegmentSumGrad: of_sum_grad sparse_segment_sum_with_num_segments;
    SparseSegmentMeanGrad: of_mean_grad sparse_segment_mean_with_num_segments;
    SparseSegmentSqrtNGrad: of_root_grad sparse_segment_sqrt_n_with_num_segments;
}

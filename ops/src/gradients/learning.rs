//! Classical learning.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, ShapeOf, Value};
use kernlink_macros::{not_differentiable, register_gradient};

use super::long_dims;
use crate::*;

not_differentiable!(SdcaFprint, SdcaOptimizer, SdcaOptimizerV2, SdcaShrinkL1);

/// What flows to a segment flows to its elements in equal parts.
#[register_gradient(op = IsotonicRegression)]
fn isotonic_regression_gradient(
    g: &mut GradientScope<'_>,
    T: DataType,
    output: ShapeOf,
    segments: Value,
    d_output: Value,
) -> Result<Value> {
    let dims = long_dims(g, &output)?;
    let last = strided_slice(g, dims, &[-1i32][..], &[i32::MAX][..], &[1i32][..]).build()?;
    let width = prod(g, last, 0).build()?;
    let flow = reshape(g, d_output, &[-1i32][..]).build()?;
    let segments = reshape(g, segments, &[-1i32][..]).build()?;
    let segments = cast(g, segments, DataType::Int64).build()?;
    let total = prod(g, dims, 0).build()?;
    let (zero, one) = (g.constant(0i64)?, g.constant(1i64)?);
    // The segments of all rows get numbers of their own.
    let numbers = range(g, zero, total, one).build()?;
    let rows = floor_div(g, numbers, width).build()?;
    let firsts = mul(g, rows, width).build()?;
    let ids = add_v2(g, firsts, segments).build()?;
    let ones = ones_like(g, flow).build()?;
    let sums = unsorted_segment_sum(g, flow, ids, total).build()?;
    let counts = unsorted_segment_sum(g, ones, ids, total).build()?;
    let means = div_no_nan(g, sums, counts).build()?;
    let means = gather_v2(g, means, ids, 0).build()?;
    let flow = reshape(g, means, dims).build()?;
    if g.dtype(flow)? == T { Ok(flow) } else { cast(g, flow, T).build() }
}

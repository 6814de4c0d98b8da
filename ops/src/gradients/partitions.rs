//! Rows that are dealt out and put together by numbers.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink_macros::register_gradient;

use super::{shape_of, with_ones_behind};
use crate::*;

/// The numbers from zero on, in a shape.
fn numbered(g: &mut GradientScope<'_>, shape: &ShapeOf) -> Result<Value> {
    let dims = g.dims(shape)?;
    let dims = cast(g, dims, DataType::Int32).build()?;
    let count = super::product_of_all(g, dims)?;
    let numbers = range(g, 0, count, 1).build()?;
    reshape(g, numbers, dims).build()
}

/// The numbers of the rows are dealt out as the rows were, and say where each goes back to.
#[register_gradient(op = DynamicPartition)]
fn dynamic_partition_gradient(
    g: &mut GradientScope<'_>,
    num_partitions: i64,
    data: ShapeOf,
    partitions: Value,
    d_outputs: Vec<Value>,
) -> Result<(Value, NoGradient)> {
    let of_partitions = shape_of(g, partitions);
    let numbers = numbered(g, &of_partitions)?;
    let dealt = dynamic_partition(g, numbers, partitions, num_partitions).build()?;
    let rows = parallel_dynamic_stitch(g, dealt, d_outputs).build()?;
    let dims = g.dims(&data)?;
    Ok((reshape(g, rows, dims).build()?, NoGradient))
}

/// Of rows for one place the one that is left has all that flows back. All rows are numbered, and the numbers put together
/// in the same way, if a place can have several.
fn stitched(
    g: &mut GradientScope<'_>,
    indices: &[Value],
    flow: Value,
    stitch: fn(&mut GradientScope<'_>, &[Value], &[Value]) -> Result<Value>,
) -> Result<(Vec<NoGradient>, Vec<Value>)> {
    let mut numbers = Vec::with_capacity(indices.len());
    let mut before = g.constant(0i32)?;
    for &places in indices {
        let of_places = shape_of(g, places);
        let own = numbered(g, &of_places)?;
        numbers.push(add_v2(g, own, before).build()?);
        let count = size(g, places).build()?;
        before = add_v2(g, before, count).build()?;
    }
    let left = stitch(g, indices, &numbers)?;
    let rows = indices.iter().zip(&numbers).map(|(&places, &own)| {
        let (rows, number) = (gather_v2(g, flow, places, 0).build()?, gather_v2(g, left, places, 0).build()?);
        let is_left = equal(g, number, own).build()?;
        let (is_left, nothing) = (with_ones_behind(g, is_left, rows)?, super::scalar_like(g, rows, 0.0)?);
        select_v2(g, is_left, rows, nothing).build()
    });
    Ok((Vec::new(), rows.collect::<Result<_>>()?))
}

#[register_gradient(op = DynamicStitch)]
fn dynamic_stitch_gradient(
    g: &mut GradientScope<'_>,
    indices: Vec<Value>,
    d_merged: Value,
) -> Result<(Vec<NoGradient>, Vec<Value>)> {
    stitched(g, &indices, d_merged, |g, indices, numbers| {
        dynamic_stitch(g, indices.iter().copied(), numbers.iter().copied()).build()
    })
}

#[register_gradient(op = ParallelDynamicStitch)]
fn parallel_dynamic_stitch_gradient(
    g: &mut GradientScope<'_>,
    indices: Vec<Value>,
    d_merged: Value,
) -> Result<(Vec<NoGradient>, Vec<Value>)> {
    stitched(g, &indices, d_merged, |g, indices, numbers| {
        parallel_dynamic_stitch(g, indices.iter().copied(), numbers.iter().copied()).build()
    })
}

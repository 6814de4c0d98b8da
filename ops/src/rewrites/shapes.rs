//! Shapes, ranks and sizes that are the same whatever is fed: constants, which others are folded with.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::graph::Output;
use kernlink::optimize::rewrite::{Matched, Rewrite};
use kernlink::tensor::Tensor;
use kernlink_macros::register_rewrite;

use crate::*;

/// The shape of something is a constant if it is the same whatever is fed.
#[register_rewrite(name = "constant-shape", pattern = shape @ Shape { input }, creates = [Const])]
fn constant_shape(m: &mut Rewrite<'_, '_>, shape: &Matched<Shape>, input: Output) -> Result<Option<Output>> {
    let vector = vector(m, input, shape.attrs().out_type);
    vector.map(|vector| constant(m, vector?)).transpose()
}

/// The shapes of several are constants if all are the same whatever is fed.
#[register_rewrite(name = "constant-shapes", pattern = shapes @ ShapeN { input: inputs @ .. }, creates = [Const])]
fn constant_shapes(
    m: &mut Rewrite<'_, '_>,
    shapes: &Matched<ShapeN>,
    inputs: &[Output],
) -> Result<Option<Vec<Output>>> {
    let vectors: Option<Vec<_>> = inputs.iter().map(|&input| vector(m, input, shapes.attrs().out_type)).collect();
    vectors.map(|vectors| vectors.into_iter().map(|vector| constant(m, vector?)).collect()).transpose()
}

/// The number of elements of something is a constant if it is the same whatever is fed.
#[register_rewrite(name = "constant-size", pattern = size @ Size { input }, creates = [Const])]
fn constant_size(m: &mut Rewrite<'_, '_>, size: &Matched<Size>, input: Output) -> Result<Option<Output>> {
    let Some(shape) = m.shape(input).to_shape().filter(|shape| shape.check().is_ok()) else { return Ok(None) };
    let count = shape.num_elements();
    let scalar = match size.attrs().out_type {
        DataType::Int32 => i32::try_from(count).ok().map(Tensor::scalar),
        _ => i64::try_from(count).ok().map(Tensor::scalar),
    };
    scalar.map(|scalar| constant(m, scalar)).transpose()
}

/// The number of dimensions of something is a constant if it is the same whatever is fed.
#[register_rewrite(name = "constant-rank", pattern = Rank { input }, creates = [Const])]
fn constant_rank(m: &mut Rewrite<'_, '_>, input: Output) -> Result<Option<Output>> {
    let rank = m.shape(input).rank().and_then(|rank| i32::try_from(rank).ok());
    rank.map(|rank| constant(m, Tensor::scalar(rank))).transpose()
}

/// The shape of an output as a vector, if it is certain and each dimension fits the dtype: else the kernel fails.
fn vector(m: &Rewrite<'_, '_>, input: Output, dtype: DataType) -> Option<Result<Tensor>> {
    let dims = m.shape(input).to_shape()?.to_i64();
    if dtype != DataType::Int32 {
        return Some(Tensor::vector(&dims));
    }
    let dims: Option<Vec<i32>> = dims.iter().map(|&dim| i32::try_from(dim).ok()).collect();
    dims.map(|dims| Tensor::vector(&dims))
}

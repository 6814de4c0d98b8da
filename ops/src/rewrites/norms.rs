//! Normalisations that graphs write with many nodes.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::graph::Output;
use kernlink::optimize::rewrite::{MatchedNode, Rewrite};
use kernlink::tensor::Tensor;
use kernlink_macros::register_rewrite;

use super::sizes::last_size;
use crate::*;

/// The normalisation of vectors of the last dimension, as Keras writes it, is one node, which rounds less often: results may
/// differ in the last bits.
#[register_rewrite(
    name = "fuse-layer-norm",
    pattern = Add | AddV2 {
        x: Mul { x, y: inverse },
        y: Add | AddV2 { x: Mul { x: Neg { x: mean }, y: inverse }, y: const beta }
    },
    creates = [LayerNorm],
    benefit = 5,
    internal,
)]
fn fuse_layer_norm(
    m: &mut Rewrite<'_, '_>,
    x: Output,
    inverse: Output,
    mean: Output,
    beta: Output,
) -> Result<Option<Output>> {
    normalised(m, x, inverse, mean, beta)
}

/// The normalisation of vectors of the last dimension, as `tf.nn.batch_normalization` writes it, is one node, which rounds
/// less often: results may differ in the last bits.
#[register_rewrite(
    name = "fuse-moments-norm",
    pattern = Add | AddV2 { x: Mul { x, y: inverse }, y: Sub { x: const beta, y: Mul { x: mean, y: inverse } } },
    creates = [LayerNorm],
    benefit = 5,
    internal,
)]
fn fuse_moments_norm(
    m: &mut Rewrite<'_, '_>,
    x: Output,
    inverse: Output,
    mean: Output,
    beta: Output,
) -> Result<Option<Output>> {
    normalised(m, x, inverse, mean, beta)
}

/// The normalisation of vectors of the last dimension, as it is defined and many write it, is one node, which rounds less often:
/// results may differ in the last bits.
#[register_rewrite(
    name = "fuse-centred-norm",
    pattern = Add | AddV2 {
        x: Mul { x: quotient @ RealDiv | Mul { x: centred, y: deviation }, y: const gamma },
        y: const beta
    },
    creates = [LayerNorm],
    benefit = 5,
    internal,
)]
fn fuse_centred_norm(
    m: &mut Rewrite<'_, '_>,
    quotient: &MatchedNode,
    centred: Output,
    deviation: Output,
    gamma: Output,
    beta: Output,
) -> Result<Option<Output>> {
    let is_divided = &*m.node(quotient.id).op.def.name == "RealDiv";
    let Some((x, epsilon)) = divided(m, centred, deviation, is_divided) else { return Ok(None) };
    layer_norm(m, x, gamma, beta, epsilon)
}

/// What is normalised, and epsilon, of `x - mean` and `sqrt(variance + epsilon)`, or the inverse of the latter.
fn divided(m: &Rewrite<'_, '_>, centred: Output, deviation: Output, is_divided: bool) -> Option<(Output, f64)> {
    let [x, mean] = inputs_of(m, centred, &["Sub"])?[..] else { return None };
    let root = if is_divided { "Sqrt" } else { "Rsqrt" };
    let sum = inputs_of(m, *inputs_of(m, deviation, &[root])?.first()?, &["Add", "AddV2"])?;
    let (variance, epsilon) = constant_last(m, &sum)?;
    let squares = *inputs_of(m, variance, &["Mean"])?.first()?;
    let of = inputs_of(m, squares, &["SquaredDifference", "Square", "Mul", "Pow"])?;
    let is_square = match (&*m.node(squares.node).op.def.name, &of[..]) {
        ("SquaredDifference", of) => of == [x, mean] || of == [mean, x],
        ("Square", of) => of == [centred],
        ("Mul", of) => of == [centred, centred],
        (_, &[base, exponent]) => base == centred && m.scalar(exponent) == Some(2.0),
        _ => false,
    };
    let epsilon = m.scalar(epsilon)?;
    (is_square && is_mean(m, mean, x) && is_mean(m, variance, squares)).then_some((x, epsilon))
}

fn normalised(
    m: &mut Rewrite<'_, '_>,
    x: Output,
    inverse: Output,
    mean: Output,
    beta: Output,
) -> Result<Option<Output>> {
    let Some((gamma, epsilon)) = scaled_inverse(m, x, inverse, mean) else { return Ok(None) };
    if !is_mean(m, mean, x) {
        return Ok(None);
    }
    layer_norm(m, x, gamma, beta, epsilon)
}

fn layer_norm(m: &mut Rewrite<'_, '_>, x: Output, gamma: Output, beta: Output, epsilon: f64) -> Result<Option<Output>> {
    if m.dtype(x) != Some(DataType::Float) {
        return Ok(None);
    }
    let Some(size) = last_size(m, x) else { return Ok(None) };
    match (vector(m, x, gamma, size)?, vector(m, x, beta, size)?) {
        (Some(gamma), Some(beta)) => __layer_norm(m, x, gamma, beta).epsilon(epsilon as f32).build().map(Some),
        _ => Ok(None),
    }
}

/// The inputs of an output's node, if that has this op and is not fed.
fn inputs_of(m: &Rewrite<'_, '_>, output: Output, ops: &[&str]) -> Option<Vec<Output>> {
    let fits = output.index == 0 && !m.is_fed(output) && ops.contains(&&*m.node(output.node).op.def.name);
    fits.then(|| m.inputs(output.node))
}

/// Scale and epsilon of `rsqrt(variance + epsilon) * scale`.
fn scaled_inverse(m: &Rewrite<'_, '_>, x: Output, inverse: Output, mean: Output) -> Option<(Output, f64)> {
    let product = inputs_of(m, inverse, &["Mul"])?;
    let (root, scale) = constant_last(m, &product)?;
    let sum = inputs_of(m, *inputs_of(m, root, &["Rsqrt"])?.first()?, &["Add", "AddV2"])?;
    let (variance, epsilon) = constant_last(m, &sum)?;
    let squares = *inputs_of(m, variance, &["Mean"])?.first()?;
    let is_variance = is_mean(m, variance, squares)
        && inputs_of(m, squares, &["SquaredDifference"]).is_some_and(|of| of == [x, mean] || of == [mean, x]);
    let epsilon = m.scalar(epsilon)?;
    is_variance.then_some((scale, epsilon))
}

/// Two inputs, of which the second is constant.
fn constant_last(m: &Rewrite<'_, '_>, inputs: &[Output]) -> Option<(Output, Output)> {
    match *inputs {
        [a, b] if m.constant(b).is_some() => Some((a, b)),
        [a, b] if m.constant(a).is_some() => Some((b, a)),
        _ => None,
    }
}

/// Whether an output is the mean of another one's last dimension, which is kept.
fn is_mean(m: &Rewrite<'_, '_>, mean: Output, of: Output) -> bool {
    let Some(inputs) = inputs_of(m, mean, &["Mean"]) else { return false };
    let [x, axes] = inputs[..] else { return false };
    let axes = m.constant(axes).and_then(|axes| axes.to_i64_vec().ok());
    let rank = m.graph().shape(x).rank();
    let is_last =
        |axis: i64| axis == -1 || rank.is_some_and(|rank| axis + 1 == rank as i64) && m.shape(x).rank() == rank;
    x == of
        && m.attr::<bool>(mean.node, "keep_dims").unwrap_or(false)
        && matches!(axes.as_deref(), Some(&[axis]) if is_last(axis))
}

/// A constant as a vector along the last dimension of `x`, which has this size.
fn vector(m: &Rewrite<'_, '_>, x: Output, constant: Output, size: usize) -> Result<Option<Tensor>> {
    let Some(value) = m.constant(constant) else { return Ok(None) };
    let (shape, rank) = (value.shape(), m.graph().shape(x).rank());
    // More dimensions than `x` has would become those of the result.
    let fits = shape.rank() <= 1 || rank.is_some_and(|rank| rank >= shape.rank());
    if !fits || value.num_elements() != size || shape.last().is_some_and(|&last| last != size) {
        return Ok(None);
    }
    value.clone().reshaped([size]).map(Some)
}

//! What attention makes of its scores.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::graph::Output;
use kernlink::optimize::rewrite::{MatchedNode, Rewrite};
use kernlink_macros::register_rewrite;

use crate::*;

/// The softmax of scores that are scaled and masked is one node.
#[register_rewrite(
    name = "fuse-masked-softmax",
    pattern = Softmax { logits: Add | AddV2 { x: scaled @ Mul | RealDiv { x, y: const scale }, y: mask } },
    creates = [ScaledMaskedSoftmax],
    benefit = 3,
    internal,
)]
fn fuse_masked_softmax(
    m: &mut Rewrite<'_, '_>,
    scaled: &MatchedNode,
    x: Output,
    scale: Output,
    mask: Output,
) -> Result<Option<Output>> {
    softmax_of(m, scaled, x, scale, &[mask])
}

/// The softmax of scaled scores is one node.
#[register_rewrite(
    name = "fuse-scaled-softmax",
    pattern = Softmax { logits: scaled @ Mul | RealDiv { x, y: const scale } },
    creates = [ScaledMaskedSoftmax],
    benefit = 3,
    internal,
)]
fn fuse_scaled_softmax(
    m: &mut Rewrite<'_, '_>,
    scaled: &MatchedNode,
    x: Output,
    scale: Output,
) -> Result<Option<Output>> {
    softmax_of(m, scaled, x, scale, &[])
}

fn softmax_of(
    m: &mut Rewrite<'_, '_>,
    scaled: &MatchedNode,
    x: Output,
    scale: Output,
    masks: &[Output],
) -> Result<Option<Output>> {
    let is_float = m.dtype(x) == Some(DataType::Float);
    let Some(scale) = m.scalar(scale).map(|scale| scale as f32).filter(|_| is_float) else { return Ok(None) };
    let factor = match &*m.node(scaled.id).op.def.name {
        "Mul" => scale,
        // The product with the inverse is the quotient, to the bit, if the inverse is exact.
        _ if is_power_of_two(scale) && is_power_of_two(1.0 / scale) => 1.0 / scale,
        _ => return Ok(None),
    };
    __scaled_masked_softmax(m, x, masks.to_vec()).scale(factor).build().map(Some)
}

/// Whether a number is a normal one, the only digit of which is its first.
fn is_power_of_two(x: f32) -> bool {
    const DIGITS: u32 = (1 << (f32::MANTISSA_DIGITS - 1)) - 1;
    x.is_normal() && x.to_bits() & DIGITS == 0
}

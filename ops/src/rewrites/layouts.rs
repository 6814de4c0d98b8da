//! Transposes with something between them that takes each element by itself: they meet behind it, and cancel where one is the
//! other's inverse, as those do that lead to another layout of images and back.

use kernlink::Result;
use kernlink::graph::{NodeBuilder, Output};
#[cfg(feature = "nn")]
use kernlink::optimize::rewrite::Matched;
use kernlink::optimize::rewrite::{MatchedNode, Rewrite};
use kernlink_macros::register_rewrite;

use super::attrs_for;
use super::moves::transposed_twice;
#[cfg(feature = "nn")]
use super::moves::{has_rank, permutation};
use crate::*;

/// Transposes around a function of each element are one transpose before it, or none.
#[register_rewrite(
    name = "merge-transposes-around",
    pattern = Transpose {
        x: function @ Neg | Abs | Sign | Square | Sqrt | Rsqrt | Sigmoid | Tanh | Exp | Erf | Floor | Ceil {
            x: Transpose { x, perm: const inner }
        },
        const perm
    },
    creates = [
        Transpose, Neg for Neg, Abs for Abs, Sign for Sign, Square for Square, Sqrt for Sqrt, Rsqrt for Rsqrt,
        Sigmoid for Sigmoid, Tanh for Tanh, Exp for Exp, Erf for Erf, Floor for Floor, Ceil for Ceil
    ],
    benefit = 2,
)]
fn merge_transposes_around(
    m: &mut Rewrite<'_, '_>,
    function: &MatchedNode,
    x: Output,
    inner: Output,
    perm: Output,
) -> Result<Option<Output>> {
    around(m, function, x, None, [inner, perm])
}

/// Transposes around an activation are one transpose before it, or none.
#[cfg(feature = "nn")]
#[register_rewrite(
    name = "merge-transposes-around-activation",
    pattern = Transpose {
        x: function @ Relu | Relu6 | LeakyRelu | Elu { features: Transpose { x, perm: const inner } },
        const perm
    },
    creates = [Transpose, Relu for Relu, Relu6 for Relu6, LeakyRelu for LeakyRelu, Elu for Elu],
    benefit = 2,
)]
fn merge_transposes_around_activation(
    m: &mut Rewrite<'_, '_>,
    function: &MatchedNode,
    x: Output,
    inner: Output,
    perm: Output,
) -> Result<Option<Output>> {
    around(m, function, x, None, [inner, perm])
}

/// Transposes around a sum or product with a scalar are one transpose before it, or none.
#[register_rewrite(
    name = "merge-transposes-around-scalar",
    pattern = Transpose {
        x: function @ Add | AddV2 | Mul { x: Transpose { x, perm: const inner }, y: const scalar },
        const perm
    },
    creates = [Transpose, Add for Add, AddV2 for AddV2, Mul for Mul],
    benefit = 2,
)]
fn merge_transposes_around_scalar(
    m: &mut Rewrite<'_, '_>,
    function: &MatchedNode,
    x: Output,
    scalar: Output,
    inner: Output,
    perm: Output,
) -> Result<Option<Output>> {
    let is_scalar = m.constant(scalar).is_some_and(|value| value.rank() == 0);
    if is_scalar { around(m, function, x, Some(scalar), [inner, perm]) } else { Ok(None) }
}

/// A bias between a transpose of images to the other layout and the transpose back is added where they are.
#[cfg(feature = "nn")]
#[register_rewrite(
    name = "drop-transposes-around-bias",
    pattern = Transpose { x: add @ BiasAdd { value: Transpose { x, perm: const inner }, bias }, const perm },
    creates = [BiasAdd],
    benefit = 4,
)]
fn drop_transposes_around_bias(
    m: &mut Rewrite<'_, '_>,
    add: &Matched<BiasAdd>,
    x: Output,
    bias: Output,
    inner: Output,
    perm: Output,
) -> Result<Option<Output>> {
    const LAST: &[usize] = &[0, 2, 3, 1];
    const SECOND: &[usize] = &[0, 3, 1, 2];
    let (Some(there), Some(back)) = (permutation(m, inner), permutation(m, perm)) else { return Ok(None) };
    let format = match (&*there, &*back, &*add.attrs().data_format) {
        (LAST, SECOND, "NHWC") => "NCHW",
        (SECOND, LAST, "NCHW") => "NHWC",
        _ => return Ok(None),
    };
    if !has_rank(m, x, 4) {
        return Ok(None);
    }
    bias_add(m, x, bias).data_format(format).build().map(Some)
}

/// The function of a tensor that is transposed by both permutations at once; `scalar` is its other operand.
fn around(
    m: &mut Rewrite<'_, '_>,
    function: &MatchedNode,
    x: Output,
    scalar: Option<Output>,
    perms: [Output; 2],
) -> Result<Option<Output>> {
    let Some(moved) = transposed_twice(m, x, perms)? else { return Ok(None) };
    let op = m.node(function.id).op.def;
    let kept = attrs_for(m, function.id, op);
    let mut node = NodeBuilder::new(m, op);
    node.input(moved);
    scalar.into_iter().for_each(|scalar| _ = node.input(scalar));
    kept.into_iter().for_each(|(name, value)| _ = node.attr(&name, value));
    node.build_output().map(Some)
}

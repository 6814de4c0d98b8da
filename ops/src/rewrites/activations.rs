//! Activations that graphs write with several nodes. Floats and doubles only, of which the
//! results are the same to the bit unless a rewrite says otherwise.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::graph::Output;
use kernlink::optimize::rewrite::{MatchedNode, Rewrite};
use kernlink_macros::register_rewrite;

use crate::*;

/// Whether a dtype is not rounded after each op on the way.
fn is_wide(m: &Rewrite<'_, '_>, x: Output) -> bool {
    matches!(m.dtype(x), Some(DataType::Float | DataType::Double))
}

/// Whether a constant is the nearest number of its dtype to this one.
fn is_nearest(m: &Rewrite<'_, '_>, constant: Output, value: f64) -> bool {
    let expected = if m.dtype(constant) == Some(DataType::Float) { f64::from(value as f32) } else { value };
    m.scalar(constant) == Some(expected)
}

/// A product of something and its sigmoid is its swish.
#[register_rewrite(
    name = "fuse-swish",
    pattern = Mul { x, y: Sigmoid { x } },
    creates = [Swish],
    benefit = 5,
    internal,
)]
fn fuse_swish(m: &mut Rewrite<'_, '_>, x: Output) -> Result<Option<Output>> {
    if is_wide(m, x) { __swish(m, x).build().map(Some) } else { Ok(None) }
}

/// A product of something and its hard sigmoid is its hard swish.
#[register_rewrite(
    name = "fuse-hard-swish",
    pattern = Mul { x, y: RealDiv { x: Relu6 { features: Add | AddV2 { x, y: const three } }, y: const six } },
    creates = [HardSwish],
    benefit = 5,
    internal,
)]
fn fuse_hard_swish(m: &mut Rewrite<'_, '_>, x: Output, three: Output, six: Output) -> Result<Option<Output>> {
    let fits = is_wide(m, x) && is_nearest(m, three, 3.0) && is_nearest(m, six, 6.0);
    if fits { __hard_swish(m, x).build().map(Some) } else { Ok(None) }
}

/// A product of something and its hard sigmoid, which is multiplied by a sixth, is its hard swish, whose result may differ in
/// the last bits.
#[register_rewrite(
    name = "fuse-hard-swish-sixth",
    pattern = Mul { x, y: Mul { x: Relu6 { features: Add | AddV2 { x, y: const three } }, y: const sixth } },
    creates = [HardSwish],
    benefit = 5,
    internal,
)]
fn fuse_hard_swish_sixth(m: &mut Rewrite<'_, '_>, x: Output, three: Output, sixth: Output) -> Result<Option<Output>> {
    let fits = is_wide(m, x) && is_nearest(m, three, 3.0) && is_nearest(m, sixth, 1.0 / 6.0);
    if fits { __hard_swish(m, x).build().map(Some) } else { Ok(None) }
}

/// Half of something times the complementary error function of it, as TensorFlow writes GELU, is one node.
#[register_rewrite(
    name = "fuse-gelu",
    pattern = Mul { x: Mul { x: const half, y: x }, y: Erfc { x: Mul { x: Neg { x }, y: const root } } },
    creates = [GeluExact],
    benefit = 5,
    internal,
)]
fn fuse_gelu(m: &mut Rewrite<'_, '_>, x: Output, half: Output, root: Output) -> Result<Option<Output>> {
    let fits = is_wide(m, x) && is_nearest(m, half, 0.5) && is_nearest(m, root, std::f64::consts::FRAC_1_SQRT_2);
    if fits { __gelu_exact(m, x).build().map(Some) } else { Ok(None) }
}

/// Half of something times one more than the error function of it is its GELU, whose result may differ in the last bits.
#[register_rewrite(
    name = "fuse-gelu-erf",
    pattern = Mul {
        x: Mul { x: const half, y: x },
        y: Add | AddV2 { x: const one, y: Erf { x: scaled @ RealDiv | Mul { x, y: const root } } }
    },
    creates = [GeluExact],
    benefit = 5,
    internal,
)]
fn fuse_gelu_erf(
    m: &mut Rewrite<'_, '_>,
    scaled: &MatchedNode,
    x: Output,
    half: Output,
    one: Output,
    root: Output,
) -> Result<Option<Output>> {
    gelu_of_erf(m, scaled, x, [half, one, root])
}

/// Something times half of one more than the error function of it, as BERT writes it, is its GELU, whose result may differ in
/// the last bits.
#[register_rewrite(
    name = "fuse-gelu-distribution",
    pattern = Mul {
        x,
        y: Mul {
            x: const half,
            y: Add | AddV2 { x: const one, y: Erf { x: scaled @ RealDiv | Mul { x, y: const root } } }
        }
    },
    creates = [GeluExact],
    benefit = 5,
    internal,
)]
fn fuse_gelu_distribution(
    m: &mut Rewrite<'_, '_>,
    scaled: &MatchedNode,
    x: Output,
    half: Output,
    one: Output,
    root: Output,
) -> Result<Option<Output>> {
    gelu_of_erf(m, scaled, x, [half, one, root])
}

/// Half of a product of something and one more than the error function of it is its GELU, whose result may differ in the last
/// bits.
#[register_rewrite(
    name = "fuse-half-gelu",
    pattern = Mul {
        x: const half,
        y: Mul { x, y: Add | AddV2 { x: const one, y: Erf { x: scaled @ RealDiv | Mul { x, y: const root } } } }
    },
    creates = [GeluExact],
    benefit = 5,
    internal,
)]
fn fuse_half_gelu(
    m: &mut Rewrite<'_, '_>,
    scaled: &MatchedNode,
    x: Output,
    half: Output,
    one: Output,
    root: Output,
) -> Result<Option<Output>> {
    gelu_of_erf(m, scaled, x, [half, one, root])
}

/// GELU, if `x / sqrt(2)` or `x * sqrt(1/2)` is what the error function takes.
fn gelu_of_erf(
    m: &mut Rewrite<'_, '_>,
    scaled: &MatchedNode,
    x: Output,
    [half, one, root]: [Output; 3],
) -> Result<Option<Output>> {
    use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};
    let expected = if &*m.node(scaled.id).op.def.name == "RealDiv" { SQRT_2 } else { FRAC_1_SQRT_2 };
    // Graphs have the root of a rounded 2, or the inverse of a rounded root.
    let is_root = m.scalar(root).is_some_and(|root| (root / expected - 1.0).abs() <= f64::from(f32::EPSILON));
    let fits = m.dtype(x) == Some(DataType::Float) && is_nearest(m, half, 0.5) && is_nearest(m, one, 1.0) && is_root;
    if fits { __gelu_exact(m, x).build().map(Some) } else { Ok(None) }
}

/// GELU by the hyperbolic tangent, as TensorFlow writes it, is one node.
#[register_rewrite(
    name = "fuse-gelu-approximate",
    pattern = Mul {
        x: Mul { x: const half, y: x },
        y: Add | AddV2 {
            x: const one,
            y: Tanh {
                x: Mul {
                    x: const slope,
                    y: Add | AddV2 { x, y: Mul { x: const cubic, y: Pow { x, y: const three } } }
                }
            }
        }
    },
    creates = [GeluApproximate],
    benefit = 5,
    internal,
)]
fn fuse_gelu_approximate(
    m: &mut Rewrite<'_, '_>,
    x: Output,
    half: Output,
    one: Output,
    slope: Output,
    cubic: Output,
    three: Output,
) -> Result<Option<Output>> {
    let constants = [(half, 0.5), (one, 1.0), (slope, 0.797_884_560_802_865_4), (cubic, 0.044_715), (three, 3.0)];
    let fits = is_wide(m, x) && constants.into_iter().all(|(constant, value)| is_nearest(m, constant, value));
    if fits { __gelu_approximate(m, x).build().map(Some) } else { Ok(None) }
}

//! Activations that graphs write with several nodes. Floats and doubles only, of which the results are the same to the bit.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::graph::Output;
use kernlink::optimize::rewrite::Rewrite;
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

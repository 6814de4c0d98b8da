//! Constants by which channels are multiplied, in the constant filter or matrix that makes them. What comes out rounds elsewhere,
//! so that all run only where that is asked for: else the product does it in the end, to the bit, while its sums are near.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::graph::{NodeBuilder, Output};
use kernlink::optimize::rewrite::{MatchedNode, Rewrite};
use kernlink::tensor::Tensor;
use kernlink_macros::register_rewrite;

use super::attrs_for;
use super::products::Product;
use crate::*;

/// A convolution by a constant filter, whose channels are multiplied by constants, is one by the product of both.
#[register_rewrite(
    name = "scale-filter",
    pattern = Mul { x: product @ Conv2D | DepthwiseConv2dNative { input, const filter }, const y },
    creates = [Conv2D for Conv2D, DepthwiseConv2dNative for DepthwiseConv2dNative],
    benefit = 5,
    inexact,
)]
fn scale_filter(
    m: &mut Rewrite<'_, '_>,
    product: &MatchedNode,
    input: Output,
    filter: Output,
    y: Output,
) -> Result<Option<Output>> {
    by_scaled(m, product, [input, filter], y)
}

/// A product with a constant matrix, whose columns are multiplied by constants, is one with the product of both.
#[register_rewrite(
    name = "scale-matrix",
    pattern = Mul { x: product @ MatMul | BatchMatMulV2 { .. }, const y },
    creates = [MatMul for MatMul, BatchMatMulV2 for BatchMatMulV2],
    benefit = 5,
    inexact,
)]
fn scale_matrix(m: &mut Rewrite<'_, '_>, product: &MatchedNode, y: Output) -> Result<Option<Output>> {
    match m.inputs(product.id)[..] {
        [a, b] if m.constant(b).is_some_and(|b| b.rank() == 2) => by_scaled(m, product, [a, b], y),
        _ => Ok(None),
    }
}

/// The product whose second factor, which nothing else takes, is multiplied by a constant for each channel, or for all.
fn by_scaled(
    m: &mut Rewrite<'_, '_>,
    node: &MatchedNode,
    [first, second]: [Output; 2],
    by: Output,
) -> Result<Option<Output>> {
    let (Some(product), Some(value), Some(all)) = (Product::of(m, node), m.constant(second), m.constant(by)) else {
        return Ok(None);
    };
    let is_scalar = all.rank() == 0 && all.dtype() == product.dtype && value.dtype() == product.dtype;
    let factors = if is_scalar { Some(all.clone()) } else { product.vector(m, by)? };
    let Some(factors) = factors.filter(|_| m.uses(second) == 1) else { return Ok(None) };
    // Channels are the last dimensions, but the rows of a matrix that is transposed.
    let is_transposed =
        ["transpose_b", "adj_y"].iter().any(|name| product.attrs.required::<bool>(name).unwrap_or(false));
    let run = if is_transposed { value.shape().last().copied().unwrap_or(1) } else { 1 };
    let scaled = match product.dtype {
        DataType::Float => scaled::<f32>(value, &factors, run)?,
        _ => scaled::<f64>(value, &factors, run)?,
    };
    let Some(scaled) = scaled else { return Ok(None) };
    let op = m.node(node.id).op.def;
    let kept = attrs_for(m, node.id, op);
    let scaled = constant(m, scaled)?;
    let mut node = NodeBuilder::new(m, op);
    node.input(first).input(scaled);
    kept.into_iter().for_each(|(name, value)| _ = node.attr(&name, value));
    node.build_output().map(Some)
}

/// A number that can be too large or too small.
trait Ranged: kernlink::dtype::Element + Copy + std::ops::Mul<Output = Self> {
    /// Whether a product that was not zero before has lost nothing: neither overflows nor becomes subnormal.
    fn holds(self, is_zero: bool) -> bool;
    fn is_zero(self) -> bool;
}

macro_rules! ranged {
    ($($t:ty),*) => {$(
        impl Ranged for $t {
            fn holds(self, is_zero: bool) -> bool {
                self.is_normal() || (is_zero && self == 0.0)
            }
            fn is_zero(self) -> bool {
                self == 0.0
            }
        }
    )*};
}
ranged!(f32, f64);

/// Each element times the factor of its channel, which `run` elements in a row have; `None` if one would lose bits.
fn scaled<T: Ranged>(value: &Tensor, factors: &Tensor, run: usize) -> Result<Option<Tensor>> {
    let (elements, factors) = (value.as_slice::<T>()?, factors.as_slice::<T>()?);
    let mut all = Tensor::alloc(T::DTYPE, value.shape())?;
    for (index, (product, &element)) in all.as_mut_slice::<T>()?.iter_mut().zip(elements).enumerate() {
        let factor = factors[index / run % factors.len()];
        *product = element * factor;
        if !product.holds(element.is_zero() || factor.is_zero()) {
            return Ok(None);
        }
    }
    Ok(Some(all))
}

//! Padding with zeros that a convolution does itself.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::graph::{NodeBuilder, NodeId, Output};
use kernlink::op::{Op, OpDef};
use kernlink::optimize::rewrite::{Matched, Rewrite};
use kernlink::tensor::Tensor;
use kernlink_macros::register_rewrite;

use super::attrs_for;
use crate::*;

/// A convolution pads with zeros itself what was padded for it.
#[register_rewrite(
    name = "fuse-pad",
    pattern = conv @ Conv2D {
        input: Pad { input, const paddings }, const filter, padding = "VALID", data_format = "NHWC"
    },
    creates = [Conv2D],
    benefit = 6,
)]
fn fuse_pad(
    m: &mut Rewrite<'_, '_>,
    conv: &Matched<Conv2D>,
    input: Output,
    paddings: Output,
    filter: Output,
) -> Result<Option<Output>> {
    padded(m, conv.id, Conv2D::DEF, [input, paddings, filter])
}

/// A depthwise convolution that is not fused with anything pads with zeros itself what was padded for it.
#[register_rewrite(
    name = "fuse-depthwise-pad",
    pattern = conv @ DepthwiseConv2dNative {
        input: Pad { input, const paddings }, const filter, padding = "VALID", data_format = "NHWC"
    },
    creates = [DepthwiseConv2dNative],
)]
fn fuse_depthwise_pad(
    m: &mut Rewrite<'_, '_>,
    conv: &Matched<DepthwiseConv2dNative>,
    input: Output,
    paddings: Output,
    filter: Output,
) -> Result<Option<Output>> {
    padded(m, conv.id, DepthwiseConv2dNative::DEF, [input, paddings, filter])
}

/// A depthwise convolution with what follows it pads with zeros itself what was padded for it.
#[register_rewrite(
    name = "fuse-fused-depthwise-pad",
    pattern = conv @ FusedDepthwiseConv2dNative {
        input: Pad { input, const paddings }, const filter, padding = "VALID", data_format = "NHWC", ..
    },
    creates = [FusedPaddedDepthwiseConv2dNative],
    internal,
)]
fn fuse_fused_depthwise_pad(
    m: &mut Rewrite<'_, '_>,
    conv: &Matched<FusedDepthwiseConv2dNative>,
    input: Output,
    paddings: Output,
    filter: Output,
) -> Result<Option<Output>> {
    padded(m, conv.id, FusedPaddedDepthwiseConv2dNative::DEF, [input, paddings, filter])
}

/// The convolution of an op that pads explicitly, if the padding of `input` is what it would do.
fn padded(
    m: &mut Rewrite<'_, '_>,
    conv: NodeId,
    op: &'static OpDef,
    [input, paddings, filter]: [Output; 3],
) -> Result<Option<Output>> {
    let (Some(filter_value), Some(sizes)) = (m.constant(filter), m.constant(paddings)) else { return Ok(None) };
    let (&[height, width, ..], &[4, 2]) = (filter_value.shape().dims(), sizes.shape().dims()) else { return Ok(None) };
    let sizes = sizes.to_i64_vec()?;
    // Zero times what is not finite is not zero, and the convolution passes over what it pads.
    let fits = sizes
        .iter()
        .zip([1, 1, height, height, width, width, 1, 1])
        .all(|(&pad, size)| usize::try_from(pad).is_ok_and(|pad| pad < size));
    if !fits || !is_finite(filter_value) {
        return Ok(None);
    }
    let kept = attrs_for(m, conv, op);
    let arguments = m.inputs(conv).split_off(2);
    let mut node = NodeBuilder::new(m, op);
    node.input(input).input(filter);
    if op.inputs.len() > 2 {
        node.input_list(arguments);
    }
    for (name, value) in kept.iter().filter(|(name, _)| !matches!(&**name, "padding" | "explicit_paddings")) {
        node.attr(name, value.clone());
    }
    node.attr("padding", "EXPLICIT").attr("explicit_paddings", sizes);
    node.build_output().map(Some)
}

/// Whether a filter of floats or doubles has neither infinities nor NaN; others are not looked at.
fn is_finite(filter: &Tensor) -> bool {
    match filter.dtype() {
        DataType::Float => filter.as_slice::<f32>().is_ok_and(|all| all.iter().all(|x| x.is_finite())),
        DataType::Double => filter.as_slice::<f64>().is_ok_and(|all| all.iter().all(|x| x.is_finite())),
        _ => false,
    }
}

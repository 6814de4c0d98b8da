//! Padding with zeros that a convolution or a pooling does itself.

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

/// The maxima of windows over what was padded with zeros count the zeros themselves.
#[register_rewrite(
    name = "fuse-max-pool-pad",
    pattern = pool @ MaxPool { input: Pad { input, const paddings }, padding = "VALID" },
    creates = [PaddedMaxPool],
    internal,
)]
fn fuse_max_pool_pad(
    m: &mut Rewrite<'_, '_>,
    pool: &Matched<MaxPool>,
    input: Output,
    paddings: Output,
) -> Result<Option<Output>> {
    pooled(m, pool.id, PaddedMaxPool::DEF, input, paddings)
}

/// The averages of windows over what was padded with zeros count the zeros themselves.
#[register_rewrite(
    name = "fuse-avg-pool-pad",
    pattern = pool @ AvgPool { value: Pad { input, const paddings }, padding = "VALID" },
    creates = [PaddedAvgPool],
    internal,
)]
fn fuse_avg_pool_pad(
    m: &mut Rewrite<'_, '_>,
    pool: &Matched<AvgPool>,
    input: Output,
    paddings: Output,
) -> Result<Option<Output>> {
    pooled(m, pool.id, PaddedAvgPool::DEF, input, paddings)
}

/// The pooling of an op that counts zeros around its images, if the padding of `input` is such.
fn pooled(
    m: &mut Rewrite<'_, '_>,
    pool: NodeId,
    op: &'static OpDef,
    input: Output,
    paddings: Output,
) -> Result<Option<Output>> {
    let Some(sizes) = m.constant(paddings).filter(|sizes| sizes.shape().dims() == [4, 2]) else { return Ok(None) };
    let sizes = sizes.to_i64_vec()?;
    let attrs = &m.node(pool).attrs;
    let (windows, strides): (Vec<i64>, Vec<i64>) = (attrs.required("ksize")?, attrs.required("strides")?);
    let spatial = match &*attrs.required::<String>("data_format")? {
        "NHWC" => 1..3,
        "NCHW" => 2..4,
        _ => return Ok(None),
    };
    let mut axes = sizes.chunks_exact(2).zip(windows.iter().zip(&strides)).enumerate();
    let fits = axes.all(|(axis, (pads, (&window, &stride)))| match spatial.contains(&axis) {
        true => pads.iter().all(|pad| (0..window).contains(pad)),
        false => pads == [0, 0] && window == 1 && stride == 1,
    });
    if !fits || windows.len() != 4 || strides.len() != 4 {
        return Ok(None);
    }
    let kept = attrs_for(m, pool, op);
    let mut node = NodeBuilder::new(m, op);
    node.input(input);
    for (name, value) in kept.iter().filter(|(name, _)| !matches!(&**name, "padding" | "explicit_paddings")) {
        node.attr(name, value.clone());
    }
    node.attr("padding", "EXPLICIT").attr("explicit_paddings", sizes);
    node.build_output().map(Some)
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

//! Normalisations of channels that stand by themselves, with what follows them.

use kernlink::Result;
use kernlink::graph::{NodeBuilder, Output};
use kernlink::op::Op;
use kernlink::optimize::rewrite::{MatchedNode, Rewrite};
use kernlink_macros::register_rewrite;

use super::attrs_for;
use crate::*;

/// The normalisation of channels and the positive part of it become one node.
#[register_rewrite(
    name = "fuse-batch-norm-relu",
    pattern = Relu {
        features: norm @ FusedBatchNorm | FusedBatchNormV2 | FusedBatchNormV3 { x, scale, offset, mean, variance }
    },
    creates = [FusedBatchNormEx],
    internal,
)]
fn fuse_batch_norm_relu(
    m: &mut Rewrite<'_, '_>,
    norm: &MatchedNode,
    x: Output,
    scale: Output,
    offset: Output,
    mean: Output,
    variance: Output,
) -> Result<Option<Output>> {
    // The fused op takes images only, whose channels are a multiple of 4.
    let format: String = m.attr(norm.id, "data_format")?;
    let channels = m.shape(scale).dims().and_then(|dims| dims.first().copied().flatten());
    if !matches!(&*format, "NHWC" | "NCHW") || channels.is_none_or(|channels| channels % 4 != 0) {
        return Ok(None);
    }
    let kept = attrs_for(m, norm.id, FusedBatchNormEx::DEF);
    let mut node = NodeBuilder::new(m, FusedBatchNormEx::DEF);
    for input in [x, scale, offset, mean, variance] {
        node.input(input);
    }
    node.input_list([] as [Output; 0]);
    for (name, value) in kept {
        node.attr(&name, value);
    }
    node.attr("activation_mode", "Relu");
    node.build_output().map(Some)
}

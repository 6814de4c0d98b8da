//! Whether two outputs have the same shape whatever is fed, as those have that come of one tensor by the same steps.

use kernlink::graph::{NodeClass, Output};
use kernlink::optimize::rewrite::Rewrite;

use super::sizes::last_size;

/// Nodes that are looked at on the way back to where two shapes come from.
const DEPTH: usize = 48;

/// What a convolution does to height and width, if not nothing: size of the filter, strides, dilations, padding.
#[derive(PartialEq)]
struct Step {
    filter: [usize; 2],
    attrs: [Vec<i64>; 3],
    padding: String,
}

/// Whether it is certain that an output has the shape that another one has, which is of rank 4 with channels last.
pub(super) fn have_one_shape(m: &Rewrite<'_, '_>, a: Output, b: Output) -> bool {
    let channels = last_size(m, a);
    channels.is_some() && channels == last_size(m, b) && {
        let ((from_a, steps_a), (from_b, steps_b)) = (origin(m, a), origin(m, b));
        from_a == from_b && steps_a == steps_b
    }
}

/// The output from which the batch, height and width of another one come, and how.
fn origin(m: &Rewrite<'_, '_>, of: Output) -> (Output, Vec<Step>) {
    let (mut output, mut steps) = (of, Vec::new());
    for _ in 0..DEPTH {
        if output.index != 0 || m.is_fed(output) {
            break;
        }
        let inputs = m.inputs(output.node);
        let node = m.node(output.node);
        let Some(&first) = inputs.first() else { break };
        output = match &*node.op.def.name {
            "Conv2D"
            | "_FusedConv2D"
            | "DepthwiseConv2dNative"
            | "_FusedDepthwiseConv2dNative"
            | "_FusedPaddedDepthwiseConv2dNative" => {
                let Some(step) = step(m, output, &inputs) else { break };
                steps.extend(step);
                first
            }
            "Relu" | "Relu6" | "Elu" | "LeakyRelu" | "Sigmoid" | "Tanh" | "Neg" | "_Swish" | "_HardSwish"
            | "_GeluExact" | "_GeluApproximate" | "BiasAdd" | "FusedBatchNorm" | "FusedBatchNormV2"
            | "FusedBatchNormV3" => first,
            _ if node.class == NodeClass::Identity => first,
            _ => break,
        };
    }
    (output, steps)
}

/// What a convolution does to height and width: `None` if that cannot be told.
fn step(m: &Rewrite<'_, '_>, output: Output, inputs: &[Output]) -> Option<Option<Step>> {
    let attrs = &m.node(output.node).attrs;
    let padding: String = attrs.required("padding").ok()?;
    let list = |name: &str| attrs.required::<Vec<i64>>(name).unwrap_or_default();
    if attrs.required::<String>("data_format").ok()? != "NHWC" {
        return None;
    }
    let filter = m.shape(*inputs.get(1)?);
    let &[Some(height), Some(width), ..] = filter.dims()? else { return None };
    let step = Step {
        filter: [height, width],
        attrs: [list("strides"), list("dilations"), list("explicit_paddings")],
        padding,
    };
    let is_dense = step.attrs[0].iter().all(|&stride| stride == 1);
    let keeps = is_dense && (step.padding == "SAME" || (step.filter == [1, 1] && step.padding == "VALID"));
    Some((!keeps).then_some(step))
}

//! What is known of the last dimension of an output whatever is fed.

use kernlink::graph::Output;
use kernlink::optimize::rewrite::Rewrite;

/// Nodes that are looked at on the way to where a size is known.
const DEPTH: usize = 8;

/// The size of the last dimension of an output, if it is certain.
pub(super) fn last_size(m: &Rewrite<'_, '_>, output: Output) -> Option<usize> {
    last_within(m, output, DEPTH)
}

fn last_within(m: &Rewrite<'_, '_>, output: Output, depth: usize) -> Option<usize> {
    let known = m.shape(output).dims().and_then(|dims| dims.last().copied().flatten());
    if known.is_some() || depth == 0 || output.index != 0 || m.is_fed(output) {
        return known;
    }
    let inputs = m.inputs(output.node);
    let of = |index: usize| inputs.get(index).and_then(|&input| last_within(m, input, depth - 1));
    let node = m.node(output.node);
    let is = |name: &str, value: &str| node.attrs.required::<String>(name).is_ok_and(|found| found == value);
    let is_set = |name: &str| node.attrs.required::<bool>(name).unwrap_or(true);
    match &*node.op.def.name {
        "BiasAdd" if is("data_format", "NHWC") => of(1),
        "_LayerNorm" => of(1),
        "Conv2D" | "_FusedConv2D" if is("data_format", "NHWC") => of(1),
        "MatMul" | "_FusedMatMul" if !is_set("transpose_b") => of(1),
        "BatchMatMulV2" | "_FusedBatchMatMulV2" if !is_set("adj_y") => of(1),
        "Relu" | "Relu6" | "Elu" | "LeakyRelu" | "Tanh" | "Sigmoid" | "Neg" | "Sqrt" | "Rsqrt" | "Square"
        | "Softmax" | "_Swish" | "_HardSwish" | "_GeluExact" | "_GeluApproximate" | "Identity" | "StopGradient" => {
            of(0)
        }
        // The mask may be wider than a size of 1.
        "_ScaledMaskedSoftmax" => of(0).filter(|&size| size != 1),
        // A size other than 1 is that of the result; two sizes of 1 make 1.
        "Add" | "AddV2" | "Sub" | "Mul" | "RealDiv" | "Maximum" | "Minimum" | "SquaredDifference" => {
            match (of(0), of(1)) {
                (Some(size), _) | (_, Some(size)) if size != 1 => Some(size),
                (Some(1), Some(1)) => Some(1),
                _ => None,
            }
        }
        // Slices of what has more than the first dimension, along which they are taken.
        "GatherV2" => {
            let is_first = inputs.get(2).is_some_and(|&axis| m.scalar(axis) == Some(0.0));
            let keeps = is_first && m.shape(*inputs.first()?).rank().is_some_and(|rank| rank > 1);
            keeps.then(|| of(0)).flatten()
        }
        "Reshape" => last_value(m, *inputs.get(1)?),
        _ => None,
    }
}

/// The last element of a shape that a node computes, if it is certain and says a size.
fn last_value(m: &Rewrite<'_, '_>, shape: Output) -> Option<usize> {
    if let Some(value) = m.constant(shape) {
        return value.to_i64_vec().ok()?.last().and_then(|&size| usize::try_from(size).ok());
    }
    if shape.index != 0 || m.is_fed(shape) {
        return None;
    }
    let inputs = m.inputs(shape.node);
    match &*m.node(shape.node).op.def.name {
        // The last input is the axis.
        "ConcatV2" => last_value(m, *inputs.get(inputs.len().checked_sub(2)?)?),
        "Pack" => last_value(m, *inputs.last()?),
        _ => None,
    }
}

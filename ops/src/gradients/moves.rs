//! What hands elements on, and moves them.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::error::Error;
use kernlink::gradient::{Gradient, GradientScope, NoGradient, ShapeOf, Value};
use kernlink::tensor::Tensor;
use kernlink_macros::register_gradient;

use super::unbroadcast;
use crate::*;

#[register_gradient(op = [Identity, Snapshot, RefIdentity])]
fn identity_gradient(_: &mut GradientScope<'_>, d_output: Gradient) -> Result<Gradient> {
    Ok(d_output)
}

#[register_gradient(op = PlaceholderWithDefault)]
fn placeholder_with_default_gradient(_: &mut GradientScope<'_>, d_output: Gradient) -> Result<Gradient> {
    Ok(d_output)
}

#[register_gradient(op = IdentityN)]
fn identity_n_gradient(_: &mut GradientScope<'_>, d_output: Vec<Option<Value>>) -> Result<Vec<Option<Value>>> {
    Ok(d_output)
}

#[register_gradient(op = EnsureShape)]
fn ensure_shape_gradient(_: &mut GradientScope<'_>, d_output: Value) -> Result<Value> {
    Ok(d_output)
}

/// What flows back is checked, too, under a message that says so.
fn message_of_check(message: &str) -> String {
    format!("Not a number (NaN) or infinity (Inf) values detected in gradient. {message}")
}

#[register_gradient(op = CheckNumerics)]
fn check_numerics_gradient(g: &mut GradientScope<'_>, message: String, d_output: Value) -> Result<Value> {
    check_numerics(g, d_output, &message_of_check(&message)).build()
}

#[register_gradient(op = CheckNumericsV2)]
fn check_numerics_v2_gradient(g: &mut GradientScope<'_>, message: String, d_output: Value) -> Result<Value> {
    check_numerics_v2(g, d_output, &message_of_check(&message)).build()
}

/// Fails when the gradient is asked for, with the reason that the node gives.
#[register_gradient(op = PreventGradient)]
fn prevent_gradient_gradient(_: &mut GradientScope<'_>, message: String) -> Result<NoGradient> {
    Err(Error::not_found(format!("Gradient explicitly disabled. Reason: {message}")))
}

#[cfg(feature = "logging")]
#[register_gradient(op = Print)]
fn print_gradient(_: &mut GradientScope<'_>, d_output: Gradient) -> Result<(Gradient, Vec<NoGradient>)> {
    Ok((d_output, Vec::new()))
}

#[register_gradient(op = Reshape)]
fn reshape_gradient(g: &mut GradientScope<'_>, tensor: ShapeOf, d_output: Value) -> Result<(Value, NoGradient)> {
    let dims = g.dims(&tensor)?;
    Ok((reshape(g, d_output, dims).build()?, NoGradient))
}

#[register_gradient(op = ExpandDims)]
fn expand_dims_gradient(g: &mut GradientScope<'_>, input: ShapeOf, d_output: Value) -> Result<(Value, NoGradient)> {
    let dims = g.dims(&input)?;
    Ok((reshape(g, d_output, dims).build()?, NoGradient))
}

#[register_gradient(op = Squeeze)]
fn squeeze_gradient(g: &mut GradientScope<'_>, input: ShapeOf, d_output: Value) -> Result<Value> {
    let dims = g.dims(&input)?;
    reshape(g, d_output, dims).build()
}

#[register_gradient(op = Transpose)]
fn transpose_gradient(g: &mut GradientScope<'_>, perm: Value, d_y: Value) -> Result<(Value, NoGradient)> {
    let inverse = match g.known_value(perm).map(Tensor::to_i64_vec).transpose()? {
        Some(perm) => {
            let mut inverse = vec![0i32; perm.len()];
            for (place, axis) in perm.iter().enumerate() {
                let axis = kernlink::shape::resolve_axis(*axis, perm.len())?;
                inverse[axis] = place as i32;
            }
            g.constant(inverse)?
        }
        None => invert_permutation(g, perm).build()?,
    };
    Ok((transpose(g, d_y, inverse).build()?, NoGradient))
}

#[register_gradient(op = ConjugateTranspose)]
fn conjugate_transpose_gradient(g: &mut GradientScope<'_>, perm: Value, d_y: Value) -> Result<(Value, NoGradient)> {
    let inverse = invert_permutation(g, perm).build()?;
    Ok((conjugate_transpose(g, d_y, inverse).build()?, NoGradient))
}

#[register_gradient(op = Pack)]
fn pack_gradient(g: &mut GradientScope<'_>, N: i64, axis: i64, d_output: Value) -> Result<Vec<Value>> {
    unpack(g, d_output, N).axis(axis).build()
}

#[register_gradient(op = Unpack)]
fn unpack_gradient(g: &mut GradientScope<'_>, axis: i64, d_output: Vec<Value>) -> Result<Value> {
    pack(g, d_output).axis(axis).build()
}

/// What flows on to each of the tensors that were joined.
fn parts(g: &mut GradientScope<'_>, values: &[ShapeOf], axis: Value, flow: Value) -> Result<Vec<Value>> {
    if let Some((place, along)) = known_parts(g, values, axis)? {
        let (count, along) = (along.len() as i64, g.constant(along)?);
        return split_v(g, flow, along, place as i32, count).build();
    }
    let sizes = values.iter().map(|shape| g.dims(shape)).collect::<Result<Vec<_>>>()?;
    let Some(&first) = sizes.first() else { return Ok(Vec::new()) };
    let rank = size(g, first).build()?;
    let axis = cast(g, axis, DataType::Int32).build()?;
    let place = floor_mod(g, axis, rank).build()?;
    let offsets = concat_offset(g, place, sizes.iter().copied()).build()?;
    offsets.into_iter().zip(sizes).map(|(begin, size)| slice(g, flow, begin, size).build()).collect()
}

/// The dimension along which tensors were joined, and how far each goes there, if that is known.
fn known_parts(g: &GradientScope<'_>, values: &[ShapeOf], axis: Value) -> Result<Option<(usize, Vec<i64>)>> {
    let rank = values.first().and_then(|shape| shape.known().rank());
    let axis = g.known_value(axis).map(Tensor::to_i64_vec).transpose()?;
    let (Some(rank), Some(&[axis])) = (rank, axis.as_deref()) else { return Ok(None) };
    let place = kernlink::shape::resolve_axis(axis, rank)?;
    let along = values.iter().map(|shape| shape.known().dims().and_then(|dims| dims.get(place).copied().flatten()));
    let along = along.map(|dim| dim.map(|dim| dim as i64)).collect::<Option<Vec<_>>>();
    Ok(along.map(|along| (place, along)))
}

#[register_gradient(op = ConcatV2)]
fn concat_v2_gradient(
    g: &mut GradientScope<'_>,
    values: Vec<ShapeOf>,
    axis: Value,
    d_output: Value,
) -> Result<(Vec<Value>, NoGradient)> {
    Ok((parts(g, &values, axis, d_output)?, NoGradient))
}

#[register_gradient(op = Concat)]
fn concat_gradient(
    g: &mut GradientScope<'_>,
    concat_dim: Value,
    values: Vec<ShapeOf>,
    d_output: Value,
) -> Result<(NoGradient, Vec<Value>)> {
    Ok((NoGradient, parts(g, &values, concat_dim, d_output)?))
}

#[register_gradient(op = Split)]
fn split_gradient(g: &mut GradientScope<'_>, split_dim: Value, d_output: Vec<Value>) -> Result<(NoGradient, Value)> {
    Ok((NoGradient, joined(g, d_output, split_dim)?))
}

/// Parts behind each other; one by itself is the whole.
fn joined(g: &mut GradientScope<'_>, parts: Vec<Value>, axis: Value) -> Result<Value> {
    match parts[..] {
        [part] => Ok(part),
        _ => concat_v2(g, parts, axis).build(),
    }
}

#[register_gradient(op = SplitV)]
fn split_v_gradient(
    g: &mut GradientScope<'_>,
    split_dim: Value,
    d_output: Vec<Value>,
) -> Result<(Value, NoGradient, NoGradient)> {
    Ok((joined(g, d_output, split_dim)?, NoGradient, NoGradient))
}

#[register_gradient(op = Slice)]
fn slice_gradient(
    g: &mut GradientScope<'_>,
    input: ShapeOf,
    begin: Value,
    output: ShapeOf,
    d_output: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    let dtype = g.dtype(begin)?;
    let (dims, sizes) = (g.dims(&input)?, g.dims(&output)?);
    let (dims, sizes) = (cast(g, dims, dtype).build()?, cast(g, sizes, dtype).build()?);
    let end = add_v2(g, begin, sizes).build()?;
    let after = sub(g, dims, end).build()?;
    let paddings = pack(g, [begin, after]).axis(1).build()?;
    Ok((pad(g, d_output, paddings).build()?, NoGradient, NoGradient))
}

/// What lies within a padding.
fn unpadded(g: &mut GradientScope<'_>, input: &ShapeOf, paddings: Value, flow: Value) -> Result<Value> {
    let dtype = g.dtype(paddings)?;
    let dims = g.dims(input)?;
    let dims = cast(g, dims, dtype).build()?;
    let pads = unpack(g, paddings, 2).axis(1).build()?;
    slice(g, flow, pads[0], dims).build()
}

#[register_gradient(op = Pad)]
fn pad_gradient(
    g: &mut GradientScope<'_>,
    input: ShapeOf,
    paddings: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    Ok((unpadded(g, &input, paddings, d_output)?, NoGradient))
}

/// To what pads, nothing flows.
#[register_gradient(op = PadV2)]
fn pad_v2_gradient(
    g: &mut GradientScope<'_>,
    input: ShapeOf,
    paddings: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    Ok((unpadded(g, &input, paddings, d_output)?, NoGradient, NoGradient))
}

#[register_gradient(op = MirrorPad)]
fn mirror_pad_gradient(
    g: &mut GradientScope<'_>,
    mode: String,
    paddings: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    Ok((mirror_pad_grad(g, d_output, paddings, &mode).build()?, NoGradient))
}

#[register_gradient(op = MirrorPadGrad)]
fn mirror_pad_grad_gradient(
    g: &mut GradientScope<'_>,
    mode: String,
    paddings: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    Ok((mirror_pad(g, d_output, paddings, &mode).build()?, NoGradient))
}

#[register_gradient(op = Tile)]
fn tile_gradient(
    g: &mut GradientScope<'_>,
    input: ShapeOf,
    multiples: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    // As rows of repetitions and sizes by turns, of which the repetitions are added.
    let dtype = g.dtype(multiples)?;
    let dims = g.dims(&input)?;
    let sizes = cast(g, dims, dtype).build()?;
    let both = pack(g, [multiples, sizes]).axis(1).build()?;
    let both = reshape(g, both, &[-1i32][..]).build()?;
    let rank = size(g, both).build()?;
    let axes = range(g, 0, rank, 2).build()?;
    let flow = reshape(g, d_output, both).build()?;
    let summed = sum(g, flow, axes).build()?;
    Ok((reshape(g, summed, dims).build()?, NoGradient))
}

#[register_gradient(op = BroadcastTo)]
fn broadcast_to_gradient(g: &mut GradientScope<'_>, input: ShapeOf, d_output: Value) -> Result<(Value, NoGradient)> {
    Ok((unbroadcast(g, d_output, &input)?, NoGradient))
}

#[register_gradient(op = Fill)]
fn fill_gradient(g: &mut GradientScope<'_>, d_output: Value) -> Result<(NoGradient, Value)> {
    let rank = rank(g, d_output).build()?;
    let axes = range(g, 0, rank, 1).build()?;
    Ok((NoGradient, sum(g, d_output, axes).build()?))
}

#[register_gradient(op = ReverseV2)]
fn reverse_v2_gradient(g: &mut GradientScope<'_>, axis: Value, d_output: Value) -> Result<(Value, NoGradient)> {
    Ok((reverse_v2(g, d_output, axis).build()?, NoGradient))
}

#[register_gradient(op = Reverse)]
fn reverse_gradient(g: &mut GradientScope<'_>, dims: Value, d_output: Value) -> Result<(Value, NoGradient)> {
    Ok((reverse(g, d_output, dims).build()?, NoGradient))
}

#[register_gradient(op = ReverseSequence)]
fn reverse_sequence_gradient(
    g: &mut GradientScope<'_>,
    seq_dim: i64,
    batch_dim: i64,
    seq_lengths: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    Ok((reverse_sequence(g, d_output, seq_lengths, seq_dim).batch_dim(batch_dim).build()?, NoGradient))
}

#[register_gradient(op = Roll)]
fn roll_gradient(
    g: &mut GradientScope<'_>,
    shift: Value,
    axis: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    let back = neg(g, shift).build()?;
    Ok((roll(g, d_output, back, axis).build()?, NoGradient, NoGradient))
}

#[register_gradient(op = SpaceToDepth)]
fn space_to_depth_gradient(
    g: &mut GradientScope<'_>,
    block_size: i64,
    data_format: String,
    d_output: Value,
) -> Result<Value> {
    depth_to_space(g, d_output, block_size).data_format(&data_format).build()
}

#[register_gradient(op = DepthToSpace)]
fn depth_to_space_gradient(
    g: &mut GradientScope<'_>,
    block_size: i64,
    data_format: String,
    d_output: Value,
) -> Result<Value> {
    space_to_depth(g, d_output, block_size).data_format(&data_format).build()
}

#[register_gradient(op = SpaceToBatchND)]
fn space_to_batch_nd_gradient(
    g: &mut GradientScope<'_>,
    block_shape: Value,
    paddings: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    Ok((batch_to_space_nd(g, d_output, block_shape, paddings).build()?, NoGradient, NoGradient))
}

#[register_gradient(op = BatchToSpaceND)]
fn batch_to_space_nd_gradient(
    g: &mut GradientScope<'_>,
    block_shape: Value,
    crops: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    Ok((space_to_batch_nd(g, d_output, block_shape, crops).build()?, NoGradient, NoGradient))
}

#[register_gradient(op = SpaceToBatch)]
fn space_to_batch_gradient(
    g: &mut GradientScope<'_>,
    block_size: i64,
    paddings: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    Ok((batch_to_space(g, d_output, paddings, block_size).build()?, NoGradient))
}

#[register_gradient(op = BatchToSpace)]
fn batch_to_space_gradient(
    g: &mut GradientScope<'_>,
    block_size: i64,
    crops: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    Ok((space_to_batch(g, d_output, crops, block_size).build()?, NoGradient))
}

//! What hands elements on, and moves them.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{Gradient, GradientScope, IndexedSlices, NoGradient, ShapeOf, Value};
use kernlink_macros::register_gradient;

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
    let inverse = match g.known_value(perm).map(kernlink::tensor::Tensor::to_i64_vec).transpose()? {
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

#[register_gradient(op = ConcatV2)]
fn concat_v2_gradient(
    g: &mut GradientScope<'_>,
    values: Vec<ShapeOf>,
    axis: Value,
    d_output: Value,
) -> Result<(Vec<Value>, NoGradient)> {
    let sizes = values.iter().map(|shape| g.dims(shape)).collect::<Result<Vec<_>>>()?;
    let Some(rank) = values.first().and_then(|shape| shape.known().rank()) else {
        return concatenated(g, sizes, axis, d_output);
    };
    let Some(given) = g.known_value(axis).map(kernlink::tensor::Tensor::to_i64_vec).transpose()? else {
        return concatenated(g, sizes, axis, d_output);
    };
    let place = kernlink::shape::resolve_axis(given.first().copied().unwrap_or(0), rank)?;
    let along = values.iter().map(|shape| shape.known().dims().and_then(|dims| dims.get(place).copied().flatten()));
    let Some(along) = along.map(|dim| dim.map(|dim| dim as i64)).collect::<Option<Vec<_>>>() else {
        return concatenated(g, sizes, axis, d_output);
    };
    let (count, along) = (along.len() as i64, g.constant(along)?);
    Ok((split_v(g, d_output, along, place as i32, count).build()?, NoGradient))
}

/// The parts of what flows back, by shapes that are computed.
fn concatenated(
    g: &mut GradientScope<'_>,
    sizes: Vec<Value>,
    axis: Value,
    flow: Value,
) -> Result<(Vec<Value>, NoGradient)> {
    let rank = size(g, sizes[0]).build()?;
    let axis = cast(g, axis, DataType::Int32).build()?;
    let place = floor_mod(g, axis, rank).build()?;
    let offsets = concat_offset(g, place, sizes.iter().copied()).build()?;
    let parts = offsets.into_iter().zip(sizes).map(|(begin, size)| slice(g, flow, begin, size).build());
    Ok((parts.collect::<Result<_>>()?, NoGradient))
}

#[register_gradient(op = Split)]
fn split_gradient(g: &mut GradientScope<'_>, split_dim: Value, d_output: Vec<Value>) -> Result<(NoGradient, Value)> {
    Ok((NoGradient, concat_v2(g, d_output, split_dim).build()?))
}

#[register_gradient(op = SplitV)]
fn split_v_gradient(
    g: &mut GradientScope<'_>,
    split_dim: Value,
    d_output: Vec<Value>,
) -> Result<(Value, NoGradient, NoGradient)> {
    Ok((concat_v2(g, d_output, split_dim).build()?, NoGradient, NoGradient))
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

#[register_gradient(op = StridedSlice)]
fn strided_slice_gradient(
    g: &mut GradientScope<'_>,
    begin_mask: i64,
    end_mask: i64,
    ellipsis_mask: i64,
    new_axis_mask: i64,
    shrink_axis_mask: i64,
    input: ShapeOf,
    begin: Value,
    end: Value,
    strides: Value,
    d_output: Value,
) -> Result<(Value, NoGradient, NoGradient, NoGradient)> {
    let dtype = g.dtype(begin)?;
    let dims = g.dims(&input)?;
    let dims = cast(g, dims, dtype).build()?;
    let mut whole = strided_slice_grad(g, dims, begin, end, strides, d_output);
    whole = whole.begin_mask(begin_mask).end_mask(end_mask).ellipsis_mask(ellipsis_mask);
    let whole = whole.new_axis_mask(new_axis_mask).shrink_axis_mask(shrink_axis_mask).build()?;
    Ok((whole, NoGradient, NoGradient, NoGradient))
}

#[register_gradient(op = Pad)]
fn pad_gradient(
    g: &mut GradientScope<'_>,
    input: ShapeOf,
    paddings: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    let dtype = g.dtype(paddings)?;
    let dims = g.dims(&input)?;
    let dims = cast(g, dims, dtype).build()?;
    let pads = unpack(g, paddings, 2).axis(1).build()?;
    Ok((slice(g, d_output, pads[0], dims).build()?, NoGradient))
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
    Ok((super::unbroadcast(g, d_output, &input)?, NoGradient))
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

/// The rows that were gathered, of which the others are zero.
fn gathered(g: &mut GradientScope<'_>, params: &ShapeOf, indices: Value, flow: Value) -> Result<IndexedSlices> {
    let dense_shape = g.dims(params)?;
    let below = strided_slice(g, dense_shape, &[1i32][..], &[0i32][..], &[1i32][..]).end_mask(1).build()?;
    let rows = size(g, indices).build()?;
    let rows = expand_dims(g, rows, 0).build()?;
    let dtype = g.dtype(dense_shape)?;
    let rows = cast(g, rows, dtype).build()?;
    let dims = concat_v2(g, [rows, below], 0).build()?;
    let values = reshape(g, flow, dims).build()?;
    let indices = reshape(g, indices, &[-1i32][..]).build()?;
    Ok(IndexedSlices { values, indices, dense_shape })
}

#[register_gradient(op = Gather)]
fn gather_gradient(
    g: &mut GradientScope<'_>,
    params: ShapeOf,
    indices: Value,
    d_output: Value,
) -> Result<(IndexedSlices, NoGradient)> {
    Ok((gathered(g, &params, indices, d_output)?, NoGradient))
}

#[register_gradient(op = GatherNd)]
fn gather_nd_gradient(
    g: &mut GradientScope<'_>,
    params: ShapeOf,
    indices: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    let dtype = g.dtype(indices)?;
    let dims = g.dims(&params)?;
    let dims = cast(g, dims, dtype).build()?;
    Ok((scatter_nd(g, indices, d_output, dims).build()?, NoGradient))
}

#[register_gradient(op = [MatrixBandPart])]
fn matrix_band_part_gradient(
    g: &mut GradientScope<'_>,
    num_lower: Value,
    num_upper: Value,
    d_band: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    Ok((matrix_band_part(g, d_band, num_lower, num_upper).build()?, NoGradient, NoGradient))
}

#[register_gradient(op = Diag)]
fn diag_gradient(g: &mut GradientScope<'_>, d_output: Value) -> Result<Value> {
    diag_part(g, d_output).build()
}

#[register_gradient(op = DiagPart)]
fn diag_part_gradient(g: &mut GradientScope<'_>, d_diagonal: Value) -> Result<Value> {
    diag(g, d_diagonal).build()
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

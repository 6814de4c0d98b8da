//! Shapes as values: Shape, ShapeN, Size, Rank, BroadcastArgs, BroadcastGradientArgs, ConcatOffset.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{bail, ensure};
use kernlink_geometry::integers::{listed, scalar, vector};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// Integers as a tensor of `dtype`, which is `int32` or `int64`.
pub(super) fn tensor_of(values: &[i64], dtype: DataType, shape: Shape) -> Result<Tensor> {
    if dtype == DataType::Int64 {
        return Tensor::from_elements(shape, values);
    }
    let mut tensor = Tensor::alloc(DataType::Int32, shape)?;
    for (slot, &value) in tensor.as_mut_slice::<i32>()?.iter_mut().zip(values) {
        let Ok(narrow) = i32::try_from(value) else {
            bail!(InvalidArgument, "{value} does not fit int32: ask for out_type int64");
        };
        *slot = narrow;
    }
    Ok(tensor)
}

/// The shape of a tensor, as a vector.
fn shape_tensor(tensor: &Tensor, dtype: DataType) -> Result<Tensor> {
    tensor_of(&tensor.shape().to_i64(), dtype, Shape::from([tensor.rank()]))
}

#[register_kernel(device = Cpu, out_type = [int32, int64], cheap)]
#[register_kernel(device = Default, out_type = [int32, int64], host_memory = ["output"], cheap)]
fn shape_kernel(ctx: &mut KernelContext<'_, ops::Shape>) -> Result<()> {
    let output = shape_tensor(ctx.input(ops::Shape::INPUT)?, ctx.output_dtype_at(0)?)?;
    ctx.set_output(ops::Shape::OUTPUT, output)
}

#[register_kernel(device = Cpu, out_type = [int32, int64], cheap)]
#[register_kernel(device = Default, out_type = [int32, int64], host_memory = ["output"], cheap)]
fn shape_n(ctx: &mut KernelContext<'_, ops::ShapeN>) -> Result<()> {
    for index in 0..ctx.num_inputs() {
        let output = shape_tensor(ctx.input_at(index)?, ctx.output_dtype_at(index)?)?;
        ctx.set_output_at(index, output)?;
    }
    Ok(())
}

#[register_kernel(device = Cpu, out_type = [int32, int64], cheap)]
#[register_kernel(device = Default, out_type = [int32, int64], host_memory = ["output"], cheap)]
fn size_kernel(ctx: &mut KernelContext<'_, ops::Size>) -> Result<()> {
    let count = ctx.input(ops::Size::INPUT)?.num_elements() as i64;
    let output = tensor_of(&[count], ctx.output_dtype_at(0)?, Shape::scalar())?;
    ctx.set_output(ops::Size::OUTPUT, output)
}

#[register_kernel(device = Cpu, cheap)]
#[register_kernel(device = Default, host_memory = ["output"], cheap)]
fn rank(ctx: &mut KernelContext<'_, ops::Rank>) -> Result<()> {
    let rank = ctx.input(ops::Rank::INPUT)?.rank() as i32;
    ctx.set_output(ops::Rank::OUTPUT, Tensor::scalar(rank))
}

#[register_kernel(device = Cpu, T = [int32, int64], cheap)]
#[register_kernel(device = Default, T = [int32, int64], host_memory = ["s0", "s1", "r0"], cheap)]
fn broadcast_args(ctx: &mut KernelContext<'_, ops::BroadcastArgs>) -> Result<()> {
    let a = vector(ctx.input(ops::BroadcastArgs::S0)?, "s0")?;
    let b = vector(ctx.input(ops::BroadcastArgs::S1)?, "s1")?;
    let rank = a.len().max(b.len());
    let size = |shape: &[i64], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |axis| shape[axis]);
    let mut dims = scratch::room(rank)?;
    for axis in 0..rank {
        let (x, y) = (size(&a, axis), size(&b, axis));
        ensure!(x == y || x == 1 || y == 1, InvalidArgument, "Incompatible shapes: {} vs. {}", listed(&a), listed(&b));
        dims.push(if x == 1 { y } else { x });
    }
    let output = tensor_of(&dims, ctx.output_dtype_at(0)?, Shape::from([rank]))?;
    ctx.set_output(ops::BroadcastArgs::R0, output)
}

#[register_kernel(device = Cpu, T = [int32, int64], cheap)]
#[register_kernel(device = Default, T = [int32, int64], host_memory = ["s0", "s1", "r0", "r1"], cheap)]
fn broadcast_gradient_args(ctx: &mut KernelContext<'_, ops::BroadcastGradientArgs>) -> Result<()> {
    let a = vector(ctx.input(ops::BroadcastGradientArgs::S0)?, "s0")?;
    let b = vector(ctx.input(ops::BroadcastGradientArgs::S1)?, "s1")?;
    let [of_a, of_b] = gradient_axes(&a, &b)?;
    for (index, axes) in [of_a, of_b].into_iter().enumerate() {
        let output = tensor_of(&axes, ctx.output_dtype_at(index)?, Shape::from([axes.len()]))?;
        ctx.set_output_at(index, output)?;
    }
    Ok(())
}

/// The axes of the whole along which each of two shapes is repeated. Axes where both have size 1 are in both lists, but
/// nothing is if the shapes are equal.
fn gradient_axes(a: &[i64], b: &[i64]) -> Result<[Vec<i64>; 2]> {
    let mut axes = [Vec::new(), Vec::new()];
    if a == b {
        return Ok(axes);
    }
    let rank = a.len().max(b.len());
    let size = |shape: &[i64], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |axis| shape[axis]);
    for axis in 0..rank {
        let (x, y) = (size(a, axis), size(b, axis));
        ensure!(x == y || x == 1 || y == 1, InvalidArgument, "Incompatible shapes: {} vs. {}", listed(a), listed(b));
        for (axes, size) in axes.iter_mut().zip([x, y]) {
            if size == 1 {
                scratch::push(axes, axis as i64)?;
            }
        }
    }
    Ok(axes)
}

#[register_kernel(device = Cpu, shape_type = [int32, int64], cheap)]
#[register_kernel(device = Default, shape_type = [int32, int64], host_memory = ["concat_dim", "shape", "offset"], cheap)]
fn concat_offset(ctx: &mut KernelContext<'_, ops::ConcatOffset>) -> Result<()> {
    let given = scalar(ctx.input(ops::ConcatOffset::CONCAT_DIM)?, "concat_dim")?;
    let first = vector(ctx.input_at(1)?, "shape[0]")?;
    let axis = kernlink_geometry::integers::axis(given, first.len(), "concat_dim")?;
    let mut start = 0i64;
    for index in 0..ctx.num_inputs() - 1 {
        let shape = vector(ctx.input_at(index + 1)?, "shape")?;
        let same = |d: usize| d == axis || shape[d] == first[d];
        ensure!(
            shape.len() == first.len() && (0..shape.len()).all(same),
            InvalidArgument,
            "All dimensions except {axis} must match. Input {index} has shape {} and doesn't match input 0 \
             with shape {}.",
            listed(&shape),
            listed(&first)
        );
        let mut offset = scratch::zeros(first.len())?;
        offset[axis] = start;
        start = start.wrapping_add(shape[axis]);
        let output = tensor_of(&offset, ctx.output_dtype_at(index)?, Shape::from([offset.len()]))?;
        ctx.set_output_at(index, output)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::gradient_axes;

    #[test]
    fn gradients_are_summed_where_a_shape_was_repeated() {
        assert_eq!(gradient_axes(&[2, 1, 3], &[2, 1, 3]).unwrap(), [vec![], vec![]]);
        assert_eq!(gradient_axes(&[2, 1, 3], &[1, 3]).unwrap(), [vec![1], vec![0, 1]]);
        assert_eq!(gradient_axes(&[0, 1], &[1, 3]).unwrap(), [vec![1], vec![0]]);
        assert!(gradient_axes(&[2], &[3]).is_err());
    }

    #[test]
    fn a_message_shows_no_more_than_the_first_sizes() {
        let error = gradient_axes(&[2; 100_000], &[3; 33]).map(drop).unwrap_err();
        assert!(error.message().len() < 500, "{error}");
        assert!(error.message().contains("2] and 99968 more vs. [3, "), "{error}");
        let error = gradient_axes(&[2, 4], &[3]).unwrap_err();
        assert!(error.message().ends_with("Incompatible shapes: [2, 4] vs. [3]"), "{error}");
    }
}

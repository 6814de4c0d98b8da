//! The same elements in another shape: Reshape, Squeeze, ExpandDims. Nothing is copied.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::shape::{MAX_RANK, Shape};
use kernlink::{bail, ensure};
use kernlink_geometry::integers::{axis, single, vector_or_scalar};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// The shape that `sizes`, in which one may be −1, mean for a tensor of shape `input`.
fn requested_shape(input: &Shape, sizes: &[i64]) -> Result<Shape> {
    ensure!(sizes.len() < MAX_RANK, InvalidArgument, "rank {} is not below {MAX_RANK}", sizes.len());
    let mut known = sizes.to_vec();
    let mut unknown = None;
    for (axis, size) in known.iter_mut().enumerate() {
        match *size {
            -1 => {
                if let Some(other) = unknown.replace(axis) {
                    bail!(InvalidArgument, "Only one input size may be -1, not both {other} and {axis}");
                }
                *size = 1;
            }
            size => ensure!(size >= 0, InvalidArgument, "Size {axis} must be non-negative, not {size}"),
        }
    }
    let mut shape = Shape::from_dims(&known)?;
    if let Some(axis) = unknown {
        // A size 0 on both sides is left out, so that the others still determine the unknown one.
        let zero = shape.contains(&0);
        let product = |shape: &Shape| {
            shape.iter().filter(|&&dim| dim > 0 || !zero).fold(1usize, |product, &dim| product.saturating_mul(dim))
        };
        let (elements, per_row) = (product(input), product(&shape));
        let missing = elements / per_row.max(1);
        ensure!(
            (zero && input.contains(&0)) || missing * per_row == elements,
            InvalidArgument,
            "Input to reshape is a tensor with {elements} values, but the requested shape requires a multiple of \
             {per_row}"
        );
        shape.dims_mut()[axis] = missing;
    }
    ensure!(
        shape.num_elements() == input.num_elements(),
        InvalidArgument,
        "Input to reshape is a tensor with {} values, but the requested shape has {}",
        input.num_elements(),
        shape.num_elements()
    );
    shape.check()?;
    Ok(shape)
}

#[register_kernel(device = Cpu, Tshape = [int32, int64], host_memory = ["shape"], cheap)]
#[register_kernel(
    device = Default,
    T = [int32],
    Tshape = [int32, int64],
    host_memory = ["tensor", "shape", "output"],
    cheap,
)]
#[register_kernel(device = Default, host_memory = ["shape"], T = [
    bfloat16, bool, complex128, complex64, double, float, half, int16, int64, int8, uint16, uint32, uint64, uint8,
], cheap)]
fn reshape(ctx: &mut KernelContext<'_, ops::Reshape>) -> Result<()> {
    let sizes = vector_or_scalar(ctx.input(ops::Reshape::SHAPE)?, "shape")?;
    let shape = requested_shape(ctx.input(ops::Reshape::TENSOR)?.shape(), &sizes)?;
    let output = ctx.take_input(ops::Reshape::TENSOR)?.reshaped(shape)?;
    ctx.set_output(ops::Reshape::OUTPUT, output)
}

#[register_kernel(device = Cpu, cheap)]
#[register_kernel(device = Default, T = [int32], host_memory = ["input", "output"], cheap)]
#[register_kernel(
    device = Default,
    T = [
        bfloat16, bool, complex128, complex64, double, float, half, int16, int64, int8, uint16, uint32, uint64, uint8,
    ],
    cheap,
)]
fn squeeze_kernel(attrs: &Attrs<ops::Squeeze>, ctx: &mut KernelContext<'_, ops::Squeeze>) -> Result<()> {
    let input = ctx.input(ops::Squeeze::INPUT)?;
    ensure!(input.dtype() != DataType::Variant, InvalidArgument, "Squeeze on Variant not supported");
    let mut squeezed = vec![attrs.squeeze_dims.is_empty(); input.rank()];
    for &given in &attrs.squeeze_dims {
        squeezed[axis(given, input.rank(), "squeeze_dims")?] = true;
    }
    let mut shape = Shape::scalar();
    for (axis, (&dim, squeezed)) in input.shape().iter().zip(squeezed).enumerate() {
        if !squeezed || (dim != 1 && attrs.squeeze_dims.is_empty()) {
            shape.push(dim);
        } else {
            ensure!(dim == 1, InvalidArgument, "Can not squeeze dim[{axis}], expected a dimension of 1, got {dim}");
        }
    }
    let output = ctx.take_input(ops::Squeeze::INPUT)?.reshaped(shape)?;
    ctx.set_output(ops::Squeeze::OUTPUT, output)
}

#[register_kernel(device = Cpu, Tdim = [int32, int64], host_memory = ["dim"], cheap)]
#[register_kernel(
    device = Default,
    T = [int32],
    Tdim = [int32, int64],
    host_memory = ["input", "dim", "output"],
    cheap,
)]
#[register_kernel(device = Default, host_memory = ["dim"], T = [
    bfloat16, bool, complex128, complex64, double, float, half, int16, int64, int8, uint16, uint32, uint64, uint8,
], cheap)]
fn expand_dims(ctx: &mut KernelContext<'_, ops::ExpandDims>) -> Result<()> {
    let input = ctx.input(ops::ExpandDims::INPUT)?;
    ensure!(input.dtype() != DataType::Variant, InvalidArgument, "ExpandDims on Variant not supported");
    let mut shape = input.shape().clone();
    ensure!(shape.rank() < MAX_RANK, InvalidArgument, "rank {} cannot be expanded", shape.rank());
    let axis = axis(single(ctx.input(ops::ExpandDims::DIM)?, "dim")?, shape.rank() + 1, "dim")?;
    shape.insert(axis, 1);
    let output = ctx.take_input(ops::ExpandDims::INPUT)?.reshaped(shape)?;
    ctx.set_output(ops::ExpandDims::OUTPUT, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unknown_size_is_found_beside_zeros() {
        let shape = |input: &[usize], sizes: &[i64]| requested_shape(&Shape::from(input), sizes);
        assert_eq!(shape(&[2, 3, 4], &[-1, 6]).unwrap(), Shape::from([4, 6]));
        assert_eq!(shape(&[0, 3], &[0, -1]).unwrap(), Shape::from([0, 3]));
        assert_eq!(shape(&[0, 3], &[-1, 5]).unwrap(), Shape::from([0, 5]));
        assert_eq!(shape(&[], &[-1]).unwrap(), Shape::from([1]));
        assert!(shape(&[2, 3], &[-1, 4]).is_err());
        assert!(shape(&[2, 3], &[-1, -1]).is_err());
        assert!(shape(&[2, 3], &[-2, 3]).is_err());
        assert!(shape(&[2, 3], &[0, -1]).is_err());
        assert!(shape(&[2, 3], &[i64::MAX, i64::MAX]).is_err());
    }
}

//! SparseReshape.

use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::shape::Shape;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::elements::{dense_shape, ensure_matrix, ensure_vector};

/// The shape that `target` asks of as many elements as `input` has; one size may be −1.
pub(super) fn reshaped(input: &Shape, target: &[i64]) -> Result<Shape> {
    let total = input.num_elements();
    let mut unknown = None;
    let mut sizes = scratch::copied(target)?;
    for (axis, size) in sizes.iter_mut().enumerate() {
        match *size {
            -1 => {
                if let Some(other) = unknown.replace(axis) {
                    bail!(InvalidArgument, "only one output dimension may be -1, not both {other} and {axis}");
                }
                *size = 1;
            }
            size => ensure!(size >= 0, InvalidArgument, "size {axis} must be non-negative, not {size}"),
        }
    }
    let mut output = Shape::from_dims(&sizes)?;
    if let Some(axis) = unknown {
        let known = output.num_elements();
        ensure!(
            known > 0,
            InvalidArgument,
            "reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are \
             non-zero"
        );
        ensure!(
            total.is_multiple_of(known),
            InvalidArgument,
            "Input to reshape is a SparseTensor with {total} dense values, but the requested shape requires a multiple \
             of {known}. input_shape={input} output_shape={output}"
        );
        output.dims_mut()[axis] = total / known;
    }
    ensure!(
        output.num_elements() == total,
        InvalidArgument,
        "Input to reshape is a tensor with {total} dense values, but the requested shape has {}. input_shape={input} \
         output_shape={output}",
        output.num_elements()
    );
    Ok(output)
}

#[register_kernel(device = Cpu, op = ops::SparseReshape)]
fn sparse_reshape(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (indices, shape) = (ctx.input(O::INPUT_INDICES)?, ctx.input(O::INPUT_SHAPE)?);
    ensure_matrix(indices, "Input indices")?;
    ensure_vector(shape, "Input shape")?;
    ensure!(
        indices.shape()[1] == shape.num_elements(),
        InvalidArgument,
        "Input tensor rank must match input shape length."
    );
    let target = ctx.input(O::NEW_SHAPE)?;
    ensure_vector(target, "Target shape")?;
    let input = dense_shape(shape, "Input shape")?;
    let output = reshaped(&input, target.as_slice::<i64>()?)?;
    if output == input {
        let (indices, shape) = (indices.clone(), shape.clone());
        ctx.set_output(O::OUTPUT_INDICES, indices)?;
        return ctx.set_output(O::OUTPUT_SHAPE, shape);
    }

    let (elements, rank) = (indices.shape()[0], output.rank());
    let mut result = ctx.allocate_output(O::OUTPUT_INDICES, [elements, rank])?;
    if elements > 0 {
        ensure!(
            input.num_elements() > 0,
            InvalidArgument,
            "Input tensor has {elements} non zero elements but input shape ({input}) or output shape ({output}) is \
             empty"
        );
        renumber(indices.as_slice::<i64>()?, &input, result.as_mut_slice::<i64>()?, &output);
    }
    let mut shape = ctx.allocate_output(O::OUTPUT_SHAPE, [rank])?;
    shape.as_mut_slice::<i64>()?.copy_from_slice(&output.to_i64());
    ctx.set_output(O::OUTPUT_INDICES, result)?;
    ctx.set_output(O::OUTPUT_SHAPE, shape)
}

/// Writes for each index into `input` the index into `output`. Neither shape is empty, but either may be a scalar's.
pub(super) fn renumber(indices: &[i64], input: &Shape, renumbered: &mut [i64], output: &Shape) {
    let (from, to) = (input.strides(), output.strides());
    if output.rank() == 0 {
        return;
    }
    for (n, row) in renumbered.chunks_exact_mut(output.rank()).enumerate() {
        let index = &indices[n * input.rank()..][..input.rank()];
        // Indices out of range are the caller's: TensorFlow does not refuse them here either.
        let place =
            |place: i64, (&index, &stride): (&i64, &usize)| place.wrapping_add(index.wrapping_mul(stride as i64));
        let mut place = index.iter().zip(&from).fold(0, place);
        for (slot, &stride) in row.iter_mut().zip(&to) {
            *slot = place / stride as i64;
            place %= stride as i64;
        }
    }
}

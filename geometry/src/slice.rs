//! Parts of tensors by begin and size or by begin, end and stride, and what is written to them.

use super::integers::vector;
use super::rearranged::{Elements, Rearranged};
use super::strided::StridedCopy;
use kernlink::ensure;
use kernlink::error::{Error, Result};
use kernlink::kernel::RawContext;
use kernlink::shape::{MAX_RANK, Shape};
use kernlink::shape_inference::strided_slice::{DenseSlice, Masks, OutputDim, resolve};
use kernlink::tensor::Tensor;

/// From each dimension `size` elements, or all if that is −1, from `begin` on.
///
/// # Errors
/// INVALID_ARGUMENT if they are not there, UNIMPLEMENTED for a rank that TensorFlow has no kernel for.
pub fn sliced(input: &Shape, begin: &Tensor, size: &Tensor) -> Result<Rearranged> {
    let (begin, size) = (vector(begin, "begin")?, vector(size, "size")?);
    let rank = input.rank();
    ensure!(
        begin.len() == rank && size.len() == rank,
        InvalidArgument,
        "Expected begin and size arguments to be 1-D tensors of size {rank}, but got sizes {} and {} instead.",
        begin.len(),
        size.len()
    );
    let mut shape = Shape::scalar();
    for (axis, &dim) in input.iter().enumerate() {
        let (begin, dim) = (begin[axis], dim as i64);
        ensure!((0..=dim).contains(&begin), InvalidArgument, "Expected begin[{axis}] in [0, {dim}], but got {begin}");
        let rest = dim - begin;
        let size = if size[axis] == -1 { rest } else { size[axis] };
        ensure!((0..=rest).contains(&size), InvalidArgument, "Expected size[{axis}] in [0, {rest}], but got {size}");
        shape.push(size as usize);
    }
    if shape == *input {
        return Ok(Rearranged::same(shape));
    }
    if shape[1..] == input[1..] {
        let first = begin[0] as usize;
        return Ok(Rearranged { elements: Elements::Rows(first..first + shape[0]), shape });
    }
    ensure!(rank <= 8 || shape.num_elements() == 0, Unimplemented, "SliceOp : Unhandled input dimensions: {rank}");
    let (to, from) = (shape.strides(), input.strides());
    let (mut copy, mut first) = (StridedCopy::new(0, 0), 0);
    for axis in 0..rank {
        copy = copy.step(shape[axis], to[axis], from[axis] as isize);
        first += begin[axis] as usize * from[axis];
    }
    Ok(Rearranged::copied(shape, copy.beginning_at(0, first)))
}

#[cold]
fn unknown() -> Error {
    Error::internal("a slice of a known shape has no size")
}

/// The sizes of a slice in the dimensions of the tensor, of which none is taken away or added yet.
///
/// # Errors
/// INTERNAL if the slice has unknown sizes.
pub fn sizes(slice: &DenseSlice) -> Result<Shape> {
    slice.processing_shape().to_shape().ok_or_else(unknown)
}

/// The slice of a tensor of shape `shape` that inputs 1 to 3 name, begin, end and strides, and its own shape.
///
/// # Errors
/// Those of [`resolve`].
pub fn slice_of(ctx: &RawContext<'_>, masks: Masks, shape: &Shape) -> Result<(DenseSlice, Shape)> {
    let begin = vector(ctx.input_at(1)?, "begin")?;
    let end = vector(ctx.input_at(2)?, "end")?;
    let strides = vector(ctx.input_at(3)?, "strides")?;
    let slice = resolve(&begin, &end, &strides, masks, shape)?;
    let whole = slice.final_shape().to_shape().ok_or_else(unknown)?;
    ensure!(whole.rank() <= MAX_RANK, InvalidArgument, "the slice has rank {}", whole.rank());
    Ok((slice, whole))
}

/// The slice of input 0 that inputs 1 to 3 name.
///
/// # Errors
/// Those of [`slice_of`].
pub fn strided(ctx: &RawContext<'_>, masks: Masks) -> Result<Rearranged> {
    let input = ctx.input_at(0)?.shape();
    let (slice, shape) = slice_of(ctx, masks, input)?;
    let elements = if slice.is_identity {
        Elements::Same
    } else if slice.slice_dim0 && !slice.dims.is_empty() {
        let first = slice.dims[0].begin as usize;
        Elements::Rows(first..first + slice.dims[0].size.ok_or_else(unknown)?)
    } else if shape.num_elements() == 0 {
        Elements::Copied(StridedCopy::nothing())
    } else {
        let sizes = sizes(&slice)?;
        let (to, from) = (sizes.strides(), input.strides());
        let (mut copy, mut first) = (StridedCopy::new(0, 0), 0);
        for (axis, dim) in slice.dims.iter().enumerate() {
            copy = copy.step(sizes[axis], to[axis], (from[axis] as isize).saturating_mul(dim.stride as isize));
            first += dim.begin as usize * from[axis];
        }
        Elements::Copied(copy.beginning_at(0, first))
    };
    Ok(Rearranged { shape, elements })
}

/// The copy of a tensor of shape `value` to a slice of one of shape `target`. The value broadcasts to the slice.
///
/// # Errors
/// INTERNAL if the slice has unknown sizes.
pub fn written(slice: &DenseSlice, target: &Shape, value: &Shape) -> Result<StridedCopy> {
    // The distance in `value` between neighbours in each dimension of the target.
    let mut from = vec![0isize; slice.dims.len()];
    let strides = value.strides();
    for (axis, dim) in slice.output.iter().rev().enumerate().take(value.rank()) {
        let axis = value.rank() - 1 - axis;
        if let OutputDim::Input(dim) = *dim
            && value[axis] != 1
        {
            from[dim] = strides[axis] as isize;
        }
    }
    let mut copy = StridedCopy::new(0, 0);
    let (mut to_first, mut from_first) = (0, 0isize);
    for ((dim, &stride), &from) in slice.dims.iter().zip(&target.strides()).zip(&from) {
        let size = dim.size.ok_or_else(unknown)?;
        if size == 0 {
            return Ok(StridedCopy::nothing());
        }
        let last = size as i64 - 1;
        // The copy goes forward in the target: a slice that goes backward is read from its end.
        let backward = dim.stride < 0;
        to_first += (if backward { dim.begin + last * dim.stride } else { dim.begin }) as usize * stride;
        from_first += if backward { last as isize * from } else { 0 };
        let step = if last == 0 { stride } else { dim.stride.unsigned_abs() as usize * stride };
        copy = copy.step(size, step, if backward { -from } else { from });
    }
    Ok(copy.beginning_at(to_first, from_first as usize))
}

/// The tensor of the shape in input 0 whose slice, which inputs 1 to 3 name, is input 4: copied to zeros.
///
/// # Errors
/// Those of [`slice_of`]. INVALID_ARGUMENT if input 4 has not the slice's shape.
pub fn gradient(ctx: &RawContext<'_>, masks: Masks) -> Result<Rearranged> {
    let shape = Shape::from_dims(&vector(ctx.input_at(0)?, "shape")?)?;
    let (slice, whole) = slice_of(ctx, masks, &shape)?;
    let dy = ctx.input_at(4)?.shape();
    ensure!(*dy == whole, InvalidArgument, "shape of dy was {dy} instead of {whole}");
    if slice.is_identity {
        return Ok(Rearranged::same(shape));
    }
    let copy = written(&slice, &shape, dy)?;
    Ok(Rearranged::copied(shape, copy))
}

/// The copy of input 4 to the slice of input 0 that inputs 1 to 3 name.
///
/// # Errors
/// Those of [`slice_of`]. INVALID_ARGUMENT if input 4 does not broadcast to the slice.
pub fn update(ctx: &RawContext<'_>, masks: Masks) -> Result<StridedCopy> {
    let (shape, value) = (ctx.input_at(0)?.shape(), ctx.input_at(4)?.shape());
    let (slice, whole) = slice_of(ctx, masks, shape)?;
    if whole.num_elements() == 0 {
        return Ok(StridedCopy::nothing());
    }
    ensure!(
        value.broadcast(&whole).is_ok_and(|both| both == whole),
        InvalidArgument,
        "Cannot broadcast input shape {value} into final shape {whole}"
    );
    written(&slice, shape, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_rows_are_told_from_other_parts() {
        let ints = |values: &[i32]| Tensor::vector(values).unwrap();
        let slice = |begin: &[i32], size: &[i32]| sliced(&Shape::from([4, 3]), &ints(begin), &ints(size));
        assert!(matches!(slice(&[0, 0], &[-1, 3]).unwrap().elements, Elements::Same));
        let rows = slice(&[1, 0], &[2, -1]).unwrap();
        assert_eq!(rows.shape, Shape::from([2, 3]));
        assert!(matches!(rows.elements, Elements::Rows(rows) if rows == (1..3)));
        let Elements::Copied(copy) = slice(&[1, 2], &[2, 1]).unwrap().elements else { panic!("a copy") };
        assert_eq!((copy.target, copy.source), (0, 5));
        assert!(slice(&[5, 0], &[0, 3]).is_err());
        assert!(slice(&[0, 0], &[5, 3]).is_err());
        assert!(slice(&[0], &[1]).is_err());
    }

    #[test]
    fn what_goes_backward_is_written_forward() {
        let shape = Shape::from([5]);
        let slice = resolve(&[4], &[0], &[-2], Masks::default(), &shape).unwrap();
        let copy = written(&slice, &shape, &Shape::from([2])).unwrap();
        assert_eq!((copy.target, copy.source), (2, 1));
        assert_eq!((copy.steps[0].count, copy.steps[0].target, copy.steps[0].source), (2, 2, -1));
        let one = written(&slice, &shape, &Shape::scalar()).unwrap();
        assert_eq!((one.source, one.steps[0].source), (0, 0));
    }
}

//! Rows of several tensors that are stitched together.

use super::integers::position;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;

/// The output's shape if the first half of the inputs say where the rows of the second half go, and the elements of a row.
///
/// # Errors
/// INVALID_ARGUMENT if the shapes do not fit, or an index is out of range.
pub fn stitched(ctx: &RawContext<'_>) -> Result<(Shape, usize)> {
    let count = ctx.num_inputs() / 2;
    let (first_indices, first) = (ctx.input_at(0)?.shape(), ctx.input_at(count)?.shape());
    let mut rows = 0;
    for i in 0..count {
        let (indices, data) = (ctx.input_at(i)?, ctx.input_at(count + i)?.shape());
        ensure!(
            data.starts_with(indices.shape()),
            InvalidArgument,
            "data[{i}].shape = {data} does not start with indices[{i}].shape = {}",
            indices.shape()
        );
        ensure!(
            data[indices.rank()..] == first[first_indices.rank()..],
            InvalidArgument,
            "Need data[0].shape[{}:] = data[{i}].shape[{}:], got data[0].shape = {first}, data[{i}].shape = {data}",
            first_indices.rank(),
            indices.rank()
        );
        for (place, &index) in indices.as_slice::<i32>()?.iter().enumerate() {
            ensure!(
                (0..i32::MAX).contains(&index),
                InvalidArgument,
                "indices[{i}]{} = {index} is out of range",
                position(indices.shape(), place)
            );
            rows = rows.max(index as usize + 1);
        }
    }
    let row = &first[first_indices.rank()..];
    let shape: Shape = std::iter::once(rows).chain(row.iter().copied()).collect();
    shape.check()?;
    Ok((shape, row.iter().product()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::dtype::DataType;
    use kernlink::op::{InOutType, OpDef, Signature};
    use kernlink::tensor::Tensor;

    /// What becomes of vectors of indices and data of these shapes.
    fn of(indices: &[&[i32]], data: &[&[usize]]) -> Result<(Shape, usize)> {
        let indices = indices.iter().map(|&indices| Some(Tensor::vector(indices).unwrap()));
        let data = data.iter().map(|&shape| Some(Tensor::zeros(DataType::Float, shape).unwrap()));
        let mut inputs: Vec<_> = indices.chain(data).collect();
        let input = InOutType { dtype: DataType::Float, is_ref: false };
        let signature = Signature { inputs: vec![input; inputs.len()], ..Signature::default() };
        stitched(&RawContext::new("node", &OpDef::EMPTY, &signature, &mut inputs, &mut [], None))
    }

    #[test]
    fn the_greatest_index_says_how_many_rows_there_are() {
        assert_eq!(of(&[&[0, 6], &[3]], &[&[2, 4, 5], &[1, 4, 5]]).unwrap(), (Shape::from([7, 4, 5]), 20));
        assert_eq!(of(&[&[]], &[&[0, 3]]).unwrap(), (Shape::from([0, 3]), 3));
        assert!(of(&[&[0, 6]], &[&[3, 4]]).is_err());
        assert!(of(&[&[0], &[1]], &[&[1, 4], &[1, 5]]).unwrap_err().message().contains("Need data[0].shape[1:]"));
        assert_eq!(of(&[&[0, -1]], &[&[2, 4]]).unwrap_err().message(), "indices[0][1] = -1 is out of range");
        assert!(of(&[&[i32::MAX]], &[&[1]]).is_err());
    }
}

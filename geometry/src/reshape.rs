//! The same elements under another shape.

use kernlink::error::Result;
use kernlink::shape::{MAX_RANK, Shape};
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

use crate::integers::vector_or_scalar;

/// The shape that `sizes`, a vector in which one number may be −1, means for a tensor of shape `input`.
///
/// # Errors
/// INVALID_ARGUMENT if it means none of as many elements.
pub fn reshaped(input: &Shape, sizes: &Tensor) -> Result<Shape> {
    requested_shape(input, &vector_or_scalar(sizes, "shape")?)
}

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

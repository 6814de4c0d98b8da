//! The shapes of steps of optimisers.

use kernlink::error::{Code, Error, Result};
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

/// Fails unless input `index` of a step has the shape of the variable.
///
/// # Errors
/// INVALID_ARGUMENT if it has another.
pub fn ensure_shape(ctx: &RawContext<'_>, variable: &Shape, index: usize, other: &Shape) -> Result<()> {
    ensure!(
        other == variable,
        InvalidArgument,
        "var and {} do not have the same shape: {variable} {other}",
        ctx.op().inputs[index].name
    );
    Ok(())
}

/// Fails unless a number that all elements have in common is a scalar.
///
/// # Errors
/// INVALID_ARGUMENT if it is none.
pub fn ensure_scalar(name: &str, tensor: &Tensor) -> Result<()> {
    ensure!(tensor.rank() == 0, InvalidArgument, "{name} is not a scalar: {}", tensor.shape());
    Ok(())
}

/// Checks the shapes of a step for the rows that indices name, and returns the number of elements in a row.
/// TensorFlow's steps of some rules refuse rows without elements.
///
/// # Errors
/// INVALID_ARGUMENT if they do not fit.
pub fn rows(variable: &Shape, gradient: &Shape, indices: &Shape, needs_elements: bool) -> Result<usize> {
    let Some((_, row)) = variable.split_first() else {
        bail!(InvalidArgument, "var must be at least 1 dimensional");
    };
    ensure!(indices.rank() == 1, InvalidArgument, "indices must be one-dimensional");
    ensure!(
        gradient.rank() == variable.rank() && gradient[1..] == *row,
        InvalidArgument,
        "var and grad must match in all dimensions but the first, and are {variable} and {gradient}"
    );
    ensure!(
        gradient[0] == indices[0],
        InvalidArgument,
        "grad must be the same size as indices in the first dimension."
    );
    let size = row.iter().product();
    ensure!(size > 0 || !needs_elements, InvalidArgument, "Inner dimension should be greater than zero.");
    Ok(size)
}

/// The error of a step as TensorFlow words it: it knows no variable that was never assigned.
pub fn error_of_step(error: Error) -> Error {
    match error.code() {
        Code::NotFound => Error::internal(format!("Invalid variable reference. {}", error.message())),
        _ => error,
    }
}

/// Fails unless what is added to a variable has its shape.
///
/// # Errors
/// INVALID_ARGUMENT if it has another.
pub fn ensure_addend(variable: &Shape, value: &Shape) -> Result<()> {
    ensure!(
        variable == value,
        InvalidArgument,
        "Cannot update variable with shape {variable} using a Tensor with shape {value}, shapes must be equal."
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_are_not_there_are_no_references() {
        let error = error_of_step(Error::not_found("no v"));
        assert_eq!((error.code(), error.message()), (Code::Internal, "Invalid variable reference. no v"));
        let other = error_of_step(Error::failed_precondition("v has no value"));
        assert_eq!((other.code(), other.message()), (Code::FailedPrecondition, "v has no value"));
    }

    #[test]
    fn rows_have_gradients() {
        let of = |variable: &[usize], gradient: &[usize], indices: &[usize], needs_elements| {
            rows(&Shape::from(variable), &Shape::from(gradient), &Shape::from(indices), needs_elements)
        };
        assert_eq!(of(&[5, 2, 3], &[4, 2, 3], &[4], true).unwrap(), 6);
        assert_eq!(of(&[5, 0], &[4, 0], &[4], false).unwrap(), 0);
        assert!(of(&[5, 0], &[4, 0], &[4], true).is_err());
        assert!(of(&[5, 2], &[4, 3], &[4], false).is_err());
        assert!(of(&[5, 2], &[4, 2], &[3], false).is_err());
        assert!(of(&[5, 2], &[4, 2], &[4, 1], false).is_err());
        assert!(of(&[], &[], &[1], false).is_err());
    }
}

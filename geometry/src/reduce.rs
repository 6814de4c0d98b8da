//! The axes of reductions, of running sums, and of what is sought along them.

use smallvec::SmallVec;

use super::integers::{axis, listed, scalar};
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

/// For each dimension whether a reduction along `axes` folds it, and the output's shape.
///
/// # Errors
/// INVALID_ARGUMENT if an axis is out of range or named twice.
#[track_caller]
pub fn folded(shape: &Shape, axes: &[i64], keep_dims: bool) -> Result<(SmallVec<[bool; 8]>, Shape)> {
    let mut fold: SmallVec<[bool; 8]> = SmallVec::from_elem(false, shape.rank());
    for &axis in axes {
        let axis = shape.axis(axis).map_err(|error| error.context("Invalid reduction dimension"))?;
        ensure!(!fold[axis], InvalidArgument, "reduction axes {} contain dimension {axis} twice", listed(axes));
        fold[axis] = true;
    }
    let mut output = Shape::scalar();
    for (&size, &fold) in shape.iter().zip(&fold) {
        match fold {
            false => output.push(size),
            true if keep_dims => output.push(1),
            true => {}
        }
    }
    Ok((fold, output))
}

/// The size of the axis that a scalar names, and the elements behind it.
///
/// # Errors
/// INVALID_ARGUMENT if there is no such axis.
pub fn scanned(shape: &Shape, axis: &Tensor) -> Result<(usize, usize)> {
    let axis = shape.axis(scalar(axis, "axis")?)?;
    Ok((shape[axis], shape[axis + 1..].iter().product()))
}

/// A tensor seen from the axis along which an element is sought.
#[derive(Clone, Debug)]
pub struct Sought {
    /// The axis' size.
    pub size: usize,
    /// The elements behind it.
    pub inner: usize,
    /// The shape without it.
    pub output: Shape,
}

/// A tensor seen from the axis that a scalar names.
///
/// # Errors
/// INVALID_ARGUMENT if there is no such axis, it is empty, or the rank is above TensorFlow's.
pub fn sought(shape: &Shape, dimension: &Tensor) -> Result<Sought> {
    /// The greatest rank that TensorFlow's kernels take.
    const MAX_RANK: usize = 7;
    let axis = axis(scalar(dimension, "dimension")?, shape.rank(), "dimension")?;
    ensure!(shape[axis] > 0, InvalidArgument, "reduction axis {axis} is empty in shape {shape}");
    let mut output = shape.clone();
    output.remove(axis);
    ensure!(
        shape.rank() <= MAX_RANK || output.num_elements() == 0,
        InvalidArgument,
        "the rank of {shape} is above {MAX_RANK}"
    );
    Ok(Sought { size: shape[axis], inner: shape[axis + 1..].iter().product(), output })
}

/// The elements of a row of which the `k` greatest are sought, and the output's shape. Places are of a dtype.
///
/// # Errors
/// INVALID_ARGUMENT if there are not as many, or more than the dtype counts.
pub fn greatest(shape: &Shape, k: i64, places: DataType) -> Result<(usize, Shape)> {
    ensure!(k >= 0, InvalidArgument, "Need k >= 0, got {k}");
    let Some(&columns) = shape.last() else {
        bail!(InvalidArgument, "input must be >= 1-D, got shape {shape}");
    };
    ensure!(
        k as u64 <= columns as u64,
        InvalidArgument,
        "input must have at least k columns. Had {columns}, needed {k}"
    );
    let most = match places {
        DataType::Int16 => i16::MAX as usize,
        _ => i32::MAX as usize,
    };
    ensure!(columns <= most, InvalidArgument, "Second dimension of flattened input must be <= {most}, got {columns}");
    let mut output = shape.clone();
    output.dims_mut()[shape.rank() - 1] = k as usize;
    Ok((columns, output))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_axes_are_refused() {
        let shape = Shape::from([2, 3]);
        for axes in [&[2][..], &[-3], &[0, -2], &[i64::MIN]] {
            assert_eq!(folded(&shape, axes, false).unwrap_err().code(), kernlink::Code::InvalidArgument);
        }
        let (fold, output) = folded(&shape, &[-1], true).unwrap();
        assert_eq!((&fold[..], output), (&[false, true][..], Shape::from([2, 1])));
        assert!(scanned(&shape, &Tensor::scalar(2i32)).is_err());
        assert_eq!(scanned(&shape, &Tensor::scalar(-2i32)).unwrap(), (2, 3));
    }

    #[test]
    fn what_is_sought_is_there() {
        let shape = Shape::from([2, 3, 4]);
        let found = sought(&shape, &Tensor::scalar(1i16)).unwrap();
        assert_eq!((found.size, found.inner, found.output), (3, 4, Shape::from([2, 4])));
        assert!(sought(&Shape::from([2, 0]), &Tensor::scalar(1i32)).is_err());
        assert!(sought(&Shape::from([1; 8]), &Tensor::scalar(1i32)).is_err());
        assert!(sought(&shape, &Tensor::vector(&[1i32]).unwrap()).is_err());
        assert_eq!(greatest(&shape, 2, DataType::Int32).unwrap(), (4, Shape::from([2, 3, 2])));
        assert!(greatest(&shape, 5, DataType::Int32).is_err());
        assert!(greatest(&Shape::from([40_000]), 1, DataType::Int16).is_err());
    }
}

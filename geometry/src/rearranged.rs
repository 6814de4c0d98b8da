//! What becomes of a tensor whose elements are moved and not changed: the output's shape, and where its elements are in
//! the input.

use std::ops::Range;

use super::integers::{axis, checked_shape, vector};
use super::strided::StridedCopy;
use kernlink::error::Result;
use kernlink::shape::{Shape, resolve_axis};
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

/// Where the elements of an output are in its input.
#[derive(Clone, Debug)]
pub enum Elements {
    /// They are the input's, in order.
    Same,
    /// They are those of neighbouring rows along the first dimension.
    Rows(Range<usize>),
    /// A copy brings them.
    Copied(StridedCopy),
}

/// What becomes of a tensor.
#[derive(Clone, Debug)]
pub struct Rearranged {
    /// The output's shape.
    pub shape: Shape,
    /// Its elements.
    pub elements: Elements,
}

impl Rearranged {
    /// The input in another shape.
    pub fn same(shape: Shape) -> Rearranged {
        Rearranged { shape, elements: Elements::Same }
    }

    /// What a copy brings.
    pub fn copied(shape: Shape, copy: StridedCopy) -> Rearranged {
        Rearranged { shape, elements: Elements::Copied(copy) }
    }
}

/// The axes that `perm` names, once each.
fn permutation(perm: &Tensor, rank: usize) -> Result<Vec<usize>> {
    let given = vector(perm, "perm")?;
    ensure!(
        given.len() == rank,
        InvalidArgument,
        "transpose expects a vector of size {rank}. But input(1) is a vector of size {}",
        given.len()
    );
    let mut seen = vec![false; rank];
    let mut axes = Vec::with_capacity(rank);
    for &axis in &given {
        let axis = resolve_axis(axis, rank)?;
        seen[axis] = true;
        axes.push(axis);
    }
    if let Some(missing) = seen.iter().position(|seen| !seen) {
        bail!(InvalidArgument, "{missing} is missing from {given:?}.");
    }
    Ok(axes)
}

/// A tensor with its axes in the order of `perm`.
///
/// # Errors
/// INVALID_ARGUMENT if that does not name each axis once.
pub fn transposed(input: &Shape, perm: &Tensor) -> Result<Rearranged> {
    let axes = permutation(perm, input.rank())?;
    let shape: Shape = axes.iter().map(|&axis| input[axis]).collect();
    let long = |axis: &&usize| input[**axis] != 1;
    if axes.iter().filter(long).is_sorted() || shape.num_elements() == 0 {
        return Ok(Rearranged::same(shape));
    }
    let from = input.strides();
    let mut copy = StridedCopy::new(0, 0);
    for (&axis, &to) in axes.iter().zip(&shape.strides()) {
        copy = copy.step(input[axis], to, from[axis] as isize);
    }
    Ok(Rearranged::copied(shape, copy))
}

/// Turns the dimensions around for which `reversed` says so.
fn turned(input: &Shape, reversed: &[bool]) -> Result<Rearranged> {
    let rank = input.rank();
    ensure!(rank <= 8, Unimplemented, "reverse is not implemented for tensors of rank > 8, such as {rank}");
    if input.num_elements() == 0 {
        return Ok(Rearranged::same(input.clone()));
    }
    let (mut copy, mut first) = (StridedCopy::new(0, 0), 0);
    for ((&dim, &stride), &reversed) in input.iter().zip(&input.strides()).zip(reversed) {
        copy = copy.step(dim, stride, if reversed { -(stride as isize) } else { stride as isize });
        first += if reversed { (dim - 1) * stride } else { 0 };
    }
    Ok(Rearranged::copied(input.clone(), copy.beginning_at(0, first)))
}

/// A tensor with the dimensions turned around for which the bools in `dims` say so.
///
/// # Errors
/// INVALID_ARGUMENT unless there is one for each dimension and the first one has elements, UNIMPLEMENTED for a rank that
/// TensorFlow has no kernel for.
pub fn reversed(input: &Shape, dims: &Tensor) -> Result<Rearranged> {
    let rank = input.rank();
    if rank == 0 {
        return Ok(Rearranged::same(input.clone()));
    }
    ensure!(dims.rank() == 1, InvalidArgument, "'dims' must be 1-dimension, not {}", dims.rank());
    ensure!(
        dims.num_elements() == rank,
        InvalidArgument,
        "'dims' must have the same number of values as 'input' has dimensions. 'input' has {rank}, 'dims' has {} values",
        dims.num_elements()
    );
    ensure!(input[0] > 0, InvalidArgument, "Invalid input first dimension. Found 0.");
    turned(input, dims.as_slice::<bool>()?)
}

/// A tensor with these axes turned around.
///
/// # Errors
/// INVALID_ARGUMENT for an axis out of range or named twice, UNIMPLEMENTED as [`reversed`].
pub fn reversed_along(input: &Shape, axes: &Tensor) -> Result<Rearranged> {
    if input.rank() == 0 || input.num_elements() == 0 {
        return Ok(Rearranged::same(input.clone()));
    }
    let mut reversed = vec![false; input.rank()];
    for given in vector(axes, "axis")? {
        let axis = axis(given, input.rank(), "axis")?;
        if std::mem::replace(&mut reversed[axis], true) {
            bail!(InvalidArgument, "axis {axis} specified more than once.");
        }
    }
    turned(input, &reversed)
}

/// A tensor again and again, so many times along each axis.
///
/// # Errors
/// INVALID_ARGUMENT unless there is a number for each axis, and none is negative.
pub fn tiled(input: &Shape, multiples: &Tensor) -> Result<Rearranged> {
    let multiples = vector(multiples, "multiples")?;
    ensure!(
        multiples.len() == input.rank(),
        InvalidArgument,
        "Expected multiples argument to be a vector of length {} but got length {}",
        input.rank(),
        multiples.len()
    );
    if let Some(axis) = multiples.iter().position(|&times| times < 0) {
        bail!(InvalidArgument, "Expected multiples[{axis}] >= 0, but got {}", multiples[axis]);
    }
    let shape = checked_shape(input.iter().zip(&multiples).map(|(&dim, &times)| dim.checked_mul(times as usize)))?;
    if shape == *input {
        return Ok(Rearranged::same(shape));
    }
    let (to, from) = (shape.strides(), input.strides());
    let mut copy = StridedCopy::new(0, 0);
    for (axis, &dim) in input.iter().enumerate() {
        let again = to[axis].saturating_mul(dim);
        copy = copy.step(multiples[axis] as usize, again, 0).step(dim, to[axis], from[axis] as isize);
    }
    Ok(Rearranged::copied(shape, copy))
}

/// How many runs of dimensions that are repeated, and of dimensions that are not, follow each other.
fn runs(from: &[usize], to: &[usize]) -> usize {
    let added = to.len() - from.len();
    let repeated = |axis: usize| axis < added || from[axis - added] != to[axis];
    let mut runs: Vec<bool> = (0..to.len()).filter(|&axis| to[axis] != 1).map(repeated).collect();
    runs.dedup();
    runs.len()
}

/// A tensor broadcast to the shape in `shape`.
///
/// # Errors
/// INVALID_ARGUMENT if it does not fit, UNIMPLEMENTED where TensorFlow has no kernel.
pub fn broadcast_to(input: &Shape, shape: &Tensor) -> Result<Rearranged> {
    let shape = Shape::from_dims(&vector(shape, "shape")?)?;
    if shape == *input {
        return Ok(Rearranged::same(shape));
    }
    let Some(added) = shape.rank().checked_sub(input.rank()) else {
        bail!(
            InvalidArgument,
            "Rank of input ({}) must be no greater than rank of output shape ({}).",
            input.rank(),
            shape.rank()
        );
    };
    let fits = input.iter().zip(&shape[added..]).all(|(&from, &to)| from == to || from == 1);
    ensure!(fits, InvalidArgument, "Incompatible shapes: {input} vs. {shape}");
    ensure!(
        input.rank() == 0 || shape.num_elements() == 0 || runs(input, &shape) <= 5,
        Unimplemented,
        "Broadcast between {input} and {shape} is not supported yet."
    );
    let (to, from) = (shape.strides(), input.strides());
    let mut copy = StridedCopy::new(0, 0);
    for (axis, &dim) in shape.iter().enumerate() {
        let repeated = axis < added || input[axis - added] == 1;
        copy = copy.step(dim, to[axis], if repeated { 0 } else { from[axis - added] as isize });
    }
    Ok(Rearranged::copied(shape, copy))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(values: &[i32]) -> Tensor {
        Tensor::vector(values).unwrap()
    }

    #[test]
    fn what_stays_in_order_is_not_copied() {
        let shape = Shape::from([2, 1, 3]);
        let is_same = |rearranged: Rearranged| matches!(rearranged.elements, Elements::Same);
        assert!(is_same(transposed(&shape, &ints(&[1, 0, 2])).unwrap()));
        assert!(!is_same(transposed(&shape, &ints(&[2, 1, 0])).unwrap()));
        assert!(is_same(tiled(&shape, &ints(&[1, 1, 1])).unwrap()));
        assert!(is_same(broadcast_to(&shape, &ints(&[2, 1, 3])).unwrap()));
        assert!(is_same(reversed(&Shape::scalar(), &Tensor::scalar(true)).unwrap()));
        assert_eq!(transposed(&shape, &ints(&[2, 0, 1])).unwrap().shape, Shape::from([3, 2, 1]));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let shape = Shape::from([2, 3]);
        assert!(transposed(&shape, &ints(&[0, 0])).unwrap_err().message().contains("1 is missing"));
        assert!(transposed(&shape, &ints(&[0, 2])).is_err());
        assert!(reversed_along(&shape, &ints(&[1, -1])).unwrap_err().message().contains("more than once"));
        assert!(tiled(&shape, &ints(&[1, -1])).is_err());
        assert!(tiled(&shape, &Tensor::vector(&[i64::MAX, 1]).unwrap()).is_err());
        assert!(broadcast_to(&shape, &ints(&[3])).is_err());
        assert!(broadcast_to(&shape, &ints(&[2, 2, 4])).is_err());
        assert_eq!(broadcast_to(&shape, &ints(&[0, 2, 3])).unwrap().shape, Shape::from([0, 2, 3]));
    }
}

//! Shapes: [`Shape`] of a tensor, [`PartialShape`] of what is known of one before it exists.

use std::fmt;
use std::ops::{Deref, RangeBounds};

use smallvec::SmallVec;

use crate::error::{Error, Result};

/// The highest rank that TensorFlow allows.
pub const MAX_RANK: usize = 254;

/// The size of each dimension of a tensor. A scalar has none.
///
/// Dereferences to `[usize]`.
#[derive(PartialEq, Eq, Hash, Default)]
pub struct Shape(SmallVec<[usize; 4]>);

impl Shape {
    /// The shape of a scalar.
    #[inline]
    pub fn scalar() -> Shape {
        Shape::default()
    }

    /// A shape from signed sizes, as attrs and shape tensors hold them.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a negative size, a rank above 254, or more than 2⁶³ − 1 elements.
    #[track_caller]
    pub fn from_dims(dims: &[i64]) -> Result<Shape> {
        check_rank(dims.len())?;
        if let Some(axis) = dims.iter().position(|&dim| dim < 0) {
            return Err(Error::invalid_argument(format!("dimension {axis} of shape {dims:?} is negative")));
        }
        let shape = Shape(dims.iter().map(|&dim| dim as usize).collect());
        shape.check()?;
        Ok(shape)
    }

    /// Checks that the number of elements fits 63 bits, zero dimensions left out of the product as TensorFlow does.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it does not.
    #[inline]
    #[track_caller]
    pub fn check(&self) -> Result<()> {
        let mut product = 1i64;
        for &dim in self.iter() {
            let dim = i64::try_from(dim).ok();
            match dim.and_then(|dim| product.checked_mul(dim.max(1))) {
                Some(next) => product = next,
                None => {
                    return Err(Error::invalid_argument(format!("shape {self} has more than 2^63 - 1 elements")));
                }
            }
        }
        Ok(())
    }

    /// The number of dimensions.
    #[inline]
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The sizes.
    #[inline]
    pub fn dims(&self) -> &[usize] {
        &self.0
    }

    /// The sizes, to change.
    pub fn dims_mut(&mut self) -> &mut [usize] {
        &mut self.0
    }

    /// The number of elements: the product of the sizes, 1 for a scalar. Saturates.
    #[inline]
    pub fn num_elements(&self) -> usize {
        self.0.iter().fold(1usize, |product, &dim| product.saturating_mul(dim))
    }

    /// Whether the sizes are kept in the shape itself.
    #[inline]
    pub(crate) fn is_inline(&self) -> bool {
        !self.0.spilled()
    }

    /// Appends a dimension.
    pub fn push(&mut self, dim: usize) {
        self.0.push(dim);
    }

    /// Inserts a dimension before `axis`, which is at most the rank.
    pub fn insert(&mut self, axis: usize, dim: usize) {
        self.0.insert(axis, dim);
    }

    /// Removes dimension `axis`, which is below the rank.
    pub fn remove(&mut self, axis: usize) -> usize {
        self.0.remove(axis)
    }

    /// Appends dimensions.
    pub fn extend(&mut self, dims: &[usize]) {
        self.0.extend_from_slice(dims);
    }

    /// Removes the dimensions of a range, which ends at the rank at most.
    ///
    /// # Panics
    /// If the range ends beyond the rank, or before it begins.
    pub fn remove_range(&mut self, axes: impl RangeBounds<usize>) {
        self.0.drain(axes);
    }

    /// The distance in elements between neighbours along each dimension, in row-major order.
    pub fn strides(&self) -> SmallVec<[usize; 4]> {
        let mut strides: SmallVec<[usize; 4]> = SmallVec::from_elem(1, self.rank());
        for axis in (0..self.rank().saturating_sub(1)).rev() {
            strides[axis] = strides[axis + 1].saturating_mul(self.0[axis + 1]);
        }
        strides
    }

    /// The sizes as shape tensors hold them.
    pub fn to_i64(&self) -> SmallVec<[i64; 4]> {
        self.0.iter().map(|&dim| dim as i64).collect()
    }

    /// `axis`, counted from the end if negative.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it is outside `[-rank, rank)`.
    #[track_caller]
    pub fn axis(&self, axis: i64) -> Result<usize> {
        resolve_axis(axis, self.rank())
    }

    /// The shape to which two shapes broadcast: aligned at the last dimension, sizes equal or 1.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they do not.
    #[track_caller]
    pub fn broadcast(&self, other: &Shape) -> Result<Shape> {
        let rank = self.rank().max(other.rank());
        let size = |shape: &Shape, axis: usize| (axis + shape.rank()).checked_sub(rank).map_or(1, |axis| shape.0[axis]);
        let mut dims = SmallVec::with_capacity(rank);
        for axis in 0..rank {
            dims.push(match (size(self, axis), size(other, axis)) {
                (a, b) if a == b => a,
                (1, b) => b,
                (a, 1) => a,
                _ => return Err(Error::invalid_argument(format!("Incompatible shapes: {self} vs. {other}"))),
            });
        }
        let shape = Shape(dims);
        shape.check()?;
        Ok(shape)
    }
}

/// Fails for a rank above [`MAX_RANK`].
///
/// # Errors
/// INVALID_ARGUMENT.
#[track_caller]
pub fn check_rank(rank: usize) -> Result<()> {
    if rank > MAX_RANK {
        return Err(Error::invalid_argument(format!("rank {rank} is above {MAX_RANK}")));
    }
    Ok(())
}

/// `axis` of a tensor with `rank` dimensions, counted from the end if negative.
///
/// # Errors
/// INVALID_ARGUMENT if it is outside `[-rank, rank)`.
#[track_caller]
pub fn resolve_axis(axis: i64, rank: usize) -> Result<usize> {
    let signed = rank as i64;
    if axis < -signed || axis >= signed {
        return Err(Error::invalid_argument(format!("axis {axis} is outside [{}, {signed})", -signed)));
    }
    Ok(if axis < 0 { (axis + signed) as usize } else { axis as usize })
}

impl Clone for Shape {
    #[inline]
    fn clone(&self) -> Shape {
        if self.0.spilled() {
            return Shape(SmallVec::from_slice(&self.0));
        }
        // SAFETY: it owns no memory and its elements are `Copy`, so that a copy of its bytes is a value of its own.
        unsafe { std::ptr::read(self) }
    }
}

impl Deref for Shape {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl From<&[usize]> for Shape {
    fn from(dims: &[usize]) -> Shape {
        Shape(SmallVec::from_slice(dims))
    }
}

impl From<Vec<usize>> for Shape {
    fn from(dims: Vec<usize>) -> Shape {
        Shape(SmallVec::from_vec(dims))
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(dims: [usize; N]) -> Shape {
        Shape(SmallVec::from_slice(&dims))
    }
}

impl From<&Shape> for Shape {
    fn from(shape: &Shape) -> Shape {
        shape.clone()
    }
}

impl FromIterator<usize> for Shape {
    fn from_iter<I: IntoIterator<Item = usize>>(dims: I) -> Shape {
        Shape(dims.into_iter().collect())
    }
}

impl fmt::Display for Shape {
    /// `[2,3]`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, dim) in self.0.iter().enumerate() {
            write!(f, "{}{dim}", if i > 0 { "," } else { "" })?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What is known of a shape: nothing, its rank, or its rank and some sizes.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct PartialShape(Option<SmallVec<[Option<usize>; 4]>>);

impl PartialShape {
    /// Nothing is known.
    pub fn unknown() -> PartialShape {
        PartialShape(None)
    }

    /// The rank is known.
    pub fn of_rank(rank: usize) -> PartialShape {
        PartialShape(Some(SmallVec::from_elem(None, rank)))
    }

    /// From sizes, `None` for what is not known.
    pub fn from_known(dims: impl IntoIterator<Item = Option<usize>>) -> PartialShape {
        PartialShape(Some(dims.into_iter().collect()))
    }

    /// From signed sizes, −1 for what is not known.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a size below −1, a rank above 254, or more than 2⁶³ − 1 elements.
    #[track_caller]
    pub fn from_dims(dims: &[i64]) -> Result<PartialShape> {
        check_rank(dims.len())?;
        if dims.iter().any(|&dim| dim < -1) {
            return Err(Error::invalid_argument(format!("shape {dims:?} has a dimension below -1")));
        }
        let known = dims.iter().map(|&dim| usize::try_from(dim).ok());
        known.clone().map(|dim| dim.unwrap_or(1)).collect::<Shape>().check()?;
        Ok(PartialShape(Some(known.collect())))
    }

    /// The number of dimensions, if known.
    pub fn rank(&self) -> Option<usize> {
        self.0.as_ref().map(|dims| dims.len())
    }

    /// The sizes, if the rank is known.
    pub fn dims(&self) -> Option<&[Option<usize>]> {
        self.0.as_deref()
    }

    /// The shape, if all of it is known.
    pub fn to_shape(&self) -> Option<Shape> {
        self.0.as_ref()?.iter().copied().collect::<Option<SmallVec<_>>>().map(Shape)
    }

    /// Whether some shape is compatible with both.
    pub fn is_compatible(&self, other: &PartialShape) -> bool {
        let (Some(dims), Some(others)) = (&self.0, &other.0) else { return true };
        let fits = |(dim, other): (&Option<usize>, &Option<usize>)| dim.is_none() || other.is_none() || dim == other;
        dims.len() == others.len() && dims.iter().zip(others).all(fits)
    }

    /// The merge of both: all that either knows.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if no shape fits both.
    #[track_caller]
    pub fn merge(&self, other: &PartialShape) -> Result<PartialShape> {
        if !self.is_compatible(other) {
            return Err(Error::invalid_argument(format!("Incompatible shapes during merge: {self} vs. {other}")));
        }
        Ok(match (&self.0, &other.0) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            (Some(dims), Some(others)) => {
                PartialShape(Some(dims.iter().zip(others).map(|(dim, other)| dim.or(*other)).collect()))
            }
        })
    }

    /// Whether this shape is compatible with what is known.
    pub fn accepts(&self, shape: &Shape) -> bool {
        match &self.0 {
            None => true,
            Some(dims) => {
                dims.len() == shape.rank()
                    && dims.iter().zip(shape.iter()).all(|(known, dim)| known.is_none_or(|known| known == *dim))
            }
        }
    }
}

impl From<&Shape> for PartialShape {
    fn from(shape: &Shape) -> PartialShape {
        PartialShape(Some(shape.iter().map(|&dim| Some(dim)).collect()))
    }
}

impl<const N: usize> From<[usize; N]> for PartialShape {
    fn from(dims: [usize; N]) -> PartialShape {
        PartialShape::from_known(dims.map(Some))
    }
}

impl From<Shape> for PartialShape {
    fn from(shape: Shape) -> PartialShape {
        PartialShape::from(&shape)
    }
}

impl fmt::Display for PartialShape {
    /// `[2,?]`, or `<unknown>`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(dims) = &self.0 else { return f.write_str("<unknown>") };
        f.write_str("[")?;
        for (i, dim) in dims.iter().enumerate() {
            f.write_str(if i > 0 { "," } else { "" })?;
            match dim {
                Some(dim) => write!(f, "{dim}")?,
                None => f.write_str("?")?,
            }
        }
        f.write_str("]")
    }
}

impl fmt::Debug for PartialShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcast_aligns_at_the_end() {
        let shape = |dims: &[usize]| Shape::from(dims);
        assert_eq!(shape(&[4, 1, 3]).broadcast(&shape(&[2, 1])).unwrap(), shape(&[4, 2, 3]));
        assert_eq!(shape(&[]).broadcast(&shape(&[0])).unwrap(), shape(&[0]));
        assert_eq!(shape(&[1]).broadcast(&shape(&[0])).unwrap(), shape(&[0]));
        assert!(shape(&[2]).broadcast(&shape(&[3])).is_err());
        assert!(shape(&[2]).broadcast(&shape(&[0])).is_err());
    }

    #[test]
    fn dimensions_are_appended_and_removed_by_range() {
        let mut shape = Shape::from([2, 3]);
        shape.extend(&[]);
        assert_eq!(shape, Shape::from([2, 3]));
        shape.extend(&[0, 5, 6, 7]); // more than the shape keeps in itself
        assert_eq!((shape.dims(), shape.is_inline()), (&[2, 3, 0, 5, 6, 7][..], false));
        let removed = |axes: (std::ops::Bound<usize>, std::ops::Bound<usize>)| {
            let mut rest = shape.clone();
            rest.remove_range(axes);
            rest.dims().to_vec()
        };
        use std::ops::Bound::{Excluded, Included, Unbounded};
        assert_eq!(removed((Included(1), Excluded(3))), [2, 5, 6, 7]);
        assert_eq!(removed((Included(1), Included(3))), [2, 6, 7]);
        assert_eq!(removed((Excluded(1), Unbounded)), [2, 3]);
        assert_eq!(removed((Unbounded, Excluded(5))), [7]);
        assert_eq!(removed((Included(6), Unbounded)), shape.dims());
        let mut scalar = shape.clone();
        scalar.remove_range(..);
        assert_eq!((scalar.rank(), scalar.num_elements()), (0, 1));
        scalar.extend(&[4]);
        assert_eq!(scalar, Shape::from([4]));
    }

    #[test]
    #[should_panic]
    fn a_range_that_ends_beyond_the_rank_is_not_removed() {
        Shape::from([2, 3]).remove_range(1..3);
    }

    #[test]
    fn axes_count_from_both_ends() {
        let shape = Shape::from([4, 5, 6]);
        let axes: Vec<usize> = (-3..3).map(|axis| shape.axis(axis).unwrap()).collect();
        assert_eq!(axes, [0, 1, 2, 0, 1, 2]);
        for outside in [-4, 3, i64::MIN, i64::MAX] {
            assert!(shape.axis(outside).is_err(), "{outside}");
        }
        assert!(Shape::scalar().axis(0).is_err() && Shape::scalar().axis(-1).is_err());
    }

    #[test]
    fn overflow_is_an_error() {
        assert!(Shape::from_dims(&[i64::MAX, 2]).is_err());
        assert!(Shape::from_dims(&[i64::MAX, 0, 2]).is_err());
        assert!(Shape::from_dims(&[-1]).is_err());
        assert_eq!(Shape::from_dims(&[0, 5]).unwrap().num_elements(), 0);
    }
}

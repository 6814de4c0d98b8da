//! The elements as `ndarray` views.

use ndarray::{ArrayView2, ArrayView3, ArrayViewD, ArrayViewMut2, ArrayViewMut3, ArrayViewMutD};

use super::Tensor;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::shape::Shape;

/// A view whose shape has as many elements as the tensor, told where the caller asks for it if it has not.
#[track_caller]
fn of_shape<V>(view: std::result::Result<V, ndarray::ShapeError>) -> Result<V> {
    match view {
        Ok(view) => Ok(view),
        Err(error) => Err(Error::internal(error.to_string())),
    }
}

/// The product of the sizes before an axis, and from it on.
fn split(shape: &Shape, axis: usize) -> [usize; 2] {
    let axis = axis.min(shape.rank());
    [shape[..axis].iter().product(), shape[axis..].iter().product()]
}

/// The product of the sizes before an axis, that of the axis, and the product of those behind it.
#[track_caller]
fn around(shape: &Shape, axis: usize) -> Result<[usize; 3]> {
    let Some(&size) = shape.get(axis) else {
        return Err(Error::invalid_argument(format!("a tensor of shape {shape} has no dimension {axis}")));
    };
    Ok([shape[..axis].iter().product(), size, shape[axis + 1..].iter().product()])
}

impl Tensor {
    /// The elements as an `ndarray` view.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if `T` is not the type of the dtype.
    #[track_caller]
    pub fn view<T: Element>(&self) -> Result<ArrayViewD<'_, T>> {
        of_shape(ArrayViewD::from_shape(self.shape.dims(), self.as_slice::<T>()?))
    }

    /// The elements as an `ndarray` view, to change.
    ///
    /// # Errors
    /// As [`Tensor::as_mut_slice`].
    #[track_caller]
    pub fn view_mut<T: Element>(&mut self) -> Result<ArrayViewMutD<'_, T>> {
        let shape = self.shape.clone();
        of_shape(ArrayViewMutD::from_shape(shape.dims(), self.as_mut_slice::<T>()?))
    }

    /// A matrix whose rows are along the last dimension, all other dimensions in one; a scalar is one row of one element.
    ///
    /// ```
    /// # use kernlink_framework as kernlink;
    /// # use kernlink::tensor::Tensor;
    /// # fn main() -> kernlink::Result<()> {
    /// let tensor = Tensor::from_elements([2, 2, 3], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])?;
    /// let sums: Vec<i32> = tensor.flat_inner_dims::<i32>()?.rows().into_iter().map(|row| row.sum()).collect();
    /// assert_eq!(sums, [6, 15, 24, 33]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Tensor::as_slice`].
    #[track_caller]
    pub fn flat_inner_dims<T: Element>(&self) -> Result<ArrayView2<'_, T>> {
        let dims = split(self.shape(), self.rank().saturating_sub(1));
        of_shape(ArrayView2::from_shape(dims, self.as_slice::<T>()?))
    }

    /// [`Tensor::flat_inner_dims`], to change.
    ///
    /// # Errors
    /// As [`Tensor::as_mut_slice`].
    #[track_caller]
    pub fn flat_inner_dims_mut<T: Element>(&mut self) -> Result<ArrayViewMut2<'_, T>> {
        let dims = split(self.shape(), self.rank().saturating_sub(1));
        of_shape(ArrayViewMut2::from_shape(dims, self.as_mut_slice::<T>()?))
    }

    /// A matrix with a row for each index of the first dimension, all other dimensions in one; a scalar is one row.
    ///
    /// # Errors
    /// As [`Tensor::as_slice`].
    #[track_caller]
    pub fn flat_outer_dims<T: Element>(&self) -> Result<ArrayView2<'_, T>> {
        of_shape(ArrayView2::from_shape(split(self.shape(), 1), self.as_slice::<T>()?))
    }

    /// [`Tensor::flat_outer_dims`], to change.
    ///
    /// # Errors
    /// As [`Tensor::as_mut_slice`].
    #[track_caller]
    pub fn flat_outer_dims_mut<T: Element>(&mut self) -> Result<ArrayViewMut2<'_, T>> {
        let dims = split(self.shape(), 1);
        of_shape(ArrayViewMut2::from_shape(dims, self.as_mut_slice::<T>()?))
    }

    /// Three dimensions: all before `axis` in one, `axis`, all behind it in one.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the tensor has no such dimension; as [`Tensor::as_slice`].
    #[track_caller]
    pub fn flat_around<T: Element>(&self, axis: usize) -> Result<ArrayView3<'_, T>> {
        of_shape(ArrayView3::from_shape(around(self.shape(), axis)?, self.as_slice::<T>()?))
    }

    /// [`Tensor::flat_around`], to change.
    ///
    /// # Errors
    /// As [`Tensor::flat_around`] and [`Tensor::as_mut_slice`].
    #[track_caller]
    pub fn flat_around_mut<T: Element>(&mut self, axis: usize) -> Result<ArrayViewMut3<'_, T>> {
        let dims = around(self.shape(), axis)?;
        of_shape(ArrayViewMut3::from_shape(dims, self.as_mut_slice::<T>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::of_shape;
    use crate::Code;
    use crate::tensor::Tensor;

    #[test]
    fn dimensions_become_one_from_either_side() {
        let elements: Vec<i32> = (0..24).collect();
        let mut tensor = Tensor::from_elements([2, 3, 4], &elements).unwrap();
        assert_eq!(tensor.flat_inner_dims::<i32>().unwrap().dim(), (6, 4));
        assert_eq!(tensor.flat_inner_dims::<i32>().unwrap()[[4, 1]], 17);
        assert_eq!(tensor.flat_outer_dims::<i32>().unwrap().dim(), (2, 12));
        assert_eq!(tensor.flat_outer_dims::<i32>().unwrap()[[1, 5]], 17);
        assert_eq!(tensor.flat_around::<i32>(1).unwrap()[[1, 1, 1]], 17);
        tensor.flat_inner_dims_mut::<i32>().unwrap()[[4, 1]] = -1;
        tensor.flat_outer_dims_mut::<i32>().unwrap()[[1, 6]] = -2;
        tensor.flat_around_mut::<i32>(2).unwrap()[[5, 3, 0]] = -3;
        assert_eq!(tensor.as_slice::<i32>().unwrap()[17..24], [-1, -2, 19, 20, 21, 22, -3]);
    }

    #[test]
    fn faults_are_told_where_a_view_is_asked_for() {
        let (view, line) = (ndarray::ArrayView2::from_shape([2, 2], &[1]), line!() + 1);
        let error = of_shape(view).unwrap_err();
        assert_eq!((error.code(), error.location().line()), (Code::Internal, line));
    }

    #[test]
    fn scalars_and_empty_tensors_have_views() {
        let scalar = Tensor::scalar(2.5f32);
        assert_eq!(scalar.flat_inner_dims::<f32>().unwrap().dim(), (1, 1));
        assert_eq!(scalar.flat_outer_dims::<f32>().unwrap().dim(), (1, 1));
        assert_eq!(scalar.flat_around::<f32>(0).unwrap_err().code(), Code::InvalidArgument);
        assert_eq!(scalar.flat_inner_dims::<f64>().unwrap_err().code(), Code::InvalidArgument);
        let empty = Tensor::from_elements::<f32>([3, 0], &[]).unwrap();
        assert_eq!(empty.flat_inner_dims::<f32>().unwrap().dim(), (3, 0));
        assert_eq!(empty.flat_outer_dims::<f32>().unwrap().dim(), (3, 0));
        let vector = Tensor::vector(&[1i64, 2]).unwrap();
        assert_eq!(vector.flat_inner_dims::<i64>().unwrap().dim(), (1, 2));
        assert_eq!(vector.flat_outer_dims::<i64>().unwrap().dim(), (2, 1));
    }
}

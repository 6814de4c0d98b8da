//! Images in other sizes. Places are computed as TensorFlow does it, in `float`.

use kernlink::attr::AttrMap;
use kernlink::dtype::Pod;
use kernlink::error::Result;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

/// How places in one image become places in the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scaling {
    /// Attr `align_corners`.
    pub align_corners: bool,
    /// Attr `half_pixel_centers`.
    pub half_pixel_centers: bool,
}

impl Scaling {
    /// Whatever the attrs say, even both.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if one is missing.
    pub fn any(attrs: &AttrMap) -> Result<Scaling> {
        Ok(Scaling {
            align_corners: attrs.required("align_corners")?,
            half_pixel_centers: attrs.required("half_pixel_centers")?,
        })
    }

    /// What the attrs say.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they say both.
    pub fn new(attrs: &AttrMap) -> Result<Scaling> {
        let scaling = Scaling::any(attrs)?;
        ensure!(
            !(scaling.align_corners && scaling.half_pixel_centers),
            InvalidArgument,
            "If half_pixel_centers is True, align_corners must be False."
        );
        Ok(scaling)
    }

    /// The distance in an image of size `from` between neighbours in one of size `to`. Where one has a single line, there are no
    /// corners to align.
    pub fn step(self, from: usize, to: usize) -> f32 {
        if self.align_corners && from > 1 && to > 1 {
            (from - 1) as f32 / (to - 1) as f32
        } else {
            from as f32 / to as f32
        }
    }
}

/// The sizes of images `[batch, rows, columns, channels]`.
///
/// # Errors
/// INVALID_ARGUMENT, by this name, if the rank is another.
#[track_caller]
pub fn images(tensor: &Shape, name: &str) -> Result<[usize; 4]> {
    match tensor[..] {
        [batch, rows, columns, channels] => Ok([batch, rows, columns, channels]),
        _ => bail!(InvalidArgument, "{name} must be 4-dimensional, not of shape {tensor}"),
    }
}

/// The two elements of a vector, such as rows and columns.
///
/// # Errors
/// INVALID_ARGUMENT, by this name, if the tensor has another shape or dtype.
#[track_caller]
pub fn pair<T: Pod>(tensor: &Tensor, name: &str) -> Result<[T; 2]> {
    ensure!(
        *tensor.shape() == Shape::from([2]),
        InvalidArgument,
        "{name} must be a vector of two elements, not of shape {}",
        tensor.shape()
    );
    let elements = tensor.as_slice::<T>()?;
    Ok([elements[0], elements[1]])
}

/// Rows and columns, both positive, in vector `tensor`.
fn size(tensor: &Tensor) -> Result<[usize; 2]> {
    let [rows, columns] = pair::<i32>(tensor, "shape_t")?;
    ensure!(rows > 0 && columns > 0, InvalidArgument, "output dimensions must be positive: {rows}, {columns}");
    Ok([rows as usize, columns as usize])
}

/// The sizes of images, which have pixels, and the rows and columns that they are to have.
///
/// # Errors
/// INVALID_ARGUMENT if they are no images or have no pixels, or are to have none.
pub fn resized(input: &Shape, to: &Tensor) -> Result<([usize; 4], [usize; 2])> {
    let (from, to) = (images(input, "input")?, size(to)?);
    ensure!(from[3] > 0, InvalidArgument, "image must have at least one channel");
    ensure!(from[1] > 0 && from[2] > 0, InvalidArgument, "input image must be of non-zero size");
    Ok((from, to))
}

/// The sizes of the gradients of images by nearest pixels, and the rows and columns of the original.
///
/// # Errors
/// INVALID_ARGUMENT if they are no images, or the original has no pixels.
pub fn nearest_gradient(grads: &Shape, to: &Tensor) -> Result<([usize; 4], [usize; 2])> {
    Ok((images(grads, "input")?, size(to)?))
}

/// The sizes of the gradients of images by mixed pixels, and the rows and columns of the original.
///
/// # Errors
/// INVALID_ARGUMENT if they are no images, or one has no pixels.
pub fn bilinear_gradient(grads: &Shape, original: &Shape) -> Result<([usize; 4], [usize; 2])> {
    let grads = images(grads, "input_grad")?;
    let [_, rows, columns, _] = images(original, "original_image")?;
    ensure!(grads[1] > 0 && grads[2] > 0, InvalidArgument, "resized dimensions must be positive");
    ensure!(rows > 0 && columns > 0, InvalidArgument, "original dimensions must be positive");
    Ok((grads, [rows, columns]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_aligned_or_not() {
        let scaling = |align_corners| Scaling { align_corners, half_pixel_centers: false };
        assert_eq!(scaling(true).step(5, 9), 0.5);
        assert_eq!(scaling(true).step(5, 1), 5.0);
        assert_eq!(scaling(true).step(1, 4), 0.25);
        assert_eq!(scaling(true).step(0, 4), 0.0);
        assert_eq!(scaling(false).step(4, 8), 0.5);
    }

    #[test]
    fn images_have_pixels() {
        let to = Tensor::vector(&[2i32, 3]).unwrap();
        let input = Shape::from([1, 4, 5, 3]);
        assert_eq!(resized(&input, &to).unwrap(), ([1, 4, 5, 3], [2, 3]));
        assert!(resized(&Shape::from([1, 4, 5, 0]), &to).is_err());
        assert!(resized(&Shape::from([1, 0, 5, 3]), &to).is_err());
        assert!(resized(&input, &Tensor::vector(&[2i32, 0]).unwrap()).is_err());
        assert!(nearest_gradient(&Shape::from([1, 0, 5, 3]), &to).is_ok());
        assert!(bilinear_gradient(&input, &Shape::from([1, 0, 5, 3])).is_err());
    }
}

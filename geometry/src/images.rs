//! Images whose channels lie before rows and columns: how they come into the order in which kernels compute, channels
//! last, and back.

use super::rearranged::Rearranged;
use super::strided::StridedCopy;
use kernlink::shape::Shape;
use kernlink_ops::shapes::TensorFormat;

/// The values that an attr has for the dimensions of images, with that of the channels last.
pub(crate) fn last<V: Copy>(format: TensorFormat, [first, second, third, fourth]: [V; 4]) -> [V; 4] {
    match format {
        TensorFormat::Nchw => [first, third, fourth, second],
        _ => [first, second, third, fourth],
    }
}

/// The values for dimensions with channels last in the order of the format: what errors say, as a user wrote it.
pub(crate) fn as_written<V: Copy>(format: TensorFormat, [batch, rows, columns, channels]: [V; 4]) -> [V; 4] {
    match format {
        TensorFormat::Nchw => [batch, channels, rows, columns],
        _ => [batch, rows, columns, channels],
    }
}

/// Which dimension of images in a format is dimension `axis` of those with channels last.
pub(crate) fn place(format: TensorFormat, axis: usize) -> usize {
    last(format, [0, 1, 2, 3])[axis]
}

/// A shape with channels last in the order of the format, if it is one of images at all; see [`as_written`].
pub(crate) fn shape_as_written(format: TensorFormat, shape: &Shape) -> Shape {
    match shape[..] {
        [batch, rows, columns, channels] => Shape::from(as_written(format, [batch, rows, columns, channels])),
        _ => shape.clone(),
    }
}

/// The shape of images with channels last, if it is one of images at all.
pub fn shape_last(format: TensorFormat, images: Shape) -> Shape {
    match images[..] {
        [first, second, third, fourth] => Shape::from(last(format, [first, second, third, fourth])),
        _ => images,
    }
}

/// Images with channels last, if they are not as they are, and there are four dimensions.
pub fn channels_last(format: TensorFormat, images: &Shape) -> Option<Rearranged> {
    let &[batch, channels, rows, columns] = &images[..] else { return None };
    let is_first = format == TensorFormat::Nchw;
    is_first.then(|| turned(Shape::from([batch, rows, columns, channels]), batch, [channels, rows * columns]))
}

/// Images in a format, if it is not the one they have, which is with channels last.
pub fn channels_first(format: TensorFormat, images: &Shape) -> Option<Rearranged> {
    let &[batch, rows, columns, channels] = &images[..] else { return None };
    let is_first = format == TensorFormat::Nchw;
    is_first.then(|| turned(Shape::from([batch, channels, rows, columns]), batch, [rows * columns, channels]))
}

/// Matrices, each turned.
fn turned(shape: Shape, count: usize, [rows, columns]: [usize; 2]) -> Rearranged {
    if rows == 1 || columns == 1 {
        return Rearranged::same(shape);
    }
    let each = rows * columns;
    let copy = StridedCopy::new(0, 0).step(count, each, each as isize).step(columns, rows, 1);
    Rearranged::copied(shape, copy.step(rows, 1, columns as isize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rearranged::Elements;

    #[test]
    fn images_are_turned_there_and_back() {
        let first = Shape::from([2, 3, 4, 5]);
        assert!(channels_last(TensorFormat::Nhwc, &first).is_none());
        let there = channels_last(TensorFormat::Nchw, &first).unwrap();
        assert_eq!(there.shape, Shape::from([2, 4, 5, 3]));
        let back = channels_first(TensorFormat::Nchw, &there.shape).unwrap();
        assert_eq!(back.shape, first);
        let (Elements::Copied(there), Elements::Copied(back)) = (there.elements, back.elements) else {
            panic!("elements move");
        };
        // The target of element `source`, by the steps of a copy.
        let target = |copy: &StridedCopy, mut source: usize| {
            let mut steps: Vec<_> = copy.steps.iter().collect();
            steps.sort_by_key(|step| -step.source);
            steps.iter().fold(0, |target, step| {
                let turn = source / step.source as usize;
                source %= step.source as usize;
                target + turn * step.target
            })
        };
        assert!((0..120).all(|element| target(&back, target(&there, element)) == element));
        // Channel 1 of pixel 7 of image 1.
        assert_eq!(target(&there, 60 + 20 + 7), 60 + 7 * 3 + 1);
        let one = channels_last(TensorFormat::Nchw, &Shape::from([2, 1, 4, 5])).unwrap();
        assert!(matches!(one.elements, Elements::Same));
        assert_eq!(last(TensorFormat::Nchw, [1, 2, 3, 4]), [1, 3, 4, 2]);
        assert_eq!(as_written(TensorFormat::Nchw, [1, 3, 4, 2]), [1, 2, 3, 4]);
        assert_eq!([0, 1, 2, 3].map(|axis| place(TensorFormat::Nchw, axis)), [0, 2, 3, 1]);
    }
}

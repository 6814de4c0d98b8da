//! How tensors of different shapes meet, element by element.

use smallvec::SmallVec;

use kernlink::error::{Error, Result};
use kernlink::shape::Shape;

/// One dimension of the output after neighbours that broadcast alike were merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim<const N: usize> {
    /// Its size.
    pub size: usize,
    /// How far each operand moves, in elements, when the index grows by one: not at all where it broadcasts.
    pub steps: [usize; N],
}

/// The broadcast of `N` operands.
#[derive(Clone, Debug)]
pub struct Broadcast<const N: usize> {
    /// The output's shape.
    pub shape: Shape,
    /// Outermost first, at least one; none of size 1 if there are more. The steps of the last are 0 or 1.
    pub dims: SmallVec<[Dim<N>; 4]>,
}

impl<const N: usize> Broadcast<N> {
    /// Aligns the shapes at their last dimension; sizes must be equal or 1.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the shapes do not fit or the output has too many elements; UNIMPLEMENTED if more than
    /// `limit` dimensions remain after merging, where TensorFlow has no kernel either.
    #[track_caller]
    pub fn new(shapes: [&Shape; N], limit: usize) -> Result<Broadcast<N>> {
        let rank = shapes.iter().map(|shape| shape.rank()).max().unwrap_or(0);
        let size_at = |shape: &Shape, axis: usize| {
            (axis + shape.rank()).checked_sub(rank).and_then(|axis| shape.get(axis).copied()).unwrap_or(1)
        };
        let mut shape = Shape::default();
        for axis in 0..rank {
            let mut size = 1;
            for operand in shapes {
                match (size, size_at(operand, axis)) {
                    (_, 1) => {}
                    (1, other) => size = other,
                    (size, other) if size == other => {}
                    _ => return Err(incompatible(&shapes)),
                }
            }
            shape.push(size);
        }
        shape.check()?;

        let mut dims: SmallVec<[Dim<N>; 4]> = SmallVec::new();
        let mut distance = [1usize; N];
        for axis in (0..rank).rev() {
            let size = shape[axis];
            if size == 1 {
                continue;
            }
            let mut steps = [0; N];
            for operand in 0..N {
                let own = size_at(shapes[operand], axis);
                if own != 1 {
                    steps[operand] = distance[operand];
                    distance[operand] = distance[operand].saturating_mul(own);
                }
            }
            match dims.last_mut() {
                Some(inner) if continues(inner, &steps) => inner.size = inner.size.saturating_mul(size),
                _ => dims.push(Dim { size, steps }),
            }
        }
        if dims.len() > limit && shape.num_elements() != 0 {
            let shapes = shapes.map(|shape| shape.to_string()).join(" and ");
            let message = format!(
                "shapes {shapes} broadcast along {} groups of dimensions; more than {limit} are not supported",
                dims.len()
            );
            return Err(Error::unimplemented(message));
        }
        if dims.is_empty() {
            dims.push(Dim { size: 1, steps: [0; N] });
        }
        dims.reverse();
        Ok(Broadcast { shape, dims })
    }
}

/// Whether a dimension with `steps` goes on where the dimension inside it ends, for every operand.
fn continues<const N: usize>(inner: &Dim<N>, steps: &[usize; N]) -> bool {
    (0..N).all(|operand| match inner.steps[operand] {
        0 => steps[operand] == 0,
        step => steps[operand] == step.saturating_mul(inner.size),
    })
}

#[cold]
#[track_caller]
fn incompatible<const N: usize>(shapes: &[&Shape; N]) -> Error {
    let shapes = shapes.map(|shape| shape.to_string()).join(" vs. ");
    Error::invalid_argument(format!("Incompatible shapes: {shapes}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dims(a: &[usize], b: &[usize]) -> Vec<(usize, [usize; 2])> {
        let broadcast = Broadcast::new([&Shape::from(a), &Shape::from(b)], 8).unwrap();
        broadcast.dims.iter().map(|dim| (dim.size, dim.steps)).collect()
    }

    #[test]
    fn dimensions_that_broadcast_alike_merge() {
        assert_eq!(dims(&[2, 3, 4], &[2, 3, 4]), [(24, [1, 1])]);
        assert_eq!(dims(&[2, 3, 4], &[]), [(24, [1, 0])]);
        assert_eq!(dims(&[2, 3, 4, 5], &[4, 5]), [(6, [20, 0]), (20, [1, 1])]);
        assert_eq!(dims(&[2, 1, 3], &[2, 1, 3]), [(6, [1, 1])]);
        assert_eq!(dims(&[8, 5, 5, 7], &[8, 1, 1, 7]).len(), 3);
        assert_eq!(dims(&[1, 1], &[1]), [(1, [0, 0])]);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let shape = |dims: &[usize]| Shape::from(dims);
        let error = Broadcast::new([&shape(&[2]), &shape(&[3])], 5).unwrap_err();
        assert_eq!(error.code(), kernlink::Code::InvalidArgument);
        let error = Broadcast::new([&shape(&[2, 1, 2, 1, 2, 1]), &shape(&[1, 2, 1, 2, 1, 2])], 5).unwrap_err();
        assert_eq!(error.code(), kernlink::Code::Unimplemented);
        let huge = usize::MAX >> 2;
        assert!(Broadcast::new([&shape(&[huge, 1]), &shape(&[1, huge])], 5).is_err());
    }
}

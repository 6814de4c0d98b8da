//! How tensors of different shapes meet: the output's shape, and which elements of each operand a run of output
//! elements takes.

use std::ops::Range;

use kernlink::shape::Shape;
use kernlink::{Error, Result};
use smallvec::SmallVec;

/// One dimension of the output after neighbours that broadcast alike were merged.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dim<const N: usize> {
    size: usize,
    /// How far each operand moves, in elements, when the index grows by one.
    steps: [usize; N],
}

/// The two innermost dimensions of a [`Plan`].
pub(crate) struct Sheet<const N: usize> {
    /// How many rows there are.
    pub(crate) rows: usize,
    /// How far each operand moves from row to row.
    pub(crate) row_steps: [usize; N],
    /// The elements of a row.
    pub(crate) length: usize,
    /// For each operand, whether it moves along a row (1) or stays (0).
    pub(crate) steps: [usize; N],
}

/// The broadcast of `N` operands.
#[derive(Debug)]
pub(crate) struct Plan<const N: usize> {
    shape: Shape,
    /// Outermost first, at least one. The steps of the last are 0 or 1.
    dims: SmallVec<[Dim<N>; 4]>,
}

impl<const N: usize> Plan<N> {
    /// Aligns the shapes at their last dimension; sizes must be equal or 1.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the shapes do not fit or the output has too many elements; UNIMPLEMENTED if more than
    /// `limit` dimensions remain after merging, where TensorFlow has no kernel either.
    #[track_caller]
    pub(crate) fn new(shapes: [&Shape; N], limit: usize) -> Result<Plan<N>> {
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
        Ok(Plan { shape, dims })
    }

    /// The output's shape.
    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// For each operand, whether it moves along a run (1) or stays (0).
    pub(crate) fn run_steps(&self) -> [usize; N] {
        self.dims[self.dims.len() - 1].steps
    }

    /// The two innermost dimensions, if there are that many.
    pub(crate) fn sheet(&self) -> Option<Sheet<N>> {
        let [.., outer, inner] = self.dims.as_slice() else { return None };
        Some(Sheet { rows: outer.size, row_steps: outer.steps, length: inner.size, steps: inner.steps })
    }

    /// Where each operand begins in sheet `index`, counted over all outer dimensions.
    pub(crate) fn sheet_start(&self, index: usize) -> [usize; N] {
        let (mut start, mut rest) = ([0; N], index);
        for dim in self.dims[..self.dims.len().saturating_sub(2)].iter().rev() {
            for (start, step) in start.iter_mut().zip(dim.steps) {
                *start += rest % dim.size * step;
            }
            rest /= dim.size;
        }
        start
    }

    /// Calls `run` with the first output element, the first element of each operand and the length of every run in
    /// `range`, in order.
    pub(crate) fn runs(&self, range: Range<usize>, run: &mut dyn FnMut(usize, [usize; N], usize)) {
        if range.is_empty() || self.shape.num_elements() == 0 {
            return;
        }
        let (outer, inner) = (&self.dims[..self.dims.len() - 1], self.dims[self.dims.len() - 1]);
        let mut column = range.start % inner.size;
        let mut row = range.start / inner.size;
        let mut offsets = [0; N];
        let mut index: SmallVec<[usize; 8]> = SmallVec::from_elem(0, outer.len());
        for (axis, dim) in outer.iter().enumerate().rev() {
            index[axis] = row % dim.size;
            row /= dim.size;
            for (offset, step) in offsets.iter_mut().zip(dim.steps) {
                *offset += index[axis] * step;
            }
        }
        let mut at = range.start;
        loop {
            let length = (inner.size - column).min(range.end - at);
            let mut first = offsets;
            for (first, step) in first.iter_mut().zip(inner.steps) {
                *first += column * step;
            }
            run(at, first, length);
            at += length;
            column = 0;
            if at >= range.end {
                return;
            }
            for (axis, dim) in outer.iter().enumerate().rev() {
                index[axis] += 1;
                let wraps = index[axis] == dim.size;
                for (offset, step) in offsets.iter_mut().zip(dim.steps) {
                    *offset = if wraps { *offset - (dim.size - 1) * step } else { *offset + step };
                }
                if !wraps {
                    break;
                }
                index[axis] = 0;
            }
        }
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

    fn plan(a: &[usize], b: &[usize]) -> Plan<2> {
        Plan::new([&Shape::from(a), &Shape::from(b)], 8).unwrap()
    }

    /// The operands' elements that each output element takes, by the definition of broadcasting.
    fn expected(a: &[usize], b: &[usize]) -> Vec<[usize; 2]> {
        let shape = Shape::from(a).broadcast(&Shape::from(b)).unwrap();
        let strides = shape.strides();
        (0..shape.num_elements())
            .map(|index| {
                [a, b].map(|operand| {
                    let own = Shape::from(operand).strides();
                    let missing = shape.rank() - operand.len();
                    (0..operand.len())
                        .map(|axis| {
                            let at = index / strides[axis + missing] % shape[axis + missing];
                            if operand[axis] == 1 { 0 } else { at * own[axis] }
                        })
                        .sum()
                })
            })
            .collect()
    }

    #[test]
    fn runs_follow_the_definition() {
        let cases: [(&[usize], &[usize]); 9] = [
            (&[], &[]),
            (&[3], &[]),
            (&[2, 3], &[3]),
            (&[3, 1], &[1, 4]),
            (&[4, 1, 3], &[2, 1]),
            (&[2, 1, 3, 1, 2], &[1, 2, 1, 2, 1]),
            (&[2, 3, 4], &[2, 3, 4]),
            (&[5, 1, 1, 2], &[5, 3, 4, 1]),
            (&[2, 0, 3], &[1, 1, 3]),
        ];
        for (a, b) in cases {
            let (plan, expected) = (plan(a, b), expected(a, b));
            assert_eq!(plan.shape().num_elements(), expected.len());
            // From every start, so that runs that begin in the middle are seen too.
            for start in 0..expected.len() {
                let mut seen = Vec::new();
                plan.runs(start..expected.len(), &mut |at, first, length| {
                    assert_eq!(at, start + seen.len());
                    let steps = plan.run_steps();
                    seen.extend((0..length).map(|i| [first[0] + i * steps[0], first[1] + i * steps[1]]));
                });
                assert_eq!(seen, expected[start..], "{a:?} {b:?} from {start}");
            }
        }
    }

    #[test]
    fn sheets_follow_the_definition() {
        let (a, b): (&[usize], &[usize]) = (&[2, 1, 3, 1, 2], &[1, 2, 1, 2, 1]);
        let (plan, expected) = (plan(a, b), expected(a, b));
        let sheet = plan.sheet().unwrap();
        let mut seen = Vec::new();
        for index in 0..expected.len() / (sheet.rows * sheet.length) {
            let start = plan.sheet_start(index);
            for row in 0..sheet.rows {
                seen.extend((0..sheet.length).map(|i| {
                    [0, 1].map(|operand: usize| {
                        start[operand] + row * sheet.row_steps[operand] + i * sheet.steps[operand]
                    })
                }));
            }
        }
        assert_eq!(seen, expected);
    }

    #[test]
    fn dimensions_that_broadcast_alike_merge() {
        assert_eq!(plan(&[2, 3, 4], &[2, 3, 4]).dims.len(), 1);
        assert_eq!(plan(&[2, 3, 4], &[]).dims.len(), 1);
        assert_eq!(plan(&[2, 3, 4, 5], &[4, 5]).sheet().unwrap().length, 20);
        assert_eq!(plan(&[2, 1, 3], &[2, 1, 3]).dims.len(), 1);
        assert_eq!(plan(&[8, 5, 5, 7], &[8, 1, 1, 7]).dims.len(), 3);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let shape = |dims: &[usize]| Shape::from(dims);
        let error = Plan::new([&shape(&[2]), &shape(&[3])], 5).unwrap_err();
        assert_eq!(error.code(), kernlink::Code::InvalidArgument);
        let error = Plan::new([&shape(&[2, 1, 2, 1, 2, 1]), &shape(&[1, 2, 1, 2, 1, 2])], 5).unwrap_err();
        assert_eq!(error.code(), kernlink::Code::Unimplemented);
        let huge = usize::MAX >> 2;
        assert!(Plan::new([&shape(&[huge, 1]), &shape(&[1, huge])], 5).is_err());
    }
}

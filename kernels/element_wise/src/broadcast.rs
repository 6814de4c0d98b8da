//! How tensors of different shapes meet: which elements of each operand a run of output elements takes.

use std::ops::Range;

use kernlink::Result;
use kernlink::shape::Shape;
use kernlink_geometry::broadcast::Broadcast;
use smallvec::SmallVec;

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
pub(crate) struct Plan<const N: usize>(Broadcast<N>);

impl<const N: usize> Plan<N> {
    /// Aligns the shapes at their last dimension; sizes must be equal or 1.
    ///
    /// # Errors
    /// Those of [`Broadcast::new`].
    #[track_caller]
    pub(crate) fn new(shapes: [&Shape; N], limit: usize) -> Result<Plan<N>> {
        Broadcast::new(shapes, limit).map(Plan)
    }

    /// The output's shape.
    pub(crate) fn shape(&self) -> &Shape {
        &self.0.shape
    }

    /// For each operand, whether it moves along a run (1) or stays (0).
    pub(crate) fn run_steps(&self) -> [usize; N] {
        self.0.dims[self.0.dims.len() - 1].steps
    }

    /// The two innermost dimensions, if there are that many.
    pub(crate) fn sheet(&self) -> Option<Sheet<N>> {
        let [.., outer, inner] = self.0.dims.as_slice() else { return None };
        Some(Sheet { rows: outer.size, row_steps: outer.steps, length: inner.size, steps: inner.steps })
    }

    /// Where each operand begins in sheet `index`, counted over all outer dimensions.
    pub(crate) fn sheet_start(&self, index: usize) -> [usize; N] {
        let (mut start, mut rest) = ([0; N], index);
        for dim in self.0.dims[..self.0.dims.len().saturating_sub(2)].iter().rev() {
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
        if range.is_empty() || self.0.shape.num_elements() == 0 {
            return;
        }
        let (outer, inner) = (&self.0.dims[..self.0.dims.len() - 1], self.0.dims[self.0.dims.len() - 1]);
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
}

//! What a reduction does to memory: which dimensions it keeps, which it folds, and where each lies.

use kernlink::error::Result;
use kernlink::shape::Shape;
use kernlink_geometry::reduce::folded;
use smallvec::SmallVec;

use crate::places::Places;

/// Neighbouring dimensions that are all kept or all folded, as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) size: usize,
    pub(crate) is_folded: bool,
}

/// How to reduce a tensor of one shape along some axes.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The output's shape.
    pub(crate) output: Shape,
    /// Where the elements that make an element of the output begin.
    pub(crate) kept: Places<1>,
    /// Where they lie from there.
    pub(crate) folded: Places<1>,
    /// How many elements the output has.
    pub(crate) outputs: usize,
    /// How many elements of the input make one of the output.
    pub(crate) count: usize,
    /// Whether neighbours in memory are folded.
    pub(crate) inner_folded: bool,
    /// The input's dimensions.
    pub(crate) runs: SmallVec<[Run; 4]>,
}

impl Plan {
    /// # Errors
    /// INVALID_ARGUMENT if an axis is out of range or named twice.
    #[track_caller]
    pub(crate) fn new(shape: &Shape, axes: &[i64], keep_dims: bool) -> Result<Plan> {
        let (fold, output) = folded(shape, axes, keep_dims)?;
        let mut runs: SmallVec<[Run; 4]> = SmallVec::new();
        for (&size, &is_folded) in shape.iter().zip(&fold).filter(|(size, _)| **size != 1) {
            match runs.last_mut() {
                Some(last) if last.is_folded == is_folded => last.size *= size,
                _ => runs.push(Run { size, is_folded }),
            }
        }
        let strides = shape.strides();
        let some = |kind: bool| {
            let fold = &fold;
            (0..shape.rank()).filter(move |&axis| fold[axis] == kind)
        };
        let index = |kind| {
            let dims: SmallVec<[_; 8]> = some(kind).map(|axis| (shape[axis], [strides[axis] as i64])).collect();
            Places::new(dims.into_iter())
        };
        let count = |kind| some(kind).map(|axis| shape[axis]).product();
        let inner = (0..shape.rank()).rev().find(|&axis| shape[axis] != 1);
        Ok(Plan {
            output,
            kept: index(false),
            folded: index(true),
            outputs: count(false),
            count: count(true),
            inner_folded: inner.is_some_and(|axis| fold[axis]),
            runs,
        })
    }

    /// The reduction of a tensor of these dimensions.
    pub(crate) fn of_runs(runs: &[Run]) -> Result<Plan> {
        let shape: Shape = runs.iter().map(|run| run.size).collect();
        let folded = (0..).zip(runs).filter(|(_, run)| run.is_folded);
        Plan::new(&shape, &folded.map(|(axis, _)| axis).collect::<SmallVec<[i64; 4]>>(), false)
    }

    /// The reduction of rows of `parts` elements that lie `outputs` apart.
    pub(crate) fn of_parts(parts: usize, outputs: usize) -> Plan {
        Plan {
            output: Shape::from([outputs]),
            kept: Places::new([(outputs, [1])].into_iter()),
            folded: Places::new([(parts, [outputs as i64])].into_iter()),
            outputs,
            count: parts,
            inner_folded: outputs == 1,
            runs: SmallVec::from_slice(&[
                Run { size: parts, is_folded: true },
                Run { size: outputs, is_folded: false },
            ]),
        }
    }

    /// Whether the output has the input's elements, in the same order.
    pub(crate) fn is_copy(&self) -> bool {
        self.count == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_merged() {
        let plan = Plan::new(&Shape::from([2, 3, 1, 4, 5, 6]), &[0, 1, -1], false).unwrap();
        assert_eq!(plan.output, Shape::from([1, 4, 5]));
        assert_eq!((plan.outputs, plan.count, plan.inner_folded), (20, 36, true));
        assert_eq!((plan.kept.rank(), plan.kept.inner()), (1, (20, [6])));
        assert_eq!((plan.folded.rank(), plan.folded.inner()), (2, (6, [1])));
        assert!(Plan::new(&Shape::from([3, 1, 2]), &[1], true).unwrap().is_copy());
        assert!(Plan::new(&Shape::from([3, 0]), &[], true).unwrap().is_copy());
    }
}

//! Copies between strided boxes of two tensors: what transposing, slicing, joining, tiling, broadcasting, padding and
//! their kin come down to. How a copy is run is the device's.

use smallvec::SmallVec;

use kernlink::error::Result;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

/// One loop of a copy: how often it runs, and how far each turn goes in target and source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// How often it runs.
    pub count: usize,
    /// How far each turn goes in the target, in elements.
    pub target: usize,
    /// How far each turn goes in the source, in elements.
    pub source: isize,
}

/// The loops of a copy.
pub type Steps = SmallVec<[Step; 6]>;

/// A copy of a box of elements. The order of the steps does not matter: the copy chooses its own.
#[derive(Clone, Debug, Default)]
pub struct StridedCopy {
    /// The loops in the order in which they were stated.
    pub steps: Steps,
    /// The first element of the target.
    pub target: usize,
    /// The first element of the source.
    pub source: usize,
}

impl StridedCopy {
    /// A copy from element `source` of the source to element `target` of the target.
    #[inline]
    pub fn new(target: usize, source: usize) -> StridedCopy {
        StridedCopy { steps: Steps::new(), target, source }
    }

    /// The copy of nothing.
    pub fn nothing() -> StridedCopy {
        StridedCopy::new(0, 0).step(0, 0, 0)
    }

    /// Repeats what was said so far `count` times, `target` elements further on in the target and `source` in the
    /// source each time.
    #[inline]
    #[must_use]
    pub fn step(mut self, count: usize, target: usize, source: isize) -> StridedCopy {
        self.steps.push(Step { count, target, source });
        self
    }

    /// The same copy between other first elements.
    #[inline]
    #[must_use]
    pub fn beginning_at(self, target: usize, source: usize) -> StridedCopy {
        StridedCopy { target, source, ..self }
    }

    /// Where the box begins in the source, if its elements are neighbours there and become all `count` of the target, in the
    /// same order.
    pub fn run_of(&self, count: usize) -> Option<usize> {
        let is_straight = |step: &Step| step.count == 1 || step.source >= 0 && step.source as usize == step.target;
        let is_all = self.steps.iter().try_fold(1usize, |turns, step| turns.checked_mul(step.count)) == Some(count);
        (self.target == 0 && is_all && count > 0 && self.steps.iter().all(is_straight)).then_some(self.source)
    }

    /// The loops from the one with the longest stride in the target to the one with the shortest, joined where two are
    /// one, after a check that the box fits the tensors and does not meet an element of the target twice. `None` if
    /// there is nothing to copy.
    ///
    /// # Errors
    /// INTERNAL if the box does not fit, or the dtypes differ: a kernel computed it wrongly.
    pub fn checked(&self, target: &Tensor, source: &Tensor) -> Result<Option<Steps>> {
        if self.steps.iter().any(|step| step.count == 0) {
            return Ok(None);
        }
        let dtype = target.dtype();
        ensure!(dtype == source.dtype(), Internal, "{} elements cannot be copied to {dtype}", source.dtype());
        self.checked_steps(target.num_elements(), source.num_elements()).map(Some)
    }

    fn checked_steps(&self, target_len: usize, source_len: usize) -> Result<Steps> {
        let mut steps: Steps = self.steps.iter().copied().filter(|step| step.count > 1).collect();
        steps.sort_by_key(|step| std::cmp::Reverse(step.target));

        let (mut low, mut high) = (self.source as i128, self.source as i128);
        let mut extent = 1i128;
        for step in steps.iter().rev() {
            if (step.target as i128) < extent {
                bail!(Internal, "a copy writes an element twice: {self:?}");
            }
            extent = extent.saturating_add((step.count as i128 - 1).saturating_mul(step.target as i128));
            let reach = (step.count as i128 - 1).saturating_mul(step.source as i128);
            if reach < 0 { low = low.saturating_add(reach) } else { high = high.saturating_add(reach) }
        }
        let end = extent.saturating_add(self.target as i128);
        if end > target_len as i128 || low < 0 || high >= source_len as i128 {
            bail!(Internal, "a copy from {source_len} to {target_len} elements leaves them: {self:?}");
        }

        let mut joined = Steps::new();
        for inner in steps.into_iter().rev() {
            match joined.last_mut() {
                Some(last)
                    if inner.target == last.target * last.count
                        && inner.source == last.source * last.count as isize =>
                {
                    last.count *= inner.count;
                }
                _ => joined.push(inner),
            }
        }
        joined.reverse();
        Ok(joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(copy: StridedCopy, target: usize, source: usize) -> Vec<(usize, usize, isize)> {
        let steps = copy.checked_steps(target, source).unwrap();
        steps.iter().map(|step| (step.count, step.target, step.source)).collect()
    }

    #[test]
    fn neighbours_that_become_all_of_the_target_are_a_run() {
        // Rows of three of a matrix with columns of five, and of all three columns.
        let rows = |columns: usize| StridedCopy::new(0, 6).step(2, 3, columns as isize).step(3, 1, 1);
        assert_eq!(rows(3).run_of(6), Some(6));
        assert_eq!(rows(5).run_of(6), None);
        // A part of the target, another place in it, nothing, and backwards.
        assert_eq!(rows(3).run_of(7), None);
        assert_eq!(rows(3).beginning_at(1, 6).run_of(6), None);
        assert_eq!(StridedCopy::nothing().run_of(0), None);
        assert_eq!(StridedCopy::new(0, 2).step(3, 1, -1).run_of(3), None);
        // A dimension of size 1 may lie anywhere.
        assert_eq!(StridedCopy::new(0, 4).step(1, 9, 2).step(3, 1, 1).run_of(3), Some(4));
    }

    #[test]
    fn loops_that_are_one_are_joined() {
        let whole = StridedCopy::new(0, 0).step(2, 12, 12).step(3, 4, 4).step(1, 99, 7).step(4, 1, 1);
        assert_eq!(steps(whole, 24, 24), [(24, 1, 1)]);
        let transpose = StridedCopy::new(0, 0).step(3, 1, 4).step(4, 3, 1).step(5, 12, 12);
        assert_eq!(steps(transpose, 60, 60), [(5, 12, 12), (4, 3, 1), (3, 1, 4)]);
        let reverse = StridedCopy::new(0, 11).step(3, 4, -4).step(4, 1, -1);
        assert_eq!(steps(reverse, 12, 12), [(12, 1, -1)]);
        assert_eq!(steps(StridedCopy::new(2, 3), 3, 4), []);
    }

    #[test]
    fn a_box_that_does_not_fit_is_refused() {
        assert!(StridedCopy::new(0, 0).step(5, 1, 1).checked_steps(4, 5).is_err());
        assert!(StridedCopy::new(0, 0).step(5, 1, 1).checked_steps(5, 4).is_err());
        assert!(StridedCopy::new(0, 2).step(4, 1, -1).checked_steps(4, 4).is_err());
        assert!(StridedCopy::new(0, 0).step(2, 1, 0).step(2, 1, 1).checked_steps(9, 9).is_err());
        assert!(StridedCopy::new(0, 0).step(2, 0, 1).checked_steps(9, 9).is_err());
        assert!(StridedCopy::new(4, 0).checked_steps(4, 4).is_err());
        assert!(StridedCopy::new(0, 0).step(usize::MAX, usize::MAX, isize::MAX).checked_steps(9, 9).is_err());
    }

    #[test]
    fn nothing_and_other_dtypes_are_not_copied() {
        let (floats, ints) = (Tensor::vector(&[1f32; 4]).unwrap(), Tensor::vector(&[1i32; 4]).unwrap());
        assert_eq!(StridedCopy::nothing().checked(&floats, &ints).unwrap(), None);
        let copy = StridedCopy::new(0, 0).step(4, 1, 1);
        assert!(copy.checked(&floats, &ints).is_err());
        assert_eq!(copy.checked(&floats, &floats).unwrap().unwrap().len(), 1);
    }
}

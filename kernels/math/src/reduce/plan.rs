//! What a reduction does to memory: which runs of dimensions it keeps, which it folds, and where each lies.

use kernlink::Result;
use kernlink::shape::Shape;
use kernlink_geometry::reduce::folded;
use smallvec::SmallVec;

/// A loop over offsets: dimensions from the outermost to the innermost, each with its size and stride.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Loops(SmallVec<[(usize, usize); 4]>);

impl Loops {
    /// How many offsets there are.
    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|&(size, _)| size).product()
    }

    /// The offsets in order, from number `first` on, without end.
    #[inline(never)]
    pub(super) fn offsets(&self, first: usize) -> Offsets<'_> {
        let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.0.len());
        let (mut rest, mut offset) = (first, 0);
        for (index, &(size, stride)) in index.iter_mut().zip(&self.0).rev() {
            *index = rest % size;
            rest /= size;
            offset += *index * stride;
        }
        Offsets { loops: &self.0, index, offset }
    }
}

/// See [`Loops::offsets`].
pub(super) struct Offsets<'a> {
    loops: &'a [(usize, usize)],
    index: SmallVec<[usize; 4]>,
    offset: usize,
}

impl Offsets<'_> {
    /// The next offset; after the last comes the first again.
    pub(super) fn step(&mut self) -> usize {
        let offset = self.offset;
        for (index, &(size, stride)) in self.index.iter_mut().zip(self.loops).rev() {
            *index += 1;
            self.offset += stride;
            if *index < size {
                break;
            }
            self.offset -= *index * stride;
            *index = 0;
        }
        offset
    }
}

/// How to reduce a tensor of one shape along some axes.
///
/// Dimensions of size 1 are left out and neighbours of one kind are merged, so that kept and folded runs alternate.
/// The output is in the order of `kept`, then of the inner run if that is kept.
#[derive(Debug)]
pub(super) struct Plan {
    /// The output's shape.
    pub(super) output: Shape,
    /// The kept runs but the inner one.
    pub(super) kept: Loops,
    /// The folded runs but the inner one.
    pub(super) folded: Loops,
    /// The size of the innermost run, whose elements are neighbours in memory.
    pub(super) inner: usize,
    /// Whether the innermost run is folded.
    pub(super) inner_folded: bool,
    /// How many elements of the input make one of the output.
    pub(super) count: usize,
}

impl Plan {
    /// # Errors
    /// INVALID_ARGUMENT if an axis is out of range or named twice.
    pub(super) fn new(shape: &Shape, axes: &[i64], keep_dims: bool) -> Result<Plan> {
        let (fold, output) = folded(shape, axes, keep_dims)?;
        let (mut count, mut stride) = (1usize, 1usize);
        let mut runs: SmallVec<[(usize, usize, bool); 8]> = SmallVec::new();
        for (&size, _) in shape.iter().zip(&fold).filter(|(_, fold)| **fold) {
            count = count.saturating_mul(size);
        }
        for (&size, &fold) in shape.iter().zip(&fold).rev() {
            if size == 1 {
                continue;
            }
            match runs.last_mut() {
                Some((total, _, kind)) if *kind == fold => *total = total.saturating_mul(size),
                _ => runs.push((size, stride, fold)),
            }
            stride = stride.saturating_mul(size);
        }
        let (inner, _, inner_folded) = runs.first().copied().unwrap_or((1, 1, false));
        let loops = |kind: bool| {
            let outer = runs.iter().skip(1).rev().filter(|run| run.2 == kind);
            Loops(outer.map(|&(size, stride, _)| (size, stride)).collect())
        };
        Ok(Plan { output, kept: loops(false), folded: loops(true), inner, inner_folded, count })
    }

    /// Whether the output has the input's elements, in the same order.
    pub(super) fn is_copy(&self) -> bool {
        !self.inner_folded && self.folded.0.is_empty()
    }

    /// Takes the innermost folded run out of `folded`. If the inner run is kept it lies right above that, so that the
    /// two together are neighbours in memory.
    pub(super) fn take_adjacent(&mut self) -> usize {
        self.folded.0.pop().map_or(1, |(size, _)| size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(dims: &[usize], axes: &[i64], keep_dims: bool) -> Plan {
        Plan::new(&Shape::from(dims), axes, keep_dims).unwrap()
    }

    #[test]
    fn runs_alternate() {
        let plan = plan(&[2, 3, 1, 4, 5, 6], &[0, 1, -1], false);
        assert_eq!(plan.output, Shape::from([1, 4, 5]));
        assert_eq!((plan.inner, plan.inner_folded, plan.count), (6, true, 36));
        assert_eq!(plan.kept, Loops(SmallVec::from_slice(&[(20, 6)])));
        assert_eq!(plan.folded, Loops(SmallVec::from_slice(&[(6, 120)])));
    }

    #[test]
    fn size_one_and_no_axes_are_copies() {
        assert!(plan(&[3, 1, 2], &[1], true).is_copy());
        assert_eq!(plan(&[3, 1, 2], &[1], true).output, Shape::from([3, 1, 2]));
        assert!(plan(&[3, 2], &[], false).is_copy());
        assert!(plan(&[], &[], false).is_copy());
        assert!(!plan(&[3, 2], &[0], false).is_copy());
    }

    #[test]
    fn offsets_start_anywhere() {
        let loops = Loops(SmallVec::from_slice(&[(2, 100), (3, 10)]));
        let mut offsets = loops.offsets(2);
        assert_eq!([20, 100, 110, 120, 0], std::array::from_fn(|_| offsets.step()));
        assert_eq!(Loops::default().offsets(0).step(), 0);
        assert_eq!(Loops::default().count(), 1);
    }
}

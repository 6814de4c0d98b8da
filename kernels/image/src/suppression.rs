//! Non-maximum suppression of the boxes of one class: NonMaxSuppression and its versions.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use kernlink::dtype::{Pod, RealNumber, f16};
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_geometry::integers::ensure_scalar;
use kernlink_macros::register_kernel;
use kernlink_ops::{
    NonMaxSuppression, NonMaxSuppressionV2, NonMaxSuppressionV3, NonMaxSuppressionV4, NonMaxSuppressionV5,
    NonMaxSuppressionWithOverlaps,
};

use super::overlap::{Box, Chosen, boxes_of};

/// A dtype of scores.
pub(crate) trait Score: RealNumber + Into<f32> {
    /// The nearest to a float.
    fn from_float(value: f32) -> Self;
    /// The greatest float of which the nearest number of the dtype is not above `self`, which is from 0 to 1: what is above the
    /// one is above the other.
    fn greatest_float(self) -> f32;
}

impl Score for f32 {
    fn from_float(value: f32) -> f32 {
        value
    }
    fn greatest_float(self) -> f32 {
        self
    }
}

impl Score for f16 {
    fn from_float(value: f32) -> f16 {
        f16::from_f32(value)
    }
    fn greatest_float(self) -> f32 {
        // Halfway to the next, which may be rounded to either.
        let next = f16::from_bits((self.to_bits() & 0x7fff) + 1);
        let middle = (f32::from(self) + f32::from(next)) / 2.0;
        if f16::from_f32(middle) > self { middle.next_down() } else { middle }
    }
}

/// What says which boxes are chosen.
struct Limits<T> {
    /// The greatest number of boxes.
    size: usize,
    overlap: T,
    score: T,
    sigma: T,
}

/// Those that are chosen, with their scores.
#[derive(Default)]
struct Selection<T> {
    indices: Vec<i32>,
    scores: Vec<T>,
}

impl<T: Pod> Selection<T> {
    fn push(&mut self, candidate: &Candidate<T>) -> Result<()> {
        scratch::push(&mut self.indices, candidate.index as i32)?;
        scratch::push(&mut self.scores, candidate.score)
    }
}

/// A box that may be chosen.
#[derive(Clone, Copy)]
struct Candidate<T> {
    score: T,
    index: u32,
    /// How many of those that are chosen it was compared with.
    compared: u32,
}

/// The greatest is the one with the greatest score, and of several the first.
impl<T: RealNumber> Ord for Candidate<T> {
    fn cmp(&self, other: &Candidate<T>) -> Ordering {
        let by_score = self.score.partial_cmp(&other.score).unwrap_or(Ordering::Equal);
        by_score.then(other.index.cmp(&self.index))
    }
}

impl<T: RealNumber> PartialOrd for Candidate<T> {
    fn partial_cmp(&self, other: &Candidate<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: RealNumber> PartialEq for Candidate<T> {
    fn eq(&self, other: &Candidate<T>) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T: RealNumber> Eq for Candidate<T> {}

/// Those with scores above a limit.
fn candidates<T: RealNumber>(scores: &[T], limit: T) -> Result<BinaryHeap<Candidate<T>>> {
    let all = scores.iter().zip(0..).map(|(&score, index)| Candidate { score, index, compared: 0 });
    // Made from a vector at once, a heap takes time in proportion to its length.
    Ok(scratch::collected(all.filter(|candidate| candidate.score > limit))?.into())
}

/// The boxes that are chosen where overlaps are `similarity` and reduce scores, or make them 0.
fn select_by<T: Score>(
    scores: &[T],
    limits: &Limits<T>,
    similarity: impl Fn(usize, usize) -> f32,
) -> Result<Selection<T>> {
    let mut candidates = candidates(scores, limits.score)?;
    let mut selection = Selection { indices: Vec::new(), scores: Vec::new() };
    let is_soft = limits.sigma > T::ZERO;
    let scale = if is_soft { T::from_float(-0.5 / limits.sigma.into()) } else { T::ZERO };
    let weight = |similarity: T| {
        let power = scale.wrapping_mul(similarity).wrapping_mul(similarity);
        let is_kept = is_soft || similarity <= limits.overlap;
        if is_kept { T::from_float(power.into().exp()) } else { T::ZERO }
    };
    while selection.indices.len() < limits.size
        && let Some(mut candidate) = candidates.pop()
    {
        let original = candidate.score;
        let mut is_suppressed = false;
        // Boxes that overlap are likely to have similar scores: the last ones first.
        for &other in selection.indices[candidate.compared as usize..].iter().rev() {
            let overlap = T::from_float(similarity(candidate.index as usize, other as usize));
            candidate.score = candidate.score.wrapping_mul(weight(overlap));
            is_suppressed = !is_soft && overlap > limits.overlap;
            if is_suppressed || candidate.score <= limits.score {
                break;
            }
        }
        candidate.compared = selection.indices.len() as u32;
        if is_suppressed {
            continue;
        }
        if candidate.score == original {
            selection.push(&candidate)?;
        } else if candidate.score > limits.score {
            // There is room: it was just taken out.
            candidates.push(candidate);
        }
    }
    Ok(selection)
}

/// The boxes that are chosen where those that overlap too much are left out, and no overlap is NaN.
fn select_hard<T: Score>(scores: &[T], limits: &Limits<T>, boxes: &[Box]) -> Result<Selection<T>> {
    let mut candidates = candidates(scores, limits.score)?;
    let mut selection = Selection { indices: Vec::new(), scores: Vec::new() };
    let (mut chosen, limit) = (Chosen::default(), limits.overlap.greatest_float());
    while selection.indices.len() < limits.size
        && let Some(candidate) = candidates.pop()
    {
        let next = &boxes[candidate.index as usize];
        if !chosen.overlap(next, limit) {
            selection.push(&candidate)?;
            chosen.push(next)?;
        }
    }
    Ok(selection)
}

/// Which boxes are chosen.
fn select<T: Score>(boxes: &[T], scores: &[T], limits: &Limits<T>) -> Result<Selection<T>> {
    let boxes = boxes_of(boxes)?;
    // The overlap of boxes without infinite areas is no NaN; one that is NaN makes a score 0 or NaN.
    if limits.sigma > T::ZERO || !boxes.iter().all(Box::is_finite) {
        return select_by(scores, limits, |a, b| boxes[a].overlap(&boxes[b]));
    }
    select_hard(scores, limits, &boxes)
}

/// Input 2, the greatest number of boxes; checked last by TensorFlow, and so not here.
fn size(ctx: &RawContext<'_>) -> Result<i32> {
    ensure_scalar(ctx.input_at(2)?, "max_output_size")?;
    ctx.input_at(2)?.to_scalar::<i32>()
}

/// A scalar `half` or `float`, in another dtype.
fn threshold<T: Score>(ctx: &RawContext<'_>, index: usize, name: &str) -> Result<T> {
    let tensor = ctx.input_at(index)?;
    ensure_scalar(tensor, name)?;
    match tensor.as_slice::<f16>() {
        Ok(halves) => Ok(T::from_float(halves[0].into())),
        Err(_) => tensor.to_scalar::<f32>().map(T::from_float),
    }
}

#[track_caller]
fn ensure_is_part<T: Score>(threshold: T) -> Result<T> {
    let value: f32 = threshold.into();
    ensure!((0.0..=1.0).contains(&value), InvalidArgument, "iou_threshold must be in [0, 1], not {value}");
    Ok(threshold)
}

/// The scores, input 1, of as many boxes.
fn scores<'c, T: Pod>(ctx: &'c RawContext<'_>, count: usize) -> Result<&'c [T]> {
    let scores = ctx.input_at(1)?;
    ensure!(scores.rank() == 1, InvalidArgument, "scores must be 1-D, not of shape {}", scores.shape());
    ensure!(
        scores.num_elements() == count,
        InvalidArgument,
        "scores has incompatible shape: there are {} scores for {count} boxes",
        scores.num_elements()
    );
    scores.as_slice()
}

/// The boxes, input 0.
fn boxes<'c, T: Pod>(ctx: &'c RawContext<'_>) -> Result<(&'c [T], usize)> {
    let boxes = ctx.input_at(0)?;
    ensure!(boxes.rank() == 2, InvalidArgument, "boxes must be 2-D, not of shape {}", boxes.shape());
    ensure!(boxes.shape()[1] == 4, InvalidArgument, "boxes must have 4 columns, not {}", boxes.shape()[1]);
    Ok((boxes.as_slice()?, boxes.shape()[0]))
}

fn ensure_size(size: i32) -> Result<usize> {
    ensure!(size >= 0, InvalidArgument, "output size must be non-negative, not {size}");
    Ok(size as usize)
}

/// What the inputs of a version say, with the score above which boxes are looked at.
fn selected<T: Score>(ctx: &RawContext<'_>, overlap: T, score: T, sigma: T, size: i32) -> Result<Selection<T>> {
    let (boxes, count) = boxes::<T>(ctx)?;
    let scores = scores::<T>(ctx, count)?;
    select(boxes, scores, &Limits { size: ensure_size(size)?, overlap, score, sigma })
}

/// A vector of what is chosen, filled up with zeros to `padded` elements, which are not touched: they may be many.
fn vector<T: Pod>(chosen: &[T], padded: Option<usize>) -> Result<Tensor> {
    let mut vector = Tensor::zeros(T::DTYPE, [padded.unwrap_or(chosen.len())])?;
    vector.as_mut_slice::<T>()?[..chosen.len()].copy_from_slice(chosen);
    Ok(vector)
}

#[register_kernel(device = Cpu)]
fn non_max_suppression(attrs: &Attrs<NonMaxSuppression>, ctx: &mut KernelContext<'_, NonMaxSuppression>) -> Result<()> {
    let size = size(ctx)?;
    let overlap = ensure_is_part(attrs.iou_threshold)?;
    let selection = selected(ctx, overlap, f32::MIN, 0.0, size)?;
    ctx.set_output_at(0, vector(&selection.indices, None)?)
}

#[register_kernel(device = Cpu, T = [f16, f32])]
fn non_max_suppression_v2<T: Score>(ctx: &mut KernelContext<'_, NonMaxSuppressionV2>) -> Result<()> {
    let size = size(ctx)?;
    let overlap = ensure_is_part(threshold::<T>(ctx, 3, "iou_threshold")?)?;
    let selection = selected(ctx, overlap, T::MIN, T::ZERO, size)?;
    ctx.set_output_at(0, vector(&selection.indices, None)?)
}

#[register_kernel(device = Cpu, T = [f16, f32])]
fn non_max_suppression_v3<T: Score>(ctx: &mut KernelContext<'_, NonMaxSuppressionV3>) -> Result<()> {
    let size = size(ctx)?;
    let overlap = ensure_is_part(threshold::<T>(ctx, 3, "iou_threshold")?)?;
    let score = threshold::<T>(ctx, 4, "score_threshold")?;
    let selection = selected(ctx, overlap, score, T::ZERO, size)?;
    ctx.set_output_at(0, vector(&selection.indices, None)?)
}

#[register_kernel(device = Cpu, T = [f16, f32])]
fn non_max_suppression_v4<T: Score>(
    attrs: &Attrs<NonMaxSuppressionV4>,
    ctx: &mut KernelContext<'_, NonMaxSuppressionV4>,
) -> Result<()> {
    let size = size(ctx)?;
    let overlap = ensure_is_part(threshold::<T>(ctx, 3, "iou_threshold")?)?;
    let score = threshold::<T>(ctx, 4, "score_threshold")?;
    let selection = selected(ctx, overlap, score, T::ZERO, size)?;
    let valid = selection.indices.len() as i32;
    let padded = attrs.pad_to_max_output_size.then_some(size as usize);
    ctx.set_output_at(0, vector(&selection.indices, padded)?)?;
    ctx.set_output_at(1, Tensor::scalar(valid))
}

#[register_kernel(device = Cpu, T = [f16, f32])]
fn non_max_suppression_v5<T: Score>(
    attrs: &Attrs<NonMaxSuppressionV5>,
    ctx: &mut KernelContext<'_, NonMaxSuppressionV5>,
) -> Result<()> {
    let size = size(ctx)?;
    let overlap = ensure_is_part(threshold::<T>(ctx, 3, "iou_threshold")?)?;
    let score = threshold::<T>(ctx, 4, "score_threshold")?;
    let sigma = threshold::<T>(ctx, 5, "soft_nms_sigma")?;
    ensure!(sigma >= T::ZERO, InvalidArgument, "soft_nms_sigma must be >= 0, not {}", sigma.into());
    let Selection { indices, scores } = selected(ctx, overlap, score, sigma, size)?;
    let padded = attrs.pad_to_max_output_size.then_some(size as usize);
    ctx.set_output_at(0, vector(&indices, padded)?)?;
    ctx.set_output_at(1, vector(&scores, padded)?)?;
    ctx.set_output_at(2, Tensor::scalar(indices.len() as i32))
}

#[register_kernel(device = Cpu)]
fn non_max_suppression_with_overlaps(ctx: &mut KernelContext<'_, NonMaxSuppressionWithOverlaps>) -> Result<()> {
    let size = size(ctx)?;
    let overlap = threshold::<f32>(ctx, 3, "overlap_threshold")?;
    let score = threshold::<f32>(ctx, 4, "score_threshold")?;
    let overlaps = ctx.input_at(0)?;
    ensure!(overlaps.rank() == 2, InvalidArgument, "overlaps must be 2-D, not of shape {}", overlaps.shape());
    let count = overlaps.shape()[0];
    ensure!(
        overlaps.shape()[1] == count,
        InvalidArgument,
        "overlaps must be square, not of shape {}",
        overlaps.shape()
    );
    let scores = scores::<f32>(ctx, count)?;
    let limits = Limits { size: ensure_size(size)?, overlap, score, sigma: 0.0 };
    let overlaps = overlaps.as_slice::<f32>()?;
    let selection = select_by(scores, &limits, |a, b| overlaps[a * count + b])?;
    ctx.set_output_at(0, vector(&selection.indices, None)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_chosen_is_filled_up() {
        assert_eq!(vector(&[3, 1], Some(4)).unwrap().as_slice::<i32>().unwrap(), [3, 1, 0, 0]);
        assert_eq!(vector(&[2.5f32], None).unwrap().as_slice::<f32>().unwrap(), [2.5]);
    }

    #[test]
    fn a_bound_of_floats_is_that_of_halves() {
        for bits in (0..=0x3c00).step_by(7) {
            let half = f16::from_bits(bits);
            let bound = half.greatest_float();
            assert!(f16::from_f32(bound) <= half, "{half}");
            assert!(f16::from_f32(bound.next_up()) > half, "{half}");
        }
    }
}

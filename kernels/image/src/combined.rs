//! CombinedNonMaxSuppression: the best boxes of all classes.

use kernlink::dtype::DataType;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, ensure};
use kernlink_geometry::integers::{checked_shape, ensure_scalar};
use kernlink_macros::register_kernel;
use kernlink_ops::CombinedNonMaxSuppression;

use super::overlap::{Box, Chosen};
use super::ties;

/// A box with the score that one class has for it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Detection {
    score: f32,
    /// Its index among the boxes; none of a place that is free.
    index: i32,
}

const FREE: Detection = Detection { score: f32::NEG_INFINITY, index: -1 };

/// The inputs, which fit together.
struct Boxes<'a> {
    batch: usize,
    count: usize,
    /// How many boxes there are for each index: 1, or as many as classes.
    kinds: usize,
    classes: usize,
    corners: &'a [[f32; 4]],
    scores: &'a [f32],
    overlap: f32,
    score: f32,
}

impl<'a> Boxes<'a> {
    fn corners(&self, image: usize, index: usize, class: usize) -> [f32; 4] {
        let kind = if self.kinds > 1 { class } else { 0 };
        self.corners[(image * self.count + index) * self.kinds + kind]
    }

    /// The boxes of a class that are kept, by falling scores, in as many places of `kept` as are needed.
    fn suppress(
        &self,
        image: usize,
        class: usize,
        heap: &mut Vec<Detection>,
        chosen: &mut Chosen,
        kept: &mut [Detection],
    ) -> Result<()> {
        let less = |a: Detection, b: Detection| a.score < b.score;
        heap.clear();
        chosen.clear();
        let scores = &self.scores[image * self.count * self.classes..][..self.count * self.classes];
        for (&score, index) in scores[class..].iter().step_by(self.classes).zip(0..) {
            if score > self.score {
                scratch::push(heap, Detection { score, index })?;
                ties::push(heap, less);
            }
        }
        let mut places = kept.iter_mut().peekable();
        while places.peek().is_some() {
            ties::pop(heap, less);
            let Some(candidate) = heap.pop() else { break };
            let next = Box::new(self.corners(image, candidate.index as usize, class));
            if !chosen.overlap(&next, self.overlap) {
                chosen.push(&next)?;
                if let Some(place) = places.next() {
                    *place = candidate;
                }
            }
        }
        Ok(())
    }
}

/// A scalar `float`.
fn scalar(ctx: &KernelContext<'_, CombinedNonMaxSuppression>, index: usize, name: &str) -> Result<f32> {
    ensure_scalar(ctx.input_at(index)?, name)?;
    ctx.input_at(index)?.to_scalar()
}

/// A scalar `int32` above 0.
fn size(ctx: &KernelContext<'_, CombinedNonMaxSuppression>, index: usize, name: &str) -> Result<usize> {
    ensure_scalar(ctx.input_at(index)?, name)?;
    let size = ctx.input_at(index)?.to_scalar::<i32>()?;
    ensure!(size > 0, InvalidArgument, "{name} must be positive, not {size}");
    Ok(size as usize)
}

/// The first two inputs and the thresholds, checked, with the greatest numbers of boxes of a class and of an image.
fn inputs<'a>(ctx: &'a KernelContext<'_, CombinedNonMaxSuppression>) -> Result<(Boxes<'a>, usize, usize)> {
    let (boxes, scores) = (ctx.input_at(0)?, ctx.input_at(1)?);
    let (from, to) = (boxes.shape(), scores.shape());
    ensure!(from.rank() == 4, InvalidArgument, "boxes must be 4-D [batch, num_boxes, q, 4], got shape {from}");
    ensure!(to.rank() == 3, InvalidArgument, "scores must be 3-D [batch, num_boxes, num_classes], got shape {to}");
    let (kinds, classes) = (from[2], to[2]);
    ensure!(
        kinds == 1 || kinds == classes,
        InvalidArgument,
        "third dimension of boxes must be either 1 or num classes, {classes}, not {kinds}"
    );
    ensure!(from[3] == 4, InvalidArgument, "boxes must have 4 columns, not {}", from[3]);
    ensure!(to[1] == from[1], InvalidArgument, "scores has incompatible shape: {to} for boxes {from}");
    ensure!(to[0] == from[0], InvalidArgument, "boxes and scores must have same batch size: {from} and {to}");
    let (per_class, total) = (size(ctx, 2, "max_size_per_class")?, size(ctx, 3, "max_total_size")?);
    let overlap = scalar(ctx, 4, "iou_threshold")?;
    let score = scalar(ctx, 5, "score_threshold")?;
    ensure!((0.0..=1.0).contains(&overlap), InvalidArgument, "iou_threshold must be in [0, 1], not {overlap}");
    let corners = boxes.as_slice::<f32>()?.as_chunks().0;
    let scores = scores.as_slice()?;
    Ok((Boxes { batch: from[0], count: from[1], kinds, classes, corners, scores, overlap, score }, per_class, total))
}

/// The best of what is kept of all classes, sorted by falling scores, each with the index of its place.
fn best(kept: &[Detection], sorted: &mut Vec<(f32, u32)>) -> Result<usize> {
    sorted.clear();
    for (detection, place) in kept.iter().zip(0..) {
        if detection.index >= 0 {
            scratch::push(sorted, (detection.score, place))?;
        }
    }
    let valid = sorted.len();
    sorted.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    if sorted.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        // The free places take part in what becomes of equal scores.
        sorted.clear();
        for (detection, place) in kept.iter().zip(0..) {
            scratch::push(sorted, (detection.score, place))?;
        }
        ties::sort(sorted, |a, b| b.0 < a.0);
    }
    Ok(valid)
}

#[register_kernel(device = Cpu)]
fn combined_non_max_suppression(
    attrs: &Attrs<CombinedNonMaxSuppression>,
    ctx: &mut KernelContext<'_, CombinedNonMaxSuppression>,
) -> Result<()> {
    let (pads_per_class, clips) = (attrs.pad_per_class, attrs.clip_boxes);
    let (boxes, per_class, total) = inputs(ctx)?;
    let Boxes { batch, classes, count, .. } = boxes;
    let (places, all) = (per_class.min(count), per_class.saturating_mul(classes));
    ensure!(
        places.saturating_mul(classes) <= i32::MAX as usize,
        InvalidArgument,
        "size_per_class * num_classes causes overflow: {places} * {classes}"
    );
    let size = if pads_per_class { total.min(all) } else { total };
    let shape = |dims: &[usize]| checked_shape(dims.iter().map(|&dim| Some(dim)));
    let mut kept = scratch::filled(FREE, batch.saturating_mul(places * classes))?;
    if places > 0 {
        // A heap of all boxes, and comparisons with those that are kept.
        let cost = count.saturating_mul(16).div_ceil(places);
        ctx.try_parallel_chunks(&mut kept, places, cost, |first, piece| {
            let (mut heap, mut chosen) = (Vec::new(), Chosen::default());
            for (list, kept) in (first / places..).zip(piece.chunks_exact_mut(places)) {
                boxes.suppress(list / classes, list % classes, &mut heap, &mut chosen, kept)?;
            }
            Ok(())
        })?;
    }

    let mut detected = Tensor::zeros(DataType::Float, shape(&[batch, size, 4])?)?;
    let mut scores = Tensor::zeros(DataType::Float, shape(&[batch, size])?)?;
    let mut found = Tensor::zeros(DataType::Float, shape(&[batch, size])?)?;
    let mut valid = Tensor::zeros(DataType::Int32, Shape::from([batch]))?;
    let corners = detected.as_mut_slice::<f32>()?.as_chunks_mut::<4>().0;
    let mut sorted = Vec::new();
    for image in 0..batch {
        let kept = &kept[image * places * classes..][..places * classes];
        let best_count = best(kept, &mut sorted)?.min(size);
        valid.as_mut_slice::<i32>()?[image] = best_count as i32;
        let lines = image * size..image * size + best_count;
        let (scores, found) = (scores.as_mut_slice::<f32>()?, found.as_mut_slice::<f32>()?);
        for (line, &(score, place)) in lines.zip(&sorted) {
            let class = place as usize / places;
            let corner = boxes.corners(image, kept[place as usize].index as usize, class);
            corners[line] = if clips { corner.map(clipped) } else { corner };
            scores[line] = score;
            found[line] = class as f32;
        }
    }
    ctx.set_output_at(0, detected)?;
    ctx.set_output_at(1, scores)?;
    ctx.set_output_at(2, found)?;
    ctx.set_output_at(3, valid)
}

/// From 0 to 1; NaN is left.
fn clipped(coordinate: f32) -> f32 {
    // As TensorFlow has it: `max(min(x, 1), 0)`, where the first stays if it is NaN.
    let below = if 1.0 < coordinate { 1.0 } else { coordinate };
    if below < 0.0 { 0.0 } else { below }
}

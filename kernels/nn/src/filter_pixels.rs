//! The gradient of the filter of a convolution of `f32`, channels last, where no patches are gathered.
//!
//! It is a sum over the output's pixels, for each tap of the filter by itself: what the tap saw of each pixel, times what flows
//! back to it. A block of pixels stays in the first cache while all taps pass. The taps of a row of the filter are as one where
//! what they see are neighbours in memory: with few channels a tap alone would have too few accumulators.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use kernlink::dtype::DataType;
use kernlink::kernel::RawContext;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Code, Result};
use kernlink_kernels_common::outer::{Operand, Run, sum_outer};
use kernlink_kernels_common::tile::COLUMNS;
use kernlink_kernels_common::turn::transpose;

use super::filter_gradient::{add_parts, share_of};
use super::padding::pad_columns;
use super::space::Geometry;

/// Multiply-adds a thread does in a nanosecond, or so.
const PER_NANOSECOND: usize = 24;
/// Inputs of fewer channels are padded, so that the taps of a row are as one.
const LEAST_DEPTH: usize = 8;
/// Fewer pixels are not worth a part of their own, which costs as much as its gradient.
const PART_PIXELS: usize = if cfg!(test) { 64 } else { 1024 };
/// The most parts, and the most elements of all of them.
const MOST_PARTS: usize = 16;
const PARTS_ELEMENTS: usize = 1 << 23;
/// The most pixels of a part, whose blocks are added one after the other, unless the parts were too large: more would cost
/// precision.
const LONGEST_PART: usize = 1 << 16;
/// Elements of the gradient that stay in the second cache while all blocks of a part are added.
const NEAR_ELEMENTS: usize = if cfg!(test) { 1 << 10 } else { 1 << 17 };
/// Elements of the larger operand from the first pixel of a block to the last: the first cache keeps few lines that are as many
/// bytes apart as it is large.
const BLOCK_ELEMENTS: usize = 8 * 1024;
/// Pixels so many elements apart are copied to where they are [`GAP`] further apart: hardly one would stay in the first cache.
const SAME_SETS: usize = if cfg!(test) { 10 } else { 256 };
/// Elements of a line of the cache.
const GAP: usize = 16;
/// Products of an element that take longer by far than to copy it.
const LEAST_USES: usize = if cfg!(test) { 1 } else { 512 };
/// Pixels of a block of which both operands are copied, or need not be.
const SPREAD_PIXELS: usize = 64;
/// The fewest and the most pixels of a block.
const BLOCK_PIXELS: [usize; 2] = if cfg!(test) { [16, 64] } else { [16, 512] };

/// Writes the gradient of a filter of a convolution without groups. Nothing is empty.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(super) fn by_pixels(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    (input, gradient): (&[f32], &[f32]),
    output: &mut [f32],
) -> Result<()> {
    let padded;
    let (mut geometry, mut input) = (*geometry, input);
    if geometry.in_depth < LEAST_DEPTH
        && let Some(copy) = pad_columns(ctx, &mut geometry, input)?
    {
        padded = copy;
        input = padded.as_slice::<f32>()?;
    }
    let (pixels, patch, depth) = (geometry.pixels(), geometry.patch(), geometry.out_depth);
    // Parts follow from the geometry, and blocks from it and from what was copied, so that the result does not depend on the number
    // of threads. What is added to an element, and when, is the same in chunks of all sizes.
    let parts = MOST_PARTS.min(pixels / PART_PIXELS).max(pixels / LONGEST_PART);
    let parts = parts.min(PARTS_ELEMENTS / output.len()).max(1);
    let mut taps = Taps::new(&geometry);
    let spread_input = spread(ctx, input, geometry.taps() * depth, &mut taps.steps[0])?;
    let spread_gradient = spread(ctx, gradient, patch, &mut taps.steps[1])?;
    if spread_input.is_some() {
        taps.together = 1;
    }
    let input = spread_input.as_ref().map_or(Ok(input), Tensor::as_slice::<f32>)?;
    let gradient = spread_gradient.as_ref().map_or(Ok(gradient), Tensor::as_slice::<f32>)?;
    let work = pixels.saturating_mul(patch).saturating_mul(depth) / PER_NANOSECOND;
    let wanted = if work < 40_000 { 1 } else { 4 * ctx.threads() };
    let near = output.len().div_ceil(NEAR_ELEMENTS);
    let chunks = wanted.div_ceil(parts).max(near).clamp(1, taps.pieces());
    let rows_of = |chunk: usize| {
        let pieces = share_of(0..taps.pieces(), chunk, chunks);
        taps.first_row(pieces.start)..taps.first_row(pieces.end)
    };
    let mut scratch = None;
    let mut sums = match parts {
        1 => &mut output[..],
        _ => scratch.insert(Tensor::alloc(DataType::Float, [parts, patch, depth])?).as_mut_slice::<f32>()?,
    };
    let mut targets = scratch::room(parts * chunks)?;
    for chunk in (0..parts).flat_map(|_| 0..chunks) {
        let (target, others) = sums.split_at_mut(rows_of(chunk).len() * depth);
        targets.push(Mutex::new(target));
        sums = others;
    }
    ctx.try_parallel_for(parts * chunks, work / (parts * chunks), |range| {
        let mut room = Room::default();
        for index in range {
            let (pixels, rows) = (share_of(0..pixels, index / chunks, parts), rows_of(index % chunks));
            let mut target = targets[index].lock().unwrap_or_else(PoisonError::into_inner);
            taps.write((input, gradient), pixels, rows, &mut target, &mut room)?;
        }
        Ok(())
    })?;
    drop(targets);
    if let Some(scratch) = scratch {
        add_parts(ctx, scratch.as_slice::<f32>()?, output);
    }
    Ok(())
}

/// A copy of pixels of so many elements, which are multiplied so many times each, in which they are further apart; if that is
/// worthwhile and there is memory for it: all can be done without.
fn spread(ctx: &RawContext<'_>, elements: &[f32], uses: usize, step: &mut usize) -> Result<Option<Tensor>> {
    let depth = *step;
    if !depth.is_multiple_of(SAME_SETS) || uses < LEAST_USES {
        return Ok(None);
    }
    let mut copy = match Tensor::alloc(DataType::Float, [elements.len() / depth, depth + GAP]) {
        Err(error) if error.code() == Code::ResourceExhausted => return Ok(None),
        copy => copy?,
    };
    *step = depth + GAP;
    ctx.parallel_chunks(copy.as_mut_slice::<f32>()?, depth + GAP, depth / 4, |first, piece| {
        let pixels = elements[first / (depth + GAP) * depth..].chunks_exact(depth);
        for (target, pixel) in piece.chunks_exact_mut(depth + GAP).zip(pixels) {
            let (target, gap) = target.split_at_mut(depth);
            target.copy_from_slice(pixel);
            gap.fill(0.0);
        }
    });
    Ok(Some(copy))
}

/// Memory that pieces of work use one after the other.
#[derive(Default)]
struct Room {
    runs: Vec<Run>,
    turned: Vec<f32>,
}

/// The taps of a filter, each by itself or all of a row as one.
struct Taps<'a> {
    geometry: &'a Geometry,
    /// Taps that are as one.
    together: usize,
    /// Elements from pixel to pixel of the input, and of what flows back.
    steps: [usize; 2],
}

impl<'a> Taps<'a> {
    fn new(geometry: &'a Geometry) -> Taps<'a> {
        let together = if geometry.has_whole_rows() { geometry.columns.window } else { 1 };
        Taps { geometry, together, steps: [geometry.in_depth, geometry.out_depth] }
    }

    /// Rows of the gradient of the taps that are as one.
    fn length(&self) -> usize {
        self.together * self.geometry.in_depth
    }

    /// Pieces of the gradient's rows: so many rows at most of taps that are as one.
    fn pieces(&self) -> usize {
        self.geometry.taps() / self.together * self.length().div_ceil(COLUMNS)
    }

    /// The first row of a piece.
    fn first_row(&self, piece: usize) -> usize {
        let (length, each) = (self.length(), self.length().div_ceil(COLUMNS));
        piece / each * length + (piece % each * COLUMNS).min(length)
    }

    /// Whether sums have a row for each channel of the output rather than for each of the input, which may fill panels better.
    fn are_turned(&self) -> bool {
        /// Accumulators that take as much time as fewer: a sum is ready for the next product after four cycles.
        const LEAST: usize = 8;
        let cost = |rows: usize, columns: usize| (rows * columns.div_ceil(COLUMNS)).max(LEAST);
        let (length, depth) = (self.length(), self.geometry.out_depth);
        5 * cost(depth, length) < 4 * cost(length, depth)
    }

    /// Some rows of the gradient: those of each tap, or of the taps that are as one, and which tap it is.
    fn rows_by_tap(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> + use<'a> {
        let (length, together) = (self.length(), self.together);
        (rows.start / length..rows.end.div_ceil(length))
            .map(move |index| (index * together, rows.start.max(index * length)..rows.end.min((index + 1) * length)))
    }

    /// Writes some rows of the gradient, which are elements of a patch, from some pixels.
    fn write(
        &self,
        (input, gradient): (&[f32], &[f32]),
        pixels: Range<usize>,
        rows: Range<usize>,
        target: &mut [f32],
        room: &mut Room,
    ) -> Result<()> {
        let Room { runs, turned } = room;
        let Geometry { out_depth, columns, .. } = *self.geometry;
        let [input_step, gradient_step] = self.steps;
        let flows = Operand { elements: gradient, step: gradient_step, width: out_depth };
        let are_turned = self.are_turned();
        turned.clear();
        scratch::resize(turned, if are_turned { target.len() } else { 0 }, 0.0)?;
        let sums = if are_turned { &mut turned[..] } else { &mut target[..] };
        let place =
            |of_tap: &Range<usize>| (of_tap.start - rows.start) * out_depth..(of_tap.end - rows.start) * out_depth;
        let [least, most] = BLOCK_PIXELS;
        let block = (BLOCK_ELEMENTS / input_step.max(gradient_step)).clamp(least, most);
        let is_spread = self.steps.iter().all(|step| !step.is_multiple_of(SAME_SETS));
        let block = if is_spread { block.max(SPREAD_PIXELS) } else { block };
        let blocks = pixels.len().div_ceil(block);
        for block in 0..blocks {
            let pixels = share_of(pixels.clone(), block, blocks);
            for (tap, of_tap) in self.rows_by_tap(rows.clone()) {
                self.list_runs(tap, of_tap.start % self.length(), pixels.clone(), runs)?;
                if block > 0 && runs.is_empty() {
                    continue;
                }
                let sums = &mut sums[place(&of_tap)];
                let seen = Operand { elements: input, step: columns.stride * input_step, width: of_tap.len() };
                if are_turned {
                    runs.iter_mut().for_each(|Run { left, right, .. }| std::mem::swap(left, right));
                    sum_outer(flows, seen, runs, sums, block > 0);
                } else {
                    sum_outer(seen, flows, runs, sums, block > 0);
                }
            }
        }
        if are_turned {
            for (_, of_tap) in self.rows_by_tap(rows.clone()) {
                let (sums, target) = (&turned[place(&of_tap)], &mut target[place(&of_tap)]);
                transpose((sums, of_tap.len()), (target, out_depth), [out_depth, of_tap.len()]);
            }
        }
        Ok(())
    }

    /// Lists where a tap sees what of the input among some pixels, from one of its elements on.
    fn list_runs(&self, tap: usize, element: usize, pixels: Range<usize>, runs: &mut Vec<Run>) -> Result<()> {
        let Geometry { planes, rows, columns, in_depth, .. } = self.geometry;
        let [input_step, gradient_step] = self.steps;
        let (line_tap, tap) = (tap / columns.window, tap % columns.window);
        let (plane_tap, row_tap) = (line_tap / rows.window, line_tap % rows.window);
        let outputs = columns.outputs(tap);
        runs.clear();
        if outputs.is_empty() {
            return Ok(());
        }
        for line in pixels.start / columns.output..pixels.end.div_ceil(columns.output) {
            let [volume, plane, row] = self.geometry.line(line);
            let Some((plane, row)) = planes.at(plane, plane_tap).zip(rows.at(row, row_tap)) else { continue };
            let before = line * columns.output;
            let first = outputs.start.max(pixels.start.saturating_sub(before));
            let end = outputs.end.min(pixels.end - before);
            let Some(column) = columns.at(first, tap).filter(|_| first < end) else { continue };
            let left = self.geometry.input_at([volume, plane, row, column]) / in_depth * input_step + element;
            let (right, count) = ((before + first) * gradient_step, end - first);
            match runs.last_mut() {
                // Lines that follow each other as pixels do, such as those of one pixel.
                Some(last)
                    if last.left + last.count * columns.stride * input_step == left
                        && last.right + last.count * gradient_step == right =>
                {
                    last.count += count;
                }
                _ => scratch::push(runs, Run { left, right, count })?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::filter_gradient::of_filter;
    use super::super::space::ONE_PLANE;
    use super::*;
    use kernlink::op::{OpDef, Signature};
    use kernlink::threads::ThreadPool;
    use kernlink_ops::shapes::{Axis, Padding};

    #[test]
    fn pixels_agree_with_patches() {
        let signature = Signature::default();
        let [one, three] = [1, 3].map(|threads| ThreadPool::new("test", threads));
        let on = |pool| RawContext::new("conv", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(pool));
        // Small whole numbers, so that every order of addition gives the same sum, and others, whose sums show the order.
        let whole = |count: usize| (0..count).map(|i| (i * 7 % 11) as f64 - 5.0).collect::<Vec<f64>>();
        let fractions = |count: usize| (0..count).map(|i| (i * 7 % 11) as f32 / 3.0 - 1.7).collect::<Vec<f32>>();
        let single = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<f32>>();
        let (mut tried, mut of_volumes, mut turned, mut by_rows) = (0, 0, 0, 0);
        for (batch, [height, width], in_depth, window, out_depth) in [
            (3, [9, 8], 8, 3, 16),
            (3, [9, 8], 5, 3, 20),
            (2, [17, 13], 1, 5, 16),
            (70, [4, 4], 3, 4, 17),
            (1, [1, 1], 9, 1, 32),
            (2, [16, 7], 33, 2, 48),
            (20, [4, 4], 16, 4, 7),
            (9, [5, 1], 24, 2, 80),
            (2, [80, 33], 3, 3, 1),
            // Lines that are longer than a block, and blocks of several lines.
            (1, [2, 700], 9, 3, 16),
            (2, [40, 33], 24, 3, 64),
            // Several blocks of several chunks.
            (1, [5, 12], 40, 3, 100),
            (4, [6, 5], 130, 1, 4),
        ] {
            for (stride, dilation, padding) in [
                (1, 1, Padding::Same),
                (1, 1, Padding::Valid),
                (1, 2, Padding::Same),
                (2, 1, Padding::Explicit((0, 3))),
                (2, 2, Padding::Explicit((3, 1))),
                (4, 6, Padding::Explicit((7, 20))),
                (3, 2, Padding::Explicit((4, 1))),
                (1, 1, Padding::Explicit((6, 3))),
                (1, 20, Padding::Explicit((20, 20))),
            ] {
                let axis = |size| Axis::new(size, window, stride, dilation, padding);
                let (Ok(rows), Ok(columns)) = (axis(height), axis(width)) else { continue };
                let volumes = Axis::new(4, 2, stride, dilation, padding).ok().filter(|planes| planes.output > 0);
                for planes in [Some(ONE_PLANE), volumes].into_iter().flatten() {
                    let geometry =
                        Geometry { batch, planes, rows, columns, in_depth, patch_depth: in_depth, out_depth };
                    let pixels = batch * planes.input * height * width;
                    let (input, gradient) = (whole(pixels * in_depth), whole(geometry.pixels() * out_depth));
                    if gradient.is_empty() {
                        continue;
                    }
                    tried += 1;
                    of_volumes += usize::from(planes != ONE_PLANE);
                    turned += usize::from(Taps::new(&geometry).are_turned());
                    by_rows += usize::from(Taps::new(&geometry).together > 1);
                    let mut got = vec![f32::NAN; geometry.patch() * out_depth];
                    by_pixels(&on(&three), &geometry, (&single(&input), &single(&gradient)), &mut got).unwrap();
                    let mut expected = vec![f64::NAN; got.len()];
                    of_filter(&on(&three), &geometry, &input, &gradient, &mut expected).unwrap();
                    assert_eq!(got, single(&expected), "{geometry:?}");
                    let operands = (&fractions(input.len())[..], &fractions(gradient.len())[..]);
                    let mut found = [(); 2].map(|()| vec![f32::NAN; got.len()]);
                    by_pixels(&on(&one), &geometry, operands, &mut found[0]).unwrap();
                    by_pixels(&on(&three), &geometry, operands, &mut found[1]).unwrap();
                    assert_eq!(found[0], found[1], "on one thread and on three: {geometry:?}");
                }
            }
        }
        assert!(
            tried > 100 && of_volumes > 40 && turned > 5 && by_rows > 10,
            "{tried} {of_volumes} {turned} {by_rows}"
        );
    }
}

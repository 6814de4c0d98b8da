//! The gradient of the filter of a convolution of `f32`, channels last, where nothing is turned or gathered.
//!
//! It is a sum over the output's pixels, for each tap of the filter by itself: what the tap saw of each pixel, times what flows
//! back to it. A block of pixels stays in a near cache while all taps pass. The taps of a row of the filter are as one where what
//! they see are neighbours in memory: with few channels a tap alone would have too few sums under way.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::kernel::RawContext;
use kernlink::tensor::{Tensor, scratch};
use kernlink_kernels_common::outer::{Operand, Run, sum_outer};

use super::filter_gradient::{add_parts, share_of};
use super::padding::pad_columns;
use super::space::Geometry;

/// Multiply-adds a thread does in a nanosecond, or so.
const PER_NANOSECOND: usize = 24;
/// Fewer channels have too few sums under way: those of the input are padded, so that the taps of a row are as one.
const LEAST_DEPTH: usize = 8;
/// Fewer pixels are not worth a part of their own, which costs as much as its gradient.
const PART_PIXELS: usize = if cfg!(test) { 64 } else { 1024 };
/// The most pixels of a part, whose sums are added one after the other: more would cost precision.
const LONGEST_PART: usize = 1 << 16;
/// Elements of all parts.
const PARTS_ELEMENTS: usize = 1 << 23;
/// Pieces of work: parts of the pixels, and chunks of the filter's rows of each.
const PIECES: usize = 16;
/// Rows of a chunk are a multiple of as many.
const CHUNK_ROWS: usize = 16;
/// Elements of the larger operand from the first pixel of a block to the last: lines of the cache that are further apart drive each
/// other from the first cache.
const BLOCK_ELEMENTS: usize = 8 * 1024;
/// The fewest and the most pixels of a block.
const BLOCK_PIXELS: [usize; 2] = [16, 512];

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
    // All sizes follow from the geometry, so that the result does not depend on the number of threads.
    let parts = PIECES.min(pixels / PART_PIXELS).max(pixels / LONGEST_PART);
    let parts = parts.min(PARTS_ELEMENTS / output.len()).max(1);
    let tiles = patch.div_ceil(CHUNK_ROWS);
    let chunks = (PIECES / parts).clamp(1, tiles);
    let rows_of = |chunk: usize| {
        let tiles = share_of(0..tiles, chunk, chunks);
        tiles.start * CHUNK_ROWS..patch.min(tiles.end * CHUNK_ROWS)
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
    let taps = Taps::new(&geometry);
    let work = pixels.saturating_mul(patch).saturating_mul(depth) / PER_NANOSECOND / (parts * chunks);
    ctx.try_parallel_for(parts * chunks, work, |range| {
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

/// Memory that pieces of work use one after the other.
#[derive(Default)]
struct Room {
    runs: Vec<Run>,
    turned: Vec<f32>,
}

/// The taps of a filter, or rows of taps.
struct Taps<'a> {
    geometry: &'a Geometry,
    /// Taps of a row that are as one.
    together: usize,
}

impl<'a> Taps<'a> {
    fn new(geometry: &'a Geometry) -> Taps<'a> {
        let columns = &geometry.columns;
        let are_neighbours = columns.dilation == 1 && columns.interior() == (0..columns.output);
        Taps { geometry, together: if are_neighbours { columns.window } else { 1 } }
    }

    /// Whether sums have a row for each channel of the output rather than for each of the input: few columns leave most of a
    /// panel empty.
    fn is_turned(&self) -> bool {
        self.geometry.out_depth < LEAST_DEPTH && self.geometry.in_depth >= 2 * self.geometry.out_depth
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
        let Geometry { in_depth, out_depth, columns, .. } = *self.geometry;
        let right = Operand { elements: gradient, step: out_depth, width: out_depth };
        let length = self.together * in_depth;
        let [least, most] = BLOCK_PIXELS;
        let block = (BLOCK_ELEMENTS / in_depth.max(out_depth)).clamp(least, most);
        let blocks = pixels.len().div_ceil(block);
        for block in 0..blocks {
            let pixels = share_of(pixels.clone(), block, blocks);
            let mut row = rows.start;
            while row < rows.end {
                // The rows of one tap, or of several that are as one.
                let tap = row / length;
                let end = rows.end.min((tap + 1) * length);
                self.list_runs(tap * self.together, row % length, pixels.clone(), runs)?;
                let left = Operand { elements: input, step: columns.stride * in_depth, width: end - row };
                let target = &mut target[(row - rows.start) * out_depth..(end - rows.start) * out_depth];
                if self.is_turned() {
                    runs.iter_mut().for_each(|Run { left, right, .. }| std::mem::swap(left, right));
                    turned.clear();
                    scratch::resize(turned, target.len(), 0.0)?;
                    sum_outer(right, left, runs, turned, false);
                    turn(turned, target, out_depth, block > 0);
                } else {
                    sum_outer(left, right, runs, target, block > 0);
                }
                row = end;
            }
        }
        Ok(())
    }

    /// Lists where a tap sees what of the input among some pixels, from one of its elements on.
    fn list_runs(&self, tap: usize, element: usize, pixels: Range<usize>, runs: &mut Vec<Run>) -> Result<()> {
        let Geometry { planes, rows, columns, out_depth, .. } = self.geometry;
        let (line_tap, tap) = (tap / columns.window, tap % columns.window);
        let (plane_tap, row_tap) = (line_tap / rows.window, line_tap % rows.window);
        let outputs = columns.outputs(tap);
        runs.clear();
        for line in pixels.start / columns.output..pixels.end.div_ceil(columns.output) {
            let [volume, plane, row] = self.geometry.line(line);
            let Some((plane, row)) = planes.at(plane, plane_tap).zip(rows.at(row, row_tap)) else { continue };
            let before = line * columns.output;
            let first = outputs.start.max(pixels.start.saturating_sub(before));
            let end = outputs.end.min(pixels.end - before);
            let Some(column) = columns.at(first, tap).filter(|_| first < end) else { continue };
            let left = self.geometry.input_at([volume, plane, row, column]) + element;
            scratch::push(runs, Run { left, right: (before + first) * out_depth, count: end - first })?;
        }
        Ok(())
    }
}

/// Writes or adds the columns of a matrix as rows of so many elements.
fn turn(columns: &[f32], target: &mut [f32], depth: usize, accumulate: bool) {
    let count = target.len() / depth;
    for (row, target) in target.chunks_exact_mut(depth).enumerate() {
        for (target, column) in target.iter_mut().zip(columns.chunks_exact(count)) {
            *target = if accumulate { *target + column[row] } else { column[row] };
        }
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
        let pool = ThreadPool::new("test", 3);
        let signature = Signature::default();
        let ctx = RawContext::new("conv", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(&pool));
        // Small whole numbers, so that every order of addition gives the same sum.
        let values = |count: usize| (0..count).map(|i| (i * 7 % 11) as f64 - 5.0).collect::<Vec<f64>>();
        let single = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<f32>>();
        let mut tried = 0;
        for (batch, [height, width], in_depth, window, out_depth) in [
            (3, [9, 8], 8, 3, 16),
            (3, [9, 8], 5, 3, 20),
            (2, [17, 13], 1, 5, 16),
            (70, [4, 4], 3, 4, 17),
            (1, [1, 1], 9, 1, 32),
            (2, [16, 7], 33, 2, 48),
            (20, [4, 4], 16, 4, 7),
            (2, [80, 33], 3, 3, 1),
            // Lines that are longer than a block, and blocks of several lines.
            (1, [2, 700], 9, 3, 16),
            (2, [40, 33], 24, 3, 64),
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
                let volumes = Axis::new(4, 2, stride, dilation, padding);
                let planes = volumes.ok().filter(|planes| tried % 2 > 0 && planes.output > 0).unwrap_or(ONE_PLANE);
                let geometry = Geometry { batch, planes, rows, columns, in_depth, patch_depth: in_depth, out_depth };
                let input = values(batch * planes.input * height * width * in_depth);
                let gradient = values(geometry.pixels() * out_depth);
                if gradient.is_empty() {
                    continue;
                }
                tried += 1;
                let mut got = vec![f32::NAN; geometry.patch() * out_depth];
                by_pixels(&ctx, &geometry, (&single(&input), &single(&gradient)), &mut got).unwrap();
                let mut expected = vec![f64::NAN; got.len()];
                of_filter(&ctx, &geometry, &input, &gradient, &mut expected).unwrap();
                assert_eq!(got, single(&expected), "{geometry:?}");
            }
        }
        assert!(tried > 50, "{tried}");
    }
}

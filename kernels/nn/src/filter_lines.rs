//! The gradient of the filter of a convolution of `f32`, channels last, where nothing is gathered into patches.
//!
//! It is a sum of products: for each line of the output, what the taps of the filter saw of it and what flows back to it. The
//! input is turned, so that the elements of each channel of a line lie side by side; what a tap saw of a channel is then a
//! segment of these, which a [`tile`] reads where it lies. Where windows are further apart than one element, a turned line
//! has the elements of each place within a stride by themselves, for the same end.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::error::Error;
use kernlink::kernel::RawContext;
use kernlink::tensor::{Tensor, scratch};
use kernlink_kernels_common::epilogue::Epilogue;
use kernlink_kernels_common::gemm::Matrix;
use kernlink_kernels_common::panels;
use kernlink_kernels_common::tile::{self, COLUMNS, ROWS, Segment, Strip, Words};
use kernlink_kernels_common::turn::transpose;
use kernlink_ops::shapes::Axis;

use super::convolve_grad::gcd;
use super::filter_gradient::add_parts;
use super::space::Geometry;

/// Multiply-adds a thread does in a nanosecond, or so.
const PER_NANOSECOND: usize = 24;
/// Output pixels that are multiplied at a time: what belongs to them stays in the second cache.
const BLOCK_PIXELS: usize = 512;
/// Elements of a gradient that stays in the second cache beside a block.
const NEAR_ELEMENTS: usize = 1 << 17;
/// The most and the fewest pixels of a part: each part costs as much as its gradient, which is added in the end.
const MOST_PARTS: usize = 16;
const PART_PIXELS: usize = 1024;
/// The most pixels of a part, whose products are added one after the other: more would cost precision.
const LONGEST_PART: usize = 1 << 16;
/// Elements of all parts.
const PARTS_ELEMENTS: usize = 1 << 23;
/// Rows of the gradient that one piece of work computes, where it is large, or so.
const CHUNK_ROWS: usize = 144;
/// Pixels of the segments that are listed at a time, at least.
const LISTED_PIXELS: usize = if cfg!(test) { 256 } else { 2048 };
/// Elements that are turned and packed at a time for all pieces of work. Tests see several such shares.
const SCRATCH_ELEMENTS: usize = if cfg!(test) { 1 << 14 } else { 1 << 24 };
/// Fewer pixels, or shorter lines of them, are not worth turning.
const LEAST_PIXELS: usize = 64;
const LEAST_COLUMNS: usize = 4;

/// How a convolution's input is turned, and what its taps see of it.
struct Plan<'a> {
    geometry: &'a Geometry,
    /// Whether the patches are rows of the input as it lies in memory.
    is_product: bool,
    /// The places within a stride that a tap sees.
    places: Vec<usize>,
    /// Elements of a turned line for each of these.
    each: usize,
}

/// Some lines of the input, turned: `[channel][line][place][element]`; for a product `[element of a patch][pixel]`.
struct Turned<'t> {
    elements: &'t [f32],
    /// Elements from channel to channel.
    stride: usize,
    /// The first line.
    first: usize,
}

/// What flows back to some output pixels, packed.
struct Flows<'t> {
    panels: &'t [f32],
    /// The first of the pixels, and how many they are.
    first: usize,
    count: usize,
}

/// Writes the gradient of a filter; false if it is better gathered. Nothing is empty.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory: to gather takes less.
pub(super) fn by_lines(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    input: &[f32],
    gradient: &[f32],
    output: &mut [f32],
) -> Result<bool> {
    let Some(plan) = Plan::worthwhile(geometry, input.len())? else { return Ok(false) };
    let (pixels, patch, depth, units) = (geometry.pixels(), geometry.patch(), geometry.out_depth, plan.units());
    // All sizes follow from the geometry, so that the result does not depend on the number of threads.
    let is_near = output.len() <= NEAR_ELEMENTS && pixels >= 4 * PART_PIXELS && plan.has_near_blocks();
    let tiles = patch.div_ceil(ROWS);
    let chunks = if is_near { 1 } else { patch.div_ceil(CHUNK_ROWS).next_multiple_of(8).min(tiles) };
    let parts = MOST_PARTS.div_ceil(chunks).min(pixels / PART_PIXELS).max(pixels / LONGEST_PART);
    // What is turned and packed at a time, for all pieces of work.
    let shares = plan.turned_len().saturating_add(gradient.len()).div_ceil(SCRATCH_ELEMENTS);
    // A share of less than a plane would turn all planes that it sees, again and again.
    let planes = if geometry.is_flat() || plan.is_product { 1 } else { geometry.planes.window * geometry.rows.output };
    let shares = shares.clamp(1, (units / planes).max(1));
    let shares = if is_near { 1 } else { shares };
    let parts = parts.min(PARTS_ELEMENTS / output.len()).clamp(1, units / shares);
    let rows_of = |chunk: usize| {
        let bound = |chunk: usize| (chunk * tiles / chunks * ROWS).min(patch);
        bound(chunk)..bound(chunk + 1)
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
    let work = pixels.saturating_mul(patch).saturating_mul(depth) / PER_NANOSECOND / (parts * chunks);
    let target_of = |index: usize| targets[index].lock().unwrap_or_else(PoisonError::into_inner);
    if is_near {
        ctx.try_parallel_for(parts, work, |range| {
            let mut table = Vec::new();
            range.into_iter().try_for_each(|part| {
                plan.add_blocks((input, gradient), piece(0..units, part, parts), &mut target_of(part), &mut table)
            })
        })?;
    } else {
        for share in 0..shares {
            let units = piece(0..units, share, shares);
            let (turned, packed) = plan.share(ctx, (input, gradient), units.clone())?;
            let lines = plan.seen(units.clone());
            let (elements, panels) = (turned.as_slice::<f32>()?, packed.as_slice::<f32>()?);
            let turned = Turned { elements, stride: plan.stride(lines.len()), first: lines.start };
            let each = plan.pixels_of_unit();
            let flows = Flows { panels, first: units.start * each, count: units.len() * each };
            ctx.try_parallel_for(parts * chunks, work / shares, |range| {
                let mut table = Vec::new();
                for index in range {
                    let (units, rows) = (piece(units.clone(), index / chunks, parts), rows_of(index % chunks));
                    let listed = units.len().div_ceil((LISTED_PIXELS / each).max(1));
                    for block in 0..listed {
                        let (block, add) = (piece(units.clone(), block, listed), share + block > 0);
                        let target = &mut target_of(index);
                        plan.add(&turned, &flows, block, rows.clone(), target, add, &mut table)?;
                    }
                }
                Ok(())
            })?;
        }
    }
    drop(targets);
    if let Some(scratch) = scratch {
        add_parts(ctx, scratch.as_slice::<f32>()?, output);
    }
    Ok(true)
}

/// One of so many pieces of nearly the same length.
fn piece(range: Range<usize>, index: usize, count: usize) -> Range<usize> {
    let bound = |index: usize| range.start + index * range.len() / count;
    bound(index)..bound(index + 1)
}

impl<'a> Plan<'a> {
    /// The plan, if a convolution is better done by it than by patches.
    fn worthwhile(geometry: &'a Geometry, input: usize) -> Result<Option<Plan<'a>>> {
        let columns = &geometry.columns;
        let is_large = geometry.pixels() >= LEAST_PIXELS && geometry.out_depth >= COLUMNS;
        if geometry.groups() != 1 || !is_large {
            return Ok(None);
        }
        if geometry.is_product() {
            return Ok(Some(Plan { geometry, is_product: true, places: Vec::new(), each: 0 }));
        }
        if columns.output < LEAST_COLUMNS {
            return Ok(None);
        }
        // After so many taps places come again.
        let period = (columns.stride / gcd(columns.stride, columns.dilation)).min(columns.window);
        let places = scratch::collected((0..period).map(|tap| tap * columns.dilation % columns.stride))?;
        let reach = (columns.window - 1).saturating_mul(columns.dilation) / columns.stride;
        let each = columns.output.saturating_add(reach);
        let plan = Plan { geometry, is_product: false, places, each };
        // Padding, which is turned with the rest, may be wide, and taps far apart.
        Ok((plan.turned_len() <= input.saturating_mul(4)).then_some(plan))
    }

    /// Elements of the whole input, turned.
    fn turned_len(&self) -> usize {
        let lines = if self.is_product { self.units() } else { self.geometry.input_lines() };
        self.line().saturating_mul(lines).saturating_mul(self.channels())
    }

    /// Units of a block: as many lines at least as a window has.
    fn block(&self) -> usize {
        let rows = &self.geometry.rows;
        let least = if self.is_product { 1 } else { rows.window.div_ceil(rows.stride) };
        (BLOCK_PIXELS / self.pixels_of_unit()).max(least)
    }

    /// Whether a block sees few lines besides those that begin its own: blocks turn what they see each by itself.
    fn has_near_blocks(&self) -> bool {
        let rows = &self.geometry.rows;
        let reach = (rows.window - 1).saturating_mul(rows.dilation);
        self.is_product || (self.geometry.is_flat() && reach <= self.block() * rows.stride)
    }

    /// What the sum is split by: lines of the output, or pixels.
    fn units(&self) -> usize {
        if self.is_product { self.geometry.pixels() } else { self.geometry.lines() }
    }

    /// Pixels of each.
    fn pixels_of_unit(&self) -> usize {
        if self.is_product { 1 } else { self.geometry.columns.output }
    }

    /// Rows of the turned input.
    fn channels(&self) -> usize {
        if self.is_product { self.geometry.patch() } else { self.geometry.in_depth }
    }

    /// Elements of a turned line; of a product those of a pixel.
    fn line(&self) -> usize {
        if self.is_product { 1 } else { self.places.len().saturating_mul(self.each) }
    }

    /// Elements from channel to channel of so many lines: an odd number of lines of the cache, so that channels do not drive
    /// each other from it.
    fn stride(&self, lines: usize) -> usize {
        (lines * self.line()).div_ceil(16) / 2 * 32 + 16
    }

    /// The lines of the input, of all planes, that some lines of the output see, from the first to the last.
    fn seen(&self, units: Range<usize>) -> Range<usize> {
        if self.is_product || units.is_empty() {
            return units;
        }
        let geometry = self.geometry;
        let at = |axis: &Axis, index: usize, tap: usize| axis.start(index) + (tap * axis.dilation) as i64;
        let line = |unit: usize, is_last: bool| {
            let [volume, plane, row] = geometry.line(unit);
            let tap = |axis: &Axis| if is_last { axis.window - 1 } else { 0 };
            let [planes, rows] = [&geometry.planes, &geometry.rows];
            let plane = at(planes, plane, tap(planes)).clamp(0, planes.input as i64 - 1) as usize;
            let row = at(rows, row, tap(rows)) + i64::from(is_last);
            geometry.input_line([volume, plane, row.clamp(0, rows.input as i64) as usize])
        };
        // Windows of the next plane may begin in the same one, at its first row, and those of the one before end at the last.
        let (first, last) = (units.start, units.end - 1);
        let (next, before) = (first.next_multiple_of(geometry.rows.output), last - last % geometry.rows.output);
        let first = line(first, false).min(line(next.min(last), false));
        first..line(last, true).max(line(before.saturating_sub(1).max(units.start), true)).max(first)
    }

    /// Turns some channels of some lines.
    fn turn(&self, input: &[f32], lines: Range<usize>, channels: Range<usize>, target: &mut [f32]) {
        let (stride, count) = (self.stride(lines.len()), channels.len());
        if self.is_product {
            let from = &input[lines.start * self.channels() + channels.start..];
            return transpose((from, self.channels()), (target, stride), [lines.len(), count]);
        }
        let (columns, depth) = (&self.geometry.columns, self.geometry.in_depth);
        // What is not written is padding.
        target.fill(0.0);
        for (index, line) in lines.enumerate() {
            for (slot, place) in self.places.iter().enumerate() {
                // Elements of a line, padding and all, from the first of this place on, a stride apart.
                let (before, step) = (columns.before, columns.stride);
                let first = before.saturating_sub(*place).div_ceil(step);
                let end = (columns.input + before).saturating_sub(*place).div_ceil(step).min(self.each);
                if first >= end {
                    continue;
                }
                let column = first * step + place - before;
                let from = &input[(line * columns.input + column) * depth + channels.start..];
                let to = &mut target[index * self.line() + slot * self.each + first..];
                transpose((from, step * depth), (to, stride), [end - first, count]);
            }
        }
    }

    /// What some units see of the input, turned, and what flows back to them, packed.
    fn share(
        &self,
        ctx: &RawContext<'_>,
        (input, gradient): (&[f32], &[f32]),
        units: Range<usize>,
    ) -> Result<(Tensor, Tensor)> {
        /// Channels that are turned together: whole lines of the cache.
        const CHANNELS: usize = 16;
        let lines = self.seen(units.clone());
        let stride = self.stride(lines.len());
        let mut turned = Tensor::alloc(DataType::Float, [self.channels(), stride])?;
        ctx.parallel_chunks(turned.as_mut_slice::<f32>()?, CHANNELS * stride, 1, |first, piece| {
            for (index, target) in piece.chunks_mut(CHANNELS * stride).enumerate() {
                let first = first / stride + index * CHANNELS;
                self.turn(input, lines.clone(), first..first + target.len() / stride, target);
            }
        });
        let (each, depth) = (self.pixels_of_unit(), self.geometry.out_depth);
        let flows = Matrix::rows(&gradient[units.start * each * depth..], depth);
        Ok((turned, panels::pack(Some(ctx), flows, units.len() * each, depth)?))
    }

    /// Writes the gradient of all rows from some units, which are turned and packed a block at a time.
    fn add_blocks(
        &self,
        (input, gradient): (&[f32], &[f32]),
        units: Range<usize>,
        target: &mut [f32],
        table: &mut Vec<Segment>,
    ) -> Result<()> {
        let (each, depth) = (self.pixels_of_unit(), self.geometry.out_depth);
        let count = units.len().div_ceil(self.block());
        for index in 0..count {
            let block = piece(units.clone(), index, count);
            let lines = self.seen(block.clone());
            let stride = self.stride(lines.len());
            let mut turned = Tensor::alloc(DataType::Float, [self.channels(), stride])?;
            let elements = turned.as_mut_slice::<f32>()?;
            self.turn(input, lines.clone(), 0..self.channels(), elements);
            let turned = Turned { elements, stride, first: lines.start };
            let (first, count) = (block.start * each, block.len() * each);
            let packed = panels::pack(None, Matrix::rows(&gradient[first * depth..], depth), count, depth)?;
            let flows = Flows { panels: packed.as_slice::<f32>()?, first, count };
            self.add(&turned, &flows, block, 0..self.geometry.patch(), target, index > 0, table)?;
        }
        Ok(())
    }

    /// Writes some rows of the gradient from some units, or adds them to what is there.
    #[expect(clippy::too_many_arguments, reason = "two operands, two ranges, a target and memory for the segments")]
    fn add(
        &self,
        turned: &Turned<'_>,
        flows: &Flows<'_>,
        units: Range<usize>,
        rows: Range<usize>,
        target: &mut [f32],
        accumulate: bool,
        table: &mut Vec<Segment>,
    ) -> Result<()> {
        let (each, depth, count) = (self.pixels_of_unit(), self.geometry.out_depth, units.len());
        let (per_row, length) = if self.is_product { (1, count) } else { (count, each) };
        // For lines that a tap sees nothing of.
        let zeros = scratch::zeros::<f32>(if self.is_product { 0 } else { length })?;
        table.clear();
        scratch::resize(table, rows.len().div_ceil(ROWS) * per_row, [zeros.as_ptr(); ROWS])?;
        if self.is_product {
            for (index, row) in rows.clone().enumerate() {
                let from = &turned.elements[row * turned.stride + units.start - turned.first..][..length];
                table[index / ROWS][index % ROWS] = from.as_ptr();
            }
        } else {
            self.segments(turned, units.clone(), rows.clone(), table);
        }
        let first = units.start * each - flows.first;
        let strip = Strip {
            segments: table,
            per_row,
            length,
            rows: rows.len(),
            panels: &flows.panels[first * COLUMNS..],
            panel_stride: COLUMNS,
            next_panel: flows.count * COLUMNS,
            stride: depth,
            columns: depth,
            accumulate,
            words: Words::Float,
            epilogue: Epilogue::default(),
        };
        if target.len() < rows.len() * depth {
            return Err(Error::internal("a gradient of a filter that is too small"));
        }
        // SAFETY: each segment of a row has `length` elements, as was checked where they were listed; the target has all rows,
        // and is this call's alone.
        unsafe { tile::multiply(&strip, target.as_mut_ptr()) };
        Ok(())
    }

    /// Lists what the rows of the gradient are made of in each line, where that is no padding.
    fn segments(&self, turned: &Turned<'_>, units: Range<usize>, rows: Range<usize>, table: &mut [Segment]) {
        let (geometry, length) = (self.geometry, self.geometry.columns.output);
        let (columns, depth, per_row) = (&geometry.columns, geometry.in_depth, units.len());
        let mut row = rows.start;
        while row < rows.end {
            // The rows of one tap.
            let tap = row / depth;
            let end = rows.end.min((tap + 1) * depth);
            let column = tap % columns.window;
            let at = column % self.places.len() * self.each + column * columns.dilation / columns.stride;
            for (index, unit) in units.clone().enumerate() {
                let ([volume, plane, line], line_tap) = (geometry.line(unit), tap / columns.window);
                let seen = geometry.planes.at(plane, line_tap / geometry.rows.window);
                let Some(plane) = seen else { continue };
                let Some(line) = geometry.rows.at(line, line_tap % geometry.rows.window) else { continue };
                let at = (geometry.input_line([volume, plane, line]) - turned.first) * self.line() + at;
                for channel in row..end {
                    let from = &turned.elements[(channel % depth) * turned.stride + at..][..length];
                    let place = channel - rows.start;
                    table[place / ROWS * per_row + index][place % ROWS] = from.as_ptr();
                }
            }
            row = end;
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
    fn lines_agree_with_patches() {
        let pool = ThreadPool::new("test", 3);
        let signature = Signature::default();
        let ctx = RawContext::new("conv", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(&pool));
        // Small whole numbers, so that every order of addition gives the same sum.
        let values = |count: usize| (0..count).map(|i| (i * 7 % 11) as f64 - 5.0).collect::<Vec<f64>>();
        let single = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<f32>>();
        let mut tried = 0;
        for (batch, [height, width], in_depth, window, out_depth) in [
            (3, [9, 8], 5, 3, 20),
            (2, [17, 13], 1, 5, 16),
            (2, [16, 7], 33, 2, 35),
            (70, [4, 4], 3, 4, 17),
            (1, [9, 40], 24, 1, 16),
            // Lines that are far apart; several parts of several pieces.
            (2, [80, 33], 3, 3, 17),
            (2, [36, 33], 7, 3, 17),
            // Blocks.
            (2, [50, 45], 3, 3, 16),
        ] {
            for (stride, dilation, padding) in [
                (1, 1, Padding::Same),
                (1, 1, Padding::Valid),
                (1, 2, Padding::Same),
                (2, 1, Padding::Same),
                (2, 1, Padding::Explicit((0, 3))),
                (2, 2, Padding::Explicit((3, 1))),
                (3, 1, Padding::Same),
                (3, 2, Padding::Explicit((4, 1))),
                (2, 3, Padding::Explicit((2, 5))),
                (1, 1, Padding::Explicit((6, 3))),
                (1, 20, Padding::Explicit((20, 20))),
                (4, 6, Padding::Explicit((7, 20))),
            ] {
                let axis = |size| Axis::new(size, window, stride, dilation, padding);
                let (Ok(rows), Ok(columns)) = (axis(height), axis(width)) else { continue };
                // Two times of three of volumes, of few images each.
                let volumes = Axis::new(4, 2 + tried % 2, stride, dilation, padding);
                let planes = volumes.ok().filter(|planes| tried % 3 > 0 && planes.output > 0).unwrap_or(ONE_PLANE);
                let batch = if planes == ONE_PLANE { batch } else { batch.min(2) };
                let geometry = Geometry { batch, planes, rows, columns, in_depth, patch_depth: in_depth, out_depth };
                let input = values(batch * planes.input * height * width * in_depth);
                let gradient = values(geometry.pixels() * out_depth);
                if gradient.is_empty() {
                    continue;
                }
                let mut got = vec![f32::NAN; geometry.patch() * out_depth];
                if !by_lines(&ctx, &geometry, &single(&input), &single(&gradient), &mut got).unwrap() {
                    continue;
                }
                tried += 1;
                let mut expected = vec![f64::NAN; got.len()];
                of_filter(&ctx, &geometry, &input, &gradient, &mut expected).unwrap();
                assert_eq!(got, single(&expected), "{geometry:?}");
            }
        }
        assert!(tried > 40, "{tried}");
    }
}

//! Convolution of images or volumes, of checked operands, channels last.
//!
//! `f32` runs on [`tile`]: the filter is packed once, the rows of the left operand are pointers into the input,
//! and padding is a pointer to zeros, so that nothing is copied but inputs of few channels, whose padding of columns is written
//! out. [`grouped`] does groups of few channels. Other dtypes gather [patches](super::patches) and multiply matrices.

use std::ops::Range;

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink_kernels_common::fused::Finish;
use kernlink_kernels_common::gemm::{Gemm, Matrix, Shared};
use kernlink_kernels_common::number::Computed;
use kernlink_kernels_common::panels;
use kernlink_kernels_common::tile::{self, COLUMNS, ROWS, Segment, Strip, Words};

use super::filter_gradient::of_filter;
use super::filter_pixels::by_pixels;
use super::grouped::{self, Groups};
use super::padding::pad_columns;
use super::patches::by_patches;
use super::space::Geometry;
use super::winograd;

/// Multiply-adds a thread does in a nanosecond, or so.
const PER_NANOSECOND: usize = 24;

/// Whether no panel has filters of several groups.
pub(super) fn is_side_by_side(geometry: &Geometry) -> bool {
    let groups = geometry.groups();
    groups == 1 || (geometry.out_depth / groups).is_multiple_of(COLUMNS)
}

/// How a dtype is convolved: by gathering patches, but where it is said otherwise.
pub(super) trait Convolve: Gemm + Computed<Wide = Self> {
    /// Whether [`Convolve::convolve`] wants the filter in another form.
    const PACKS: bool = false;

    /// The filter as [`Convolve::convolve`] wants it for every geometry of which it [`is_side_by_side`], if that differs.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory, here and below.
    fn prepare(_filter: &Tensor) -> Result<Option<Tensor>> {
        Ok(None)
    }

    /// The filter as [`Convolve::convolve`] wants it.
    fn pack(_ctx: &RawContext<'_>, _geometry: &Geometry, filter: &Tensor) -> Result<Tensor> {
        Ok(filter.clone())
    }

    /// As [`Convolve::pack`], for a convolution without groups and the transposes of some taps of a filter, in this order, each a
    /// matrix of `depth` columns; `None` if the filter must be written down first.
    fn pack_taps(
        _ctx: &RawContext<'_>,
        _geometry: &Geometry,
        _taps: &[&[Self]],
        _depth: usize,
    ) -> Result<Option<Tensor>> {
        Ok(None)
    }

    /// Whether [`Convolve::transform`] makes something of a filter of this shape that may be worth keeping.
    fn may_transform(_filter: &Shape) -> bool {
        false
    }

    /// Whether [`Convolve::convolve_transformed`] is the faster way, where it may be.
    fn is_transformed(_geometry: &Geometry) -> bool {
        false
    }

    /// Whether it is with a filter that is transformed for this alone.
    fn is_transformed_once(_geometry: &Geometry) -> bool {
        false
    }

    /// The filter as [`Convolve::convolve_transformed`] wants it.
    fn transform(_ctx: &RawContext<'_>, filter: &Tensor) -> Result<Tensor> {
        Ok(filter.clone())
    }

    /// As [`Convolve::convolve`], with a transformed filter; false if it must be done with a packed one.
    fn convolve_transformed(
        _ctx: &RawContext<'_>,
        _geometry: &Geometry,
        _operands: (&Tensor, &Tensor),
        _output: &mut [Self],
        _finish: Option<&dyn Finish<Self>>,
    ) -> Result<bool> {
        Ok(false)
    }

    /// The convolution of an input with a packed filter, and what `finish` makes of it. Nothing is empty.
    fn convolve(
        ctx: &RawContext<'_>,
        geometry: &Geometry,
        (input, packed): (&Tensor, &Tensor),
        output: &mut [Self],
        finish: Option<&dyn Finish<Self>>,
    ) -> Result<()> {
        by_patches::<Self>(ctx, geometry, (input.as_slice()?, packed.as_slice()?), output)?;
        if let Some(finish) = finish {
            ctx.parallel_chunks(output, geometry.out_depth, 4, |first, piece| finish.finish(first, piece));
        }
        Ok(())
    }

    /// The gradient of the filter, by the input and what flows back. Nothing is empty.
    fn filter_gradient(
        ctx: &RawContext<'_>,
        geometry: &Geometry,
        (input, gradient): (&[Self], &[Self]),
        output: &mut [Self],
    ) -> Result<()> {
        of_filter(ctx, geometry, input, gradient, output)
    }
}

impl Convolve for f64 {}
impl Convolve for i32 {}

impl Convolve for f32 {
    const PACKS: bool = true;

    fn prepare(filter: &Tensor) -> Result<Option<Tensor>> {
        pack(None, filter).map(Some)
    }

    fn pack(ctx: &RawContext<'_>, geometry: &Geometry, filter: &Tensor) -> Result<Tensor> {
        pack_for(ctx, geometry, filter)
    }

    fn pack_taps(ctx: &RawContext<'_>, geometry: &Geometry, taps: &[&[f32]], depth: usize) -> Result<Option<Tensor>> {
        let (columns, tap) = (geometry.out_depth, depth * COLUMNS);
        let mut packed = Tensor::alloc(DataType::Float, [columns.div_ceil(COLUMNS), taps.len(), tap])?;
        ctx.parallel_chunks(packed.as_mut_slice::<f32>()?, taps.len() * tap, 1, |first, piece| {
            let first = first / (taps.len() * tap);
            for (panel, target) in piece.chunks_exact_mut(taps.len() * tap).enumerate() {
                let first = (first + panel) * COLUMNS;
                for (target, elements) in target.chunks_exact_mut(tap).zip(taps) {
                    let columns = first..columns.min(first + COLUMNS);
                    panels::pack_panels(Matrix::transposed(elements, depth), depth, columns, target);
                }
            }
        });
        Ok(Some(packed))
    }

    fn may_transform(filter: &Shape) -> bool {
        winograd::fits(filter)
    }

    fn is_transformed(geometry: &Geometry) -> bool {
        winograd::is_worthwhile(geometry)
    }

    fn is_transformed_once(geometry: &Geometry) -> bool {
        winograd::is_worthwhile_once(geometry)
    }

    fn transform(ctx: &RawContext<'_>, filter: &Tensor) -> Result<Tensor> {
        winograd::transform(ctx, filter)
    }

    fn convolve_transformed(
        ctx: &RawContext<'_>,
        geometry: &Geometry,
        operands: (&Tensor, &Tensor),
        output: &mut [f32],
        finish: Option<&dyn Finish<f32>>,
    ) -> Result<bool> {
        winograd::convolve(ctx, geometry, operands, output, finish)
    }

    fn convolve(
        ctx: &RawContext<'_>,
        geometry: &Geometry,
        (input, packed): (&Tensor, &Tensor),
        output: &mut [f32],
        finish: Option<&dyn Finish<f32>>,
    ) -> Result<()> {
        if let Some(groups) = Groups::worthwhile(geometry) {
            return grouped::by_lines(ctx, &groups, (input.as_slice()?, packed.as_slice()?), output, finish);
        }
        by_tiles(ctx, geometry, (input, packed), output, finish)
    }

    fn filter_gradient(
        ctx: &RawContext<'_>,
        geometry: &Geometry,
        (input, gradient): (&[f32], &[f32]),
        output: &mut [f32],
    ) -> Result<()> {
        match geometry.groups() {
            1 => by_pixels(ctx, geometry, (input, gradient), output),
            _ => of_filter(ctx, geometry, input, gradient, output),
        }
    }
}

/// The panels of the filter of any geometry of which it [`is_side_by_side`].
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
fn pack(ctx: Option<&RawContext<'_>>, filter: &Tensor) -> Result<Tensor> {
    let depth = filter.shape().last().copied().unwrap_or(1);
    let patch = filter.num_elements().checked_div(depth).unwrap_or(0);
    panels::pack(ctx, Matrix::rows(filter.as_slice::<f32>()?, depth), patch, depth)
}

/// The filter as the fastest way wants it: in panels, but for groups of few channels.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
fn pack_for(ctx: &RawContext<'_>, geometry: &Geometry, filter: &Tensor) -> Result<Tensor> {
    if is_side_by_side(geometry) {
        pack(Some(ctx), filter)
    } else if Groups::worthwhile(geometry).is_some() {
        Ok(filter.clone())
    } else {
        pack_groups(filter.as_slice::<f32>()?, geometry)
    }
}

/// Convolution of `f32` by tiles.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
fn by_tiles(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    (input, panels): (&Tensor, &Tensor),
    output: &mut [f32],
    finish: Option<&dyn Finish<f32>>,
) -> Result<()> {
    let padded;
    let (mut geometry, mut input) = (*geometry, input.as_slice::<f32>()?);
    if is_better_padded(&geometry)
        && let Some(copy) = pad_columns(ctx, &mut geometry, input)?
    {
        padded = copy;
        input = padded.as_slice::<f32>()?;
    }
    run_tiles(ctx, &geometry, (input, panels.as_slice::<f32>()?), output, finish)
}

/// The panels of each group, one group after the other.
fn pack_groups(filter: &[f32], geometry: &Geometry) -> Result<Tensor> {
    let (groups, patch, depth) = (geometry.groups(), geometry.patch(), geometry.out_depth);
    let group_depth = depth / groups;
    let each = panels::panels_len(patch, group_depth);
    let mut packed = Tensor::alloc(DataType::Float, [groups, each])?;
    for (group, target) in packed.as_mut_slice::<f32>()?.chunks_exact_mut(each.max(1)).enumerate() {
        let panels = panels::pack(None, Matrix::rows(&filter[group * group_depth..], depth), patch, group_depth)?;
        target.copy_from_slice(panels.as_slice::<f32>()?);
    }
    Ok(packed)
}

/// Whether a filter's row should be one segment, at the cost of a copy of the input.
fn is_better_padded(geometry: &Geometry) -> bool {
    const THIN: usize = 8;
    /// Elements that are copied while one segment of a pixel is listed, or so.
    const PER_SEGMENT: usize = 2;
    let elements = geometry.input_lines().saturating_mul(geometry.columns.input).saturating_mul(geometry.in_depth);
    let fewer = geometry.taps() - geometry.taps() / geometry.columns.window.max(1);
    geometry.in_depth <= THIN || elements <= geometry.pixels().saturating_mul(fewer).saturating_mul(PER_SEGMENT)
}

fn run_tiles(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    (input, panels): (&[f32], &[f32]),
    output: &mut [f32],
    finish: Option<&dyn Finish<f32>>,
) -> Result<()> {
    let (pixels, depth, patch) = (geometry.pixels(), geometry.out_depth, geometry.patch());
    let groups = geometry.groups();
    let panels_per_group = (depth / groups).div_ceil(COLUMNS);
    let columns = &geometry.columns;
    let merged = geometry.has_whole_rows();
    let plan = Plan {
        geometry,
        input,
        panels,
        merged,
        finish,
        zeros: &scratch::zeros(if merged { columns.window * geometry.patch_depth } else { geometry.patch_depth })?,
    };
    // A block's input stays in the second-level cache while all panels pass over it.
    const BLOCK_ELEMENTS: usize = 32 * 1024;
    let steps = geometry.planes.stride.saturating_mul(geometry.rows.stride).saturating_mul(columns.stride);
    let reuse = geometry.taps().min(steps).max(1);
    let block = (BLOCK_ELEMENTS / (geometry.in_depth * reuse).max(1)).clamp(4 * ROWS, 64 * ROWS) / ROWS * ROWS;
    // Equal blocks for all threads: what a pixel's result is does not depend on its block.
    let blocks = match pixels.div_ceil(block) {
        1 => 1,
        blocks => blocks.next_multiple_of(ctx.threads()).min(pixels.div_ceil(4 * ROWS)).max(blocks),
    };
    let block = pixels.div_ceil(blocks).next_multiple_of(ROWS);
    let blocks = pixels.div_ceil(block);
    let work = pixels.saturating_mul(patch).saturating_mul(depth / groups) / PER_NANOSECOND;
    let wanted = if work < 40_000 { 1 } else { 4 * ctx.threads() };
    let splits = wanted.div_ceil(blocks * groups).clamp(1, panels_per_group);
    let items = blocks * groups * splits;
    let target = Shared(output.as_mut_ptr());
    ctx.try_parallel_for(items, work / items.max(1), |range| {
        let mut table = Vec::new();
        let mut made_for = None;
        for item in range {
            let (block_index, rest) = (item / (groups * splits), item % (groups * splits));
            let (group, split) = (rest / splits, rest % splits);
            let first = block_index * block;
            let count = block.min(pixels - first);
            if made_for != Some((first, group)) {
                plan.segments(first, count, group, &mut table)?;
                made_for = Some((first, group));
            }
            let chosen = split * panels_per_group / splits..(split + 1) * panels_per_group / splits;
            let columns = plan.multiply(&table, first, count, group, chosen, &target);
            let Some(finish) = finish.filter(|finish| finish.has_rest()) else { continue };
            // What was written is in a near cache still.
            let (runs, length) = if columns.len() == depth { (1, count * depth) } else { (count, columns.len()) };
            for run in 0..runs {
                let start = (first + run) * depth + columns.start;
                // SAFETY: these are elements that `multiply` has just written, which no other thread uses.
                finish.finish_rest(start, unsafe { std::slice::from_raw_parts_mut(target.at(start), length) });
            }
        }
        Ok(())
    })
}

/// What all threads of a convolution share.
struct Plan<'a> {
    geometry: &'a Geometry,
    input: &'a [f32],
    panels: &'a [f32],
    /// Whether a filter's row is one segment.
    merged: bool,
    zeros: &'a [f32],
    finish: Option<&'a dyn Finish<f32>>,
}

impl Plan<'_> {
    /// Elements of a segment.
    fn length(&self) -> usize {
        self.zeros.len()
    }

    /// Segments of a patch.
    fn per_patch(&self) -> usize {
        self.geometry.planes.window
            * self.geometry.rows.window
            * if self.merged { 1 } else { self.geometry.columns.window }
    }

    /// The segments of `count` output pixels from `first` on: for each tile, those of its rows.
    fn segments(&self, first: usize, count: usize, group: usize, table: &mut Vec<Segment>) -> Result<()> {
        let (geometry, length) = (self.geometry, self.length());
        let (planes, rows, columns) = (&geometry.planes, &geometry.rows, &geometry.columns);
        let per_patch = self.per_patch();
        table.clear();
        scratch::resize(table, count.div_ceil(ROWS) * per_patch, [self.zeros.as_ptr(); ROWS])?;
        if geometry.is_product() {
            // The slice checks that the rows lie within the input.
            let patch = geometry.patch();
            let patches = self.input[first * patch..(first + count) * patch].as_ptr();
            for (index, tile) in table.chunks_exact_mut(per_patch).enumerate() {
                for (row, segments) in (index * ROWS..count.min((index + 1) * ROWS)).zip(0..) {
                    for (tap, segment) in tile.iter_mut().enumerate() {
                        segment[segments] = patches.wrapping_add(row * patch + tap * length);
                    }
                }
            }
            return Ok(());
        }
        let mut line = first / columns.output;
        let mut column = first % columns.output;
        let across = if self.merged { 1 } else { columns.window };
        let step = columns.stride * geometry.in_depth;
        let whole_tile: [usize; ROWS] = std::array::from_fn(|slot| step.wrapping_mul(slot));
        let mut index = 0;
        while index < count {
            // The pixels of one line of the output.
            let pixels = column..columns.output.min(column + count - index);
            let [volume, plane, row] = geometry.line(line);
            let lines =
                planes.taps(plane).flat_map(|plane_tap| rows.taps(row).map(move |row_tap| (plane_tap, row_tap)));
            for (plane_tap, row_tap) in lines {
                let seen = planes.at(plane, plane_tap).zip(rows.at(row, row_tap));
                let Some((input_plane, input_row)) = seen else { continue };
                let line_tap = plane_tap * rows.window + row_tap;
                for column_tap in 0..across {
                    let outputs = columns.outputs(column_tap);
                    let seen = pixels.start.max(outputs.start)..pixels.end.min(outputs.end);
                    let Some(input_column) = columns.at(seen.start, column_tap).filter(|_| !seen.is_empty()) else {
                        continue;
                    };
                    let pixel = [volume, input_plane, input_row, input_column];
                    let start = geometry.input_at(pixel) + group * geometry.patch_depth;
                    // The slice checks that all segments lie within the input.
                    let mut from = self.input[start..][..(seen.len() - 1) * step + length].as_ptr();
                    let mut place = index + seen.start - pixels.start;
                    let end = place + seen.len();
                    while place < end {
                        let (tile, slot) = (place / ROWS, place % ROWS);
                        let segment = &mut table[tile * per_patch + line_tap * across + column_tap];
                        let slots = (ROWS - slot).min(end - place);
                        if slots == ROWS {
                            // Most are: by vectors.
                            *segment = whole_tile.map(|offset| from.wrapping_add(offset));
                        } else {
                            let pointers = segment[slot..slot + slots].iter_mut();
                            pointers.zip(whole_tile).for_each(|(to, offset)| *to = from.wrapping_add(offset));
                        }
                        from = from.wrapping_add(slots.wrapping_mul(step));
                        place += slots;
                    }
                }
            }
            index += pixels.len();
            (line, column) = (line + 1, 0);
        }
        Ok(())
    }

    /// Writes the chosen panels of `group` for the `count` output pixels from `first` on; returns the channels that these are.
    fn multiply(
        &self,
        table: &[Segment],
        first: usize,
        count: usize,
        group: usize,
        chosen: Range<usize>,
        target: &Shared<f32>,
    ) -> Range<usize> {
        let geometry = self.geometry;
        let (depth, patch, per_patch) = (geometry.out_depth, geometry.patch(), self.per_patch());
        let group_depth = depth / geometry.groups();
        let panels_per_group = group_depth.div_ceil(COLUMNS);
        let panel_len = patch * COLUMNS;
        let column = chosen.start * COLUMNS;
        let channel = group * group_depth + column;
        let at = first * depth + channel;
        let strip = Strip {
            segments: table,
            per_row: per_patch,
            length: self.length(),
            rows: count,
            panels: &self.panels[(group * panels_per_group + chosen.start) * panel_len..],
            panel_stride: COLUMNS,
            next_panel: panel_len,
            stride: depth,
            columns: (chosen.end * COLUMNS).min(group_depth) - column,
            words: Words::Float,
            accumulate: false,
            epilogue: self.finish.map(|finish| finish.epilogue(at)).unwrap_or_default(),
        };
        // SAFETY: `segments` checked each segment's elements, and each thread writes pixels and columns of its own within
        // the output.
        unsafe { tile::multiply(&strip, target.at(at)) };
        channel..channel + strip.columns
    }
}

#[cfg(test)]
mod tests {
    use super::super::space::ONE_PLANE;
    use super::*;
    use kernlink::op::{OpDef, Signature};
    use kernlink_kernels_common::epilogue::Epilogue;
    use kernlink_ops::shapes::{Axis, Padding};

    /// By the definition.
    fn naive(geometry: &Geometry, input: &[f32], filter: &[f32]) -> Vec<f32> {
        let (planes, rows, columns) = (&geometry.planes, &geometry.rows, &geometry.columns);
        let depth = geometry.patch_depth;
        let element = |index: usize| {
            let (pixel, channel) = (index / geometry.out_depth, index % geometry.out_depth);
            let [volume, plane, row, column] = geometry.pixel(pixel);
            let first = channel / (geometry.out_depth / geometry.groups()) * depth;
            let mut sum = 0.0;
            for tap in 0..geometry.taps() {
                let line = tap / columns.window;
                let seen = planes.at(plane, line / rows.window).zip(rows.at(row, line % rows.window));
                let Some(((plane, row), column)) = seen.zip(columns.at(column, tap % columns.window)) else { continue };
                let start = geometry.input_at([volume, plane, row, column]) + first;
                let products =
                    (0..depth).map(|c| input[start + c] * filter[(tap * depth + c) * geometry.out_depth + channel]);
                sum += products.sum::<f32>();
            }
            sum
        };
        (0..geometry.pixels() * geometry.out_depth).map(element).collect()
    }

    /// Adds to each element its place, and doubles it.
    struct Places(Vec<f32>);

    impl Finish<f32> for Places {
        fn finish(&self, first: usize, elements: &mut [f32]) {
            elements.iter_mut().zip(&self.0[first..]).for_each(|(element, place)| *element += place);
            self.finish_rest(first, elements);
        }

        fn epilogue(&self, first: usize) -> Epilogue<'_, f32> {
            Epilogue { summand: Some(&self.0[first..]), ..Epilogue::default() }
        }

        fn has_rest(&self) -> bool {
            true
        }

        fn finish_rest(&self, _: usize, elements: &mut [f32]) {
            elements.iter_mut().for_each(|element| *element *= 2.0);
        }
    }

    #[test]
    fn tiles_and_patches_agree_with_the_definition() {
        let pool = kernlink::threads::ThreadPool::new("test", 1);
        let signature = Signature::default();
        let ctx = RawContext::new("conv", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(&pool));
        // Small whole numbers, so that every order of addition gives the same sum.
        let values = |count: usize| (0..count).map(|i| (i * 7 % 11) as f32 - 5.0).collect::<Vec<f32>>();
        for (size, in_depth, window, patch_depth, out_depth) in [
            (9, 3, 3, 3, 20),
            (7, 4, 2, 2, 6),
            (6, 4, 3, 1, 64),
            (20, 16, 1, 16, 33),
            // Few pixels and many channels, which threads share out.
            (5, 96, 3, 96, 200),
            (40, 8, 3, 8, 40),
            (4, 2, 4, 2, 7),
        ] {
            for (stride, dilation, padding) in [
                (1, 1, Padding::Same),
                (2, 1, Padding::Valid),
                (1, 2, Padding::Explicit((2, 1))),
                (3, 1, Padding::Explicit((0, 40))),
            ] {
                let Ok(axis) = Axis::new(size, window, stride, dilation, padding) else { continue };
                // Images by strides of 1, volumes by others.
                let volumes = Axis::new(5, 2, stride, 1, Padding::Same).unwrap();
                let planes = if stride == 1 && dilation == 1 { ONE_PLANE } else { volumes };
                let (rows, columns) = (axis, axis);
                let geometry = Geometry { batch: 2, planes, rows, columns, in_depth, patch_depth, out_depth };
                let shape = [2, planes.input, size, size, in_depth];
                let input = Tensor::from_elements(shape, &values(shape.iter().product())).unwrap();
                let shape = [planes.window, window, window, patch_depth, out_depth];
                let filter = Tensor::from_elements(shape, &values(shape.iter().product())).unwrap();
                let (x, f) = (input.as_slice::<f32>().unwrap(), filter.as_slice::<f32>().unwrap());
                let expected = naive(&geometry, x, f);
                if expected.is_empty() {
                    continue;
                }
                let mut output = vec![f32::NAN; expected.len()];
                by_patches(&ctx, &geometry, (x, f), &mut output).unwrap();
                assert_eq!(output, expected, "patches {geometry:?}");
                output.fill(f32::NAN);
                let panels = pack_for(&ctx, &geometry, &filter).unwrap();
                by_tiles(&ctx, &geometry, (&input, &panels), &mut output, None).unwrap();
                assert_eq!(output, expected, "tiles {geometry:?}");
                let places = Places((0..expected.len()).map(|place| place as f32).collect());
                by_tiles(&ctx, &geometry, (&input, &panels), &mut output, Some(&places)).unwrap();
                let finished: Vec<f32> = expected.iter().zip(&places.0).map(|(x, place)| (x + place) * 2.0).collect();
                assert_eq!(output, finished, "finished tiles {geometry:?}");
            }
        }
    }
}

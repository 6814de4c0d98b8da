//! Convolution of `f32` with 3 x 3 filters by the minimal filtering of Winograd, channels last.
//!
//! Each 2 x 2 pixels of the output take 16 products instead of 36 ("F(2 x 2, 3 x 3)" in Lavin and Gray, Fast Algorithms for
//! Convolutional Neural Networks, 2015): the 4 x 4 pixels of the input that they see become 16 sums, the filter 16 others, once
//! if it is constant; the products of these, which are 16 products of matrices for all pixels, are summed to the output. Inputs
//! are added before they are multiplied, so results differ from those of the definition in the last bits, relative to the largest
//! pixel that the four outputs see.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink_kernels_common::epilogue::Epilogue;
use kernlink_kernels_common::fused::Finish;
use kernlink_kernels_common::gemm::Shared;
use kernlink_kernels_common::panels::panels_len;
use kernlink_kernels_common::tile::{self, COLUMNS, ROWS, Segment, Strip, Words};
use kernlink_kernels_common::widest;
use kernlink_ops::shapes::Axis;

use super::space::Geometry;

/// Products of an element of the input with one of the filter, for a tile of 2 x 2 pixels.
const PRODUCTS: usize = 16;
/// Channels that are transformed at a time.
const LANES: usize = 16;
/// Fewer channels are convolved as fast by the definition.
const LEAST_CHANNELS: usize = 32;
/// Smaller matrices are, too.
const LEAST_PRODUCTS: usize = 2048;
/// Fewer tiles do not fill the matrices.
const LEAST_TILES: usize = 36;
/// Of a filter that is not constant: transforming it takes as long as is saved of about 40 tiles.
const LEAST_TILES_ONCE: usize = 192;
/// Elements of the input's and the output's matrices for a block of tiles, which stay in the second cache.
const BLOCK_ELEMENTS: usize = 64 * 1024;
/// Elements of a page.
const PAGE: usize = 1024;
/// Multiply-adds a thread does in a nanosecond, or so.
const PER_NANOSECOND: usize = 24;

/// Whether a filter of this shape is worth being kept as [`transform`] makes it, where the images are [large
/// enough](is_worthwhile).
pub(super) fn fits(filter: &Shape) -> bool {
    let is_whole = |depth: usize| depth.is_multiple_of(LANES) && depth >= LEAST_CHANNELS;
    matches!(**filter, [3, 3, channels, depth]
        if is_whole(channels) && is_whole(depth) && channels.saturating_mul(depth) >= LEAST_PRODUCTS)
}

/// Whether images are worth being convolved by [`convolve`], with a filter that [`fits`].
pub(super) fn is_worthwhile(geometry: &Geometry) -> bool {
    let is_dense = |axis: &Axis| axis.window == 3 && axis.stride == 1 && axis.dilation == 1;
    geometry.is_flat()
        && geometry.groups() == 1
        && is_dense(&geometry.rows)
        && is_dense(&geometry.columns)
        && Grid::of(geometry).tiles(geometry.batch) >= LEAST_TILES
}

/// Whether they are if the filter has to be [transformed](transform) first, and serves once.
pub(super) fn is_worthwhile_once(geometry: &Geometry) -> bool {
    is_worthwhile(geometry) && Grid::of(geometry).tiles(geometry.batch) >= LEAST_TILES_ONCE
}

/// Tiles of the output of an image.
#[derive(Clone, Copy)]
struct Grid {
    rows: usize,
    columns: usize,
}

impl Grid {
    fn of(geometry: &Geometry) -> Grid {
        Grid { rows: geometry.rows.output.div_ceil(2), columns: geometry.columns.output.div_ceil(2) }
    }

    fn tiles(self, images: usize) -> usize {
        images.saturating_mul(self.rows).saturating_mul(self.columns)
    }

    /// The image, the row and the column of a tile.
    fn place(self, tile: usize) -> [usize; 3] {
        let (line, column) = (tile / self.columns, tile % self.columns);
        [line / self.rows, line % self.rows, column]
    }
}

/// What [`convolve`] wants of a filter that [`fits`]: of each panel those of the 16 matrices.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(super) fn transform(ctx: &RawContext<'_>, filter: &Tensor) -> Result<Tensor> {
    let [_, _, channels, depth] = **filter.shape() else { return Ok(filter.clone()) };
    let elements = filter.as_slice::<f32>()?;
    let each = PRODUCTS * panels_len(channels, COLUMNS);
    let mut all = Tensor::alloc(DataType::Float, [depth / COLUMNS, each])?;
    ctx.parallel_chunks(all.as_mut_slice::<f32>()?, each, 1, |first, piece| {
        for (index, panel) in piece.chunks_exact_mut(each).enumerate() {
            let column = (first / each + index) * COLUMNS;
            transform_panel(&elements[column..], depth, channels, panel);
        }
    });
    Ok(all)
}

/// Memory that blocks use one after the other.
struct Spare {
    /// The input's matrices, for each product the channels of each tile, then the output's. Unlike a vector, a tensor gets
    /// memory that was there before.
    matrices: Tensor,
    segments: Vec<Segment>,
}

/// How far the matrices for the 16 products are apart, for so many elements: not a multiple of a page, as elements so far apart
/// share too few lines of the first cache.
fn apart(elements: usize) -> usize {
    elements.next_multiple_of(PAGE) + 80
}

/// What all threads share.
struct Plan<'a> {
    geometry: &'a Geometry,
    grid: Grid,
    input: &'a [f32],
    filter: &'a [f32],
    zeros: &'a [f32],
}

/// The convolution with a filter that was [transformed](transform), and what `finish` makes of it; false, with an arbitrary output, if
/// there are infinities or NaN: an infinity becomes NaN in neighbours that do not see it.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(super) fn convolve(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    (input, filter): (&Tensor, &Tensor),
    output: &mut [f32],
    finish: Option<&dyn Finish<f32>>,
) -> Result<bool> {
    let (channels, depth) = (geometry.in_depth, geometry.out_depth);
    let grid = Grid::of(geometry);
    let tiles = grid.tiles(geometry.batch);
    let zeros = scratch::zeros(channels)?;
    let (input, filter) = (input.as_slice::<f32>()?, filter.as_slice::<f32>()?);
    let plan = Plan { geometry, grid, input, filter, zeros: &zeros };
    assert_eq!(filter.len(), PRODUCTS * panels_len(channels, depth), "a filter that was not transformed");
    assert_eq!(output.len(), geometry.pixels() * depth, "an output of another size");
    let most = (BLOCK_ELEMENTS / (PRODUCTS * (channels + depth)) / ROWS * ROWS).clamp(4 * ROWS, 32 * ROWS);
    let blocks = tiles.div_ceil(most).next_multiple_of(ctx.threads()).min(tiles.div_ceil(ROWS));
    // Blocks are of whole tiles of products, so that one may have a few tiles more than another.
    let largest = tiles.div_ceil(ROWS).div_ceil(blocks) * ROWS;
    let work = (PRODUCTS * tiles).saturating_mul(channels).saturating_mul(depth) / PER_NANOSECOND;
    let target = Shared(output.as_mut_ptr());
    let is_finite = AtomicBool::new(true);
    ctx.try_parallel_for(blocks, work / blocks, |range| {
        let size = PRODUCTS * (apart(largest * channels) + apart(largest * depth));
        let mut spare = Spare { matrices: Tensor::alloc(DataType::Float, [size])?, segments: Vec::new() };
        for block in range {
            // Whole tiles of products, where a block is not the last.
            let bound = |block: usize| (block * tiles.div_ceil(ROWS) / blocks * ROWS).min(tiles);
            if !plan.block(bound(block)..bound(block + 1), &target, finish, &mut spare)? {
                is_finite.store(false, Ordering::Relaxed);
            }
        }
        Ok(())
    })?;
    Ok(is_finite.into_inner())
}

impl Plan<'_> {
    /// Some tiles; whether all of them are finite.
    fn block(
        &self,
        tiles: Range<usize>,
        target: &Shared<f32>,
        finish: Option<&dyn Finish<f32>>,
        spare: &mut Spare,
    ) -> Result<bool> {
        let (channels, depth, count) = (self.geometry.in_depth, self.geometry.out_depth, tiles.len());
        let Spare { matrices, segments } = spare;
        let (from_input, from_output) = (apart(count * channels), apart(count * depth));
        let (input, output) = matrices.as_mut_slice::<f32>()?.split_at_mut(PRODUCTS * from_input);
        scratch::resize(segments, count.div_ceil(ROWS), [self.zeros.as_ptr(); ROWS])?;
        for (index, tile) in tiles.clone().enumerate() {
            transform_input(self.pixels(tile), &mut input[index * channels..], from_input);
        }
        let panel = panels_len(channels, COLUMNS);
        for product in 0..PRODUCTS {
            let matrix = &input[product * from_input..][..count * channels];
            for (index, segment) in segments.iter_mut().enumerate() {
                let row_at = |row: usize| matrix[(index * ROWS + row).min(count - 1) * channels..].as_ptr();
                *segment = std::array::from_fn(row_at);
            }
            let strip = Strip {
                segments,
                per_row: 1,
                length: channels,
                rows: count,
                panels: &self.filter[product * panel..],
                panel_stride: COLUMNS,
                next_panel: PRODUCTS * panel,
                stride: depth,
                columns: depth,
                accumulate: false,
                words: Words::Float,
                epilogue: Epilogue::default(),
            };
            let products = &mut output[product * from_output..][..count * depth];
            // SAFETY: each segment is followed by `channels` elements of the matrix, and `products` has `count` rows.
            unsafe { tile::multiply(&strip, products.as_mut_ptr()) };
        }
        let mut rest = [0.0; LANES];
        for (index, tile) in tiles.clone().enumerate() {
            // SAFETY: the pixels of a tile are its own, and lie within the output.
            let pixel = |place| unsafe { std::slice::from_raw_parts_mut(target.at(place), depth) };
            let targets = self.outputs(tile).map(|place| place.map(pixel));
            transform_output(&output[index * depth..], from_output, depth, targets, &mut rest);
        }
        let is_finite = rest.iter().all(|&lane| lane == 0.0);
        if let Some(finish) = finish.filter(|_| is_finite) {
            self.finish(tiles, target, finish);
        }
        Ok(is_finite)
    }

    /// The 4 x 4 pixels that a tile sees; zeros where there is padding.
    fn pixels(&self, tile: usize) -> [&[f32]; PRODUCTS] {
        let [image, row, column] = self.grid.place(tile);
        let Geometry { rows, columns, in_depth, .. } = self.geometry;
        let at = |axis: &Axis, place: usize| place.checked_sub(axis.before).filter(|&place| place < axis.input);
        std::array::from_fn(|index| match (at(rows, 2 * row + index / 4), at(columns, 2 * column + index % 4)) {
            (Some(row), Some(column)) => &self.input[self.geometry.input_at([image, 0, row, column])..][..*in_depth],
            _ => self.zeros,
        })
    }

    /// Where the 2 x 2 pixels of a tile begin in the output, as far as they are in it.
    fn outputs(&self, tile: usize) -> [Option<usize>; 4] {
        let [image, row, column] = self.grid.place(tile);
        let (rows, columns) = (self.geometry.rows.output, self.geometry.columns.output);
        std::array::from_fn(|index| {
            let (row, column) = (2 * row + index / 2, 2 * column + index % 2);
            (row < rows && column < columns)
                .then(|| ((image * rows + row) * columns + column) * self.geometry.out_depth)
        })
    }

    /// Finishes the pixels of some tiles, line by line.
    fn finish(&self, tiles: Range<usize>, target: &Shared<f32>, finish: &dyn Finish<f32>) {
        let (columns, depth) = (self.geometry.columns.output, self.geometry.out_depth);
        let mut first = tiles.start;
        while first < tiles.end {
            let next = ((first / self.grid.columns + 1) * self.grid.columns).min(tiles.end);
            let [start, _, below, _] = self.outputs(first);
            let last = self.grid.place(next - 1)[2];
            let pixels = (2 * last + 2).min(columns) - 2 * self.grid.place(first)[2];
            for start in [start, below].into_iter().flatten() {
                // SAFETY: these are pixels of the tiles, which no other thread uses.
                finish.finish(start, unsafe { std::slice::from_raw_parts_mut(target.at(start), pixels * depth) });
            }
            first = next;
        }
    }
}

/// Channels that are computed together.
#[derive(Clone, Copy)]
struct Lanes([f32; LANES]);

impl Lanes {
    #[inline(always)]
    fn load(elements: &[f32]) -> Lanes {
        let mut lanes = [0.0; LANES];
        lanes.copy_from_slice(&elements[..LANES]);
        Lanes(lanes)
    }

    #[inline(always)]
    fn half(mut self) -> Lanes {
        self.0.iter_mut().for_each(|lane| *lane *= 0.5);
        self
    }
}

impl std::ops::Add for Lanes {
    type Output = Lanes;

    #[inline(always)]
    fn add(mut self, other: Lanes) -> Lanes {
        for lane in 0..LANES {
            self.0[lane] += other.0[lane];
        }
        self
    }
}

impl std::ops::Sub for Lanes {
    type Output = Lanes;

    #[inline(always)]
    fn sub(mut self, other: Lanes) -> Lanes {
        for lane in 0..LANES {
            self.0[lane] -= other.0[lane];
        }
        self
    }
}

/// What four neighbouring pixels become.
#[inline(always)]
fn input_sums([a, b, c, d]: [Lanes; 4]) -> [Lanes; 4] {
    [a - c, b + c, c - b, b - d]
}

/// What three taps become.
#[inline(always)]
fn filter_sums([a, b, c]: [Lanes; 3]) -> [Lanes; 4] {
    let (ends, middle) = ((a + c).half(), b.half());
    [a, ends + middle, ends - middle, c]
}

/// What four products become.
#[inline(always)]
fn output_sums([a, b, c, d]: [Lanes; 4]) -> [Lanes; 2] {
    [a + b + c, b - c - d]
}

widest! {
    avx512:
    /// The sums of 3 x 3 taps of [`COLUMNS`] filters, whose elements are `depth` apart, for all channels.
    fn transform_panel(filters: &[f32], depth: usize, channels: usize, panel: &mut [f32]) {
        for channel in 0..channels {
            let load = |tap: usize| Lanes::load(&filters[(tap * channels + channel) * depth..]);
            let columns = [0, 1, 2].map(|column| filter_sums([load(column), load(3 + column), load(6 + column)]));
            let [a, b, c] = columns;
            for row in 0..4 {
                for (column, sum) in filter_sums([a[row], b[row], c[row]]).iter().enumerate() {
                    let at = ((4 * row + column) * channels + channel) * COLUMNS;
                    panel[at..at + COLUMNS].copy_from_slice(&sum.0);
                }
            }
        }
    }
}

widest! {
    avx512:
    /// The sums of 4 x 4 pixels, each of all channels, `stride` elements apart.
    fn transform_input(pixels: [&[f32]; PRODUCTS], sums: &mut [f32], stride: usize) {
        for first in (0..pixels[0].len()).step_by(LANES) {
            let mut columns = [[Lanes([0.0; LANES]); 4]; 4];
            for (index, column) in columns.iter_mut().enumerate() {
                let load = |row: usize| Lanes::load(&pixels[4 * row + index][first..]);
                *column = input_sums([load(0), load(1), load(2), load(3)]);
            }
            let [a, b, c, d] = columns;
            for row in 0..4 {
                for (column, sum) in input_sums([a[row], b[row], c[row], d[row]]).iter().enumerate() {
                    let at = (4 * row + column) * stride + first;
                    sums[at..at + LANES].copy_from_slice(&sum.0);
                }
            }
        }
    }
}

widest! {
    avx512:
    /// The 2 x 2 pixels, as far as there are targets, of the products of `depth` channels, which are `stride` elements apart.
    /// Adds zero for each finite element, and NaN for each other, to `rest`.
    fn transform_output(
        products: &[f32],
        stride: usize,
        depth: usize,
        targets: [Option<&mut [f32]>; 4],
        rest: &mut [f32; LANES],
    ) {
        let [mut first_target, mut second_target, mut third_target, mut fourth_target] = targets;
        let mut sum = Lanes(*rest);
        for first in (0..depth).step_by(LANES) {
            let mut columns = [[Lanes([0.0; LANES]); 2]; 4];
            for (index, column) in columns.iter_mut().enumerate() {
                let load = |row: usize| Lanes::load(&products[(4 * row + index) * stride + first..]);
                *column = output_sums([load(0), load(1), load(2), load(3)]);
            }
            let [a, b, c, d] = columns;
            let [above, above_right] = output_sums([a[0], b[0], c[0], d[0]]);
            let [below, below_right] = output_sums([a[1], b[1], c[1], d[1]]);
            macro_rules! store {
                ($pixel:ident, $target:ident) => {
                    for lane in 0..LANES {
                        sum.0[lane] += $pixel.0[lane] * 0.0;
                    }
                    if let Some(target) = &mut $target {
                        target[first..first + LANES].copy_from_slice(&$pixel.0);
                    }
                };
            }
            store!(above, first_target);
            store!(above_right, second_target);
            store!(below, third_target);
            store!(below_right, fourth_target);
        }
        *rest = sum.0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::space::ONE_PLANE;
    use super::*;
    use kernlink::op::{OpDef, Signature};
    use kernlink::threads::ThreadPool;
    use kernlink_ops::shapes::Padding;

    /// Adds the place to each element, so that a part that is finished twice, never or elsewhere shows.
    struct Places;

    impl Finish<f32> for Places {
        fn finish(&self, first: usize, elements: &mut [f32]) {
            for (place, element) in (first..).zip(elements) {
                *element += (place % 97) as f32;
            }
        }

        fn epilogue(&self, _: usize) -> Epilogue<'_, f32> {
            Epilogue::default()
        }

        fn has_rest(&self) -> bool {
            true
        }

        fn finish_rest(&self, first: usize, elements: &mut [f32]) {
            self.finish(first, elements);
        }
    }

    fn tensor(shape: &[usize], elements: &[f32]) -> Tensor {
        let mut tensor = Tensor::zeros(DataType::Float, shape).unwrap();
        tensor.as_mut_slice::<f32>().unwrap().copy_from_slice(elements);
        tensor
    }

    fn geometry(images: usize, size: [usize; 2], padding: Padding<(i64, i64)>, channels: [usize; 2]) -> Geometry {
        let axis = |size| Axis::new(size, 3, 1, 1, padding).unwrap();
        let [in_depth, out_depth] = channels;
        let [rows, columns] = size.map(axis);
        Geometry { batch: images, planes: ONE_PLANE, rows, columns, in_depth, patch_depth: in_depth, out_depth }
    }

    #[test]
    fn agrees_with_the_definition() {
        let pool = ThreadPool::new("test", 2);
        let signature = Signature::default();
        let ctx = RawContext::new("conv", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(&pool));
        for (images, size, padding, channels) in [
            (1, [12, 12], Padding::Same, [48, 64]),
            (2, [9, 13], Padding::Valid, [64, 32]),
            (3, [7, 11], Padding::Explicit((2, 1)), [48, 48]),
            (1, [1, 90], Padding::Same, [32, 64]),
        ] {
            let geometry = geometry(images, size, padding, channels);
            let [channels, depth] = channels;
            let numbers = |count: usize, from: f32| (0..count).map(|i| (i * 37 % 23) as f32 / 8.0 - from).collect();
            let input: Vec<f32> = numbers(images * size[0] * size[1] * channels, 1.0);
            let filter: Vec<f32> = numbers(9 * channels * depth, 1.5);
            let images = tensor(&[images, size[0], size[1], channels], &input);
            let filters = tensor(&[3, 3, channels, depth], &filter);
            assert!(fits(filters.shape()) && is_worthwhile(&geometry), "{geometry:?}");
            let transformed = transform(&ctx, &filters).unwrap();
            let mut output = vec![f32::NAN; geometry.pixels() * depth];
            assert!(convolve(&ctx, &geometry, (&images, &transformed), &mut output, Some(&Places)).unwrap());
            for (place, &found) in output.iter().enumerate() {
                let (pixel, channel) = (place / depth, place % depth);
                let [image, plane, row, column] = geometry.pixel(pixel);
                let mut sum = 0.0;
                for tap in 0..9 {
                    let (Some(row), Some(column)) =
                        (geometry.rows.at(row, tap / 3), geometry.columns.at(column, tap % 3))
                    else {
                        continue;
                    };
                    let from = geometry.input_at([image, plane, row, column]);
                    for c in 0..channels {
                        sum += f64::from(input[from + c]) * f64::from(filter[(tap * channels + c) * depth + channel]);
                    }
                }
                let expected = sum + (place % 97) as f64;
                assert!((f64::from(found) - expected).abs() < 2e-3, "{geometry:?} {place}: {found}, not {expected}");
            }
            // What is not finite is told, wherever it is, and however many threads there are.
            for place in [0, input.len() / 2, input.len() - 1] {
                let mut input = input.clone();
                input[place] = f32::INFINITY;
                let images = tensor(images.shape(), &input);
                assert!(!convolve(&ctx, &geometry, (&images, &transformed), &mut output, None).unwrap());
            }
        }
    }

    #[test]
    fn others_are_left_alone() {
        let shape = |dims: [usize; 4]| Shape::from(dims);
        assert!(fits(&shape([3, 3, 32, 64])));
        for dims in [[3, 3, 16, 64], [3, 3, 40, 64], [1, 3, 64, 64], [5, 5, 64, 64], [3, 3, 64, 24], [3, 3, 32, 32]] {
            assert!(!fits(&shape(dims)));
        }
        assert!(is_worthwhile(&geometry(1, [12, 12], Padding::Same, [32, 32])));
        assert!(!is_worthwhile(&geometry(1, [8, 8], Padding::Same, [32, 32])));
        let mut strided = geometry(1, [40, 40], Padding::Same, [32, 32]);
        strided.rows.stride = 2;
        assert!(!is_worthwhile(&strided));
        let grouped = Geometry { patch_depth: 16, ..geometry(1, [40, 40], Padding::Same, [32, 32]) };
        assert!(!is_worthwhile(&grouped));
    }
}

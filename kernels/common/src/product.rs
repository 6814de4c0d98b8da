//! Products of matrices of `f32`, and of 16-bit floats as `f32`, by [tiles](crate::tile).
//!
//! The right operand is packed into panels: once if it is constant, a stripe at a time if it is multiplied by few rows only.
//! The left one is read where it lies if its rows are words without gaps, and copied if not. The order of the additions
//! depends on the sizes alone, not on the number of threads.

use std::ops::Range;

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::kernel::RawContext;
use kernlink::tensor::{Tensor, scratch};

#[cfg(target_arch = "x86_64")]
use crate::amx;
use crate::epilogue::Epilogue;
use crate::gemm::{Matrix, Shared, Sizes, Target};
use crate::panels::{Panels, pack_panels, panels_len};
use crate::single::Single;
use crate::tile::{self, COLUMNS, ROWS, Segment, Strip, Words};
use crate::turn::transpose;
use crate::word_buffer::WordBuffer;

/// Multiply-adds a thread does in a nanosecond, or so.
const PER_NANOSECOND: usize = 24;
/// Rows of the panels that tiles take at a time, or so.
const DEPTH: usize = 512;
/// Elements of a block of the left operand, which stays in the second cache while all panels pass over it.
const BLOCK_ELEMENTS: usize = 64 * 1024;
/// As many rows at most are multiplied by a right operand that is not packed: packing takes as long as reading it thrice.
const FEW_ROWS: usize = 4 * ROWS;
/// Elements of a right operand that is not packed either, because it stays in the first cache as it is.
const SMALL: usize = 8 * 1024;
/// Elements of a right operand that is read where it lies, a few of its rows at a time: rows far apart are on pages of their
/// own, of which a processor finds only so many at once.
const UNPACKED_ELEMENTS: usize = 64 * 1024;
/// For as many rows at least, a right operand is packed as a whole: that takes little of the time then.
const MANY_ROWS: usize = 1024;
/// Columns of a stripe, which the second cache holds packed while all rows pass.
const STRIPE: usize = 8 * COLUMNS;

/// `c = a b`, or `c += a b` if the target says so, on the threads of `ctx` if there is one.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
///
/// # Panics
/// If an operand is smaller than the sizes say.
pub fn multiply<T: Single>(
    ctx: Option<&RawContext<'_>>,
    sizes: Sizes,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    c: Target<'_, T>,
) -> Result<()> {
    let Sizes { m, k, n } = sizes;
    if m == 0 {
        return Ok(());
    }
    let is_cheaper = m <= FEW_ROWS || k.saturating_mul(n) <= SMALL;
    let Some(elements) = T::as_singles(b.data).filter(|_| is_cheaper && b.column_stride == 1) else {
        let stripes = n.div_ceil(STRIPE);
        let threads = ctx.map_or(1, RawContext::threads);
        let is_even = stripes.is_multiple_of(threads) || stripes >= 4 * threads;
        if m < MANY_ROWS && k.min(m) > 0 && stripes > 1 && is_even {
            return by_stripes(ctx, sizes, a, b, c);
        }
        return by_panels(ctx, m, a, &Panels::new(ctx, b, k, n)?, c);
    };
    // Whole panels as they are, and the columns beyond them as a panel of their own.
    let whole = n / COLUMNS * COLUMNS;
    let Target { data, row_stride, accumulate } = c;
    if whole > 0 {
        let right = Right { elements, stride: b.row_stride, next: COLUMNS };
        product(ctx, Sizes { n: whole, ..sizes }, a, right, Target { data: &mut *data, row_stride, accumulate })?;
    }
    if whole < n {
        let b = Matrix { data: b.data.get(whole..).unwrap_or(&[]), ..b };
        let rest = Target { data: &mut data[whole..], row_stride, accumulate };
        by_panels(None, m, a, &Panels::new(None, b, k, n - whole)?, rest)?;
    }
    Ok(())
}

/// [`multiply`] for a right operand that is packed, and a left one of `m` rows.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
///
/// # Panics
/// If `a` or `c` is smaller than that.
pub fn by_panels<T: Single>(
    ctx: Option<&RawContext<'_>>,
    m: usize,
    a: Matrix<'_, T>,
    b: &Panels,
    c: Target<'_, T>,
) -> Result<()> {
    let (k, n) = (b.rows(), b.columns());
    let right = Right { elements: b.elements()?, stride: COLUMNS, next: COLUMNS * k.div_ceil(T::per_word()) };
    product(ctx, Sizes { m, k, n }, a, right, c)
}

/// [`multiply`] for a right operand that is packed stripe by stripe, each when it is needed.
fn by_stripes<T: Single>(
    ctx: Option<&RawContext<'_>>,
    sizes: Sizes,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    c: Target<'_, T>,
) -> Result<()> {
    let Sizes { m, k, n } = sizes;
    check(sizes, &c);
    let depth = k.div_ceil(T::per_word());
    // Tensors, unlike vectors, get memory that was there before.
    let mut copy;
    let left = match straight(a, k) {
        Some((words, stride)) => Left::Words(words, stride),
        None => {
            copy = Tensor::alloc(DataType::Float, [m, depth])?;
            let rows = copy.as_mut_slice::<f32>()?;
            copy_rows(a, 0..m, k, rows);
            Left::Words(rows, depth)
        }
    };
    #[cfg(target_arch = "x86_64")]
    let mut tiles;
    #[cfg(target_arch = "x86_64")]
    let left = match left {
        Left::Words(words, stride) if has_matrix_unit::<T>() => {
            tiles = Tensor::alloc(DataType::Float, [amx::packed_len(m, depth)])?;
            let packed = tiles.as_mut_slice::<f32>()?;
            amx::pack_rows((words, stride), m, depth, packed);
            Left::Tiles(packed)
        }
        left => left,
    };
    let stripes = n.div_ceil(STRIPE);
    let work = m.saturating_mul(STRIPE).saturating_mul(k) / PER_NANOSECOND;
    let target = Shared(c.data.as_mut_ptr());
    let run = |range: Range<usize>| {
        let mut spare = Spare::default();
        let mut packed = Tensor::alloc(DataType::Float, [panels_len(depth, STRIPE)])?;
        let packed = packed.as_mut_slice::<f32>()?;
        for stripe in range {
            let columns = stripe * STRIPE..n.min((stripe + 1) * STRIPE);
            let width = columns.len();
            let packed = &mut packed[..panels_len(depth, width)];
            pack_panels(b, k, columns.clone(), packed);
            let right = Right { elements: packed, stride: COLUMNS, next: COLUMNS * depth };
            let sizes = Sizes { n: width, ..sizes };
            let (stride, accumulate) = (c.row_stride, c.accumulate);
            let whole = Product { sizes, a, left, right, stride, accumulate };
            let target = Shared(target.at(columns.start));
            let blocks = Blocks::of::<T>(m, depth);
            for rows in (0..blocks.count).map(|index| blocks.rows(index)) {
                whole.part(rows, 0..width.div_ceil(COLUMNS), &target, &mut spare)?;
            }
        }
        Ok(())
    };
    match ctx {
        Some(ctx) => ctx.try_parallel_for(stripes, work, run),
        None => run(0..stripes),
    }
}

/// Where the panels of a right operand are.
#[derive(Clone, Copy)]
struct Right<'a> {
    elements: &'a [f32],
    /// Words from row to row of a panel.
    stride: usize,
    /// Words from panel to panel.
    next: usize,
}

fn check<T>(sizes: Sizes, c: &Target<'_, T>) {
    let Sizes { m, n, .. } = sizes;
    assert!(
        (m == 1 || c.row_stride >= n) && c.data.len() > (m - 1) * c.row_stride + n - 1,
        "a target that is too small"
    );
}

/// Blocks of rows of nearly equal size, in whole tiles.
struct Blocks {
    count: usize,
    m: usize,
    /// Rows of a tile.
    tile: usize,
}

impl Blocks {
    /// For a left operand of `m` rows with so many words each.
    fn of<T: Single>(m: usize, depth: usize) -> Blocks {
        #[cfg(target_arch = "x86_64")]
        if has_matrix_unit::<T>() {
            let block = (4 * BLOCK_ELEMENTS / (depth * amx::ROWS).max(1)).clamp(1, 16);
            return Blocks { count: m.div_ceil(amx::ROWS).div_ceil(block), m, tile: amx::ROWS };
        }
        let block = (BLOCK_ELEMENTS / (depth.min(DEPTH) * ROWS)).clamp(4, 64);
        Blocks { count: m.div_ceil(ROWS).div_ceil(block), m, tile: ROWS }
    }

    fn rows(&self, index: usize) -> Range<usize> {
        let first = |index: usize| (index * self.m.div_ceil(self.tile) / self.count * self.tile).min(self.m);
        first(index)..first(index + 1)
    }
}

/// Whether the processor has a unit for matrices of words of `T`.
pub fn has_matrix_unit<T: Single>() -> bool {
    #[cfg(target_arch = "x86_64")]
    return T::per_word() == 2 && amx::has_pairs();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The rows of a left operand as words and how far apart they are, if they can be read where they lie.
fn straight<'a, T: Single>(a: Matrix<'a, T>, k: usize) -> Option<(&'a [f32], usize)> {
    let per_word = T::per_word();
    let fits = a.column_stride == 1 && a.row_stride.is_multiple_of(per_word) && k.is_multiple_of(per_word);
    T::as_words(a.data).filter(|_| fits).map(|words| (words, a.row_stride / per_word))
}

fn product<T: Single>(
    ctx: Option<&RawContext<'_>>,
    sizes: Sizes,
    a: Matrix<'_, T>,
    right: Right<'_>,
    c: Target<'_, T>,
) -> Result<()> {
    let Sizes { m, k, n } = sizes;
    if m == 0 || n == 0 {
        return Ok(());
    }
    check(sizes, &c);
    if k == 0 {
        if !c.accumulate {
            c.data.chunks_mut(c.row_stride).take(m).for_each(|row| row[..n].fill(T::ZERO));
        }
        return Ok(());
    }
    let work = m.saturating_mul(n).saturating_mul(k) / PER_NANOSECOND;
    let threads = ctx.map_or(1, RawContext::threads);
    let panels = n.div_ceil(COLUMNS);
    let blocks = Blocks::of::<T>(m, k.div_ceil(T::per_word()));
    let count = blocks.count;
    // As many parts for each thread, and all of nearly the same size.
    let splits = if threads == 1 || count >= 8 * threads { 1 } else { panels.min(threads * 4usize.div_ceil(count)) };
    let items = count * splits;
    let left = straight(a, k).map_or(Left::Elements, |(words, stride)| Left::Words(words, stride));
    let whole = Product { sizes, a, left, right, stride: c.row_stride, accumulate: c.accumulate };
    let target = Shared(c.data.as_mut_ptr());
    let run = |range: Range<usize>| {
        let mut spare = Spare::default();
        for item in range {
            let (index, split) = (item / splits, item % splits);
            let columns = split * panels / splits..(split + 1) * panels / splits;
            whole.part(blocks.rows(index), columns, &target, &mut spare)?;
        }
        Ok(())
    };
    match ctx {
        Some(ctx) => ctx.try_parallel_for(items, work / items, run),
        None => run(0..items),
    }
}

/// Memory that the parts of a product use one after the other.
#[derive(Default)]
struct Spare {
    segments: Vec<Segment>,
    /// Rows of the left operand as words.
    left: WordBuffer,
    /// These in the order of AMX.
    #[cfg(target_arch = "x86_64")]
    tiles: WordBuffer,
    /// Results that are rounded afterwards.
    results: WordBuffer,
}

/// How the left operand can be read.
#[derive(Clone, Copy)]
enum Left<'a> {
    /// As the elements that it consists of: it is copied a block at a time.
    Elements,
    /// As words, and how far its rows are apart.
    Words(&'a [f32], usize),
    /// As tiles of AMX, all of it.
    #[cfg(target_arch = "x86_64")]
    Tiles(&'a [f32]),
}

/// What all parts of a product share.
struct Product<'a, T> {
    sizes: Sizes,
    a: Matrix<'a, T>,
    left: Left<'a>,
    right: Right<'a>,
    stride: usize,
    accumulate: bool,
}

impl<T: Single> Product<'_, T> {
    /// Computes some rows of some panels of the result.
    fn part(&self, rows: Range<usize>, panels: Range<usize>, target: &Shared<T>, spare: &mut Spare) -> Result<()> {
        let Sizes { k, n, .. } = self.sizes;
        let depth = k.div_ceil(T::per_word());
        let columns = panels.start * COLUMNS..n.min(panels.end * COLUMNS);
        if rows.is_empty() || columns.is_empty() {
            return Ok(());
        }
        #[cfg(target_arch = "x86_64")]
        if has_matrix_unit::<T>() {
            return self.part_by_amx(rows, panels, target, spare);
        }
        let Spare { segments, left, results, .. } = spare;
        let (left, left_stride) = self.words(&rows, left)?;
        assert!(left.len() >= (rows.len() - 1) * left_stride + depth, "a left operand that is too small");
        // What is not `f32` is computed beside its place, and rounded in the end.
        let (out, out_stride, adds) = match T::as_singles(&[]) {
            Some(_) => {
                (target.at(rows.start * self.stride + columns.start).cast::<f32>(), self.stride, self.accumulate)
            }
            None => (results.words(rows.len() * columns.len())?.as_mut_ptr(), columns.len(), false),
        };
        let count = rows.len();
        scratch::resize(segments, count.div_ceil(ROWS), [left.as_ptr(); ROWS])?;
        // A few rows at a time of a right operand that is not packed.
        let is_packed = self.right.stride == COLUMNS;
        let few = (UNPACKED_ELEMENTS / self.right.stride.max(1)).clamp(16, depth.max(16));
        let pieces = if is_packed { 1 } else { depth.div_ceil(few) };
        for piece in 0..pieces {
            let (first, end) = (piece * depth / pieces, (piece + 1) * depth / pieces);
            for (tile, segment) in segments.iter_mut().enumerate() {
                let row_at = |row: usize| left[(tile * ROWS + row).min(count - 1) * left_stride + first..].as_ptr();
                *segment = std::array::from_fn(row_at);
            }
            let strip = Strip {
                segments,
                per_row: 1,
                length: end - first,
                rows: count,
                panels: &self.right.elements[panels.start * self.right.next + first * self.right.stride..],
                panel_stride: self.right.stride,
                next_panel: self.right.next,
                stride: out_stride,
                columns: columns.len(),
                accumulate: adds || piece > 0,
                words: if T::per_word() == 2 { Words::Pair } else { Words::Float },
                epilogue: Epilogue::default(),
            };
            // SAFETY: the rows of the left operand have `depth` words, as was asserted; the parts write rows and columns of
            // their own, which the target has, or all of `results`.
            unsafe { tile::multiply(&strip, out) };
        }
        if T::as_singles(&[]).is_none() {
            let results = results.words(rows.len() * columns.len())?;
            self.store(rows, columns, (results, out_stride), target);
        }
        Ok(())
    }

    /// Some rows of the left operand as words, and how far they are apart.
    fn words<'s>(&'s self, rows: &Range<usize>, copy: &'s mut WordBuffer) -> Result<(&'s [f32], usize)> {
        if let Left::Words(words, stride) = self.left {
            return Ok((&words[rows.start * stride..], stride));
        }
        let depth = self.sizes.k.div_ceil(T::per_word());
        let copy = copy.words(rows.len() * depth)?;
        copy_rows(self.a, rows.clone(), self.sizes.k, copy);
        Ok((copy, depth))
    }

    /// [`Product::part`] by the processor's unit for matrices, a group of panels after the other.
    #[cfg(target_arch = "x86_64")]
    fn part_by_amx(
        &self,
        rows: Range<usize>,
        panels: Range<usize>,
        target: &Shared<T>,
        spare: &mut Spare,
    ) -> Result<()> {
        /// Panels whose results stay in the second cache beside the left operand.
        const GROUP: usize = 16;
        /// Columns from row to row of the results, an odd number of lines, so that rows do not drive each other from the cache.
        const STRIDE: usize = (GROUP + 1) * COLUMNS;
        let Sizes { k, n, .. } = self.sizes;
        let depth = k.div_ceil(T::per_word());
        let Spare { left, tiles, results, .. } = spare;
        let left = match self.left {
            Left::Tiles(tiles) => &tiles[amx::packed_len(rows.start, depth)..],
            _ => {
                let (words, stride) = self.words(&rows, left)?;
                let tiles = tiles.words(amx::packed_len(rows.len(), depth))?;
                amx::pack_rows((words, stride), rows.len(), depth, tiles);
                tiles
            }
        };
        let results = results.words(rows.len() * STRIDE)?;
        for first in panels.clone().step_by(GROUP) {
            let group = first..panels.end.min(first + GROUP);
            let block = amx::Block {
                left,
                rows: rows.len(),
                depth,
                panels: &self.right.elements[group.start * self.right.next..],
                count: group.len(),
                next_panel: self.right.next,
                stride: STRIDE,
                words: Words::Pair,
            };
            amx::multiply(&block, results);
            let columns = group.start * COLUMNS..n.min(group.end * COLUMNS);
            self.store(rows.clone(), columns, (results, STRIDE), target);
        }
        Ok(())
    }

    /// Rounds results, whose rows are so far apart, to their places.
    fn store(&self, rows: Range<usize>, columns: Range<usize>, (results, stride): (&[f32], usize), target: &Shared<T>) {
        for (row, results) in rows.zip(results.chunks(stride)) {
            let from = target.at(row * self.stride + columns.start);
            // SAFETY: the parts of a product store rows and columns of their own, which the target has.
            let target = unsafe { std::slice::from_raw_parts_mut(from, columns.len()) };
            T::store(&results[..columns.len()], target, self.accumulate);
        }
    }
}

/// Rows of a matrix of `k` columns as words, without gaps.
fn copy_rows<T: Single>(matrix: Matrix<'_, T>, rows: Range<usize>, k: usize, target: &mut [f32]) {
    let per_word = T::per_word();
    let depth = k.div_ceil(per_word);
    if matrix.column_stride == 1 {
        for (row, target) in rows.zip(target.chunks_exact_mut(depth)) {
            T::words(&matrix.data[row * matrix.row_stride..][..k], target);
        }
        return;
    }
    if matrix.row_stride == 1
        && let Some(elements) = T::as_singles(matrix.data)
    {
        let source = (&elements[rows.start.min(elements.len())..], matrix.column_stride);
        return transpose(source, (target, depth), [k, rows.len()]);
    }
    // Square blocks, so that both sides are read and written by lines.
    const SIDE: usize = 16;
    let count = rows.len();
    for first_row in (0..count).step_by(SIDE) {
        for first in (0..depth).step_by(SIDE) {
            for row in first_row..count.min(first_row + SIDE) {
                let from = (rows.start + row) * matrix.row_stride;
                let at = |p: usize| matrix.data[from + p * matrix.column_stride];
                for p in first..depth.min(first + SIDE) {
                    target[row * depth + p] = match per_word {
                        1 => at(p).single(),
                        _ if 2 * p + 1 == k => T::pair(at(2 * p), T::ZERO),
                        _ => T::pair(at(2 * p), at(2 * p + 1)),
                    };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::dtype::{bf16, f16};
    use kernlink::op::{OpDef, Signature};
    use kernlink::threads::ThreadPool;

    fn agrees<T: Single>(ctx: Option<&RawContext<'_>>, sizes: Sizes) {
        let Sizes { m, k, n } = sizes;
        // Small whole numbers, so that every order of addition gives the same sum.
        let values = |count: usize, from: f32| -> Vec<T> {
            let mut values = vec![T::ZERO; count];
            let singles: Vec<f32> = (0..count).map(|i| (i * 7 % 5) as f32 - from).collect();
            T::store(&singles, &mut values, false);
            values
        };
        let (a, b) = (values(m * k, 2.0), values(k * n, 1.0));
        // With a gap between the elements of a row.
        let gaps = Matrix { data: &a, row_stride: 1, column_stride: m };
        for a in [Matrix::rows(&a, k), gaps] {
            for b in [Matrix::rows(&b, n), Matrix::transposed(&b, k)] {
                let product = |i: usize, j: usize| {
                    let left = |p: usize| a.data[i * a.row_stride + p * a.column_stride].single();
                    let right = |p: usize| b.data[p * b.row_stride + j * b.column_stride].single();
                    (0..k).map(|p| left(p) * right(p)).sum::<f32>()
                };
                for accumulate in [false, true] {
                    let mut c = values(m * (n + 3), 1.0);
                    let before: Vec<f32> = c.iter().map(|element| element.single()).collect();
                    multiply(ctx, sizes, a, b, Target { data: &mut c, row_stride: n + 3, accumulate }).unwrap();
                    for (index, element) in c.iter().enumerate() {
                        let (i, j) = (index / (n + 3), index % (n + 3));
                        let kept = if accumulate || j >= n { before[index] } else { 0.0 };
                        let expected = if j < n { kept + product(i, j) } else { kept };
                        let mut rounded = [T::ZERO];
                        T::store(&[expected], &mut rounded, false);
                        assert_eq!(element.single(), rounded[0].single(), "{sizes:?} {i} {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn products_agree_with_the_definition() {
        let pool = ThreadPool::new("test", 3);
        let signature = Signature::default();
        let ctx = RawContext::new("product", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(&pool));
        for (m, k, n) in [
            (1, 1, 1),
            (2, 3, 16),
            (7, 5, 33),
            (3, 0, 2),
            (30, 70, 48),
            (65, 20, 3),
            (5, 1700, 31),
            (8, 700, 100),
            (40, 133, 130),
        ] {
            for ctx in [None, Some(&ctx)] {
                agrees::<f32>(ctx, Sizes { m, k, n });
                agrees::<f16>(ctx, Sizes { m, k, n });
                agrees::<bf16>(ctx, Sizes { m, k, n });
            }
        }
        for ctx in [None, Some(&ctx)] {
            agrees::<f32>(ctx, Sizes { m: 61, k: 300, n: 700 });
        }
        agrees::<f32>(Some(&ctx), Sizes { m: 300, k: 1100, n: 130 });
    }
}

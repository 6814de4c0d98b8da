//! Products of matrices of 8-bit integers, whose sums are `i32` and wrap.
//!
//! Processors multiply four unsigned numbers by four signed ones and add up the products (AVX512-VNNI, and AMX for whole
//! tiles), which are the words of [tiles](crate::tile) here. A signed number of the left operand becomes unsigned by adding 128,
//! an unsigned one of the right operand signed by subtracting 128. What that adds to a sum follows from the sums of rows and
//! columns, with which the results begin: with `x' = x + p` and `y' = y - q`, each `p` or `q` 128 or 0,
//! `sum(x y) = sum(x' y') + q sum(x) - p sum(y')`.

use std::ops::Range;

use kernlink::Result;
use kernlink::dtype::{DataType, Element};
use kernlink::kernel::RawContext;
use kernlink::tensor::{Tensor, scratch};

#[cfg(target_arch = "x86_64")]
use crate::amx;
use crate::epilogue::Epilogue;
use crate::gemm::{Matrix, Shared, Sizes};
use crate::tile::{self, COLUMNS, ROWS, Segment, Strip, Words};
#[cfg(target_arch = "x86_64")]
use crate::word_buffer::WordBuffer;

/// Elements of a word.
const FOUR: usize = 4;
/// Multiply-adds a thread does in a nanosecond, or so.
const PER_NANOSECOND: usize = 96;
/// Rows that are multiplied by some panels at a time: whole tiles of AVX-512 and of AMX.
const BLOCK_ROWS: usize = 96;
/// Panels that are multiplied by some rows at a time, so that they stay in the second cache.
const GROUP: usize = 16;
/// What is added to or subtracted from numbers of the other sign.
const HALF: i32 = 128;

/// An 8-bit integer.
pub trait Byte: Element + Copy + Into<i32> {
    /// Whether it may be negative.
    const IS_SIGNED: bool;

    /// Its bits.
    fn bits(self) -> u8;
}

impl Byte for i8 {
    const IS_SIGNED: bool = true;

    #[inline(always)]
    fn bits(self) -> u8 {
        self.cast_unsigned()
    }
}

impl Byte for u8 {
    const IS_SIGNED: bool = false;

    #[inline(always)]
    fn bits(self) -> u8 {
        self
    }
}

/// Whether this processor multiplies four 8-bit integers at a time; without that nothing here can be used.
pub fn is_available() -> bool {
    tile::has_bytes()
}

/// Whether products of these sizes are better computed here than as products of wider integers: a panel of few columns is
/// mostly padding, and small products are over before their operands are packed.
pub fn is_worthwhile(sizes: Sizes) -> bool {
    const SMALL: usize = 4096;
    let Sizes { m, k, n } = sizes;
    n >= COLUMNS / 2 && k >= FOUR && m.saturating_mul(k).saturating_mul(n) >= SMALL
}

/// Four neighbours as a word; `flip` exchanges the signs of the bytes that it has bits in.
#[inline(always)]
fn word<T: Byte>(bytes: [T; FOUR], flip: u32) -> f32 {
    f32::from_bits(u32::from_le_bytes(bytes.map(T::bits)) ^ flip)
}

/// The first of four neighbours that there are, and zeros.
#[inline(always)]
fn rest_of_word<T: Byte>(count: usize, at: impl Fn(usize) -> T, flip: u32) -> f32 {
    let flipped = |index: usize| at(index).bits() ^ flip.to_le_bytes()[index];
    f32::from_bits(u32::from_le_bytes(std::array::from_fn(|index| if index < count { flipped(index) } else { 0 })))
}

/// What exchanges the signs of all bytes, or of none.
const fn flip(is_wanted: bool) -> u32 {
    if is_wanted { 0x8080_8080 } else { 0 }
}

/// A right operand, packed: `[panel][four rows][column]`, zeros beyond the last row and column.
#[derive(Clone)]
pub struct BytePanels {
    words: Tensor,
    /// The sum of each column as it was packed; beyond the last column 0.
    sums: Tensor,
    /// Whether it was unsigned.
    is_moved: bool,
    k: usize,
    n: usize,
}

impl BytePanels {
    /// Packs a matrix of `k` rows and `n` columns, on the threads of `ctx` if there is one.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    ///
    /// # Panics
    /// If the matrix is smaller than that.
    pub fn new<B: Byte>(ctx: Option<&RawContext<'_>>, b: Matrix<'_, B>, k: usize, n: usize) -> Result<BytePanels> {
        let (depth, panels) = (k.div_ceil(FOUR), n.div_ceil(COLUMNS));
        let mut words = Tensor::alloc(DataType::Float, [panels, depth, COLUMNS])?;
        let mut sums = Tensor::alloc(DataType::Int32, [panels, COLUMNS])?;
        let each = depth * COLUMNS;
        let sums_at = Shared(sums.as_mut_slice::<i32>()?.as_mut_ptr());
        let work = |first: usize, piece: &mut [f32]| {
            for (panel, target) in (first / each.max(1)..).zip(piece.chunks_exact_mut(each)) {
                // SAFETY: each panel has sums of its own, and is packed once.
                let sums = unsafe { &mut *sums_at.at(panel * COLUMNS).cast::<[i32; COLUMNS]>() };
                pack_panel(b, k, panel * COLUMNS..n.min((panel + 1) * COLUMNS), target, sums);
            }
        };
        let elements = words.as_mut_slice::<f32>()?;
        match ctx {
            _ if each == 0 => sums.as_mut_slice::<i32>()?.fill(0),
            Some(ctx) => ctx.parallel_chunks(elements, each, 1, work),
            None => work(0, elements),
        }
        Ok(BytePanels { words, sums, is_moved: !B::IS_SIGNED, k, n })
    }
}

/// Packs some columns as a panel, and adds each of them up.
fn pack_panel<B: Byte>(
    b: Matrix<'_, B>,
    k: usize,
    columns: Range<usize>,
    target: &mut [f32],
    sums: &mut [i32; COLUMNS],
) {
    let flip = flip(!B::IS_SIGNED);
    let (lines, _) = target.as_chunks_mut::<COLUMNS>();
    let whole = k / FOUR;
    for (group, line) in lines.iter_mut().enumerate() {
        let row = group * FOUR;
        if group < whole && b.column_stride == 1 && columns.len() == COLUMNS {
            let rows: [&[B; COLUMNS]; FOUR] = std::array::from_fn(|next| {
                let line = &b.data[(row + next) * b.row_stride + columns.start..];
                line.first_chunk().expect("a right operand that is too small")
            });
            for (column, target) in line.iter_mut().enumerate() {
                *target = word(rows.map(|row| row[column]), flip);
            }
            continue;
        }
        for (column, target) in (columns.start..columns.start + COLUMNS).zip(line.iter_mut()) {
            let at = |next: usize| b.data[(row + next) * b.row_stride + column * b.column_stride];
            *target = match () {
                () if column >= columns.end => 0.0,
                () if group < whole => word(std::array::from_fn(at), flip),
                () => rest_of_word(k - row, at, flip),
            };
        }
    }
    *sums = [0; COLUMNS];
    for line in lines {
        for (sum, word) in sums.iter_mut().zip(line) {
            let bytes = word.to_bits().to_le_bytes().map(|byte| i32::from(byte.cast_signed()));
            *sum = sum.wrapping_add(bytes.iter().sum());
        }
    }
}

/// Rows of a left operand as words, without gaps.
fn left_words<A: Byte>(a: Matrix<'_, A>, rows: Range<usize>, k: usize, target: &mut [f32]) {
    let (depth, flip) = (k.div_ceil(FOUR), flip(A::IS_SIGNED));
    for (row, target) in rows.zip(target.chunks_exact_mut(depth)) {
        if a.column_stride == 1 {
            let (whole, rest) = a.data[row * a.row_stride..][..k].as_chunks::<FOUR>();
            for (target, &bytes) in target.iter_mut().zip(whole) {
                *target = word(bytes, flip);
            }
            if let Some(target) = target.get_mut(whole.len()) {
                *target = rest_of_word(rest.len(), |index| rest[index], flip);
            }
            continue;
        }
        for (group, target) in target.iter_mut().enumerate() {
            let at = |next: usize| a.data[row * a.row_stride + (group * FOUR + next) * a.column_stride];
            let count = k - group * FOUR;
            *target = if count >= FOUR { word(std::array::from_fn(at), flip) } else { rest_of_word(count, at, flip) };
        }
    }
}

/// `c = a b` for a left operand of `m` rows and rows of `c` without gaps, on the threads of `ctx` if there is one.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
///
/// # Panics
/// If `a` or `c` is smaller than that, or the processor [has no such instructions](is_available).
pub fn multiply<A: Byte>(
    ctx: Option<&RawContext<'_>>,
    m: usize,
    a: Matrix<'_, A>,
    b: &BytePanels,
    c: &mut [i32],
) -> Result<()> {
    multiply_by(ctx, m, a, b, c, has_matrix_unit())
}

/// Whether whole tiles are multiplied by the processor's unit for matrices.
fn has_matrix_unit() -> bool {
    #[cfg(target_arch = "x86_64")]
    return amx::has_bytes();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// [`multiply`] by the unit for matrices, or not.
fn multiply_by<A: Byte>(
    ctx: Option<&RawContext<'_>>,
    m: usize,
    a: Matrix<'_, A>,
    b: &BytePanels,
    c: &mut [i32],
    by_unit: bool,
) -> Result<()> {
    let (k, n) = (b.k, b.n);
    if m == 0 || n == 0 {
        return Ok(());
    }
    assert!(c.len() >= m * n, "a target that is too small");
    if k == 0 {
        c.fill(0);
        return Ok(());
    }
    let depth = k.div_ceil(FOUR);
    let mut left = Tensor::alloc(DataType::Float, [m, depth])?;
    let words = left.as_mut_slice::<f32>()?;
    let fill = |first: usize, piece: &mut [f32]| {
        let first = first / depth;
        left_words(a, first..first + piece.len() / depth, k, piece);
    };
    match ctx {
        Some(ctx) => ctx.parallel_chunks(words, depth, 1, fill),
        None => fill(0, words),
    }
    let product = Product {
        sizes: Sizes { m, k, n },
        left: left.as_slice()?,
        right: b.words.as_slice()?,
        sums: b.sums.as_slice()?,
        left_moved: if A::IS_SIGNED { HALF } else { 0 },
        right_moved: if b.is_moved { HALF } else { 0 },
        target: Shared(c.as_mut_ptr()),
        by_unit,
    };
    let (blocks, panels) = (m.div_ceil(BLOCK_ROWS), n.div_ceil(COLUMNS));
    let threads = ctx.map_or(1, RawContext::threads);
    // Several parts for each thread.
    let groups = panels.div_ceil(GROUP).max(if threads == 1 { 1 } else { panels.min(4 * threads / blocks) });
    let run = |range: Range<usize>| {
        let mut spare = Spare::default();
        for item in range {
            let (block, group) = (item / groups, item % groups);
            let rows = block * m / blocks..(block + 1) * m / blocks;
            product.part(rows, group * panels / groups..(group + 1) * panels / groups, &mut spare)?;
        }
        Ok(())
    };
    let items = blocks * groups;
    let work = m.saturating_mul(n).saturating_mul(k) / PER_NANOSECOND;
    match ctx {
        Some(ctx) => ctx.try_parallel_for(items, work / items, run),
        None => run(0..items),
    }
}

/// What all parts of a product share.
struct Product<'a> {
    sizes: Sizes,
    left: &'a [f32],
    right: &'a [f32],
    /// Sums of the columns of the right operand.
    sums: &'a [i32],
    /// What was added to each element of the left operand.
    left_moved: i32,
    /// What was subtracted from each element of the right operand.
    right_moved: i32,
    target: Shared<i32>,
    by_unit: bool,
}

/// Memory that the parts of a product use one after the other.
#[derive(Default)]
struct Spare {
    segments: Vec<Segment>,
    /// Rows of the left operand in the order of AMX, and results beside their places.
    #[cfg(target_arch = "x86_64")]
    tiles: WordBuffer,
    #[cfg(target_arch = "x86_64")]
    results: WordBuffer,
}

impl Product<'_> {
    /// Computes some rows of some panels of the result.
    fn part(&self, rows: Range<usize>, panels: Range<usize>, spare: &mut Spare) -> Result<()> {
        let Sizes { k, n, .. } = self.sizes;
        let depth = k.div_ceil(FOUR);
        let columns = panels.start * COLUMNS..n.min(panels.end * COLUMNS);
        if rows.is_empty() || columns.is_empty() {
            return Ok(());
        }
        let left = &self.left[rows.start * depth..rows.end * depth];
        let right = &self.right[panels.start * depth * COLUMNS..panels.end * depth * COLUMNS];
        #[cfg(target_arch = "x86_64")]
        if self.by_unit {
            return self.part_by_amx(rows, columns, (left, right), spare);
        }
        let first = |row: usize| self.target.at((rows.start + row) * n + columns.start);
        for (row, words) in left.chunks_exact(depth).enumerate() {
            // SAFETY: the parts write rows and columns of their own, which the target has.
            let target = unsafe { std::slice::from_raw_parts_mut(first(row), columns.len()) };
            self.begin(words, columns.start, target);
        }
        let count = rows.len();
        let segments = &mut spare.segments;
        scratch::resize(segments, count.div_ceil(ROWS), [left.as_ptr(); ROWS])?;
        for (tile, segment) in segments[..count.div_ceil(ROWS)].iter_mut().enumerate() {
            *segment = std::array::from_fn(|row| left[(tile * ROWS + row).min(count - 1) * depth..].as_ptr());
        }
        let strip = Strip {
            segments: &segments[..count.div_ceil(ROWS)],
            per_row: 1,
            length: depth,
            rows: count,
            panels: right,
            panel_stride: COLUMNS,
            next_panel: depth * COLUMNS,
            stride: n,
            columns: columns.len(),
            accumulate: true,
            words: Words::Bytes,
            epilogue: Epilogue::default(),
        };
        // SAFETY: the rows of the left operand have `depth` words; the parts write rows and columns of their own, which the
        // target has, and whose elements are as large as `f32`.
        unsafe { tile::multiply(&strip, first(0).cast::<f32>()) };
        Ok(())
    }

    /// Writes what some results are besides the products of a row's words, from a column on.
    fn begin(&self, words: &[f32], first: usize, target: &mut [i32]) {
        let of_row = match self.right_moved {
            0 => 0,
            moved => {
                let bytes = |word: &f32| word.to_bits().to_le_bytes().map(i32::from).iter().sum::<i32>();
                let sum = words.iter().map(bytes).fold(0, i32::wrapping_add);
                // Bytes beyond the last column are 0, which nothing was added to.
                let added = self.left_moved.wrapping_mul(self.sizes.k as i32);
                moved.wrapping_mul(sum.wrapping_sub(added))
            }
        };
        for (target, &sum) in target.iter_mut().zip(&self.sums[first..]) {
            *target = of_row.wrapping_sub(self.left_moved.wrapping_mul(sum));
        }
    }

    /// [`Product::part`] by the processor's unit for matrices.
    #[cfg(target_arch = "x86_64")]
    fn part_by_amx(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        (left, right): (&[f32], &[f32]),
        spare: &mut Spare,
    ) -> Result<()> {
        let Sizes { k, n, .. } = self.sizes;
        let (depth, count) = (k.div_ceil(FOUR), columns.len().div_ceil(COLUMNS));
        // An odd number of lines, so that rows do not drive each other from the cache.
        let stride = (count | 1) * COLUMNS;
        let Spare { tiles, results, .. } = spare;
        let tiles = tiles.words(amx::packed_len(rows.len(), depth))?;
        amx::pack_rows((left, depth), rows.len(), depth, tiles);
        let results = results.words(rows.len() * stride)?;
        let block = amx::Block {
            left: tiles,
            rows: rows.len(),
            depth,
            panels: right,
            count,
            next_panel: depth * COLUMNS,
            stride,
            words: Words::Bytes,
        };
        amx::multiply(&block, results);
        for ((row, words), results) in rows.zip(left.chunks_exact(depth)).zip(results.chunks_exact(stride)) {
            // SAFETY: the parts write rows and columns of their own, which the target has.
            let target =
                unsafe { std::slice::from_raw_parts_mut(self.target.at(row * n + columns.start), columns.len()) };
            self.begin(words, columns.start, target);
            for (target, sum) in target.iter_mut().zip(results) {
                *target = target.wrapping_add(sum.to_bits().cast_signed());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::op::{OpDef, Signature};
    use kernlink::threads::ThreadPool;

    fn agrees<A: Byte + From8, B: Byte + From8>(ctx: Option<&RawContext<'_>>, sizes: Sizes, of: [fn(usize) -> u8; 2]) {
        let Sizes { m, k, n } = sizes;
        let a: Vec<A> = (0..m * k).map(|i| A::from8(of[0](i))).collect();
        let b: Vec<B> = (0..k * n).map(|i| B::from8(of[1](i + 5))).collect();
        for a in [Matrix::rows(&a, k), Matrix::transposed(&a, m)] {
            for b in [Matrix::rows(&b, n), Matrix::transposed(&b, k)] {
                let panels = BytePanels::new(ctx, b, k, n).unwrap();
                let [mut c, mut by_vectors] = [(); 2].map(|()| vec![77; m * n]);
                multiply(ctx, m, a, &panels, &mut c).unwrap();
                multiply_by(ctx, m, a, &panels, &mut by_vectors, false).unwrap();
                assert_eq!(c, by_vectors, "by the unit for matrices, and without");
                for (index, &found) in c.iter().enumerate() {
                    let (i, j) = (index / n, index % n);
                    let factors = |p: usize| -> (i32, i32) {
                        let x = a.data[i * a.row_stride + p * a.column_stride];
                        (x.into(), b.data[p * b.row_stride + j * b.column_stride].into())
                    };
                    let sum = (0..k).map(factors).fold(0i32, |sum, (x, y)| sum.wrapping_add(x * y));
                    assert_eq!(found, sum, "{} {} {sizes:?} {i} {j}", A::DTYPE, B::DTYPE);
                }
            }
        }
    }

    trait From8 {
        fn from8(bits: u8) -> Self;
    }

    impl From8 for i8 {
        fn from8(bits: u8) -> i8 {
            bits.cast_signed()
        }
    }

    impl From8 for u8 {
        fn from8(bits: u8) -> u8 {
            bits
        }
    }

    #[test]
    fn products_agree_with_the_definition() {
        if !is_available() {
            eprintln!("this processor does not multiply 8-bit integers four at a time: nothing is tested");
            return;
        }
        let pool = ThreadPool::new("test", 3);
        let signature = Signature::default();
        let ctx = RawContext::new("product", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(&pool));
        let mixed: fn(usize) -> u8 = |i| (i * 37 % 251) as u8;
        let lowest: fn(usize) -> u8 = |_| 128;
        let highest: fn(usize) -> u8 = |i| 127 + 128 * (i % 2) as u8;
        for (m, k, n) in
            [(1, 1, 1), (2, 3, 16), (7, 5, 33), (3, 0, 2), (35, 70, 48), (100, 29, 3), (9, 100, 300), (33, 1200, 33)]
        {
            let sizes = Sizes { m, k, n };
            for (ctx, of) in [(None, [mixed, mixed]), (Some(&ctx), [mixed, mixed]), (None, [lowest, highest])] {
                agrees::<i8, i8>(ctx, sizes, of);
                agrees::<i8, u8>(ctx, sizes, of);
                agrees::<u8, i8>(ctx, sizes, of);
                agrees::<u8, u8>(ctx, sizes, of);
            }
        }
        // So many of the largest products that their sum wraps.
        agrees::<u8, u8>(None, Sizes { m: 1, k: 40_000, n: 2 }, [|_| 255, |_| 255]);
    }
}

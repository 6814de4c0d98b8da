//! Products of matrices of `f32`, and of 16-bit floats as `f32`, by [tiles](crate::tile).
//!
//! The right operand is packed into panels, once if it is constant; the left one is read where it lies if its rows are
//! `f32` without gaps, and copied a block at a time if not. The order of the additions depends on the sizes alone, not on the
//! number of threads.

use std::ops::Range;

use kernlink::Result;
use kernlink::dtype::{DataType, Number, bf16, f16};
use kernlink::kernel::RawContext;
use kernlink::tensor::{Tensor, scratch};

use crate::epilogue::Epilogue;
use crate::float16::Float16;
use crate::gemm::{Matrix, Shared, Sizes, Target};
use crate::tile::{self, COLUMNS, ROWS, Segment, Strip};

/// Multiply-adds a thread does in a nanosecond, or so.
const PER_NANOSECOND: usize = 24;
/// Rows of the panels that tiles take at a time, or so.
const DEPTH: usize = 512;
/// Elements of a block of the left operand, which stays in the second cache while all panels pass over it.
const BLOCK_ELEMENTS: usize = 64 * 1024;

/// An element that is multiplied as `f32`.
pub trait Single: Number {
    /// Its value.
    fn single(self) -> f32;

    /// The values of neighbours.
    fn singles(source: &[Self], target: &mut [f32]);

    /// Rounds results; `accumulate` adds them to what is there.
    fn store(results: &[f32], target: &mut [Self], accumulate: bool);

    /// The elements as they are, if they are `f32`.
    fn as_singles(elements: &[Self]) -> Option<&[f32]> {
        let _ = elements;
        None
    }
}

impl Single for f32 {
    #[inline(always)]
    fn single(self) -> f32 {
        self
    }

    #[inline(always)]
    fn singles(source: &[f32], target: &mut [f32]) {
        target.copy_from_slice(source);
    }

    fn store(results: &[f32], target: &mut [f32], accumulate: bool) {
        for (target, result) in target.iter_mut().zip(results) {
            *target = if accumulate { *target + result } else { *result };
        }
    }

    fn as_singles(elements: &[f32]) -> Option<&[f32]> {
        Some(elements)
    }
}

macro_rules! single {
    ($($t:ty),*) => {$(
        impl Single for $t {
            #[inline(always)]
            fn single(self) -> f32 {
                self.widened()
            }

            #[inline(always)]
            fn singles(source: &[$t], target: &mut [f32]) {
                assert_eq!(source.len(), target.len());
                // SAFETY: there is room for as many.
                unsafe { Float16::widen(source, target.as_mut_ptr()) }
            }

            fn store(results: &[f32], target: &mut [$t], accumulate: bool) {
                if accumulate {
                    for (target, result) in target.iter_mut().zip(results) {
                        *target = <$t>::nearest(target.widened() + result);
                    }
                } else {
                    <$t>::narrow(results, target);
                }
            }
        }
    )*};
}
single!(f16, bf16);

/// The right operand of a product, packed: `[panel][row][column]`, zeros beyond the last column.
pub struct Panels {
    elements: Tensor,
    k: usize,
    n: usize,
}

/// The elements of the panels of a `k x n` matrix; saturates.
pub fn panels_len(k: usize, n: usize) -> usize {
    n.div_ceil(COLUMNS).saturating_mul(COLUMNS).saturating_mul(k)
}

/// Packs a matrix of `k` rows and `n` columns as [`Panels`] are, on the threads of `ctx` if there is one.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub fn pack<T: Single>(ctx: Option<&RawContext<'_>>, matrix: Matrix<'_, T>, k: usize, n: usize) -> Result<Tensor> {
    let mut packed = Tensor::alloc(DataType::Float, [panels_len(k, n)])?;
    let each = (COLUMNS * k).max(1);
    let work = |first: usize, piece: &mut [f32]| {
        for (panel, target) in (first / each..).zip(piece.chunks_exact_mut(each)) {
            let column = panel * COLUMNS;
            pack_panel(matrix, column..n.min(column + COLUMNS), target);
        }
    };
    let elements = packed.as_mut_slice::<f32>()?;
    match ctx {
        Some(ctx) => ctx.parallel_chunks(elements, each, k * COLUMNS / 8, work),
        None => work(0, elements),
    }
    Ok(packed)
}

/// Packs some columns of a matrix as one panel.
fn pack_panel<T: Single>(matrix: Matrix<'_, T>, columns: Range<usize>, target: &mut [f32]) {
    let width = columns.len();
    let (rows, rest) = target.as_chunks_mut::<COLUMNS>();
    debug_assert!(rest.is_empty());
    if matrix.column_stride == 1 {
        for (row, target) in rows.iter_mut().enumerate() {
            let source = &matrix.data[row * matrix.row_stride + columns.start..][..width];
            T::singles(source, &mut target[..width]);
            target[width..].fill(0.0);
        }
    } else if matrix.row_stride == 1 {
        // Columns without gaps: square blocks, so that both sides are read and written by lines.
        let count = rows.len();
        for first in (0..count).step_by(COLUMNS) {
            let rows = &mut rows[first..count.min(first + COLUMNS)];
            let mut block = [[0.0f32; COLUMNS]; COLUMNS];
            for (column, line) in columns.clone().zip(&mut block) {
                let source = &matrix.data[column * matrix.column_stride + first..][..rows.len()];
                T::singles(source, &mut line[..rows.len()]);
            }
            for (row, target) in rows.iter_mut().enumerate() {
                for (element, line) in target.iter_mut().zip(&block) {
                    *element = line[row];
                }
            }
        }
    } else {
        for (row, target) in rows.iter_mut().enumerate() {
            let at = |column: usize| matrix.data[row * matrix.row_stride + column * matrix.column_stride].single();
            for (column, element) in (columns.start..columns.start + COLUMNS).zip(target) {
                *element = if column < columns.end { at(column) } else { 0.0 };
            }
        }
    }
}

impl Panels {
    /// Packs a matrix of `k` rows and `n` columns, on the threads of `ctx` if there is one.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub fn new<T: Single>(ctx: Option<&RawContext<'_>>, b: Matrix<'_, T>, k: usize, n: usize) -> Result<Panels> {
        Ok(Panels { elements: pack(ctx, b, k, n)?, k, n })
    }

    fn right(&self) -> Result<Right<'_>> {
        let elements = self.elements.as_slice::<f32>()?;
        Ok(Right { elements, stride: COLUMNS, next: COLUMNS * self.k })
    }

    /// `c = a b`, or `c += a b` if the target says so, for an `a` of `m` rows, on the threads of `ctx` if there is one.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    ///
    /// # Panics
    /// If `a` or `c` is smaller than that.
    pub fn multiply<T: Single>(
        &self,
        ctx: Option<&RawContext<'_>>,
        m: usize,
        a: Matrix<'_, T>,
        c: Target<'_, T>,
    ) -> Result<()> {
        let sizes = Sizes { m, k: self.k, n: self.n };
        product(ctx, sizes, a, self.right()?, c)
    }
}

/// As many rows at most are multiplied by a right operand that is not packed: packing takes as long as reading it thrice.
const FEW_ROWS: usize = 4 * ROWS;

/// Elements of a right operand that is not packed either, because it stays in the first cache as it is.
const SMALL: usize = 8 * 1024;

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
    let is_cheaper = m <= FEW_ROWS || k.saturating_mul(n) <= SMALL;
    let Some(elements) = T::as_singles(b.data).filter(|_| is_cheaper && b.column_stride == 1) else {
        return Panels::new(ctx, b, k, n)?.multiply(ctx, m, a, c);
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
        Panels::new(None, b, k, n - whole)?.multiply(None, m, a, rest)?;
    }
    Ok(())
}

/// Where the panels of a right operand are.
#[derive(Clone, Copy)]
struct Right<'a> {
    elements: &'a [f32],
    /// Elements from row to row of a panel.
    stride: usize,
    /// Elements from panel to panel.
    next: usize,
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
    assert!(
        (m == 1 || c.row_stride >= n) && c.data.len() > (m - 1) * c.row_stride + n - 1,
        "a target that is too small"
    );
    if k == 0 {
        if !c.accumulate {
            c.data.chunks_mut(c.row_stride).take(m).for_each(|row| row[..n].fill(T::ZERO));
        }
        return Ok(());
    }
    let work = m.saturating_mul(n).saturating_mul(k) / PER_NANOSECOND;
    let threads = ctx.map_or(1, RawContext::threads);
    let panels = n.div_ceil(COLUMNS);
    let tiles = m.div_ceil(ROWS);
    let block = (BLOCK_ELEMENTS / (k.min(DEPTH) * ROWS)).clamp(4, 64);
    let blocks = tiles.div_ceil(block);
    // As many parts for each thread, and all of nearly the same size.
    let splits = if threads == 1 || blocks >= 8 * threads { 1 } else { panels.min(threads * 4usize.div_ceil(blocks)) };
    let items = blocks * splits;
    let whole = Product { sizes, a, right, stride: c.row_stride, accumulate: c.accumulate };
    let target = Shared(c.data.as_mut_ptr());
    let run = |range: Range<usize>| {
        let mut spare = Spare::default();
        for item in range {
            let (index, split) = (item / splits, item % splits);
            // Blocks of equal size, in whole tiles.
            let rows = index * tiles / blocks * ROWS..((index + 1) * tiles / blocks * ROWS).min(m);
            let columns = split * panels / splits..(split + 1) * panels / splits;
            whole.part(rows, columns, &target, &mut spare)?;
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
    /// Rows of the left operand as `f32`.
    left: Vec<f32>,
    /// Results that are rounded afterwards.
    results: Vec<f32>,
}

/// What all parts of a product share.
struct Product<'a, T> {
    sizes: Sizes,
    a: Matrix<'a, T>,
    right: Right<'a>,
    stride: usize,
    accumulate: bool,
}

impl<T: Single> Product<'_, T> {
    /// Computes some rows of some panels of the result.
    fn part(&self, rows: Range<usize>, panels: Range<usize>, target: &Shared<T>, spare: &mut Spare) -> Result<()> {
        let Sizes { k, n, .. } = self.sizes;
        let columns = panels.start * COLUMNS..n.min(panels.end * COLUMNS);
        if rows.is_empty() || columns.is_empty() {
            return Ok(());
        }
        let Spare { segments, left, results } = spare;
        let straight = if self.a.column_stride == 1 { T::as_singles(self.a.data) } else { None };
        let (left, left_stride) = match straight {
            Some(elements) => (&elements[rows.start * self.a.row_stride..], self.a.row_stride),
            None => {
                scratch::resize(left, rows.len() * k, 0.0)?;
                copy_rows(self.a, rows.clone(), k, left);
                (left.as_slice(), k)
            }
        };
        assert!(left.len() >= (rows.len() - 1) * left_stride + k, "a left operand that is too small");
        // What is not `f32` is computed beside its place, and rounded in the end.
        let (out, out_stride, adds) = match T::as_singles(&[]) {
            Some(_) => {
                (target.at(rows.start * self.stride + columns.start).cast::<f32>(), self.stride, self.accumulate)
            }
            None => {
                scratch::resize(results, rows.len() * columns.len(), 0.0)?;
                (results.as_mut_ptr(), columns.len(), false)
            }
        };
        let count = rows.len();
        let row_at = |row: usize| left[row.min(count - 1) * left_stride..].as_ptr();
        scratch::resize(segments, count.div_ceil(ROWS), [left.as_ptr(); ROWS])?;
        for (tile, segment) in segments.iter_mut().enumerate() {
            *segment = std::array::from_fn(|row| row_at(tile * ROWS + row));
        }
        let strip = Strip {
            segments,
            per_row: 1,
            length: k,
            rows: count,
            panels: &self.right.elements[panels.start * self.right.next..],
            panel_stride: self.right.stride,
            next_panel: self.right.next,
            stride: out_stride,
            columns: columns.len(),
            accumulate: adds,
            epilogue: Epilogue::default(),
        };
        // SAFETY: the rows of the left operand have `k` elements, as was asserted; the parts write rows and columns of their
        // own, which the target has, or all of `results`.
        unsafe { tile::multiply(&strip, out) };
        if T::as_singles(&[]).is_none() {
            for (row, results) in rows.zip(results.chunks_exact(columns.len())) {
                let from = target.at(row * self.stride + columns.start);
                // SAFETY: as above.
                let target = unsafe { std::slice::from_raw_parts_mut(from, columns.len()) };
                T::store(results, target, self.accumulate);
            }
        }
        Ok(())
    }
}

/// Rows of a matrix of `k` columns, without gaps.
fn copy_rows<T: Single>(matrix: Matrix<'_, T>, rows: Range<usize>, k: usize, target: &mut [f32]) {
    if matrix.column_stride == 1 {
        for (row, target) in rows.zip(target.chunks_exact_mut(k)) {
            T::singles(&matrix.data[row * matrix.row_stride..][..k], target);
        }
        return;
    }
    // Square blocks, so that both sides are read and written by lines.
    const SIDE: usize = 16;
    let count = rows.len();
    for first_row in (0..count).step_by(SIDE) {
        for first in (0..k).step_by(SIDE) {
            for row in first_row..count.min(first_row + SIDE) {
                let from = (rows.start + row) * matrix.row_stride;
                for p in first..k.min(first + SIDE) {
                    target[row * k + p] = matrix.data[from + p * matrix.column_stride].single();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        for (m, k, n) in [(1, 1, 1), (2, 3, 16), (7, 5, 33), (3, 0, 2), (30, 70, 48), (65, 20, 3), (5, 1700, 31)] {
            for ctx in [None, Some(&ctx)] {
                agrees::<f32>(ctx, Sizes { m, k, n });
                agrees::<f16>(ctx, Sizes { m, k, n });
                agrees::<bf16>(ctx, Sizes { m, k, n });
            }
        }
        agrees::<f32>(Some(&ctx), Sizes { m: 300, k: 1100, n: 130 });
    }
}

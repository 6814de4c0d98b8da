//! Right operands of [products](crate::product), packed.

use std::ops::Range;

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;

use crate::gemm::Matrix;
use crate::single::Single;
use crate::tile::COLUMNS;
use crate::turn::transpose;
use crate::vector::{prefetch, widest};

/// The right operand of a product, packed: `[panel][row][column]`, zeros beyond the last column. What is multiplied by
/// [pairs](Single::per_word) has a row for every two of the matrix.
#[derive(Clone)]
pub struct Panels {
    elements: Tensor,
    k: usize,
    n: usize,
}

/// The elements of the panels of a `k x n` matrix of `f32`; saturates.
pub fn panels_len(k: usize, n: usize) -> usize {
    n.div_ceil(COLUMNS).saturating_mul(COLUMNS).saturating_mul(k)
}

/// Packs a matrix of `k` rows and `n` columns as [`Panels`] are, on the threads of `ctx` if there is one.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub fn pack<T: Single>(ctx: Option<&RawContext<'_>>, matrix: Matrix<'_, T>, k: usize, n: usize) -> Result<Tensor> {
    let rows = k.div_ceil(T::per_word());
    let mut packed = Tensor::alloc(DataType::Float, [panels_len(rows, n)])?;
    let each = (COLUMNS * rows).max(1);
    let work = |first: usize, piece: &mut [f32]| pack_panels(matrix, k, first / each * COLUMNS..n, piece);
    let elements = packed.as_mut_slice::<f32>()?;
    match ctx {
        Some(ctx) => ctx.parallel_chunks(elements, each, 1, work),
        None => work(0, elements),
    }
    Ok(packed)
}

/// Panels that are packed together where the rows of a matrix are lines of memory.
const TOGETHER: usize = 8;

/// Rows that are fetched before they are packed.
const AHEAD: usize = 12;

/// Packs panels from the first of some columns on, as many as the target holds.
///
/// # Panics
/// If the matrix has not as many rows and columns.
pub fn pack_panels<T: Single>(matrix: Matrix<'_, T>, k: usize, columns: Range<usize>, target: &mut [f32]) {
    let each = (COLUMNS * k.div_ceil(T::per_word())).max(1);
    if matrix.column_stride == 1 {
        let firsts = columns.clone().step_by(TOGETHER * COLUMNS);
        for (first, target) in firsts.zip(target.chunks_mut(TOGETHER * each)) {
            pack_lines(matrix, k, first..columns.end.min(first + TOGETHER * COLUMNS), target);
        }
        return;
    }
    for (first, target) in columns.clone().step_by(COLUMNS).zip(target.chunks_exact_mut(each)) {
        pack_panel(matrix, k, first..columns.end.min(first + COLUMNS), target);
    }
}

widest! {
avx512:
/// Packs some columns of a matrix whose rows are lines of memory, all panels of the target row by row: rows far apart are
/// on pages of their own.
fn pack_lines<T: Single>(matrix: Matrix<'_, T>, k: usize, columns: Range<usize>, target: &mut [f32]) {
    let rows = k.div_ceil(T::per_word());
    let panels = target.len() / (rows * COLUMNS).max(1);
    #[inline(always)]
    fn line_of<'a, T>(matrix: &Matrix<'a, T>, row: usize, columns: &Range<usize>) -> &'a [T] {
        &matrix.data[row * matrix.row_stride..][columns.clone()]
    }
    for row in 0..rows {
        let (first, second) = match T::per_word() {
            1 => (line_of(&matrix, row, &columns), None),
            _ if 2 * row + 1 < k => {
                (line_of(&matrix, 2 * row, &columns), Some(line_of(&matrix, 2 * row + 1, &columns)))
            }
            _ => (line_of(&matrix, 2 * row, &columns), None),
        };
        if row + AHEAD < rows {
            prefetch_all(line_of(&matrix, (row + AHEAD) * T::per_word(), &columns));
        }
        for panel in 0..panels {
            let target = &mut target[(panel * rows + row) * COLUMNS..][..COLUMNS];
            let columns = panel * COLUMNS..first.len().min((panel + 1) * COLUMNS);
            let width = columns.len();
            let first = &first[columns.clone()];
            if T::per_word() == 1 {
                // A length that the compiler knows, where the panel is whole.
                match first.first_chunk::<COLUMNS>() {
                    Some(first) => T::singles(first, target),
                    None => T::singles(first, &mut target[..width]),
                }
            } else if let Some(second) = second {
                let second = &second[columns];
                for (target, (&first, &second)) in target.iter_mut().zip(first.iter().zip(second)) {
                    *target = T::pair(first, second);
                }
            } else {
                for (target, &first) in target.iter_mut().zip(first) {
                    *target = T::pair(first, T::ZERO);
                }
            }
            target[width..].fill(0.0);
        }
    }
}
}

/// Has the processor fetch elements, which it does not do by itself for the next page.
#[inline(always)]
fn prefetch_all<T>(elements: &[T]) {
    for index in (0..elements.len()).step_by(64 / size_of::<T>()) {
        prefetch(elements, index);
    }
}

/// Packs some columns of a matrix as one panel, where rows are no lines of memory.
fn pack_panel<T: Single>(matrix: Matrix<'_, T>, k: usize, columns: Range<usize>, target: &mut [f32]) {
    let per_word = T::per_word();
    let (rows, rest) = target.as_chunks_mut::<COLUMNS>();
    debug_assert!(rest.is_empty());
    if matrix.row_stride == 1 {
        // Columns without gaps: square blocks, so that both sides are read and written by lines.
        let count = rows.len();
        if let Some(elements) = T::as_singles(matrix.data) {
            let source = (&elements[columns.start * matrix.column_stride..], matrix.column_stride);
            if columns.len() < COLUMNS {
                rows.as_flattened_mut().fill(0.0);
            }
            return transpose(source, (rows.as_flattened_mut(), COLUMNS), [columns.len(), count]);
        }
        for first in (0..count).step_by(COLUMNS) {
            let rows = &mut rows[first..count.min(first + COLUMNS)];
            let elements = first * per_word..k.min((first + rows.len()) * per_word);
            let mut block = [[0.0f32; COLUMNS]; COLUMNS];
            for (column, line) in columns.clone().zip(&mut block) {
                let source = &matrix.data[column * matrix.column_stride..][elements.clone()];
                T::words(source, &mut line[..rows.len()]);
            }
            for (row, target) in rows.iter_mut().enumerate() {
                for (element, line) in target.iter_mut().zip(&block) {
                    *element = line[row];
                }
            }
        }
    } else {
        for (row, target) in rows.iter_mut().enumerate() {
            let word = |column: usize| {
                let at = |row: usize| matrix.data[row * matrix.row_stride + column * matrix.column_stride];
                match per_word {
                    1 => at(row).single(),
                    _ if 2 * row + 1 == k => T::pair(at(2 * row), T::ZERO),
                    _ => T::pair(at(2 * row), at(2 * row + 1)),
                }
            };
            for (column, element) in (columns.start..columns.start + COLUMNS).zip(target) {
                *element = if column < columns.end { word(column) } else { 0.0 };
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

    /// The panels one after the other.
    ///
    /// # Errors
    /// INTERNAL if they are not what was packed.
    pub fn elements(&self) -> Result<&[f32]> {
        self.elements.as_slice::<f32>()
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.k
    }

    /// Columns of the matrix.
    pub fn columns(&self) -> usize {
        self.n
    }
}

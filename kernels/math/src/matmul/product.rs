//! Products of matrices over batch dimensions that broadcast: their sizes, and how they are spread over the threads.

use std::borrow::Cow;

use kernlink::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::scratch;
use kernlink_geometry::products::{self, Batch, Side};
use kernlink_kernels_common::gemm::{Gemm, Matrix, Sizes, Target, gemm, gemm_here};
use kernlink_kernels_common::number::Computed;
use smallvec::SmallVec;

/// A dtype whose matrices TensorFlow multiplies.
pub(super) trait Factor: Gemm + Computed {}
impl<T: Gemm + Computed> Factor for T {}

/// The elements' conjugates, unless every element is its own.
fn conjugates<T: Factor>(elements: &[T]) -> Result<Option<Vec<T>>> {
    T::DTYPE.is_complex().then(|| scratch::collected(elements.iter().map(|element| element.conj()))).transpose()
}

/// One side of a product.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    /// Batch dimensions, then rows and columns: at least 2 dimensions.
    pub(super) shape: &'a Shape,
    /// Whether rows and columns are exchanged.
    pub(super) transposed: bool,
    /// Whether elements are conjugated.
    pub(super) conjugate: bool,
}

impl<'a> Operand<'a> {
    fn side(&self) -> Side<'a> {
        Side { shape: self.shape, transposed: self.transposed }
    }
}

/// The products of two tensors' matrices.
pub(super) struct Products {
    /// The output's shape.
    pub(super) output: Shape,
    sizes: Sizes,
    transposed: [bool; 2],
    conjugate: [bool; 2],
    batch: SmallVec<[Batch; 4]>,
    count: usize,
}

impl Products {
    /// # Errors
    /// INVALID_ARGUMENT if the inner dimensions differ or the batch dimensions do not broadcast.
    pub(super) fn new(a: Operand<'_>, b: Operand<'_>) -> Result<Products> {
        let products::Sizes { output, rows, inner, columns, batch } = products::Sizes::new(a.side(), b.side())?;
        Ok(Products {
            output,
            sizes: Sizes { m: rows, k: inner, n: columns },
            transposed: [a.transposed, b.transposed],
            conjugate: [a.conjugate, b.conjugate],
            count: batch.iter().map(|&(size, _)| size).product(),
            batch,
        })
    }

    /// Computes all products. The slices have the elements of the shapes that [`Products::new`] was given.
    pub(super) fn compute<T: Factor>(&self, ctx: &RawContext<'_>, a: &[T], b: &[T], output: &mut [T]) -> Result<()> {
        if output.is_empty() {
            return Ok(());
        }
        let Sizes { m, k, n } = self.sizes;
        if k == 0 {
            output.fill(T::ZERO);
            return Ok(());
        }
        let a = conjugated(a, self.conjugate[0])?;
        let b = conjugated(b, self.conjugate[1])?;
        let a_at = |index: usize| matrix(&a[index * m * k..][..m * k], m, k, self.transposed[0]);
        let b_at = |index: usize| matrix(&b[index * k * n..][..k * n], k, n, self.transposed[1]);
        let work = m.saturating_mul(k).saturating_mul(n) / 16;
        if self.count == 1 {
            return gemm(ctx, self.sizes, a_at(0), b_at(0), Target { data: output, row_stride: n, accumulate: false });
        }
        // A product that all threads share costs them a meeting; few large ones are worth it.
        if self.count < 2 * ctx.threads() && work > 1_000_000 {
            for (index, target) in output.chunks_mut(m * n).enumerate() {
                let [a, b] = pair(&self.batch, index);
                gemm(ctx, self.sizes, a_at(a), b_at(b), Target { data: target, row_stride: n, accumulate: false })?;
            }
            return Ok(());
        }
        let cost = (work / (m * n)).max(1);
        ctx.try_parallel_chunks(output, m * n, cost, |first, piece| {
            for (index, target) in (first / (m * n)..).zip(piece.chunks_mut(m * n)) {
                let [a, b] = pair(&self.batch, index);
                let target = Target { data: target, row_stride: n, accumulate: false };
                gemm_here(self.sizes, a_at(a), b_at(b), target)?;
            }
            Ok(())
        })
    }
}

fn conjugated<T: Factor>(elements: &[T], conjugate: bool) -> Result<Cow<'_, [T]>> {
    let conjugates = if conjugate { conjugates(elements)? } else { None };
    Ok(conjugates.map_or(Cow::Borrowed(elements), Cow::Owned))
}

/// A matrix of `rows` and `columns` as it enters the product.
fn matrix<T>(data: &[T], rows: usize, columns: usize, transposed: bool) -> Matrix<'_, T> {
    if transposed { Matrix::transposed(data, rows) } else { Matrix::rows(data, columns) }
}

/// Which matrix of either side enters product `index`.
fn pair(batch: &[Batch], index: usize) -> [usize; 2] {
    let (mut rest, mut pair) = (index, [0, 0]);
    for &(size, [a, b]) in batch.iter().rev() {
        let place = rest % size;
        rest /= size;
        pair = [pair[0] + place * a, pair[1] + place * b];
    }
    pair
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_broadcast() {
        let pairs = |a: &[usize], b: &[usize]| -> Vec<[usize; 2]> {
            let (a, b) = ([a, &[1, 1]].concat(), [b, &[1, 1]].concat());
            let side = |shape| Operand { shape, transposed: false, conjugate: false };
            let products = Products::new(side(&Shape::from(a)), side(&Shape::from(b))).unwrap();
            (0..products.count).map(|index| pair(&products.batch, index)).collect()
        };
        assert_eq!(pairs(&[2, 1], &[3]), [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        assert_eq!(pairs(&[1], &[2]), [[0, 0], [0, 1]]);
        assert_eq!(pairs(&[2, 2], &[2, 2]), [[0, 0], [1, 1], [2, 2], [3, 3]]);
        assert_eq!(pairs(&[], &[]), [[0, 0]]);
    }
}

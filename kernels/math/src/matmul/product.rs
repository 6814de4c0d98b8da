//! Products of matrices over batch dimensions that broadcast: their sizes, and how they are spread over the threads.

use std::borrow::Cow;
use std::sync::OnceLock;

use kernlink::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink_geometry::products::{self, Batch, Side};
use kernlink_kernels_common::gemm::{Gemm, Matrix, Sizes, Target, gemm, gemm_here};
use kernlink_kernels_common::number::Computed;
use kernlink_kernels_common::panels::Panels;
use kernlink_kernels_common::remembered::Remembered;
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

/// Elements of a right operand that is not looked at again if it is no constant: packing it takes no time.
const SMALL: usize = 4 * 1024;

/// A node's right operand, which is packed when it is first of use if it is constant, or turns out to stay the same, as a
/// variable does that no node writes.
pub(super) struct Packed<P = Panels> {
    is_constant: bool,
    panels: OnceLock<Option<P>>,
    remembered: Remembered<Option<P>>,
}

impl<P: Clone> Packed<P> {
    /// For an operand that is the same in every run of the node, or may not be.
    pub(super) fn new(is_constant: bool) -> Packed<P> {
        Packed { is_constant, panels: OnceLock::new(), remembered: Remembered::default() }
    }

    /// What `pack` makes of `operand`, if the node keeps that.
    pub(super) fn panels(
        &self,
        operand: &Tensor,
        sizes: Sizes,
        pack: impl FnOnce() -> Result<Option<P>>,
    ) -> Result<Option<P>> {
        if !self.is_constant {
            if sizes.k.saturating_mul(sizes.n) <= SMALL {
                return Ok(None);
            }
            return Ok(self.remembered.find(operand, pack)?.flatten());
        }
        if let Some(panels) = self.panels.get() {
            return Ok(panels.clone());
        }
        let panels = pack()?;
        Ok(self.panels.get_or_init(|| panels).clone())
    }
}

/// The products of two tensors' matrices.
pub(super) struct Products {
    /// The output's shape.
    pub(super) output: Shape,
    pub(super) sizes: Sizes,
    pub(super) transposed: [bool; 2],
    conjugate: [bool; 2],
    batch: SmallVec<[Batch; 4]>,
    pub(super) count: usize,
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

    /// Whether all rows of the left operand are multiplied by one matrix, so that they make one product.
    pub(super) fn is_one(&self) -> bool {
        let mut inner = 1;
        let is_whole = self.batch.iter().rev().all(|&(size, [a, b])| {
            let is_next = size == 1 || (a == inner && b == 0);
            inner *= size;
            is_next
        });
        self.count == 1 || (is_whole && !self.transposed[0])
    }

    /// The sizes of the product that is computed at a time.
    pub(super) fn sizes_of_one(&self) -> Sizes {
        let m = if self.is_one() { self.sizes.m * self.count } else { self.sizes.m };
        Sizes { m, ..self.sizes }
    }

    /// Which matrix of either side enters product `index`.
    pub(super) fn pair(&self, index: usize) -> [usize; 2] {
        pair(&self.batch, index)
    }

    /// The sizes and the factors of the first product.
    pub(super) fn first<'a, T: Factor>(&self, a: &'a [T], b: &'a [T]) -> (Sizes, [Matrix<'a, T>; 2]) {
        let Sizes { m, k, n } = self.sizes;
        (self.sizes, [matrix(a, m, k, self.transposed[0]), matrix(b, k, n, self.transposed[1])])
    }

    /// Computes all products. The operands have the shapes that [`Products::new`] was given; `packed` is what the node
    /// keeps of the second.
    pub(super) fn compute<T: Factor>(
        &self,
        ctx: &RawContext<'_>,
        a: &[T],
        b: &Tensor,
        packed: &Packed,
        output: &mut [T],
    ) -> Result<()> {
        if output.is_empty() {
            return Ok(());
        }
        let Sizes { m, k, n } = self.sizes;
        if k == 0 {
            output.fill(T::ZERO);
            return Ok(());
        }
        let a = conjugated(a, self.conjugate[0])?;
        let a_at = |index: usize| matrix(&a[index * m * k..][..m * k], m, k, self.transposed[0]);
        let work = m.saturating_mul(k).saturating_mul(n) / 16;
        if self.is_one() {
            let sizes = Sizes { m: m * self.count, k, n };
            let a = matrix(&a, sizes.m, k, self.transposed[0]);
            let target = Target { data: output, row_stride: n, accumulate: false };
            let pack = || {
                b.read_once(|b| {
                    let elements = conjugated(b.as_slice()?, self.conjugate[1])?;
                    T::packed(ctx, matrix(&elements[..k * n], k, n, self.transposed[1]), k, n)
                })
            };
            // Where the elements lie is known before they are read, which a constant in a file need not be then.
            let is_packed = T::is_packed(sizes, &matrix(&[], k, n, self.transposed[1]));
            if is_packed && let Some(panels) = packed.panels(b, sizes, pack)? {
                return T::by_packed(ctx, sizes.m, a, &panels, target);
            }
            let b = conjugated(b.as_slice()?, self.conjugate[1])?;
            return gemm(ctx, sizes, a, matrix(&b[..k * n], k, n, self.transposed[1]), target);
        }
        let b = conjugated(b.as_slice()?, self.conjugate[1])?;
        let b_at = |index: usize| matrix(&b[index * k * n..][..k * n], k, n, self.transposed[1]);
        // A product that all threads share costs them a meeting; few large ones are worth it.
        if self.count < 2 * ctx.threads() && work > 1_000_000 {
            for (index, target) in output.chunks_mut(m * n).enumerate() {
                let [a, b] = self.pair(index);
                gemm(ctx, self.sizes, a_at(a), b_at(b), Target { data: target, row_stride: n, accumulate: false })?;
            }
            return Ok(());
        }
        let cost = (work / (m * n)).max(1);
        ctx.try_parallel_chunks(output, m * n, cost, |first, piece| {
            for (index, target) in (first / (m * n)..).zip(piece.chunks_mut(m * n)) {
                let [a, b] = self.pair(index);
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
pub(super) fn matrix<T>(data: &[T], rows: usize, columns: usize, transposed: bool) -> Matrix<'_, T> {
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

    #[test]
    fn rows_that_one_matrix_multiplies_are_one_product() {
        let is_one = |a: &[usize], b: &[usize], transposed| {
            let (a, b) = ([a, &[2, 2]].concat(), [b, &[2, 2]].concat());
            let side = |shape, transposed| Operand { shape, transposed, conjugate: false };
            Products::new(side(&Shape::from(a), transposed), side(&Shape::from(b), false)).unwrap().is_one()
        };
        assert!(is_one(&[], &[], true));
        assert!(is_one(&[3, 4], &[], false));
        assert!(is_one(&[3, 4], &[1, 1], false));
        assert!(!is_one(&[3, 4], &[], true), "columns of several matrices");
        assert!(!is_one(&[3], &[3], false));
        assert!(!is_one(&[], &[3], false), "the left matrix is used three times");
        assert!(!is_one(&[3, 1], &[3, 1], false));
        assert!(!is_one(&[3, 4], &[4], false));
        assert!(!is_one(&[3, 1], &[1, 4], false));
    }
}

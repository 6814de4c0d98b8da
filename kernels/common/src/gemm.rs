//! Matrix products for every dtype that a kernel may multiply: what MatMul, BatchMatMul and Conv2D stand on.
//!
//! `f32` and 16-bit floats, which are multiplied as `f32` and rounded once, go to [tiles](crate::product); `f64` goes to
//! `matrixmultiply`, as do the parts of complex numbers; integers, which wrap, take blocked loops of our own. [`gemm`] splits a product over the kernel's
//! threads; [`gemm_here`] stays on the calling thread, for callers that split the work themselves.

use kernlink::Result;
use kernlink::dtype::{Complex32, Complex64, bf16, f16};
use kernlink::error::Error;
use kernlink::kernel::RawContext;
use kernlink::tensor::scratch;

use crate::blocked::Blocked;
use crate::gemv::{Gemv, few_rows, gemv, is_for_few_rows};
use crate::panels::Panels;
use crate::{blocked, complex_product, product};

/// Multiply-adds a thread does in a nanosecond, or so.
const PER_NANOSECOND: usize = 16;
/// A part below this many nanoseconds is not worth a thread of its own.
const WORTH_A_THREAD: usize = 40_000;

/// A matrix in memory: element `(row, column)` is `data[row * row_stride + column * column_stride]`.
#[derive(Clone, Copy)]
pub struct Matrix<'a, T> {
    /// The elements.
    pub data: &'a [T],
    /// Elements between neighbours in a column.
    pub row_stride: usize,
    /// Elements between neighbours in a row.
    pub column_stride: usize,
}

impl<'a, T> Matrix<'a, T> {
    /// A matrix of `columns` columns in row-major order.
    pub fn rows(data: &'a [T], columns: usize) -> Self {
        Matrix { data, row_stride: columns, column_stride: 1 }
    }

    /// The transpose of a matrix of `columns` columns in row-major order.
    pub fn transposed(data: &'a [T], columns: usize) -> Self {
        Matrix { data, row_stride: 1, column_stride: columns }
    }

    /// The transpose.
    pub fn turned(self) -> Self {
        Matrix { row_stride: self.column_stride, column_stride: self.row_stride, ..self }
    }

    /// From `row` and `column` on; what lies outside the data becomes empty.
    fn from(self, row: usize, column: usize) -> Self {
        let start = row * self.row_stride + column * self.column_stride;
        Matrix { data: self.data.get(start..).unwrap_or(&[]), ..self }
    }

    /// Whether `rows` x `columns` elements lie within the data.
    fn holds(&self, rows: usize, columns: usize) -> bool {
        rows == 0 || columns == 0 || last(rows, self.row_stride, columns, self.column_stride) < self.data.len()
    }
}

/// The offset of the last element; saturates, so that what overflows lies outside every slice.
fn last(rows: usize, row_stride: usize, columns: usize, column_stride: usize) -> usize {
    ((rows - 1).saturating_mul(row_stride)).saturating_add((columns - 1).saturating_mul(column_stride))
}

/// The sizes of a product: `m x k` by `k x n` gives `m x n`.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Rows of `a` and `c`.
    pub m: usize,
    /// Columns of `a`, rows of `b`.
    pub k: usize,
    /// Columns of `b` and `c`.
    pub n: usize,
}

/// The result of a product: rows of `n` neighbouring elements, `row_stride` apart.
pub struct Target<'a, T> {
    /// The elements.
    pub data: &'a mut [T],
    /// Elements between neighbours in a column, at least `n`.
    pub row_stride: usize,
    /// Whether the product is added to what `data` holds. Otherwise it replaces it, and what was there (even NaN)
    /// does not matter.
    pub accumulate: bool,
}

/// A dtype whose matrices can be multiplied.
pub trait Gemm: Blocked {
    /// Whether a product of these sizes is computed by what [`Gemm::packed`] makes of `b`. That follows from the sizes and
    /// from where the elements lie, so that a product is the same, to the bit, whether an operand is kept packed or not.
    fn is_packed(sizes: Sizes, b: &Matrix<'_, Self>) -> bool {
        let _ = (sizes, b);
        false
    }

    /// `c = a b` or `c += a b`.
    ///
    /// # Safety
    /// `a`, `b` and `c` hold as many elements as `sizes` says, `c` at `c + row * c_stride + column`; nothing else
    /// accesses those of `c` meanwhile. The sizes are not 0.
    unsafe fn product(
        sizes: Sizes,
        a: Matrix<'_, Self>,
        b: Matrix<'_, Self>,
        c: *mut Self,
        c_stride: usize,
        accumulate: bool,
    ) {
        // SAFETY: the caller's promise.
        unsafe { blocked::multiply(sizes, a, b, c, c_stride, accumulate) }
    }

    /// As [`gemm`] for checked operands; `ctx` is absent if the product is to stay on this thread.
    fn run(
        ctx: Option<&RawContext<'_>>,
        sizes: Sizes,
        a: Matrix<'_, Self>,
        b: Matrix<'_, Self>,
        c: Target<'_, Self>,
    ) -> Result<()> {
        split(ctx, sizes, a, b, c);
        Ok(())
    }

    /// As [`gemm_rows`] for checked operands.
    fn run_rows(sizes: Sizes, a: Matrix<'_, Self>, b: Matrix<'_, Self>, c: Target<'_, Self>) {
        split(None, sizes, a, b, c);
    }

    /// A right operand of `k` rows and `n` columns that is multiplied more than once, packed; `None` if that is of no use.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    fn packed(ctx: &RawContext<'_>, b: Matrix<'_, Self>, k: usize, n: usize) -> Result<Option<Panels>> {
        let _ = (ctx, b, k, n);
        Ok(None)
    }

    /// [`gemm`] by what [`Gemm::packed`] gave.
    ///
    /// # Errors
    /// INTERNAL if the dtype has no packed operands; as [`gemm`].
    fn by_packed(ctx: &RawContext<'_>, m: usize, a: Matrix<'_, Self>, b: &Panels, c: Target<'_, Self>) -> Result<()> {
        let _ = (ctx, m, a, b, c);
        Err(Error::internal("this dtype has no packed operands"))
    }
}

/// `c = a b`, or `c += a b` if the target says so, split over the threads of `ctx` if it is worth it.
///
/// # Errors
/// INTERNAL if an operand is smaller than the sizes say; RESOURCE_EXHAUSTED if there is no memory for the widened
/// copies of 16-bit operands.
pub fn gemm<T: Gemm>(
    ctx: &RawContext<'_>,
    sizes: Sizes,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    c: Target<'_, T>,
) -> Result<()> {
    check(sizes, &a, &b, &c)?;
    T::run(Some(ctx), sizes, a, b, c)
}

/// As [`gemm`], on the calling thread alone: for many small products that are split among threads as a whole.
///
/// # Errors
/// As [`gemm`].
pub fn gemm_here<T: Gemm>(sizes: Sizes, a: Matrix<'_, T>, b: Matrix<'_, T>, c: Target<'_, T>) -> Result<()> {
    check(sizes, &a, &b, &c)?;
    T::run(None, sizes, a, b, c)
}

/// As [`gemm_here`] for some rows of a larger product: they are the same, to the bit, whichever others are computed with them.
/// Slower for `f32` and 16-bit floats, which have [panels](crate::product::by_panels) for that.
///
/// # Errors
/// As [`gemm`].
pub fn gemm_rows<T: Gemm>(sizes: Sizes, a: Matrix<'_, T>, b: Matrix<'_, T>, c: Target<'_, T>) -> Result<()> {
    check(sizes, &a, &b, &c)?;
    T::run_rows(sizes, a, b, c);
    Ok(())
}

fn check<T>(sizes: Sizes, a: &Matrix<'_, T>, b: &Matrix<'_, T>, c: &Target<'_, T>) -> Result<()> {
    let Sizes { m, k, n } = sizes;
    let fits = m == 0 || n == 0 || (c.row_stride >= n && last(m, c.row_stride, n, 1) < c.data.len());
    if !fits || !a.holds(m, k) || !b.holds(k, n) {
        return Err(Error::internal(format!("an operand of a matrix product is smaller than {sizes:?} says")));
    }
    Ok(())
}

/// A pointer that threads may share because each uses elements of its own.
#[derive(Clone, Copy)]
pub struct Shared<T>(pub *mut T);

// SAFETY: whoever writes through it promises that each thread uses other elements.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The address of element `offset`.
    pub fn at(&self, offset: usize) -> *mut T {
        self.0.wrapping_add(offset)
    }
}

/// Splits the larger side of `c` over the threads.
fn split<T: Gemm>(ctx: Option<&RawContext<'_>>, sizes: Sizes, a: Matrix<'_, T>, b: Matrix<'_, T>, c: Target<'_, T>) {
    let Sizes { m, k, n } = sizes;
    if m == 0 || n == 0 {
        return;
    }
    if k == 0 {
        if !c.accumulate {
            c.data.chunks_mut(c.row_stride).take(m).for_each(|row| row[..n].fill(T::ZERO));
        }
        return;
    }
    let (stride, accumulate) = (c.row_stride, c.accumulate);
    let base = Shared(c.data.as_mut_ptr());
    let work = m.saturating_mul(n).saturating_mul(k) / PER_NANOSECOND;
    let threads = ctx.map_or(1, |ctx| ctx.threads()).min(work / WORTH_A_THREAD + 1);
    let by_rows = m >= n;
    let units = if by_rows { m } else { n }.div_ceil(8);
    let parts = threads.min(units);
    let part = |index: usize| {
        let bound = |index: usize, size: usize| (index * units / parts * 8).min(size);
        let (rows, columns) = if by_rows {
            (bound(index, m)..bound(index + 1, m), 0..n)
        } else {
            (0..m, bound(index, n)..bound(index + 1, n))
        };
        let sizes = Sizes { m: rows.len(), k, n: columns.len() };
        if rows.is_empty() || columns.is_empty() {
            return;
        }
        let (a, b) = (a.from(rows.start, 0), b.from(0, columns.start));
        let c = base.at(rows.start * stride + columns.start);
        // SAFETY: the operands were checked by the callers, and the parts of `c` do not overlap.
        unsafe { <T as Gemm>::product(sizes, a, b, c, stride, accumulate) };
    };
    match ctx {
        Some(ctx) if parts > 1 => ctx.parallel_for(parts, usize::MAX, |range| range.for_each(part)),
        _ => (0..parts).for_each(part),
    }
}

/// Computes the product if one side is a vector; whether it did.
fn with_vector<T: Gemv>(
    ctx: Option<&RawContext<'_>>,
    sizes: Sizes,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    c: &mut Target<'_, T>,
) -> Result<bool> {
    let Sizes { m, k, n } = sizes;
    let (x, stride, matrix, len) = if m == 1 {
        (a.data, a.column_stride, b, n)
    } else if n == 1 && c.row_stride == 1 {
        (b.data, b.row_stride, Matrix { data: a.data, row_stride: a.column_stride, column_stride: a.row_stride }, m)
    } else {
        return Ok(false);
    };
    if k == 0 || len == 0 {
        return Ok(false);
    }
    let copy: Vec<T>;
    let x = if stride == 1 {
        &x[..k]
    } else {
        copy = scratch::collected((0..k).map(|index| x[index * stride]))?;
        &copy
    };
    gemv(ctx, x, matrix, &mut c.data[..len], c.accumulate)
}

/// [`gemm`] of `f32` by the crate `matrixmultiply`.
///
/// # Errors
/// INTERNAL if an operand is smaller than the sizes say.
pub fn by_matrixmultiply(
    ctx: &RawContext<'_>,
    sizes: Sizes,
    a: Matrix<'_, f32>,
    b: Matrix<'_, f32>,
    c: Target<'_, f32>,
) -> Result<()> {
    check(sizes, &a, &b, &c)?;
    split(Some(ctx), sizes, a, b, c);
    Ok(())
}

impl Gemm for f32 {
    fn is_packed(Sizes { m, n, .. }: Sizes, _: &Matrix<'_, f32>) -> bool {
        m > 1 && n > 1
    }

    fn run(
        ctx: Option<&RawContext<'_>>,
        sizes: Sizes,
        a: Matrix<'_, f32>,
        b: Matrix<'_, f32>,
        mut c: Target<'_, f32>,
    ) -> Result<()> {
        match with_vector(ctx, sizes, a, b, &mut c)? {
            true => Ok(()),
            false => product::multiply(ctx, sizes, a, b, c),
        }
    }

    unsafe fn product(sizes: Sizes, a: Matrix<'_, f32>, b: Matrix<'_, f32>, c: *mut f32, stride: usize, add: bool) {
        let Sizes { m, k, n } = sizes;
        // SAFETY: the caller's promise.
        unsafe {
            let (ars, acs) = (a.row_stride as isize, a.column_stride as isize);
            let (brs, bcs) = (b.row_stride as isize, b.column_stride as isize);
            let (a, b, beta) = (a.data.as_ptr(), b.data.as_ptr(), if add { 1.0 } else { 0.0 });
            matrixmultiply::sgemm(m, k, n, 1.0, a, ars, acs, b, brs, bcs, beta, c, stride as isize, 1);
        }
    }

    fn packed(ctx: &RawContext<'_>, b: Matrix<'_, f32>, k: usize, n: usize) -> Result<Option<Panels>> {
        Panels::new(Some(ctx), b, k, n).map(Some)
    }

    fn by_packed(ctx: &RawContext<'_>, m: usize, a: Matrix<'_, f32>, b: &Panels, c: Target<'_, f32>) -> Result<()> {
        product::by_panels(Some(ctx), m, a, b, c)
    }
}

impl Gemm for f64 {
    fn run(
        ctx: Option<&RawContext<'_>>,
        sizes: Sizes,
        a: Matrix<'_, f64>,
        b: Matrix<'_, f64>,
        mut c: Target<'_, f64>,
    ) -> Result<()> {
        if !with_vector(ctx, sizes, a, b, &mut c)? {
            split(ctx, sizes, a, b, c);
        }
        Ok(())
    }

    unsafe fn product(sizes: Sizes, a: Matrix<'_, f64>, b: Matrix<'_, f64>, c: *mut f64, stride: usize, add: bool) {
        let Sizes { m, k, n } = sizes;
        // SAFETY: the caller's promise.
        unsafe {
            let (ars, acs) = (a.row_stride as isize, a.column_stride as isize);
            let (brs, bcs) = (b.row_stride as isize, b.column_stride as isize);
            let (a, b, beta) = (a.data.as_ptr(), b.data.as_ptr(), if add { 1.0 } else { 0.0 });
            matrixmultiply::dgemm(m, k, n, 1.0, a, ars, acs, b, brs, bcs, beta, c, stride as isize, 1);
        }
    }
}

macro_rules! with_blocked_loops {
    ($($t:ty),*) => {$( impl Gemm for $t {} )*};
}
with_blocked_loops!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! multiplied_as_real {
    ($($t:ty),*) => {$(
        impl Gemm for $t {
            fn run(
                ctx: Option<&RawContext<'_>>,
                sizes: Sizes,
                a: Matrix<'_, $t>,
                b: Matrix<'_, $t>,
                c: Target<'_, $t>,
            ) -> Result<()> {
                if complex_product::is_worthwhile(sizes) {
                    return complex_product::multiply(ctx, sizes, a, b, c);
                }
                split(ctx, sizes, a, b, c);
                Ok(())
            }
        }
    )*};
}
multiplied_as_real!(Complex32, Complex64);

macro_rules! multiplied_as_f32 {
    ($($t:ty),*) => {$(
        impl Gemm for $t {
            fn is_packed(sizes: Sizes, b: &Matrix<'_, $t>) -> bool {
                // A unit for matrices is worth packing the right operand for a few rows more.
                let is_for_vectors = sizes.m <= 4 || !product::has_matrix_unit::<$t>();
                sizes.m > 1 && !(is_for_vectors && is_for_few_rows(sizes, b))
            }

            fn run(
                ctx: Option<&RawContext<'_>>,
                sizes: Sizes,
                a: Matrix<'_, $t>,
                b: Matrix<'_, $t>,
                c: Target<'_, $t>,
            ) -> Result<()> {
                match is_for_few_rows(sizes, &b) && !Self::is_packed(sizes, &b) {
                    true => few_rows(ctx, sizes, a, b, c),
                    false => product::multiply(ctx, sizes, a, b, c),
                }
            }

            fn packed(ctx: &RawContext<'_>, b: Matrix<'_, $t>, k: usize, n: usize) -> Result<Option<Panels>> {
                Panels::new(Some(ctx), b, k, n).map(Some)
            }

            fn by_packed(
                ctx: &RawContext<'_>,
                m: usize,
                a: Matrix<'_, $t>,
                b: &Panels,
                c: Target<'_, $t>,
            ) -> Result<()> {
                product::by_panels(Some(ctx), m, a, b, c)
            }
        }
    )*};
}
multiplied_as_f32!(f16, bf16);

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::dtype::Number;
    use std::fmt::Debug;

    fn naive<T: Number>(sizes: Sizes, a: &Matrix<'_, T>, b: &Matrix<'_, T>) -> Vec<T> {
        let mut product = vec![T::ZERO; sizes.m * sizes.n];
        for i in 0..sizes.m {
            for j in 0..sizes.n {
                for p in 0..sizes.k {
                    let (x, y) = (i * a.row_stride + p * a.column_stride, p * b.row_stride + j * b.column_stride);
                    product[i * sizes.n + j] = product[i * sizes.n + j].wrapping_add(a.data[x].wrapping_mul(b.data[y]));
                }
            }
        }
        product
    }

    fn agrees<T: Gemm + Debug>(from: impl Fn(usize) -> T, m: usize, k: usize, n: usize) {
        let a: Vec<T> = (0..m * k).map(|i| from(i % 5)).collect();
        let b: Vec<T> = (0..k * n).map(|i| from(i % 7)).collect();
        let sizes = Sizes { m, k, n };
        for (a, b) in [
            (Matrix::rows(&a, k), Matrix::rows(&b, n)),
            (Matrix::transposed(&a, m), Matrix::rows(&b, n)),
            (Matrix::rows(&a, k), Matrix::transposed(&b, k)),
        ] {
            let mut c = vec![from(3); m * (n + 2)];
            let target = Target { data: &mut c, row_stride: n + 2, accumulate: false };
            gemm_here(sizes, a, b, target).unwrap();
            let expected = naive(sizes, &a, &b);
            for row in 0..m {
                assert_eq!(c[row * (n + 2)..][..n], expected[row * n..][..n], "{sizes:?}");
                assert!(c[row * (n + 2) + n] == from(3), "elements between the rows stay");
            }
            let target = Target { data: &mut c, row_stride: n + 2, accumulate: true };
            gemm_here(sizes, a, b, target).unwrap();
            assert!((0..m * n).all(|i| c[i / n * (n + 2) + i % n] == expected[i].wrapping_add(expected[i])));
        }
    }

    #[test]
    fn products_agree_with_the_definition() {
        for (m, k, n) in [
            (1, 1, 1),
            (1, 70, 130),
            (3, 0, 2),
            (0, 3, 2),
            (2, 3, 0),
            (9, 5, 17),
            (70, 3, 66),
            (2, 65, 1),
            (13, 70, 40),
        ] {
            agrees(|i| i as f32, m, k, n);
            agrees(|i| i as f64, m, k, n);
            agrees(|i| i as i8, m, k, n);
            agrees(|i| i as i16 - 3, m, k, n);
            agrees(|i| i as i32 * 1_000_003, m, k, n);
            agrees(|i| (i as u32).wrapping_mul(4_000_000_007), m, k, n);
            agrees(|i| i as i64 * -5_000_000_000, m, k, n);
            agrees(|i| Complex32::new(i as f32, 1.0 - i as f32), m, k, n);
            agrees(|i| Complex64::new(2.0, i as f64), m, k, n);
        }
        agrees(|i| f16::from_f32(i as f32 * 0.5), 3, 4, 5);
        agrees(|i| bf16::from_f32(i as f32), 2, 2, 2);
    }

    #[test]
    fn small_operands_are_refused() {
        let mut c = [0.0f32; 4];
        let (a, b) = ([0.0; 4], [0.0; 3]);
        let target = Target { data: &mut c, row_stride: 2, accumulate: false };
        assert!(gemm_here(Sizes { m: 2, k: 2, n: 2 }, Matrix::rows(&a, 2), Matrix::rows(&b, 2), target).is_err());
        let huge = Matrix { data: &a, row_stride: usize::MAX, column_stride: 1 };
        let target = Target { data: &mut c, row_stride: 2, accumulate: false };
        assert!(gemm_here(Sizes { m: 2, k: 2, n: 2 }, huge, Matrix::rows(&a, 2), target).is_err());
    }
}

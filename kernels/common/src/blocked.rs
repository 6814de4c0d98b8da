//! Products of matrices of any dtype, by blocks of the right operand and tiles of the result: for integers, which wrap,
//! and for small products of complex numbers.

use kernlink::dtype::{Complex32, Complex64, Number, bf16, f16};

use crate::gemm::{Matrix, Sizes};
use crate::widest;

/// Rows of the right operand at a time.
const DEPTH: usize = 64;
/// Columns of a block and of a tile.
const WIDTH: usize = 64;
/// Rows of a tile.
const ROWS: usize = 6;

/// Factors of one row of a block: an element of each row of a tile.
type Factors<T> = [T; ROWS];
/// A row of a block: zeros beyond the last column.
type Line<T> = [T; WIDTH];

/// An element of such products.
pub trait Blocked: Number {
    /// Adds the product of factors and the rows of a block to a tile, of which as many rows and columns are wanted.
    fn add_product(
        factors: &[Factors<Self>],
        block: &[Line<Self>],
        tile: &mut [Line<Self>; ROWS],
        rows: usize,
        columns: usize,
    ) {
        add_lines(factors, block, &mut tile[..rows], columns);
    }
}

/// [`Blocked::add_product`] for every processor.
fn add_lines<T: Number>(factors: &[Factors<T>], block: &[Line<T>], tile: &mut [Line<T>], columns: usize) {
    for (row, sums) in tile.iter_mut().enumerate() {
        for (factors, line) in factors.iter().zip(block) {
            add_line(&mut sums[..columns], factors[row], &line[..columns]);
        }
    }
}

widest! {
    fn add_line<T: Number>(sums: &mut [T], factor: T, line: &[T]) {
        for (sum, &element) in sums.iter_mut().zip(line) {
            *sum = sum.wrapping_add(factor.wrapping_mul(element));
        }
    }
}

macro_rules! blocked {
    ($($t:ty),*) => {$( impl Blocked for $t {} )*};
}
blocked!(i8, u8, u16, u64, f16, bf16, f32, f64, Complex32, Complex64);

/// [`Blocked`] for integers of which processors multiply vectors: a row for each width of these, the widest first. What the compiler
/// makes of loops keeps the sums in memory, or gathers factors of many rows.
macro_rules! blocked_in_registers {
    ($t:ty, $bits:ty: $(
        $bytes:literal $features:literal [$($feature:tt)+]
        $zero:ident $load:ident $store:ident $set:ident $multiply:ident $add:ident
    ),+) => {
        impl Blocked for $t {
            fn add_product(
                factors: &[Factors<$t>],
                block: &[Line<$t>],
                tile: &mut [Line<$t>; ROWS],
                rows: usize,
                columns: usize,
            ) {
                // All rows of a tile are multiplied: of few, most would be for nothing.
                #[cfg(target_arch = "x86_64")]
                if rows > ROWS / 2 {
                    use std::arch::x86_64::*;

                    $({
                        /// Elements of a vector.
                        const LANES: usize = $bytes / size_of::<$t>();

                        #[target_feature(enable = $features)]
                        fn add_product(
                            factors: &[Factors<$t>],
                            block: &[Line<$t>],
                            tile: &mut [Line<$t>; ROWS],
                            first: usize,
                        ) {
                            let mut sums = [$zero(); ROWS];
                            for (factors, line) in factors.iter().zip(block) {
                                let line = &line[first..first + LANES];
                                // SAFETY: the slice has a vector's elements.
                                let line = unsafe { $load(line.as_ptr().cast()) };
                                for row in 0..ROWS {
                                    let product = $multiply($set(factors[row] as $bits), line);
                                    sums[row] = $add(sums[row], product);
                                }
                            }
                            for (line, sums) in tile.iter_mut().zip(sums) {
                                let line = line[first..first + LANES].as_mut_ptr().cast();
                                // SAFETY: as above.
                                unsafe { $store(line, $add($load(line), sums)) };
                            }
                        }

                        if $(blocked_in_registers!(@has $feature))&&+ {
                            for first in (0..columns).step_by(LANES) {
                                // SAFETY: the processor has the features.
                                unsafe { add_product(factors, block, tile, first) };
                            }
                            return;
                        }
                    })+
                }
                add_lines(factors, block, &mut tile[..rows], columns);
            }
        }
    };
    (@has $feature:tt) => {
        std::is_x86_feature_detected!($feature)
    };
}
macro_rules! blocked_by_512_and_256 {
    ($($t:ty, $bits:ty: $($by_512:ident)+, $($by_256:ident)+;)+) => {$(
        blocked_in_registers!(
            $t, $bits:
            64 "avx512f,avx512bw" ["avx512f" "avx512bw"]
            _mm512_setzero_si512 _mm512_loadu_si512 _mm512_storeu_si512 $($by_512)+,
            32 "avx2" ["avx2"] _mm256_setzero_si256 _mm256_loadu_si256 _mm256_storeu_si256 $($by_256)+
        );
    )+};
}
blocked_by_512_and_256! {
    i16, i16: _mm512_set1_epi16 _mm512_mullo_epi16 _mm512_add_epi16, _mm256_set1_epi16 _mm256_mullo_epi16 _mm256_add_epi16;
    i32, i32: _mm512_set1_epi32 _mm512_mullo_epi32 _mm512_add_epi32, _mm256_set1_epi32 _mm256_mullo_epi32 _mm256_add_epi32;
    u32, i32: _mm512_set1_epi32 _mm512_mullo_epi32 _mm512_add_epi32, _mm256_set1_epi32 _mm256_mullo_epi32 _mm256_add_epi32;
}
// Processors before AVX-512 multiply no vectors of these.
blocked_in_registers!(
    i64, i64:
    64 "avx512f,avx512dq" ["avx512f" "avx512dq"]
    _mm512_setzero_si512 _mm512_loadu_si512 _mm512_storeu_si512 _mm512_set1_epi64 _mm512_mullo_epi64 _mm512_add_epi64
);

/// `c = a b`, or `c += a b` if asked for: a block of `b` at a time, which stays in the cache while all rows of `a` pass.
///
/// # Safety
/// As [`Gemm::product`](crate::gemm::Gemm::product).
pub(crate) unsafe fn multiply<T: Blocked>(
    sizes: Sizes,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    c: *mut T,
    stride: usize,
    add: bool,
) {
    let Sizes { m, k, n } = sizes;
    let mut block = [[T::ZERO; WIDTH]; DEPTH];
    for column in (0..n).step_by(WIDTH) {
        let width = WIDTH.min(n - column);
        for depth in (0..k).step_by(DEPTH) {
            let depths = DEPTH.min(k - depth);
            let replaces = depth == 0 && !add;
            // SAFETY: the caller says that row `row` of `c` has `n` elements that are ours.
            let target = |row: usize| unsafe { std::slice::from_raw_parts_mut(c.add(row * stride + column), width) };
            // A row that reads the block once only takes it straight from `b`.
            if m == 1 && b.column_stride == 1 {
                let target = target(0);
                if replaces {
                    target.fill(T::ZERO);
                }
                for p in depth..depth + depths {
                    let factor = a.data[p * a.column_stride];
                    for (target, &element) in target.iter_mut().zip(&b.data[p * b.row_stride + column..]) {
                        *target = target.wrapping_add(factor.wrapping_mul(element));
                    }
                }
                continue;
            }
            for (p, line) in block[..depths].iter_mut().enumerate() {
                let from = (depth + p) * b.row_stride + column * b.column_stride;
                for (j, element) in line[..width].iter_mut().enumerate() {
                    *element = b.data[from + j * b.column_stride];
                }
                line[width..].fill(T::ZERO);
            }
            for first in (0..m).step_by(ROWS) {
                let rows = ROWS.min(m - first);
                let mut factors = [[T::ZERO; ROWS]; DEPTH];
                let mut sums = [[T::ZERO; WIDTH]; ROWS];
                for row in 0..rows {
                    for (p, factors) in factors[..depths].iter_mut().enumerate() {
                        factors[row] = a.data[(first + row) * a.row_stride + (depth + p) * a.column_stride];
                    }
                    if !replaces {
                        sums[row][..width].copy_from_slice(target(first + row));
                    }
                }
                T::add_product(&factors[..depths], &block[..depths], &mut sums, rows, width);
                for (row, sums) in sums[..rows].iter().enumerate() {
                    target(first + row).copy_from_slice(&sums[..width]);
                }
            }
        }
    }
}

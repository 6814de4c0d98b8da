//! Sums of outer products of `f32`, a product of matrices of which the left one is transposed, and whose rows lie wherever they do: at
//! each of many places, some neighbours of one operand times some neighbours of another. So the gradient of a convolution's filter
//! adds up, pixel by pixel, and neither operand is copied.
//!
//! A tile of the sums stays in registers while all places pass.

use crate::tile::COLUMNS;

/// Places that follow each other in both operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first element of the first place in the left operand.
    pub left: usize,
    /// The same in the right one.
    pub right: usize,
    /// How many places there are.
    pub count: usize,
}

/// An operand of outer products.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    /// All elements.
    pub elements: &'a [f32],
    /// Elements from place to place.
    pub step: usize,
    /// Elements of a place that are multiplied.
    pub width: usize,
}

impl Operand<'_> {
    /// Whether it has so many places from an element on.
    fn has(&self, first: usize, count: usize) -> bool {
        let reach = (count - 1).checked_mul(self.step).and_then(|reach| reach.checked_add(first));
        reach.and_then(|reach| reach.checked_add(self.width)).is_some_and(|end| end <= self.elements.len())
    }
}

/// Writes to `target`, a matrix of `left.width` rows and `right.width` columns without gaps, the sums of the outer products of all
/// places, `target[r][c] = left[r] * right[c] + …` in the order of the places, or adds them to what is there.
///
/// # Panics
/// If an operand lacks a place, or the target is smaller than that.
pub fn sum_outer(left: Operand<'_>, right: Operand<'_>, runs: &[Run], target: &mut [f32], accumulate: bool) {
    let sums = left.width.checked_mul(right.width);
    assert!(sums.is_some_and(|sums| sums <= target.len()), "a target that is too small");
    let has = |run: &Run| run.count == 0 || left.has(run.left, run.count) && right.has(run.right, run.count);
    assert!(runs.iter().all(has), "an operand that is too small");
    let sums = Sums { left, right, runs, accumulate };
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has the feature; the places and the target were checked.
            return unsafe { x86::by_avx512(&sums, target.as_mut_ptr()) };
        }
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has the features; the places and the target were checked.
            return unsafe { x86::by_avx2(&sums, target.as_mut_ptr()) };
        }
    }
    // SAFETY: every processor has arrays; the places and the target were checked.
    unsafe { each_tile::<[f32; COLUMNS]>(&sums, target.as_mut_ptr()) }
}

/// What all tiles of the sums share.
struct Sums<'a> {
    left: Operand<'a>,
    right: Operand<'a>,
    runs: &'a [Run],
    accumulate: bool,
}

/// [`COLUMNS`] numbers.
trait Line: Copy {
    /// Lines of sums that are under way at a time: registers hold them and what they are made of.
    const SUMS: usize;
    /// Panels of a tile, at most.
    const PANELS: usize;

    /// # Safety
    /// Here and below: the processor has the instructions, and the memory the numbers.
    unsafe fn load(from: *const f32) -> Self;

    unsafe fn store(self, to: *mut f32);

    /// The first numbers of a line; the others are 0.
    unsafe fn load_some(from: *const f32, count: usize) -> Self;

    unsafe fn store_some(self, to: *mut f32, count: usize);

    unsafe fn zero() -> Self;

    unsafe fn add(self, other: Self) -> Self;

    /// With the products of a factor and a line added.
    unsafe fn add_products(self, factor: f32, line: Self) -> Self;
}

impl Line for [f32; COLUMNS] {
    const SUMS: usize = 4;
    const PANELS: usize = 1;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { from.cast::<Self>().read() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<Self>().write(self) }
    }

    #[inline(always)]
    unsafe fn load_some(from: *const f32, count: usize) -> Self {
        let mut line = [0.0; COLUMNS];
        for (index, element) in line.iter_mut().enumerate().take(count) {
            // SAFETY: the caller's promise.
            *element = unsafe { *from.wrapping_add(index) };
        }
        line
    }

    #[inline(always)]
    unsafe fn store_some(self, to: *mut f32, count: usize) {
        for (index, element) in self.into_iter().enumerate().take(count) {
            // SAFETY: the caller's promise.
            unsafe { *to.wrapping_add(index) = element };
        }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        [0.0; COLUMNS]
    }

    #[inline(always)]
    unsafe fn add(mut self, other: Self) -> Self {
        for (sum, other) in self.iter_mut().zip(other) {
            *sum += other;
        }
        self
    }

    #[inline(always)]
    unsafe fn add_products(mut self, factor: f32, line: Self) -> Self {
        for (sum, element) in self.iter_mut().zip(line) {
            *sum += factor * element;
        }
        self
    }
}

/// # Safety
/// The processor has the instructions of a line; the operands have all places of all runs, and the target all sums.
#[inline(always)]
unsafe fn each_tile<L: Line>(sums: &Sums<'_>, target: *mut f32) {
    const { assert!(L::PANELS <= 4 && L::SUMS <= 16) };
    let panels = sums.right.width.div_ceil(COLUMNS);
    let is_whole = sums.right.width.is_multiple_of(COLUMNS);
    let mut panel = 0;
    // SAFETY: the caller's promise.
    unsafe {
        while panel < panels {
            // Two of 2 and 3 rather than one of 4 and one of 1, of which each row is multiplied by one line only.
            let left = panels - panel;
            let taken = if left == L::PANELS + 1 { left.div_ceil(2) } else { left.min(L::PANELS) };
            match (taken, is_whole || taken < left) {
                (1, true) => each_row::<L, 1, true>(sums, panel, target),
                (2, true) => each_row::<L, 2, true>(sums, panel, target),
                (3, true) => each_row::<L, 3, true>(sums, panel, target),
                (4, true) => each_row::<L, 4, true>(sums, panel, target),
                (1, false) => each_row::<L, 1, false>(sums, panel, target),
                (2, false) => each_row::<L, 2, false>(sums, panel, target),
                (3, false) => each_row::<L, 3, false>(sums, panel, target),
                (_, _) => each_row::<L, 4, false>(sums, panel, target),
            }
            panel += taken;
        }
    }
}

/// Writes all rows of `P` panels from one on.
///
/// # Safety
/// As [`each_tile`]; the panels are whole, or all but the last if `WHOLE` is false.
#[inline(always)]
unsafe fn each_row<L: Line, const P: usize, const WHOLE: bool>(sums: &Sums<'_>, panel: usize, target: *mut f32) {
    if P > L::PANELS {
        unreachable!("more panels than there is room for");
    }
    // Tiles of nearly the same number of rows: small ones have too few sums under way.
    let count = sums.left.width;
    let tiles = count.div_ceil(L::SUMS / P);
    for tile in 0..tiles {
        let (row, end) = (tile * count / tiles, (tile + 1) * count / tiles);
        macro_rules! by_rows {
            ($($rows:literal)*) => {
                match end - row {
                    // SAFETY: the caller's promise.
                    $($rows if $rows * P <= L::SUMS => unsafe { write_tile::<L, $rows, P, WHOLE>(sums, row, panel, target) },)*
                    _ => unreachable!("a tile of more rows than there is room for"),
                }
            };
        }
        by_rows!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    }
}

/// Writes a tile of `R` rows and `P` panels, of whose columns those count that there are.
///
/// # Safety
/// As [`each_row`]; the tile lies within the sums.
#[inline(always)]
unsafe fn write_tile<L: Line, const R: usize, const P: usize, const WHOLE: bool>(
    sums: &Sums<'_>,
    row: usize,
    panel: usize,
    target: *mut f32,
) {
    let Sums { left, right, runs, accumulate } = *sums;
    let some = right.width % COLUMNS;
    // SAFETY: the caller's promise. Loops rather than closures, and counts that the compiler knows, so that the sums stay in
    // registers.
    unsafe {
        let mut sums = [[L::zero(); P]; R];
        for run in runs {
            let mut from = left.elements.as_ptr().wrapping_add(run.left + row);
            let mut line = right.elements.as_ptr().wrapping_add(run.right + panel * COLUMNS);
            for _ in 0..run.count {
                let mut lines = [L::zero(); P];
                for (column, element) in lines.iter_mut().enumerate() {
                    let line = line.wrapping_add(column * COLUMNS);
                    *element = if WHOLE || column + 1 < P { L::load(line) } else { L::load_some(line, some) };
                }
                for (row, sums) in sums.iter_mut().enumerate() {
                    let factor = *from.wrapping_add(row);
                    for (sum, line) in sums.iter_mut().zip(lines) {
                        *sum = sum.add_products(factor, line);
                    }
                }
                from = from.wrapping_add(left.step);
                line = line.wrapping_add(right.step);
            }
        }
        for (index, sums) in sums.iter().enumerate() {
            for (column, sum) in sums.iter().enumerate() {
                let to = target.wrapping_add((row + index) * right.width + (panel + column) * COLUMNS);
                match (accumulate, WHOLE || column + 1 < P) {
                    (false, true) => sum.store(to),
                    (false, false) => sum.store_some(to, some),
                    (true, true) => L::load(to).add(*sum).store(to),
                    (true, false) => L::load_some(to, some).add(*sum).store_some(to, some),
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Line, Sums, each_tile};

    /// # Safety
    /// As [`each_tile`]; the processor has AVX-512.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn by_avx512(sums: &Sums<'_>, target: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { each_tile::<__m512>(sums, target) }
    }

    /// # Safety
    /// As [`each_tile`]; the processor has AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn by_avx2(sums: &Sums<'_>, target: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { each_tile::<Halves>(sums, target) }
    }

    impl Line for __m512 {
        const SUMS: usize = 16;
        const PANELS: usize = 4;

        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: the caller's promise.
            unsafe { _mm512_loadu_ps(from) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: the caller's promise.
            unsafe { _mm512_storeu_ps(to, self) }
        }

        #[inline(always)]
        unsafe fn load_some(from: *const f32, count: usize) -> Self {
            // SAFETY: the caller's promise; the others are masked.
            unsafe { _mm512_maskz_loadu_ps((1 << count) - 1, from) }
        }

        #[inline(always)]
        unsafe fn store_some(self, to: *mut f32, count: usize) {
            // SAFETY: the caller's promise; the others are masked.
            unsafe { _mm512_mask_storeu_ps(to, (1 << count) - 1, self) }
        }

        #[inline(always)]
        unsafe fn zero() -> Self {
            // SAFETY: the caller's promise.
            unsafe { _mm512_setzero_ps() }
        }

        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            // SAFETY: the caller's promise.
            unsafe { _mm512_add_ps(self, other) }
        }

        #[inline(always)]
        unsafe fn add_products(self, factor: f32, line: Self) -> Self {
            // SAFETY: the caller's promise.
            unsafe { _mm512_fmadd_ps(_mm512_set1_ps(factor), line, self) }
        }
    }

    /// A line in two registers.
    #[derive(Clone, Copy)]
    struct Halves(__m256, __m256);

    /// Which numbers of each half are the first ones of a line.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn masks(count: usize) -> (__m256i, __m256i) {
        // SAFETY: the caller's promise.
        unsafe {
            let count = _mm256_set1_epi32(count as i32);
            let (first, second) =
                (_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15));
            (_mm256_cmpgt_epi32(count, first), _mm256_cmpgt_epi32(count, second))
        }
    }

    impl Line for Halves {
        const SUMS: usize = 6;
        const PANELS: usize = 1;

        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: the caller's promise.
            unsafe { Halves(_mm256_loadu_ps(from), _mm256_loadu_ps(from.wrapping_add(8))) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: the caller's promise.
            unsafe {
                _mm256_storeu_ps(to, self.0);
                _mm256_storeu_ps(to.wrapping_add(8), self.1);
            }
        }

        #[inline(always)]
        unsafe fn load_some(from: *const f32, count: usize) -> Self {
            // SAFETY: the caller's promise; the others are masked.
            unsafe {
                let (first, second) = masks(count);
                Halves(_mm256_maskload_ps(from, first), _mm256_maskload_ps(from.wrapping_add(8), second))
            }
        }

        #[inline(always)]
        unsafe fn store_some(self, to: *mut f32, count: usize) {
            // SAFETY: the caller's promise; the others are masked.
            unsafe {
                let (first, second) = masks(count);
                _mm256_maskstore_ps(to, first, self.0);
                _mm256_maskstore_ps(to.wrapping_add(8), second, self.1);
            }
        }

        #[inline(always)]
        unsafe fn zero() -> Self {
            // SAFETY: the caller's promise.
            unsafe { Halves(_mm256_setzero_ps(), _mm256_setzero_ps()) }
        }

        #[inline(always)]
        unsafe fn add(self, other: Self) -> Self {
            // SAFETY: the caller's promise.
            unsafe { Halves(_mm256_add_ps(self.0, other.0), _mm256_add_ps(self.1, other.1)) }
        }

        #[inline(always)]
        unsafe fn add_products(self, factor: f32, line: Self) -> Self {
            // SAFETY: the caller's promise.
            unsafe {
                let factor = _mm256_set1_ps(factor);
                Halves(_mm256_fmadd_ps(factor, line.0, self.0), _mm256_fmadd_ps(factor, line.1, self.1))
            }
        }
    }

    #[cfg(test)]
    pub(super) use tests::each_way;

    #[cfg(test)]
    mod tests {
        use super::*;

        /// The ways of this processor besides arrays.
        pub(in super::super) fn each_way(sums: &Sums<'_>, mut with: impl FnMut(&dyn Fn(&mut [f32]))) {
            if std::is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor has the feature; the test's operands are as large as they must be.
                with(&|target| unsafe { by_avx512(sums, target.as_mut_ptr()) });
            }
            if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
                // SAFETY: the processor has the features; the test's operands are as large as they must be.
                with(&|target| unsafe { by_avx2(sums, target.as_mut_ptr()) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_agree_with_the_definition() {
        // Small whole numbers, so that every order of addition gives the same sum.
        let numbers = |count: usize| (0..count).map(|i| (i * 7 % 11) as f32 - 5.0).collect::<Vec<f32>>();
        for (rows, columns) in
            [(1, 16), (16, 16), (31, 32), (7, 48), (23, 64), (5, 112), (13, 5), (2, 24), (14, 79), (0, 16), (3, 0)]
        {
            let (left, right) = (numbers(40 * (rows + 3)), numbers(40 * (columns + 1)));
            let left = Operand { elements: &left, step: rows + 3, width: rows };
            let right = Operand { elements: &right, step: columns + 1, width: columns };
            let at =
                |left: usize, right: usize, count| Run { left: left * (rows + 3), right: right * (columns + 1), count };
            for runs in [&[][..], &[at(0, 0, 40)], &[at(3, 9, 1), at(20, 0, 0), at(20, 11, 17), at(0, 37, 3)]] {
                for accumulate in [false, true] {
                    let before = numbers(rows * columns + 5);
                    let mut expected = before.clone();
                    if !accumulate {
                        expected[..rows * columns].fill(0.0);
                    }
                    for run in runs {
                        for place in 0..run.count {
                            for row in 0..rows {
                                for column in 0..columns {
                                    let factor = left.elements[run.left + place * left.step + row];
                                    let element = right.elements[run.right + place * right.step + column];
                                    expected[row * columns + column] += factor * element;
                                }
                            }
                        }
                    }
                    let agrees = |add: &dyn Fn(&mut [f32])| {
                        let mut found = before.clone();
                        add(&mut found);
                        assert_eq!(found, expected, "{rows} {columns} {runs:?}");
                    };
                    agrees(&|target| sum_outer(left, right, runs, target, accumulate));
                    let sums = Sums { left, right, runs, accumulate };
                    // SAFETY: the operands have all places, and the target has all sums.
                    agrees(&|target| unsafe { each_tile::<[f32; COLUMNS]>(&sums, target.as_mut_ptr()) });
                    #[cfg(target_arch = "x86_64")]
                    x86::each_way(&sums, agrees);
                }
            }
        }
    }

    #[test]
    fn what_is_too_small_is_refused() {
        let elements = [0.0; 64];
        let operand = |width| Operand { elements: &elements, step: 16, width };
        let refused = |left: usize, right: usize, run: [usize; 3], sums: usize| {
            let [from, to, count] = run;
            let runs = [Run { left: from, right: to, count }];
            std::panic::catch_unwind(|| sum_outer(operand(left), operand(right), &runs, &mut vec![0.0; sums], false))
                .is_err()
        };
        assert!(!refused(16, 16, [0, 0, 4], 256) && !refused(16, 16, [64, 64, 0], 256));
        assert!(
            refused(16, 16, [0, 16, 4], 256) && refused(16, 16, [16, 0, 4], 256) && refused(16, 16, [0, 1, 4], 256)
        );
        assert!(refused(16, 16, [0, 0, 4], 255) && refused(1 << 32, 1 << 32, [0, 0, 0], 0));
        assert!(refused(16, 16, [usize::MAX, 0, 1], 256) && refused(16, 16, [0, 0, usize::MAX], 256));
    }
}

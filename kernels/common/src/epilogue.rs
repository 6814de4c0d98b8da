//! What is done to the sums of a product before they are written, while they are in registers still.

use crate::fast::Real;

/// Steps for a part of a product with channels last, from the element on with which the part begins: what is added to
/// each channel, its factor, what is added then, another tensor that is added, a simple activation. Each step rounds, as a
/// node of its own does.
#[derive(Clone, Copy)]
pub struct Epilogue<'a, T> {
    /// From the first channel on, one after the other.
    pub biases: [Option<&'a [T]>; 2],
    /// From the first channel on.
    pub scale: Option<&'a [T]>,
    /// From the first channel on.
    pub shift: Option<&'a [T]>,
    /// From the first element on, with rows as far apart as those of the product.
    pub summand: Option<&'a [T]>,
    /// What is done last.
    pub end: End<T>,
}

/// An activation of few instructions. NaN stays NaN.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum End<T> {
    /// None.
    Nothing,
    /// `min(max(x, 0), limit)`, never -0.
    Relu(T),
    /// `x * min(max(x + 3, 0), 6) / 6`.
    HardSwish,
}

/// `x * min(max(x + 3, 0), 6) / 6`.
#[inline(always)]
pub fn hard_swish<T: Real>(x: T) -> T {
    x * (relu(x + T::of(3.0), T::of(6.0)) / T::of(6.0))
}

#[inline(always)]
fn relu<T: Real>(x: T, limit: T) -> T {
    let above = if x <= T::ZERO { T::ZERO } else { x };
    if above > limit { limit } else { above }
}

impl<T> Default for Epilogue<'_, T> {
    fn default() -> Self {
        Epilogue { biases: [None; 2], scale: None, shift: None, summand: None, end: End::Nothing }
    }
}

impl<'a, T: Real> Epilogue<'a, T> {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.channels().next().is_none() && self.summand.is_none() && matches!(self.end, End::Nothing)
    }

    /// What there is for channels.
    fn channels(&self) -> impl Iterator<Item = &'a [T]> {
        self.biases.into_iter().chain([self.scale, self.shift]).flatten()
    }

    /// Whether there is something for each of so many elements, whose rows are `stride` apart.
    pub fn covers(&self, rows: usize, columns: usize, stride: usize) -> bool {
        let last = rows.saturating_sub(1).saturating_mul(stride).saturating_add(columns);
        self.channels().all(|channels| channels.len() >= columns)
            && self.summand.is_none_or(|summand| summand.len() >= last)
    }

    /// The same for what begins some columns further on.
    #[must_use]
    #[inline]
    pub fn from_column(self, column: usize) -> Self {
        let from = |elements: Option<&'a [T]>| elements.map(|elements| &elements[column..]);
        Epilogue {
            biases: self.biases.map(from),
            scale: from(self.scale),
            shift: from(self.shift),
            summand: from(self.summand),
            end: self.end,
        }
    }

    /// The same for rows that begin some elements further on.
    #[must_use]
    #[inline]
    pub fn from_row(self, elements: usize) -> Self {
        Epilogue { summand: self.summand.map(|summand| &summand[elements..]), ..self }
    }

    /// Finishes the first columns of the first row.
    ///
    /// # Panics
    /// If there are not as many.
    #[inline(always)]
    pub fn finish_row(&self, row: &mut [T]) {
        let count = row.len();
        for bias in self.biases.into_iter().flatten() {
            row.iter_mut().zip(&bias[..count]).for_each(|(x, &bias)| *x = *x + bias);
        }
        if let Some(scale) = self.scale {
            row.iter_mut().zip(&scale[..count]).for_each(|(x, &scale)| *x = *x * scale);
        }
        if let Some(shift) = self.shift {
            row.iter_mut().zip(&shift[..count]).for_each(|(x, &shift)| *x = *x + shift);
        }
        if let Some(summand) = self.summand {
            row.iter_mut().zip(&summand[..count]).for_each(|(x, &summand)| *x = *x + summand);
        }
        match self.end {
            End::Nothing => {}
            End::Relu(limit) => row.iter_mut().for_each(|x| *x = relu(*x, limit)),
            End::HardSwish => row.iter_mut().for_each(|x| *x = hard_swish(*x)),
        }
    }
}

/// A vector of `f32`, whole or those of its elements that a mask names.
#[cfg(target_arch = "x86_64")]
pub mod avx512 {
    use std::arch::x86_64::*;

    /// Reads the elements that `mask` names; the others are 0. Whole vectors are read without a mask, which takes a fraction
    /// of the time.
    ///
    /// # Safety
    /// The processor has AVX-512, and `from` has the elements.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub unsafe fn load(mask: __mmask16, from: *const f32) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { if mask == u16::MAX { _mm512_loadu_ps(from) } else { _mm512_maskz_loadu_ps(mask, from) } }
    }

    /// Writes the elements that `mask` names.
    ///
    /// # Safety
    /// The processor has AVX-512, and `to` has the elements, which nothing else accesses meanwhile.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub unsafe fn store(mask: __mmask16, to: *mut f32, vector: __m512) {
        // SAFETY: the caller's promise.
        unsafe { if mask == u16::MAX { _mm512_storeu_ps(to, vector) } else { _mm512_mask_storeu_ps(to, mask, vector) } }
    }
}

/// Finishes sums as [`Epilogue::finish_row`] does, to the bit: `$sums[row][column]` are AVX-512 vectors, of whose last
/// column those channels count that `$last` names. Rows of the summand are `$stride`
/// elements apart. A macro, so that the sums stay in registers: their indices are constants once its loops are unrolled.
///
/// It needs AVX-512, and an epilogue that covers these elements.
#[cfg(target_arch = "x86_64")]
#[macro_export]
macro_rules! finish_vectors {
    ($epilogue:expr, $sums:ident: [[_; $columns:expr]; $rows:expr], last: $last:expr, stride: $stride:expr) => {{
        use std::arch::x86_64::*;
        use $crate::epilogue::{End, avx512::load};
        let epilogue: &$crate::epilogue::Epilogue<'_, f32> = $epilogue;
        let mask = |column: usize| if column + 1 < $columns { u16::MAX } else { $last };
        macro_rules! by_channels {
            ($channels:expr, $step:ident) => {
                if let Some(channels) = $channels {
                    for column in 0..$columns {
                        let channels = load(mask(column), channels.as_ptr().wrapping_add(16 * column));
                        for row in 0..$rows {
                            $sums[row][column] = $step($sums[row][column], channels);
                        }
                    }
                }
            };
        }
        by_channels!(epilogue.biases[0], _mm512_add_ps);
        by_channels!(epilogue.biases[1], _mm512_add_ps);
        by_channels!(epilogue.scale, _mm512_mul_ps);
        by_channels!(epilogue.shift, _mm512_add_ps);
        if let Some(summand) = epilogue.summand {
            for row in 0..$rows {
                for column in 0..$columns {
                    let from = summand.as_ptr().wrapping_add(row * $stride + 16 * column);
                    $sums[row][column] = _mm512_add_ps($sums[row][column], load(mask(column), from));
                }
            }
        }
        match epilogue.end {
            End::Nothing => {}
            End::Relu(limit) => {
                let (zero, limit) = (_mm512_setzero_ps(), _mm512_set1_ps(limit));
                for row in 0..$rows {
                    for column in 0..$columns {
                        // The second operand is the result if one is NaN or both are zeros, and -0 + 0 is 0.
                        let above = _mm512_add_ps(_mm512_max_ps(zero, $sums[row][column]), zero);
                        $sums[row][column] = _mm512_min_ps(limit, above);
                    }
                }
            }
            End::HardSwish => {
                let [three, six, sixth] = [3.0, 6.0, 1.0 / 6.0].map(|x| _mm512_set1_ps(x));
                for row in 0..$rows {
                    for column in 0..$columns {
                        let x = $sums[row][column];
                        let above = _mm512_max_ps(_mm512_setzero_ps(), _mm512_add_ps(x, three));
                        let bounded = _mm512_min_ps(six, above);
                        // The quotient by 6, rounded as a division rounds it: the second step adds what the first lacks.
                        let quotient = _mm512_mul_ps(bounded, sixth);
                        let rest = _mm512_fnmadd_ps(quotient, six, bounded);
                        $sums[row][column] = _mm512_mul_ps(x, _mm512_fmadd_ps(rest, sixth, quotient));
                    }
                }
            }
        }
    }};
}
#[cfg(target_arch = "x86_64")]
pub use finish_vectors;

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 37 channels after an epilogue, by vectors.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn by_vectors(epilogue: Epilogue<'_, f32>, elements: &mut [f32], stride: usize) {
        use std::arch::x86_64::*;
        let masks = [u16::MAX, u16::MAX, (1 << 5) - 1];
        assert!(epilogue.covers(2, 37, stride) && elements.len() >= stride + 37);
        let start = elements.as_mut_ptr();
        let at = |row: usize, column: usize| start.wrapping_add(row * stride + column * 16);
        let mut sums = [[_mm512_setzero_ps(); 3]; 2];
        // SAFETY: the masks let 37 elements of each row through, as many as there are.
        unsafe {
            for (row, sums) in sums.iter_mut().enumerate() {
                for (column, sum) in sums.iter_mut().enumerate() {
                    *sum = avx512::load(masks[column], at(row, column));
                }
            }
            finish_vectors!(&epilogue, sums: [[_; 3]; 2], last: masks[2], stride: stride);
            for (row, sums) in sums.into_iter().enumerate() {
                for (column, sum) in sums.into_iter().enumerate() {
                    avx512::store(masks[column], at(row, column), sum);
                }
            }
        }
    }

    #[test]
    fn rows_and_vectors_agree_with_the_definition() {
        let numbers = |from: usize, count: usize| -> Vec<f32> {
            (0..count).map(|i| ((i * 37 + from) % 41) as f32 / 8.0 - 2.5).collect()
        };
        let stride = 43;
        let (scale, shift, summand) = (numbers(1, 40), numbers(2, 40), numbers(3, 2 * stride));
        let mut elements = numbers(4, 2 * stride);
        [elements[3], elements[7], elements[stride + 8], elements[9]] =
            [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0];
        let (scale_of_all, shift_of_all) = (&scale[..], &shift[..]);
        for steps in 0..32 {
            for end in [End::Nothing, End::Relu(f32::INFINITY), End::Relu(6.0), End::HardSwish] {
                let chosen = |step: usize, values| (steps >> step & 1 == 1).then_some(values);
                let (scale, shift, summand) = (chosen(0, &scale[..]), chosen(1, &shift[..]), chosen(2, &summand[..]));
                let biases = [chosen(3, shift_of_all), chosen(4, scale_of_all)];
                let epilogue = Epilogue { biases, scale, shift, summand, end }.from_column(3);
                assert_eq!(epilogue.is_empty(), steps == 0 && end == End::Nothing);
                let mut expected = elements.clone();
                for row in 0..2 {
                    for column in 0..37 {
                        let x = &mut expected[row * stride + column];
                        for bias in biases.into_iter().flatten() {
                            *x += bias[3 + column];
                        }
                        scale.into_iter().for_each(|scale| *x *= scale[3 + column]);
                        shift.into_iter().for_each(|shift| *x += shift[3 + column]);
                        summand.into_iter().for_each(|summand| *x += summand[row * stride + 3 + column]);
                        *x = match end {
                            End::Relu(limit) if !x.is_nan() => x.max(0.0).min(limit) + 0.0,
                            End::HardSwish if !x.is_nan() => *x * ((*x + 3.0).clamp(0.0, 6.0) / 6.0),
                            _ => *x,
                        };
                    }
                }
                let is_right = |found: &[f32]| {
                    found.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
                };
                let mut found = elements.clone();
                for row in 0..2 {
                    epilogue.from_row(row * stride).finish_row(&mut found[row * stride..][..37]);
                }
                assert!(is_right(&found), "{steps} {end:?}: {found:?}");
                #[cfg(target_arch = "x86_64")]
                if std::is_x86_feature_detected!("avx512f") {
                    let mut found = elements.clone();
                    // SAFETY: the processor has the feature.
                    unsafe { by_vectors(epilogue, &mut found, stride) };
                    assert!(is_right(&found), "{steps} {end:?} by vectors: {found:?}");
                }
            }
        }
    }

    #[test]
    fn an_epilogue_covers_what_it_has_elements_for() {
        let elements = [0.0f32; 20];
        let channels = Epilogue { shift: Some(&elements), ..Epilogue::default() };
        assert!(channels.covers(100, 20, 20) && !channels.covers(1, 21, 21));
        let whole = Epilogue { summand: Some(&elements), ..Epilogue::default() };
        assert!(whole.covers(2, 8, 12) && !whole.covers(2, 9, 12) && whole.covers(0, 20, 12));
    }
}

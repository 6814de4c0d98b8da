//! Loops over narrow elements made of loops over wider ones: a block of elements is widened, computed and rounded back.
//!
//! The conversions are compiled once, not once for each function: a function of `half` is that of `float` and costs no code.

use std::mem::MaybeUninit;

use kernlink::dtype::{Complex32, Complex64, Pod, bf16, f16};
use kernlink_kernels_common::float16::Float16;
use kernlink_kernels_common::widest;

use super::driver::Loop;

/// Bytes of a block of wide elements: with the blocks of four operands they stay in the first cache. As many elements as a
/// block has are a multiple of [`easy::BLOCK`](super::easy::BLOCK).
const BYTES: usize = 4096;

#[repr(align(64))]
struct Block(MaybeUninit<[u8; BYTES]>);

/// Elements that are computed as wider ones.
pub(crate) trait Stored: Pod {
    /// What they are computed as.
    type Wide: Pod;
    /// Which they are.
    const ELEMENTS: Elements;
}

/// Which elements are computed as wider ones.
#[derive(Clone, Copy)]
pub(crate) enum Elements {
    /// `f16`, as `f32`.
    Half,
    /// `bf16`, as `f32`.
    Bfloat16,
    /// `Complex32`, as `Complex64`.
    Complex,
}

impl Stored for f16 {
    type Wide = f32;
    const ELEMENTS: Elements = Elements::Half;
}

impl Stored for bf16 {
    type Wide = f32;
    const ELEMENTS: Elements = Elements::Bfloat16;
}

impl Stored for Complex32 {
    type Wide = Complex64;
    const ELEMENTS: Elements = Elements::Complex;
}

/// How what a loop over wider elements takes and gives is stored.
#[derive(Clone, Copy)]
pub(crate) struct Narrow {
    /// What it takes.
    pub(crate) elements: Elements,
    /// Bytes of a result.
    pub(crate) output_size: usize,
    /// Whether it gives wide elements, which are stored as those that it takes.
    pub(crate) narrows: bool,
}

impl Elements {
    /// Bytes of an element, and of a wide one.
    fn sizes(self) -> (usize, usize) {
        match self {
            Elements::Half | Elements::Bfloat16 => (2, 4),
            Elements::Complex => (8, 16),
        }
    }

    /// Writes the exact values of elements.
    ///
    /// # Safety
    /// `source` points to `count` elements, `target` to room for as many wide ones, which does not overlap them; both are
    /// aligned.
    unsafe fn widen(self, source: *const u8, target: *mut u8, count: usize) {
        use std::slice::{from_raw_parts, from_raw_parts_mut};
        // SAFETY: by the caller's promise; a complex number is two numbers one after the other.
        unsafe {
            match self {
                Elements::Half => f16::widen(from_raw_parts(source.cast(), count), target.cast()),
                Elements::Bfloat16 => {
                    widen_brains(from_raw_parts(source.cast(), count), from_raw_parts_mut(target.cast(), count));
                }
                Elements::Complex => {
                    let parts = 2 * count;
                    widen_singles(from_raw_parts(source.cast(), parts), from_raw_parts_mut(target.cast(), parts));
                }
            }
        }
    }

    /// Writes the nearest elements.
    ///
    /// # Safety
    /// As for [`Elements::widen`], where `source` points to the wide ones.
    unsafe fn narrow(self, source: *const u8, target: *mut u8, count: usize) {
        use std::slice::{from_raw_parts, from_raw_parts_mut};
        // SAFETY: by the caller's promise; what an output has before it is written is not looked at.
        unsafe {
            match self {
                Elements::Half => {
                    f16::narrow(from_raw_parts(source.cast(), count), from_raw_parts_mut(target.cast(), count));
                }
                Elements::Bfloat16 => {
                    bf16::narrow(from_raw_parts(source.cast(), count), from_raw_parts_mut(target.cast(), count));
                }
                Elements::Complex => {
                    let parts = 2 * count;
                    narrow_doubles(from_raw_parts(source.cast(), parts), from_raw_parts_mut(target.cast(), parts));
                }
            }
        }
    }
}

widest! {
    fn widen_brains(source: &[bf16], target: &mut [MaybeUninit<f32>]) {
        for (target, x) in target.iter_mut().zip(source) {
            target.write(x.widened());
        }
    }
}

widest! {
    fn widen_singles(source: &[f32], target: &mut [MaybeUninit<f64>]) {
        for (target, &x) in target.iter_mut().zip(source) {
            target.write(x.into());
        }
    }
}

widest! {
    fn narrow_doubles(source: &[f64], target: &mut [f32]) {
        for (target, &x) in target.iter_mut().zip(source) {
            *target = x as f32;
        }
    }
}

/// Runs a loop over wide elements on narrow ones, whose results are rounded once, at its end.
///
/// # Safety
/// As [`Loop`], of elements that are stored so.
#[inline(never)]
pub(super) unsafe fn by_blocks<const N: usize>(
    run: Loop<N>,
    narrow: Narrow,
    inputs: [*const u8; N],
    output: *mut u8,
    length: usize,
) -> bool {
    let mut blocks = [const { Block(MaybeUninit::uninit()) }; N];
    let mut results = Block(MaybeUninit::uninit());
    let pointers: [*mut u8; N] = blocks.each_mut().map(|block| block.0.as_mut_ptr().cast());
    let results: *mut u8 = results.0.as_mut_ptr().cast();
    let (size, wide) = narrow.elements.sizes();
    let (mut start, mut valid) = (0, true);
    while start < length {
        let count = (BYTES / wide).min(length - start);
        // SAFETY: the operands have `count` elements from `start` on, and a block has room for as many wide ones, all of
        // which are written before they are read: a loop writes all of its output.
        unsafe {
            for (input, block) in inputs.iter().zip(pointers) {
                narrow.elements.widen(input.add(start * size), block, count);
            }
            let target = output.add(start * narrow.output_size);
            let room = if narrow.narrows { results } else { target };
            valid &= run(pointers.map(<*mut u8>::cast_const), room, count);
            if narrow.narrows {
                narrow.elements.narrow(results, target, count);
            }
        }
        start += count;
    }
    valid
}

/// Rounds numbers to what type `T` has.
#[cfg(any(feature = "math", test))]
#[inline(always)]
pub(crate) fn round_all<T: Float16>(elements: &mut [f32]) {
    const PIECE: usize = 512;
    let mut narrow = [T::default(); PIECE];
    for elements in elements.chunks_mut(PIECE) {
        let narrow = &mut narrow[..elements.len()];
        T::narrow(elements, narrow);
        // SAFETY: there are as many elements.
        unsafe { T::widen(narrow, elements.as_mut_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binary::{Binary, BinaryFn, binary};
    use crate::driver::SliceLoop;
    use crate::unary::{Unary, unary};

    const LENGTH: usize = BYTES / size_of::<f32>();

    struct Quotient;
    binary!(Quotient, 500: f32 => |x, y| x / y; half);
    struct Beyond;
    binary!(Beyond -> bool: f32 => |x, y| x > y; half);
    struct SquareOfDifference;
    binary!(SquareOfDifference, 500: f32 => |x, y| (x - y) * (x - y); half |x, y| x - y, then |d| d * d);

    fn agrees<T: Float16>(length: usize, convert: fn(f32) -> T)
    where
        Quotient: BinaryFn<T, Out = T>,
        Beyond: BinaryFn<T, Out = bool>,
        SquareOfDifference: BinaryFn<T, Out = T>,
    {
        let x: Vec<T> = (0..length).map(|i| convert((i * 37 % 113) as f32 - 50.0)).collect();
        let y: Vec<T> = (0..length).map(|i| convert((i * 29 % 71) as f32 * 0.37 - 9.0)).collect();
        let (mut quotients, mut squares, mut beyond) = (x.clone(), x.clone(), vec![false; length]);
        assert!(Binary::<Quotient, T>::run([&x, &y], &mut quotients));
        assert!(Binary::<SquareOfDifference, T>::run([&x, &y], &mut squares));
        assert!(Binary::<Beyond, T>::run([&x, &y], &mut beyond));
        for (i, (x, y)) in x.iter().zip(&y).enumerate() {
            let (x, y) = (x.widened(), y.widened());
            let difference = convert(x - y).widened();
            assert_eq!(quotients[i].widened().to_bits(), convert(x / y).widened().to_bits(), "{x} / {y}");
            assert_eq!(squares[i].widened().to_bits(), convert(difference * difference).widened().to_bits(), "{x} {y}");
            assert_eq!(beyond[i], x > y);
        }
    }

    struct Cubed;
    unary!(Cubed, 500: Complex64 => |x| x * x * x; complex);

    #[test]
    fn complex_numbers_are_rounded_once() {
        for length in [0, 1, 5, BYTES / 16 - 1, BYTES / 16 + 3] {
            let x: Vec<Complex32> = (0..length).map(|i| Complex32::new(i as f32 * 0.37, 5.1 - i as f32)).collect();
            let mut cubes = x.clone();
            assert!(Unary::<Cubed, Complex32>::run([&x], &mut cubes));
            for (x, cube) in x.iter().zip(cubes) {
                let wide = Complex64::new(x.re.into(), x.im.into());
                let right = wide * wide * wide;
                assert_eq!(cube, Complex32::new(right.re as f32, right.im as f32), "{x}");
            }
        }
    }

    #[test]
    fn blocks_of_all_lengths_give_what_elements_do() {
        for length in [0, 1, 7, LENGTH - 1, LENGTH, LENGTH + 1, 3 * LENGTH + 5] {
            agrees::<f16>(length, f16::from_f32);
            agrees::<bf16>(length, bf16::from_f32);
        }
    }
}

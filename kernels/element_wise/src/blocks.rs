//! Loops over 16-bit floats made of loops over `f32`: a block of elements is widened, computed and rounded back.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use kernlink::dtype::Pod;
use kernlink_kernels_common::float16::Float16;

use super::driver::SliceLoop;

/// Elements of a block: with the blocks of four operands they stay in the first cache.
const LENGTH: usize = 1024;

#[repr(align(64))]
struct Block([MaybeUninit<f32>; LENGTH]);

impl Block {
    /// The numbers of `source`, at most a block, as `f32`.
    #[inline(always)]
    fn widened<T: Float16>(&mut self, source: &[T]) -> &[f32] {
        assert!(source.len() <= LENGTH);
        let block: *mut f32 = self.0.as_mut_ptr().cast();
        // SAFETY: there is room for the numbers, all of which are written before they are read.
        unsafe {
            T::widen(source, block);
            std::slice::from_raw_parts(block, source.len())
        }
    }
}

// Without closures, which might not be inlined, and then were not compiled for wide vectors.

/// What a loop over `f32` gives, and what becomes of it if its arguments were of type `T`.
pub(crate) trait Narrowed<T>: Pod {
    /// The elements of the output.
    type Out: Pod;

    /// Room for as many results as `out` has elements, at most a block.
    fn room<'r>(out: &'r mut [Self::Out], block: &'r mut [MaybeUninit<f32>; LENGTH]) -> &'r mut [Self];

    /// Puts results that were written to the room into the output.
    ///
    /// # Safety
    /// They were written.
    unsafe fn store(block: &[MaybeUninit<f32>; LENGTH], out: &mut [Self::Out]);
}

impl<T: Float16> Narrowed<T> for f32 {
    type Out = T;

    #[inline(always)]
    fn room<'r>(out: &'r mut [T], block: &'r mut [MaybeUninit<f32>; LENGTH]) -> &'r mut [f32] {
        let room = &mut block[..out.len()];
        // SAFETY: as in an output tensor, what the numbers are before is not looked at.
        unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), room.len()) }
    }

    #[inline(always)]
    unsafe fn store(block: &[MaybeUninit<f32>; LENGTH], out: &mut [T]) {
        let results = &block[..out.len()];
        // SAFETY: by the caller's promise.
        T::narrow(unsafe { std::slice::from_raw_parts(results.as_ptr().cast(), results.len()) }, out);
    }
}

impl<T: Float16> Narrowed<T> for bool {
    type Out = bool;

    #[inline(always)]
    fn room<'r>(out: &'r mut [bool], _: &'r mut [MaybeUninit<f32>; LENGTH]) -> &'r mut [bool] {
        out
    }

    #[inline(always)]
    unsafe fn store(_: &[MaybeUninit<f32>; LENGTH], _: &mut [bool]) {}
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

/// The loop `L` over `f32` as one over elements of type `T`, whose results are rounded once, at its end.
pub(crate) struct ByBlocks<L, T>(PhantomData<fn() -> (L, T)>);

impl<L: SliceLoop<N, In = f32, Out: Narrowed<T>>, T: Float16, const N: usize> SliceLoop<N> for ByBlocks<L, T> {
    type In = T;
    type Out = <L::Out as Narrowed<T>>::Out;

    #[inline(always)]
    fn run(inputs: [&[T]; N], out: &mut [Self::Out]) -> bool {
        let mut blocks = [const { Block([MaybeUninit::uninit(); LENGTH]) }; N];
        let mut results = Block([MaybeUninit::uninit(); LENGTH]);
        let (mut start, mut valid) = (0, true);
        for out in out.chunks_mut(LENGTH) {
            let mut wide: [&[f32]; N] = [&[]; N];
            for ((wide, block), input) in wide.iter_mut().zip(&mut blocks).zip(inputs) {
                *wide = block.widened(&input[start..start + out.len()]);
            }
            start += out.len();
            valid &= L::run(wide, L::Out::room(out, &mut results.0));
            // SAFETY: a loop writes all of its output.
            unsafe { L::Out::store(&results.0, out) };
        }
        valid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binary::{Binary, BinaryFn, binary};
    use kernlink::dtype::{bf16, f16};

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

    #[test]
    fn blocks_of_all_lengths_give_what_elements_do() {
        for length in [0, 1, 7, LENGTH - 1, LENGTH, LENGTH + 1, 3 * LENGTH + 5] {
            agrees::<f16>(length, f16::from_f32);
            agrees::<bf16>(length, bf16::from_f32);
        }
    }
}

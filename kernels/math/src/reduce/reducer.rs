//! What the reductions compute: how elements become partial results, how those merge, and what comes out.

use kernlink::dtype::{Complex32, Complex64, Number, Pod, bf16, f16};
use kernlink_kernels_common::number::Computed;

/// One reduction of elements of type `T`.
pub(super) trait Reducer<T: Pod>: Send + Sync + 'static {
    /// A partial result.
    type Acc: Copy + Send + Sync;
    /// The result of no elements.
    const IDENTITY: Self::Acc;
    /// The result of one element.
    fn lift(element: T) -> Self::Acc;
    /// The results of elements, which may be found together at less cost.
    #[inline(always)]
    fn lift_chunk<const N: usize>(chunk: &[T; N]) -> [Self::Acc; N] {
        let mut lifted = [Self::IDENTITY; N];
        for (lifted, &element) in lifted.iter_mut().zip(chunk) {
            *lifted = Self::lift(element);
        }
        lifted
    }
    /// The result of two parts, the first before the second.
    fn merge(first: Self::Acc, second: Self::Acc) -> Self::Acc;
    /// The output's element for `count` elements of the input.
    fn finish(result: Self::Acc, count: usize) -> T;
}

/// A dtype that can be averaged.
pub(crate) trait Summand: Computed {
    /// What sums for a mean are kept in: 64 bits for integers.
    type MeanAcc: Number;
    /// The element as a part of a mean.
    fn lift_mean(self) -> Self::MeanAcc;
    /// The elements as parts of a mean.
    fn lift_mean_chunk<const N: usize>(chunk: &[Self; N]) -> [Self::MeanAcc; N];
    /// The mean of `count` elements with this sum; of none NaN, or 0 where there is no NaN.
    fn mean(sum: Self::MeanAcc, count: usize) -> Self;
}

macro_rules! summands {
    ($($t:ty, $mean:ty, $mean_of:expr;)*) => {$(
        impl Summand for $t {
            type MeanAcc = $mean;
            #[inline(always)]
            fn lift_mean(self) -> $mean { <$mean>::from(Computed::widen(self)) }
            #[inline(always)]
            fn lift_mean_chunk<const N: usize>(chunk: &[$t; N]) -> [$mean; N] {
                let mut lifted = [<$mean as Number>::ZERO; N];
                for (lifted, wide) in lifted.iter_mut().zip(Computed::widen_chunk(chunk)) {
                    *lifted = <$mean>::from(wide);
                }
                lifted
            }
            #[inline(always)]
            fn mean(sum: $mean, count: usize) -> $t { $mean_of(sum, count) }
        }
    )*};
}

macro_rules! integers {
    ($($t:ty => $mean:ty),*) => {
        summands! {$( $t, $mean, |sum: $mean, count: usize| sum.checked_div(count as $mean).unwrap_or(0) as $t; )*}
    };
}
integers!(i8 => i64, i16 => i64, i32 => i64, i64 => i64, u8 => u64, u16 => u64, u32 => u64, u64 => u64);

summands! {
    f32, f32, |sum: f32, count: usize| sum / count as f32;
    f64, f64, |sum: f64, count: usize| sum / count as f64;
    bf16, f32, |sum: f32, count: usize| bf16::from_f32(sum / count as f32);
    // TensorFlow rounds the sum and the count before it divides, so that both may overflow.
    f16, f32, |sum, count: usize| f16::from_f32(sum) / f16::from_f32(count as f32);
    Complex32, Complex32, |sum: Complex32, count: usize| if count == 0 { sum } else { sum / count as f32 };
    Complex64, Complex64, |sum: Complex64, count: usize| if count == 0 { sum } else { sum / count as f64 };
}

/// A dtype with an order.
pub(super) trait Ordered: Pod {
    /// What comparisons are made in: `f32` for 16-bit floats.
    type Key: PartialOrd + Copy + Send + Sync;
    /// Not above any key: −∞ for floats.
    const MIN: Self::Key;
    /// Not below any key: ∞ for floats.
    const MAX: Self::Key;
    /// The lowest finite key.
    const LOWEST: Self::Key;
    /// The highest finite key.
    const HIGHEST: Self::Key;
    /// The element's key.
    fn key(self) -> Self::Key;
    /// The elements' keys.
    #[inline(always)]
    fn key_chunk<const N: usize>(chunk: &[Self; N]) -> [Self::Key; N] {
        let mut keys = [Self::MIN; N];
        for (key, &element) in keys.iter_mut().zip(chunk) {
            *key = element.key();
        }
        keys
    }
    /// The element with this key.
    fn from_key(key: Self::Key) -> Self;
    /// Whether the key is NaN.
    fn is_nan(key: Self::Key) -> bool;
}

/// `x` itself.
#[inline(always)]
fn same<T>(x: T) -> T {
    x
}

macro_rules! ordered {
    ($(
        $t:ty, $key:ty, $min:expr, $max:expr, $lowest:expr, $highest:expr, $lift:expr, $finish:expr, $nan:expr
        $(, $chunk:ident)?;
    )*) => {$(
        impl Ordered for $t {
            type Key = $key;
            const MIN: $key = $min;
            const MAX: $key = $max;
            const LOWEST: $key = $lowest;
            const HIGHEST: $key = $highest;
            #[inline(always)]
            fn key(self) -> $key { $lift(self) }
            #[inline(always)]
            fn from_key(key: $key) -> $t { $finish(key) }
            $(
                #[inline(always)]
                fn key_chunk<const N: usize>(chunk: &[$t; N]) -> [$key; N] { Computed::$chunk(chunk) }
            )?
            #[inline(always)]
            fn is_nan(key: $key) -> bool { $nan(key) }
        }
    )*};
}

macro_rules! ordered_integers {
    ($($t:ty),*) => {
        ordered! {$( $t, $t, <$t>::MIN, <$t>::MAX, <$t>::MIN, <$t>::MAX, same, same, |_| false; )*}
    };
}
ordered_integers!(i8, i16, i32, i64, u8, u16, u32, u64);

ordered! {
    f32, f32, f32::NEG_INFINITY, f32::INFINITY, f32::MIN, f32::MAX, same, same, f32::is_nan;
    f64, f64, f64::NEG_INFINITY, f64::INFINITY, f64::MIN, f64::MAX, same, same, f64::is_nan;
    f16, f32, f32::NEG_INFINITY, f32::INFINITY, -65504.0, 65504.0, f16::widen, f16::from_f32, f32::is_nan,
        widen_chunk;
    bf16, f32, f32::NEG_INFINITY, f32::INFINITY, f32::from_bits(0xff7f_0000), f32::from_bits(0x7f7f_0000), bf16::widen,
        bf16::from_f32, f32::is_nan;
    bool, u8, 0, 1, 0, 1, u8::from, |key| key != 0, |_| false;
}

/// Implements [`Reducer`]: for what dtypes, and its items in their order.
macro_rules! reducers {
    ($(
        $(#[$doc:meta])*
        $name:ident<$dtype:ident>: $acc:ident, $identity:expr, $lift:expr, $lift_chunk:expr, $merge:expr, $finish:expr;
    )*) => {$(
        $(#[$doc])*
        pub(super) struct $name;

        impl<T: $dtype> Reducer<T> for $name {
            type Acc = T::$acc;
            const IDENTITY: T::$acc = $identity;
            #[inline(always)]
            fn lift(element: T) -> T::$acc { $lift(element) }
            #[inline(always)]
            fn lift_chunk<const N: usize>(chunk: &[T; N]) -> [T::$acc; N] { $lift_chunk(chunk) }
            #[inline(always)]
            fn merge(first: T::$acc, second: T::$acc) -> T::$acc { $merge(first, second) }
            #[inline(always)]
            fn finish(result: T::$acc, count: usize) -> T { $finish(result, count) }
        }
    )*};
}

reducers! {
    /// The sum.
    SumOf<Computed>: Wide, T::Wide::ZERO, T::widen, T::widen_chunk, Number::wrapping_add, |result, _| T::narrow(result);
    /// The mean; of integers rounded towards zero.
    MeanOf<Summand>: MeanAcc, T::MeanAcc::ZERO, T::lift_mean, T::lift_mean_chunk, Number::wrapping_add, T::mean;
    /// The product.
    ProdOf<Computed>: Wide, T::Wide::ONE, T::widen, T::widen_chunk, Number::wrapping_mul, |result, _| T::narrow(result);
    /// The greatest element; NaN if there is one.
    MaxOf<Ordered>: Key, T::MIN, T::key, T::key_chunk, greater::<T>, |result, _| T::from_key(result);
    /// The least element; NaN if there is one.
    MinOf<Ordered>: Key, T::MAX, T::key, T::key_chunk, less::<T>, |result, _| T::from_key(result);
}

/// The greater of two keys; NaN if one is.
#[inline(always)]
fn greater<T: Ordered>(first: T::Key, second: T::Key) -> T::Key {
    // Whether the second is NaN does not wait for the first.
    let greater = if second > first { second } else { first };
    if T::is_nan(second) { second } else { greater }
}

/// The less of two keys; NaN if one is.
#[inline(always)]
fn less<T: Ordered>(first: T::Key, second: T::Key) -> T::Key {
    let less = if second < first { second } else { first };
    if T::is_nan(second) { second } else { less }
}

/// Half the sum of the squares, whose terms TensorFlow rounds to the dtype.
pub(super) struct HalfSquares;

impl<T: Computed> Reducer<T> for HalfSquares
where
    T::Wide: From<f32>,
{
    type Acc = T::Wide;
    const IDENTITY: T::Wide = T::Wide::ZERO;
    #[inline(always)]
    fn lift(element: T) -> T::Wide {
        element.wrapping_mul(element).widen().wrapping_mul(T::Wide::from(0.5))
    }
    #[inline(always)]
    fn merge(first: T::Wide, second: T::Wide) -> T::Wide {
        first.wrapping_add(second)
    }
    #[inline(always)]
    fn finish(result: T::Wide, _: usize) -> T {
        T::narrow(result)
    }
}

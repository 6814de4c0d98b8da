//! NthElement.

use std::cmp::Ordering;

use kernlink::dtype::{RealNumber, bf16, f16};
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::tensor::scratch;
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::float16::Float16;
use kernlink_macros::register_kernel;
use kernlink_ops::NthElement;

#[register_kernel(device = Cpu, op = NthElement, T = [realnumbertype])]
fn nth_element<T: Selected>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (input, n) = (ctx.input(O::INPUT)?, ctx.input(O::N)?);
    ensure!(n.rank() == 0, InvalidArgument, "n must be a scalar, not of shape {}", n.shape());
    let n = n.as_slice::<i32>()?[0];
    ensure!(n >= 0, InvalidArgument, "n must be >= 0, not {n}");
    let Some((&columns, rows)) = input.shape().split_last() else {
        bail!(InvalidArgument, "input must have at least one dimension");
    };
    let n = n as usize;
    ensure!(n < columns, InvalidArgument, "the rows of input must have more than {n} elements, not {columns}");
    let n = if attrs.reverse { columns - 1 - n } else { n };
    let mut output = ctx.allocate_output(O::VALUES, rows)?;
    let elements = input.as_slice::<T>()?;
    ctx.try_parallel_chunks(output.as_mut_slice::<T>()?, 1, columns.saturating_mul(8), |first, piece| {
        // Rows may be of any length if there are none.
        let mut row = scratch::room::<T::Key>(if piece.is_empty() { 0 } else { columns })?;
        for (index, target) in piece.iter_mut().enumerate() {
            row.clear();
            row.extend(elements[(first + index) * columns..][..columns].iter().map(|&element| element.key()));
            *target = T::from_key(select(&mut row, n));
        }
        Ok(())
    })?;
    ctx.set_output(O::VALUES, output)
}

/// A number that is selected as one of a few types, so that selecting is compiled for these alone.
trait Selected: RealNumber {
    /// The type, in which the numbers have the same order.
    type Key: PartialOrd + Copy + Send;
    /// The same number.
    fn key(self) -> Self::Key;
    /// The number again.
    fn from_key(key: Self::Key) -> Self;
}

macro_rules! selected {
    ($($t:ty: $key:ty, $to:expr, $from:expr;)+) => {$(
        impl Selected for $t {
            type Key = $key;
            #[inline(always)]
            fn key(self) -> $key {
                $to(self)
            }
            #[inline(always)]
            fn from_key(key: $key) -> $t {
                $from(key)
            }
        }
    )+};
}
selected! {
    i8: i32, i32::from, |key| key as i8;
    i16: i32, i32::from, |key| key as i16;
    i32: i32, |x| x, |key| key;
    i64: i64, |x| x, |key| key;
    u8: i32, i32::from, |key| key as u8;
    u16: i32, i32::from, |key| key as u16;
    u32: u32, |x| x, |key| key;
    u64: u64, |x| x, |key| key;
    f16: f32, Float16::widened, f16::nearest;
    bf16: f32, Float16::widened, bf16::nearest;
    f32: f32, |x| x, |key| key;
    f64: f64, |x| x, |key| key;
}

/// The number that stands at place `n` when a row is sorted.
#[inline(never)]
fn select<K: PartialOrd + Copy>(row: &mut [K], n: usize) -> K {
    *row.select_nth_unstable_by(n, order).1
}

/// The order of numbers, with NaN after all others.
fn order<T: PartialOrd>(a: &T, b: &T) -> Ordering {
    let is_nan = |value: &T| value.partial_cmp(value).is_none();
    a.partial_cmp(b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

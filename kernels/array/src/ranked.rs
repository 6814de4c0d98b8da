//! The greatest numbers of a row in order, found by integers that hold a number and its column.

use bytemuck::Zeroable;
use kernlink::dtype::{RealNumber, bf16, f16};
use kernlink::error::Result;
use kernlink::tensor::scratch;

/// A number of which, with its column, there is an integer: the smaller it is, the greater the number, and of equal numbers
/// the further left.
pub(super) trait Ranked: RealNumber {
    type Key: Ord + Copy + Zeroable + Send;
    /// What is above the keys of all numbers but perhaps the last.
    const HIGHEST: Self::Key;
    /// The key of a number that is not NaN.
    fn key(self, column: u32) -> Self::Key;
    fn column(key: Self::Key) -> u32;
    /// Whether it is not NaN.
    #[inline(always)]
    fn is_number(self) -> bool {
        self.partial_cmp(&self).is_some()
    }
}

macro_rules! ranked {
    ($($t:ty: $key:ty, $bits:ty, |$value:ident| $ascending:expr;)+) => {$(
        impl Ranked for $t {
            type Key = $key;
            const HIGHEST: $key = <$key>::MAX;
            #[inline(always)]
            fn key(self, column: u32) -> $key {
                let $value = self;
                let ascending: $bits = $ascending;
                <$key>::from(!ascending) << (<$key>::BITS - <$bits>::BITS) | <$key>::from(column)
            }
            #[inline(always)]
            fn column(key: $key) -> u32 {
                key as u32
            }
        }
    )+};
}

/// An integer that rises with the number. Both zeros are one.
#[inline(always)]
fn ascending32(value: f32) -> u32 {
    let bits = (value + 0.0).to_bits();
    bits ^ ((bits as i32 >> 31) as u32 | 1 << 31)
}

/// As [`ascending32`].
#[inline(always)]
fn ascending64(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    bits ^ ((bits as i64 >> 63) as u64 | 1 << 63)
}

ranked! {
    i8: u64, u32, |value| i32::from(value) as u32 ^ 1 << 31;
    i16: u64, u32, |value| i32::from(value) as u32 ^ 1 << 31;
    i32: u64, u32, |value| value as u32 ^ 1 << 31;
    i64: u128, u64, |value| value as u64 ^ 1 << 63;
    u8: u64, u32, |value| value.into();
    u16: u64, u32, |value| value.into();
    u32: u64, u32, |value| value;
    u64: u128, u64, |value| value;
    f16: u64, u32, |value| ascending32(value.to_f32());
    bf16: u64, u32, |value| ascending32(value.to_f32());
    f32: u64, u32, |value| ascending32(value);
    f64: u128, u64, |value| ascending64(value);
}

/// Elements that are looked at before there must be room again.
const STEP: usize = 64;

/// Finds the greatest of rows of one length.
pub(super) struct Ranking<K> {
    /// Candidates, twice as many as are sought, so that leaving half of them out costs little for each.
    keys: Vec<K>,
    count: usize,
}

impl<K: Ord + Copy + Zeroable> Ranking<K> {
    /// For the `count` greatest of `columns`.
    pub(super) fn new(count: usize, columns: usize) -> Result<Ranking<K>> {
        let all = columns.saturating_add(STEP);
        Ok(Ranking { keys: scratch::zeros(count.saturating_mul(2).saturating_add(2 * STEP).min(all))?, count })
    }

    /// Writes the columns of the greatest numbers of `row`, of which there are as many as `columns` is long, in falling
    /// order, of equals the first first. Returns whether it did: it does not if there is a NaN, which has no place.
    pub(super) fn columns<T: Ranked<Key = K>>(&mut self, row: &[T], columns: &mut [u32]) -> bool {
        let (keys, mut length, mut bound) = (&mut self.keys[..], 0, T::HIGHEST);
        for (chunk, values) in row.chunks(STEP).enumerate() {
            if length + STEP > keys.len() {
                bound = leave_least(&mut keys[..length], self.count);
                length = self.count;
            }
            let first = (chunk * STEP) as u32;
            let mut all_numbers = true;
            // Written in any case: whether it stays cannot be foretold.
            for (column, &value) in (first..).zip(values) {
                let key = value.key(column);
                keys[length] = key;
                length += usize::from(key <= bound);
                all_numbers &= value.is_number();
            }
            if !all_numbers {
                return false;
            }
        }
        if length > self.count {
            leave_least(&mut keys[..length], self.count);
        }
        let greatest = &mut keys[..self.count];
        sort(greatest);
        for (column, &key) in columns.iter_mut().zip(&*greatest) {
            *column = T::column(key);
        }
        true
    }
}

/// Moves the least keys to the front; the last of them. Compiled for each type of keys, as [`sort`], and not for each dtype.
#[inline(never)]
fn leave_least<K: Ord + Copy>(keys: &mut [K], count: usize) -> K {
    *keys.select_nth_unstable(count - 1).1
}

#[inline(never)]
fn sort<K: Ord>(keys: &mut [K]) {
    keys.sort_unstable();
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;

    fn columns<T: Ranked>(row: &[T], count: usize) -> Option<Vec<u32>> {
        let mut columns = vec![0; count];
        Ranking::new(count, row.len()).unwrap().columns(row, &mut columns).then_some(columns)
    }

    fn is_ranked<T: Ranked + Debug>(row: &[T]) {
        let mut order = (0..row.len() as u32).collect::<Vec<_>>();
        order.sort_by(|&a, &b| row[b as usize].partial_cmp(&row[a as usize]).unwrap());
        for count in [1, 2, row.len().div_ceil(5), row.len() - 1, row.len()] {
            assert_eq!(columns(row, count).unwrap(), order[..count], "{count} of {row:?}");
        }
    }

    #[test]
    fn the_greatest_come_first() {
        let numbers = (0..1000).map(|i: i64| (i * 7919 % 613 - 300).pow(3)).collect::<Vec<_>>();
        is_ranked(&numbers);
        is_ranked(&numbers.iter().map(|&x| x as i8).collect::<Vec<_>>());
        is_ranked(&numbers.iter().map(|&x| x as i16).collect::<Vec<_>>());
        is_ranked(&numbers.iter().map(|&x| x as i32).collect::<Vec<_>>());
        is_ranked(&numbers.iter().map(|&x| x as u8).collect::<Vec<_>>());
        is_ranked(&numbers.iter().map(|&x| x as u16).collect::<Vec<_>>());
        is_ranked(&numbers.iter().map(|&x| x as u32).collect::<Vec<_>>());
        is_ranked(&numbers.iter().map(|&x| x as u64).collect::<Vec<_>>());
        is_ranked(&numbers.iter().map(|&x| f16::from_f32(x as f32 / 1e4)).collect::<Vec<_>>());
        is_ranked(&numbers.iter().map(|&x| bf16::from_f32(x as f32)).collect::<Vec<_>>());
        is_ranked(&numbers.iter().map(|&x| x as f32 / 7.0).collect::<Vec<_>>());
        is_ranked(&numbers.iter().map(|&x| x as f64 / 7.0).collect::<Vec<_>>());
        is_ranked(&(0..500).collect::<Vec<i32>>());
        is_ranked(&(0..500).rev().collect::<Vec<u64>>());
        is_ranked(&[i64::MIN, i64::MAX, 0, -1]);
        is_ranked(&[0, u64::MAX, 0, u64::MAX]);
        is_ranked(&[0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, 1e-45, -1e-45]);
    }

    #[test]
    fn what_is_no_number_has_no_place() {
        let mut row = vec![1.0f32; 200];
        row[150] = f32::NAN;
        assert_eq!(columns(&row, 3), None);
        assert_eq!(columns(&row[..150], 3), Some(vec![0, 1, 2]));
        assert_eq!(columns(&[f64::NAN], 1), None);
    }
}

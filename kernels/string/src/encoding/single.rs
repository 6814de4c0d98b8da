//! Encodings of a byte a character: TensorFlow's own answers, written by tests/tensorflow/encodings_of_icu.py.

use std::sync::LazyLock;

use crate::unicode::Numbers;

/// For each table runs of characters that follow each other: how many, and the first, more by one; 0 for what is none.
static RUNS: &[u8] = include_bytes!("tables.bin");

/// The character of a byte.
pub(super) fn character(table: u8, byte: u8) -> Option<u32> {
    static TABLES: LazyLock<Vec<[u16; 256]>> = LazyLock::new(tables);
    let more = TABLES.get(usize::from(table))?[usize::from(byte)];
    u32::from(more).checked_sub(1)
}

/// The characters of all tables, more by one.
fn tables() -> Vec<[u16; 256]> {
    let mut numbers = Numbers(RUNS);
    let (mut tables, mut table, mut filled) = (Vec::new(), [0; 256], 0);
    while let (Some(length), Some(first)) = (numbers.next(), numbers.next()) {
        for (slot, more) in table[filled..].iter_mut().take(length as usize).zip(0..) {
            *slot = if first == 0 { 0 } else { (first + more) as u16 };
        }
        filled += length as usize;
        if filled == table.len() {
            tables.push(std::mem::replace(&mut table, [0; 256]));
            filled = 0;
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_whole() {
        let lengths: u32 = std::iter::from_fn({
            let mut numbers = Numbers(RUNS);
            move || numbers.next().zip(numbers.next())
        })
        .map(|(length, _)| length)
        .sum();
        assert_eq!(lengths as usize, 256 * tables().len());
        assert_eq!(character(u8::MAX, 0), None);
    }
}

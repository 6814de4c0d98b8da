//! The prefix codes of lossless pictures.

use kernlink::tensor::scratch;

use super::bits::Bits;
use super::{CUT, Fault, Outcome};

/// Bits of a code that are looked up first, at most.
const FIRST: u32 = 8;

/// Bits of the longest code.
const LONGEST: usize = 15;

/// Symbols of the code that the lengths of others are written in, and the order in which its own lengths come.
const CODE_LENGTH_SYMBOLS: usize = 19;
const ORDER: [usize; CODE_LENGTH_SYMBOLS] = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// The length that is repeated if none was read.
const LENGTH_BEFORE: u8 = 8;

/// What bits stand for: a symbol, or the place of a table for what follows, counted from the first table's.
#[derive(Clone, Copy, Default)]
struct Entry {
    /// How many bits there are, with those that are looked up in the second table, if there is one.
    bits: u8,
    value: u16,
}

/// A code, whose tables stand with those of others.
#[derive(Clone, Copy, Default)]
pub(super) struct Code {
    start: u32,
    /// How many bits the first table is for: none for a code of one symbol, which is written in none.
    bits: u8,
}

/// The tables of codes.
#[derive(Default)]
pub(super) struct Tables(Vec<Entry>);

impl Tables {
    /// Reads a symbol, of at most [`LONGEST`] bits.
    #[inline(always)]
    pub(super) fn symbol(&self, code: Code, bits: &mut Bits<'_>) -> usize {
        let table = &self.0[code.start as usize..];
        let width = u32::from(code.bits);
        let place = (bits.peek() & ((1 << width) - 1)) as usize;
        let mut entry = table[place];
        if u32::from(entry.bits) > width {
            bits.skip(width);
            let more = u32::from(entry.bits) - width;
            entry = table[usize::from(entry.value) + (bits.peek() & ((1 << more) - 1)) as usize];
        }
        bits.skip(entry.bits.into());
        entry.value.into()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn truncate(&mut self, count: usize) {
        self.0.truncate(count);
    }

    /// The symbol of a code that has only one.
    pub(super) fn only_symbol(&self, code: Code) -> Option<u16> {
        (code.bits == 0).then(|| self.0[code.start as usize].value)
    }

    /// Makes the code of symbols with codes so long, where 0 is that of a symbol that does not occur.
    fn make(&mut self, lengths: &[u8]) -> Outcome<Code> {
        let mut counts = [0u16; LONGEST + 1];
        lengths.iter().for_each(|&length| counts[usize::from(length)] += 1);
        let start = self.0.len();
        let code = |bits: u32| Code { start: start as u32, bits: bits as u8 };
        let symbols = || lengths.iter().zip(0u16..).filter(|(length, _)| **length > 0);
        if let Some((_, symbol)) = symbols().next().filter(|_| symbols().nth(1).is_none()) {
            scratch::push(&mut self.0, Entry { bits: 0, value: symbol })?;
            return Ok(code(0));
        }
        // Codes follow each other by length, and those of a length by symbol; all that there are have to be taken.
        let mut next = [0u32; LONGEST + 1];
        let mut taken = 0;
        for (length, next) in next.iter_mut().enumerate().skip(1) {
            *next = taken << 1;
            taken = *next + u32::from(counts[length]);
        }
        let longest = counts.iter().rposition(|&count| count > 0).unwrap_or(0) as u32;
        let is_whole = (1..=LONGEST).map(|length| usize::from(counts[length]) << (LONGEST - length)).sum::<usize>()
            == 1 << LONGEST;
        if !is_whole {
            return Err(Fault::File(
                "A prefix code has no symbols, or its lengths leave codes over or use some twice.",
            ));
        }
        let first = longest.min(FIRST);
        scratch::resize(&mut self.0, start + (1 << first), Entry::default())?;
        // How many bits follow each of those that are looked up first.
        let mut more = [0u8; 1 << FIRST];
        // Twice: the second time there is room for the second tables.
        for is_second in [false, true] {
            let mut next = next;
            for (&length, symbol) in symbols() {
                let length = u32::from(length);
                let code = next[length as usize].reverse_bits() >> (32 - length);
                next[length as usize] += 1;
                let place = (code & ((1 << first) - 1)) as usize;
                if length <= first {
                    let entry = Entry { bits: length as u8, value: symbol };
                    self.0[start + place..][..(1 << first) - place]
                        .iter_mut()
                        .step_by(1 << length)
                        .for_each(|to| *to = entry);
                } else if is_second {
                    let Entry { bits, value } = self.0[start + place];
                    let table = &mut self.0[start + usize::from(value)..][..1 << (u32::from(bits) - first)];
                    let (place, entry) = (code >> first, Entry { bits: (length - first) as u8, value: symbol });
                    table[place as usize..].iter_mut().step_by(1 << (length - first)).for_each(|to| *to = entry);
                } else {
                    more[place] = more[place].max((length - first) as u8);
                }
            }
            for (place, &more) in more.iter().enumerate().filter(|(_, more)| **more > 0 && !is_second) {
                let value = (self.0.len() - start) as u16;
                self.0[start + place] = Entry { bits: first as u8 + more, value };
                let count = self.0.len() + (1 << more);
                scratch::resize(&mut self.0, count, Entry::default())?;
            }
        }
        Ok(code(first))
    }

    /// Reads a code of so many symbols.
    pub(super) fn read(&mut self, bits: &mut Bits<'_>, symbols: usize, lengths: &mut Vec<u8>) -> Outcome<Code> {
        lengths.clear();
        scratch::resize(lengths, symbols.max(256), 0)?;
        if bits.flag() {
            // A simple code: one symbol or two, which may be the same, or none of the code's.
            let count = bits.number(1);
            let width = if bits.flag() { 8 } else { 1 };
            lengths[bits.number(width) as usize] = 1;
            if count == 1 {
                lengths[bits.number(8) as usize] = 1;
            }
        } else {
            read_lengths(bits, &mut lengths[..symbols])?;
        }
        if bits.has_ended() {
            return Err(Fault::File(CUT));
        }
        self.make(&lengths[..symbols])
    }
}

/// Reads the lengths of a code's codes, which are written in a code of their own.
fn read_lengths(bits: &mut Bits<'_>, lengths: &mut [u8]) -> Outcome<()> {
    let count = 4 + bits.number(4) as usize;
    let mut own = [0; CODE_LENGTH_SYMBOLS];
    ORDER.iter().take(count).for_each(|&symbol| own[symbol] = bits.number(3) as u8);
    let mut tables = Tables::default();
    let code = tables.make(&own)?;
    let mut left = lengths.len();
    if bits.flag() {
        let width = 2 + 2 * bits.number(3);
        left = 2 + bits.number(width) as usize;
        if left > lengths.len() {
            return Err(Fault::File("A prefix code has more lengths than symbols."));
        }
    }
    let mut before = LENGTH_BEFORE;
    let mut symbol = 0;
    while symbol < lengths.len() && left > 0 {
        left -= 1;
        bits.fill();
        let length = tables.symbol(code, bits) as u8;
        let (repeated, count) = match length {
            ..16 => (length, 1),
            16 => (before, 3 + bits.number(2)),
            17 => (0, 3 + bits.number(3)),
            _ => (0, 11 + bits.number(7)),
        };
        if (1..16).contains(&length) {
            before = length;
        }
        let Some(lengths) = lengths.get_mut(symbol..symbol + count as usize) else {
            return Err(Fault::File("A prefix code has more lengths than symbols."));
        };
        lengths.fill(repeated);
        symbol += count as usize;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits of symbols, one behind the other, by a code in the order of lengths and symbols.
    fn written(lengths: &[u8], symbols: &[usize]) -> Vec<u8> {
        let mut bits = Vec::new();
        for &symbol in symbols {
            let before = |length: u8| lengths.iter().filter(|&&other| other == length).count();
            let mut code = 0;
            for length in 1..lengths[symbol] {
                code = (code + before(length)) << 1;
            }
            code += lengths[..symbol].iter().filter(|&&other| other == lengths[symbol]).count();
            bits.extend((0..lengths[symbol]).rev().map(|bit| code >> bit & 1));
        }
        bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |all, &bit| all << 1 | bit as u8)).collect()
    }

    #[test]
    fn symbols_are_read_as_they_are_written() {
        // As long as codes can be, so that there are second tables, of several sizes.
        let long: Vec<u8> = (1..15).chain([15, 15]).collect();
        let several: Vec<u8> = [3; 7].into_iter().chain([11; 16]).chain([10; 120]).collect();
        for lengths in [vec![1, 0, 1], vec![2, 1, 3, 3], vec![8; 256], vec![9; 512], long, several] {
            let mut tables = Tables::default();
            // Another in front of it.
            tables.make(&[1, 1]).ok().unwrap();
            let code = tables.make(&lengths).ok().unwrap();
            let symbols: Vec<usize> = (0..3).flat_map(|_| (0..lengths.len()).filter(|&k| lengths[k] > 0)).collect();
            let data = written(&lengths, &symbols);
            let mut bits = Bits::new(&data);
            for &symbol in &symbols {
                bits.fill();
                assert_eq!(tables.symbol(code, &mut bits), symbol, "{lengths:?}");
            }
            assert!(!bits.is_over());
        }
    }

    #[test]
    fn a_code_of_one_symbol_takes_no_bits_and_others_are_whole() {
        for length in [1, 7, 15] {
            let mut tables = Tables::default();
            let code = tables.make(&[0, 0, length]).ok().unwrap();
            let mut bits = Bits::new(&[]);
            assert_eq!((tables.symbol(code, &mut bits), tables.only_symbol(code)), (2, Some(2)));
        }
        for lengths in [vec![], vec![0, 0], vec![1, 2], vec![1, 1, 1], vec![2, 2, 2], vec![1, 15]] {
            assert!(Tables::default().make(&lengths).is_err(), "{lengths:?}");
        }
    }

    #[test]
    fn numbers_end_behind_the_data() {
        let data: Vec<u8> = (0..40).collect();
        for count in 0..=data.len() {
            let mut bits = Bits::new(&data[..count]);
            for (index, &byte) in data[..count].iter().enumerate() {
                assert!(!bits.has_ended(), "{index} of {count}");
                assert_eq!(bits.number(8), u32::from(byte), "{index} of {count}");
            }
            // As many bits more as eight bytes have.
            for _ in 8 * count..64 {
                assert_eq!(bits.number(1), 0);
            }
            assert!(!bits.has_ended());
            bits.number(1);
            assert!(bits.has_ended());
            assert_eq!(bits.number(8), 0);
        }
    }
}

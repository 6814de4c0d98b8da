//! Sets of characters, and how they look as bytes.

use crate::unicode;
use kernlink::sort::CompactSort as _;
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir};

/// The last code point.
pub(super) const LAST: u32 = 0x10_FFFF;

/// So many ranges of a set are put in order only at its end.
const MANY: usize = 4096;

/// A set of code points, surrogates included, as ranges with both ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Set {
    ranges: Vec<(u32, u32)>,
    /// How many ranges there were when they were last put in order.
    ordered: usize,
}

impl Set {
    pub(super) fn of(ranges: &[(u32, u32)]) -> Set {
        Set { ranges: ranges.to_vec(), ordered: 0 }
    }

    pub(super) fn add(&mut self, other: &Set) {
        self.ranges.extend_from_slice(&other.ranges);
        // However often a class names the same characters, it takes no more than they do.
        if self.ranges.len() > MANY + 2 * self.ordered {
            *self = std::mem::take(self).normal();
        }
    }

    /// The memory that the ranges take, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.ranges[..])
    }

    /// In order, without overlaps and neighbours.
    fn normal(mut self) -> Set {
        self.ranges.compact_sort();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(self.ranges.len());
        for (low, high) in self.ranges {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        Set { ordered: merged.len(), ranges: merged }
    }

    /// What is not in the set.
    pub(super) fn negated(self) -> Set {
        let (mut next, mut ranges) = (0, Vec::new());
        for (low, high) in self.normal().ranges {
            if next < low {
                ranges.push((next, low - 1));
            }
            next = high + 1;
        }
        if next <= LAST {
            ranges.push((next, LAST));
        }
        Set { ordered: ranges.len(), ranges }
    }

    /// The set with all characters that differ from its own only by case.
    pub(super) fn folded(self) -> Set {
        let mut folded = self.normal();
        let ranges = folded.ranges.clone();
        let has = |character: u32| {
            let next = ranges.partition_point(|&(low, _)| low <= character);
            next > 0 && character <= ranges[next - 1].1
        };
        unicode::each_orbit(|orbit| {
            if orbit.iter().any(|&character| has(character)) {
                folded.ranges.extend(orbit.iter().map(|&character| (character, character)));
            }
        });
        folded
    }

    /// The characters without the surrogates.
    fn unicode(&self) -> ClassUnicode {
        let parts = self.ranges.iter().flat_map(|&(low, high)| [(low, high.min(0xD7FF)), (low.max(0xE000), high)]);
        ClassUnicode::new(parts.filter_map(|(low, high)| {
            let (low, high) = (char::from_u32(low)?, char::from_u32(high)?);
            (low <= high).then(|| ClassUnicodeRange::new(low, high))
        }))
    }

    /// What matches one character of the set.
    pub(super) fn into_hir(self) -> Hir {
        let Set { ranges, ordered } = self.normal();
        if let Some(&(low, LAST)) = ranges.last()
            && low <= 0x80
        {
            // RE2 takes a short cut here, by which it lets pass what is not quite UTF-8.
            let ascii = ranges.iter().map(|&(low, high)| (low as u8, high.min(0x7F) as u8));
            let ascii = bytes(ascii.filter(|&(low, high)| low <= high && low < 0x80));
            let tail = || bytes([(0x80, 0xBF)]);
            return Hir::alternation(vec![
                ascii,
                Hir::concat(vec![bytes([(0xC2, 0xDF)]), tail()]),
                Hir::concat(vec![bytes([(0xE0, 0xEF)]), tail(), tail()]),
                Hir::concat(vec![bytes([(0xF0, 0xF4)]), tail(), tail(), tail()]),
            ]);
        }
        let surrogates: Vec<Hir> = ranges
            .iter()
            .map(|&(low, high)| (low.max(0xD800), high.min(0xDFFF)))
            .filter(|(low, high)| low <= high)
            .flat_map(|(low, high)| surrogates(low, high))
            .collect();
        let class = Hir::class(Class::Unicode(Set { ranges, ordered }.unicode()));
        if surrogates.is_empty() {
            return class;
        }
        Hir::alternation([class].into_iter().chain(surrogates).collect())
    }
}

/// A byte in one of these ranges.
fn bytes(ranges: impl IntoIterator<Item = (u8, u8)>) -> Hir {
    Hir::class(Class::Bytes(ClassBytes::new(ranges.into_iter().map(|(low, high)| ClassBytesRange::new(low, high)))))
}

/// Any byte.
pub(super) fn any_byte() -> Hir {
    bytes([(0, 0xFF)])
}

/// The surrogates of a range, as three bytes each.
fn surrogates(low: u32, high: u32) -> Vec<Hir> {
    let mut found: Vec<([u8; 2], [u8; 2])> = Vec::new();
    for middle in low >> 6..=high >> 6 {
        let last = [(low.max(middle << 6) & 0x3F) as u8 | 0x80, (high.min(middle << 6 | 0x3F) & 0x3F) as u8 | 0x80];
        let middle = (middle & 0x3F) as u8 | 0x80;
        match found.last_mut() {
            Some(previous) if previous.1 == last => previous.0[1] = middle,
            _ => found.push(([middle, middle], last)),
        }
    }
    let sequence = |(middle, last): ([u8; 2], [u8; 2])| {
        Hir::concat(vec![bytes([(0xED, 0xED)]), bytes([middle.into()]), bytes([last.into()])])
    };
    found.into_iter().map(sequence).collect()
}

/// A character as bytes; a surrogate like any other.
pub(super) fn encode(character: u32) -> Vec<u8> {
    match char::from_u32(character) {
        Some(character) => character.to_string().into_bytes(),
        None => vec![0xED, 0x80 | (character >> 6 & 0x3F) as u8, 0x80 | (character & 0x3F) as u8],
    }
}

/// `\d`, `\s` and `\w`.
pub(super) fn perl(letter: char) -> Option<Set> {
    match letter {
        'd' => posix("digit"),
        's' => Some(Set::of(&[(9, 10), (12, 13), (32, 32)])),
        'w' => posix("word"),
        _ => None,
    }
}

/// A class that POSIX names.
pub(super) fn posix(name: &str) -> Option<Set> {
    const DIGIT: (u32, u32) = (0x30, 0x39);
    const UPPER: (u32, u32) = (0x41, 0x5A);
    const LOWER: (u32, u32) = (0x61, 0x7A);
    Some(Set::of(match name {
        "alnum" => &[DIGIT, UPPER, LOWER],
        "alpha" => &[UPPER, LOWER],
        "ascii" => &[(0, 0x7F)],
        "blank" => &[(9, 9), (32, 32)],
        "cntrl" => &[(0, 0x1F), (0x7F, 0x7F)],
        "digit" => &[DIGIT],
        "graph" => &[(0x21, 0x7E)],
        "lower" => &[LOWER],
        "print" => &[(0x20, 0x7E)],
        "punct" => &[(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
        "space" => &[(9, 13), (32, 32)],
        "upper" => &[UPPER],
        "word" => &[DIGIT, UPPER, LOWER, (0x5F, 0x5F)],
        "xdigit" => &[DIGIT, (0x41, 0x46), (0x61, 0x66)],
        _ => return None,
    }))
}

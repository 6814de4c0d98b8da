//! Encodings of one, two or more bytes a character.
//!
//! Characters are encoding_rs's, but where ICU, which TensorFlow asks, has others: the differences below are all there are
//! in TensorFlow 2.21, found by going through all pairs. What is one fault and what several is ICU's: a pair that stands for
//! nothing is one; a byte that no pair begins with, or after which none can go on, is one by itself; and so is what is cut
//! off at the end.

use std::sync::OnceLock;

use encoding_rs as rs;

use super::Decoded;

/// An encoding whose characters have up to two, three or four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pairs {
    ShiftJis,
    EucJp,
    EucKr,
    Windows949,
    Big5,
    Gbk,
    Gb2312,
    Gb18030,
}

/// What stands for nothing.
const NONE: u32 = u32::MAX;

/// The first of some pairs, in the order of their bytes, that stand for other characters than encoding_rs knows; the first
/// of these, which follow each other, or [`NONE`]; how many there are.
type Change = (u16, u32, usize);

static EUC_JP: [Change; 2] = [(0x8EE0, 0x00A2, 2), (0x8EE2, 0x00AC, 1)];
/// Its two rows for private use.
static WINDOWS_949: [Change; 2] = [(0xC9A1, 0xE000, 94), (0xFEA1, 0xE05E, 94)];
/// As [`WINDOWS_949`], but that two characters came later.
static EUC_KR: [Change; 3] = [(0xA2E6, NONE, 2), (0xC9A1, 0xE000, 94), (0xFEA1, 0xE05E, 94)];
/// encoding_rs has Hong Kong's characters where Microsoft's Big5 has rows for private use.
static BIG5: [Change; 45] = [
    (0x8140, 0xEEB8, 63),
    (0x81A1, 0xEEF7, 157),
    (0x82A1, 0xEF94, 157),
    (0x83A1, 0xF031, 157),
    (0x84A1, 0xF0CE, 157),
    (0x85A1, 0xF16B, 157),
    (0x86A1, 0xF208, 157),
    (0x87A1, 0xF2A5, 157),
    (0x88A1, 0xF342, 157),
    (0x89A1, 0xF3DF, 157),
    (0x8AA1, 0xF47C, 157),
    (0x8BA1, 0xF519, 157),
    (0x8CA1, 0xF5B6, 157),
    (0x8DA1, 0xF653, 94),
    (0x8E40, 0xE311, 63),
    (0x8EA1, 0xE350, 157),
    (0x8FA1, 0xE3ED, 157),
    (0x90A1, 0xE48A, 157),
    (0x91A1, 0xE527, 157),
    (0x92A1, 0xE5C4, 157),
    (0x93A1, 0xE661, 157),
    (0x94A1, 0xE6FE, 157),
    (0x95A1, 0xE79B, 157),
    (0x96A1, 0xE838, 157),
    (0x97A1, 0xE8D5, 157),
    (0x98A1, 0xE972, 157),
    (0x99A1, 0xEA0F, 157),
    (0x9AA1, 0xEAAC, 157),
    (0x9BA1, 0xEB49, 157),
    (0x9CA1, 0xEBE6, 157),
    (0x9DA1, 0xEC83, 157),
    (0x9EA1, 0xED20, 157),
    (0x9FA1, 0xEDBD, 157),
    (0xA0A1, 0xEE5A, 94),
    (0xA3C0, NONE, 33),
    (0xC6A1, 0xF6B1, 157),
    (0xC7A1, 0xF74E, 157),
    (0xC8A1, 0xF7EB, 94),
    (0xF9FE, 0x2593, 1),
    (0xFA40, 0xE000, 63),
    (0xFAA1, 0xE03F, 157),
    (0xFBA1, 0xE0DC, 157),
    (0xFCA1, 0xE179, 157),
    (0xFDA1, 0xE216, 157),
    (0xFEA1, 0xE2B3, 94),
];
/// What Unicode had no characters for is in private use, and so is the euro, which stands at 0x80.
static GBK: [Change; 13] = [
    (0xA2E3, 0xE76C, 1),
    (0xA3A0, 0xE5E5, 1),
    (0xA6D9, 0xE78D, 7),
    (0xA6EC, 0xE794, 2),
    (0xA6F3, 0xE796, 1),
    (0xA8BC, 0xE7C7, 1),
    (0xA8BF, 0xE7C8, 1),
    (0xA989, 0xE7E7, 13),
    (0xFE50, 0xE815, 1),
    (0xFE54, 0xE819, 24),
    (0xFE6D, 0xE832, 9),
    (0xFE77, 0xE83C, 25),
    (0xFE92, 0xE856, 15),
];
/// Rows for private use, and characters of the maker of the table.
static GB2312: [Change; 36] = [
    (0xA1A4, 0x30FB, 1),
    (0xA1AA, 0x2015, 1),
    (0xA2A1, 0xE000, 16),
    (0xA2E3, 0xE010, 2),
    (0xA2EF, 0xE012, 2),
    (0xA2FD, 0xE014, 2),
    (0xA3A7, 0x00B4, 1),
    (0xA4F4, 0xE016, 11),
    (0xA5F7, 0xE021, 8),
    (0xA6B9, 0xE029, 8),
    (0xA6D9, 0xE031, 38),
    (0xA7C2, 0xE057, 15),
    (0xA7F2, 0xE066, 13),
    (0xA8BB, 0xE073, 10),
    (0xA8EA, 0xE07D, 24),
    (0xA9F0, 0xE095, 579),
    (0xD7FA, 0xE2D8, 5),
    (0xF8A1, 0xE2DD, 627),
    (0xFEE0, 0x2170, 10),
    (0xFEEA, 0xFFE2, 1),
    (0xFEEB, 0xFFE4, 1),
    (0xFEEC, 0xFF07, 1),
    (0xFEED, 0x30FC, 1),
    (0xFEEE, 0xF83D, 1),
    (0xFEEF, 0x309B, 2),
    (0xFEF1, 0x30FD, 2),
    (0xFEF3, 0x2010, 1),
    (0xFEF4, 0xF83E, 1),
    (0xFEF5, 0x3006, 2),
    (0xFEF7, 0x3012, 1),
    (0xFEF8, 0x3231, 1),
    (0xFEF9, 0x2121, 1),
    (0xFEFA, 0x2025, 1),
    (0xFEFB, 0x309D, 2),
    (0xFEFD, 0x25BD, 1),
    (0xFEFE, 0x25BC, 1),
];
/// The standard of 2000, which puts these in private use.
static GB18030: [Change; 11] = [
    (0xA3A0, 0xE5E5, 1),
    (0xA6D9, 0xE78D, 7),
    (0xA6EC, 0xE794, 2),
    (0xA6F3, 0xE796, 1),
    (0xFE59, 0xE81E, 1),
    (0xFE61, 0xE826, 1),
    (0xFE66, 0xE82B, 2),
    (0xFE6D, 0xE832, 1),
    (0xFE7E, 0xE843, 1),
    (0xFE90, 0xE854, 1),
    (0xFEA0, 0xE864, 1),
];
/// After 0x8F.
static EUC_JP_TRIPLES: [Change; 3] = [(0xF3A1, 0x2170, 10), (0xF3AB, 0x2160, 10), (0xF3B7, 0x3231, 1)];

/// Neighbouring bytes, both ends included.
type Bytes = (u8, u8);

fn is_in(ranges: &[Bytes], byte: u8) -> bool {
    ranges.iter().any(|&(first, last)| (first..=last).contains(&byte))
}

/// How an encoding is made.
struct Scheme {
    base: &'static rs::Encoding,
    /// What pairs begin with.
    leads: &'static [Bytes],
    /// What they end with.
    trails: &'static [Bytes],
    /// What ends a pair that stands for nothing, beside these.
    idle: &'static [u8],
    changes: &'static [Change],
}

impl Scheme {
    /// The place of a pair in a table of all, if it is one.
    fn place(&self, lead: u8, trail: u8) -> Option<usize> {
        let row: usize = self.trails.iter().map(length).sum();
        Some(place(self.leads, lead)? * row + place(self.trails, trail)?)
    }

    /// The characters of all pairs.
    fn table(&self) -> Box<[u32]> {
        let each = |ranges: &'static [Bytes]| ranges.iter().flat_map(|&(first, last)| first..=last);
        let pairs = each(self.leads).flat_map(|lead| each(self.trails).map(move |trail| [lead, trail]));
        let mut table: Box<[u32]> = pairs.map(|pair| decode(self.base, &pair).unwrap_or(NONE)).collect();
        for &(pair, first, count) in self.changes {
            let [lead, trail] = pair.to_be_bytes();
            let start = self.place(lead, trail).unwrap_or(table.len());
            for (slot, more) in table[start..].iter_mut().take(count).zip(0..) {
                *slot = if first == NONE { NONE } else { first + more };
            }
        }
        table
    }
}

fn length(&(first, last): &Bytes) -> usize {
    usize::from(last - first) + 1
}

/// The place of a byte among those of some ranges.
fn place(ranges: &[Bytes], byte: u8) -> Option<usize> {
    let mut before = 0;
    for range in ranges {
        if is_in(&[*range], byte) {
            return Some(before + usize::from(byte - range.0));
        }
        before += length(range);
    }
    None
}

/// The one character that bytes stand for.
fn decode(base: &'static rs::Encoding, bytes: &[u8]) -> Option<u32> {
    let text = base.decode_without_bom_handling_and_without_replacement(bytes)?;
    let mut characters = text.chars();
    let first = characters.next()?;
    characters.next().is_none().then_some(first.into())
}

/// Two halves of a row of 256 but for what is no character in most encodings.
const HALVES: [Bytes; 2] = [(0x40, 0x7E), (0x80, 0xFE)];

impl Pairs {
    fn scheme(self) -> &'static Scheme {
        /// An encoding whose pairs have a bit more than ASCII each.
        const fn euc(base: &'static rs::Encoding, changes: &'static [Change]) -> Scheme {
            Scheme { base, leads: &[(0xA1, 0xFE)], trails: &[(0xA1, 0xFE)], idle: &[0xA0, 0xFF], changes }
        }
        const fn wide(base: &'static rs::Encoding, idle: &'static [u8], changes: &'static [Change]) -> Scheme {
            Scheme { base, leads: &[(0x81, 0xFE)], trails: &HALVES, idle, changes }
        }
        static SHIFT_JIS_SCHEME: Scheme = Scheme {
            base: rs::SHIFT_JIS,
            leads: &[(0x81, 0x9F), (0xE0, 0xFC)],
            trails: &[(0x40, 0x7E), (0x80, 0xFC)],
            idle: &[],
            changes: &[],
        };
        static EUC_JP_SCHEME: Scheme = Scheme { leads: &[(0x8E, 0x8E), (0xA1, 0xFE)], ..euc(rs::EUC_JP, &EUC_JP) };
        static EUC_KR_SCHEME: Scheme = euc(rs::EUC_KR, &EUC_KR);
        static WINDOWS_949_SCHEME: Scheme = wide(rs::EUC_KR, &[], &WINDOWS_949);
        static BIG5_SCHEME: Scheme = wide(rs::BIG5, &[], &BIG5);
        static GBK_SCHEME: Scheme = wide(rs::GBK, &[], &GBK);
        static GB2312_SCHEME: Scheme = euc(rs::GBK, &GB2312);
        static GB18030_SCHEME: Scheme = wide(rs::GB18030, &[0xFF], &GB18030);
        match self {
            Pairs::ShiftJis => &SHIFT_JIS_SCHEME,
            Pairs::EucJp => &EUC_JP_SCHEME,
            Pairs::EucKr => &EUC_KR_SCHEME,
            Pairs::Windows949 => &WINDOWS_949_SCHEME,
            Pairs::Big5 => &BIG5_SCHEME,
            Pairs::Gbk => &GBK_SCHEME,
            Pairs::Gb2312 => &GB2312_SCHEME,
            Pairs::Gb18030 => &GB18030_SCHEME,
        }
    }

    /// The characters of all pairs, which are made once.
    fn table(self) -> &'static [u32] {
        static TABLES: [OnceLock<Box<[u32]>>; 8] = [const { OnceLock::new() }; 8];
        TABLES[self as usize].get_or_init(|| self.scheme().table())
    }

    /// The first character of a text that is not empty.
    pub(super) fn next(self, text: &[u8]) -> Decoded {
        let scheme = self.scheme();
        let lead = text[0];
        let is_lead = is_in(scheme.leads, lead) || (self == Pairs::EucJp && lead == 0x8F);
        if !is_lead {
            return (self.single(lead), 1);
        }
        let Some(&trail) = text.get(1) else { return (None, 1) };
        match self {
            Pairs::EucJp if lead == 0x8E && (0xE5..0xFF).contains(&trail) => (None, 1),
            Pairs::EucJp if lead == 0x8F && !scheme.idle.contains(&trail) => triple(text),
            Pairs::Gb18030 if trail.is_ascii_digit() => quadruple(text),
            _ => match scheme.place(lead, trail) {
                Some(place) => (Some(self.table()[place]).filter(|&character| character != NONE), 2),
                None if scheme.idle.contains(&trail) => (None, 2),
                None => (None, 1),
            },
        }
    }

    /// What a byte that no pair begins with stands for.
    fn single(self, byte: u8) -> Option<u32> {
        match (self, byte) {
            // As on IBM's computers.
            (Pairs::ShiftJis, 0x1A) => Some(0x1C),
            (Pairs::ShiftJis, 0x1C) => Some(0x7F),
            (Pairs::ShiftJis, 0x7F) => Some(0x1A),
            (_, 0..=0x7F) => Some(byte.into()),
            (Pairs::ShiftJis, 0xA1..=0xDF) => Some(0xFF61 + u32::from(byte - 0xA1)),
            (Pairs::EucJp | Pairs::EucKr | Pairs::Gb2312, 0x80..=0x8D | 0x90..=0x9F) => Some(byte.into()),
            (Pairs::Windows949 | Pairs::Big5, 0x80) => Some(0x80),
            (Pairs::Gbk, 0x80) => Some(0x20AC),
            (Pairs::Windows949, 0xFF) => Some(0xF8F7),
            (Pairs::Big5, 0xFF) => Some(0xF8F8),
            (Pairs::Gbk, 0xFF) => Some(0xF8F5),
            _ => None,
        }
    }
}

/// What begins with 0x8F in EUC-JP.
fn triple(text: &[u8]) -> Decoded {
    let is_part = |byte: u8| (0xA1..=0xFE).contains(&byte);
    match *text {
        [_, second] if is_part(second) => (None, 2),
        [_, second, third, ..] if is_part(second) && is_part(third) => {
            let pair = u16::from_be_bytes([second, third]);
            let change = EUC_JP_TRIPLES.iter().find_map(|&(from, first, count)| {
                let place = usize::from(pair.checked_sub(from)?);
                (place < count).then_some(first + place as u32)
            });
            (change.or_else(|| decode(rs::EUC_JP, &text[..3])), 3)
        }
        _ => (None, 1),
    }
}

/// What begins with a letter and a digit in GB18030: there are two of each.
fn quadruple(text: &[u8]) -> Decoded {
    let is_letter = |byte: u8| (0x81..=0xFE).contains(&byte);
    match *text {
        [_, _] => (None, 2),
        [_, _, third] if is_letter(third) => (None, 3),
        [_, _, third, fourth, ..] if is_letter(third) && fourth.is_ascii_digit() => {
            (decode(rs::GB18030, &text[..4]), 4)
        }
        _ => (None, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_of_pairs_that_there_are() {
        for pairs in
            [Pairs::EucJp, Pairs::EucKr, Pairs::Windows949, Pairs::Big5, Pairs::Gbk, Pairs::Gb2312, Pairs::Gb18030]
        {
            let scheme = pairs.scheme();
            for &(pair, first, count) in scheme.changes {
                let [lead, trail] = pair.to_be_bytes();
                let place = scheme.place(lead, trail).expect("a pair");
                let last = if first == NONE { NONE } else { first + count as u32 - 1 };
                assert_eq!(
                    (pairs.table()[place], pairs.table()[place + count - 1]),
                    (first, last),
                    "{pairs:?} {pair:X}"
                );
                // Otherwise it would be none.
                assert_ne!(decode(scheme.base, &[lead, trail]).unwrap_or(NONE), first, "{pairs:?} {pair:X}");
            }
        }
    }

    #[test]
    fn faults_go_as_far_as_icus() {
        let lengths = |pairs: Pairs, mut text: &[u8]| {
            let mut found = Vec::new();
            while !text.is_empty() {
                let (character, length) = pairs.next(text);
                found.push((character.is_some(), length));
                text = &text[length..];
            }
            found
        };
        assert_eq!(lengths(Pairs::ShiftJis, b"\x81\x20A"), [(false, 1), (true, 1), (true, 1)]);
        assert_eq!(lengths(Pairs::EucJp, b"\x8F\xA1A"), [(false, 1), (false, 1), (true, 1)]);
        assert_eq!(lengths(Pairs::EucJp, b"\x8F\xA1\xA1A"), [(false, 3), (true, 1)]);
        assert_eq!(lengths(Pairs::EucJp, b"\x8F\xA0A"), [(false, 2), (true, 1)]);
        assert_eq!(lengths(Pairs::EucJp, b"\x8F\xA1"), [(false, 2)]);
        assert_eq!(lengths(Pairs::Gb18030, b"\x81\x30\x81"), [(false, 3)]);
        assert_eq!(lengths(Pairs::Gb18030, b"\x81\x30\x81A"), [(false, 1), (true, 1), (true, 2)]);
        assert_eq!(lengths(Pairs::Gb18030, b"\x84\x31\xA5\x30"), [(false, 4)]);
    }
}

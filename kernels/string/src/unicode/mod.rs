//! What TensorFlow knows of characters: categories, scripts, and which differ only by case.
//!
//! The tables are TensorFlow's own answers, written by tests/tensorflow/unicode.py.

mod scripts;

use std::sync::LazyLock;

use scripts::SCRIPTS;

/// Runs of characters of one category: lengths and numbers, 0 for none and else a place in [`CATEGORIES`].
static CATEGORY_RUNS: &[u8] = include_bytes!("categories.bin");
/// Runs of characters of one script: lengths and places in [`SCRIPTS`].
static SCRIPT_RUNS: &[u8] = include_bytes!("scripts.bin");
/// Sets of characters that differ only by case: sizes, first characters and distances.
static ORBITS: &[u8] = include_bytes!("orbits.bin");

const CATEGORIES: [&str; 29] = [
    "Cc", "Cf", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl", "No", "Pc", "Pd", "Pe", "Pf",
    "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs",
];

/// Reads numbers in base 128, the least digits first.
pub(super) struct Numbers(pub(super) &'static [u8]);

impl Iterator for Numbers {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u32::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    }
}

/// The runs of a table: first and last character, and what is said of them.
fn runs(table: &'static [u8]) -> impl Iterator<Item = (u32, u32, usize)> {
    let mut numbers = Numbers(table);
    let mut start = 0;
    std::iter::from_fn(move || {
        let (length, value) = (numbers.next()?, numbers.next()?);
        let first = start;
        start += length;
        Some((first, start - 1, value as usize))
    })
}

/// The characters of a general category or of a script, by the name that RE2 knows, as ranges with both ends.
pub(super) fn group(name: &str) -> Option<Vec<(u32, u32)>> {
    if name == "Any" {
        return Some(vec![(0, 0x10_FFFF)]);
    }
    let of = |table, chosen: &dyn Fn(usize) -> bool| -> Vec<(u32, u32)> {
        runs(table).filter(|&(_, _, value)| chosen(value)).map(|(first, last, _)| (first, last)).collect()
    };
    let is_category = |category: &str| category == name || (name.len() == 1 && category.starts_with(name));
    if CATEGORIES.into_iter().any(is_category) {
        return Some(of(CATEGORY_RUNS, &|value| value > 0 && is_category(CATEGORIES[value - 1])));
    }
    let known = !name.is_empty() && SCRIPTS.iter().any(|&(script, _)| script == name);
    known.then(|| of(SCRIPT_RUNS, &|value| SCRIPTS[value].0 == name))
}

/// Calls `f` with each set of characters that differ only by case.
pub(super) fn each_orbit(mut f: impl FnMut(&[u32])) {
    let mut numbers = Numbers(ORBITS);
    let mut orbit = Vec::new();
    while let Some(size) = numbers.next() {
        orbit.clear();
        let mut last = 0;
        for distance in numbers.by_ref().take(size as usize) {
            last += distance;
            orbit.push(last);
        }
        f(&orbit);
    }
}

/// The number of a character's script in ICU; `None` for what is no character.
pub(super) fn script(character: u32) -> Option<i32> {
    static STARTS: LazyLock<Vec<(u32, i32)>> =
        LazyLock::new(|| runs(SCRIPT_RUNS).map(|(first, _, value)| (first, SCRIPTS[value].1)).collect());
    if character > 0x10_FFFF {
        return None;
    }
    let next = STARTS.partition_point(|&(first, _)| first <= character);
    STARTS.get(next.checked_sub(1)?).map(|&(_, script)| script)
}

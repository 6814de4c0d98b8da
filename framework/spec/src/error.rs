//! Errors that say where in a spec they are.

use std::fmt;
use std::ops::Range;

use crate::dtype::DTYPES;

/// A range of bytes in a spec.
pub type Span = Range<usize>;

/// Why a spec is wrong, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    /// What is wrong, what was expected and what to do.
    pub message: String,
    /// The bytes of the spec that are meant; empty at its end if something is missing there.
    pub span: Span,
}

impl SpecError {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        SpecError { message: message.into(), span }
    }

    /// The message, with the spec below it and carets under the piece that is meant.
    ///
    /// ```text
    /// unknown dtype `flaot`: did you mean `float`?
    ///     T: {flaot, int32}
    ///         ^^^^^
    /// ```
    pub fn render(&self, spec: &str) -> String {
        if spec.is_empty() {
            return self.message.clone();
        }
        let start = floor(spec, self.span.start);
        let end = floor(spec, self.span.end).max(start);
        let line_start = spec[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = spec[start..].find('\n').map_or(spec.len(), |newline| start + newline);
        let blank = spec[line_start..start].chars().count();
        let marked = spec[start..end.min(line_end)].chars().count().max(1);
        let line = &spec[line_start..line_end];
        format!("{}\n    {line}\n    {}{}", self.message, " ".repeat(blank), "^".repeat(marked))
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SpecError {}

/// The last character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The candidate that a misspelt word most likely meant, if one is near.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = Misspelt::new(word);
    let near = candidates.into_iter().filter_map(|candidate| Some((word.near(candidate)?, candidate)));
    near.min_by_key(|&(distance, _)| distance).map(|(_, candidate)| candidate)
}

/// By how many edits (characters more, fewer or other ones, swapped neighbours; case does not count) a candidate differs
/// from a misspelt word, if it is near: one edit for three characters of the word, and at least one, but never more than
/// three. Of short words nearly all are two edits apart, and any two letters one.
pub fn near(word: &str, candidate: &str) -> Option<usize> {
    Misspelt::new(word).near(candidate)
}

/// A misspelt word that is compared with many.
pub struct Misspelt {
    /// Its length in bytes, as it was written.
    bytes: usize,
    /// In lower case.
    characters: Vec<char>,
    /// So many edits are a slip.
    allowed: usize,
}

impl Misspelt {
    /// To compare a word with many.
    pub fn new(word: &str) -> Misspelt {
        let allowed = match word.chars().count() {
            0 | 1 => 0,
            characters => (characters / 3).clamp(1, 3),
        };
        Misspelt { bytes: word.len(), characters: word.to_lowercase().chars().collect(), allowed }
    }

    /// As [`near()`] of the word.
    pub fn near(&self, candidate: &str) -> Option<usize> {
        // Cheap, and mostly enough: one more character is one to four more bytes.
        if self.bytes.abs_diff(candidate.len()) > 4 * self.allowed + 4 {
            return None;
        }
        let candidate: Vec<char> = candidate.to_lowercase().chars().collect();
        // As many edits at least as one has more characters.
        if self.characters.len().abs_diff(candidate.len()) > self.allowed {
            return None;
        }
        Some(distance(&self.characters, &candidate)).filter(|&distance| distance <= self.allowed)
    }
}

/// What a dtype is called in specs, for one whose elements have this Rust type.
pub(crate) fn rust_dtype(word: &str) -> Option<String> {
    let dtype = DTYPES.iter().find(|dtype| dtype.element == word)?;
    Some(format!("specs have TensorFlow's names, did you mean `{}`?", dtype.name))
}

/// `: did you mean `x`?`, or the given text if nothing is near.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    match nearest(word, candidates) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => otherwise(),
    }
}

/// The number of insertions, deletions, replacements and swaps of neighbours that lead from one word to the other.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_carets_under_the_piece() {
        let error = SpecError::new(4..9, "unknown dtype `flaot`");
        assert_eq!(error.render("T: {flaot}"), "unknown dtype `flaot`\n    T: {flaot}\n        ^^^^^");
        let error = SpecError::new(2..2, "more expected");
        assert_eq!(error.render("T:"), "more expected\n    T:\n      ^");
    }

    #[test]
    fn renders_the_line_that_is_meant() {
        let error = SpecError::new(4..6, "bad");
        assert_eq!(error.render("é:\nab"), "bad\n    ab\n    ^^");
    }

    #[test]
    fn nearest_finds_slips_and_no_strangers() {
        assert_eq!(nearest("flaot", ["double", "float"]), Some("float"));
        assert_eq!(nearest("Int", ["int"]), Some("int"));
        assert_eq!(nearest("quux", ["float", "int"]), None);
        // A letter more in lower case than in upper case.
        assert_eq!([near("İs", "i\u{307}s"), near("float", "floaties"), near("flo", "float")], [Some(0), None, None]);
        assert_eq!([nearest("U", ["T", "u"]), nearest("U", ["T"]), nearest("", ["T"])], [Some("u"), None, None]);
    }
}

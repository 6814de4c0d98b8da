//! Regular expressions as RE2 understands them: its syntax and its view of bytes that are no UTF-8. The matching itself
//! is `regex-automata`'s, which has RE2's guarantee: time linear in the text.

mod class;
mod parse;

use std::ops::Range;

use kernlink::dtype::TString;
use kernlink::error::{Error, Result, shortened, shortened_bytes};
use kernlink::tensor::scratch;
use regex_automata::meta::{Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::captures::Captures;
use regex_automata::{Anchored, Input};
use regex_syntax::hir::{Hir, Look};

/// Bytes that a compiled expression may take, about as many as RE2 allows itself.
const SIZE_LIMIT: usize = 8 << 20;

/// A compiled regular expression.
#[derive(Debug)]
pub(super) struct Re2 {
    regex: Regex,
    groups: usize,
}

/// Compiles `hir`, with groups or without.
fn compile(pattern: &str, hir: &Hir, captures: WhichCaptures) -> Result<Regex> {
    let config = Config::new().utf8_empty(false).nfa_size_limit(Some(SIZE_LIMIT)).which_captures(captures);
    Regex::builder()
        .configure(config)
        .build_from_hir(hir)
        .map_err(|error| invalid(pattern, &format!("pattern too large - compile failed: {error}")))
}

#[track_caller]
fn invalid(pattern: &str, why: &str) -> Error {
    Error::invalid_argument(format!("Invalid pattern: {}, error: {why}", shortened(pattern)))
}

impl Re2 {
    /// An expression to be searched for.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a pattern that RE2 refuses.
    pub(super) fn new(pattern: &[u8]) -> Result<Re2> {
        let (text, parsed) = read(pattern)?;
        Ok(Re2 { regex: compile(text, &parsed.hir, WhichCaptures::All)?, groups: parsed.groups })
    }

    /// An expression that is to match whole texts.
    ///
    /// # Errors
    /// As [`Re2::new`].
    pub(super) fn whole(pattern: &[u8]) -> Result<Re2> {
        let (text, parsed) = read(pattern)?;
        let hir = Hir::concat(vec![Hir::look(Look::Start), parsed.hir, Hir::look(Look::End)]);
        Ok(Re2 { regex: compile(text, &hir, WhichCaptures::Implicit)?, groups: 0 })
    }

    /// Whether the expression, made by [`Re2::whole`], matches all of `text`.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        self.regex.is_match(Input::new(text).anchored(Anchored::Yes))
    }

    /// `text` with the first match, or with all, replaced as `rewrite` says.
    pub(super) fn replace(&self, text: &TString, rewrite: &Rewrite, all: bool) -> Result<TString> {
        if rewrite.highest_group > self.groups {
            return Ok(text.clone());
        }
        if all { self.replace_all(text, rewrite) } else { self.replace_first(text, rewrite) }
    }

    /// The first match from `at` on.
    fn find(&self, text: &[u8], at: usize, captures: &mut Captures, groups: bool) -> Option<Range<usize>> {
        let input = Input::new(text).range(at..);
        if groups {
            self.regex.search_captures(&input, captures);
            return captures.get_match().map(|found| found.range());
        }
        self.regex.search(&input).map(|found| found.range())
    }

    fn replace_first(&self, text: &TString, rewrite: &Rewrite) -> Result<TString> {
        let mut captures = self.regex.create_captures();
        let found = self.find(text, 0, &mut captures, rewrite.highest_group > 0);
        let Some(found) = found else { return Ok(text.clone()) };
        let mut output = scratch::room(text.len())?;
        scratch::append(&mut output, &text[..found.start])?;
        if !rewrite.append(text, &found, &captures, &mut output)? {
            return Ok(text.clone());
        }
        scratch::append(&mut output, &text[found.end..])?;
        Ok(output.into())
    }

    fn replace_all(&self, text: &TString, rewrite: &Rewrite) -> Result<TString> {
        let mut captures = self.regex.create_captures();
        let (mut at, mut last_end, mut output) = (0, None, Vec::new());
        while at <= text.len() {
            let Some(found) = self.find(text, at, &mut captures, rewrite.highest_group > 0) else { break };
            scratch::append(&mut output, &text[at..found.start])?;
            if found.is_empty() && last_end == Some(found.start) {
                // Nothing is no match right after a match: go on behind the next character.
                let step = character_length(&text[found.start..]);
                let end = text.len().min(found.start + step);
                scratch::append(&mut output, &text[found.start..end])?;
                at = found.start + step;
                continue;
            }
            // A rewrite that breaks off has added what stands before its fault, and RE2 leaves it at that.
            rewrite.append(text, &found, &captures, &mut output)?;
            (at, last_end) = (found.end, Some(found.end));
        }
        if last_end.is_none() {
            return Ok(text.clone());
        }
        scratch::append(&mut output, text.get(at..).unwrap_or_default())?;
        Ok(output.into())
    }
}

fn read(pattern: &[u8]) -> Result<(&str, parse::Parsed)> {
    let Ok(text) = std::str::from_utf8(pattern) else {
        return Err(invalid(&shortened_bytes(pattern), "invalid UTF-8"));
    };
    let parsed = parse::parse(text).map_err(|why| invalid(text, &why))?;
    Ok((text, parsed))
}

/// The length of the first character of a text; 1 for a byte that begins none, and at the end.
fn character_length(text: &[u8]) -> usize {
    let length = match text.first() {
        Some(0xC2..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF4) => 4,
        _ => 1,
    };
    // RE2 takes the encodings of surrogates for characters, but not those that are longer than they need be.
    let fits = |chunk: &[u8]| {
        chunk[1..].iter().all(|byte| matches!(byte, 0x80..=0xBF))
            && !matches!(chunk, [0xE0, 0x80..=0x9F, ..] | [0xF0, 0x80..=0x8F, ..] | [0xF4, 0x90..=0xBF, ..])
    };
    if text.get(..length).is_some_and(fits) { length } else { 1 }
}

/// What takes the place of a match.
#[derive(Debug)]
pub(super) struct Rewrite {
    parts: Vec<Part>,
    /// Whether it ends in an escape that there is not.
    breaks_off: bool,
    highest_group: usize,
}

#[derive(Debug)]
enum Part {
    Text(Vec<u8>),
    Group(usize),
}

impl Rewrite {
    /// Reads a rewrite string: `\0` to `\9` are groups, `\\` is a backslash.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub(super) fn new(text: &[u8]) -> Result<Rewrite> {
        let (mut parts, mut literal, mut breaks_off, mut highest_group) = (Vec::new(), Vec::new(), false, 0);
        let mut bytes = text.iter();
        while let Some(&byte) = bytes.next() {
            if byte != b'\\' {
                if !breaks_off {
                    scratch::push(&mut literal, byte)?;
                }
                continue;
            }
            match bytes.next() {
                Some(&digit @ b'0'..=b'9') => {
                    // Groups count even where they are not reached.
                    let group = usize::from(digit - b'0');
                    highest_group = highest_group.max(group);
                    if !breaks_off {
                        scratch::push(&mut parts, Part::Text(std::mem::take(&mut literal)))?;
                        scratch::push(&mut parts, Part::Group(group))?;
                    }
                }
                Some(b'\\') if !breaks_off => scratch::push(&mut literal, b'\\')?,
                Some(b'\\') => {}
                _ => breaks_off = true,
            }
        }
        scratch::push(&mut parts, Part::Text(literal))?;
        Ok(Rewrite { parts, breaks_off, highest_group })
    }

    /// Appends what takes the place of a match; whether it is complete.
    fn append(&self, text: &[u8], found: &Range<usize>, captures: &Captures, output: &mut Vec<u8>) -> Result<bool> {
        for part in &self.parts {
            match part {
                Part::Text(literal) => scratch::append(output, literal)?,
                Part::Group(0) => scratch::append(output, &text[found.clone()])?,
                Part::Group(group) => {
                    scratch::append(output, captures.get_group(*group).map_or(&[], |span| &text[span.range()]))?;
                }
            }
        }
        Ok(!self.breaks_off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pattern_takes_is_bounded() {
        for part in ["a|", "^*", "()"] {
            let error = Re2::new(part.repeat(1 << 19).as_bytes()).unwrap_err();
            assert!(error.message().contains("pattern too large - compile failed"), "{part}: {error}");
            assert!(error.message().len() < 500);
        }
        // A class that says the same over and over is as large as what it says.
        let class = format!("[{}]", "ab".repeat(1 << 14));
        assert!(Re2::whole(class.as_bytes()).unwrap().matches(b"b"));
        let error = Re2::new(&b"(".repeat(100_000)).unwrap_err();
        assert!(error.message().len() < 500, "{error}");
    }
}

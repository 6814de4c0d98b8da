//! RE2's syntax. What a pattern means, and what is wrong with it, is as in RE2's `parse.cc`, with its flags for Perl's
//! syntax; patterns that nest more than 250 groups are refused.

use kernlink::error::shortened;
use regex_syntax::hir::{Capture, Hir, Look, Repetition};

use super::class::{LAST, Set, any_byte, encode, perl, posix};
use crate::unicode;

/// The largest count in a repetition, and the largest product of nested ones.
const MAX_REPEAT: u32 = 1000;
/// Groups in groups: what follows recurses over them.
const MAX_DEPTH: usize = 250;
/// Bytes that an expression may take before it is compiled, about: more than any takes that RE2 compiles.
const MAX_BYTES: usize = 128 << 20;
/// What an expression takes, beside the characters of its classes, about.
const ITEM: usize = 256;

type Result<T> = std::result::Result<T, String>;

/// An expression, and how many groups it captures.
pub(super) struct Parsed {
    pub(super) hir: Hir,
    pub(super) groups: usize,
}

#[derive(Clone, Copy, Default)]
struct Flags {
    fold_case: bool,
    multi_line: bool,
    dot_newline: bool,
    swap_greed: bool,
}

/// An expression with the largest product of the counts of its nested repetitions.
struct Item {
    hir: Hir,
    repeats: u32,
}

/// A group that is open, or the whole.
struct Group {
    /// What holds after it.
    outer: Flags,
    capture: Option<u32>,
    alternatives: Vec<Hir>,
    sequence: Vec<Item>,
    /// Of the alternatives.
    repeats: u32,
}

impl Group {
    fn new(outer: Flags, capture: Option<u32>) -> Group {
        Group { outer, capture, alternatives: Vec::new(), sequence: Vec::new(), repeats: 1 }
    }

    fn end_alternative(&mut self) {
        let sequence = std::mem::take(&mut self.sequence);
        self.repeats = sequence.iter().map(|item| item.repeats).fold(self.repeats, u32::max);
        self.alternatives.push(Hir::concat(sequence.into_iter().map(|item| item.hir).collect()));
    }

    fn end(mut self) -> Item {
        self.end_alternative();
        let sub = Hir::alternation(self.alternatives);
        let hir = match self.capture {
            Some(index) => Hir::capture(Capture { index, name: None, sub: Box::new(sub) }),
            None => sub,
        };
        Item { hir, repeats: self.repeats }
    }
}

struct Parser<'a> {
    whole: &'a str,
    rest: &'a str,
    flags: Flags,
    open: Vec<Group>,
    group: Group,
    captures: u32,
    names: Vec<&'a str>,
    /// Bytes that what was read takes, about.
    taken: usize,
}

/// Parses a pattern; the error is in RE2's words.
pub(super) fn parse(pattern: &str) -> Result<Parsed> {
    let mut parser = Parser {
        whole: pattern,
        rest: pattern,
        flags: Flags::default(),
        open: Vec::new(),
        group: Group::new(Flags::default(), None),
        captures: 0,
        names: Vec::new(),
        taken: 0,
    };
    // Where the repetition began that stands right before.
    let mut repetition: Option<&str> = None;
    while let Some(next) = parser.rest.chars().next() {
        let start = parser.rest;
        let repeats = parser.one(next, repetition)?;
        repetition = repeats.then_some(repetition.unwrap_or(start));
    }
    if !parser.open.is_empty() {
        return Err(format!("missing ): {}", shortened(pattern)));
    }
    Ok(Parsed { hir: parser.group.end().hir, groups: parser.captures as usize })
}

/// What stands between two rests of the pattern.
fn between<'a>(start: &'a str, rest: &str) -> &'a str {
    &start[..start.len() - rest.len()]
}

impl<'a> Parser<'a> {
    /// Counts what an expression takes, before it is made.
    fn take_bytes(&mut self, bytes: usize) -> Result<()> {
        self.taken += ITEM + bytes;
        if self.taken > MAX_BYTES { Err("pattern too large - compile failed".to_owned()) } else { Ok(()) }
    }

    fn push(&mut self, hir: Hir) -> Result<()> {
        self.take_bytes(0)?;
        self.group.sequence.push(Item { hir, repeats: 1 });
        Ok(())
    }

    fn push_set(&mut self, set: Set) -> Result<()> {
        self.take_bytes(set.bytes())?;
        self.group.sequence.push(Item { hir: set.into_hir(), repeats: 1 });
        Ok(())
    }

    fn literal(&mut self, character: u32) -> Result<()> {
        if self.flags.fold_case {
            return self.push_set(Set::of(&[(character, character)]).folded());
        }
        self.push(Hir::literal(encode(character)))
    }

    /// Takes a prefix off the rest, if it is there.
    fn take(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes the next character.
    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next();
        self.rest = characters.as_str();
        next
    }

    /// Parses what begins with `next`; whether it is a repetition. `previous` is where a repetition began that stands
    /// right before.
    fn one(&mut self, next: char, previous: Option<&str>) -> Result<bool> {
        let start = self.rest;
        match next {
            '(' if start.starts_with("(?") => self.perl_group()?,
            '(' => {
                self.next();
                self.open_group(true)?;
            }
            ')' => {
                self.next();
                let Some(outer) = self.open.pop() else {
                    return Err(format!("unexpected ): {}", shortened(self.whole)));
                };
                let group = std::mem::replace(&mut self.group, outer);
                self.flags = group.outer;
                self.group.sequence.push(group.end());
            }
            '|' => {
                self.next();
                self.take_bytes(0)?;
                self.group.end_alternative();
            }
            '^' | '$' => {
                self.next();
                self.push(Hir::look(match (next, self.flags.multi_line) {
                    ('^', false) => Look::Start,
                    ('^', true) => Look::StartLF,
                    (_, false) => Look::End,
                    (_, true) => Look::EndLF,
                }))?;
            }
            '.' => {
                self.next();
                let all: &[(u32, u32)] = if self.flags.dot_newline { &[(0, LAST)] } else { &[(0, 9), (11, LAST)] };
                self.push_set(Set::of(all))?;
            }
            '[' => self.class()?,
            '*' | '+' | '?' => {
                self.next();
                let (min, max) = match next {
                    '*' => (0, None),
                    '+' => (1, None),
                    _ => (0, Some(1)),
                };
                return self.repeat(start, previous, min, max, false);
            }
            '{' => match counts(start) {
                Some((min, max, rest)) => {
                    self.rest = rest;
                    return self.repeat(start, previous, min, max, true);
                }
                None => {
                    self.next();
                    self.literal('{'.into())?;
                }
            },
            '\\' => self.escape()?,
            _ => {
                self.next();
                self.literal(next.into())?;
            }
        }
        Ok(false)
    }

    fn open_group(&mut self, captures: bool) -> Result<()> {
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("groups nest too deeply: {}", shortened(self.whole)));
        }
        self.take_bytes(0)?;
        self.captures += u32::from(captures);
        let group = Group::new(self.flags, captures.then_some(self.captures));
        self.open.push(std::mem::replace(&mut self.group, group));
        Ok(())
    }

    /// Flags, or a group that does not capture, or one with a name.
    fn perl_group(&mut self) -> Result<()> {
        let start = self.rest;
        let after = &start[2..];
        if let Some(named) = after.strip_prefix("P<") {
            let Some(end) = named.find('>') else {
                return Err(format!("invalid named capture group: {}", shortened(start)));
            };
            let (name, rest) = (&named[..end], &named[end + 1..]);
            let valid = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !valid {
                return Err(format!("invalid named capture group: {}", shortened(between(start, rest))));
            }
            self.names.push(name);
            self.rest = rest;
            return self.open_group(true);
        }
        self.rest = after;
        let (mut flags, mut negated, mut any) = (self.flags, false, false);
        loop {
            let next = self.next();
            match next {
                Some('i') => flags.fold_case = !negated,
                Some('m') => flags.multi_line = !negated,
                Some('s') => flags.dot_newline = !negated,
                Some('U') => flags.swap_greed = !negated,
                Some('-') if !negated => {
                    (negated, any) = (true, false);
                    continue;
                }
                Some(':' | ')') if !negated || any => {
                    if next == Some(':') {
                        self.open_group(false)?;
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ => return Err(format!("invalid perl operator: {}", shortened(between(start, self.rest)))),
            }
            any = true;
        }
    }

    /// Repeats what stands before.
    fn repeat(
        &mut self,
        start: &str,
        previous: Option<&str>,
        min: u32,
        max: Option<u32>,
        counted: bool,
    ) -> Result<bool> {
        let lazy = self.take("?");
        let text = between(start, self.rest);
        if let Some(previous) = previous {
            return Err(format!("bad repetition operator: {}", shortened(between(previous, self.rest))));
        }
        let too_large = || Err(format!("invalid repetition size: {}", shortened(text)));
        if min > MAX_REPEAT || max.is_some_and(|max| max > MAX_REPEAT || max < min) {
            return too_large();
        }
        let Some(Item { hir, mut repeats }) = self.group.sequence.pop() else {
            return Err(format!("no argument for repetition operator: {}", shortened(text)));
        };
        if counted {
            repeats = repeats.saturating_mul(max.unwrap_or(min).max(1));
            if repeats > MAX_REPEAT {
                return too_large();
            }
        }
        self.take_bytes(0)?;
        let greedy = lazy == self.flags.swap_greed;
        let hir = Hir::repetition(Repetition { min, max, greedy, sub: Box::new(hir) });
        self.group.sequence.push(Item { hir, repeats });
        Ok(true)
    }

    /// What begins with a backslash, outside of classes.
    fn escape(&mut self) -> Result<()> {
        let after = &self.rest[1..];
        let looked = match after.chars().next() {
            Some('b') => Some(Hir::look(Look::WordAscii)),
            Some('B') => Some(Hir::look(Look::WordAsciiNegate)),
            Some('A') => Some(Hir::look(Look::Start)),
            Some('z') => Some(Hir::look(Look::End)),
            Some('C') => Some(any_byte()),
            _ => None,
        };
        if let Some(hir) = looked {
            self.rest = &after[1..];
            self.push(hir)?;
        } else if let Some(quoted) = after.strip_prefix('Q') {
            let (quoted, rest) = quoted.split_once("\\E").unwrap_or((quoted, ""));
            self.rest = rest;
            quoted.chars().try_for_each(|character| self.literal(character.into()))?;
        } else if let Some(set) = self.named_class()? {
            self.push_set(set)?;
        } else {
            let character = self.escaped()?;
            self.literal(character)?;
        }
        Ok(())
    }

    /// `\d` and its like, `\pL` and its like, if the rest begins so.
    fn named_class(&mut self) -> Result<Option<Set>> {
        let start = self.rest;
        let mut characters = start.chars();
        let (Some('\\'), Some(letter)) = (characters.next(), characters.next()) else { return Ok(None) };
        if let Some(set) = perl(letter.to_ascii_lowercase()) {
            self.rest = characters.as_str();
            return Ok(Some(self.folded(set, letter.is_ascii_uppercase())));
        }
        if !matches!(letter, 'p' | 'P') {
            return Ok(None);
        }
        let rest = characters.as_str();
        let (name, rest) = match rest.strip_prefix('{') {
            Some(braced) => {
                braced.split_once('}').ok_or_else(|| format!("invalid character class range: {}", shortened(start)))?
            }
            None => rest.split_at(rest.chars().next().map_or(0, char::len_utf8)),
        };
        self.rest = rest;
        let (name, negated) = name.strip_prefix('^').map_or((name, false), |name| (name, true));
        match unicode::group(name) {
            Some(ranges) => Ok(Some(self.folded(Set::of(&ranges), (letter == 'P') != negated))),
            None => Err(format!("invalid character class range: {}", shortened(between(start, rest)))),
        }
    }

    /// A set under the flags: case is folded before a set is negated.
    fn folded(&self, set: Set, negated: bool) -> Set {
        let set = if self.flags.fold_case { set.folded() } else { set };
        if negated { set.negated() } else { set }
    }

    /// A class in brackets.
    fn class(&mut self) -> Result<()> {
        let start = self.rest;
        self.next();
        let negated = self.take("^");
        let mut set = Set::default();
        let mut first = true;
        loop {
            if self.rest.is_empty() {
                return Err(format!("missing ]: {}", shortened(start)));
            }
            if self.rest.starts_with(']') && !first {
                break;
            }
            first = false;
            if let Some(named) = self.posix_class()? {
                set.add(&named);
            } else if let Some(named) = self.named_class()? {
                set.add(&named);
            } else {
                let from = self.rest;
                let low = self.class_character(start)?;
                let mut high = low;
                if self.rest.starts_with('-') && self.rest.len() > 1 && !self.rest.starts_with("-]") {
                    self.next();
                    high = self.class_character(start)?;
                }
                if high < low {
                    return Err(format!("invalid character class range: {}", shortened(between(from, self.rest))));
                }
                set.add(&self.folded(Set::of(&[(low, high)]), false));
            }
        }
        self.next();
        self.push_set(if negated { set.negated() } else { set })
    }

    /// `[:alpha:]` and its like, if the rest begins so.
    fn posix_class(&mut self) -> Result<Option<Set>> {
        let start = self.rest;
        let Some((name, rest)) = start.strip_prefix("[:").and_then(|rest| rest.split_once(":]")) else {
            return Ok(None);
        };
        let (plain, negated) = name.strip_prefix('^').map_or((name, false), |plain| (plain, true));
        let Some(set) = posix(plain) else {
            return Err(format!("invalid character class range: [:{}:]", shortened(name)));
        };
        self.rest = rest;
        Ok(Some(self.folded(set, negated)))
    }

    fn class_character(&mut self, class: &str) -> Result<u32> {
        match self.rest.chars().next() {
            None => Err(format!("missing ]: {}", shortened(class))),
            Some('\\') => self.escaped(),
            Some(character) => {
                self.next();
                Ok(character.into())
            }
        }
    }

    /// A character that is written with a backslash.
    fn escaped(&mut self) -> Result<u32> {
        let start = self.rest;
        self.next();
        let Some(character) = self.next() else { return Err("trailing \\".to_owned()) };
        let digit = |rest: &str, radix: u32| rest.chars().next().and_then(|digit| digit.to_digit(radix));
        let value = match character {
            // A single digit other than 0 would be a reference to a group.
            '1'..='7' if digit(self.rest, 8).is_none() => None,
            '0'..='7' => {
                let mut value = character.to_digit(8).unwrap_or_default();
                for _ in 0..2 {
                    let Some(next) = digit(self.rest, 8) else { break };
                    value = value * 8 + next;
                    self.next();
                }
                Some(value)
            }
            'x' if self.take("{") => {
                let mut value = None;
                while let Some(next) = digit(self.rest, 16) {
                    self.next();
                    let larger = value.unwrap_or(0) * 16 + next;
                    if larger > LAST {
                        return Err(format!("invalid escape sequence: {}", shortened(between(start, self.rest))));
                    }
                    value = Some(larger);
                }
                let closed = self.next() == Some('}');
                value.filter(|_| closed)
            }
            'x' => {
                let mut digit = || self.next().and_then(|digit| digit.to_digit(16));
                let (high, low) = (digit(), digit());
                high.zip(low).map(|(high, low)| high * 16 + low)
            }
            'n' => Some(10),
            'r' => Some(13),
            't' => Some(9),
            'a' => Some(7),
            'f' => Some(12),
            'v' => Some(11),
            other => (other.is_ascii() && !other.is_ascii_alphanumeric()).then_some(other.into()),
        };
        value.ok_or_else(|| format!("invalid escape sequence: {}", shortened(between(start, self.rest))))
    }
}

/// `{2}`, `{2,}` or `{2,5}` and what follows; anything else is no repetition.
fn counts(text: &str) -> Option<(u32, Option<u32>, &str)> {
    fn integer(text: &str) -> Option<(u32, &str)> {
        let end = text.bytes().take_while(u8::is_ascii_digit).count();
        let digits = &text[..end];
        let plain = digits == "0" || !digits.starts_with('0');
        (plain && end <= 9).then(|| digits.parse().ok()).flatten().map(|number| (number, &text[end..]))
    }
    let (min, rest) = integer(text.strip_prefix('{')?)?;
    if let Some(rest) = rest.strip_prefix('}') {
        return Some((min, Some(min), rest));
    }
    let rest = rest.strip_prefix(',')?;
    if let Some(rest) = rest.strip_prefix('}') {
        return Some((min, None, rest));
    }
    let (max, rest) = integer(rest)?;
    Some((min, Some(max), rest.strip_prefix('}')?))
}

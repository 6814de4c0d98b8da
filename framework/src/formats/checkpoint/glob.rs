//! File names with wildcards, as TensorFlow matches them: `*`, `?`, `[a-z]`, `[!a]` and `\` before what is meant as it
//! stands. A wildcard stands for no `/`.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::sort::CompactSort as _;

/// Whether a name fits a pattern, neither of which has a `/`.
fn matches(pattern: &[char], name: &[char]) -> bool {
    // The last `*` that was met, and how much of the name it stood for then.
    let mut star: Option<(usize, usize)> = None;
    let (mut p, mut n) = (0, 0);
    loop {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, n));
            p += 1;
            continue;
        }
        if n == name.len() && p == pattern.len() {
            return true;
        }
        let step = if n < name.len() { match_one(&pattern[p..], name[n]) } else { None };
        match (step, star) {
            (Some(width), _) => (p, n) = (p + width, n + 1),
            (None, Some((at, from))) if from < name.len() => {
                star = Some((at, from + 1));
                (p, n) = (at + 1, from + 1);
            }
            (None, _) => return false,
        }
    }
}

/// How much of the pattern the character takes, if it fits.
fn match_one(pattern: &[char], c: char) -> Option<usize> {
    match *pattern {
        [] => None,
        ['?', ..] => Some(1),
        ['\\', escaped, ..] => (escaped == c).then_some(2),
        ['[', ref rest @ ..] => match class(rest, c) {
            Some((fits, width)) => fits.then_some(width + 1),
            // Not closed: it stands for itself.
            None => (c == '[').then_some(1),
        },
        [literal, ..] => (literal == c).then_some(1),
    }
}

/// Whether a character is in the class that begins behind `[`, and how long the class is.
fn class(pattern: &[char], c: char) -> Option<(bool, usize)> {
    let negated = matches!(pattern.first(), Some('!' | '^'));
    let mut position = usize::from(negated);
    let first = position;
    let mut found = false;
    loop {
        let mut low = *pattern.get(position)?;
        if low == ']' && position > first {
            return Some((found != negated, position + 1));
        }
        if low == '\\' {
            position += 1;
            low = *pattern.get(position)?;
        }
        position += 1;
        match pattern[position..] {
            ['-', high, ..] if high != ']' => {
                found |= (low..=high).contains(&c);
                position += 2;
            }
            _ => found |= low == c,
        }
    }
}

fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '[', '\\'])
}

/// The files that a pattern stands for, sorted. Folders that cannot be read hold none.
///
/// # Errors
/// [`Error::from_io`]'s if a folder that is named without wildcards exists and cannot be read.
pub fn matching_files(pattern: &str) -> Result<Vec<String>> {
    let mut found = match pattern.strip_prefix('/') {
        Some(_) => vec![PathBuf::from("/")],
        None => vec![PathBuf::new()],
    };
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        if !has_wildcard(part) {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        let characters: Vec<char> = part.chars().collect();
        let mut next = Vec::new();
        for folder in &found {
            for name in names_in(folder)? {
                if matches(&characters, &name.chars().collect::<Vec<_>>()) {
                    next.push(folder.join(name));
                }
            }
        }
        found = next;
    }
    let mut files: Vec<String> =
        found.into_iter().filter(|path| path.exists()).map(|path| path.to_string_lossy().into_owned()).collect();
    files.compact_sort();
    Ok(files)
}

/// The names in a folder; none if there is no such folder.
fn names_in(folder: &Path) -> Result<Vec<String>> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match std::fs::read_dir(folder) {
        Ok(entries) => Ok(entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()),
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(Error::from_io(format!("cannot list {}", folder.display()), &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards() {
        let fits = |pattern: &str, name: &str| {
            matches(&pattern.chars().collect::<Vec<_>>(), &name.chars().collect::<Vec<_>>())
        };
        for (pattern, name) in [
            ("*", ""),
            ("*", "abc"),
            ("a*c", "abcbc"),
            ("a?c", "abc"),
            ("[a-c]x", "bx"),
            ("[!a]x", "bx"),
            ("[]]", "]"),
            ("m-?????-of-00002", "m-00001-of-00002"),
            ("\\*", "*"),
            ("a[", "a["),
            ("*a*b*", "xaxxbx"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("a", "b"), ("a*c", "ab"), ("[!a]x", "ax"), ("?", ""), ("\\*", "x"), ("", "x"), ("[a-c]", "d")]
        {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
        // This must not take for ever.
        assert!(!fits(&"*a".repeat(50), &"a".repeat(49)));
    }
}

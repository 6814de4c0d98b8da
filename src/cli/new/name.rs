//! Names of crates.

use std::path::Path;

use crate::error::{Error, Result, shortened};
use crate::tools::words::Called;

/// The most characters that crates.io takes.
const MAX_LENGTH: usize = 64;

/// Names that the crate would be taken for another by: what it depends on, Rust's own crates, folders of Cargo.
const TAKEN: [&str; 10] =
    ["kernlink", "alloc", "core", "proc_macro", "std", "test", "build", "deps", "examples", "incremental"];

const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "union",
];

/// The crate's name: the one that is given, or that of the folder.
///
/// # Errors
/// INVALID_ARGUMENT, with a name that would do, if it is no name for a crate without warnings.
pub(super) fn of(given: Option<&str>, dir: &Path, called: Called) -> Result<String> {
    let absolute = std::path::absolute(dir);
    let absolute = absolute.map_err(|error| Error::from_io(format!("the folder `{}`", dir.display()), &error))?;
    let folder = || absolute.file_name().map(|name| name.to_string_lossy().into_owned());
    let Some(name) = given.map(str::to_owned).or_else(folder) else {
        let name = called.option("name", "NAME");
        return Err(Error::invalid_argument(format!("{} names no folder: add {name}", dir.display())));
    };
    let Some(why) = fault(&name) else { return Ok(name) };
    let instead = match like(&name) {
        Some(other) if given.is_none() => format!("; add {}, or another name", called.option("name", &other)),
        Some(other) => format!("; {other} would do"),
        None if given.is_none() => format!("; add {}", called.option("name", "NAME")),
        None => String::new(),
    };
    Err(Error::invalid_argument(format!("`{}` is no name for a crate: {why}{instead}", shortened(&name))))
}

/// What is wrong with a name.
fn fault(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("it is empty".to_owned());
    }
    if name.len() > MAX_LENGTH {
        return Some(format!("it has more than {MAX_LENGTH} characters"));
    }
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Some("it must begin with a letter from a to z".to_owned());
    }
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if let Some(other) = name.chars().find(|&c| !fits(c)) {
        let other = other.escape_debug();
        return Some(format!("`{other}` is none of the letters from a to z, digits, `-` and `_`"));
    }
    let ident = name.replace('-', "_");
    if ident.contains("__") {
        return Some("it has several of `-` and `_` in a row".to_owned());
    }
    if KEYWORDS.contains(&&*ident) {
        return Some("it is a word of Rust's own".to_owned());
    }
    TAKEN.contains(&&*ident).then(|| "another crate or folder has it".to_owned())
}

/// A name that will do and is like this one: `MyOps` as `my-ops`.
fn like(name: &str) -> Option<String> {
    let mut other = String::new();
    let mut after_small = false;
    for c in name.chars() {
        if (c.is_ascii_uppercase() && after_small) || !(c.is_ascii_alphanumeric() || c == '_') {
            other.push('-');
        }
        if c.is_ascii_alphanumeric() || c == '_' {
            other.push(c.to_ascii_lowercase());
        }
        after_small = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    let parts: Vec<&str> = other.split('-').filter(|part| !part.is_empty()).collect();
    let mut other = parts.join("-").trim_start_matches(|c: char| !c.is_ascii_lowercase()).to_owned();
    if KEYWORDS.contains(&&*other) || TAKEN.contains(&&*other) {
        other += "-ops";
    }
    fault(&other).is_none().then_some(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cargo_or_rustc_would_refuse_are_refused() {
        for name in ["my-ops", "ops2", "a_b-c"] {
            assert_eq!(of(Some(name), Path::new("x"), Called::Command).unwrap(), name);
            assert_eq!(of(None, &Path::new("somewhere").join(name), Called::Command).unwrap(), name);
        }
        for (name, words) in [
            ("", "it is empty"),
            ("2ops", "begin with a letter from a to z; ops would do"),
            ("MyOps", "begin with a letter from a to z; my-ops would do"),
            ("my ops", "` ` is none of the letters from a to z, digits, `-` and `_`; my-ops would do"),
            ("ops\u{e9}", "none of the letters"),
            ("a--b", "in a row; a-b would do"),
            ("fn", "a word of Rust's own; fn-ops would do"),
            ("kernlink", "another crate or folder has it; kernlink-ops would do"),
            ("../x", "begin with a letter"),
            (&*"x".repeat(65), "more than 64"),
        ] {
            let error = of(Some(name), Path::new("x"), Called::Command).unwrap_err();
            assert!(error.message().contains(words), "{name}: {error}");
        }
        let error = of(None, Path::new("My Ops"), Called::Command).unwrap_err();
        assert!(error.message().contains("add --name my-ops"), "{error}");
        let error = of(None, Path::new("/"), Called::Command).unwrap_err();
        assert!(error.message().contains("add --name NAME"), "{error}");
    }
}

//! How a shader is put together from files.
//!
//! A file is WGSL, which editors and parsers read as it is: what goes beyond it stands in comments.
//!
//! - `//@ import math, special` lends the file declarations of [modules](MODULES): a shader gets those that it names.
//! - `//@ if name`, `//@ else` and `//@ end` keep the lines between them for shaders that are made with that name, or for
//!   the others; `//@ if name` at the end of a line keeps that line. `!name` is for the others, and `a, b` for those that are
//!   made with one of the names. The names of a dtype are those of [`Scalar::names`](crate::shader::Scalar::names).
//!
//! What differs from dtype to dtype are aliases and constants, which the head of a shader declares.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex};

use crate::device::lock;

/// The modules that files import.
const MODULES: &[(&str, &str)] = &[
    ("math", include_str!("wgsl/library/math.wgsl")),
    ("special", include_str!("wgsl/library/special.wgsl")),
    ("arg_order", include_str!("reduce/arg_order.wgsl")),
    ("batch", include_str!("matmul/batch.wgsl")),
    ("indices", include_str!("indices.wgsl")),
    ("indices_nd", include_str!("indices_nd.wgsl")),
    ("merge", include_str!("array/merge.wgsl")),
    ("places", include_str!("nn/places.wgsl")),
    ("powers", include_str!("reduce/powers.wgsl")),
    ("reducers", include_str!("reduce/reducers.wgsl")),
    ("refuse", include_str!("refuse.wgsl")),
    ("resized_from", include_str!("nn/resized_from.wgsl")),
    ("rules", include_str!("training/rules.wgsl")),
    ("scans", include_str!("reduce/scans.wgsl")),
    ("sort_order", include_str!("sort_order.wgsl")),
    ("top_k_order", include_str!("reduce/top_k_order.wgsl")),
    ("window", include_str!("nn/window.wgsl")),
];

/// A file with the declarations that it names of those that it imports. Its lines keep their numbers.
pub(crate) fn compose(file: &str, names: &[&str]) -> String {
    let kept = conditional(file, names);
    let declarations = link(&kept, modules_of(file), names);
    kept + &declarations
}

/// A function of a file with the declarations that it names of the file, and of those that this imports.
pub(crate) fn function(file: &'static str, function: &str, names: &[&str]) -> String {
    link(function, [file].into_iter().chain(modules_of(file)).collect(), names)
}

/// The declarations of a text by their names.
pub(crate) fn parts(text: &str) -> Vec<(String, String)> {
    split(text).into_iter().map(|declaration| (declaration.name, declaration.text)).collect()
}

/// A text in which identifiers that end in `_a` end in another letter: a file for the first of two factors serves for the
/// other.
pub(crate) fn with_letter(text: &str, letter: char) -> String {
    renamed(text, |word| match word.strip_suffix("_a") {
        Some(stem) => format!("{stem}_{letter}"),
        None => word.to_owned(),
    })
}

/// A text with other words for its words.
pub(crate) fn renamed(text: &str, name: impl Fn(&str) -> String) -> String {
    let is_end = |c: char| !c.is_alphanumeric() && c != '_';
    let renamed = text.split_inclusive(is_end).map(|piece| {
        let word = piece.trim_end_matches(is_end);
        name(word) + &piece[word.len()..]
    });
    renamed.collect()
}

/// The first import of a file that is no module.
pub(crate) fn unknown_import(file: &str) -> Option<&str> {
    imports(file).find(|name| module(name).is_none())
}

/// The names of all modules.
pub(crate) fn modules() -> String {
    MODULES.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn module(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(known, _)| *known == name).map(|&(_, text)| text)
}

fn imports(file: &str) -> impl Iterator<Item = &str> {
    let lines = file.lines().filter_map(|line| line.trim().strip_prefix("//@ import "));
    lines.flat_map(|names| names.split(',').map(str::trim))
}

/// The modules that a file imports, and those that these import.
fn modules_of(file: &str) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = imports(file).filter_map(module).collect();
    let mut next = 0;
    while let Some(&text) = found.get(next) {
        let more: Vec<_> = imports(text).filter_map(module).filter(|module| !found.contains(module)).collect();
        found.extend(more);
        next += 1;
    }
    found
}

/// The file without the lines that conditions leave out, which become empty.
fn conditional(file: &str, names: &[&str]) -> String {
    let holds = |condition: &str| {
        condition.split(',').map(str::trim).any(|name| match name.strip_prefix('!') {
            Some(name) => !names.contains(&name),
            None => names.contains(&name),
        })
    };
    let mut kept = String::with_capacity(file.len());
    // Whether the lines of each condition that is open are kept.
    let mut open: Vec<bool> = Vec::new();
    for line in file.lines() {
        let (code, directive) = line.split_once("//@ ").unwrap_or((line, ""));
        match directive.split_once(' ').unwrap_or((directive, "")) {
            ("if", name) if code.trim().is_empty() => open.push(holds(name)),
            ("if", name) if open.iter().all(|&holds| holds) && holds(name) => kept += code,
            ("if", _) => {}
            ("else", _) => open.last_mut().into_iter().for_each(|holds| *holds = !*holds),
            ("end", _) => drop(open.pop()),
            _ if open.iter().all(|&holds| holds) => kept += code,
            _ => {}
        }
        kept.push('\n');
    }
    kept
}

/// A function, a struct, an alias, a constant or a variable of a module.
struct Declaration {
    name: String,
    text: String,
}

/// The declarations of a module, in its order.
fn declarations(module: &'static str, names: &[&str]) -> Arc<[Declaration]> {
    type Known = HashMap<(&'static str, String), Arc<[Declaration]>>;
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let names_set = if module.contains("//@ if ") { names.join(" ") } else { String::new() };
    let split = || split(&conditional(module, names)).into();
    lock(&KNOWN).entry((module, names_set)).or_insert_with(split).clone()
}

fn split(module: &str) -> Vec<Declaration> {
    let (mut found, mut text, mut depth) = (Vec::new(), String::new(), 0);
    for line in module.lines() {
        let code = line.split("//").next().unwrap_or_default().trim_end();
        if text.is_empty() && code.is_empty() {
            continue;
        }
        text += line;
        text.push('\n');
        depth += code.matches('{').count() as i32 - code.matches('}').count() as i32;
        if depth == 0 && code.ends_with([';', '}']) {
            let words = identifiers(&text);
            let is_name =
                |word: &&str| !matches!(*word, "fn" | "struct" | "alias" | "const" | "var" | "private" | "workgroup");
            let name = words.into_iter().find(is_name).unwrap_or_default().to_owned();
            found.push(Declaration { name, text: std::mem::take(&mut text) });
        }
    }
    found
}

/// The words of a text outside of its comments.
fn identifiers(text: &str) -> Vec<&str> {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_')).collect()
}

/// The declarations of modules that a text names, and those that these name.
fn link(root: &str, modules: Vec<&'static str>, names: &[&str]) -> String {
    let all: Vec<_> = modules.into_iter().map(|module| declarations(module, names)).collect();
    let all: Vec<&Declaration> = all.iter().flat_map(|declarations| declarations.iter()).collect();
    let mut known: HashMap<&str, Vec<usize>> = HashMap::new();
    all.iter().enumerate().for_each(|(place, declaration)| known.entry(&declaration.name).or_default().push(place));
    let (mut wanted, mut texts) = (HashSet::new(), vec![root]);
    while let Some(text) = texts.pop() {
        for word in identifiers(text) {
            for &place in known.get(word).into_iter().flatten() {
                if wanted.insert(place) {
                    texts.push(&all[place].text);
                }
            }
        }
    }
    let wanted = all.iter().enumerate().filter(|(place, _)| wanted.contains(place));
    wanted.map(|(_, declaration)| &*declaration.text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_is_there_once() {
        let text = compose("//@ import math\nfn f(x: f32) -> f32 { return own_tanh(x) + own_tanh(x); }", &[]);
        assert_eq!(text.matches("fn own_tanh(").count(), 1);
        assert_eq!(text.matches("fn bounded(").count(), 1);
        assert!(!text.contains("fn own_exp("));
        assert_eq!(compose("// own_exp\nreturn not_inf(x);", &[]), "// own_exp\nreturn not_inf(x);\n");
        assert!(declarations(MODULES[0].1, &[]).len() > 40);
    }

    #[test]
    fn lines_keep_their_numbers() {
        let file = "a\n//@ if wide\nb\n//@ if deep\nc\n//@ end\n//@ else\nd\n//@ end\ne\n";
        assert_eq!(conditional(file, &["wide"]), "a\n\nb\n\n\n\n\n\n\ne\n");
        assert_eq!(conditional(file, &["wide", "deep"]), "a\n\nb\n\nc\n\n\n\n\ne\n");
        assert_eq!(conditional(file, &[]), "a\n\n\n\n\n\n\nd\n\ne\n");
        assert_eq!(conditional("a //@ if wide\nb //@ if !wide\n", &["wide"]), "a \n\n");
        assert_eq!(conditional("a //@ if deep, wide\nb //@ if deep", &["wide"]), "a \n\n");
        assert_eq!(conditional("//@ if deep\na //@ if wide\n//@ end\nb //@ if !wide", &[]), "\n\n\nb \n");
    }

    #[test]
    fn declarations_are_told_apart() {
        let module = "// Of no use.\nconst A: u32 = 1u;\nalias B = vec2<u32>; // {\nvar<workgroup> c: array<B, A>;\n\
                      struct D {\n    a: B,\n}\nfn e(d: D) -> u32 {\n    if (d.a.x > 1u) {\n        return A;\n    }\n    return 0u;\n}\n";
        let found = split(module);
        assert_eq!(found.iter().map(|found| &*found.name).collect::<Vec<_>>(), ["A", "B", "c", "D", "e"]);
        assert!(found[4].text.ends_with("return 0u;\n}\n"));
    }

    #[test]
    fn letters_end_identifiers() {
        assert_eq!(
            with_letter("fn find_a(at_a: Place_a, b_at: u32) -> p_across;", 'b'),
            "fn find_b(at_b: Place_b, b_at: u32) -> p_across;"
        );
    }

    #[test]
    fn imports_are_modules() {
        assert_eq!(unknown_import("//@ import math, maths\n"), Some("maths"));
        assert!(MODULES.iter().all(|(_, text)| unknown_import(text).is_none()));
    }
}

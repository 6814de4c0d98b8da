//! The headers and the crate have the same functions, and the headers say of each what its docs say first.
//!
//! `KERNLINK_WRITE_HEADERS=1 cargo test -p kernlink-capi --test headers` writes the comments.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const WIDTH: usize = 100;
/// A plugin's function, which the library calls and does not have.
const OF_PLUGINS: &str = "TF_InitKernel";

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path, extension)),
            false if path.extension().is_some_and(|it| it == extension) => found.push(path),
            false => {}
        }
    }
    found.sort();
    found
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_')
        .filter(|word| word.starts_with("TF_") || word.starts_with("TFE_"))
}

/// The function that a line of a header declares.
fn declared(line: &str) -> Option<&str> {
    let before = line.strip_prefix("TF_CAPI_EXPORT ")?.split_once('(')?.0;
    names(before).last()
}

/// The docs' first sentence, as C's readers see it.
fn first_sentence(docs: &str) -> String {
    let sentence = docs.find(". ").map_or(docs, |end| &docs[..=end]);
    // Of a link what is shown: `[shown](path)`, `[shown]`.
    let mut parts = sentence.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    let shown = parts.fold(first, |shown, part| shown + part.split_once(')').map_or(part, |(_, after)| after));
    shown.replace("[`", "").replace("`]", "").replace('`', "")
}

/// The functions that the crate exports, each with the first sentence of its docs.
fn exported() -> BTreeMap<String, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let of_libraries = here.join("../library/src/host");
    let mut sources = files(&here.join("src"), "rs");
    sources.extend(files(&of_libraries, "rs"));
    let mut found = BTreeMap::new();
    for source in sources.iter().filter(|it| !it.ends_with("src/abi.rs")) {
        let mut docs = String::new();
        for line in fs::read_to_string(source).unwrap().lines().map(str::trim) {
            if let Some(doc) = line.strip_prefix("///") {
                docs.push_str(doc);
            } else if !line.starts_with("#[") {
                // A function, or the line of a macro that makes one or two.
                let head = line.split_once(['(', '=', ':', ';', '{']).map_or(line, |(head, _)| head);
                let is_other =
                    ["struct ", "enum ", "type ", "const ", "impl ", "static "].iter().any(|it| head.contains(it));
                if !docs.is_empty() && !is_other {
                    found.extend(names(head).map(|name| (name.to_owned(), first_sentence(docs.trim()))));
                }
                docs.clear();
            }
        }
    }
    found
}

/// A comment of C++'s kind, in as many lines as it takes.
fn comment(text: &str) -> String {
    let mut lines = vec!["//".to_owned()];
    for word in text.split_whitespace() {
        if lines[lines.len() - 1].chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push("//".to_owned());
        }
        let last = lines.len() - 1;
        lines[last] += " ";
        lines[last] += word;
    }
    lines.join("\n") + "\n"
}

/// The header with each function's comment as `docs` have it.
fn commented(header: &str, docs: &BTreeMap<String, String>) -> String {
    let mut written: Vec<String> = Vec::new();
    for line in header.lines() {
        if let Some(docs) = declared(line).and_then(|name| docs.get(name)) {
            while written.last().is_some_and(|it| it.starts_with("//")) {
                written.pop();
            }
            written.push(comment(docs).trim_end().to_owned());
        }
        written.extend([line.to_owned()]);
    }
    written.join("\n") + "\n"
}

/// The headers, each with its text: read once, before a test writes any.
static HEADERS: LazyLock<Vec<(PathBuf, String)>> = LazyLock::new(|| {
    let paths = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("include"), "h");
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
});

#[test]
fn have_the_functions_of_the_crate() {
    let exported = exported();
    let declared: Vec<&str> = HEADERS.iter().flat_map(|(_, text)| text.lines()).filter_map(declared).collect();
    let undeclared: Vec<_> = exported.keys().filter(|it| !declared.contains(&it.as_str())).collect();
    let missing: Vec<_> = declared.iter().filter(|it| !exported.contains_key(**it) && **it != OF_PLUGINS).collect();
    assert!(undeclared.is_empty(), "not in a header: {undeclared:?}");
    assert!(missing.is_empty(), "in a header, and not in the crate with docs: {missing:?}");
}

#[test]
fn say_what_the_docs_say() {
    let exported = exported();
    for (path, header) in HEADERS.iter() {
        let written = commented(header, &exported);
        if std::env::var_os("KERNLINK_WRITE_HEADERS").is_some() {
            fs::write(path, &written).unwrap();
        } else {
            assert!(*header == written, "{}: run this test with KERNLINK_WRITE_HEADERS=1", path.display());
        }
    }
}

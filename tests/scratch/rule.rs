//! A rule for kernels, geometry and shape functions: of what takes memory that cannot be refused, the forms that are
//! [`INFALLIBLE`] are named in `bounded.txt`, `bounded_gpu.txt` and `bounded_ops.txt`, each as often as it is there.
//!
//! There stands what is as large as a rank, a number of arguments or of threads, an attr that the node holds anyway, or a
//! constant. `KERNLINK_UPDATE=1` rewrites the lists: look at what that adds.
//!
//! `push`, `extend`, `insert`, `repeat` and `format!` are not among the forms: nearly all of them go to what has room, or are
//! messages. Those that do not are found by the allocator, if a golden case comes there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::support::path;

/// What ends the process when it gets no memory; `tensor::scratch` has a form of each that fails.
const INFALLIBLE: [&str; 17] = [
    "with_capacity(",
    ".collect()",
    ".collect::<",
    ".resize(",
    ".reserve(",
    ".reserve_exact(",
    ".to_vec()",
    ".sort()",
    ".sort_by(",
    ".sort_by_key(",
    ".concat()",
    "vec![",
    ".join(",
    "_lossy(",
    ".escape_ascii()",
    ".encode_to_vec()",
    "BTree",
];

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the sources are there").map(|entry| entry.expect("readable").path())
    {
        if entry.is_dir() {
            sources(&entry, files);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
}

/// A file's code before its module of tests, which may be visible elsewhere.
fn without_tests(source: &str) -> &str {
    let is_module = |rest: &str| rest.lines().nth(1).is_some_and(|line| format!(" {line}").contains(" mod "));
    let places = source.match_indices("#[cfg(test)]\n").map(|(place, _)| place);
    places.into_iter().find(|&place| is_module(&source[place..])).map_or(source, |place| &source[..place])
}

/// The lines of `lines` that `others` does not have, or not as often.
fn surplus<'t>(lines: &'t str, others: &str) -> Vec<&'t str> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    others.lines().for_each(|line| *left.entry(line).or_default() += 1);
    let is_left = |line: &&str| match left.get_mut(*line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    lines.lines().filter(is_left).collect()
}

/// The crates of kernels for the CPU, and what they share.
fn kernels() -> Vec<PathBuf> {
    let crates =
        std::fs::read_dir(path("kernels")).expect("the crates of kernels").map(|entry| entry.expect("readable"));
    crates.map(|entry| entry.path().join("src")).chain([path("geometry/src")]).collect()
}

/// The lines of the folders' code, tests left out, that may take memory which cannot be refused. No kernel runs in what is
/// `left_out`.
fn found(folders: &[PathBuf], left_out: &[&str]) -> String {
    let root = path("");
    let mut files = Vec::new();
    folders.iter().filter(|folder| folder.is_dir()).for_each(|folder| sources(folder, &mut files));
    files.retain(|file| !left_out.iter().any(|part| file.starts_with(path(part))));
    files.sort();
    let mut text = String::new();
    for file in files {
        let source = std::fs::read_to_string(&file).expect("sources are text");
        let code = without_tests(&source);
        let name = file.strip_prefix(&root).expect("it is in the repository").display().to_string().replace('\\', "/");
        let mut before = "";
        for line in code.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
            // A chain that goes on says little by itself.
            let whole = if line.starts_with('.') { format!("{before} {line}") } else { line.to_owned() };
            before = line;
            let infallible = INFALLIBLE.iter().any(|form| line.contains(form));
            // A list that is written out is as long as it looks.
            if infallible && !(line.contains("vec![") && !line.contains("; ") && !line.contains(").")) {
                text += &format!("{name}: {whole}\n");
            }
        }
    }
    text
}

#[test]
fn what_cannot_be_refused_is_bounded_and_listed() {
    compare("bounded.txt", &found(&kernels(), &[]), 50);
    // Graphs are built by programs, not by models.
    compare("bounded_ops.txt", &found(&[path("ops/src")], &["ops/src/builders"]), 10);
    // Shaders are as long as they are written.
    let shaders = ["wgsl", "composition.rs", "pipeline.rs", "translation.rs", "team.rs", "adapter.rs"];
    let shaders = shaders.map(|part| format!("kernels-gpu/src/{part}"));
    compare("bounded_gpu.txt", &found(&[path("kernels-gpu/src")], &shaders.each_ref().map(String::as_str)), 50);
}

#[test]
fn tests_are_left_out_and_lines_counted() {
    for test in ["mod tests", "pub(crate) mod tests"] {
        let source = format!("#[cfg(test)]\nuse a;\nfn f() {{}}\n#[cfg(test)]\n{test} {{}}");
        assert_eq!(without_tests(&source), "#[cfg(test)]\nuse a;\nfn f() {}\n", "{test}");
    }
    assert_eq!(without_tests("fn f() {}"), "fn f() {}");
    assert_eq!(surplus("a\nb\na\n", "a\nc\n"), ["b", "a"]);
}

/// Compares what was found with the list of this name.
fn compare(list: &str, found: &str, least: usize) {
    let list = path("tests/scratch").join(list);
    assert!(found.lines().count() > least, "the sources are found");
    if std::env::var_os("KERNLINK_UPDATE").is_some() {
        std::fs::write(&list, found).expect("the list can be written");
    }
    let listed = std::fs::read_to_string(&list).expect("the list is there");
    let (new, gone) = (surplus(found, &listed), surplus(&listed, found));
    assert!(
        new.is_empty() && gone.is_empty(),
        "memory whose size a tensor decides comes from kernlink::tensor::scratch; what is bounded otherwise is listed in \
         {} (KERNLINK_UPDATE=1 writes it).\nnot listed: {new:#?}\nlisted, but gone: {gone:#?}",
        list.display()
    );
}

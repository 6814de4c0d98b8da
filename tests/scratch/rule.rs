//! A rule for kernels, geometry and shape functions: what may take memory that cannot be refused is named in `bounded.txt`,
//! `bounded_gpu.txt` and `bounded_ops.txt`.
//!
//! There stands what is as large as a rank, a number of arguments or of threads, an attr that the node holds anyway, or a
//! constant. `KERNLINK_UPDATE=1` rewrites the lists: look at what that adds.

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
        let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let name = file.strip_prefix(&root).expect("it is in the repository").display().to_string().replace('\\', "/");
        for line in code.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
            let infallible = INFALLIBLE.iter().any(|form| line.contains(form));
            // A list that is written out is as long as it looks.
            if infallible && !(line.contains("vec![") && !line.contains("; ") && !line.contains(").")) {
                text += &format!("{name}: {line}\n");
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

/// Compares what was found with the list of this name.
fn compare(list: &str, found: &str, least: usize) {
    let list = path("tests/scratch").join(list);
    assert!(found.lines().count() > least, "the sources are found");
    if std::env::var_os("KERNLINK_UPDATE").is_some() {
        std::fs::write(&list, found).expect("the list can be written");
    }
    let listed = std::fs::read_to_string(&list).expect("the list is there");
    let new: Vec<&str> = found.lines().filter(|line| !listed.lines().any(|other| other == *line)).collect();
    let gone: Vec<&str> = listed.lines().filter(|line| !found.lines().any(|other| other == *line)).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "memory whose size a tensor decides comes from kernlink::tensor::scratch; what is bounded otherwise is listed in \
         {} (KERNLINK_UPDATE=1 writes it).\nnot listed: {new:#?}\nlisted, but gone: {gone:#?}",
        list.display()
    );
}

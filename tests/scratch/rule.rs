//! A rule for kernels and geometry: what may take memory that cannot be refused is named in `bounded.txt`.
//!
//! There stands what is as large as a rank, a number of arguments or of threads, an attr that the node holds anyway, or a
//! constant. `KERNLINK_UPDATE=1` rewrites the list: look at what that adds.

use std::path::Path;

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

fn sources(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the sources are there").map(|entry| entry.expect("readable").path())
    {
        if entry.is_dir() {
            sources(&entry, files);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
}

/// The lines of the crates' code, tests left out, that may take memory which cannot be refused.
fn found() -> String {
    let root = path("");
    let mut files = Vec::new();
    let crates =
        std::fs::read_dir(path("kernels")).expect("the crates of kernels").map(|entry| entry.expect("readable"));
    let crates = crates.map(|entry| entry.path().join("src")).chain([path("geometry/src")]);
    crates.filter(|folder| folder.is_dir()).for_each(|folder| sources(&folder, &mut files));
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
    let (list, found) = (path("tests/scratch/bounded.txt"), found());
    assert!(found.lines().count() > 50, "the sources are found");
    if std::env::var_os("KERNLINK_UPDATE").is_some() {
        std::fs::write(&list, &found).expect("the list can be written");
    }
    let listed = std::fs::read_to_string(&list).expect("the list is there");
    let new: Vec<&str> = found.lines().filter(|line| !listed.lines().any(|other| other == *line)).collect();
    let gone: Vec<&str> = listed.lines().filter(|line| !found.lines().any(|other| other == *line)).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "memory whose size a tensor decides comes from kernlink::tensor::scratch; what is bounded otherwise is listed in \
         tests/scratch/bounded.txt (KERNLINK_UPDATE=1 writes it).\nnot listed: {new:#?}\nlisted, but gone: {gone:#?}"
    );
}

//! `--library` and KERNLINK_LIBRARIES.

use std::path::{Path, PathBuf};
use std::process::Command;

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;

use crate::command::{bad, folder, good, holds, kernlink, save};
use crate::support::{constant, graph, node, path};

/// A library of a C source of the repository, in a folder of the test's own.
fn library(test: &str, source: &str, name: &str, arguments: &[&str]) -> PathBuf {
    let to = folder("libraries").join(test);
    std::fs::create_dir_all(&to).unwrap();
    let to = to.join(name);
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut command = Command::new(compiler);
    command.args(["-std=c99", "-O2", "-Wall", "-shared", "-fPIC", "-o"]).arg(&to).arg(path(source));
    let output = command.args(["-lpthread"]).args(arguments).output().expect("a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    to
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// y = x times 2, by an op of `ops.c`.
fn scaled() -> String {
    let float = AttrValue::Type(DataType::Float);
    let shape = AttrValue::Shape(PartialShape::from_known([None, Some(2)]));
    let def =
        graph([node("x", "Placeholder", &[], &[("dtype", float), ("shape", shape)]), node("y", "CScale", &["x"], &[])]);
    save("scaled.pb", &def)
}

#[test]
fn commands_have_the_ops_of_libraries() {
    let ops = library("ops", "library/tests/c/ops.c", "libops.so", &[]);
    let seven = library("ops", "library/tests/c/hostile.c", "libseven.so", &["-DOP=\"Seven\"", "-DKERNEL=\"Seven\""]);
    let model = scaled();
    bad(&["run", &model, "--input", "x=[[1, 2]]"], 2, &["op `CScale` is not linked into this program"]);
    bad(&["inspect", &model], 1, &["op `CScale`", "--library"]);
    let run = ["run", &model, "--input", "x=[[1, 2]]", "--library", text(&ops)];
    holds(&good(&run), &["[[2.0 4.0]]"]);
    let negative = ["run", &model, "--input", "x=[[-1, 2]]", "--library", text(&ops)];
    bad(&negative, 2, &["INVALID_ARGUMENT", "x must not be negative", "node `y`"]);
    holds(&good(&["inspect", &model, "--library", text(&ops)]), &["every op and kernel is linked"]);
    // Before and behind the command, and several times; the same one twice is one.
    let own = "CBorrowed\nCGreet\nCLater\nCScale\nSeven\n5 ops\n";
    assert_eq!(good(&["--library", text(&seven), "ops", "--own", "--library", text(&ops)]), own);
    let both = ["--library", text(&seven), "--library", text(&ops), "ops", "--own", "--library", text(&ops)];
    assert_eq!(good(&both), own);
    let described = good(&["ops", "CScale", "--library", text(&ops)]);
    holds(&described, &["factor: float = 2", &format!("declared in the library {}", text(&ops))]);
    holds(
        &good(&["kernels", "--own", "--library", text(&seven)]),
        &["Seven on CPU, priority 1", "libseven.so", "1 kernel"],
    );
    bad(&["ops", "--own"], 0, &["or a library of ops by `--library`"]);
    holds(&good(&["run", "--help"]), &["--library <FILE>", "KERNLINK_LIBRARIES"]);
    holds(&good(&["man", "run"]), &["\\-\\-library"]);
}

#[test]
fn the_environment_names_files_and_folders() {
    let file = library("environment", "library/tests/c/ops.c", "libops.so", &[]);
    let arguments = ["-DOP=\"Seven\"", "-DKERNEL=\"Seven\""];
    let seven = library("environment/folder", "library/tests/c/hostile.c", "libtfkernel_seven.so", &arguments);
    let in_folder = seven.parent().unwrap();
    std::fs::write(in_folder.join("libtfkernel_text.so"), "text").unwrap();
    let run = |libraries: &str, args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kernlink"));
        command.args(args).env("KERNLINK_LIBRARIES", libraries).output().expect("the command starts")
    };
    let output = run(&format!("{}::{}", text(&file), text(in_folder)), &["ops", "--own"]);
    let (said, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        (output.status.code(), &*said),
        (Some(0), "CBorrowed\nCGreet\nCLater\nCScale\nSeven\n5 ops\n"),
        "{told}"
    );
    holds(&told, &["warning: passed over", "libtfkernel_text.so", "it is no shared library"]);
    let output = run("/nowhere/libx.so", &["ops"]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr);
    holds(&told, &["NOT_FOUND: KERNLINK_LIBRARIES: cannot load /nowhere/libx.so: there is no such file"]);
    // What is passed over is told even if a later one fails.
    let output = run(&format!("{}:/nowhere/libx.so", text(in_folder)), &["ops"]);
    assert_eq!(output.status.code(), Some(2));
    holds(&String::from_utf8_lossy(&output.stderr), &["warning: passed over", "libtfkernel_text.so", "NOT_FOUND"]);
    let output = run(text(in_folder), &["ops", "--library", "/nowhere/libx.so"]);
    assert_eq!(output.status.code(), Some(2));
    holds(&String::from_utf8_lossy(&output.stderr), &["warning: passed over", "libtfkernel_text.so", "--library"]);
    // What is only about the command works nevertheless.
    assert_eq!(run("/nowhere/libx.so", &["man"]).status.code(), Some(0));
    assert_eq!(run("", &["ops", "--own"]).status.code(), Some(0));
}

#[test]
fn a_wrong_library_is_told_before_anything_is_done() {
    let plain = library("wrong", "library/tests/c/plain.c", "libplain.so", &[]);
    bad(
        &["ops", "--library", text(&plain)],
        2,
        &["INVALID_ARGUMENT: --library: cannot load", "it is no library of ops"],
    );
    bad(&["ops", "--library", "/nowhere/x.so"], 2, &["NOT_FOUND", "there is no such file"]);
    bad(&["ops", "--library"], 2, &["a value is required for '--library <FILE>'"]);
    let clash = library("wrong", "library/tests/c/hostile.c", "libclash.so", &["-DOP=\"MatMul\""]);
    bad(
        &["ops", "--library", text(&clash)],
        2,
        &["ALREADY_EXISTS", "op MatMul is declared at ops/src/", "libclash.so"],
    );
    assert!(kernlink(&["--library", text(&plain), "completions", "bash"]).status.success());
}

/// The example: sums of floats in double keep what sums in float lose.
#[test]
fn a_library_replaces_matmul() {
    let matmul = library("matmul", "examples/replace-matmul/library.c", "libmatmul.so", &[]);
    let float = AttrValue::Type(DataType::Float);
    let def = graph([
        node("x", "Placeholder", &[], &[("dtype", float.clone())]),
        constant("ones", Tensor::from_elements([1, 3], &[1.0f32; 3]).unwrap()),
        node("y", "MatMul", &["x", "ones"], &[("T", float), ("transpose_b", AttrValue::Bool(true))]),
    ]);
    let model = save("matmul.pb", &def);
    let run = ["run", &model, "--input", "x=[[1e8, 1, -1e8], [1, 2, 3]]"];
    holds(&good(&run), &["[[0.0], [6.0]]"]);
    holds(&good(&[&run[..], &["--library", text(&matmul)]].concat()), &["[[1.0], [6.0]]"]);
    let wrong = ["run", &model, "--input", "x=[[1, 2]]", "--library", text(&matmul)];
    bad(&wrong, 2, &["do not fit"]);
    let kernels = good(&["kernels", "--op", "MatMul", "--library", text(&matmul)]);
    holds(&kernels, &[&format!("MatMul on CPU, T in [float], priority 1, registered at {}", text(&matmul))]);
}

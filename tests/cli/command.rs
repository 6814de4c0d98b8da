//! Runs of the command, and files for it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::proto::{GraphDef, write_graph};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;

use crate::support::{constant, graph, node, path};

pub(crate) fn kernlink(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kernlink")).args(args).output().expect("the command starts")
}

/// What a run that must succeed prints.
#[track_caller]
pub(crate) fn good(args: &[&str]) -> String {
    let output = kernlink(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Checks that a run fails with this exit code and these words.
#[track_caller]
pub(crate) fn bad(args: &[&str], code: i32, words: &[&str]) {
    let output = kernlink(args);
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
    assert!(!text.contains("panicked"), "{text}");
    words.iter().for_each(|word| assert!(text.contains(word), "`{word}` is not in: {text}"));
}

#[track_caller]
pub(crate) fn holds(text: &str, words: &[&str]) {
    words.iter().for_each(|word| assert!(text.contains(word), "`{word}` is not in: {text}"));
}

pub(crate) fn digits(file: &str) -> String {
    path("examples/digits").join(file).to_str().expect("UTF-8").to_owned()
}

/// A folder of this test's own.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A graph in a file; y = x + [1, 2].
pub(crate) fn sum(name: &str) -> String {
    let float = AttrValue::Type(DataType::Float);
    let shape = AttrValue::Shape(PartialShape::from_known([None, Some(2)]));
    let def = graph([
        node("scope/x", "Placeholder", &[], &[("dtype", float.clone()), ("shape", shape)]),
        constant("c", Tensor::vector(&[1.0f32, 2.0]).unwrap()),
        node("scope/y", "AddV2", &["scope/x", "c"], &[("T", float)]),
    ]);
    save(name, &def)
}

pub(crate) fn save(name: &str, def: &GraphDef) -> String {
    let file = folder("graphs").join(name);
    write_graph(&file, def).unwrap();
    file.to_str().expect("UTF-8").to_owned()
}

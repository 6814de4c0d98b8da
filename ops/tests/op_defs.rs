//! Every declared op equals TensorFlow's, in everything but documentation. `data/extract.py` writes TensorFlow's.

extern crate kernlink_framework as kernlink;

use std::borrow::Cow;
use std::collections::BTreeMap;

use kernlink::collect::linked_ops;
use kernlink::op::{List, OpDef};
use kernlink::proto::{self, Message as _};

fn tensorflow_ops() -> BTreeMap<String, proto::OpDef> {
    let list = proto::OpList::decode(&include_bytes!("data/ops.pb")[..]).expect("ops.pb is an OpList");
    list.op.into_iter().map(|op| (op.name.clone(), op)).collect()
}

/// Ops that TensorFlow does not have.
const OWN: [&str; 12] = [
    "RemoveKernel",
    "_FusedBatchMatMulV2",
    "_FusedElementWise",
    "_FusedPaddedDepthwiseConv2dNative",
    "_GeluApproximate",
    "_GeluExact",
    "_HardSwish",
    "_LayerNorm",
    "_PaddedAvgPool",
    "_PaddedMaxPool",
    "_ScaledMaskedSoftmax",
    "_Swish",
];

fn declared_ops() -> impl Iterator<Item = &'static OpDef> {
    linked_ops().filter(|op| std::ptr::eq(op.provider, &kernlink_ops::KERNLINK_PROVIDER)).map(|op| op.def)
}

fn without_docs(op: &OpDef) -> OpDef {
    fn strip<T: Clone>(list: &List<T>, clear: impl Fn(&mut T)) -> List<T> {
        let mut list = list.to_vec();
        list.iter_mut().for_each(clear);
        list.into()
    }
    OpDef {
        inputs: strip(&op.inputs, |arg| arg.description = Cow::Borrowed("")),
        outputs: strip(&op.outputs, |arg| arg.description = Cow::Borrowed("")),
        attrs: strip(&op.attrs, |attr| attr.description = Cow::Borrowed("")),
        summary: Cow::Borrowed(""),
        description: Cow::Borrowed(""),
        ..op.clone()
    }
}

#[test]
fn every_declared_op_equals_tensorflows() {
    let theirs = tensorflow_ops();
    let mut different = Vec::new();
    for ours in declared_ops().filter(|op| !OWN.contains(&&*op.name)).map(without_docs) {
        let Some(proto) = theirs.get(&*ours.name) else {
            different.push(format!("{} is not in data/ops.pb: run data/extract.py", ours.name));
            continue;
        };
        // Once as declarations and once as messages: neither conversion may hide what the other loses.
        let theirs = proto::op_from_proto(proto).expect("TensorFlow's ops are well-formed");
        if ours != theirs {
            different.push(format!("{}:\n  {ours:?}\n  {theirs:?}", ours.name));
        } else if &proto::op_to_proto(&ours).expect("ours are too") != proto {
            different.push(format!("{} as a message:\n  {ours:?}\n  {proto:?}", ours.name));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn every_op_of_the_data_is_declared() {
    let all = cfg!(all(feature = "array", feature = "math", feature = "nn"));
    let declared: Vec<&str> = declared_ops().map(|op| &*op.name).collect();
    assert_eq!(declared.len(), kernlink_ops::OPS);
    for name in tensorflow_ops().into_keys().filter(|_| all) {
        assert!(declared.contains(&&*name), "{name} is in data/ops.pb but not declared");
    }
}

/// The string literals of Rust source that stand before its unit tests, with their lines.
fn literals(source: &str) -> Vec<(usize, String)> {
    let source = source.split("\n#[cfg(test)]").next().unwrap_or_default();
    let mut literals = Vec::new();
    let (mut chars, mut line) = (source.chars().peekable(), 1);
    while let Some(char) = chars.next() {
        match char {
            '\n' => line += 1,
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|&next| next != '\n').is_some() {},
            // A quote or an escape as a character; a lifetime has no second `'`.
            '\'' => {
                let escaped = chars.next_if_eq(&'\\').is_some();
                if escaped || chars.peek() == Some(&'"') {
                    chars.next();
                }
            }
            '"' => {
                let (start, mut text) = (line, String::new());
                while let Some(char) = chars.next().filter(|&char| char != '"') {
                    line += usize::from(char == '\n');
                    text.push(char);
                    text.extend(if char == '\\' { chars.next() } else { None });
                }
                literals.push((start, text));
            }
            _ => {}
        }
    }
    literals
}

fn rust_files(folder: &std::path::Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources").flatten() {
        match entry.path() {
            path if path.is_dir() => rust_files(&path, files),
            path => files.extend(Some(path).filter(|path| path.extension().is_some_and(|end| end == "rs"))),
        }
    }
}

/// A node's class says what kind of op it has. Who compares names instead will miss `RefSwitch` where it knows `Switch`.
#[test]
fn one_file_of_the_framework_tells_ops_apart_by_name() {
    const ALLOWED: &str = "graph/class.rs";
    let ops = tensorflow_ops();
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../framework/src"));
    let mut files = Vec::new();
    rust_files(root, &mut files);
    let mut found = Vec::new();
    for file in &files {
        let name = file.strip_prefix(root).expect("it was found there").to_string_lossy().replace('\\', "/");
        let source = std::fs::read_to_string(file).expect("a source is text");
        for (line, text) in literals(&source) {
            if ops.contains_key(&text) {
                found.push((name.clone(), line, text));
            }
        }
    }
    let (classes, elsewhere): (Vec<_>, Vec<_>) = found.into_iter().partition(|(name, ..)| name == ALLOWED);
    assert!(classes.len() > 40, "{ALLOWED} names the ops that have a class of their own: {classes:?}");
    assert!(elsewhere.is_empty(), "compare Node::class, or name the op in {ALLOWED}: {elsewhere:#?}");
}

//! Helpers of several tests.
#![allow(dead_code, reason = "every test takes a part")]

pub(crate) mod chain;
pub(crate) mod golden_graphs;
pub(crate) mod random_checkpoint;
pub(crate) mod random_op;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kernlink::attr::AttrValue;
use kernlink::proto::{self, GraphDef, NodeDef};
use kernlink::tensor::Tensor;

/// Numbers that look random: the same for the same seed. Marsaglia's xorshift64*.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number from 0 to `end`, exclusive.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() >> 33) as usize % end
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// A file of the repository.
pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The golden graphs, by name.
pub(crate) fn golden_files() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(path("tests/golden/data")).expect("the golden data is there");
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.expect("readable").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "pb"));
    files.sort();
    assert!(!files.is_empty(), "there is no golden data");
    files
}

/// Compares a block of `docs/coverage.md`, between comments with its name, with what it should say; `KERNLINK_UPDATE=1`
/// rewrites it.
pub(crate) fn check_coverage(name: &str, text: &str, command: &str) {
    const FILE: &str = "docs/coverage.md";
    let (opening, closing) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let page = std::fs::read_to_string(path(FILE)).expect("the page is there");
    let block = page.split_once(&opening).and_then(|(before, rest)| Some((before, rest.split_once(&closing)?)));
    let Some((before, (found, after))) = block else { panic!("{FILE} has no block {opening}... {closing}") };
    if std::env::var_os("KERNLINK_UPDATE").is_some() {
        let page = format!("{before}{opening}{text}{closing}{after}");
        std::fs::write(path(FILE), page).expect("the page can be written");
        return;
    }
    assert_eq!(found, text, "{FILE} is out of date: KERNLINK_UPDATE=1 cargo test {command}");
}

/// A node's message.
pub(crate) fn node(name: &str, op: &str, inputs: &[&str], attrs: &[(&str, AttrValue)]) -> NodeDef {
    NodeDef {
        name: name.to_owned(),
        op: op.to_owned(),
        input: inputs.iter().map(|&input| input.to_owned()).collect(),
        attr: attrs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), proto::attr_to_proto(value).expect("a plain value")))
            .collect(),
        ..NodeDef::default()
    }
}

/// A Const's message.
pub(crate) fn constant(name: &str, value: Tensor) -> NodeDef {
    node(name, "Const", &[], &[("dtype", AttrValue::Type(value.dtype())), ("value", AttrValue::Tensor(value))])
}

/// A graph's message.
pub(crate) fn graph(nodes: impl IntoIterator<Item = NodeDef>) -> GraphDef {
    GraphDef { node: nodes.into_iter().collect(), ..GraphDef::default() }
}

/// The values of a graph of constants, as the generators write answers, by their names.
pub(crate) fn constants(file: &Path) -> BTreeMap<String, Tensor> {
    let graph = proto::read_graph(file).unwrap();
    let value = |node: &NodeDef| match proto::attr_from_proto(&node.attr["value"]).unwrap() {
        AttrValue::Tensor(tensor) => tensor,
        other => panic!("{}: {other:?}", node.name),
    };
    graph.node.iter().map(|node| (node.name.clone(), value(node))).collect()
}

//! The tensors that generate.py writes.

use std::collections::HashMap;
use std::path::Path;

use kernlink::prelude::*;

/// All of them, by name.
pub(super) struct Values(HashMap<String, Tensor>);

impl Values {
    pub(super) fn read() -> Values {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/train/data/train.pb");
        let def = kernlink::proto::read_graph(path).unwrap();
        let graph = Graph::import(&def, &kernlink::registry().unwrap()).unwrap();
        let nodes = graph.nodes().iter();
        Values(nodes.map(|node| (node.name.clone(), node.attrs.required::<Tensor>("value").unwrap())).collect())
    }

    pub(super) fn find(&self, name: &str) -> Option<Tensor> {
        self.0.get(name).cloned()
    }

    #[track_caller]
    pub(super) fn get(&self, name: &str) -> Tensor {
        self.find(name).unwrap_or_else(|| panic!("the data lack `{name}`"))
    }

    /// `NAME/0`, `NAME/1` and so on.
    pub(super) fn numbered(&self, name: &str) -> Vec<Tensor> {
        (0..).map_while(|k| self.find(&format!("{name}/{k}"))).collect()
    }
}

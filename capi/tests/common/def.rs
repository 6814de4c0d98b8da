//! Nodes of a GraphDef.

use kernlink::attr::AttrValue;
use kernlink::proto::{self, NodeDef};

pub(crate) fn node_def(name: &str, op: &str, inputs: &[&str], attrs: &[(&str, AttrValue)]) -> NodeDef {
    let attr = |(name, value): &(&str, AttrValue)| ((*name).to_owned(), proto::attr_to_proto(value).unwrap());
    NodeDef {
        name: name.to_owned(),
        op: op.to_owned(),
        input: inputs.iter().map(|&input| input.to_owned()).collect(),
        attr: attrs.iter().map(attr).collect(),
        ..NodeDef::default()
    }
}

//! A [`Graph`] becomes a `GraphDef`.

use super::trace::attr_messages;
use super::{Graph, Node, NodeId};
use crate::error::Result;
use crate::kernel::RawConstruction;
use crate::proto::{GraphDef, NodeDef};

impl Graph {
    /// The graph as a message.
    ///
    /// # Errors
    /// UNIMPLEMENTED if an attr holds a variant that no message can hold.
    pub fn to_def(&self) -> Result<GraphDef> {
        let library = self.functions.as_ref().map(|functions| functions.to_def());
        let mut def = GraphDef { versions: Some(self.versions.clone()), library, ..GraphDef::default() };
        for node in &self.nodes {
            def.node.push(node.to_def(self.input_names(node))?);
        }
        Ok(def)
    }

    /// A node as a message.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the graph has no such node; UNIMPLEMENTED if an attr holds a variant that no message can hold.
    pub fn node_def(&self, id: NodeId) -> Result<NodeDef> {
        self.check_node(id)?;
        let node = self.node(id);
        node.to_def(self.input_names(node))
    }

    /// Where a node's inputs come from, as a NodeDef has them.
    pub(crate) fn input_names(&self, node: &Node) -> Vec<String> {
        let mut names: Vec<String> = node.inputs.iter().map(|&output| self.output_name(output)).collect();
        names.extend(node.control_inputs.iter().map(|&control| format!("^{}", self.node(control).name)));
        names
    }
}

impl RawConstruction<'_> {
    /// The node as a message, made for the caller. Its inputs and its device are those that
    /// [`RawConstruction::requested_inputs`] and [`RawConstruction::requested_device`] tell.
    ///
    /// # Errors
    /// UNIMPLEMENTED if an attr holds a variant that no message can hold.
    pub fn node_def(&self) -> Result<NodeDef> {
        Ok(NodeDef {
            name: self.node.to_owned(),
            op: self.op.name.to_string(),
            input: self.requested_inputs(),
            device: self.requested_device().to_owned(),
            attr: attr_messages(self.attrs)?,
            experimental_debug_info: None,
        })
    }
}

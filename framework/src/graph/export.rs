//! A [`Graph`] becomes a `GraphDef`.

use super::Graph;
use crate::error::Result;
use crate::proto::GraphDef;

impl Graph {
    /// The graph as a message.
    ///
    /// # Errors
    /// UNIMPLEMENTED if an attr holds a variant tensor.
    pub fn to_def(&self) -> Result<GraphDef> {
        let library = self.functions.as_ref().map(|functions| functions.def.clone());
        let mut def = GraphDef { versions: Some(self.versions.clone()), library, ..GraphDef::default() };
        for node in &self.nodes {
            let mut input: Vec<String> = node.inputs.iter().map(|&output| self.output_name(output)).collect();
            input.extend(node.control_inputs.iter().map(|&control| format!("^{}", self.node(control).name)));
            def.node.push(node.to_def(input)?);
        }
        Ok(def)
    }
}

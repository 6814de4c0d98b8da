//! What is needed for gradients that nodes ask for as they run.

use kernlink_spec::SelectedLine;

use super::Walk;
use super::derived::DerivedGradient;
use crate::attr::{AttrMap, AttrValue, FunctionRef};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::proto::{GraphDef, NodeDef};

/// How many gradients are derived for one graph: functions can be written that ask for ever new ones.
const MAX_GRADIENTS: usize = 4096;

impl Walk<'_, '_, '_> {
    /// Notes what the gradient needs that a node asks for, unless the same was asked for before, or that depends on an attr that
    /// nobody gave.
    pub(super) fn derive(&mut self, node: &NodeDef, attrs: &AttrMap) -> Result<()> {
        let dtypes = |name: &str| match attrs.get(name) {
            Some(AttrValue::ListType(dtypes)) => Some(dtypes.as_slice()),
            Some(AttrValue::EmptyList) => Some(&[][..]),
            _ => None,
        };
        let (Some(AttrValue::Func(call)), Some(takes), Some(returns)) = (attrs.get("f"), dtypes("Tin"), dtypes("Tout"))
        else {
            return Ok(());
        };
        if is_open(call) || !self.derived.asked.insert(format!("{call:?} {takes:?} {returns:?}")) {
            return Ok(());
        }
        let fault = |error: Error| error.at_node(&node.name, &node.op, &node.device);
        let Some(derive) = self.needs.derive else {
            return Err(fault(Error::failed_precondition(
                "it asks for a gradient that is derived as it runs: `Needs::with_gradients(kernlink::gradient::derive_gradient)` \
                 derives it to see what it is made of",
            )));
        };
        if self.derived.asked.len() > MAX_GRADIENTS {
            return Err(fault(Error::resource_exhausted(format!(
                "the graph asks for more than {MAX_GRADIENTS} gradients: what they need may have no end"
            ))));
        }
        let library = match &mut self.derived.library {
            Some(library) => library,
            none => {
                let GraphDef { library, versions, .. } = self.derived.def;
                let (library, versions) = (library.clone(), versions.clone());
                let def = GraphDef { library, versions, ..GraphDef::default() };
                none.insert(Graph::import(&def, self.needs.registry)?)
            }
        };
        match library.all_or_nothing(|graph| derive(graph, call, takes, returns)) {
            Ok(DerivedGradient { function, ops }) => {
                let declared = |op: &&&str| self.needs.registry.find_op(op).is_some_and(|entry| !entry.system);
                let lines = ops.iter().filter(declared);
                self.lines.extend(lines.map(|op| SelectedLine { op: (*op).to_owned(), kernel: None }));
                self.call(&function.name, function.attrs.into_iter().collect())
            }
            Err(error) => {
                self.needs.underived.insert(fault(error).to_string());
                Ok(())
            }
        }
    }
}

/// Whether a function is called with an attr that is not known.
fn is_open(call: &FunctionRef) -> bool {
    let is_unknown =
        |value: &AttrValue| matches!(value, AttrValue::Placeholder(_)) || value.functions().iter().any(is_open);
    call.attrs.values().any(is_unknown)
}

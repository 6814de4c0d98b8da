//! Variables of a graph that is there already: imported with variables, or frozen with constants in their places.

use std::collections::{HashMap, HashSet};

use kernlink::dtype::DataType;
use kernlink::graph::{Graph, Node, NodeClass, NodeId, Output, Renumbering};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use kernlink::{Result, bail, ensure};

use super::variable::{Variable, Variables, has_gradients};
use crate::{assign_variable_op, read_variable_op, var_handle_op};

/// The handles of variables.
fn handles(graph: &Graph) -> impl Iterator<Item = NodeId> {
    graph.ids().filter(|&id| graph.node(id).class == NodeClass::VarHandle)
}

/// The name by which the variable of a handle is shared.
fn shared_name(node: &Node) -> String {
    let name = node.attrs.required::<String>("shared_name").unwrap_or_default();
    if name.is_empty() { node.name.clone() } else { name }
}

impl Variables<Graph> {
    /// Takes over the variables that an imported graph has, its `VarHandleOp` nodes, by the names by which they are shared;
    /// those in functions are left alone. `is_trainable` says by its name whether optimisers change one; one of a dtype without
    /// gradients is never trained. They keep the values that they have: [`Variables::initializer`] leaves them alone.
    ///
    /// # Errors
    /// ALREADY_EXISTS if there is another one of the name; INVALID_ARGUMENT if a variable's shape is not known. Then none was taken.
    pub fn adopt(&mut self, graph: &Graph, is_trainable: impl Fn(&str) -> bool) -> Result<()> {
        let before = self.mark();
        // Several nodes may be handles of one variable.
        let mut adopted = HashMap::new();
        let mut adopt = |variables: &mut Self, id: NodeId| -> Result<()> {
            let node = graph.node(id);
            let name = shared_name(node);
            let container = node.attrs.required::<String>("container").unwrap_or_default();
            let shape = node.attrs.required::<PartialShape>("shape")?;
            let Some(shape) = shape.to_shape() else {
                bail!(InvalidArgument, "variable `{name}` cannot be trained: its shape {shape} is not known")
            };
            let (handle, dtype) = (Output { node: id, index: 0 }, node.attrs.required::<DataType>("dtype")?);
            let about = (container, dtype, shape.clone());
            if adopted.get(&name) == Some(&about) {
                return Ok(());
            }
            let is_trainable = has_gradients(dtype) && is_trainable(&name);
            variables.insert(Variable { name: name.as_str().into(), handle, dtype, shape, is_trainable }, None)?;
            adopted.insert(name, about);
            Ok(())
        };
        handles(graph).try_for_each(|id| adopt(self, id)).inspect_err(|_| self.return_to(before))
    }

    /// Makes trainable variables of constants, so that a frozen graph can be trained: of those for whose name and value
    /// `is_variable` holds, where their dtype has gradients. The constant is the first value, which
    /// [`Variables::initializer`] gives; all else that used it reads the variable. Constants in functions stay as they are.
    ///
    /// Nodes move: the result tells where those are that were known before.
    ///
    /// # Errors
    /// ALREADY_EXISTS if there is a variable of a constant's name, or the graph has one. Then the graph is as it was.
    pub fn unfreeze(&mut self, graph: &mut Graph, is_variable: impl Fn(&str, &Tensor) -> bool) -> Result<Renumbering> {
        let before = self.mark();
        let constants: Vec<(Output, Tensor)> = graph
            .ids()
            .map(|node| Output { node, index: 0 })
            .filter(|output| graph.node(output.node).class == NodeClass::Constant)
            .filter_map(|output| Some((output, graph.constant(output)?.clone())))
            .filter(|(_, value)| has_gradients(value.dtype()))
            .filter(|(output, value)| is_variable(&graph.node(output.node).name, value))
            .collect();
        let taken: HashSet<String> = handles(graph).map(|id| shared_name(graph.node(id))).collect();
        let mut patch = graph.patch();
        let added = constants.into_iter().try_for_each(|(constant, value)| {
            let name = patch.node(constant.node).name.clone();
            ensure!(
                !taken.contains(&name),
                AlreadyExists,
                "the graph has a variable `{name}` beside the constant of that name"
            );
            let (dtype, shape) = (value.dtype(), value.shape().clone());
            patch.beside(constant.node);
            let handle = var_handle_op(&mut patch, dtype, shape.clone()).shared_name(&name);
            let handle = handle.name(&format!("{name}/Handle")).build()?;
            let read = read_variable_op(&mut patch, handle, dtype).name(&format!("{name}/Read")).build()?;
            let assign = assign_variable_op(&mut patch, handle, constant).name(&format!("{name}/Assign")).build()?;
            patch.replace_uses(constant, read);
            let variable = Variable { name: name.into(), handle, dtype, shape, is_trainable: true };
            self.insert(variable, Some(assign))
        });
        let renumbering = added.and_then(|()| patch.apply()).inspect_err(|_| self.return_to(before))?;
        self.renumber(&renumbering);
        Ok(renumbering)
    }
}

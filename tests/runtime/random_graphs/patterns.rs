//! Puts the examples of rewrites into random graphs, with values of these for what is fed: as they are, with another
//! constant, or with another user of what is inside.

use std::sync::OnceLock;

use kernlink::graph::{NodeBuilder, NodeClass, NodeInput, Operand};
use kernlink::prelude::*;
use kernlink::testing::graph_from_lines;

use super::material::tensor;
use super::write::Writer;
use crate::rewrite_examples::EXAMPLES;

/// The graphs of all examples.
fn examples() -> &'static [Graph] {
    static ALL: OnceLock<Vec<Graph>> = OnceLock::new();
    ALL.get_or_init(|| {
        EXAMPLES.iter().map(|example| graph_from_lines(example.text, super::registry()).unwrap().0).collect()
    })
}

impl Writer {
    /// Adds the nodes of an example, and gives the outputs of the last.
    pub(super) fn pattern(&mut self, graph: &mut Graph) -> Result<Vec<Output>> {
        let number = self.random.next();
        self.pattern_of(graph, number)
    }

    /// [`Writer::pattern`] of the example with this number, from 0 again after the last.
    pub(super) fn pattern_of(&mut self, graph: &mut Graph, number: u64) -> Result<Vec<Output>> {
        let all = examples();
        let pattern = &all[(number % all.len() as u64) as usize];
        let mut placed: Vec<Vec<Output>> = Vec::new();
        for id in pattern.ids() {
            let node = pattern.node(id);
            let outputs = match node.class {
                NodeClass::Placeholder => vec![self.given(graph, pattern, id)?],
                NodeClass::Constant if self.seldom(40) => {
                    let value = pattern.constant(Output { node: id, index: 0 }).expect("a constant");
                    let other = tensor(value.dtype(), value.shape().dims(), &mut self.random);
                    vec![ops::constant(graph, other)?]
                }
                _ => {
                    let inputs = |builder: &mut NodeBuilder<'_>| {
                        for (argument, range) in node.op.def.inputs.iter().zip(&node.signature.input_ranges) {
                            let given = node.inputs[range.clone()].iter();
                            let given: Vec<Output> = given.map(|x| placed[x.node.index()][x.index]).collect();
                            let operands = given.iter().map(|&input| Operand::Value(input)).collect();
                            builder.operands(match &given[..] {
                                [input] if !argument.is_list() => NodeInput::Single(Operand::Value(*input)),
                                _ => NodeInput::List(operands),
                            });
                        }
                    };
                    let attrs: Vec<(&str, _)> = node.attrs.iter().map(|(name, value)| (name, value.clone())).collect();
                    self.node_of(graph, &node.op.def.name, &inputs, &attrs)?
                }
            };
            placed.push(outputs);
        }
        // What is inside may have other users.
        if self.seldom(4) {
            let inside = placed[self.random.below(placed.len())][0];
            self.values.push(inside);
        }
        Ok(placed.pop().unwrap_or_default())
    }

    /// What takes the place of a placeholder: of its shape, if it declares one.
    fn given(&mut self, graph: &mut Graph, pattern: &Graph, placeholder: NodeId) -> Result<Output> {
        let output = Output { node: placeholder, index: 0 };
        let dtype = pattern.node(placeholder).signature.outputs[0].dtype;
        let x = self.value(graph, &[dtype])?;
        match pattern.shape(output).to_shape() {
            Some(shape) => {
                let axes: Vec<i32> = (0..).take(graph.shape(x).rank().unwrap_or(0)).collect();
                let axes = ops::constant(graph, &axes[..])?;
                let scale = ops::max(graph, x, axes).build()?;
                let all = tensor(dtype, shape.dims(), &mut self.random);
                let all = ops::constant(graph, all)?;
                ops::mul(graph, all, scale).build()
            }
            None => Ok(x),
        }
    }
}

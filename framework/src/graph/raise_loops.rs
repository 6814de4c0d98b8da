//! Loops of `Enter`, `Merge`, `Switch`, `NextIteration` and `Exit` made `While` nodes, whose condition and body are functions.
//!
//! A loop is found by the name of its frame. Its variables are the `Merge` nodes that a `NextIteration` leads back to; what constant
//! `Enter` nodes bring in the functions capture.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::copy::copy_node;
use super::frames::{FrameFault, Frames, Passage};
use super::{Graph, Node, NodeClass, NodeId, Output, Renumbering, TensorSpec, created};
use crate::attr::{AttrMap, AttrValue};
use crate::error::{Error, Result, shortened};
use crate::graph::NodeBuilder;
use crate::op::OpDef;
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// The most elements of a constant that a function has itself, rather than being given it.
const SMALL: usize = 64;

/// A variable of a loop.
struct Variable {
    enter: NodeId,
    merge: NodeId,
    /// What it becomes in the next iteration.
    next: Output,
}

/// A loop that has no others in it.
struct Loop {
    name: String,
    /// The nodes in its frame, in order.
    nodes: Vec<NodeId>,
    enters: Vec<NodeId>,
    variables: Vec<Variable>,
    cond: NodeId,
    parallel_iterations: i64,
}

impl Graph {
    /// Makes a `While` node, or a `StatelessWhile`, of each loop that `Enter` leads into: one of TensorFlow 1, which has no gradient
    /// as it is. What an `Exit` gave, an `Identity` of its name gives; the other nodes of loops are gone, and ids change, as
    /// the renumbering tells.
    ///
    /// # Errors
    /// UNIMPLEMENTED if a loop is not of the form that TensorFlow's `while_loop` makes, or has variables that are references. The graph
    /// stays as it was then.
    pub fn raise_loops(&mut self) -> Result<Renumbering> {
        let mut all = Renumbering::identity(self);
        let is_loop = |graph: &Graph| graph.nodes.iter().any(|node| node.class == NodeClass::Enter);
        if !is_loop(self) {
            return Ok(all);
        }
        let mut graph = self.clone();
        while is_loop(&graph) {
            let inner = graph.innermost_loop()?;
            let within = |error: Error| error.context(format!("in the loop of frame `{}`", shortened(&inner.name)));
            let step = graph.raise(&inner).map_err(within)?;
            all = all.then(&step);
        }
        *self = graph;
        Ok(all)
    }

    fn innermost_loop(&self) -> Result<Loop> {
        let name = |node: &Node| node.attrs.required::<String>("frame_name").unwrap_or_default();
        let names: Vec<String> = self.nodes.iter().map(name).collect();
        let sources = |index: usize| {
            let node = &self.nodes[index];
            let controls = node.control_inputs.iter().map(|control| control.index());
            node.inputs.iter().map(|input| input.node.index()).chain(controls)
        };
        let passage = |index: usize| match self.nodes[index].class {
            NodeClass::Enter => Passage::Enters(names[index].as_bytes()),
            NodeClass::Exit => Passage::Exits,
            NodeClass::NextIteration => Passage::GoesBack,
            NodeClass::Constant => Passage::Anywhere,
            _ => Passage::Stays,
        };
        let frames = Frames::find(0..self.nodes.len(), self.nodes.len(), sources, passage);
        let frames = frames.map_err(|fault| match fault {
            FrameFault::Different { node, .. } | FrameFault::NoLoop { node } => {
                Error::invalid_argument(format!("`{}` is in no one loop", self.nodes[node].name))
            }
        })?;
        let is_outer: BTreeSet<usize> = frames.sites.iter().skip(1).map(|site| site.parent).collect();
        let frame = (1..frames.sites.len()).rev().find(|frame| !is_outer.contains(frame));
        let frame = frame.ok_or_else(|| Error::internal("a loop that was not found"))?;
        let (mut nodes, mut enters) = (Vec::new(), Vec::new());
        for (id, place) in self.ids().zip(&frames.of) {
            match place {
                Some(place) if place.own == frame => nodes.push(id),
                Some(place) if place.outputs == frame => enters.push(id),
                _ => {}
            }
        }
        self.loop_of(&String::from_utf8_lossy(frames.sites[frame].name), nodes, enters)
    }

    fn loop_of(&self, name: &str, nodes: Vec<NodeId>, enters: Vec<NodeId>) -> Result<Loop> {
        let unlike = |what: &str| Error::unimplemented(format!("loop `{}`: {what}", shortened(name)));
        let mut variables = Vec::new();
        for &merge in nodes.iter().filter(|id| self.node(**id).class == NodeClass::Merge) {
            let [first, last] = self.node(merge).inputs[..] else { continue };
            let next = self.node(last.node);
            if next.class != NodeClass::NextIteration {
                continue;
            }
            if !enters.contains(&first.node) {
                return Err(unlike("a variable that does not begin with an `Enter`"));
            }
            variables.push(Variable { enter: first.node, merge, next: next.inputs[0] });
        }
        let mut conds = nodes.iter().copied().filter(|id| self.node(*id).class == NodeClass::LoopCond);
        let (Some(cond), None) = (conds.next(), conds.next()) else {
            return Err(unlike("it has not one `LoopCond`"));
        };
        let is_plain = |id: &NodeId| self.node(*id).signature.outputs.iter().all(|slot| !slot.is_ref);
        if !enters.iter().chain(&nodes).all(is_plain) {
            return Err(unlike("it has references, which functions do not take"));
        }
        let brought = |id: &NodeId| {
            matches!(self.node(*id).attrs.get("is_constant"), Some(AttrValue::Bool(true)))
                || variables.iter().any(|variable| variable.enter == *id)
        };
        if !enters.iter().all(brought) {
            return Err(unlike("an `Enter` that is neither constant nor leads to a variable"));
        }
        let parallel = enters.first().and_then(|id| self.node(*id).attrs.required("parallel_iterations").ok());
        Ok(Loop { name: name.to_owned(), nodes, enters, variables, cond, parallel_iterations: parallel.unwrap_or(10) })
    }

    fn raise(&mut self, inner: &Loop) -> Result<Renumbering> {
        let mut specs = Vec::new();
        for variable in &inner.variables {
            let merge = Output { node: variable.merge, index: 0 };
            specs.push(TensorSpec::like(self, merge)?.name(&self.node(variable.enter).name));
        }
        let in_body = inner.nodes_of_body(self);
        let cond_result = self.node(inner.cond).inputs[0];
        let (cond, _) = self.trace(specs.clone(), |graph, arguments| {
            let mut copies = Copies::new(graph, inner, &arguments, None)?;
            copies.add(graph, inner, &[cond_result], &inner.effects(graph, &in_body, false))?;
            copies.value(cond_result)
        })?;
        let results: Vec<Output> = inner.variables.iter().map(|variable| variable.next).collect();
        let (mut body, _) = self.trace(specs, |graph, arguments| {
            let yes = graph.registry().op(created::CONSTANT)?.def;
            let mut yes = NodeBuilder::new(graph, yes);
            yes.name("continues").attr("dtype", crate::dtype::DataType::Bool).attr("value", Tensor::scalar(true));
            let yes = yes.build_output()?;
            let mut copies = Copies::new(graph, inner, &arguments, Some(yes))?;
            copies.add(graph, inner, &results, &inner.effects(graph, &in_body, true))?;
            results.iter().map(|&result| copies.value(result)).collect::<Result<Vec<_>>>()
        })?;
        let mut captures: Vec<Output> = cond.captures().to_vec();
        captures.extend(body.captures().iter().filter(|capture| !cond.captures().contains(capture)));
        for &capture in &captures {
            body.add_result(self, capture)?;
        }
        let base = inner.name.rsplit('/').find(|part| !part.is_empty()).unwrap_or("while").to_owned();
        let define = |graph: &mut Graph, suffix: &str, trace| {
            let name = graph.free_function_name(&format!("{base}_{suffix}"));
            graph.define(&name, trace, &captures, &AttrMap::new())
        };
        let (cond, body) = (define(self, "cond", &cond)?, define(self, "body", &body)?);
        let shapes = inner.variables.iter().map(|variable| Output { node: variable.merge, index: 0 });
        let shapes: Vec<PartialShape> =
            shapes.chain(captures.iter().copied()).map(|output| self.shape(output).clone()).collect();
        let is_stateful = cond.is_stateful() || body.is_stateful();
        let op = self.registry.op(if is_stateful { created::WHILE } else { created::STATELESS_WHILE })?.def;
        let identity = self.registry.op(created::IDENTITY)?.def;
        let inputs = inner.variables.iter().map(|variable| self.node(variable.enter).inputs[0]);
        let inputs: Vec<Output> = inputs.chain(captures.iter().copied()).collect();
        self.replace_loop(inner, op, identity, inputs, |node| {
            node.attr("cond", cond.reference()).attr("body", body.reference()).attr("output_shapes", shapes);
            node.attr("parallel_iterations", inner.parallel_iterations);
        })
    }

    /// Puts the node in the place of the loop.
    fn replace_loop(
        &mut self,
        inner: &Loop,
        op: &'static OpDef,
        identity: &'static OpDef,
        inputs: Vec<Output>,
        set: impl FnOnce(&mut NodeBuilder<'_, super::GraphPatch<'_>>),
    ) -> Result<Renumbering> {
        let name = self.free_name(&format!("{}/while", inner.name.trim_end_matches('/')));
        let first = inner.enters.first().copied();
        let waits: Vec<NodeId> =
            inner.enters.iter().flat_map(|id| self.node(*id).control_inputs.iter().copied()).collect();
        let mut patch = self.patch();
        if let Some(first) = first {
            patch.beside(first);
        }
        let mut node = NodeBuilder::new(&mut patch, op);
        node.name(&name).input_list(inputs);
        set(&mut node);
        waits.into_iter().for_each(|wait| _ = node.control_input(wait));
        let node = node.build()?;
        for &id in &inner.nodes {
            if patch.node(id).class == NodeClass::Exit {
                let left = patch.node(id).inputs[0];
                let chosen = patch.node(left.node);
                let index = chosen.inputs.first().and_then(|value| {
                    inner.variables.iter().position(|v| Output { node: v.merge, index: 0 } == *value)
                });
                let (true, 0, Some(index)) = (chosen.class == NodeClass::Switch, left.index, index) else {
                    return Err(Error::unimplemented("something that is no variable leaves the loop"));
                };
                let mut exit = NodeBuilder::new(&mut patch, identity);
                exit.input(Output { node, index });
                let exit = exit.build()?;
                patch.replace_node(id, exit);
            } else {
                patch.redirect_controls(id, &[node]).remove(id);
            }
        }
        for &id in &inner.enters {
            patch.redirect_controls(id, &[node]).remove(id);
        }
        patch.apply()
    }
}

impl Loop {
    /// The nodes that run only if the loop goes on.
    fn nodes_of_body(&self, graph: &Graph) -> BTreeSet<NodeId> {
        let mut body: BTreeSet<NodeId> = BTreeSet::new();
        for &id in &self.nodes {
            let node = graph.node(id);
            let is_chosen = |output: &Output| {
                let source = graph.node(output.node);
                source.class == NodeClass::Switch
                    && output.index == 1
                    && source.inputs.get(1).is_some_and(|pred| pred.node == self.cond)
            };
            if node.class == NodeClass::Merge && self.variables.iter().any(|variable| variable.merge == id) {
                continue;
            }
            let depends = node.inputs.iter().any(|input| is_chosen(input) || body.contains(&input.node))
                || node.control_inputs.iter().any(|control| body.contains(control));
            if depends {
                body.insert(id);
            }
        }
        body
    }

    /// Whether a node is part of the loop itself, and not of what it does.
    fn is_own(&self, graph: &Graph, id: NodeId) -> bool {
        let node = graph.node(id);
        match node.class {
            NodeClass::Merge => self.variables.iter().any(|variable| variable.merge == id),
            NodeClass::Switch => node.inputs.get(1).is_some_and(|pred| pred.node == self.cond),
            NodeClass::LoopCond | NodeClass::Exit | NodeClass::NextIteration => true,
            _ => false,
        }
    }

    /// The nodes of the condition or of the body that run whether or not something takes their outputs.
    fn effects(&self, graph: &Graph, in_body: &BTreeSet<NodeId>, of_body: bool) -> Vec<NodeId> {
        let has_effect = |id: &&NodeId| {
            let node = graph.node(**id);
            node.op.def.is_stateful && in_body.contains(*id) == of_body
        };
        self.nodes.iter().filter(has_effect).copied().collect()
    }
}

/// Nodes of a loop in a function.
struct Copies {
    values: HashMap<Output, Output>,
    nodes: HashMap<NodeId, NodeId>,
}

impl Copies {
    /// `yes` is what the condition has said in the body.
    fn new(graph: &Graph, inner: &Loop, arguments: &[Output], yes: Option<Output>) -> Result<Copies> {
        let mut values = HashMap::new();
        for (variable, &argument) in inner.variables.iter().zip(arguments) {
            values.insert(Output { node: variable.merge, index: 0 }, argument);
        }
        for &enter in &inner.enters {
            // A function captures what comes from outside.
            values.insert(Output { node: enter, index: 0 }, graph.node(enter).inputs[0]);
        }
        values.extend(yes.map(|yes| (Output { node: inner.cond, index: 0 }, yes)));
        let mut copies = Copies { values, nodes: HashMap::new() };
        for &id in inner.nodes.iter().filter(|_| yes.is_some()) {
            // What goes on with the loop is what it is.
            let node = graph.node(id);
            if node.class == NodeClass::Switch && node.inputs[1].node == inner.cond {
                let value = copies.values.get(&node.inputs[0]).copied();
                copies.values.extend(value.map(|value| (Output { node: id, index: 1 }, value)));
            }
        }
        Ok(copies)
    }

    fn value(&self, output: Output) -> Result<Output> {
        // What is in no frame is captured.
        Ok(self.values.get(&output).copied().unwrap_or(output))
    }

    /// Copies what some outputs and nodes need.
    fn add(&mut self, graph: &mut Graph, inner: &Loop, outputs: &[Output], effects: &[NodeId]) -> Result<()> {
        let waited_for: HashSet<NodeId> = inner.nodes.iter().copied().filter(|id| !inner.is_own(graph, *id)).collect();
        let mut needed: BTreeSet<NodeId> = BTreeSet::new();
        let mut pending: Vec<NodeId> = effects.to_vec();
        let is_needed = |copies: &Copies, output: &Output| !copies.values.contains_key(output);
        pending.extend(outputs.iter().filter(|output| is_needed(self, output)).map(|output| output.node));
        while let Some(id) = pending.pop() {
            let node = graph.node(id);
            if self.is_outside(graph, id) || !needed.insert(id) {
                continue;
            }
            let unlike = matches!(
                node.class,
                NodeClass::Merge | NodeClass::Enter | NodeClass::Exit | NodeClass::NextIteration | NodeClass::LoopCond
            );
            if unlike && !is_join(graph, node) {
                return Err(Error::unimplemented(format!(
                    "`{}` (op {}) stands where TensorFlow's `while_loop` puts none",
                    node.name, node.op.def.name
                )));
            }
            pending.extend(node.inputs.iter().filter(|input| is_needed(self, input)).map(|input| input.node));
            // A branch within the loop is known by what its nodes wait for.
            pending.extend(node.control_inputs.iter().filter(|control| waited_for.contains(control)));
        }
        for id in needed {
            let node = graph.node(id).clone();
            let inputs = node.inputs.iter().map(|&input| self.value(input)).collect::<Result<Vec<_>>>()?;
            let controls: Vec<NodeId> =
                node.control_inputs.iter().filter_map(|control| self.nodes.get(control).copied()).collect();
            let name = graph.free_name(&node.name);
            let copy = copy_node(graph, &node, Some(&name), &inputs, &controls, [])?;
            self.nodes.insert(id, copy);
            for index in 0..node.signature.outputs.len() {
                self.values.insert(Output { node: id, index }, Output { node: copy, index });
            }
        }
        Ok(())
    }

    /// Whether a node stays where it is: a large constant, which the function is given.
    fn is_outside(&self, graph: &Graph, id: NodeId) -> bool {
        let node = graph.node(id);
        let is_small = |shape: &PartialShape| shape.to_shape().is_some_and(|shape| shape.num_elements() <= SMALL);
        node.class == NodeClass::Constant && node.control_inputs.is_empty() && !node.output_shapes.iter().all(is_small)
    }
}

/// Whether a node joins branches, and leads into no loop.
fn is_join(graph: &Graph, node: &Node) -> bool {
    node.class == NodeClass::Merge
        && node.inputs.iter().all(|input| graph.node(input.node).class != NodeClass::NextIteration)
}

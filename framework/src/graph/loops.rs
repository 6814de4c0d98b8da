//! Loops of `Enter`, `Merge`, `Switch`, `NextIteration` and `Exit`: edges that go back, and shapes that hold in every
//! iteration.

use std::collections::HashMap;

use super::call::{relax, unknown};
use super::infer::{Scope, Site};
use super::remembered::Known;
use super::{Graph, NodeClass, NodeId, Output};
use crate::error::{Error, Result};

/// How often loops are inferred before what still changes is given up.
const MAX_ROUNDS: usize = 8;

/// How often loops are inferred before all their variables are given up: variables that pass their values on to each
/// other may change one by one.
const LAST_ROUND: usize = 2 * MAX_ROUNDS;

impl Graph {
    /// Checks the edges that go back, now that their sources are there, and infers what holds in every iteration.
    ///
    /// The shape functions of `Enter` and `Merge` know nothing of a loop's variables, and so do all nodes in a loop
    /// after a first pass. Here the variables start with the shapes that enter the loop and lose what an iteration
    /// changes. If that meets an error, as a loop that never runs may, what the first pass found stays.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if an edge that goes back comes from an output of another dtype.
    pub(super) fn close_loops(&mut self, scope: &Scope<'_>) -> Result<()> {
        let merges: Vec<NodeId> = self.ids().filter(|&id| self.has_back_edge(id)).collect();
        for &id in &merges {
            let node = self.node(id);
            let context = |error: Error| error.at_node(&node.name, &node.op.def.name, &node.device);
            self.check_inputs(node.op.def, node.class, &node.signature, &node.inputs).map_err(context)?;
        }
        if merges.is_empty() {
            return Ok(());
        }
        let mut refined = self.clone();
        if refined.refine_loops(scope).is_ok() {
            *self = refined;
        }
        Ok(())
    }

    /// Whether a node takes an input from a node behind it.
    pub fn has_back_edge(&self, id: NodeId) -> bool {
        self.node(id).inputs.iter().any(|input| input.node >= id)
    }

    /// The nodes of which more is known once the variables of loops are: those that lead back to one, and the others.
    fn touched_by_loops(&self) -> (Vec<NodeId>, Vec<NodeId>) {
        let mut touched = vec![false; self.nodes.len()];
        let mut leads_back = vec![false; self.nodes.len()];
        for id in self.ids() {
            let node = self.node(id);
            let is_variable = self.has_back_edge(id);
            touched[id.index()] = is_variable
                || node.class == NodeClass::Enter
                || node.inputs.iter().any(|input| touched[input.node.index()]);
            if is_variable {
                leads_back[id.index()] = true;
                node.inputs.iter().for_each(|input| leads_back[input.node.index()] = true);
            }
        }
        for (index, node) in self.nodes.iter().enumerate().rev() {
            if leads_back[index] {
                node.inputs.iter().for_each(|input| leads_back[input.node.index()] = true);
            }
        }
        self.ids().filter(|id| touched[id.index()]).partition(|id| leads_back[id.index()])
    }

    /// Infers the nodes that lead back to a loop's variable until nothing changes, and then those behind.
    fn refine_loops(&mut self, scope: &Scope<'_>) -> Result<()> {
        let (inside, behind) = self.touched_by_loops();
        let mut symbols = self.next_symbol;
        let own_from = symbols;
        let mut variables: HashMap<NodeId, Known> = HashMap::new();
        for round in 0.. {
            // Values that the shapes of an earlier round told need not hold in this one.
            self.constants = super::Constants::default();
            let mut changed = false;
            for &id in &inside {
                if !self.has_back_edge(id) {
                    self.refine(id, scope, &mut symbols)?;
                    continue;
                }
                let before = variables.get(&id);
                let mut now = self.merged(id, before, round > 0, own_from, &mut symbols);
                let is_new = before != Some(&now);
                if round == LAST_ROUND || (round >= MAX_ROUNDS && is_new) {
                    now = unknown(&mut symbols);
                }
                if round == LAST_ROUND || is_new {
                    changed = true;
                    variables.insert(id, now.clone());
                }
                self.note(Output { node: id, index: 0 }, now);
            }
            if !changed {
                break;
            }
        }
        for id in behind {
            self.refine(id, scope, &mut symbols)?;
        }
        self.next_symbol = symbols;
        self.constants = super::Constants::default();
        Ok(())
    }

    /// What is known of a loop's variable: what `before` says and all inputs agree to.
    fn merged(&self, id: NodeId, before: Option<&Known>, back: bool, own_from: u64, symbols: &mut u64) -> Known {
        let inputs = self.node(id).inputs.iter().filter(|input| back || input.node < id);
        let mut merged = before.cloned();
        for &input in inputs {
            let known = self.known(input, symbols);
            merged = Some(match merged {
                None => known,
                Some(merged) => relax(&merged, &known, own_from, symbols),
            });
        }
        merged.unwrap_or_else(|| unknown(symbols))
    }

    /// Infers a node once more.
    fn refine(&mut self, id: NodeId, scope: &Scope<'_>, symbols: &mut u64) -> Result<()> {
        for (index, known) in self.infer_again(id, scope, symbols)?.into_iter().enumerate() {
            self.note(Output { node: id, index }, known);
        }
        Ok(())
    }

    /// What will be known of a node's outputs, now that more is known of its inputs. An `Enter` passes its input on.
    pub(super) fn infer_again(&self, id: NodeId, scope: &Scope<'_>, symbols: &mut u64) -> Result<Vec<Known>> {
        let node = self.node(id);
        if let (NodeClass::Enter, [input]) = (node.class, &node.inputs[..]) {
            return Ok(vec![self.known(*input, symbols)]);
        }
        let (op, class, attrs) = (node.op, node.class, &node.attrs);
        let site = Site { name: &node.name, op, class, attrs, signature: &node.signature, inputs: &node.inputs };
        let mut known = self.infer(&site, scope, symbols)?;
        if scope.call.is_none() && class != NodeClass::Arg {
            Graph::merge_output_shapes_attr(&site, &mut known, symbols);
        }
        Ok(known)
    }
}

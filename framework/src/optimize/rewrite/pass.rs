//! The pass that makes all rewrites.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use super::def::{Replacement, RewriteDef, rewrites};
use super::guards::{self, Known};
use super::matching::{Bound, each_match};
use super::pattern::{OperandPattern, Pattern};
use super::scope::Rewrite;
use super::view::{State, View};
use crate::error::{Error, Result, catch_panic};
use crate::graph::{Graph, GraphPatch, NodeClass, NodeId, Output};
use crate::op::OpDef;
use crate::optimize::devices::has_kernels;
use crate::optimize::pass::{Choice, Ends, Pass, Tally};
use crate::sort::CompactSort as _;

/// The name of the pass.
pub(in crate::optimize) const REWRITE: &str = "rewrite";

pub(in crate::optimize) struct Rewrites;

/// So many ways in which a pattern matches at one root are tried.
const MAX_MATCHES: usize = 16;

impl Pass for Rewrites {
    fn name(&self) -> &'static str {
        REWRITE
    }

    fn summary(&self) -> &'static str {
        "puts better nodes in the place of a few that stand together, by the rewrites that are registered"
    }

    fn is_worthwhile(&self, graph: &Graph, nodes: &[NodeId]) -> bool {
        nodes.iter().any(|&id| at_root(graph, id).iter().any(|def| may_match(graph, &def.pattern, id)))
    }

    fn run(&self, patch: &mut GraphPatch<'_>, ends: &Ends) -> Result<usize> {
        self.run_chosen(patch, ends, &Choice::default(), &mut Tally::default())
    }

    /// Makes the rewrites of the highest benefit of which one applies, all along the graph: the others follow when it runs
    /// again.
    fn run_chosen(&self, patch: &mut GraphPatch<'_>, ends: &Ends, choice: &Choice, tally: &mut Tally) -> Result<usize> {
        let chosen = |def: &&'static RewriteDef| {
            !choice.without.contains(def.name)
                && (def.is_portable || !ends.is_written)
                && (!def.is_inexact || choice.inexact)
        };
        let needed = patch.needed(ends.feeds(), ends.fetches(), ends.targets());
        let mut by_benefit: BTreeMap<i32, BTreeMap<NodeId, Vec<&'static RewriteDef>>> = BTreeMap::new();
        for &id in &needed {
            let possible = at_root(patch, id).iter().copied().filter(chosen);
            for def in possible.filter(|def| may_match(patch, &def.pattern, id)) {
                by_benefit.entry(def.benefit).or_default().entry(id).or_default().push(def);
            }
        }
        if by_benefit.is_empty() {
            return Ok(0);
        }
        let state = State::new(patch, &needed, ends);
        let mut rewriter = Rewriter { patch, ends, state, known: Known::default(), tally };
        let mut changes = 0;
        for roots in by_benefit.values().rev() {
            for (&root, defs) in roots {
                for def in defs {
                    if rewriter.at(root, def)? {
                        changes += 1;
                        break;
                    }
                }
            }
            if changes > 0 {
                return Ok(changes);
            }
        }
        Ok(0)
    }

    fn repeats(&self) -> bool {
        true
    }
}

/// The rewrites whose root may be a node.
fn at_root(graph: &Graph, id: NodeId) -> &'static [&'static RewriteDef] {
    /// By the address of the op's declaration.
    static BY_ROOT: OnceLock<HashMap<usize, Vec<&'static RewriteDef>>> = OnceLock::new();
    let address = |op: &'static OpDef| std::ptr::from_ref(op).addr();
    let by_root = BY_ROOT.get_or_init(|| {
        let mut by_root: HashMap<usize, Vec<_>> = HashMap::new();
        for &def in rewrites() {
            for op in def.pattern.nodes.first().map_or(&[][..], |root| root.ops) {
                by_root.entry(address(op)).or_default().push(def);
            }
        }
        by_root
    });
    by_root.get(&address(graph.node(id).op.def)).map_or(&[], Vec::as_slice)
}

/// Whether what the root of a pattern takes may be as the pattern says: a first look, which no replacement has changed.
fn may_match(graph: &Graph, pattern: &'static Pattern, root: NodeId) -> bool {
    let node = graph.node(root);
    let Some(first) = pattern.nodes.first() else { return false };
    first.matches(node)
        && first.inputs.iter().all(|input| {
            node.inputs.iter().any(|&given| match input.operand {
                OperandPattern::Node(number) => pattern.nodes[number].matches(graph.node(given.node)),
                OperandPattern::Constant(_) => graph.constant(given).is_some(),
                _ => true,
            }) || matches!(input.operand, OperandPattern::List(_) | OperandPattern::Each(_))
        })
}

/// Makes rewrites in a patch.
struct Rewriter<'r, 'g> {
    patch: &'r mut GraphPatch<'g>,
    ends: &'r Ends,
    state: State,
    known: Known,
    tally: &'r mut Tally,
}

impl Rewriter<'_, '_> {
    /// Makes a rewrite at a root if it applies there. Returns whether it did.
    fn at(&mut self, root: NodeId, def: &'static RewriteDef) -> Result<bool> {
        // Another rewrite may have left it without users.
        if !self.ends.holds(root) && self.state.all_uses(root) == 0 && self.state.waits(root) == 0 {
            return Ok(false);
        }
        let mut matches: Vec<Bound> = Vec::new();
        let view = View::new(self.patch, &self.state, self.ends);
        each_match(&view, &def.pattern, root, &mut |bound| {
            matches.push(bound.clone());
            matches.len() < MAX_MATCHES
        });
        for bound in matches {
            let allowed = guards::allow(self.patch, &self.state, self.ends, def, &bound, &mut self.known);
            if allowed && self.replace(root, def, &bound) {
                *self.tally.applied.entry(def.name).or_default() += 1;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Puts what the rewrite makes in the place of a match, unless it refuses or that does not do.
    fn replace(&mut self, root: NodeId, def: &'static RewriteDef, bound: &Bound) -> bool {
        let added = self.patch.nodes().len();
        let leaves = guards::leaves(self.patch, &self.state, bound);
        let awaited = &self.patch.node(root).control_inputs;
        let mut controls: Vec<NodeId> = awaited.iter().flat_map(|&id| self.state.awaited_for(id)).collect();
        controls.compact_sort();
        controls.dedup();
        self.patch.beside(root);
        let (state, ends) = (&self.state, self.ends);
        let (name, creates) = (def.name, def.creates);
        let mut rewrite = Rewrite { patch: self.patch, state, ends, name, creates, root, controls: &controls };
        let replacement = catch_panic("the function of the rewrite", || (def.apply)(&mut rewrite, bound));
        let replaced = replacement.and_then(|made| made.map_or(Ok(None), |made| self.pairs(root, made)));
        let replaced = replaced.unwrap_or_else(|error| {
            self.tally.fail(def.name, error);
            None
        });
        let done = replaced.is_some_and(|pairs| self.commit(root, &leaves, &pairs, !controls.is_empty(), added));
        // What was added for a match that is left as it is uses what another rewrite may remove.
        if !done && self.patch.nodes().len() > added {
            self.patch.take_back(added);
        }
        done
    }

    /// Which outputs take the place of which of the root; `None` if they do not fit what is known of this graph.
    ///
    /// # Errors
    /// INTERNAL if they would not fit in any graph: a fault of the rewrite.
    fn pairs(&self, root: NodeId, replacement: Replacement) -> Result<Option<Vec<(Output, Output)>>> {
        let count = self.patch.node(root).signature.outputs.len();
        let outputs = (0..count).map(|index| Output { node: root, index });
        let is_seen = |output: &Output| self.state.uses(*output) > 0 || self.ends.is_fetched(*output);
        let given = match replacement {
            Replacement::One(new) => {
                let seen: Vec<Output> = outputs.clone().filter(is_seen).collect();
                match seen[..] {
                    [old] => vec![(old, new)],
                    // It is waited for, or runs as a target.
                    [] => outputs.clone().next().map(|old| (old, new)).into_iter().collect(),
                    _ => return Ok(None),
                }
            }
            Replacement::All(new) if new.is_empty() || new.len() > count => {
                let message = format!("it gives {} outputs for the {count} of `{}`", new.len(), self.name(root));
                return Err(Error::internal(message));
            }
            Replacement::All(new) => {
                if outputs.clone().skip(new.len()).any(|output| is_seen(&output)) {
                    return Ok(None);
                }
                outputs.zip(new).collect()
            }
        };
        let pairs: Vec<(Output, Output)> =
            given.into_iter().map(|(old, new)| (old, self.state.used_for(new))).collect();
        for &(old, new) in &pairs {
            self.check_pair(root, old, new)?;
        }
        let fit = pairs.iter().all(|&(old, new)| guards::fits(self.patch, old, new));
        Ok((fit && !pairs.is_empty()).then_some(pairs))
    }

    /// Refuses what could not take the place of an output in any graph.
    fn check_pair(&self, root: NodeId, old: Output, new: Output) -> Result<()> {
        let dtype =
            |output: Output| self.patch.get(output.node)?.signature.outputs.get(output.index).map(|it| it.dtype);
        let root_name = || self.name(root);
        match (dtype(old), dtype(new)) {
            _ if new.node == root => {
                let message =
                    format!("it puts `{}` in its own place: a function that refuses returns None", root_name());
                Err(Error::internal(message))
            }
            (_, None) => {
                let message = format!(
                    "what it puts in the place of `{}` is no output of a node of this graph, or not any more",
                    root_name()
                );
                Err(Error::internal(message))
            }
            (Some(old), Some(new)) if old != new => {
                Err(Error::internal(format!("it puts {new} in the place of {old}, the dtype of `{}`", root_name())))
            }
            _ => Ok(()),
        }
    }

    fn name(&self, id: NodeId) -> &str {
        &self.patch.node(id).name
    }

    /// Notes the changes, if what takes the place of the match may.
    fn commit(
        &mut self,
        root: NodeId,
        leaves: &[Output],
        pairs: &[(Output, Output)],
        waits: bool,
        added: usize,
    ) -> bool {
        let (graph, ends): (&Graph, &Ends) = (self.patch, self.ends);
        let new: Vec<Output> = pairs.iter().map(|&(_, new)| new).collect();
        let Some(&first) = new.first() else { return false };
        let is_added = |output: &Output| output.node.index() >= added;
        let is_new = new.iter().all(is_added);
        let is_one = new.iter().all(|output| output.node == first.node);
        let is_seen = self.state.waits(root) > 0 || ends.targets().contains(&root);
        let adds = &graph.nodes()[added..];
        let allowed = adds.iter().all(|node| !node.op.def.is_stateful)
            && pairs.iter().all(|&(_, new)| guards::keeps_needs(graph, &self.state, ends, leaves, &[new], added))
            // Only nodes that are added wait for what the root waits for.
            && (is_new || !waits)
            // A constant that is added waits for nothing.
            && (!waits || new.iter().all(|output| graph.constant(*output).is_none()))
            && (!is_seen || (is_one && (is_new || guards::may_be_awaited(graph, ends, first))))
            && (new.iter().all(|output| !ends.is_fed(*output)) || !ends.is_partial)
            && !(ends.is_written && self.state.has_loops && adds.iter().any(|node| node.class == NodeClass::Constant))
            && has_kernels(graph, ends, root, added);
        // A graph that is written keeps the names of what is fetched, which a node must take over.
        let count = graph.node(root).signature.outputs.len();
        let takes_over = is_new
            && is_one
            && graph.node(first.node).signature.outputs.len() >= count
            && pairs.iter().all(|(old, new)| old.index == new.index);
        if !allowed || (ends.is_written && ends.holds(root) && !takes_over) {
            return false;
        }
        // Outputs that nobody sees need not fit.
        let all_fit = || {
            (0..count)
                .all(|index| guards::fits(graph, Output { node: root, index }, Output { node: first.node, index }))
        };
        if takes_over && all_fit() {
            self.patch.replace_node(root, first.node);
        } else if ends.is_written && ends.holds(root) {
            return false;
        } else {
            pairs.iter().for_each(|&(old, new)| _ = self.patch.replace_uses(old, new));
            if is_seen {
                self.patch.redirect_controls(root, &[first.node]);
            }
        }
        // What takes a constant may be folded.
        self.tally.opens |= new.iter().any(|output| self.patch.constant(*output).is_some());
        self.state.learn(self.patch, self.ends);
        self.state.replace(self.patch, self.ends, root, pairs, is_seen.then(|| vec![first.node]));
        true
    }
}

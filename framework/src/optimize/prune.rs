//! Removes what no fetch and no target needs.

use super::pass::{Ends, Pass};
use crate::error::Result;
use crate::graph::{Graph, GraphPatch, NodeId};
use crate::sort::CompactSort as _;

pub(super) struct Prune;

impl Pass for Prune {
    fn name(&self) -> &'static str {
        "prune"
    }

    fn summary(&self) -> &'static str {
        "removes nodes that no fetch and no target needs"
    }

    fn is_worthwhile(&self, _: &Graph, _: &[NodeId]) -> bool {
        // A plan has needed nodes only, so that there is nothing to do for its own sake.
        false
    }

    fn run(&self, patch: &mut GraphPatch<'_>, ends: &Ends) -> Result<usize> {
        let kept = kept(patch, ends);
        if kept.len() == patch.nodes().len() {
            return Ok(0);
        }
        let mut unused = vec![true; patch.nodes().len()];
        kept.iter().for_each(|id| unused[id.index()] = false);
        patch.ids().filter(|id| unused[id.index()]).for_each(|id| _ = patch.remove(id));
        Ok(unused.iter().filter(|unused| **unused).count())
    }
}

/// What a run needs, and the nodes that it feeds, with their inputs.
pub(super) fn kept(graph: &Graph, ends: &Ends) -> Vec<NodeId> {
    let needed = graph.needed(ends.feeds(), ends.fetches(), ends.targets());
    let fed: Vec<NodeId> = ends.feeds().iter().map(|feed| feed.node).collect();
    if fed.is_empty() {
        return needed;
    }
    let mut kept = graph.needed(&[], &[], &fed);
    kept.extend(needed);
    kept.compact_sort();
    kept.dedup();
    kept
}

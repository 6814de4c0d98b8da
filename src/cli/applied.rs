//! What the graph passes of a session make of the part of a graph that a run needs.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::error::Result;
use crate::graph::Graph;
use crate::optimize::{Ends, Optimizer, PASSES};
use crate::sort::CompactSort as _;
use serde_json::{Map, Value, json};

use crate::tools::words::count;

/// What passes did in all rounds.
pub(crate) struct Applied {
    /// How many nodes the run needs.
    nodes_before: usize,
    nodes_after: usize,
    /// How many places each pass changed that changed some, in the order of the passes.
    passes: Vec<(&'static str, usize)>,
    /// How often each rewrite was applied, the most often first.
    rewrites: Vec<(&'static str, usize)>,
}

impl Applied {
    /// Runs the passes on a copy of the graph, as the session does that runs it; what they do in functions that stay functions
    /// is not among it.
    ///
    /// # Errors
    /// Those of passes, and of the names in the environment of passes that do not run.
    pub(crate) fn to(graph: &Graph, ends: &Ends) -> Result<Applied> {
        let needed = graph.needed(ends.feeds(), ends.fetches(), ends.targets());
        let (mut graph, mut ends) = (graph.clone(), ends.clone());
        let reports = Optimizer::from_env()?.in_session(&mut graph, &mut ends)?;
        let (mut changes, mut rewrites) = (BTreeMap::new(), BTreeMap::new());
        for report in &reports {
            *changes.entry(report.name).or_default() += report.changes;
            report.parts.iter().for_each(|(name, times)| *rewrites.entry(*name).or_default() += times);
        }
        // That a run leaves out what it does not need is no change of what it needs.
        changes.remove("prune");
        let changed = |name| changes.get(name).copied().filter(|&changes| changes > 0).map(|changes| (name, changes));
        let mut rewrites: Vec<(&str, usize)> = rewrites.into_iter().collect();
        rewrites.compact_sort_by_key(|&(name, times)| (std::cmp::Reverse(times), name));
        Ok(Applied {
            nodes_before: needed.len(),
            nodes_after: graph.needed(ends.feeds(), ends.fetches(), ends.targets()).len(),
            passes: PASSES.iter().filter_map(|pass| changed(pass.name())).collect(),
            rewrites,
        })
    }

    /// A line for the nodes, one for the passes and one for the rewrites.
    pub(crate) fn text(&self) -> String {
        let listed = |all: &[(&str, usize)]| {
            let one = |(name, times): &(&str, usize)| format!("{name} {times}");
            all.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let before = count(self.nodes_before, "node");
        if self.passes.is_empty() {
            return format!("graph passes change nothing: {before}\n");
        }
        let mut text = format!("graph passes: {before} before, {} after\n", self.nodes_after);
        let _ = writeln!(text, "  changes: {}", listed(&self.passes));
        if !self.rewrites.is_empty() {
            let _ = writeln!(text, "  rewrites: {}", listed(&self.rewrites));
        }
        text
    }

    /// The same, for other programs.
    pub(crate) fn json(&self) -> Value {
        let object = |all: &[(&str, usize)]| -> Map<String, Value> {
            all.iter().map(|&(name, times)| (name.to_owned(), times.into())).collect()
        };
        json!({
            "nodes_before": self.nodes_before, "nodes_after": self.nodes_after,
            "changes": object(&self.passes), "rewrites": object(&self.rewrites),
        })
    }
}

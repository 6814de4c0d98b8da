//! What a rewrite makes of a graph.

use std::sync::Arc;

use super::graph_text::{graph_from_lines, graph_to_lines};
use crate::kernel::CPU;
use crate::optimize::Optimizer;
use crate::registry::Registry;

/// The graph that one rewrite makes of another one, both as [lines of text](graph_from_lines),
/// for a session on the CPU.
///
/// # Panics
/// If the text cannot be read, there is no such rewrite, or its function fails.
#[track_caller]
pub fn rewritten_by(registry: &Arc<Registry>, rewrite: &str, before: &str) -> String {
    let (mut graph, mut ends) = graph_from_lines(before, registry).unwrap_or_else(|error| panic!("{error}"));
    let optimizer = Optimizer::only([rewrite]).unwrap_or_else(|error| panic!("{error}")).with_inexact(true);
    ends.devices = vec![(CPU, Vec::new())];
    let reports = optimizer.optimize(&mut graph, &mut ends).unwrap_or_else(|error| panic!("{error}"));
    for report in reports {
        if let Some((name, error)) = report.failed.first() {
            panic!("rewrite {name} failed: {error}");
        }
    }
    graph_to_lines(&graph)
}

//! Frames: which loop each node of a plan is in.

use super::layout::{Frame, NodeSpec, ROOT, Role, Source};
use crate::error::{Error, Result};
use crate::graph::{self, FrameFault, Passage};
use crate::runtime::index::{FrameIndex, Handle, NodeIndex, Table, kind};

/// The frame of a node, and that of its outputs.
pub(in crate::runtime) type NodeFrames = graph::NodeFrames<FrameIndex>;

/// The nodes that a node waits for.
fn sources(node: &NodeSpec<'_>) -> impl Iterator<Item = usize> {
    let data = node.inputs.iter().filter_map(|source| match source {
        Source::Node { node, .. } => Some(*node),
        _ => None,
    });
    data.chain(node.controls.iter().copied()).map(NodeIndex::position)
}

fn passage<'d>(node: &NodeSpec<'d>) -> Passage<'d> {
    match (node.role, node.enters) {
        (Role::Exit, _) => Passage::Exits,
        (Role::NextIteration, _) => Passage::GoesBack,
        (_, Some(entered)) => Passage::Enters(entered.name),
        _ => Passage::Stays,
    }
}

/// The frames, and those of each node.
///
/// # Errors
/// INVALID_ARGUMENT if a node has inputs from different frames, or leaves a frame without being in one.
pub(super) fn assign(nodes: &[NodeSpec<'_>]) -> Result<(Table<kind::Frame, Frame>, Table<kind::Node, NodeFrames>)> {
    let name = |index: usize| nodes[index].name;
    let found = graph::Frames::find(0..nodes.len(), nodes.len(), |n| sources(&nodes[n]), |n| passage(&nodes[n]));
    let found = found.map_err(|fault| {
        Error::invalid_argument(match fault {
            FrameFault::Different { node, inputs: [(first, first_frame), (other, other_frame)] } => format!(
                "The node '{}' has inputs from different frames. The input '{}' is in frame '{other_frame}'. The input \
                 '{}' is in frame '{first_frame}'.",
                name(node),
                name(other),
                name(first),
            ),
            FrameFault::NoLoop { node } => {
                format!("the node '{}' leaves an iteration of a loop without being in one", name(node))
            }
        })
    })?;
    let mut frames: Table<kind::Frame, Frame> = vec![Frame::new("", Handle::FIRST, 1)].into();
    for site in &found.sites[1..] {
        let parent = FrameIndex::new(site.parent);
        let among = Handle::new(frames[parent].children);
        frames[parent].children += 1;
        let parallel_iterations = nodes[site.enter].enters.map_or(1, |entered| entered.parallel_iterations);
        frames.push(Frame::new(&String::from_utf8_lossy(site.name), among, parallel_iterations));
    }
    let mut of: Table<kind::Node, NodeFrames> = Table::new();
    for (node, found) in nodes.iter().zip(found.of) {
        let frame =
            |get: fn(graph::NodeFrames<usize>) -> usize| found.map_or(ROOT, |found| FrameIndex::new(get(found)));
        let found = NodeFrames { own: frame(|f| f.own), outputs: frame(|f| f.outputs) };
        frames[found.outputs].entries += u32::from(node.enters.is_some());
        of.push(found);
    }
    Ok((frames, of))
}

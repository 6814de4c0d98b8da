//! Frames: which loop each node of a plan is in.

use std::collections::HashMap;

use super::layout::{Frame, NodeSpec, ROOT, Role, Source};
use crate::error::{Error, Result};
use crate::runtime::index::{FrameIndex, Handle, NodeIndex, Table, kind};

/// The frame of a node, and that of its outputs.
#[derive(Clone, Copy)]
pub(in crate::runtime) struct NodeFrames {
    pub(in crate::runtime) own: FrameIndex,
    pub(in crate::runtime) outputs: FrameIndex,
}

/// The nodes that a node waits for.
fn sources(node: &NodeSpec<'_>) -> impl Iterator<Item = NodeIndex> {
    let data = node.inputs.iter().filter_map(|source| match source {
        Source::Node { node, .. } => Some(*node),
        _ => None,
    });
    data.chain(node.controls.iter().copied())
}

/// What gives a node an input, and the frame that the input is in.
type Given = (NodeIndex, FrameIndex);

/// The frames, and those of each node.
///
/// # Errors
/// INVALID_ARGUMENT if a node has inputs from different frames, or leaves a frame without being in one.
pub(super) fn assign(nodes: &[NodeSpec<'_>]) -> Result<(Table<kind::Frame, Frame>, Table<kind::Node, NodeFrames>)> {
    let mut frames: Table<kind::Frame, Frame> = vec![Frame::new("", ROOT, Handle::FIRST, 1)].into();
    let mut by_name: HashMap<(FrameIndex, &str), FrameIndex> = HashMap::new();
    let mut of: Table<kind::Node, NodeFrames> = Table::new();
    let different = |frames: &Table<kind::Frame, Frame>, node: &NodeSpec<'_>, one: Given, other: Given| {
        let name = |index: NodeIndex| nodes[index.position()].name;
        Error::invalid_argument(format!(
            "The node '{}' has inputs from different frames. The input '{}' is in frame '{}'. The input '{}' is in frame \
             '{}'.",
            node.name,
            name(one.0),
            frames[one.1].name,
            name(other.0),
            frames[other.1].name
        ))
    };
    for node in nodes {
        let mut known: Option<Given> = None;
        for source in sources(node) {
            // What leads back is looked at below.
            let Some(&NodeFrames { outputs: frame, .. }) = of.get(source) else { continue };
            match known {
                Some(first) if first.1 != frame => return Err(different(&frames, node, (source, frame), first)),
                _ => known = Some((source, frame)),
            }
        }
        let frame = known.map_or(ROOT, |(_, frame)| frame);
        let outputs = match (node.role, node.enters) {
            (Role::Exit | Role::NextIteration, _) if frame == ROOT => {
                let message = format!("the node '{}' leaves an iteration of a loop without being in one", node.name);
                return Err(Error::invalid_argument(message));
            }
            (Role::Exit, _) => frames[frame].parent,
            (_, Some(entered)) => {
                let index = *by_name.entry((frame, entered.name)).or_insert_with(|| {
                    let among = Handle::new(frames[frame].children);
                    frames[frame].children += 1;
                    frames.push(Frame::new(entered.name, frame, among, entered.parallel_iterations))
                });
                frames[index].entries += 1;
                index
            }
            _ => frame,
        };
        of.push(NodeFrames { own: frame, outputs });
    }
    // What leads back stays in the loop.
    for (position, node) in nodes.iter().enumerate() {
        let index = NodeIndex::new(position);
        let is_back = |source: &NodeIndex| source.position() >= position && of.get(*source).is_some();
        if let Some(source) = sources(node).filter(is_back).find(|&source| of[source].outputs != of[index].own) {
            let first = sources(node).find(|first| first.position() < position).unwrap_or(index);
            return Err(different(&frames, node, (source, of[source].outputs), (first, of[index].own)));
        }
    }
    Ok((frames, of))
}

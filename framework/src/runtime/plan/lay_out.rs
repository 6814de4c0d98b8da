//! Laying out the nodes of a plan: their frames, slots, counts and edges.

use std::collections::HashMap;

use super::layout::{Count, Edge, External, Layout, LayoutNode, MovedFeed, NodeSpec, ROOT, Role, Source};
use super::{frames, static_loop};
use crate::error::Result;
use crate::runtime::index::{Handle, NodeIndex, Span, Table, kind};

/// Lays out nodes, so that the tensors of `fetches` stay to the end. Handles of nodes are positions among `nodes`.
///
/// # Errors
/// INVALID_ARGUMENT if a node has inputs from different frames, or leaves a frame without being in one.
pub(in crate::runtime) fn lay_out(nodes: &[NodeSpec<'_>], fetches: &[Source], feeds: usize) -> Result<Layout> {
    let (mut frames, node_frames) = frames::assign(nodes)?;
    let mut layout = Layout::default();
    let mut feed_uses: Table<kind::Feed, u32> = Table::filled(0, feeds);
    for source in nodes.iter().flat_map(|node| node.inputs).chain(fetches) {
        if let Source::Feed(feed) = *source {
            feed_uses[feed] += 1;
        }
    }
    let mut edges_of: HashMap<(NodeIndex, u32), Vec<Edge>> = HashMap::new();
    let mut waiting: Table<kind::Node, Vec<NodeIndex>> = Table::filled(Vec::new(), nodes.len());
    for (spec, (index, node_frame)) in nodes.iter().zip(node_frames.iter()) {
        let frame = &mut frames[node_frame.own];
        let (first_slot, first_external) = (frame.kept.end(), layout.externals.end());
        let (mut data, mut kept) = (0, 0u64);
        for (position, &source) in spec.inputs.iter().enumerate() {
            let is_constant = matches!(source, Source::Constant(_));
            let slot = frame.kept.push(is_constant);
            if is_constant && position < 64 {
                kept |= 1 << position;
            }
            match source {
                Source::Node { node, output } => {
                    edges_of.entry((node, output)).or_default().push(Edge { node: index, slot });
                    data += 1;
                }
                Source::Feed(feed) if feed_uses[feed] == 1 && node_frame.own == ROOT && spec.role != Role::Merge => {
                    layout.moved_feeds.push(MovedFeed { feed, slot });
                }
                source => _ = layout.externals.push(External { slot, source }),
            }
        }
        spec.controls.iter().for_each(|&control| waiting[control].push(index));
        let controls = spec.controls.len() as u32;
        let role = match spec.role {
            Role::Enter { constant, .. } => Role::Enter { frame: node_frame.outputs, constant },
            role => role,
        };
        let externals = Span::new(first_external, layout.externals.end());
        let is_filled = externals.is_empty() && !spec.has_references;
        let is_immediate = is_filled && matches!(role, Role::Switch { .. } | Role::Merge | Role::NextIteration);
        let is_merge = role == Role::Merge;
        let pending = if is_merge { 1 + 2 * controls } else { data + controls };
        let dead = if is_immediate && !is_merge { Count::IMMEDIATE } else { 0 };
        layout.nodes.push(LayoutNode {
            role,
            is_filled,
            only_constants: externals.len() == kept.count_ones() as usize && !spec.has_references,
            is_immediate,
            count: frame.counts.push(Count { pending, dead }),
            inputs: Span::new(first_slot, frame.kept.end()),
            outputs: Span::EMPTY,
            first_edges: Span::EMPTY,
            only_edge: Edge::NONE,
            kept,
            controls: Span::EMPTY,
            externals,
            pending,
        });
    }
    let root = &mut frames[ROOT];
    let first_fetch = root.kept.end();
    for &source in fetches {
        let slot = root.kept.push(false);
        if let Source::Node { node, output } = source {
            edges_of.entry((node, output)).or_default().push(Edge { node: Handle::NONE, slot });
        }
    }
    layout.fetches = Span::new(first_fetch, root.kept.end());
    for (spec, index) in nodes.iter().zip(layout.nodes.handles()) {
        let first_output = layout.output_edges.end();
        for output in 0..spec.outputs {
            let first_edge = layout.edges.end();
            layout.edges.extend(edges_of.remove(&(index, output as u32)).unwrap_or_default());
            layout.output_edges.push(Span::new(first_edge, layout.edges.end()));
        }
        let first_control = layout.controls.end();
        layout.controls.extend(std::mem::take(&mut waiting[index]));
        let node = &mut layout.nodes[index];
        node.controls = Span::new(first_control, layout.controls.end());
        node.outputs = Span::new(first_output, layout.output_edges.end());
        node.first_edges = layout.output_edges.get(first_output).copied().unwrap_or(Span::EMPTY);
    }
    layout.branches = layout.nodes.values().iter().any(|node| !matches!(node.role, Role::Kernel | Role::Forward));
    layout.frames = frames;
    find_only_edges(&mut layout);
    static_loop::find(&mut layout, nodes, &node_frames);
    Ok(layout)
}

/// Finds out where outputs can be written to the slot that they go to.
fn find_only_edges(layout: &mut Layout) {
    for index in layout.nodes.handles() {
        let node = &layout.nodes[index];
        let [edge] = layout.edges_of(node, 0) else { continue };
        let is_merge = layout.nodes.get(edge.node).is_some_and(LayoutNode::is_merge);
        if node.outputs.len() == 1 && !is_merge {
            layout.nodes[index].only_edge = *edge;
        }
    }
}

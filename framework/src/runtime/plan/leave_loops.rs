//! Fetches inside of loops. TensorFlow takes the value of a fetch when it is computed, so that one inside of a loop has a
//! value if its node is alive in a single iteration: an `Enter`, what the last iteration computes for the `Exit`, all of a
//! loop that runs once. That is what an `Exit` does, so each such fetch gets one for each loop around it.

use std::sync::Arc;

use super::context::Context;
use super::draft::{Act, Draft, Drafts, Own};
use super::layout::{ROOT, Source};
use crate::graph::{Frames, NodeFrames, Output, Passage};
use crate::op::Signature;
use crate::runtime::index::{FrameIndex, Table, kind};

/// Has the fetches leave the loops that they are in. `names` is what they are called.
pub(super) fn leave_loops(context: &Context<'_>, fetches: &[Output], names: &[String], drafts: &mut Drafts) {
    let nodes = drafts.nodes.values();
    if !nodes.iter().any(|draft| matches!(draft.act, Act::Enter { .. })) {
        return;
    }
    let found = Frames::find(0..nodes.len(), nodes.len(), |n| sources(&nodes[n]), |n| passage(&nodes[n]));
    // What is wrong with the loops is told when they are laid out.
    let Ok(found) = found else { return };
    let parents: Table<kind::Frame, FrameIndex> = found.sites.iter().map(|site| FrameIndex::new(site.parent)).collect();
    let frame_of = |frames: NodeFrames<usize>| FrameIndex::new(frames.outputs);
    let frames: Vec<_> = found.of.into_iter().map(|found| found.map_or(ROOT, frame_of)).collect();
    for ((source, &output), name) in drafts.fetches.iter_mut().zip(fetches).zip(names) {
        let Source::Node { node, .. } = *source else { continue };
        let mut frame = frames.get(node.position()).copied().unwrap_or(ROOT);
        while frame != ROOT {
            let slot = context.graph.node(output.node).signature.outputs[output.index];
            let signature = Signature { inputs: vec![slot], outputs: vec![slot], ..Signature::default() };
            let op = context.graph.node(output.node).op.def;
            let own = Own { name: name.clone(), op, signature: Arc::new(signature) };
            let device = context.places.host(context.device_index(output.node));
            let exit = Draft::of(output.node, Act::Exit, device, vec![*source], Vec::new());
            *source = Source::Node { node: drafts.nodes.push(Draft { own: Some(Box::new(own)), ..exit }), output: 0 };
            frame = parents[frame];
        }
    }
}

/// The drafts that one waits for.
fn sources(draft: &Draft) -> impl Iterator<Item = usize> {
    let data = draft.inputs.iter().filter_map(|source| match source {
        Source::Node { node, .. } => Some(*node),
        _ => None,
    });
    data.chain(draft.controls.iter().copied()).map(|node| node.position())
}

fn passage(draft: &Draft) -> Passage<'_> {
    match &draft.act {
        Act::Exit => Passage::Exits,
        Act::NextIteration => Passage::GoesBack,
        Act::Enter { name, .. } => Passage::Enters(name.as_bytes()),
        _ => Passage::Stays,
    }
}

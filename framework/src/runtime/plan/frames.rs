//! Frames: which loop each node of a plan is in.

use std::collections::HashMap;

use super::draft::Draft;
use super::{Source, Straight};
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// The frame of what is in no loop.
pub(in crate::runtime) const ROOT: u32 = 0;

/// A loop, or what is in none. A run may go through it several times, and in each of them through many iterations.
pub(in crate::runtime) struct Frame {
    /// Its name, for errors.
    pub(in crate::runtime) name: String,
    /// The frame that it is in.
    pub(in crate::runtime) parent: u32,
    /// For each of its nodes, what it waits for as an iteration begins.
    pub(in crate::runtime) counts: Vec<Count>,
    /// The number of slots of its nodes.
    pub(in crate::runtime) slots: u32,
    /// For each slot, whether it is a constant's, which stays in it.
    pub(in crate::runtime) kept: Vec<bool>,
    /// How many nodes lead into it.
    pub(in crate::runtime) entries: u32,
    /// Its position among the frames that are in the same one.
    pub(in crate::runtime) among: u32,
    /// How many frames are in it.
    pub(in crate::runtime) children: u32,
    /// How many iterations may run at once.
    pub(in crate::runtime) parallel_iterations: u32,
    /// How its iterations go if they go straight.
    pub(in crate::runtime) straight: Option<Box<Straight>>,
}

/// What a node knows of its edges.
#[derive(Clone, Copy, Debug)]
pub(in crate::runtime) struct Count {
    /// How many it waits for. For a merge that is twice the number of its control edges, and one.
    pub(in crate::runtime) pending: u32,
    /// How many were served dead; and [`Count::PASSED`].
    pub(in crate::runtime) dead: u32,
}

impl Count {
    /// Stands in `dead` of a node that is no merge and passes on its value as soon as it comes, so that one look tells it,
    /// as well as a dead node, from others.
    pub(in crate::runtime) const PASSED: u32 = 1 << 31;
}

impl Frame {
    /// Empties the slots of an iteration, but for constants.
    #[inline]
    pub(in crate::runtime) fn clear(&self, slots: &mut [Option<Tensor>]) {
        for (slot, is_kept) in slots.iter_mut().zip(&self.kept) {
            if !is_kept {
                Tensor::clear(slot);
            }
        }
    }

    pub(super) fn new(name: &str, parent: u32, parallel_iterations: u32) -> Frame {
        let name = name.to_owned();
        let (counts, kept, straight) = (Vec::new(), Vec::new(), None);
        Frame { name, parent, counts, slots: 0, kept, entries: 0, among: 0, children: 0, parallel_iterations, straight }
    }
}

/// What a node means for frames.
pub(super) enum Step {
    Stay,
    /// Into the frame of this name.
    Into(String, u32),
    OutOf,
    /// To the next iteration.
    Next,
}

/// The drafts that a draft waits for.
fn sources(draft: &Draft) -> impl Iterator<Item = usize> {
    let data = draft.inputs.iter().filter_map(|source| match source {
        Source::Node { node, .. } => Some(*node as usize),
        _ => None,
    });
    data.chain(draft.controls.iter().map(|&control| control as usize))
}

/// The frames, and for each draft its frame and that of its outputs.
///
/// # Errors
/// INVALID_ARGUMENT if a node has inputs from different frames, or leaves a frame without being in one.
pub(super) fn assign(
    drafts: &[Draft],
    step: impl Fn(&Draft) -> Step,
    name: impl Fn(usize) -> String,
) -> Result<(Vec<Frame>, Vec<u32>, Vec<u32>)> {
    let mut frames = vec![Frame::new("", ROOT, 1)];
    let mut by_name: HashMap<(u32, String), u32> = HashMap::new();
    let mut of: Vec<u32> = Vec::with_capacity(drafts.len());
    // Where the outputs of each draft are.
    let mut leads_to: Vec<u32> = Vec::with_capacity(drafts.len());
    let different = |frames: &[Frame], position: usize, (source, frame): (usize, u32), (first, other): (usize, u32)| {
        Error::invalid_argument(format!(
            "The node '{}' has inputs from different frames. The input '{}' is in frame '{}'. The input '{}' is in frame \
             '{}'.",
            name(position),
            name(source),
            frames[frame as usize].name,
            name(first),
            frames[other as usize].name
        ))
    };
    for (position, draft) in drafts.iter().enumerate() {
        let mut known: Option<(u32, usize)> = None;
        for source in sources(draft).filter(|&source| source < position) {
            let frame = leads_to[source];
            match known {
                Some((other, first)) if other != frame => {
                    return Err(different(&frames, position, (source, frame), (first, other)));
                }
                _ => known = Some((frame, source)),
            }
        }
        let frame = known.map_or(ROOT, |(frame, _)| frame);
        of.push(frame);
        leads_to.push(match step(draft) {
            Step::Stay => frame,
            Step::OutOf | Step::Next if frame == ROOT => {
                let message =
                    format!("the node '{}' leaves an iteration of a loop without being in one", name(position));
                return Err(Error::invalid_argument(message));
            }
            Step::Next => frame,
            Step::OutOf => frames[frame as usize].parent,
            Step::Into(child, parallel) => {
                let index = *by_name.entry((frame, child)).or_insert_with_key(|(_, child)| {
                    let among = frames[frame as usize].children;
                    frames[frame as usize].children += 1;
                    frames.push(Frame { among, ..Frame::new(child, frame, parallel) });
                    frames.len() as u32 - 1
                });
                frames[index as usize].entries += 1;
                index
            }
        });
    }
    // What leads back stays in the loop.
    for (position, draft) in drafts.iter().enumerate() {
        let mut back = sources(draft).filter(|&source| source >= position && source < drafts.len());
        if let Some(source) = back.find(|&source| leads_to[source] != of[position]) {
            let first = sources(draft).find(|&first| first < position).unwrap_or(position);
            return Err(different(&frames, position, (source, leads_to[source]), (first, of[position])));
        }
    }
    Ok((frames, of, leads_to))
}

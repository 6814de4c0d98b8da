//! Frames: which loop each node is in, by the nodes that lead into loops and out of them.

use std::collections::HashMap;

/// Where the outputs of a node are.
#[derive(Clone, Copy)]
pub(crate) enum Passage<'n> {
    /// In the node's own frame.
    Stays,
    /// In every frame if the node, a constant, waits for nothing; or else in its own.
    Anywhere,
    /// In the loop of this name in its own frame.
    Enters(&'n [u8]),
    /// In the frame around its own.
    Exits,
    /// In the next iteration of its own.
    GoesBack,
}

/// A loop; or what is in none, which is the first frame and in itself.
pub(crate) struct FrameSite<'n> {
    pub(crate) name: &'n [u8],
    /// The frame that it is in.
    pub(crate) parent: usize,
    /// The first node that leads into it.
    pub(crate) enter: usize,
}

/// The frame of a node, and that of its outputs.
#[derive(Clone, Copy)]
pub(crate) struct NodeFrames<F> {
    pub(crate) own: F,
    pub(crate) outputs: F,
}

/// The frames of nodes that are known by numbers.
pub(crate) struct Frames<'n> {
    pub(crate) sites: Vec<FrameSite<'n>>,
    /// For each node; `None` for a constant that is in every frame, and what is no node.
    pub(crate) of: Vec<Option<NodeFrames<usize>>>,
}

/// Why nodes have no frames.
pub(crate) enum FrameFault {
    /// Inputs of the node come from different frames: from these nodes, in frames of these names.
    Different { node: usize, inputs: [(usize, String); 2] },
    /// The node leaves an iteration of a loop without being in one.
    NoLoop { node: usize },
}

impl<'n> Frames<'n> {
    /// The frames of the nodes of `order`, below `count`, which has what a node takes or waits for before it, but for what
    /// leads back.
    pub(crate) fn find<S: Iterator<Item = usize>>(
        order: impl Iterator<Item = usize> + Clone,
        count: usize,
        sources: impl Fn(usize) -> S,
        passage: impl Fn(usize) -> Passage<'n>,
    ) -> Result<Frames<'n>, FrameFault> {
        const ROOT: usize = 0;
        let mut frames = Frames { sites: vec![FrameSite { name: b"", parent: ROOT, enter: 0 }], of: vec![None; count] };
        let mut by_name: HashMap<(usize, &[u8]), usize> = HashMap::new();
        for node in order.clone() {
            let mut given = sources(node).filter_map(|source| Some((source, frames.of[source]?.outputs)));
            let first = given.next();
            let own = first.map_or(ROOT, |(_, frame)| frame);
            if let (Some(first), Some(other)) = (first, given.find(|other| other.1 != own)) {
                return Err(frames.different(node, [first, other]));
            }
            let outputs = match passage(node) {
                Passage::Anywhere if first.is_none() => continue,
                Passage::Stays | Passage::Anywhere => own,
                Passage::Exits | Passage::GoesBack if own == ROOT => return Err(FrameFault::NoLoop { node }),
                Passage::Exits => frames.sites[own].parent,
                Passage::GoesBack => own,
                Passage::Enters(name) => *by_name.entry((own, name)).or_insert_with(|| {
                    frames.sites.push(FrameSite { name, parent: own, enter: node });
                    frames.sites.len() - 1
                }),
            };
            frames.of[node] = Some(NodeFrames { own, outputs });
        }
        // What leads back stays in the loop.
        for node in order {
            let Some(NodeFrames { own, .. }) = frames.of[node] else { continue };
            let given = || sources(node).filter_map(|source| Some((source, frames.of[source]?.outputs)));
            if let Some(other) = given().find(|other| other.1 != own) {
                let first = given().find(|first| first.1 == own).unwrap_or((node, own));
                return Err(frames.different(node, [first, other]));
            }
        }
        Ok(frames)
    }

    fn different(&self, node: usize, inputs: [(usize, usize); 2]) -> FrameFault {
        let name = |frame: usize| String::from_utf8_lossy(self.sites[frame].name).into_owned();
        FrameFault::Different { node, inputs: inputs.map(|(input, frame)| (input, name(frame))) }
    }
}

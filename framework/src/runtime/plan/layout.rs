//! The layout of a plan: which nodes wait for which, and where their tensors go. It knows of no kernels, devices or
//! values, and what runs decides by it alone which node is ready, and which is dead.

use crate::runtime::index::{
    ChildIndex, ConstantIndex, CountIndex, FeedIndex, FrameIndex, Handle, NodeIndex, SlotIndex, Span, Table, kind,
};
use crate::tensor::Tensor;

/// The frame of what is in no loop.
pub(in crate::runtime) const ROOT: FrameIndex = FrameIndex::FIRST;

/// How many nodes run between two looks at the clock, and at whether the step was cancelled.
pub(in crate::runtime) const CHECK_INTERVAL: u32 = 256;

/// See the module.
#[derive(Default)]
pub(in crate::runtime) struct Layout {
    pub(in crate::runtime) nodes: Table<kind::Node, LayoutNode>,
    pub(in crate::runtime) frames: Table<kind::Frame, Frame>,
    pub(in crate::runtime) edges: Table<kind::Edge, Edge>,
    /// The edges of each output of each node.
    pub(in crate::runtime) output_edges: Table<kind::Output, Span<kind::Edge>>,
    /// The nodes that wait for others without taking an output of theirs.
    pub(in crate::runtime) controls: Table<kind::Control, NodeIndex>,
    pub(in crate::runtime) externals: Table<kind::External, External>,
    /// The feeds that go to their only use as a run begins.
    pub(in crate::runtime) moved_feeds: Vec<MovedFeed>,
    /// The slots of the fetches, in the root frame.
    pub(in crate::runtime) fetches: Span<kind::Slot>,
    /// Whether nodes may be dead, and loops under way.
    pub(in crate::runtime) branches: bool,
}

/// What a node does with its inputs, as far as it decides what runs next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::runtime) enum Role {
    /// Runs a kernel.
    Kernel,
    /// Hands its inputs on, or does nothing but order others.
    Forward,
    /// Hands its data on by one of its outputs: by a bool, or by an index.
    Switch { by_index: bool },
    /// Hands on the first of its inputs that is alive.
    Merge,
    /// Hands its input to a frame, in its first iteration or, if it is constant, in all.
    Enter { frame: FrameIndex, constant: bool },
    /// Hands its input to the frame around its own.
    Exit,
    /// Hands its input to the next iteration.
    NextIteration,
    /// Runs even if nothing that it waits for is alive.
    ControlTrigger,
}

/// A node, as what decides when it runs sees it.
pub(in crate::runtime) struct LayoutNode {
    pub(in crate::runtime) role: Role,
    /// Whether all inputs are values that come from other nodes.
    pub(in crate::runtime) is_filled: bool,
    /// Whether all other inputs are constants of [`LayoutNode::kept`].
    pub(in crate::runtime) only_constants: bool,
    /// Whether it hands on its value as soon as it comes, without waiting for its turn.
    pub(in crate::runtime) is_immediate: bool,
    /// Its [`Count`], in its frame.
    pub(in crate::runtime) count: CountIndex,
    /// The slots of its inputs, in its frame.
    pub(in crate::runtime) inputs: Span<kind::Slot>,
    pub(in crate::runtime) outputs: Span<kind::Output>,
    /// The edges of the first output.
    pub(in crate::runtime) first_edges: Span<kind::Edge>,
    /// Where the only output goes if it goes to one place and that is no Merge, so that the kernel can write it there;
    /// or else a slot of [`Handle::NONE`].
    pub(in crate::runtime) only_edge: Edge,
    /// A bit for each of the first 64 inputs: whether it is a constant, which stays in its slot.
    pub(in crate::runtime) kept: u64,
    /// The nodes that wait for it without taking an output.
    pub(in crate::runtime) controls: Span<kind::Control>,
    /// Its inputs that are no outputs of other nodes.
    pub(in crate::runtime) externals: Span<kind::External>,
    /// How many edges must be served before it runs; see [`Count::pending`].
    pub(in crate::runtime) pending: u32,
}

impl LayoutNode {
    #[inline]
    pub(in crate::runtime) fn is_merge(&self) -> bool {
        self.role == Role::Merge
    }

    /// The slots of its inputs.
    #[inline(always)]
    pub(in crate::runtime) fn inputs_of<'s>(&self, slots: &'s mut Slots) -> &'s mut [Option<Tensor>] {
        &mut slots[self.inputs]
    }

    /// Whether none of its inputs is to be filled in: constants are in their slots since the run before, unless the
    /// kernel took them.
    #[inline(always)]
    pub(in crate::runtime) fn has_externals(&self, inputs: &[Option<Tensor>]) -> bool {
        if self.is_filled || !self.only_constants {
            return self.is_filled;
        }
        let mut kept = self.kept;
        while kept != 0 {
            if inputs.get(kept.trailing_zeros() as usize).is_none_or(Option::is_none) {
                return false;
            }
            kept &= kept - 1;
        }
        true
    }

    /// Empties the slots of its inputs, but for constants.
    #[inline(always)]
    pub(in crate::runtime) fn clear(&self, inputs: &mut [Option<Tensor>]) {
        let mut kept = self.kept;
        for input in inputs {
            if kept & 1 == 0 {
                Tensor::clear(input);
            }
            kept >>= 1;
        }
    }
}

/// The tensors of an iteration.
pub(in crate::runtime) type Slots = Table<kind::Slot, Option<Tensor>>;

/// Takes an output to an input.
#[derive(Clone, Copy)]
pub(in crate::runtime) struct Edge {
    /// The node that waits for it; [`Handle::NONE`] for a fetch.
    pub(in crate::runtime) node: NodeIndex,
    /// Where the tensor goes, in the frame of the node that waits for it.
    pub(in crate::runtime) slot: SlotIndex,
}

impl Edge {
    pub(super) const NONE: Edge = Edge { node: Handle::NONE, slot: Handle::NONE };
}

/// Where a tensor comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::runtime) enum Source {
    Constant(ConstantIndex),
    Feed(FeedIndex),
    /// An output of a node of the plan.
    Node {
        node: NodeIndex,
        output: u32,
    },
}

/// An input that is no output of another node of the plan.
pub(in crate::runtime) struct External {
    pub(in crate::runtime) slot: SlotIndex,
    pub(in crate::runtime) source: Source,
}

/// A feed that one node of the root frame takes, once: it goes to the node's slot as a run begins, and the node may change
/// it in place if nobody else has it.
pub(in crate::runtime) struct MovedFeed {
    pub(in crate::runtime) feed: FeedIndex,
    pub(in crate::runtime) slot: SlotIndex,
}

/// A loop, or what is in none. A run may go through it several times, and in each of them through many iterations.
pub(in crate::runtime) struct Frame {
    /// Its name, for errors.
    pub(in crate::runtime) name: String,
    /// For each of its nodes, what it waits for as an iteration begins.
    pub(in crate::runtime) counts: Table<kind::Count, Count>,
    /// For each slot, whether it is a constant's, which stays in it.
    pub(in crate::runtime) kept: Table<kind::Slot, bool>,
    /// How many nodes lead into it.
    pub(in crate::runtime) entries: u32,
    /// Its position among the frames that are in the same one.
    pub(in crate::runtime) among: ChildIndex,
    /// How many frames are in it.
    pub(in crate::runtime) children: usize,
    /// How many iterations may run at once.
    pub(in crate::runtime) parallel_iterations: u32,
    /// How its iterations go if it is a static loop.
    pub(in crate::runtime) static_loop: Option<Box<StaticLoop>>,
}

impl Frame {
    pub(super) fn new(name: &str, among: ChildIndex, parallel_iterations: u32) -> Frame {
        Frame {
            name: name.to_owned(),
            counts: Table::new(),
            kept: Table::new(),
            entries: 0,
            among,
            children: 0,
            parallel_iterations,
            static_loop: None,
        }
    }

    /// Empties the slots of an iteration, but for constants.
    #[inline]
    pub(in crate::runtime) fn clear(&self, slots: &mut Slots) {
        for (slot, is_kept) in slots.values_mut().iter_mut().zip(self.kept.values()) {
            if !is_kept {
                Tensor::clear(slot);
            }
        }
    }
}

/// How the iterations of a static loop go: it is what `tf.while_loop` makes of a condition and a body without branches,
/// loops or kernels that wait. What each of its nodes waits for is known beforehand, so nothing is counted while it runs.
pub(in crate::runtime) struct StaticLoop {
    /// One of the loop's Merges. It stands for the iteration among what is ready.
    pub(in crate::runtime) merge: NodeIndex,
    /// The NextIterations: an iteration begins with what is there.
    pub(in crate::runtime) back: Vec<BackEdge>,
    /// Takes the values of the loop's variables to where they are used.
    pub(in crate::runtime) begin: Vec<Move>,
    /// What runs in each iteration, in order, also in the one that ends the loop.
    pub(in crate::runtime) head: Vec<NodeIndex>,
    /// The slot of what says whether the loop goes on.
    pub(in crate::runtime) condition: SlotIndex,
    /// The Switch whose input that is.
    pub(in crate::runtime) switch: NodeIndex,
    /// Takes the variables on if it does.
    pub(in crate::runtime) go_on: Vec<Move>,
    /// What runs if it does, in order.
    pub(in crate::runtime) body: Vec<NodeIndex>,
    /// What leaves the loop if it does not.
    pub(in crate::runtime) exits: Vec<LoopExit>,
    /// How many nodes lead constants into it.
    pub(in crate::runtime) constants: usize,
}

impl StaticLoop {
    /// The most nodes that an iteration runs: the clock is looked at between iterations.
    pub(super) const MAX_NODES: usize = CHECK_INTERVAL as usize;

    /// What has a kernel, and what hands its inputs on.
    pub(in crate::runtime) fn nodes(&self) -> impl Iterator<Item = NodeIndex> {
        self.head.iter().chain(&self.body).copied()
    }
}

/// A NextIteration, and the slot of its input.
#[derive(Clone, Copy)]
pub(in crate::runtime) struct BackEdge {
    pub(in crate::runtime) node: NodeIndex,
    pub(in crate::runtime) slot: SlotIndex,
}

/// An Exit, and the slot where its value is.
#[derive(Clone, Copy)]
pub(in crate::runtime) struct LoopExit {
    pub(in crate::runtime) node: NodeIndex,
    pub(in crate::runtime) slot: SlotIndex,
    /// Whether nothing else takes it.
    pub(in crate::runtime) is_last: bool,
}

/// Takes a tensor from one slot to another.
#[derive(Clone, Copy)]
pub(in crate::runtime) struct Move {
    pub(in crate::runtime) from: SlotIndex,
    /// [`Handle::NONE`] to drop it.
    pub(in crate::runtime) to: SlotIndex,
    /// Whether nothing else takes it.
    pub(in crate::runtime) is_last: bool,
}

/// What a node knows of its edges.
#[derive(Clone, Copy, Debug)]
pub(in crate::runtime) struct Count {
    /// How many it waits for. For a Merge that is twice the number of its control edges, and one.
    pub(in crate::runtime) pending: u32,
    /// How many were served dead; and [`Count::IMMEDIATE`].
    pub(in crate::runtime) dead: u32,
}

impl Count {
    /// Stands in `dead` of a node that is no Merge and hands on its value as soon as it comes, so that one look tells it,
    /// as well as a dead node, from others.
    pub(in crate::runtime) const IMMEDIATE: u32 = 1 << 31;
}

/// A node to be laid out.
pub(in crate::runtime) struct NodeSpec<'d> {
    /// Its name, for errors.
    pub(in crate::runtime) name: &'d str,
    /// Its role. The frame of an Enter is found by `enters`.
    pub(in crate::runtime) role: Role,
    /// The loop that an Enter leads into.
    pub(in crate::runtime) enters: Option<LoopSpec<'d>>,
    pub(in crate::runtime) inputs: &'d [Source],
    /// Whether the value of an input is found only as it runs.
    pub(in crate::runtime) has_references: bool,
    /// The nodes that it waits for without taking an output.
    pub(in crate::runtime) controls: &'d [NodeIndex],
    /// How many outputs it has.
    pub(in crate::runtime) outputs: usize,
    /// Whether it may be in a [`StaticLoop`]: its kernel, if it has one, neither waits nor takes dead inputs.
    pub(in crate::runtime) may_be_static: bool,
}

/// A loop, as an Enter names it.
#[derive(Clone, Copy)]
pub(in crate::runtime) struct LoopSpec<'d> {
    pub(in crate::runtime) name: &'d [u8],
    pub(in crate::runtime) parallel_iterations: u32,
}

impl Layout {
    /// The edges of an output.
    #[inline]
    pub(in crate::runtime) fn edges_of(&self, node: &LayoutNode, output: usize) -> &[Edge] {
        let edges = match output {
            0 => node.first_edges,
            _ => self.output_edges[node.outputs.at(output)],
        };
        &self.edges[edges]
    }

    /// The nodes that wait for a node without taking an output.
    #[inline]
    pub(in crate::runtime) fn controls_of(&self, node: &LayoutNode) -> &[NodeIndex] {
        &self.controls[node.controls]
    }

    /// A bit for each of the first 64 outputs of a node: whether nothing takes it.
    pub(super) fn unused_outputs(&self, node: &LayoutNode) -> u64 {
        let unused = (0..node.outputs.len().min(64)).filter(|&output| self.edges_of(node, output).is_empty());
        unused.fold(0, |unused, output| unused | 1 << output)
    }

    /// The nodes that wait for nothing.
    pub(in crate::runtime) fn initial(&self) -> impl Iterator<Item = NodeIndex> {
        self.nodes.iter().filter(|(_, node)| node.pending == 0).map(|(index, _)| index)
    }
}

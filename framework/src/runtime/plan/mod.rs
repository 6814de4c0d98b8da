//! A plan: what one signature of feeds, fetches and targets needs of a graph, laid out in flat arrays so that a run
//! neither hashes nor allocates per node.

mod build;
mod draft;
mod ends;
mod frames;
pub(in crate::runtime) mod held;
mod locate;
mod straight;

pub(super) use build::{PlanOptions, StatefulKernels};
pub(super) use frames::{Count, Frame, ROOT};
pub(super) use locate::Uploads;
pub(super) use straight::{Back, Move, Straight};

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use super::executor::State;
use crate::device::Device;
use crate::error::{Error, Result, shortened};
use crate::kernel::{DynKernel, NodeMemory};
use crate::op::{OpDef, Signature};
use crate::optimize::Ends;
use crate::step::FunctionLibrary;
use crate::tensor::Tensor;

/// Stands for "no node" or "no slot" in an [`Edge`].
pub(super) const NONE: u32 = u32::MAX;

/// A kernel whose runs take longer, in nanoseconds, is handed to another thread rather than kept waiting.
const EXPENSIVE: u32 = 10_000;

/// What a node does when it runs.
pub(super) enum Action {
    /// Runs a kernel on the thread that drives the run, or on one of the pool.
    Compute(Arc<dyn DynKernel>),
    /// Runs a kernel that may wait.
    Wait(Arc<dyn DynKernel>),
    /// Hands its inputs on, or does nothing but order others.
    Forward,
    /// Hands its data on by one of its outputs: by a bool, or by an index.
    Switch {
        by_index: bool,
    },
    /// Hands on the first of its inputs that is alive.
    Merge,
    /// Hands its input to a frame, in its first iteration or, if it is constant, in all.
    Enter {
        frame: u32,
        constant: bool,
    },
    Exit,
    NextIteration,
    /// Runs even if nothing that it waits for is alive.
    ControlTrigger,
}

/// A node of a plan.
pub(super) struct PlanNode {
    pub(super) action: Action,
    /// How many edges must be served before it runs. For a merge that is twice the number of its control edges, and one.
    pub(super) pending: u32,
    /// Its position among the nodes of its frame.
    pub(super) local: u32,
    /// The slots of its inputs, in its frame.
    pub(super) inputs: Range<u32>,
    /// Its part of [`Plan::externals`].
    pub(super) externals: Range<u32>,
    /// For each output, which of [`Plan::output_edges`].
    pub(super) outputs: Range<u32>,
    /// The edges of the first output.
    pub(super) first_edges: Range<u32>,
    /// Where the only output goes if it goes to one place and that is no merge, so that the kernel can write it there;
    /// or else a slot of [`NONE`].
    pub(super) only_edge: Edge,
    /// Whether all inputs are values that come from other nodes.
    pub(super) is_filled: bool,
    /// Whether it hands on its value as soon as it comes, without waiting for its turn.
    pub(super) is_passed: bool,
    /// What takes its kernel's place if it takes variables, whose values a device may hold.
    pub(in crate::runtime) waiting: Option<Arc<dyn DynKernel>>,
    /// A bit for each of the first 64 inputs: whether it is a constant, which stays in its slot.
    pub(super) kept: u64,
    /// Its part of [`Plan::controls`]: the nodes that wait for it without taking an output.
    pub(super) controls: Range<u32>,
    /// Its device, of [`Plan::devices`].
    pub(super) device: u32,
    /// A running estimate of its time, in nanoseconds; `u32::MAX` until measured.
    cost: AtomicU32,
    pub(super) op: &'static OpDef,
    pub(super) signature: Arc<Signature>,
    pub(super) name: String,
    /// Inputs that come from references.
    pub(super) references: Box<[ReferenceInput]>,
    /// See [`RunInfo::unused_outputs`](crate::kernel::RunInfo).
    pub(super) unused_outputs: u64,
    pub(super) memory: Option<Box<NodeMemory>>,
}

/// An input that comes from an output of type `Ref(T)`.
pub(super) struct ReferenceInput {
    pub(super) index: u32,
    /// Whether the node takes the value and not the reference.
    pub(super) is_read: bool,
    /// Whether it must have a value.
    pub(super) is_initialized: bool,
    /// The name of the output.
    pub(super) source: String,
}

impl PlanNode {
    #[inline]
    pub(super) fn is_merge(&self) -> bool {
        matches!(self.action, Action::Merge)
    }

    /// Empties the slots of its inputs, but for constants.
    #[inline(always)]
    pub(super) fn clear(&self, inputs: &mut [Option<Tensor>]) {
        for (index, input) in inputs.iter_mut().enumerate() {
            if index >= 64 || self.kept >> index & 1 == 0 {
                Tensor::clear(input);
            }
        }
    }

    #[inline]
    pub(super) fn is_expensive(&self) -> bool {
        self.cost.load(Ordering::Relaxed) > EXPENSIVE
    }

    /// Whether no run has been measured yet.
    #[inline]
    pub(super) fn is_unmeasured(&self) -> bool {
        self.cost.load(Ordering::Relaxed) == u32::MAX
    }

    /// Takes a measured run into the estimate; returns whether that changed if the node is expensive.
    pub(super) fn measured(&self, nanoseconds: u32) -> bool {
        let old = self.cost.load(Ordering::Relaxed);
        let new = if old == u32::MAX {
            nanoseconds.min(u32::MAX - 1)
        } else {
            ((u64::from(old) * 9 + u64::from(nanoseconds)) / 10) as u32
        };
        self.cost.store(new, Ordering::Relaxed);
        (old > EXPENSIVE) != (new > EXPENSIVE)
    }
}

/// Takes an output to an input.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    /// The node that waits for it; [`NONE`] for a fetch.
    pub(super) node: u32,
    /// Where the tensor goes, in the frame of the node that waits for it.
    pub(super) slot: u32,
}

/// Where a tensor comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    /// [`Plan::constants`], by position.
    Constant(u32),
    /// A feed, by position.
    Feed(u32),
    /// An output of a node of the plan.
    Node { node: u32, output: u32 },
}

/// An input that is no output of another node of the plan.
pub(super) struct External {
    pub(super) slot: u32,
    pub(super) source: Source,
}

/// See the module.
pub(super) struct Plan {
    pub(super) nodes: Vec<PlanNode>,
    pub(super) frames: Vec<Frame>,
    pub(super) devices: Arc<[Arc<dyn Device>]>,
    /// The threads of each device.
    pub(super) pools: Vec<Option<Arc<rayon::ThreadPool>>>,
    pub(super) edges: Vec<Edge>,
    /// For each output of each node, its part of [`Plan::edges`].
    pub(super) output_edges: Vec<Range<u32>>,
    pub(super) controls: Vec<u32>,
    pub(super) externals: Vec<External>,
    /// The feeds that one node takes, once, with the slot in the root frame to which they go as a run begins: they are the
    /// node's own, which may change them in place if nobody else has them.
    pub(super) only_uses: Vec<(u32, u32)>,
    pub(super) constants: Vec<Tensor>,
    /// The nodes that wait for nothing.
    pub(super) initial: Vec<u32>,
    /// For each fetch, its slot or what else it is.
    pub(super) fetches: Vec<Source>,
    /// The first of the slots of the fetches, in the root frame.
    pub(super) fetch_slots: usize,
    /// What is fed, to check feeds against.
    pub(super) feeds: Vec<FeedInfo>,
    /// Whether nodes may be dead, and loops under way.
    pub(super) branches: bool,
    /// Whether a run may have to wait.
    pub(super) waits: bool,
    /// Whether some node is expensive, so that a run belongs on the pool.
    pub(super) has_expensive: AtomicBool,
    /// How many runs there were, which moves the nodes whose time is measured.
    pub(super) runs: AtomicU32,
    /// Keeps the functions that kernels call. A body's plan holds them weakly.
    pub(super) _functions: Arc<dyn FunctionLibrary>,
    /// States of runs that have ended, for reuse.
    #[expect(clippy::vec_box, reason = "a run takes the box, and threads hand it on")]
    pub(super) idle: Mutex<Vec<Box<State>>>,
}

/// What a feed must be.
pub(super) struct FeedInfo {
    pub(super) name: String,
    pub(super) dtype: crate::dtype::DataType,
    pub(super) shape: crate::shape::PartialShape,
}

impl FeedInfo {
    /// Refuses a tensor of another dtype or shape.
    pub(super) fn check(&self, tensor: &Tensor) -> Result<()> {
        if tensor.dtype() != self.dtype {
            let message = format!("feed `{}` must be {}, not {}", shortened(&self.name), self.dtype, tensor.dtype());
            return Err(Error::invalid_argument(message));
        }
        if !self.shape.accepts(tensor.shape()) {
            let name = shortened(&self.name);
            let message = format!("feed `{name}` must have shape {}, not {}", self.shape, tensor.shape());
            return Err(Error::invalid_argument(message));
        }
        Ok(())
    }
}

/// What a run is to do.
pub(super) struct Request {
    pub(super) ends: Ends,
    /// Whether feeds come, and fetches go, while the plan runs.
    pub(super) is_partial: bool,
}

impl Plan {
    /// Recomputes [`Plan::has_expensive`].
    pub(super) fn classify(&self) {
        self.has_expensive.store(self.nodes.iter().any(PlanNode::is_expensive), Ordering::Relaxed);
    }

    /// Finds out where outputs can be written to the slot that they go to.
    fn find_only_edges(&mut self) {
        for index in 0..self.nodes.len() {
            let node = &self.nodes[index];
            let [edge] = self.edges_of(node, 0) else { continue };
            let is_merge = self.nodes.get(edge.node as usize).is_some_and(PlanNode::is_merge);
            if node.outputs.len() == 1 && !is_merge {
                self.nodes[index].only_edge = *edge;
            }
        }
    }

    /// The edges of an output.
    #[inline]
    pub(super) fn edges_of(&self, node: &PlanNode, output: usize) -> &[Edge] {
        let range = match output {
            0 => &node.first_edges,
            _ => &self.output_edges[node.outputs.start as usize + output],
        };
        &self.edges[range.start as usize..range.end as usize]
    }
}

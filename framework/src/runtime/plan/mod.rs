//! A plan: what one signature of feeds, fetches and targets needs of a graph, laid out in flat arrays so that a run
//! neither hashes nor allocates per node.

mod build;
mod context;
mod draft;
mod ends;
mod frames;
pub(in crate::runtime) mod held;
pub(in crate::runtime) mod lay_out;
pub(in crate::runtime) mod layout;
mod leave_loops;
mod resolve;
mod static_loop;
mod transfers;

pub(super) use context::{PlanOptions, StatefulKernels, Uploads};
pub(super) use ends::{feed_key, fetch_key};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use self::layout::{Layout, Source};
use super::index::{NodeIndex, Table, kind};
use crate::device::Device;
use crate::error::{Error, Result, shortened};
use crate::kernel::{DynKernel, NodeMemory};
use crate::op::{OpDef, Signature};
use crate::step::FunctionLibrary;
use crate::tensor::Tensor;
use crate::threads::ThreadPool;

/// A kernel whose runs take longer, in nanoseconds, is handed to another thread rather than kept waiting.
const EXPENSIVE: u32 = 10_000;

/// What runs a node.
pub(super) enum Action {
    /// A kernel, on the thread that drives the run or on one of the pool.
    Compute(Arc<dyn DynKernel>),
    /// A kernel that may wait.
    Wait(Arc<dyn DynKernel>),
    /// The runtime itself, by the node's [`Role`](layout::Role).
    Flow,
}

/// A node of a plan: what its [`LayoutNode`](layout::LayoutNode) does not tell.
pub(super) struct PlanNode {
    pub(super) action: Action,
    /// What takes its kernel's place if it takes variables, whose values a device may hold.
    pub(super) waiting: Option<Arc<dyn DynKernel>>,
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
    /// The function that the node was taken from; `None` if it was always in its graph.
    pub(super) function: Option<Box<str>>,
    pub(super) unused_outputs: u64,
    pub(super) memory: Option<Box<NodeMemory>>,
    /// What its outputs are held against.
    #[cfg(debug_assertions)]
    pub(super) inferred: Option<Box<crate::shape_inference::Inferred>>,
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

/// See the module.
pub(super) struct Plan {
    /// The function whose body it runs; empty for the graph itself.
    pub(super) function: Box<str>,
    pub(super) layout: Layout,
    pub(super) nodes: Table<kind::Node, PlanNode>,
    pub(super) devices: Arc<[Arc<dyn Device>]>,
    /// The threads of each device.
    pub(super) pools: Vec<Option<Arc<ThreadPool>>>,
    pub(super) constants: Table<kind::Constant, Tensor>,
    /// The nodes that wait for nothing, the expensive ones first.
    pub(super) initial: Vec<NodeIndex>,
    /// What the fetches are: the outputs of nodes go to [`Layout::fetches`].
    pub(super) fetches: Vec<Source>,
    /// What is fed, to check feeds against.
    pub(super) feeds: Vec<FeedInfo>,
    /// Whether a run may have to wait.
    pub(super) waits: bool,
    /// Whether some node is expensive, so that a run belongs on the pool.
    pub(super) has_expensive: AtomicBool,
    /// Keeps the functions that kernels call. A body's plan holds them weakly.
    pub(super) _functions: Arc<dyn FunctionLibrary>,
}

/// What a feed must be.
pub(super) struct FeedInfo {
    pub(super) name: String,
    pub(super) dtype: crate::dtype::DataType,
}

impl FeedInfo {
    /// Refuses a tensor of another dtype. Its shape may be another one than the graph says, as with TensorFlow's sessions in
    /// C++: that a model says `[1, 8]` need not keep it from computing a batch of four.
    pub(super) fn check(&self, tensor: &Tensor) -> Result<()> {
        if tensor.dtype() != self.dtype {
            let message = format!("feed `{}` must be {}, not {}", shortened(&self.name), self.dtype, tensor.dtype());
            return Err(Error::invalid_argument(message));
        }
        Ok(())
    }
}

impl Plan {
    /// Recomputes [`Plan::has_expensive`].
    pub(super) fn classify(&self) {
        self.has_expensive.store(self.nodes.values().iter().any(PlanNode::is_expensive), Ordering::Relaxed);
    }
}

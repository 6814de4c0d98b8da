//! Nodes of a plan to be, before it is known where their tensors go.

use std::sync::Arc;

use super::layout::Source;
use crate::attr::{AttrMap, AttrValue};
use crate::dtype::TString;
use crate::error::{Error, Result};
use crate::graph::{Node, NodeClass, NodeId};
use crate::kernel::{DynKernel, HostSlots, NodeMemory};
use crate::op::{OpDef, Signature};
use crate::runtime::index::{NodeIndex, Table, kind};
use crate::tensor::Tensor;

/// A node of a plan to be.
pub(super) struct Draft {
    pub(super) id: NodeId,
    pub(super) act: Act,
    pub(super) device: u32,
    pub(super) memory: Option<Box<NodeMemory>>,
    /// What it has in host memory, if the device has its own.
    pub(super) slots: Option<Box<HostSlots>>,
    /// What it is, if that is not the graph's node.
    pub(super) own: Option<Box<Own>>,
    pub(super) inputs: Vec<Source>,
    pub(super) controls: Vec<NodeIndex>,
}

impl Draft {
    pub(super) fn of(id: NodeId, act: Act, device: u32, inputs: Vec<Source>, controls: Vec<NodeIndex>) -> Draft {
        Draft { id, act, device, memory: None, slots: None, own: None, inputs, controls }
    }
}

/// What one step hands to the next.
pub(super) struct Drafts {
    pub(super) nodes: Table<kind::Node, Draft>,
    pub(super) constants: Table<kind::Constant, Tensor>,
    /// The node of each constant.
    pub(super) constant_nodes: Table<kind::Constant, NodeId>,
    /// What the fetches are; none if nodes give them.
    pub(super) fetches: Vec<Source>,
}

/// What a node is that the graph does not have.
pub(super) struct Own {
    pub(super) name: String,
    pub(super) op: &'static OpDef,
    pub(super) signature: Arc<Signature>,
}

/// What a draft does.
pub(super) enum Act {
    Kernel(Arc<dyn DynKernel>),
    Forward,
    Switch { by_index: bool },
    Merge,
    Enter { name: TString, constant: bool, parallel_iterations: u32 },
    Exit,
    NextIteration,
    ControlTrigger,
}

impl Act {
    /// What the runtime does itself; `None` for nodes that have a kernel.
    pub(super) fn of(node: &Node) -> Result<Option<Act>> {
        let plain = |act| Ok(Some(act));
        match node.class {
            NodeClass::Switch => plain(Act::Switch { by_index: false }),
            NodeClass::SwitchN => plain(Act::Switch { by_index: true }),
            NodeClass::Merge => plain(Act::Merge),
            NodeClass::Exit => plain(Act::Exit),
            NodeClass::NextIteration => plain(Act::NextIteration),
            NodeClass::LoopCond | NodeClass::NoOp => plain(Act::Forward),
            NodeClass::ControlTrigger => plain(Act::ControlTrigger),
            NodeClass::Enter => Act::enter(&node.attrs).map(Some),
            _ => Ok(None),
        }
    }

    fn enter(attrs: &AttrMap) -> Result<Act> {
        let parallel_iterations: i64 = attrs.required("parallel_iterations")?;
        let parallel_iterations = u32::try_from(parallel_iterations).ok().filter(|&n| n > 0).ok_or_else(|| {
            Error::invalid_argument(format!("parallel_iterations must be at least 1, not {parallel_iterations}"))
        })?;
        let name = match attrs.get("frame_name") {
            Some(AttrValue::String(name)) => name.clone(),
            _ => return Err(Error::invalid_argument("attr `frame_name` is missing")),
        };
        Ok(Act::Enter { name, constant: attrs.required("is_constant")?, parallel_iterations })
    }
}

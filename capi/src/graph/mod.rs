//! `TF_Graph` and `TF_Operation`: a graph that several threads may extend, and its nodes, whose addresses stay.

use std::ffi::{CString, c_int};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use kernlink::graph::{Graph, NodeId, Output};
use kernlink::{Error, Result};

use crate::pointer::get;

/// A graph, as C holds it: a pointer to an `Arc<CGraph>` in a box. Sessions and operations share it.
#[repr(C)]
pub struct TF_Graph {
    _opaque: [u8; 0],
}

/// A node of a graph.
#[repr(C)]
pub struct TF_Operation {
    _opaque: [u8; 0],
}

/// An output of a node.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TF_Output {
    /// The node.
    pub oper: *mut TF_Operation,
    /// Which of its outputs.
    pub index: c_int,
}

/// An input of a node.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TF_Input {
    /// The node.
    pub oper: *mut TF_Operation,
    /// Which of its inputs.
    pub index: c_int,
}

/// What is behind a `TF_Graph`.
pub struct CGraph {
    state: Mutex<GraphState>,
}

/// What its lock guards.
pub struct GraphState {
    /// The graph. Whoever adds nodes calls [`GraphState::changed`] afterwards.
    pub graph: Graph,
    /// For each node, what C points to; made when C first asks. Boxed, as addresses stay.
    operations: Vec<Option<Box<COperation>>>,
    /// How often the graph was changed: tells sessions whether they have all of it.
    pub generation: u64,
}

/// What is behind a `TF_Operation`.
pub struct COperation {
    graph: Weak<CGraph>,
    /// The node.
    pub id: NodeId,
    /// Its name, for C.
    pub name: CString,
    /// Its op's name, for C.
    pub op: CString,
    /// The device that it asks for, for C.
    pub device: CString,
}

impl CGraph {
    /// A graph, to be shared.
    pub fn new(graph: Graph) -> Arc<CGraph> {
        Arc::new(CGraph { state: Mutex::new(GraphState { graph, operations: Vec::new(), generation: 0 }) })
    }

    /// What is behind the pointer.
    ///
    /// # Safety
    /// The pointer is null or a graph of this API.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for null.
    #[track_caller]
    pub unsafe fn from_c<'a>(graph: *const TF_Graph) -> Result<&'a Arc<CGraph>> {
        // SAFETY: as the caller says.
        unsafe { get("the graph", graph.cast::<Arc<CGraph>>()) }
    }

    /// The pointer for C.
    pub fn into_c(self: Arc<CGraph>) -> *mut TF_Graph {
        Box::into_raw(Box::new(self)).cast()
    }

    /// The graph, for as long as the result is kept.
    pub fn lock(&self) -> MutexGuard<'_, GraphState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GraphState {
    /// The node's `TF_Operation`; null if there is no such node.
    pub fn operation(&mut self, graph: &Arc<CGraph>, id: NodeId) -> *mut TF_Operation {
        let Some(node) = self.graph.get(id) else { return std::ptr::null_mut() };
        if self.operations.len() <= id.index() {
            self.operations.resize_with(id.index() + 1, || None);
        }
        let text = |text: &str| CString::new(text).unwrap_or_default();
        let operation = self.operations[id.index()].get_or_insert_with(|| {
            let (name, op, device) = (text(&node.name), text(&node.op.def.name), text(&node.device));
            Box::new(COperation { graph: Arc::downgrade(graph), id, name, op, device })
        });
        std::ptr::from_mut::<COperation>(operation).cast()
    }

    /// Notes that the graph has other nodes than before.
    pub fn changed(&mut self) {
        self.generation += 1;
    }
}

impl COperation {
    /// What is behind the pointer.
    ///
    /// # Safety
    /// The pointer is null or an operation of a graph of this API that is still there.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for null.
    #[track_caller]
    pub unsafe fn from_c<'a>(operation: *const TF_Operation) -> Result<&'a COperation> {
        // SAFETY: as the caller says.
        unsafe { get("the operation", operation.cast::<COperation>()) }
    }

    /// The graph that it is in.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if the graph is gone.
    #[track_caller]
    pub fn graph(&self) -> Result<Arc<CGraph>> {
        self.graph.upgrade().ok_or_else(|| Error::failed_precondition("the operation's graph was deleted"))
    }
}

/// The output that C named, which is of `graph` and exists.
///
/// # Safety
/// As [`COperation::from_c`].
///
/// # Errors
/// INVALID_ARGUMENT for null, an operation of another graph, and an index that the node does not have.
#[track_caller]
pub unsafe fn output_in(graph: &CGraph, state: &GraphState, output: TF_Output) -> Result<Output> {
    // SAFETY: as the caller says.
    let operation = unsafe { COperation::from_c(output.oper) }?;
    if !std::ptr::eq(operation.graph.as_ptr(), graph) {
        let name = operation.name.to_string_lossy();
        return Err(Error::invalid_argument(format!("the operation `{name}` is of another graph")));
    }
    let outputs = state.graph.node(operation.id).signature.outputs.len();
    match usize::try_from(output.index) {
        Ok(index) if index < outputs => Ok(Output { node: operation.id, index }),
        _ => {
            let (name, index) = (operation.name.to_string_lossy(), output.index);
            Err(Error::invalid_argument(format!("Node '{name}' has {outputs} outputs, and no output {index}")))
        }
    }
}

//! `TF_Graph` and `TF_Operation`: graphs that grow, and their nodes at addresses that stay.

mod attrs;
mod description;
mod gradients;
mod locked;
mod operation;
mod shapes;
#[cfg(test)]
mod tests;
mod users;
mod while_loop;

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use kernlink::graph::{Graph, NodeId, Output};
use kernlink::{Error, Result};

pub use attrs::*;
pub use description::*;
pub use gradients::*;
pub use locked::*;
pub use operation::*;
pub use shapes::*;
pub use while_loop::*;

use users::Users;
use while_loop::Loop;

use crate::abi::{TF_Graph, TF_Operation, TF_Output};
use crate::pointer::{c_text, opaque, release, share_with_c};
use crate::program::registry;

opaque! {
    TF_Graph => CGraph, "graph";
    TF_Operation => COperation, "operation";
}

/// What is behind a `TF_Graph`. Its pointer is shared by its maker and by the sessions that run it.
pub(crate) struct CGraph {
    state: RwLock<GraphState>,
    /// The loop of which this is the condition's graph.
    of_loop: OnceLock<Loop>,
}

/// A graph and its nodes' addresses.
pub(crate) struct GraphState {
    pub(crate) graph: Graph,
    /// By the positions of the nodes.
    #[allow(clippy::vec_box, reason = "the addresses of operations stay")]
    operations: Vec<Box<COperation>>,
    users: Users,
}

/// What is behind a `TF_Operation`.
pub(crate) struct COperation {
    /// The graph, which owns this.
    graph: *const CGraph,
    pub(crate) id: NodeId,
    pub(crate) name: CString,
    /// The names of its op that C has been told, the last of which it has.
    told_ops: Mutex<Vec<CString>>,
    pub(crate) device: CString,
}

// SAFETY: the pointer is only followed by who holds the operation, which is alive as long as its graph.
unsafe impl Send for COperation {}
// SAFETY: as above.
unsafe impl Sync for COperation {}

impl CGraph {
    /// An empty graph.
    pub(crate) fn new() -> Result<Arc<CGraph>> {
        Ok(CGraph::of(Graph::new(&registry()?)))
    }

    /// A graph with these nodes.
    pub(crate) fn of(graph: Graph) -> Arc<CGraph> {
        let state = GraphState { graph, operations: Vec::new(), users: Users::default() };
        let shared = Arc::new(CGraph { state: RwLock::new(state), of_loop: OnceLock::new() });
        let _: Result<()> = shared.change(|_| Ok(()));
        shared
    }

    /// The graph as it is, while others only read it, too.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, GraphState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the graph. Ids of nodes that it has must stay; those that are added have operations afterwards. If `change` fails or
    /// panics, the graph is as it was.
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut Graph) -> Result<R>) -> Result<R> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        let result = state.graph.all_or_nothing(change)?;
        let graph = &state.graph;
        for (position, node) in graph.nodes().iter().enumerate().skip(state.operations.len()) {
            let Some(id) = graph.id(position) else { break };
            state.operations.push(Box::new(COperation {
                graph: self,
                id,
                name: c_text(&node.name),
                told_ops: Mutex::default(),
                device: c_text(&node.device),
            }));
        }
        state.users.follow(graph);
        Ok(result)
    }
}

impl CGraph {
    /// Keeps the loop of which this is the condition's graph.
    pub(crate) fn keep_loop(&self, kept: Loop) -> &Loop {
        self.of_loop.get_or_init(|| kept)
    }

    /// The loop of which this is the condition's graph.
    pub(crate) fn kept_loop(&self) -> Option<&Loop> {
        self.of_loop.get()
    }
}

impl GraphState {
    /// The operation of a node; null for one that the graph has not.
    pub(crate) fn operation(&self, id: NodeId) -> *mut TF_Operation {
        self.at(id.index())
    }

    /// The operation of the node at this position; null if there is none.
    pub(crate) fn at(&self, position: usize) -> *mut TF_Operation {
        let operation = self.operations.get(position);
        operation.map_or(ptr::null_mut(), |operation| ptr::from_ref(&**operation).cast_mut().cast())
    }

    /// Who uses a node.
    pub(crate) fn users(&self, id: NodeId) -> &users::NodeUsers {
        self.users.of(id)
    }

    /// An output, as C names it.
    pub(crate) fn output_to_c(&self, output: Output) -> TF_Output {
        TF_Output { oper: self.operation(output.node), index: output.index as c_int }
    }
}

impl COperation {
    /// The graph.
    pub(crate) fn graph(&self) -> &CGraph {
        // SAFETY: it owns the operation, and so is alive.
        unsafe { &*self.graph }
    }

    /// Whether the operation is one of this graph's.
    pub(crate) fn is_of(&self, graph: &CGraph) -> bool {
        ptr::eq(self.graph, graph)
    }

    /// The name of its op, which `op` is. It changes where a gradient has the operation hand out more; the texts that C was given
    /// stay.
    pub(crate) fn op_text(&self, op: &str) -> *const c_char {
        let mut told = self.told_ops.lock().unwrap_or_else(PoisonError::into_inner);
        match told.last() {
            Some(last) if last.to_bytes() == op.as_bytes() => last.as_ptr(),
            _ => {
                let text = c_text(op);
                // The text itself stays where it is when the list moves.
                let first = text.as_ptr();
                told.push(text);
                first
            }
        }
    }

    /// Its name, as messages need it.
    pub(crate) fn name_text(&self) -> &str {
        text_of(&self.name)
    }
}

fn text_of(text: &CStr) -> &str {
    text.to_str().unwrap_or_default()
}

/// The node of an operation of this graph.
///
/// # Safety
/// The operation is null or one of a graph that is alive.
///
/// # Errors
/// INVALID_ARGUMENT for null, and an operation of another graph.
pub(crate) unsafe fn node_in(graph: &CGraph, operation: *const TF_Operation) -> Result<NodeId> {
    // SAFETY: as the caller says.
    let operation = unsafe { crate::pointer::borrow(operation) }?;
    match operation.is_of(graph) {
        true => Ok(operation.id),
        false => Err(Error::invalid_argument(format!("operation '{}' is one of another graph", operation.name_text()))),
    }
}

/// The output that C names, of a node of this graph.
///
/// # Safety
/// The operation is null or one of a graph that is alive.
///
/// # Errors
/// INVALID_ARGUMENT for null, an operation of another graph, and an index that the node has not.
pub(crate) unsafe fn output_in(graph: &CGraph, state: &Graph, output: TF_Output) -> Result<Output> {
    // SAFETY: as the caller says.
    let id = unsafe { node_in(graph, output.oper) }?;
    let node = state.get(id).ok_or_else(|| Error::invalid_argument("the graph has no such operation"))?;
    let count = node.signature.outputs.len();
    match usize::try_from(output.index) {
        Ok(index) if index < count => Ok(Output { node: id, index }),
        _ => Err(Error::invalid_argument(format!(
            "Node '{}' (type: '{}', num of outputs: {count}) does not have output {}",
            node.name,
            node.op_name(),
            output.index
        ))),
    }
}

/// An empty graph; null if the program's registrations contradict each other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_NewGraph() -> *mut TF_Graph {
    kernlink_library::host::guarded(ptr::null_mut(), || CGraph::new().map_or(ptr::null_mut(), share_with_c))
}

/// Gives up a graph. Sessions that run it keep it alive, and so its operations.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_DeleteGraph(graph: *mut TF_Graph) {
    // SAFETY: as said in `pointer`.
    unsafe { release(graph) };
}

//! Gradients of nodes that call functions: calls, branches and loops.
//!
//! A function is differentiated as a graph of its own: gradient nodes are added to its body, which is then cut in two. What the
//! gradient needs of the body's values becomes further results of the forward part, and arguments of the backward part. The
//! node calls the forward part from then on, and a node that calls the backward part is added. Whatever the backward part is
//! made of can be differentiated in turn.
//!
//! - `joint`: the body with its gradient, and where it is cut;
//! - `call`, `branch`, `loops`, `range`: the nodes;
//! - `symbolic`: gradients that a node asks for by the name of a function;
//! - `shared`: what is made of a function once for all nodes that call it;
//! - `emit`: adding nodes by the names of their ops.

mod branch;
pub(super) mod call;
pub(super) mod emit;
pub(super) mod joint;
mod loops;
mod range;
mod shared;
pub(super) mod symbolic;

pub(super) use shared::Shared;

use super::pass::Pass;
use super::scope::GradientScope;
use super::value::Value;
use crate::error::{Error, Result};
use crate::graph::{NodeClass, NodeId, Output};

/// Whether the gradients of nodes of a class are made of those of functions.
pub(super) fn is_for(class: NodeClass) -> bool {
    class.is_call() || matches!(class, NodeClass::For | NodeClass::SymbolicGradient)
}

/// What flows on to the inputs of a node that calls functions.
///
/// # Errors
/// NOT_FOUND if an op in one of the functions has no gradient, or an op that gradients are made of is missing; UNIMPLEMENTED if
/// a function calls itself, or has what cannot be differentiated twice.
pub(super) fn differentiate(pass: &mut Pass<'_>, id: NodeId, flows: &[Option<Output>]) -> Result<Vec<Option<Output>>> {
    match pass.graph.node(id).class {
        NodeClass::Call => call::differentiate(pass, id, flows),
        NodeClass::If => branch::differentiate(pass, id, flows, &["then_branch", "else_branch"]),
        NodeClass::Case => branch::differentiate(pass, id, flows, &["branches"]),
        NodeClass::While => loops::differentiate(pass, id, flows),
        NodeClass::For => range::differentiate(pass, id, flows),
        NodeClass::SymbolicGradient => symbolic::differentiate(pass, id, flows),
        _ => Err(Error::internal("a node that calls no function")),
    }
}

/// What flows back to the first outputs, without slices.
pub(super) fn dense_flows(scope: &mut GradientScope<'_>, count: usize) -> Result<Vec<Option<Value>>> {
    (0..count).map(|index| scope.node.flow(index).map(|flow| scope.dense(flow)).transpose()).collect()
}

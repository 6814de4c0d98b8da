//! What a rewrite may make.

use crate::op::OpDef;

/// An op of which a rewrite may make nodes.
#[derive(Clone, Copy)]
pub struct CreatedOp {
    /// The op.
    pub op: &'static OpDef,
    /// The op without which the rewrite makes none: what a graph without it, or a build, need not keep `op` for.
    pub of: Option<&'static OpDef>,
}

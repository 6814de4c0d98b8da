//! Collectives: what the steps of several processes, or several devices of one step, compute together.

use super::{BoxFuture, Step};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// What members of a group do together.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CollectiveKind {
    /// Merges everybody's tensor by a binary op, such as `Add`, and applies a final op, such as `Id` or `Div`, to the
    /// result, which everybody gets.
    Reduce {
        /// The op by which two tensors become one.
        merge_op: String,
        /// The op that is applied to the result and the size of the group.
        final_op: String,
    },
    /// Everybody gets everybody's tensors, one after the other along the first dimension.
    Gather,
    /// Everybody gets the tensor of the one that sends.
    Broadcast {
        /// Whether this member sends.
        is_source: bool,
    },
    /// Anything else, by the name that the members agree on.
    Other(String),
}

/// What one member brings to a collective.
#[derive(Clone, Debug)]
pub struct CollectiveRequest {
    /// What is done.
    pub kind: CollectiveKind,
    /// Names the group.
    pub group_key: i32,
    /// How many members the group has.
    pub group_size: usize,
    /// Tells the collectives of a group from each other.
    pub instance_key: i64,
    /// The device of this member.
    pub device: String,
    /// The dtype of the result.
    pub dtype: DataType,
    /// What this member brings; `None` if it only receives.
    pub input: Option<Tensor>,
}

/// Does collectives. A session is given one by [`SessionOptions::collectives`](crate::runtime::SessionOptions), and its
/// kernels reach it by [`RawContext::collectives`](crate::kernel::RawContext::collectives).
pub trait CollectiveExecutor: Send + Sync {
    /// Takes part in a collective, and waits for the other members. If the step ends early, the future is dropped.
    ///
    /// The future gives whatever error the collective meets: INVALID_ARGUMENT for members that do not fit each other,
    /// UNAVAILABLE for one that cannot be reached.
    fn execute<'a>(&'a self, step: &'a Step, request: CollectiveRequest) -> BoxFuture<'a, Result<Tensor>>;

    /// Says that a step has failed: members that wait for it are to be told.
    fn abort(&self, step: &Step, reason: &Error) {
        _ = (step, reason);
    }
}

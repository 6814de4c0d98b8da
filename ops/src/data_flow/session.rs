//! Locks, and tensors that stay in the session.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// A lock that one run holds at a time.
#[register_op(
    attr("container: string = ''", "Where the lock is kept; empty for the default container."),
    attr("shared_name: string = ''", "The name under which nodes share the lock; empty for one of its own."),
    output("resource: resource", "The lock."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub struct MutexV2;

/// Waits for a lock and holds it until the output is gone.
#[register_op(
    input("mutex: resource", "The lock."),
    output("mutex_lock: variant", "Holds the lock while it exists."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub struct MutexLock;

/// Lets go of a lock.
#[register_op(input("mutex_lock: variant", "What holds the lock."), stateful, shape_fn = consume_shape)]
pub struct ConsumeMutexLock;

#[register_op(
    attr("T: type"),
    input("value: T"),
    output("handle: string", "The name."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub enum SessionHandles {
    /// Keeps a tensor in the session and names it.
    GetSessionHandle,
    /// Keeps a tensor in the session and names it.
    #[op(output("handle: resource"))]
    GetSessionHandleV2,
}

/// The tensor that the session keeps under a name.
#[register_op(
    attr("dtype: type"),
    input("handle: string", "The name."),
    output("value: dtype"),
    stateful,
    shape_fn = get_tensor_shape,
)]
pub struct GetSessionTensor;

/// Forgets the tensor that the session keeps under a name.
#[register_op(input("handle: string", "The name."), stateful, shape_fn = delete_tensor_shape)]
pub struct DeleteSessionTensor;

fn consume_shape(_: &mut InferenceContext<'_>) -> Result<()> {
    Ok(())
}

fn get_tensor_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 0)?;
    shapes::unknown_shape(c)
}

fn delete_tensor_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 0)?;
    Ok(())
}

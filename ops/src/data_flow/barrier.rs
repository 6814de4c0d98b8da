//! Barriers, where the parts of elements meet.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use super::handle::{close_reference_shape, reference, reference_shape, size_reference_shape};
use crate::shapes;

/// Collects the components of elements by key, and gives elements that are complete in the order of their first
/// components.
#[register_op(
    attr("component_types: list(type) >= 1", "The dtypes of the components."),
    attr("shapes: list(shape) >= 0 = []", "The shapes of the components."),
    attr("capacity: int = -1", "Must be −1: no limit."),
    attr("container: string = ''", "Where the barrier is kept; empty for the default container."),
    attr("shared_name: string = ''", "The name under which nodes share the barrier; empty for one of its own."),
    output("handle: Ref(string)", "The name of the barrier."),
    stateful,
    shape_fn = reference_shape,
)]
pub struct Barrier;

/// Gives elements of a barrier one of their components.
#[register_op(
    attr("T: type"),
    attr("component_index: int", "Which component."),
    input("handle: Ref(string)", "The barrier."),
    input("keys: string", "The keys of the elements, a vector."),
    input("values: T", "The components, one slice a key."),
    shape_fn = insert_many_shape,
)]
pub struct BarrierInsertMany;

/// Takes complete elements out of a barrier; waits until there are as many.
#[register_op(
    attr("component_types: list(type) >= 1", "The dtypes of the components."),
    attr("allow_small_batch: bool = false", "Whether fewer elements are given once the barrier is closed."),
    attr(
        "wait_for_incomplete: bool = false",
        "Whether elements that are begun are awaited once the barrier is closed.",
    ),
    attr("timeout_ms: int = -1", "Must be −1: no limit."),
    input("handle: Ref(string)", "The barrier."),
    input("num_elements: int32", "How many, a scalar."),
    output("indices: int64", "When each element was begun."),
    output("keys: string", "The keys."),
    output("values: component_types", "The components, stacked along a new first dimension."),
    shape_fn = shapes::unknown_shape,
)]
pub struct BarrierTakeMany;

/// Closes a barrier: no new elements are begun.
#[register_op(
    attr("cancel_pending_enqueues: bool = false", "Whether elements that are begun get no more components."),
    input("handle: Ref(string)", "The barrier."),
    shape_fn = close_reference_shape,
)]
pub struct BarrierClose;

/// The number of complete elements in a barrier.
#[register_op(input("handle: Ref(string)", "The barrier."), output("size: int32"), shape_fn = size_reference_shape)]
pub struct BarrierReadySize;

/// The number of elements in a barrier that lack components.
#[register_op(input("handle: Ref(string)", "The barrier."), output("size: int32"), shape_fn = size_reference_shape)]
pub struct BarrierIncompleteSize;

fn insert_many_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    reference(c)?;
    let keys = c.with_rank(c.input(1), 1)?;
    let values = c.with_rank_at_least(c.input(2), 1)?;
    c.merge(keys, c.vector(c.dim(values, 0)))?;
    Ok(())
}

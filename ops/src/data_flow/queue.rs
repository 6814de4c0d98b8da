//! Queues: elements that wait until a run takes them.

use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use super::handle::{close_reference_shape, reference_shape, size_reference_shape};
use crate::shapes;

#[register_op(
    attr("component_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("shapes: list(shape) >= 0 = []", "The components' shapes; without them only single elements are taken out."),
    attr("capacity: int = -1", "How many elements fit, or −1 for any number."),
    attr("container: string = ''", "Where the queue is kept; empty for the default container."),
    attr("shared_name: string = ''", "The name under which nodes share the queue; empty for a queue of its own."),
    output("handle: Ref(string)", "The name of the queue."),
    stateful,
    shape_fn = reference_shape,
)]
pub enum Queues {
    /// A queue that gives elements in the order in which they came.
    FIFOQueue,
    /// A queue that gives elements in the order in which they came.
    #[op(output("handle: resource", "The queue."), shape_fn = shapes::scalar_shape)]
    FIFOQueueV2,
    /// A queue that gives elements in order, those of a batch padded with zeros to one shape.
    PaddingFIFOQueue,
    /// A queue that gives elements in order, those of a batch padded with zeros to one shape.
    #[op(output("handle: resource", "The queue."), shape_fn = shapes::scalar_shape)]
    PaddingFIFOQueueV2,
    /// A queue that gives elements in random order.
    #[op(
        attr(
            "min_after_dequeue: int = 0",
            "How many elements must be left while the queue is open, so that they are mixed.",
            after = "capacity",
        ),
        attr("seed: int = 0", "The seed, with `seed2`; both zero for a random one.", after = "min_after_dequeue"),
        attr("seed2: int = 0", after = "seed")
    )]
    RandomShuffleQueue,
    /// A queue that gives elements in random order.
    #[op(like = RandomShuffleQueue, output("handle: resource", "The queue."), shape_fn = shapes::scalar_shape)]
    RandomShuffleQueueV2,
    /// A queue that gives elements by their first component, the lowest first, an `int64` that `component_types` leaves
    /// out.
    #[op(attr("component_types: list(type) >= 0 = []"), attr("shapes: list(shape) >= 0"))]
    PriorityQueue,
    /// A queue that gives elements by their first component, the lowest first, an `int64` that `component_types` leaves
    /// out.
    #[op(like = FIFOQueueV2, attr("component_types: list(type) >= 0 = []"), attr("shapes: list(shape) >= 0"))]
    PriorityQueueV2,
}

/// The queue behind a resource handle as a reference, for ops that take one.
#[register_op(
    input("resource: resource", "The queue."),
    output("handle: Ref(string)", "The name of the queue."),
    stateful,
    shape_fn = reference_shape,
)]
pub struct FakeQueue;

#[register_op(
    attr("Tcomponents: list(type) >= 1"),
    attr("timeout_ms: int = -1", "Must be −1: no limit."),
    input("handle: Ref(string)", "The queue."),
    input("components: Tcomponents", "The components of the element."),
    shape_fn = shapes::unknown_shape,
)]
pub enum Enqueueing {
    /// Adds one element to a queue; waits while it is full.
    QueueEnqueue,
    /// Adds one element to a queue; waits while it is full.
    #[op(input("handle: resource"), stateful)]
    QueueEnqueueV2,
    /// Adds several elements to a queue, the slices of `components` along their first dimension; waits while it is
    /// full.
    #[op(input("components: Tcomponents", "The components of the elements."))]
    QueueEnqueueMany,
    /// Adds several elements to a queue, the slices of `components` along their first dimension; waits while it is
    /// full.
    #[op(input("handle: resource"), input("components: Tcomponents", "The components of the elements."), stateful)]
    QueueEnqueueManyV2,
}

#[register_op(
    attr("component_types: list(type) >= 1"),
    attr("timeout_ms: int = -1", "Must be −1: no limit."),
    input("handle: Ref(string)", "The queue."),
    output("components: component_types", "The components of the elements."),
    shape_fn = shapes::unknown_shape,
)]
pub enum Dequeueing {
    /// Takes one element out of a queue; waits while there is none.
    #[op(output("components: component_types", "The components of the element."))]
    QueueDequeue,
    /// Takes one element out of a queue; waits while there is none.
    #[op(like = QueueDequeue, input("handle: resource"), stateful, shape_fn = |c| components(c, c.scalar()))]
    QueueDequeueV2,
    /// Takes `n` elements out of a queue, stacked along a new first dimension; waits until there are as many.
    #[op(input("n: int32", "How many, a scalar."))]
    QueueDequeueMany,
    /// Takes `n` elements out of a queue, stacked along a new first dimension; waits until there are as many.
    #[op(input("handle: resource"), input("n: int32", "How many, a scalar."), stateful, shape_fn = dequeue_many_shape)]
    QueueDequeueManyV2,
    /// Takes `n` elements out of a queue, or what is left once it is closed, stacked along a new first dimension.
    #[op(input("n: int32", "How many, a scalar."))]
    QueueDequeueUpTo,
    /// Takes `n` elements out of a queue, or what is left once it is closed, stacked along a new first dimension.
    #[op(
        input("handle: resource"),
        input("n: int32", "How many, a scalar."),
        stateful,
        shape_fn = |c| components(c, c.vector(-1)),
    )]
    QueueDequeueUpToV2,
}

#[register_op(
    attr("cancel_pending_enqueues: bool = false", "Whether those that wait to add elements fail at once."),
    input("handle: Ref(string)", "The queue."),
    shape_fn = close_reference_shape,
)]
pub enum Closing {
    /// Closes a queue: nothing is added any more, and nobody waits for what does not come.
    QueueClose,
    /// Closes a queue: nothing is added any more, and nobody waits for what does not come.
    #[op(input("handle: resource"), stateful, shape_fn = shapes::no_outputs)]
    QueueCloseV2,
}

#[register_op(input("handle: Ref(string)", "The queue."), shape_fn = shapes::scalar_shape)]
pub enum QueueStates {
    /// Whether a queue is closed.
    #[op(output("is_closed: bool"))]
    QueueIsClosed,
    /// Whether a queue is closed.
    #[op(input("handle: resource"), output("is_closed: bool"), stateful)]
    QueueIsClosedV2,
    /// The number of elements in a queue.
    #[op(output("size: int32"), shape_fn = size_reference_shape)]
    QueueSize,
    /// The number of elements in a queue.
    #[op(input("handle: resource"), output("size: int32"), stateful, shape_fn = shapes::unchanged_shape)]
    QueueSizeV2,
}

/// The shapes of the components that the queue behind input 0 holds, each with `front` in front.
fn components(c: &InferenceContext<'_>, front: ShapeHandle) -> Result<()> {
    let held = c.input_handle_shapes_and_types(0).filter(|held| held.len() == c.num_outputs());
    for index in 0..c.num_outputs() {
        let shape = match held {
            Some(held) => c.concatenate(front, held[index].shape)?,
            None => c.unknown_shape(),
        };
        c.set_output(index, shape);
    }
    Ok(())
}

fn dequeue_many_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let count: i64 = match c.input_tensor(1) {
        Some(n) => n.to_scalar::<i32>()?.into(),
        None => return components(c, c.vector(-1)),
    };
    ensure!(count >= 0, InvalidArgument, "Input 'n' must be >= 0, but is {count}");
    components(c, c.vector(count))
}

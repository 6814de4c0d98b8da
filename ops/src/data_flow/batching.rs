//! Batching: what several runs have of one kind is computed at once.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// Calls a function with the inputs of several runs, put together along their first dimension, and gives each run its
/// part of the results.
#[register_op(
    attr("f: func", "What is called, with the inputs of a batch and what was captured by the last of its runs."),
    attr("num_batch_threads: int", "How many batches are computed at a time."),
    attr("max_batch_size: int", "How many rows a run may have; without splitting also how many a batch may have."),
    attr("batch_timeout_micros: int", "How long a batch waits to become full, in microseconds."),
    attr("max_enqueued_batches: int = 10", "How many batches wait at most; of what would be more, runs fail."),
    attr(
        "allowed_batch_sizes: list(int) = []",
        "The sizes to which batches are filled up, by their first row; empty for none. In ascending order.",
    ),
    attr("container: string = ''", "Where batches are kept; empty for the default container."),
    attr("shared_name: string = ''", "The name under which nodes share batches; empty for that of the node."),
    attr("batching_queue: string = ''", "Nodes that share batches put those with the same of this together."),
    attr("low_priority_max_batch_size: int = 0", "Of no effect, as the next ones: no run has a low priority."),
    attr("low_priority_batch_timeout_micros: int = 0"),
    attr("low_priority_allowed_batch_sizes: list(int) = []"),
    attr("low_priority_max_enqueued_batches: int = 0"),
    attr(
        "mixed_priority_policy: {'low_priority_padding_with_max_batch_size', \
         'low_priority_padding_with_next_allowed_batch_size', 'priority_isolation', 'priority_merge'} = \
         'low_priority_padding_with_max_batch_size'"
    ),
    attr(
        "batch_padding_policy: {'PAD_UP', 'BATCH_DOWN', 'MINIMIZE_TPU_COST_PER_REQUEST'} = 'PAD_UP'",
        "Whether a batch is filled up to the next size, or, with splitting, what is beyond the last one waits.",
    ),
    attr("Tin: list(type) >= 1"),
    attr("Tcaptured: list(type) >= 0"),
    attr("Tout: list(type) >= 1"),
    attr(
        "enable_large_batch_splitting: bool = false",
        "Whether runs with more rows than the largest batch are computed in several.",
    ),
    input("in_tensors: Tin", "The inputs, all with as many rows."),
    input("captured_tensors: Tcaptured", "What is the same in all runs."),
    output("out_tensors: Tout", "The results of these inputs."),
    distributed_communication,
    shape_fn = shapes::unknown_shape,
)]
pub struct BatchFunction;

/// Puts the inputs of several runs together along their first dimension: one of them gets all, the others nothing.
#[register_op(
    attr("num_batch_threads: int", "How many batches are put together at a time."),
    attr("max_batch_size: int", "How many rows a batch may have."),
    attr("max_enqueued_batches: int = 10", "How many batches wait at most; of what would be more, runs fail."),
    attr("batch_timeout_micros: int", "How long a batch waits to become full, in microseconds."),
    attr(
        "allowed_batch_sizes: list(int) = []",
        "The sizes to which batches are filled up, by their first row; empty for none. In ascending order.",
    ),
    attr("grad_timeout_micros: int", "How long its gradient waits, in microseconds."),
    attr("container: string = ''", "Where batches are kept; empty for the default container."),
    attr("shared_name: string = ''", "The name under which nodes share batches; empty for that of the node."),
    attr("batching_queue: string = ''", "Nodes that share batches put those with the same of this together."),
    attr("T: list(type) >= 1"),
    input("in_tensors: T", "The inputs, all with as many rows."),
    output("batched_tensors: T", "The inputs of all runs of the batch, or none."),
    output("batch_index: int64", "For each run of the batch, its id, and from where to where its rows are; or none."),
    output("id: int64", "The id of this run, a scalar."),
    distributed_communication,
    shape_fn = batch_shape,
)]
pub struct Batch;

/// Gives each of the runs that were put together by `Batch` its part of a result.
#[register_op(
    attr("timeout_micros: int", "How long a run waits for its part, and a part for its run, in microseconds."),
    attr("container: string = ''", "Where parts are kept; empty for the default container."),
    attr("shared_name: string = ''", "The name under which nodes share parts; empty for that of the node."),
    attr("T: type"),
    input("batched_tensor: T", "The result for all runs of the batch, or nothing."),
    input("batch_index: int64", "As `Batch` gives it."),
    input("id: int64", "As `Batch` gives it."),
    output("unbatched_tensor: T", "The part of this run."),
    shape_fn = unbatch_shape,
)]
pub struct Unbatch;

/// The gradient of `Unbatch`: puts the gradients of several runs together for the one that got the batch.
#[register_op(
    attr("container: string = ''", "Where gradients are kept; empty for the default container."),
    attr("shared_name: string = ''", "The name under which nodes share gradients; empty for that of the node."),
    attr("T: type"),
    input("original_input: T", "The first input of `Unbatch`."),
    input("batch_index: int64", "The second input of `Unbatch`."),
    input("grad: T", "What flows back to this run."),
    input("id: int64", "The third input of `Unbatch`."),
    output("batched_grad: T", "What flows back to all runs of the batch, or nothing."),
    shape_fn = unbatch_grad_shape,
)]
pub struct UnbatchGrad;

fn batch_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let inputs = c.num_inputs();
    for index in 0..inputs {
        let shape = c.replace_dim(c.input(index), 0, c.unknown_dim())?;
        c.set_output(index, shape);
    }
    c.set_output(inputs, c.matrix(-1, 3));
    c.set_output(inputs + 1, c.scalar());
    Ok(())
}

fn unbatch_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = c.replace_dim(c.input(0), 0, c.unknown_dim())?;
    shapes::output_shape(c, shape)
}

fn unbatch_grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = match c.rank(c.input(2)) {
        Some(rank) => c.unknown_shape_of_rank(rank),
        None => c.unknown_shape(),
    };
    shapes::output_shape(c, shape)
}

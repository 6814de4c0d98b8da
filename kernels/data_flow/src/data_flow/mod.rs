//! Stitching and partitioning, queues, stacks, staging areas, accumulators, tensor arrays, session handles.

mod accumulator;
mod barrier;
mod map_stage;
mod queue;
mod queue_ops;
mod queue_store;
mod session;
mod stack;
mod stage;
mod stitch;
mod tensor_array;
mod tensor_array_ops;

#[cfg(feature = "readers")]
pub(crate) use queue::Queue;

//! Stitching and partitioning, queues, stacks, staging areas, accumulators, tensor arrays, session handles, batching.

mod accumulator;
mod barrier;
mod batching;
mod handle;
mod map_stage;
mod queue;
mod session;
mod stack;
mod stage;
mod stitch;
mod tensor_array;
mod tensor_array_old;

pub use accumulator::*;
pub use barrier::*;
pub use batching::*;
#[cfg(feature = "data")]
pub(crate) use handle::{reference_at, reference_shape};
pub use map_stage::*;
pub use queue::*;
pub use session::*;
pub use stack::*;
pub use stage::*;
pub use stitch::*;
pub use tensor_array::*;
pub use tensor_array_old::*;

//! Gradients: how what flows back to the outputs of an op flows on to its inputs, and how that is done for whole graphs and
//! for ops that were run.
//!
//! A gradient is a function that `#[register_gradient]` registers for an op; `not_differentiable!` says of an op that nothing
//! flows through it. There is one registry of them: [`Gradients`] adds the gradient's nodes to a graph, and a
//! [`GradientTape`] computes it from what it has kept of ops that ran. The semantics are those of TensorFlow's `tf.gradients`
//! and `tf.GradientTape`.
//!
//! - `value`: what a gradient's function is given and returns;
//! - `place`, `parameter`, `result`, `check`: how its parameters and its result are read, and held against the op when it is compiled;
//! - `def`: a gradient as a registration, and the list of all;
//! - `scope`: where the function's ops go;
//! - `graph`, `pass`, `graph_node`, `conditions`: the gradients of graphs;
//! - `control`: those of calls, branches and loops;
//! - `traced`, `record`, `taped_call`, `backward`, `tape`: those of what was run.

mod backward;
pub mod check;
mod common;
mod conditions;
mod control;
mod def;
mod differentiable;
mod graph;
mod graph_node;
mod parameter;
mod pass;
mod place;
mod record;
mod result;
mod scope;
mod stacks;
mod tape;
mod taped_call;
mod traced;
mod value;

pub use control::symbolic::{derive_gradient, gradient_function};
pub use def::{Differentiation, GradientDef, find_gradient, registered_gradients};
pub use graph::Gradients;
pub use parameter::Parameter;
pub use pass::{OutputGradient, free_prefix};
pub use place::{ParameterKind, Place, Side};
pub use result::{GradientResult, InputGradient, InputGradients};
pub use scope::GradientScope;
pub use tape::GradientTape;
pub use traced::{IntoTraced, Traced, TracedGradient};
pub use value::{Gradient, IndexedSlices, NoGradient, ShapeOf, Value};

//! Training: variables with their initial values, optimisers with schedules of learning rates and clipping, checkpoints.
//!
//! Everything serves for [graphs](kernlink::graph::Graph), to which a step's nodes are added once, and for
//! [eager contexts](kernlink::runtime::EagerContext), in which each step runs at once. The semantics and the defaults are those
//! of `tf.keras`; the ops that change variables are TensorFlow's (`ResourceApplyAdam` and its like).
//!
//! - `scope`: what both have in common;
//! - `initializer`, `variable`: variables and their first values;
//! - `adopt`: variables of graphs that are there already;
//! - `gradient`, `clip`: gradients of variables, and how they are bounded;
//! - `schedule`: learning rates;
//! - `rules`, `optimizer`: steps;
//! - `saver`: checkpoints.
//!
//! `docs/training.md` has examples.

mod adopt;
mod clip;
mod gradient;
mod initializer;
mod optimizer;
mod rules;
mod saver;
mod schedule;
mod scope;
mod variable;

pub use clip::{Clip, Clipped, TypedGradient, clip_by_global_norm, clip_by_norm, global_norm};
pub use gradient::VariableGradient;
pub use initializer::{Distribution, Fan, Initializer};
pub use optimizer::{BuiltOptimizer, Optimizer, Update};
pub use rules::{Adagrad, Adam, Ftrl, RmsProp, Rule, Sgd, Slot, Step};
pub use saver::Saver;
pub use schedule::{
    CosineDecay, ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay, PolynomialDecay, Schedule,
};
pub use scope::TrainingScope;
pub use variable::{NewVariable, Variable, Variables};

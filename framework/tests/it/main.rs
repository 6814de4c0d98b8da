//! The framework from outside: ops and nodes as TensorFlow has them, and the order of the framework's own rooms.

mod node_def;
mod op_builder;
mod op_compatibility;
mod op_validate;
mod pages;
mod publishing;
mod rooms;
mod spec_mutations;
mod tensorflow_ops;
mod tensorflow_rules;

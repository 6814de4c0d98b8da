//! One result for each element: a function in WGSL, and how the elements of its arguments are found.

mod add_n;
mod bias;
mod bitcast;
mod cast;
mod chain;
mod driver;
mod equality;
mod functions;
mod fused;
mod narrow;
mod select;

pub(crate) use driver::{ElementWise, Function, computed, flat_program, programs};

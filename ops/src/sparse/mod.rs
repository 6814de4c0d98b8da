//! Sparse and ragged tensors, sums of picked rows, sets.
//!
//! A sparse tensor is three tensors: the indices of its elements, a row each; their values; and the dense shape.

mod arithmetic;
mod count;
mod cross;
mod csr;
mod edit_distance;
mod fill;
mod parts;
mod ragged;
mod ragged_variant;
mod reduce;
mod segment;
mod serialize;
mod set;
mod tensor;
mod tensors_map;

pub use arithmetic::*;
pub use count::*;
pub use cross::*;
pub use csr::*;
pub use edit_distance::*;
pub use fill::*;
pub use parts::*;
pub use ragged::*;
pub use ragged_variant::*;
pub use reduce::*;
pub use segment::*;
pub use serialize::*;
pub use set::*;
pub use tensor::*;
pub use tensors_map::*;

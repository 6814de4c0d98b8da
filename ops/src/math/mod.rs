//! Arithmetic: element-wise functions, comparisons, selection, casts, reductions, matrices.

mod binary;
mod compare;
mod matrix;
mod reduce;
mod select;
mod unary;

pub use binary::*;
pub use compare::*;
pub use matrix::*;
pub use reduce::*;
pub use select::*;
pub use unary::*;

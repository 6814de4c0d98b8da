//! Arithmetic: element-wise functions, comparisons, selection, casts, reductions, matrices.

mod binary;
mod compare;
mod complex;
mod count;
mod fused;
mod grad;
mod matrix;
mod reduce;
mod segment;
mod select;
mod special;
mod unary;

pub use binary::*;
pub use compare::*;
pub use complex::*;
pub use count::*;
pub use fused::*;
pub use grad::*;
pub use matrix::*;
pub use reduce::*;
pub use segment::*;
pub use select::*;
pub use special::*;
pub use unary::*;

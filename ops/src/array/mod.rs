//! Arrays: shapes, and the joining, slicing, moving and making of data.

mod blocks;
mod check;
mod create;
mod diag;
mod grad;
mod image;
mod index;
mod inplace;
mod join;
mod rearrange;
mod reverse;
mod scatter;
mod shape;
mod slice;
mod unique;

pub use blocks::*;
pub use check::*;
pub use create::*;
pub use diag::*;
pub use grad::*;
pub use image::*;
pub use index::*;
pub use inplace::*;
pub use join::*;
pub use rearrange::*;
pub use reverse::*;
pub use scatter::*;
pub use shape::*;
pub use slice::*;
pub use unique::*;

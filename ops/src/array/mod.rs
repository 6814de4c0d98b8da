//! Arrays: shapes, and the joining, slicing, moving and making of data.

mod blocks;
mod create;
mod join;
mod rearrange;
mod shape;
mod slice;

pub use blocks::*;
pub use create::*;
pub use join::*;
pub use rearrange::*;
pub use shape::*;
pub use slice::*;

//! Linear algebra: decompositions, inverses, determinants, equations.
//!
//! The last two dimensions of a tensor are matrices; those before them are batches. The ops that begin with `Batch` are those
//! of old graphs, from before the others took batches.

mod banded;
mod decomposition;
mod function;
mod solve;

pub use banded::*;
pub use decomposition::*;
pub use function::*;
pub use solve::*;

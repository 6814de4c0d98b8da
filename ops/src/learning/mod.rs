//! Classical learning: clusters, isotonic regression, linear models by dual coordinate ascent, vectors of words; Sobol sequences.

mod cluster;
mod isotonic;
mod sdca;
mod sobol;
mod words;

pub use cluster::*;
pub use isotonic::*;
pub use sdca::*;
pub use sobol::*;
pub use words::*;

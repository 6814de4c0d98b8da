//! Classical learning: clusters, isotonic regression, linear models by dual coordinate ascent; Sobol sequences.

mod cluster;
mod isotonic;
mod sdca;
mod sobol;

pub use cluster::*;
pub use isotonic::*;
pub use sdca::*;
pub use sobol::*;

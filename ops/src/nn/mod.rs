//! Neural networks: activations, convolution, pooling, normalisation.

mod activation;
mod conv;
mod norm;
mod pool;

pub use activation::*;
pub use conv::*;
pub use norm::*;
pub use pool::*;

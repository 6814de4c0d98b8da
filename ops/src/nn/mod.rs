//! Neural networks: activations, convolution, pooling, normalisation, losses, and their gradients.

mod activation;
mod activation_grad;
mod conv;
mod conv_grad;
mod conv_of;
mod ctc;
mod fractional;
mod fused;
mod loss;
mod morphology;
mod norm;
mod norm_grad;
mod pool;
mod pool_grad;
mod recurrent;
mod volume;

pub use activation::*;
pub use activation_grad::*;
pub use conv::*;
pub use conv_grad::*;
pub use conv_of::*;
pub use ctc::*;
pub use fractional::*;
pub use fused::*;
pub use loss::*;
pub use morphology::*;
pub use norm::*;
pub use norm_grad::*;
pub use pool::*;
pub use pool_grad::*;
pub use recurrent::*;
pub use volume::*;

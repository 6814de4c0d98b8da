//! Networks: convolution, pooling, normalisation, images, and their gradients.

mod argmax;
mod batch_norm;
mod channel_sums;
mod conv2d;
mod convolution;
mod depthwise;
mod element;
mod pool;
mod pooling;
mod resize;

use crate::shader::Program;

/// All programs of the family.
pub(crate) fn programs() -> Vec<Program> {
    [
        conv2d::programs(),
        depthwise::programs(),
        batch_norm::programs(),
        pool::programs(),
        argmax::programs(),
        resize::programs(),
    ]
    .concat()
}

//! Networks: convolution, pooling, normalisation, images, and their gradients.

mod argmax;
mod batch_norm;
mod channel_sums;
mod conv2d;
mod convolution;
mod depthwise;
mod element;
mod images;
mod pool;
mod pooling;
mod resize;

//! Networks: convolution, pooling, normalisation, softmax.

mod batch_norm;
mod bias_add;
mod conv2d;
mod convolve;
mod depthwise;
mod narrow;
mod pool;
mod softmax;
mod vector;
mod window;

//! Networks: convolution, pooling, normalisation, softmax, losses, and their gradients.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod avg_pool_grad;
mod batch_norm;
mod batch_norm_grad;
mod bias_add;
mod bias_grad;
mod conv;
mod conv2d;
mod conv2d_grad;
mod convolve;
mod convolve_grad;
mod cross_entropy;
mod ctc;
mod depthwise;
mod depthwise_grad;
mod dilation;
mod filter_gradient;
mod filter_pixels;
mod fractional;
mod global_norm;
mod grouped;
mod images;
mod in_top_k;
mod layer_norm;
mod lrn;
mod masked_softmax;
mod max_pool_argmax;
mod max_pool_grad;
mod narrow;
mod nth_element;
mod padding;
mod patches;
mod pool;
mod recurrent;
mod softmax;
mod space;
mod transformed_conv;
mod vector;
mod volume;
mod volume_patches;
mod volume_pool;
mod window;
mod winograd;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");

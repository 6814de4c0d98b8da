//! Classical learning: clusters, isotonic regression, linear models by dual coordinate ascent, vectors of words; Sobol sequences.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod cluster;
mod draw;
mod examples;
mod isotonic;
mod loss;
mod neg_train;
mod neighbors;
mod sdca;
mod skipgram;
mod sobol;
mod weights;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");

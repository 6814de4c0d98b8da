//! Audio: WAV files, spectrograms, cepstra.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");

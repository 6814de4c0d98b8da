//! Audio: WAV files, spectrograms, cepstra.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod mfcc;
mod spectrogram;
mod wav;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");

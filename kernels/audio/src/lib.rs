//! Audio: WAV files, spectrograms, cepstra, features of speech on small devices.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod mfcc;
mod microfrontend;
mod spectrogram;
mod wav;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");

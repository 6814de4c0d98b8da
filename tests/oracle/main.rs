//! Kernlink beside TensorFlow: values, shapes, matching, checkpoints and models are compared with what TensorFlow 2.21
//! computed and wrote (the folders `tests/*/data` and their like), and the ops with those of Kernlink's last release.
//!
//! Nothing here changes the process or the registry, so all of it runs at once.

// Their ops come from families of the command.
#[cfg(feature = "cli")]
mod applications;
#[cfg(feature = "quantization")]
mod calibration;
mod checkpoint;
// Partial builds lack ops of its list.
#[cfg(feature = "cli")]
mod coverage;
#[cfg(all(feature = "array", feature = "io", feature = "lookup"))]
mod files;
mod golden;
#[cfg(all(feature = "array", feature = "nn"))]
mod image_limits;
mod images;
mod matching;
mod old_linear_algebra;
mod old_ops;
// Partial builds lack ops of the list.
#[cfg(all(feature = "array", feature = "math", feature = "nn"))]
mod promises;
mod random;
mod saved_model;
mod shapes;
#[cfg(all(feature = "image_codecs", feature = "logging"))]
mod summaries;
#[path = "../support/mod.rs"]
mod support;
#[cfg(feature = "npy")]
mod training;
#[cfg(feature = "learning")]
mod words;

kernlink::provider!();

//! TensorFlow's C API on Kernlink.

//! Readers of TensorFlow 1: records of files, whose names come from a queue.

mod kernels;
mod reader;

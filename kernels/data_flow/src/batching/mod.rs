//! Batching: what several runs have of one kind is computed at once.

mod batcher;
mod execution;
mod kernels;
mod lane;
mod options;
mod unbatch;

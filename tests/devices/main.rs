//! Devices with memory of their own: what is where, what is brought over and how often.

// The test device is of the type GPU, and its kernels would clash with those that are for real ones.
#![cfg(not(feature = "gpu"))]

mod device;
mod flow;
mod graphs;
mod kernels;
mod placement;
mod transfer;
mod variables;

kernlink::provider!(ops = 2, kernels = 8);

//! Devices with memory of their own: what is where, what is brought over and how often.

mod device;
mod flow;
mod graphs;
mod kernels;
mod placement;
mod transfer;
mod variables;

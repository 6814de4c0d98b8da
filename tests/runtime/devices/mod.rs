//! Devices with memory of their own: placement, transfers and their number.

mod device;
mod flow;
mod graphs;
mod kernels;
mod placement;
mod transfer;
mod variables;

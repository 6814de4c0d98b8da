//! Loops compiled twice, as all crates of kernels have them.

pub(super) use kernlink_kernels_common::widest;

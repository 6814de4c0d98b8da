//! Two ops of one's own: [`ZeroOut`] and [`MedianPool`], with kernels for the CPU and, with the feature `gpu`, in WGSL for
//! the GPU.
//!
//! Nothing else is to be done for them to be found: the linker collects what the two attributes register.

pub mod median_pool;
pub mod zero_out;

pub use median_pool::{MedianPool, median_pool};
pub use zero_out::{ZeroOut, zero_out};

/// On the GPU each op has two.
const ON_GPU: usize = if cfg!(feature = "gpu") { 2 + 2 } else { 0 };

kernlink::provider!(ops = 2, kernels = 3 + 7 + ON_GPU);

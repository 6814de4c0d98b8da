//! Two ops of one's own: [`ZeroOut`] and [`MedianPool`].
//!
//! Nothing else is to be done for them to be found: the linker collects what the two attributes register.

pub mod median_pool;
pub mod zero_out;

pub use median_pool::{MedianPool, median_pool};
pub use zero_out::{ZeroOut, zero_out};

kernlink::provider!(ops = 2, kernels = 3 + 7);

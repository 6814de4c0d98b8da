//! Ops of our own, each in a file. What the attributes in these files register, the linker collects.

// @gpu
#[cfg(feature = "gpu-shaders")]
mod gpu;
// @end
pub mod zero_out;

pub use zero_out::{ZeroOut, zero_out};

kernlink::provider!(
    ops = kernlink::registered_ops!(),
    kernels = kernlink::registered_kernels!(),
    gradients = kernlink::registered_gradients!()
);

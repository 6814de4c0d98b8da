//! Ops of one's own: [`ZeroOut`] and [`MedianPool`], with kernels for the CPU and, with the feature `gpu`, in WGSL for the
//! GPU; [`SoftShrink`], which becomes part of chains of such functions and, as [`ZeroOut`], has a gradient; [`Polynomial`], generic over all dtypes that are
//! numbers; a family, [`RunningMax`] and [`RunningMin`]; and a resource, [`vocabulary::Vocabulary`], with its ops.
//!
//! Nothing else is to be done for them to be found: the linker collects what the attributes register.

pub mod median_pool;
pub mod polynomial;
pub mod running;
pub mod soft_shrink;
pub mod vocabulary;
pub mod zero_out;

pub use median_pool::{MedianPool, median_pool};
pub use polynomial::{Polynomial, polynomial};
pub use running::{RunningMax, RunningMin, running_max, running_min};
pub use soft_shrink::{SoftShrink, soft_shrink};
pub use zero_out::{ZeroOut, zero_out};

kernlink::library!();

kernlink::provider!(
    ops = kernlink::registered_ops!(),
    kernels = kernlink::registered_kernels!(),
    gradients = kernlink::registered_gradients!(),
);

//! `kernlink::gpu` without a device: the real one would have all of wgpu built for a few lines of errors.

pub use kernlink_framework::*;

pub mod gpu {
    pub use kernlink_framework::kernel::shader::declared as wgsl;
}

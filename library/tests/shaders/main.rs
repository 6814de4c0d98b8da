//! Kernels of which only the shader is written, from a library to a device of the host's that runs shaders, and back: what
//! the device is told of them, and what it asks before each run.

extern crate kernlink_framework as kernlink;

#[path = "../common/c.rs"]
#[cfg(target_os = "linux")]
mod c;
#[path = "../common/mod.rs"]
mod common;

mod by_hand;
mod cost;
mod device;
#[cfg(target_os = "linux")]
mod loaded;
mod offered;

kernlink::provider!();

/// `kernlink` as a program has it that declares shaders and has no device. Shaders are checked where there is one.
mod with_gpu {
    pub(crate) use kernlink_framework::*;

    pub(crate) mod gpu {
        pub(crate) mod wgsl {
            use kernlink_framework::Result;
            use kernlink_framework::kernel::shader::WgslKernel;
            pub(crate) use kernlink_framework::kernel::shader::declared::{ElementWise, Kernel};
            use kernlink_framework::op::Op;

            pub(crate) fn check<K: WgslKernel<O>, O: Op>() -> Result<()> {
                assert!(!K::source().text.is_empty());
                Ok(())
            }
        }
    }
}

//! The graphics processor: a device on wgpu (Vulkan, Metal, DX12), and kernels whose shaders are WGSL.
//!
//! The facade offers it with the feature `gpu`.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod adapter;
mod array;
mod capability;
mod counters;
mod device;
mod element_wise;
mod family;
mod fault;
mod indices;
mod matmul;
mod memory;
mod nn;
mod pipeline;
mod places;
mod read_back;
mod recorder;
mod reduce;
mod refusal;
mod rounds;
mod shader;
mod sort;
mod team;
#[cfg(test)]
mod testing;
mod timing;
mod training;
mod transfer;
mod variants;
pub mod wgsl;
mod windows;

pub use adapter::AdapterInfo;
pub use device::{GpuDevice, Groups};
pub use shader::{Access, Entry, Program, ProgramBuilder, Scalar, Shader, WORKGROUP};

/// The number of kernels that this crate registers.
pub const KERNELS: usize = 401 + array::KERNELS + training::KERNELS;

/// Every shader that the crate's kernels run, in each of its variants: for tests that need no device.
pub fn programs() -> Vec<Program> {
    [
        element_wise::programs(),
        reduce::programs(),
        array::programs(),
        matmul::programs(),
        nn::programs(),
        training::programs(),
        sort::programs(),
        vec![windows::halves()],
    ]
    .concat()
}

kernlink::provider!(kernels = KERNELS);

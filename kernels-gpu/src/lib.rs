//! The graphics processor: a device on wgpu (Vulkan, Metal, DX12), and kernels whose shaders are WGSL.
//!
//! The facade offers it with the feature `gpu`.

// The macros' output names the framework and this crate as users see them: `::kernlink` and `::kernlink::gpu`.
extern crate self as kernlink;
use crate as gpu;
#[allow(unused_imports, reason = "what the macros' output names")]
use kernlink_framework::*;

mod adapter;
mod array;
mod capability;
mod composition;
mod counters;
mod deep;
mod device;
mod dispatch;
mod element_wise;
mod epilogue;
mod fault;
mod indices;
mod matmul;
mod memory;
mod nn;
mod pipeline;
mod places;
mod random;
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
#[cfg(test)]
mod translation;
mod variants;
pub mod wgsl;
mod windows;

pub use adapter::AdapterInfo;
pub use device::{GpuDevice, Groups};
pub use shader::{Access, Entry, Program, ProgramBuilder, Scalar, Shader, WORKGROUP};

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");

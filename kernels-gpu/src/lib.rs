//! The room of the GPU: the wgpu device, and kernels whose shaders are `.wgsl` files beside them.
//!
//! No kernel is here yet, and the facade does not depend on this crate.

kernlink_framework::provider!(kernels = 0);

//! Kernels for the GPU. Each is a file in WGSL; a test that the attribute writes checks it without a GPU.

use kernlink::gpu::wgsl::Launch;
use kernlink::prelude::*;

use crate::ZeroOut;

#[register_kernel(
    device = Gpu,
    op = ZeroOut,
    T = [f32, i32],
    wgsl = "zero_out.wgsl",
    params = [preserve_index: u32],
    outputs = zeroed_shape
)]
struct ZeroOutOnGpu;

/// What the kernel for the CPU checks, too. A shader cannot report errors.
fn zeroed_shape(launch: &Launch<ZeroOut>) -> Result<Shape> {
    let (shape, index) = (
        launch.input_shape(ZeroOut::TO_ZERO),
        launch.attrs().preserve_index,
    );
    let count = shape.num_elements();
    ensure!(
        (index as usize) < count,
        InvalidArgument,
        "preserve_index {index} is out of range for {count} elements"
    );
    Ok(shape.clone())
}

extern crate kernlink_framework as kernlink;

#[path = "../../stub/gpu.rs"]
mod with_gpu;

use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(
    attr("T: {float, int32, uint8}"),
    attr("size: int = 1"),
    attr("mode: string = 'a'"),
    input("x: T"),
    input("shape: int32"),
    output("y: T")
)]
pub struct Blur;

#[register_op(input("x: double"), output("y: float"))]
pub struct Narrow;

#[register_op(attr("N: int"), input("x: N * float"), output("y: float"))]
pub struct Join;

#[register_kernel(
    crate = crate::with_gpu, device = Gpu, op = Blur, T = [f32, u8], host_memory = ["shape"], wgsl = "blur.wgsl",
    dispatch = rows("z"), params = [sizes, mode, size, shape("w", 2)], vectors = ["shape", "y"]
)]
struct Names;

#[register_kernel(crate = crate::with_gpu, device = Gpu, op = Blur, wgsl = "blur.wgsl")]
struct NoDtypes;

#[register_kernel(
    crate = crate::with_gpu, device = Gpu, op = Blur, T = [i32], host_memory = ["shape", "y"], wgsl = "blur.wgsl"
)]
struct OnTheHost;

#[register_kernel(crate = crate::with_gpu, device = Gpu, op = Narrow, wgsl = "blur.wgsl")]
struct Double;

#[register_kernel(crate = crate::with_gpu, device = Gpu, op = Join, wgsl = "blur.wgsl")]
struct List;

fn main() {}

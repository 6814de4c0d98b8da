extern crate kernlink_framework as kernlink;

use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(attr("T: {float, int32}"), attr("size: int = 1"), input("x: T"), output("y: T"))]
pub struct Blur;

#[register_kernel(device = Gpu, op = Blur, T = [f32], wgsl = "blur.wgsl", dispatch = element_wise("y"))]
struct Rule;

#[register_kernel(
    device = Gpu, op = Blur, T = [f32], wgsl = "blur.wgsl", dispatch = element_wise(equal), vectors = ["x"], raw,
    params = [size, half: u32 = |launch| Ok(1)]
)]
struct Needless;

#[register_kernel(device = Gpu, op = Blur, T = [f32], wgsl = "blur.wgsl", refusal = (InvalidArgument, "too large"))]
struct Refusal;

#[register_kernel(
    device = Gpu, op = Blur, T = [f32], wgsl = "blur.wgsl", dispatch = element_wise(equal), refusal = "too large"
)]
struct NoCode;

fn main() {}

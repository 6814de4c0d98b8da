extern crate kernlink_framework as kernlink;

#[path = "../../stub/gpu.rs"]
mod with_gpu;

use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(attr("T: {float, half}"), input("x: T"), output("y: T"))]
pub struct Blur;

#[register_kernel(
    crate = crate::with_gpu,
    device = Gpu,
    op = Blur,
    T = [f32],
    wgsl = "blur.wgsl",
    requires = ["f16", "fp16"]
)]
struct Misspelt;

fn main() {}

extern crate kernlink_framework as kernlink;

use kernlink_macros::{register_kernel, register_op};

kernlink::provider!();

#[register_op(attr("T: {float, int32}"), attr("size: int = 1"), input("x: T"), output("y: T"))]
pub struct Blur;

#[register_kernel(device = Gpu, op = Blur, T = [f32], wgsl = "blur.wgsl", dispatch = element("y"))]
struct Rule;

#[register_kernel(device = Gpu, op = Blur, T = [f32], wgsl = "blur.wgsl", dispatch = tiles("y", 16))]
struct Tile;

#[register_kernel(device = Gpu, op = Blur, T = [f32], wgsl = "blur.wgsl", dispatch = elements("y", 0))]
struct NoElement;

#[register_kernel(device = Gpu, op = Blur, T = [f32], wgsl = "blur.wgsl", params = [size: u64])]
struct ParamType;

#[register_kernel(device = Gpu, op = Blur, T = [f32], wgsl = "blur.wgsl", params = [size, size: f32, count: u32 = n])]
struct ParamNames;

#[register_kernel(device = Gpu, op = Blur, T = [f32], wgsl = "blur.wgsl", params = [])]
struct NoParams;

#[register_kernel(device = Gpu, op = Blur, T = [f32], wgsl = "blur.wgsl", workgroup = 512)]
struct Workgroup;

#[register_kernel(device = Gpu, op = Blur, T = [f32], wgsl = "blur.wgsl", raw, vectors = ["x"], workgroup = 64)]
struct Raw;

#[register_kernel(device = Cpu, op = Blur, T = [f32], wgsl = "blur.wgsl")]
struct Device;

#[register_kernel(device = Gpu, T = [f32], wgsl = "blur.wgsl")]
struct NoOp;

#[register_kernel(device = Gpu, op = Blur, T = [f32], wgsl = "blur.wgsl")]
struct Fields(u32);

#[register_kernel(device = Gpu, op = Blur, T = [f32], wgsl = "blur.wgsl")]
type Alias<T> = Vec<T>;

#[register_kernel(device = Gpu, op = Blur, T = [f32], dispatch = elements("y"), raw)]
struct NoFile;

fn main() {}

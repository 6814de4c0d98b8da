//! ResizeBilinear, ResizeNearestNeighbor and their gradients. Places are computed as TensorFlow does it, in `float`.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink_geometry::resize::{self as geometry, Scaling, resized};
use kernlink_ops as ops;

use super::element::{self, Key};
use crate::device::GpuDevice;
use crate::family::{gpu_kernels, scalar_of};
use crate::matmul::gemm::word;
use crate::shader::{Entry, Program, Scalar};
use crate::variants::Variants;
use crate::windows::{read, written};

/// The parameters for images of `original` rows, columns and channels, and `resized` rows and columns.
fn params(scaling: Scaling, original: [usize; 3], resized: [usize; 2]) -> Result<[u32; 9]> {
    let [rows, columns, depth] = original;
    Ok([
        word(rows)?,
        word(columns)?,
        word(depth)?,
        word(resized[0])?,
        word(resized[1])?,
        scaling.step(rows, resized[0]).to_bits(),
        scaling.step(columns, resized[1]).to_bits(),
        u32::from(scaling.half_pixel_centers),
        // The nearest is rounded to where corners are aligned.
        u32::from(scaling.align_corners),
    ])
}

/// The shader of one of the four ops.
fn program(key: &Key, label: &str, types: [Scalar; 2], text: &str) -> Program {
    let mut builder = key
        .builder(label)
        .declare(if key.vectors { "alias F = vec4<f32>;" } else { "alias F = f32;" })
        .read_vectors("input", types[0], key.width())
        .write_vectors("output", types[1], key.width());
    for name in ["rows", "columns", "depth", "out_rows", "out_columns"] {
        builder = builder.param(name, "u32");
    }
    builder = builder.param("step_y", "f32").param("step_x", "f32").param("half_pixels", "u32").param("rounded", "u32");
    builder.build(Entry::Elements, text)
}

fn nearest(key: &Key) -> Program {
    let text = concat!(include_str!("places.wgsl"), include_str!("resize_nearest.wgsl"));
    program(key, "nearest pixels", [key.scalar; 2], text)
}

fn bilinear(key: &Key) -> Program {
    let text = concat!(include_str!("places.wgsl"), include_str!("resize_bilinear.wgsl"));
    program(key, "mixed pixels", [key.scalar, Scalar::F32], text)
}

fn nearest_gradient(key: &Key) -> Program {
    let text = concat!(
        include_str!("places.wgsl"),
        include_str!("resized_from.wgsl"),
        include_str!("resize_nearest_grad.wgsl")
    );
    program(key, "gradient of nearest pixels", [key.scalar; 2], text)
}

fn bilinear_gradient(key: &Key) -> Program {
    let text = concat!(
        include_str!("places.wgsl"),
        include_str!("resized_from.wgsl"),
        include_str!("resize_bilinear_grad.wgsl")
    );
    program(key, "gradient of mixed pixels", [Scalar::F32, key.scalar], text)
}

/// ResizeBilinear and ResizeNearestNeighbor.
struct Resize {
    scaling: Scaling,
    scalar: Scalar,
    shaders: Variants<Key>,
}

impl Resize {
    fn new(ctx: &RawConstruction<'_>, program: fn(&Key) -> Program) -> Result<Resize> {
        let scalar = scalar_of(ctx.input_dtype_at(0)?)?;
        Ok(Resize { scaling: Scaling::new(ctx.attrs)?, scalar, shaders: Variants::new(program) })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let input = ctx.input_at(0)?;
        let ([batch, rows, columns, depth], to) = resized(input.shape(), ctx.input_at(1)?)?;
        let out = gpu.allocate_output(ctx, 0, [batch, to[0], to[1], depth])?;
        let key = Key { scalar: self.scalar, vectors: depth.is_multiple_of(4) };
        let params = params(self.scaling, [rows, columns, depth], to)?;
        let parts = [read(input), written(&out)];
        element::run(gpu, &self.shaders, key, batch, &parts, &params, out.num_elements())?;
        ctx.set_output_at(0, out)
    }
}

gpu_kernels! {
    ResizeNearestNeighbor T { [f32, i32] [f16; "f16"] [i64; "i64"] } host ["size"] as Resize: |ctx| {
        Resize::new(ctx, nearest)
    }
}
gpu_kernels! {
    ResizeBilinear T { [f32, i32] [f16; "f16"] [i64; "i64"] } host ["size"] as Resize: |ctx| {
        Resize::new(ctx, bilinear)
    }
}

/// The gradients.
struct ResizeGrad {
    scaling: Scaling,
    scalar: Scalar,
    shaders: Variants<Key>,
}

impl ResizeGrad {
    fn new(dtype: DataType, scaling: Scaling, program: fn(&Key) -> Program) -> Result<ResizeGrad> {
        Ok(ResizeGrad { scaling, scalar: scalar_of(dtype)?, shaders: Variants::new(program) })
    }

    /// Output 0, of images of this size.
    fn gradient(&self, ctx: &mut RawContext<'_>, grads: [usize; 4], to: [usize; 2]) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let [batch, rows, columns, depth] = grads;
        let out = gpu.allocate_output(ctx, 0, [batch, to[0], to[1], depth])?;
        let key = Key { scalar: self.scalar, vectors: depth.is_multiple_of(4) };
        // Next to a pixel lie those that it was made of, and one on either side.
        let [down, across] = [(rows, to[0]), (columns, to[1])].map(|(from, to)| 2 * from.div_ceil(to.max(1)) + 4);
        gpu.ensure_rounds(down.min(rows + 1).saturating_mul(across.min(columns + 1)))?;
        // Without gradients the step is infinite, but nothing is looked at.
        let params = params(self.scaling, [to[0], to[1], depth], [rows, columns])?;
        let parts = [read(ctx.input_at(0)?), written(&out)];
        element::run(gpu, &self.shaders, key, batch, &parts, &params, out.num_elements())?;
        ctx.set_output_at(0, out)
    }
}

/// ResizeNearestNeighborGrad.
struct NearestGrad(ResizeGrad);

impl NearestGrad {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let (grads, to) = geometry::nearest_gradient(ctx.input_at(0)?.shape(), ctx.input_at(1)?)?;
        self.0.gradient(ctx, grads, to)
    }
}

gpu_kernels! {
    ResizeNearestNeighborGrad T { [f32, i32] [f16; "f16"] } host ["size"] as NearestGrad: |ctx| {
        ResizeGrad::new(ctx.output_dtype_at(0)?, Scaling::any(ctx.attrs)?, nearest_gradient).map(NearestGrad)
    }
}

/// ResizeBilinearGrad.
struct BilinearGrad(ResizeGrad);

impl BilinearGrad {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let (grads, to) = geometry::bilinear_gradient(ctx.input_at(0)?.shape(), ctx.input_at(1)?.shape())?;
        self.0.gradient(ctx, grads, to)
    }
}

gpu_kernels! {
    ResizeBilinearGrad T { [f32] [f16; "f16"] } host [] as BilinearGrad: |ctx| {
        ResizeGrad::new(ctx.output_dtype_at(0)?, Scaling::new(ctx.attrs)?, bilinear_gradient).map(BilinearGrad)
    }
}

pub(super) fn programs() -> Vec<Program> {
    const SCALARS: [Scalar; 4] = [Scalar::F32, Scalar::F16, Scalar::I32, Scalar::I64];
    let mut programs = Vec::new();
    for vectors in [false, true] {
        for (make, count) in
            [(nearest as fn(&Key) -> Program, 4), (bilinear, 4), (nearest_gradient, 3), (bilinear_gradient, 2)]
        {
            programs.extend(SCALARS[..count].iter().map(|&scalar| make(&Key { scalar, vectors })));
        }
    }
    programs
}

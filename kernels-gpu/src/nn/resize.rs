//! ResizeBilinear, ResizeNearestNeighbor and their gradients. Places are computed as TensorFlow does it, in `float`.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use kernlink_ops as ops;

use super::element::{self, Key};
use crate::device::GpuDevice;
use crate::family::{gpu_kernels, scalar_of};
use crate::matmul::gemm::word;
use crate::shader::{Entry, Program, Scalar};
use crate::variants::Variants;
use crate::windows::{read, written};

/// How places in one image become places in the other.
#[derive(Clone, Copy)]
struct Scaling {
    align_corners: bool,
    half_pixel_centers: bool,
}

impl Scaling {
    /// Whatever the attrs say, even both.
    fn any(ctx: &RawConstruction<'_>) -> Result<Scaling> {
        Ok(Scaling {
            align_corners: ctx.attrs.required("align_corners")?,
            half_pixel_centers: ctx.attrs.required("half_pixel_centers")?,
        })
    }

    fn new(ctx: &RawConstruction<'_>) -> Result<Scaling> {
        let scaling = Scaling::any(ctx)?;
        ensure!(
            !(scaling.align_corners && scaling.half_pixel_centers),
            InvalidArgument,
            "If half_pixel_centers is True, align_corners must be False."
        );
        Ok(scaling)
    }

    /// The distance in an image of size `from` between neighbours in one of size `to`.
    fn step(self, from: usize, to: usize) -> f32 {
        if self.align_corners && to > 1 { (from - 1) as f32 / (to - 1) as f32 } else { from as f32 / to as f32 }
    }

    /// The parameters for images of `original` rows, columns and channels, and `resized` rows and columns.
    fn params(self, original: [usize; 3], resized: [usize; 2]) -> Result<[u32; 9]> {
        let [rows, columns, depth] = original;
        Ok([
            word(rows)?,
            word(columns)?,
            word(depth)?,
            word(resized[0])?,
            word(resized[1])?,
            self.step(rows, resized[0]).to_bits(),
            self.step(columns, resized[1]).to_bits(),
            u32::from(self.half_pixel_centers),
            // The nearest is rounded to where corners are aligned.
            u32::from(self.align_corners),
        ])
    }
}

/// Images `[batch, rows, columns, channels]`.
fn images(tensor: &Tensor, name: &str) -> Result<[usize; 4]> {
    match tensor.shape()[..] {
        [batch, rows, columns, channels] => Ok([batch, rows, columns, channels]),
        _ => bail!(InvalidArgument, "{name} must be 4-dimensional, not of shape {}", tensor.shape()),
    }
}

/// Rows and columns, both positive, in vector `tensor`.
fn size(tensor: &Tensor) -> Result<[usize; 2]> {
    ensure!(
        *tensor.shape() == Shape::from([2]),
        InvalidArgument,
        "shape_t must be a vector of two elements, not of shape {}",
        tensor.shape()
    );
    let &[rows, columns] = tensor.as_slice::<i32>()? else {
        bail!(InvalidArgument, "shape_t must have two elements");
    };
    ensure!(rows > 0 && columns > 0, InvalidArgument, "output dimensions must be positive: {rows}, {columns}");
    Ok([rows as usize, columns as usize])
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
        Ok(Resize { scaling: Scaling::new(ctx)?, scalar, shaders: Variants::new(program) })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let input = ctx.input_at(0)?;
        let [batch, rows, columns, depth] = images(input, "input")?;
        let to = size(ctx.input_at(1)?)?;
        ensure!(depth > 0, InvalidArgument, "image must have at least one channel");
        ensure!(rows > 0 && columns > 0, InvalidArgument, "input image must be of non-zero size");
        let out = gpu.allocate_output(ctx, 0, [batch, to[0], to[1], depth])?;
        let key = Key { scalar: self.scalar, vectors: depth.is_multiple_of(4) };
        let params = self.scaling.params([rows, columns, depth], to)?;
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
        // Without gradients the step is infinite, but nothing is looked at.
        let params = self.scaling.params([to[0], to[1], depth], [rows, columns])?;
        let parts = [read(ctx.input_at(0)?), written(&out)];
        element::run(gpu, &self.shaders, key, batch, &parts, &params, out.num_elements())?;
        ctx.set_output_at(0, out)
    }
}

/// ResizeNearestNeighborGrad.
struct NearestGrad(ResizeGrad);

impl NearestGrad {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let grads = images(ctx.input_at(0)?, "input")?;
        let to = size(ctx.input_at(1)?)?;
        self.0.gradient(ctx, grads, to)
    }
}

gpu_kernels! {
    ResizeNearestNeighborGrad T { [f32, i32] [f16; "f16"] } host ["size"] as NearestGrad: |ctx| {
        ResizeGrad::new(ctx.output_dtype_at(0)?, Scaling::any(ctx)?, nearest_gradient).map(NearestGrad)
    }
}

/// ResizeBilinearGrad.
struct BilinearGrad(ResizeGrad);

impl BilinearGrad {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let grads = images(ctx.input_at(0)?, "input_grad")?;
        let [_, rows, columns, _] = images(ctx.input_at(1)?, "original_image")?;
        ensure!(grads[1] > 0 && grads[2] > 0, InvalidArgument, "resized dimensions must be positive");
        ensure!(rows > 0 && columns > 0, InvalidArgument, "original dimensions must be positive");
        self.0.gradient(ctx, grads, [rows, columns])
    }
}

gpu_kernels! {
    ResizeBilinearGrad T { [f32] [f16; "f16"] } host [] as BilinearGrad: |ctx| {
        ResizeGrad::new(ctx.output_dtype_at(0)?, Scaling::new(ctx)?, bilinear_gradient).map(BilinearGrad)
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

//! ResizeBilinear, ResizeNearestNeighbor and their gradients. Places are computed as TensorFlow does it, in `float`.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::Tensor;
use kernlink_geometry::resize::{self as geometry, Scaling, resized};
use kernlink_macros::register_kernel;
use kernlink_ops::{ResizeBilinear, ResizeBilinearGrad, ResizeNearestNeighbor, ResizeNearestNeighborGrad};

use super::element::{self, Key};
use crate::device::GpuDevice;
use crate::matmul::gemm::word;
use crate::shader::{Entry, Program, Scalar, scalar_of};
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
    builder.build(Entry::Elements, &key.compose(text))
}

fn nearest(key: &Key) -> Program {
    let text = include_str!("resize_nearest.wgsl");
    program(key, "nearest pixels", [key.scalar; 2], text)
}

fn bilinear(key: &Key) -> Program {
    let text = include_str!("resize_bilinear.wgsl");
    program(key, "mixed pixels", [key.scalar, Scalar::F32], text)
}

fn nearest_gradient(key: &Key) -> Program {
    let text = include_str!("resize_nearest_grad.wgsl");
    program(key, "gradient of nearest pixels", [key.scalar; 2], text)
}

fn bilinear_gradient(key: &Key) -> Program {
    let text = include_str!("resize_bilinear_grad.wgsl");
    program(key, "gradient of mixed pixels", [Scalar::F32, key.scalar], text)
}

/// The shader for images of a depth.
fn key_of(scalar: Scalar, depth: usize) -> Key {
    Key { scalar, vectors: depth.is_multiple_of(4) }
}

/// All shaders of a kind for a dtype.
fn programs(program: fn(&Key) -> Program, dtype: DataType) -> Result<Vec<Program>> {
    let scalar = scalar_of(dtype)?;
    Ok([false, true].map(|vectors| program(&Key { scalar, vectors })).to_vec())
}

/// ResizeBilinear and ResizeNearestNeighbor.
struct Resize {
    scaling: Scaling,
    scalar: Scalar,
    shaders: Variants<Key>,
}

impl Resize {
    fn new(dtype: DataType, scaling: Scaling, program: fn(&Key) -> Program) -> Result<Resize> {
        Ok(Resize { scaling, scalar: scalar_of(dtype)?, shaders: Variants::new(program) })
    }

    /// Images of another size, with elements of this dtype.
    fn resize(&self, gpu: &GpuDevice, input: &Tensor, size: &Tensor, dtype: DataType) -> Result<Tensor> {
        let ([batch, rows, columns, depth], to) = resized(input.shape(), size)?;
        let out = gpu.allocate(dtype, [batch, to[0], to[1], depth])?;
        let params = params(self.scaling, [rows, columns, depth], to)?;
        let (key, parts) = (key_of(self.scalar, depth), [read(input), written(&out)]);
        element::run(gpu, &self.shaders, key, batch, &parts, &params, out.num_elements())?;
        Ok(out)
    }

    /// The gradient of images of size `to`, of which this flows back into those of another size.
    fn gradient(
        &self,
        gpu: &GpuDevice,
        input: &Tensor,
        grads: [usize; 4],
        to: [usize; 2],
        dtype: DataType,
    ) -> Result<Tensor> {
        let [batch, rows, columns, depth] = grads;
        let out = gpu.allocate(dtype, [batch, to[0], to[1], depth])?;
        // Next to a pixel lie those that it was made of, and one on either side.
        let [down, across] = [(rows, to[0]), (columns, to[1])].map(|(from, to)| 2 * from.div_ceil(to.max(1)) + 4);
        gpu.ensure_rounds(down.min(rows + 1).saturating_mul(across.min(columns + 1)))?;
        // Without gradients the step is infinite, but nothing is looked at.
        let params = params(self.scaling, [to[0], to[1], depth], [rows, columns])?;
        let (key, parts) = (key_of(self.scalar, depth), [read(input), written(&out)]);
        element::run(gpu, &self.shaders, key, batch, &parts, &params, out.num_elements())?;
        Ok(out)
    }
}

#[register_kernel(
    device = Gpu,
    op = ResizeNearestNeighbor,
    T = [f32, i32, f16 if "f16", i64 if "i64"],
    host_memory = ["size"],
    programs = |T| programs(nearest, T)
)]
impl OpKernel<O> for Resize {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Resize::new(ctx.input_dtype(O::IMAGES), Scaling::new(ctx.attrs)?, nearest)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let dtype = ctx.output_dtype(O::RESIZED_IMAGES)?;
        let out = self.resize(GpuDevice::of(ctx)?, ctx.input(O::IMAGES)?, ctx.input(O::SIZE)?, dtype)?;
        ctx.set_output(O::RESIZED_IMAGES, out)
    }
}

#[register_kernel(
    device = Gpu,
    op = ResizeBilinear,
    T = [f32, i32, f16 if "f16", i64 if "i64"],
    host_memory = ["size"],
    programs = |T| programs(bilinear, T)
)]
impl OpKernel<O> for Resize {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Resize::new(ctx.input_dtype(O::IMAGES), Scaling::new(ctx.attrs)?, bilinear)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let dtype = ctx.output_dtype(O::RESIZED_IMAGES)?;
        let out = self.resize(GpuDevice::of(ctx)?, ctx.input(O::IMAGES)?, ctx.input(O::SIZE)?, dtype)?;
        ctx.set_output(O::RESIZED_IMAGES, out)
    }
}

#[register_kernel(
    device = Gpu,
    op = ResizeNearestNeighborGrad,
    T = [f32, i32, f16 if "f16"],
    host_memory = ["size"],
    programs = |T| programs(nearest_gradient, T)
)]
impl OpKernel<O> for Resize {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Resize::new(ctx.output_dtype(O::OUTPUT), Scaling::any(ctx.attrs)?, nearest_gradient)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let input = ctx.input(O::GRADS)?;
        let (grads, to) = geometry::nearest_gradient(input.shape(), ctx.input(O::SIZE)?)?;
        let out = self.gradient(GpuDevice::of(ctx)?, input, grads, to, ctx.output_dtype(O::OUTPUT)?)?;
        ctx.set_output(O::OUTPUT, out)
    }
}

#[register_kernel(
    device = Gpu, op = ResizeBilinearGrad, T = [f32, f16 if "f16"], programs = |T| programs(bilinear_gradient, T)
)]
impl OpKernel<O> for Resize {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Resize::new(ctx.output_dtype(O::OUTPUT), Scaling::new(ctx.attrs)?, bilinear_gradient)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let input = ctx.input(O::GRADS)?;
        let (grads, to) = geometry::bilinear_gradient(input.shape(), ctx.input(O::ORIGINAL_IMAGE)?.shape())?;
        let out = self.gradient(GpuDevice::of(ctx)?, input, grads, to, ctx.output_dtype(O::OUTPUT)?)?;
        ctx.set_output(O::OUTPUT, out)
    }
}

//! ResizeBilinear, ResizeNearestNeighbor and their gradients. Places are computed as TensorFlow does it, in `float`.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::tensor::Tensor;
use kernlink_geometry::resize::{self as geometry, Scaling, resized};
use kernlink_macros::register_kernel;
use kernlink_ops::{ResizeBilinear, ResizeBilinearGrad, ResizeNearestNeighbor, ResizeNearestNeighborGrad};

use super::element::{self, Key};
use crate::device::GpuDevice;
use crate::matmul::gemm::word;
use crate::shader::{Entry, Program, Scalar, scalar_of};
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

fn program(key: Key, label: &str, types: [Scalar; 2], file: &str) -> Program {
    key.builder(label)
        .declare(if key.vectors { "alias F = vec4<f32>;" } else { "alias F = f32;" })
        .read_vectors("input", types[0], key.width())
        .write_vectors("output", types[1], key.width())
        .words("rows columns depth out_rows out_columns")
        .param("step_y", "f32")
        .param("step_x", "f32")
        .words("half_pixels rounded")
        .compose(Entry::Elements, file, key.names())
}

fn nearest(key: Key) -> Program {
    program(key, "nearest pixels", [key.scalar; 2], include_str!("resize_nearest.wgsl"))
}

fn bilinear(key: Key) -> Program {
    program(key, "mixed pixels", [key.scalar, Scalar::F32], include_str!("resize_bilinear.wgsl"))
}

fn nearest_gradient(key: Key) -> Program {
    program(key, "gradient of nearest pixels", [key.scalar; 2], include_str!("resize_nearest_grad.wgsl"))
}

fn bilinear_gradient(key: Key) -> Program {
    program(key, "gradient of mixed pixels", [Scalar::F32, key.scalar], include_str!("resize_bilinear_grad.wgsl"))
}

/// What tells the shader for images of a depth.
fn key_of(dtype: DataType, depth: usize) -> Result<Key> {
    Ok(Key::new(scalar_of(dtype)?, depth.is_multiple_of(4)))
}

/// Images of another size, with elements of this dtype.
fn resize(
    gpu: &GpuDevice,
    program: impl Fn(Key) -> Program + 'static,
    scaling: Scaling,
    [input, size]: [&Tensor; 2],
    dtype: DataType,
) -> Result<Tensor> {
    let ([batch, rows, columns, depth], to) = resized(input.shape(), size)?;
    let out = gpu.allocate(dtype, [batch, to[0], to[1], depth])?;
    let params = params(scaling, [rows, columns, depth], to)?;
    let (key, parts) = (key_of(input.dtype(), depth)?, [read(input), written(&out)]);
    element::run(gpu, (program, key), batch, &parts, &params, out.num_elements())?;
    Ok(out)
}

/// The gradient of images of size `to`, of which this flows back into those of another size.
fn gradient(
    gpu: &GpuDevice,
    program: impl Fn(Key) -> Program + 'static,
    scaling: Scaling,
    input: &Tensor,
    (grads, to): ([usize; 4], [usize; 2]),
    dtype: DataType,
) -> Result<Tensor> {
    let [batch, rows, columns, depth] = grads;
    let out = gpu.allocate(dtype, [batch, to[0], to[1], depth])?;
    // Next to a pixel lie those that it was made of, and one on either side.
    let [down, across] = [(rows, to[0]), (columns, to[1])].map(|(from, to)| 2 * from.div_ceil(to.max(1)) + 4);
    gpu.ensure_rounds(down.min(rows + 1).saturating_mul(across.min(columns + 1)))?;
    // Without gradients the step is infinite, but nothing is looked at.
    let params = params(scaling, [to[0], to[1], depth], [rows, columns])?;
    let (key, parts) = (key_of(dtype, depth)?, [read(input), written(&out)]);
    element::run(gpu, (program, key), batch, &parts, &params, out.num_elements())?;
    Ok(out)
}

#[register_kernel(
    device = Gpu, op = ResizeNearestNeighbor, T = [f32, i32, f16 if "f16", i64 if "i64"], host_memory = ["size"],
    programs = |T| element::programs(nearest, T), state = |ctx| Scaling::new(ctx.attrs)
)]
fn resize_nearest(&scaling: &Scaling, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (inputs, dtype) = ([ctx.input(O::IMAGES)?, ctx.input(O::SIZE)?], ctx.output_dtype(O::RESIZED_IMAGES)?);
    let out = resize(GpuDevice::of(ctx)?, nearest, scaling, inputs, dtype)?;
    ctx.set_output(O::RESIZED_IMAGES, out)
}

#[register_kernel(
    device = Gpu, op = ResizeBilinear, T = [f32, i32, f16 if "f16", i64 if "i64"], host_memory = ["size"],
    programs = |T| element::programs(bilinear, T), state = |ctx| Scaling::new(ctx.attrs)
)]
fn resize_bilinear(&scaling: &Scaling, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (inputs, dtype) = ([ctx.input(O::IMAGES)?, ctx.input(O::SIZE)?], ctx.output_dtype(O::RESIZED_IMAGES)?);
    let out = resize(GpuDevice::of(ctx)?, bilinear, scaling, inputs, dtype)?;
    ctx.set_output(O::RESIZED_IMAGES, out)
}

#[register_kernel(
    device = Gpu, op = ResizeNearestNeighborGrad, T = [f32, i32, f16 if "f16"], host_memory = ["size"],
    programs = |T| element::programs(nearest_gradient, T), state = |ctx| Scaling::any(ctx.attrs)
)]
fn resize_nearest_gradient(&scaling: &Scaling, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (input, dtype) = (ctx.input(O::GRADS)?, ctx.output_dtype(O::OUTPUT)?);
    let sizes = geometry::nearest_gradient(input.shape(), ctx.input(O::SIZE)?)?;
    let out = gradient(GpuDevice::of(ctx)?, nearest_gradient, scaling, input, sizes, dtype)?;
    ctx.set_output(O::OUTPUT, out)
}

#[register_kernel(
    device = Gpu, op = ResizeBilinearGrad, T = [f32, f16 if "f16"],
    programs = |T| element::programs(bilinear_gradient, T), state = |ctx| Scaling::new(ctx.attrs)
)]
fn resize_bilinear_gradient(&scaling: &Scaling, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (input, dtype) = (ctx.input(O::GRADS)?, ctx.output_dtype(O::OUTPUT)?);
    let sizes = geometry::bilinear_gradient(input.shape(), ctx.input(O::ORIGINAL_IMAGE)?.shape())?;
    let out = gradient(GpuDevice::of(ctx)?, bilinear_gradient, scaling, input, sizes, dtype)?;
    ctx.set_output(O::OUTPUT, out)
}

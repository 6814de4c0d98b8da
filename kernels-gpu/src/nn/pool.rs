//! MaxPool, AvgPool and their gradients.

use std::borrow::Cow;

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{GPU, KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink_geometry::images::shape_last;
use kernlink_geometry::pooling::{Geometry, Pooling, ensure_channels_last};
use kernlink_macros::register_kernel;
use kernlink_ops::{
    AvgPool, AvgPoolGrad, MaxPool, MaxPoolGrad, MaxPoolGradGrad, MaxPoolGradGradV2, MaxPoolGradV2, MaxPoolV2,
};
use smallvec::SmallVec;

use super::element::{self, Key};
use super::images::{and_turns, channels_last, output_images};
use super::pooling::{PARAMS, Through, key_of, params};
use crate::device::GpuDevice;
use crate::matmul::gemm::word;
use crate::shader::{Access, Program, scalar_of};
use crate::windows::{Part, read, written};

const INPUT: (&str, Access) = ("input", Access::Read);
const GRADIENT: (&str, Access) = ("gradient", Access::Read);
const OUTPUT: (&str, Access) = ("output", Access::Write);

fn max(key: Key) -> Program {
    element::program(key, "max pooling", &[INPUT, OUTPUT], PARAMS, include_str!("max_pool.wgsl"))
}

fn max_over_depth(key: Key) -> Program {
    let file = include_str!("max_pool_depth.wgsl");
    element::program(key, "max pooling over depth", &[INPUT, OUTPUT], "channels", file)
}

fn average(key: Key) -> Program {
    element::program(key, "average pooling", &[INPUT, OUTPUT], PARAMS, include_str!("avg_pool.wgsl"))
}

fn average_gradient(key: Key) -> Program {
    let file = include_str!("avg_pool_grad.wgsl");
    element::program(key, "gradient of average pooling", &[GRADIENT, OUTPUT], PARAMS, file)
}

fn places(key: Key) -> Program {
    let buffers = [INPUT, ("places", Access::Write)];
    element::program(key, "places of maxima", &buffers, PARAMS, include_str!("max_places.wgsl"))
}

fn max_gradient(key: Key) -> Program {
    let buffers = [GRADIENT, ("places", Access::Read), OUTPUT];
    element::program(key, "gradient of max pooling", &buffers, PARAMS, include_str!("max_pool_grad.wgsl"))
}

fn gradient_of_gradient(key: Key) -> Program {
    let buffers = [INPUT, ("pooled", Access::Read), GRADIENT, OUTPUT];
    let file = include_str!("max_pool_grad_grad.wgsl");
    element::program(key, "gradient of max pooling's gradient", &buffers, PARAMS, file)
}

/// Where the window and its stride are.
enum Windows {
    /// In attrs.
    Known(Pooling),
    /// In two inputs from this one.
    Given { first: usize, padding: String },
}

impl Windows {
    fn given(first: usize, padding: &str, format: &str) -> Result<Windows> {
        ensure_channels_last(format, GPU)?;
        Ok(Windows::Given { first, padding: padding.to_owned() })
    }

    fn of(&self, ctx: &RawContext<'_>) -> Result<Cow<'_, Pooling>> {
        Ok(match self {
            Windows::Known(pooling) => Cow::Borrowed(pooling),
            Windows::Given { first, padding } => Cow::Owned(Pooling::from_inputs(ctx, *first, padding)?),
        })
    }
}

/// Writes a tensor by a shader that goes through windows for each of its elements.
fn by_windows(
    gpu: &GpuDevice,
    program: impl Fn(Key) -> Program + 'static,
    inputs: &[&Tensor],
    out: &Tensor,
    geometry: &Geometry,
    through: Through,
) -> Result<()> {
    if out.num_elements() == 0 {
        return Ok(());
    }
    let (key, params) = (key_of(geometry, scalar_of(out.dtype())?), params(gpu, geometry, &[through])?);
    let parts: SmallVec<[Part<'_>; 4]> = inputs.iter().map(|input| read(input)).chain([written(out)]).collect();
    element::run(gpu, (program, key), geometry.batch, &parts, &params, out.num_elements())
}

/// Output 0.
fn greatest(ctx: &RawContext<'_>, input: &Tensor, pooling: &Pooling) -> Result<Tensor> {
    let gpu = GpuDevice::of(ctx)?;
    let input = channels_last(gpu, pooling.format, input)?;
    let geometry = pooling.geometry(input.shape())?;
    let Some((window, shape)) = pooling.over_depth(input.shape())? else {
        return output_images(gpu, ctx, pooling.format, geometry.output(), |out| {
            by_windows(gpu, max, &[&input], out, &geometry, Through::Window)
        });
    };
    output_images(gpu, ctx, pooling.format, shape, |out| {
        let key = Key::new(scalar_of(input.dtype())?, false);
        let (parts, params) = ([read(&input), written(out)], [word(window)?]);
        gpu.ensure_rounds(window)?;
        element::run(gpu, (max_over_depth, key), geometry.batch, &parts, &params, out.num_elements())
    })
}

/// Writes each element of `grad` at the place of its window's greatest element.
fn to_greatest(gpu: &GpuDevice, geometry: &Geometry, [input, grad, out]: [&Tensor; 3]) -> Result<()> {
    if out.num_elements() == 0 {
        return Ok(());
    }
    let key = key_of(geometry, scalar_of(out.dtype())?);
    let params = params(gpu, geometry, &[Through::Window, Through::Windows])?;
    let found = gpu.allocate(DataType::Uint32, geometry.output())?;
    let parts = [read(input), written(&found)];
    element::run(gpu, (places, key), geometry.batch, &parts, &params, found.num_elements())?;
    let parts = [read(grad), read(&found), written(out)];
    element::run(gpu, (max_gradient, key), geometry.batch, &parts, &params, out.num_elements())
}

/// The shaders of max pooling.
fn max_programs(dtype: DataType) -> Result<Vec<Program>> {
    let over_depth = max_over_depth(Key::new(scalar_of(dtype)?, false));
    and_turns([element::programs(max, dtype)?, vec![over_depth]].concat(), dtype)
}

/// The shaders of max pooling's gradient.
fn max_gradient_programs(dtype: DataType) -> Result<Vec<Program>> {
    and_turns([element::programs(places, dtype)?, element::programs(max_gradient, dtype)?].concat(), dtype)
}

#[register_kernel(
    device = Gpu, op = MaxPool, T = [f32, i32, f16 if "f16", i64 if "i64"], programs = |T| max_programs(T),
    state = |ctx| Ok(Windows::Known(Pooling::of_maxima(ctx.attrs)?))
)]
#[register_kernel(
    device = Gpu, op = MaxPoolV2, T = [f32, i32, f16 if "f16", i64 if "i64"], host_memory = ["ksize", "strides"],
    programs = |T| max_programs(T), state = |ctx| Windows::given(1, &ctx.attrs().padding, &ctx.attrs().data_format)
)]
fn max_pool(windows: &Windows, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let output = greatest(ctx, ctx.input(O::INPUT)?, windows.of(ctx)?.as_ref())?;
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(
    device = Gpu, op = AvgPool, T = [f32, f16 if "f16"],
    programs = |T| and_turns(element::programs(average, T)?, T), state = |ctx| Pooling::new(ctx.attrs)
)]
fn average_pool(pooling: &Pooling, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let input = channels_last(gpu, pooling.format, ctx.input(O::VALUE)?)?;
    let geometry = pooling.averaged(input.shape())?;
    let output = output_images(gpu, ctx, pooling.format, geometry.output(), |out| {
        by_windows(gpu, average, &[&input], out, &geometry, Through::Window)
    })?;
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(
    device = Gpu, op = AvgPoolGrad, T = [f32, f16 if "f16"], host_memory = ["orig_input_shape"],
    programs = |T| and_turns(element::programs(average_gradient, T)?, T), state = |ctx| Pooling::new(ctx.attrs)
)]
fn average_pool_gradient(pooling: &Pooling, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let grad = channels_last(gpu, pooling.format, ctx.input(O::GRAD)?)?;
    let (shape, geometry) = pooling.averaged_back(ctx.input(O::ORIG_INPUT_SHAPE)?, grad.shape())?;
    let output = output_images(gpu, ctx, pooling.format, shape, |out| {
        by_windows(gpu, average_gradient, &[&grad], out, &geometry, Through::Windows)
    })?;
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(
    device = Gpu, op = MaxPoolGrad, T = [f32, i32, u32, f16 if "f16", i64 if "i64"],
    programs = |T| max_gradient_programs(T), state = |ctx| Ok(Windows::Known(Pooling::new(ctx.attrs)?))
)]
#[register_kernel(
    device = Gpu, op = MaxPoolGradV2, T = [f32, i32, u32, f16 if "f16", i64 if "i64"],
    host_memory = ["ksize", "strides"], programs = |T| max_gradient_programs(T),
    state = |ctx| Windows::given(3, &ctx.attrs().padding, &ctx.attrs().data_format)
)]
fn max_pool_gradient(windows: &Windows, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (gpu, pooling) = (GpuDevice::of(ctx)?, windows.of(ctx)?);
    let format = pooling.format;
    let (input, grad) = (ctx.input(O::ORIG_INPUT)?, ctx.input(O::GRAD)?);
    let (input, grad) = (channels_last(gpu, format, input)?, channels_last(gpu, format, grad)?);
    let pooled = shape_last(format, ctx.input(O::ORIG_OUTPUT)?.shape().clone());
    let geometry = pooling.maxima_back(input.shape(), &pooled, grad.shape())?;
    let output = output_images(gpu, ctx, format, input.shape().clone(), |out| {
        to_greatest(gpu, &geometry, [&input, &grad, out])
    })?;
    ctx.set_output(O::OUTPUT, output)
}

// The element of `grad` where the window's first element equal to that of the output stands.
#[register_kernel(
    device = Gpu, op = MaxPoolGradGrad, T = [f32, i32, u32, f16 if "f16", i64 if "i64"],
    programs = |T| element::programs(gradient_of_gradient, T),
    state = |ctx| Ok(Windows::Known(Pooling::channels_last(ctx.attrs, GPU)?))
)]
#[register_kernel(
    device = Gpu, op = MaxPoolGradGradV2, T = [f32, i32, u32, f16 if "f16", i64 if "i64"],
    host_memory = ["ksize", "strides"], programs = |T| element::programs(gradient_of_gradient, T),
    state = |ctx| Windows::given(3, &ctx.attrs().padding, &ctx.attrs().data_format)
)]
fn max_pool_gradient_of_gradient(windows: &Windows, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let inputs = [ctx.input(O::ORIG_INPUT)?, ctx.input(O::ORIG_OUTPUT)?, ctx.input(O::GRAD)?];
    let geometry = windows.of(ctx)?.maxima_back_back(inputs[0].shape(), inputs[1].shape(), inputs[2].shape())?;
    let gpu = GpuDevice::of(ctx)?;
    let output = gpu.output(ctx, O::OUTPUT, geometry.output())?;
    by_windows(gpu, gradient_of_gradient, &inputs, &output, &geometry, Through::Window)?;
    ctx.set_output(O::OUTPUT, output)
}

//! DepthwiseConv2dNative and its gradients.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink_geometry::depthwise::{Depthwise, Geometry};
use kernlink_geometry::fusion::Fusion;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;
use smallvec::{SmallVec, smallvec};

use super::convolution::reaches;
use super::element::{self, Key};
use super::images::{and_turns, channels_last, finish, output_images};
use crate::device::{GpuDevice, Groups};
use crate::epilogue::{self, Finish};
use crate::matmul::gemm::word;
use crate::matmul::sum_parts;
use crate::matmul::text::sum_of;
use crate::shader::{Access, Entry, Program, Scalar, scalar_of};
use crate::windows::{Part, Piece, read, whole, written};

const PARAMS: &str = "rows columns depth out_rows out_columns out_depth window_rows window_columns stride_y \
                      stride_x dilation_y dilation_x before_y before_x multiplier";

fn params(geometry: &Geometry) -> Result<SmallVec<[u32; 18]>> {
    let (rows, columns) = (&geometry.rows, &geometry.columns);
    reaches(rows)?;
    reaches(columns)?;
    let sizes = [
        rows.input,
        columns.input,
        geometry.in_depth,
        rows.output,
        columns.output,
        geometry.out_depth(),
        rows.window,
        columns.window,
        rows.stride,
        columns.stride,
        rows.dilation,
        columns.dilation,
        rows.before,
        columns.before,
        geometry.multiplier,
    ];
    sizes.into_iter().map(word).collect()
}

/// How often a shader goes round for an element that sees all of a filter, at each tap of it some times more.
fn rounds(geometry: &Geometry, more: usize) -> usize {
    let taps = geometry.rows.window.saturating_mul(geometry.columns.window + 1);
    taps.saturating_mul(more + 1)
}

/// What tells the shader for a convolution: threads take four channels if each has one filter.
fn key_of(geometry: &Geometry, dtype: DataType) -> Result<Key> {
    let vectors = geometry.multiplier == 1 && geometry.in_depth.is_multiple_of(4);
    Ok(Key::new(scalar_of(dtype)?, vectors))
}

fn forward(key: Key) -> Program {
    let buffers = [("input", Access::Read), ("weights", Access::Read), ("output", Access::Write)];
    element::program(key, "depthwise convolution", &buffers, PARAMS, include_str!("depthwise.wgsl"))
}

#[register_kernel(
    device = Gpu, op = ops::DepthwiseConv2dNative, T = [f32, f16 if "f16"],
    programs = |T| and_turns(element::programs(forward, T)?, T), state = |ctx| Depthwise::new(ctx.attrs)
)]
fn depthwise(convolution: &Depthwise, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    compute(convolution, None, ctx)
}

#[register_kernel(
    device = Gpu, op = [ops::FusedDepthwiseConv2dNative, ops::FusedPaddedDepthwiseConv2dNative],
    T = [f32, f16 if "f16"],
    programs = |T| and_turns([element::fused_programs(forward, T)?, epilogue::programs(T)?].concat(), T),
    state = |ctx| Ok((Depthwise::new(ctx.attrs)?, Fusion::new(ctx.attrs, true)?))
)]
fn fused_depthwise((convolution, fusion): &(Depthwise, Fusion), ctx: &mut KernelContext<'_, O>) -> Result<()> {
    compute(convolution, Some(fusion), ctx)
}

/// Output 0: the convolution of inputs 0 and 1, and what follows it.
fn compute(convolution: &Depthwise, fusion: Option<&Fusion>, ctx: &mut RawContext<'_>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let format = convolution.format;
    let (input, filter) = (channels_last(gpu, format, ctx.input_at(0)?)?, ctx.input_at(1)?);
    let geometry = convolution.forward(input.shape(), filter.shape())?;
    let out = output_images(gpu, ctx, format, geometry.output(), |out| {
        if out.num_elements() == 0 {
            return Ok(());
        }
        gpu.ensure_rounds(rounds(&geometry, 0))?;
        let (mut key, mut params) = (key_of(&geometry, out.dtype())?, params(&geometry)?);
        let finish = fusion.map(|fusion| finish(gpu, ctx, fusion, format, out.shape())).transpose()?;
        let mut parts: SmallVec<[Part<'_>; 8]> = smallvec![read(&input), whole(filter), written(out)];
        if let Some(stage) = finish.as_ref().map(Finish::first) {
            key.epilogue = stage.epilogue();
            params.extend_from_slice(stage.params());
            parts.extend(stage.parts());
        }
        element::run(gpu, (forward, key), geometry.batch, &parts, &params, out.num_elements())?;
        finish.iter().try_for_each(|finish| finish.finish_rest(gpu, out))
    })?;
    ctx.set_output_at(0, out)
}

fn of_input(key: Key) -> Program {
    let buffers = [("weights", Access::Read), ("gradient", Access::Read), ("output", Access::Write)];
    let file = include_str!("depthwise_input.wgsl");
    element::program(key, "gradient of a depthwise convolution's input", &buffers, PARAMS, file)
}

#[register_kernel(
    device = Gpu, op = ops::DepthwiseConv2dNativeBackpropInput, T = [f32, f16 if "f16"], host_memory = ["input_sizes"],
    programs = |T| and_turns(element::programs(of_input, T)?, T), state = |ctx| Depthwise::new(ctx.attrs)
)]
fn backprop_input(convolution: &Depthwise, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let (sizes, filter, gradient) = (ctx.input(O::INPUT_SIZES)?, ctx.input(O::FILTER)?, ctx.input(O::OUT_BACKPROP)?);
    let gradient = channels_last(gpu, convolution.format, gradient)?;
    let (shape, geometry) = convolution.backward_to_input(sizes, filter.shape(), gradient.shape())?;
    let out = output_images(gpu, ctx, convolution.format, shape, |out| {
        if out.num_elements() == 0 {
            return Ok(());
        }
        gpu.ensure_rounds(rounds(&geometry, geometry.multiplier))?;
        let (key, params) = (key_of(&geometry, out.dtype())?, params(&geometry)?);
        let parts = [whole(filter), read(&gradient), written(out)];
        element::run(gpu, (of_input, key), geometry.batch, &parts, &params, out.num_elements())
    })?;
    ctx.set_output(O::OUTPUT, out)
}

/// What a workgroup takes of a tap's channels, and how many threads it has: see `depthwise_filter.wgsl`.
const SHARES: usize = 16;
const THREADS: u32 = 128;
/// How many pixels a workgroup takes at once.
const SLICES: usize = THREADS as usize / SHARES;

fn of_filter(key: Key) -> Program {
    key.builder("gradient of a depthwise convolution's filter")
        .workgroup(THREADS)
        .read_vectors("input", key.scalar, key.width())
        .read_vectors("gradient", key.scalar, key.width())
        .write_vectors("scratch", sum_of(key.scalar), key.width())
        .words(PARAMS)
        .words("pixels chunk")
        .compose(Entry::Rows, include_str!("depthwise_filter.wgsl"), key.names())
}

fn filter_programs(dtype: DataType) -> Result<Vec<Program>> {
    Ok([element::programs(of_filter, dtype)?, sum_parts::programs(scalar_of(dtype)?)].concat())
}

#[register_kernel(
    device = Gpu, op = ops::DepthwiseConv2dNativeBackpropFilter, T = [f32, f16 if "f16"],
    host_memory = ["filter_sizes"], programs = |T| and_turns(filter_programs(T)?, T),
    state = |ctx| Depthwise::new(ctx.attrs)
)]
fn backprop_filter(convolution: &Depthwise, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let (input, sizes, gradient) = (ctx.input(O::INPUT)?, ctx.input(O::FILTER_SIZES)?, ctx.input(O::OUT_BACKPROP)?);
    let format = convolution.format;
    let (input, gradient) = (channels_last(gpu, format, input)?, channels_last(gpu, format, gradient)?);
    let (shape, geometry) = convolution.backward_to_filter(input.shape(), sizes, gradient.shape())?;
    let out = gpu.output(ctx, O::OUTPUT, shape)?;
    if out.num_elements() > 0 {
        add_up(gpu, &geometry, [&input, &gradient, &out])?;
    }
    ctx.set_output(O::OUTPUT, out)
}

/// Adds up the gradient in parts, and the parts.
fn add_up(gpu: &GpuDevice, geometry: &Geometry, [input, gradient, out]: [&Tensor; 3]) -> Result<()> {
    /// Pixels of a part at least, and how many workgroups keep a device busy.
    const PIXELS: usize = 512;
    const BUSY: usize = 1024;
    let key = key_of(geometry, out.dtype())?;
    let is_empty = input.num_elements() == 0 || gradient.num_elements() == 0;
    let image = if is_empty { 0 } else { geometry.rows.output * geometry.columns.output };
    let taps = geometry.rows.window * geometry.columns.window;
    let tiles = geometry.out_depth().div_ceil(key.width() as usize).div_ceil(SHARES) * taps;
    // How many parts so many images are cut into, and how long each is.
    let share = |images: usize| {
        let pixels = images * image;
        let chunk = pixels.div_ceil((pixels / PIXELS).min(BUSY.div_ceil(tiles)).max(1));
        (if pixels == 0 { 1 } else { pixels.div_ceil(chunk) }, chunk)
    };
    let moving = [read(input), read(gradient)];
    let window = if gpu.fit(&[input, gradient]) { None } else { gpu.window(geometry.batch, &moving)? };
    let window = window.unwrap_or(geometry.batch).max(1);
    let windows = (0..geometry.batch.max(1)).step_by(window);
    let parts: usize = windows.map(|start| share(window.min(geometry.batch.saturating_sub(start))).0).sum();
    let sum = if key.scalar == Scalar::F16 { DataType::Float } else { out.dtype() };
    let scratch = if parts == 1 && sum == out.dtype() { None } else { Some([parts, out.num_elements()]) };
    let scratch = scratch.map(|shape| gpu.allocate(sum, shape)).transpose()?;
    let (shader, target, mut part) = (gpu.shader(of_filter, key), scratch.as_ref().unwrap_or(out), 0);
    gpu.in_windows(geometry.batch, &moving, |images, tensors| {
        let (parts, chunk) = share(images.len());
        gpu.ensure_rounds(chunk / SLICES)?;
        let mut params = params(geometry)?;
        params.extend_from_slice(&[word(images.len() * image)?, word(chunk)?]);
        let (first, count) = (part * out.num_elements(), parts * out.num_elements());
        part += parts;
        gpu.with_pieces(&[Piece { tensor: target, first, count, written: true }], |target| {
            let groups = Groups::Rows(tiles.saturating_mul(parts));
            gpu.dispatch(&shader, &[tensors[0], tensors[1], target[0]], &params, groups)
        })
    })?;
    match scratch {
        Some(scratch) => sum_parts::run(gpu, key.scalar, &scratch, out),
        None => Ok(()),
    }
}

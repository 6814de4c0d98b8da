//! DepthwiseConv2dNative and its gradients.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{GPU, KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::Tensor;
use kernlink_geometry::depthwise::{self as geometry, Geometry};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;
use smallvec::SmallVec;

use super::convolution::reaches;
use super::element::{self, Key, Source};
use crate::device::{GpuDevice, Groups};
use crate::matmul::gemm::word;
use crate::matmul::sum_parts;
use crate::matmul::text::sum_of;
use crate::shader::{Access, Entry, Program, Scalar, scalar_of};
use crate::variants::Variants;
use crate::windows::{Piece, read, whole, written};

const PARAMS: [&str; 12] = [
    "rows",
    "columns",
    "depth",
    "out_rows",
    "out_columns",
    "out_depth",
    "window_rows",
    "window_columns",
    "stride",
    "before_y",
    "before_x",
    "multiplier",
];

fn params(geometry: &Geometry) -> Result<SmallVec<[u32; 14]>> {
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

/// The shader for a convolution: threads take four channels if each has one filter.
fn key_of(geometry: &Geometry, scalar: Scalar) -> Key {
    Key { scalar, vectors: geometry.multiplier == 1 && geometry.in_depth.is_multiple_of(4) }
}

const FORWARD: Source = Source {
    label: "depthwise convolution",
    text: include_str!("depthwise.wgsl"),
    buffers: &[("input", Access::Read), ("weights", Access::Read), ("output", Access::Write)],
    params: &PARAMS,
};

/// DepthwiseConv2dNative.
struct Depthwise {
    convolution: geometry::Depthwise,
    scalar: Scalar,
    shaders: Variants<Key>,
}

#[register_kernel(
    device = Gpu,
    op = ops::DepthwiseConv2dNative,
    T = [f32, f16 if "f16"],
    programs = |T| Ok(FORWARD.programs(scalar_of(T)?))
)]
impl OpKernel<O> for Depthwise {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let (convolution, shaders) = (geometry::Depthwise::new(ctx.attrs)?, Variants::new(|key| FORWARD.program(key)));
        Ok(Depthwise { convolution, scalar: scalar_of(ctx.input_dtype(O::INPUT))?, shaders })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (input, filter) = (ctx.input(O::INPUT)?, ctx.input(O::FILTER)?);
        let geometry = self.convolution.forward(input.shape(), filter.shape())?;
        let out = gpu.output(ctx, O::OUTPUT, self.convolution.output(&geometry))?;
        let elements = out.num_elements();
        if elements > 0 {
            self.convolution.ensure_computable(GPU)?;
            gpu.ensure_rounds(rounds(&geometry, 0))?;
            let (key, params) = (key_of(&geometry, self.scalar), params(&geometry)?);
            let parts = [read(input), whole(filter), written(&out)];
            element::run(gpu, &self.shaders, key, geometry.batch, &parts, &params, elements)?;
        }
        ctx.set_output(O::OUTPUT, out)
    }
}

const OF_INPUT: Source = Source {
    label: "gradient of a depthwise convolution's input",
    text: include_str!("depthwise_input.wgsl"),
    buffers: &[("weights", Access::Read), ("gradient", Access::Read), ("output", Access::Write)],
    params: &PARAMS,
};

/// DepthwiseConv2dNativeBackpropInput.
struct BackpropInput {
    convolution: geometry::Depthwise,
    scalar: Scalar,
    shaders: Variants<Key>,
}

#[register_kernel(
    device = Gpu,
    op = ops::DepthwiseConv2dNativeBackpropInput,
    T = [f32, f16 if "f16"],
    host_memory = ["input_sizes"],
    programs = |T| Ok(OF_INPUT.programs(scalar_of(T)?))
)]
impl OpKernel<O> for BackpropInput {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let convolution = geometry::Depthwise::of_gradient(ctx.attrs, GPU)?;
        let shaders = Variants::new(|key| OF_INPUT.program(key));
        Ok(BackpropInput { convolution, scalar: scalar_of(ctx.output_dtype(O::OUTPUT))?, shaders })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (sizes, filter, gradient) =
            (ctx.input(O::INPUT_SIZES)?, ctx.input(O::FILTER)?, ctx.input(O::OUT_BACKPROP)?);
        let (shape, geometry) = self.convolution.backward_to_input(sizes, filter.shape(), gradient.shape())?;
        let out = gpu.output(ctx, O::OUTPUT, shape)?;
        let elements = out.num_elements();
        if elements > 0 {
            gpu.ensure_rounds(rounds(&geometry, geometry.multiplier))?;
            let (key, params) = (key_of(&geometry, self.scalar), params(&geometry)?);
            let parts = [whole(filter), read(gradient), written(&out)];
            element::run(gpu, &self.shaders, key, geometry.batch, &parts, &params, elements)?;
        }
        ctx.set_output(O::OUTPUT, out)
    }
}

/// What a workgroup takes of a tap's channels, and how many threads it has: see `depthwise_filter.wgsl`.
const SHARES: usize = 16;
const THREADS: u32 = 128;
/// How many pixels a workgroup takes at once.
const SLICES: usize = THREADS as usize / SHARES;

fn of_filter(key: &Key) -> Program {
    let mut builder = key
        .builder("gradient of a depthwise convolution's filter")
        .workgroup(THREADS)
        .read_vectors("input", key.scalar, key.width())
        .read_vectors("gradient", key.scalar, key.width())
        .write_vectors("scratch", sum_of(key.scalar), key.width());
    for name in PARAMS.iter().chain(&["pixels", "chunk"]) {
        builder = builder.param(name, "u32");
    }
    builder.build(Entry::Rows, &key.compose(include_str!("depthwise_filter.wgsl")))
}

/// DepthwiseConv2dNativeBackpropFilter.
struct BackpropFilter {
    convolution: geometry::Depthwise,
    scalar: Scalar,
    shaders: Variants<Key>,
    sums: Variants<sum_parts::Key>,
}

#[register_kernel(
    device = Gpu,
    op = ops::DepthwiseConv2dNativeBackpropFilter,
    T = [f32, f16 if "f16"],
    host_memory = ["filter_sizes"],
    programs = |T| filter_programs(T)
)]
impl OpKernel<O> for BackpropFilter {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let convolution = geometry::Depthwise::of_gradient(ctx.attrs, GPU)?;
        let (shaders, sums) = (Variants::new(of_filter), Variants::new(sum_parts::program));
        Ok(BackpropFilter { convolution, scalar: scalar_of(ctx.output_dtype(O::OUTPUT))?, shaders, sums })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (input, sizes, gradient) = (ctx.input(O::INPUT)?, ctx.input(O::FILTER_SIZES)?, ctx.input(O::OUT_BACKPROP)?);
        let (shape, geometry) = self.convolution.backward_to_filter(input.shape(), sizes, gradient.shape())?;
        let out = gpu.output(ctx, O::OUTPUT, shape)?;
        if out.num_elements() > 0 {
            self.add_up(gpu, &geometry, [input, gradient, &out])?;
        }
        ctx.set_output(O::OUTPUT, out)
    }
}

impl BackpropFilter {
    /// Adds up the gradient in parts, and the parts.
    fn add_up(&self, gpu: &GpuDevice, geometry: &Geometry, [input, gradient, out]: [&Tensor; 3]) -> Result<()> {
        /// Pixels of a part at least, and how many workgroups keep a device busy.
        const PIXELS: usize = 512;
        const BUSY: usize = 1024;
        let key = key_of(geometry, self.scalar);
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
        let sum = if self.scalar == Scalar::F16 { DataType::Float } else { out.dtype() };
        let scratch = if parts == 1 && sum == out.dtype() { None } else { Some([parts, out.num_elements()]) };
        let scratch = scratch.map(|shape| gpu.allocate(sum, shape)).transpose()?;
        let (shader, target, mut part) = (self.shaders.get(key), scratch.as_ref().unwrap_or(out), 0);
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
            Some(scratch) => sum_parts::run(gpu, &self.sums, self.scalar, &scratch, out),
            None => Ok(()),
        }
    }
}

fn filter_programs(dtype: DataType) -> Result<Vec<Program>> {
    let scalar = scalar_of(dtype)?;
    let programs = [false, true].map(|vectors| of_filter(&Key { scalar, vectors }));
    Ok([&programs[..], &sum_parts::programs(scalar)].concat())
}

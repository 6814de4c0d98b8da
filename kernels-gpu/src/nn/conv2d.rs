//! Conv2D and its gradients: products whose factors are read where the windows are.

use kernlink::dtype::DataType;
use kernlink::error::{Code, Result};
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink_geometry::convolution::{Convolution, Geometry};
use kernlink_geometry::fusion::{Fusion, ensure_filter_format};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;
use smallvec::{SmallVec, smallvec};

use super::convolution::params;
use super::images::{and_turns, channels_last, finish, output_images};
use crate::device::GpuDevice;
use crate::epilogue::{End, Finish, Stage};
use crate::matmul::config::Extents;
use crate::matmul::gemm::{self, Factors, Gemm, Target, of_matrices};
use crate::matmul::text::Source;
use crate::windows::{Part, Piece, read, whole, written};

/// The kinds of factors of a convolution.
const KINDS: [[Source; 2]; 2] = [[Source::Patches, Source::Columns], [Source::Rows, Source::Columns]];

#[register_kernel(
    device = Gpu, op = ops::Conv2D, T = [f32, i32, f16 if "f16"],
    programs = |T| and_turns(gemm::programs(T, KINDS)?, T),
    state = |ctx| Convolution::new(ctx.attrs, Code::Unimplemented)
)]
fn conv2d(convolution: &Convolution, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    compute(convolution, None, ctx)
}

#[register_kernel(
    device = Gpu, op = ops::FusedConv2D, T = [f32, f16 if "f16"], host_memory = ["host_args"],
    programs = |T| and_turns(gemm::fused_programs(T, KINDS)?, T),
    state = |ctx| {
        ensure_filter_format(ctx.attrs)?;
        Ok((Convolution::new(ctx.attrs, Code::Unimplemented)?, Fusion::new(ctx.attrs, true)?))
    }
)]
fn fused_conv2d((convolution, fusion): &(Convolution, Fusion), ctx: &mut KernelContext<'_, O>) -> Result<()> {
    compute(convolution, Some(fusion), ctx)
}

/// Output 0: the convolution of inputs 0 and 1, and what follows it.
fn compute(convolution: &Convolution, fusion: Option<&Fusion>, ctx: &mut RawContext<'_>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let format = convolution.format;
    let (input, filter) = (channels_last(gpu, format, ctx.input_at(0)?)?, ctx.input_at(1)?);
    let geometry = convolution.forward(input.shape(), filter.shape())?;
    let out = output_images(gpu, ctx, format, geometry.output(), |out| {
        if out.num_elements() == 0 {
            return Ok(());
        }
        let finish = fusion.map(|fusion| finish(gpu, ctx, fusion, format, out.shape())).transpose()?;
        let stage = finish.as_ref().map(Finish::first);
        let mut parts: SmallVec<[Part<'_>; 8]> = smallvec![read(&input), whole(filter), written(out)];
        parts.extend(stage.into_iter().flat_map(Stage::parts));
        gpu.in_windows(geometry.batch, &parts, |images, tensors| {
            let geometry = Geometry { batch: images.len(), ..geometry };
            let end = stage.map(|stage| stage.end(&tensors[3..])).unwrap_or_default();
            convolve(gpu, &geometry, [tensors[0], tensors[1], tensors[2]], end)
        })?;
        finish.iter().try_for_each(|finish| finish.finish_rest(gpu, out))
    })?;
    ctx.set_output_at(0, out)
}

fn convolve(gpu: &GpuDevice, geometry: &Geometry, [input, filter, out]: [&Tensor; 3], end: End<'_>) -> Result<()> {
    let is_empty = input.num_elements() == 0;
    if !is_empty {
        geometry.ensure_computable(filter.shape())?;
    }
    let groups = if is_empty { 1 } else { geometry.groups() };
    let columns = geometry.out_depth / groups;
    let extents = Extents {
        rows: geometry.pixels(),
        columns,
        // Without an input all there is to see is padding.
        inner: if is_empty { 0 } else { geometry.patch() },
        batches: groups,
    };
    let out_by_fours = columns.is_multiple_of(4);
    let mut factors = Factors {
        a: input,
        b: filter,
        out,
        extents,
        vectors: [false, out_by_fours, out_by_fours],
        stride: geometry.out_depth,
        step: columns,
        target: Target::Whole,
        end,
        special: SmallVec::new(),
    };
    if geometry.is_product() {
        factors.vectors[0] = geometry.patch().is_multiple_of(4);
        factors.special = of_matrices([geometry.patch(), columns])?;
        return Gemm::new(out.dtype(), Source::Rows, Source::Columns)?.run(gpu, &factors);
    }
    factors.vectors[0] = geometry.in_depth.is_multiple_of(4) && geometry.patch_depth.is_multiple_of(4);
    factors.special = params(geometry, [0, geometry.out_depth], [geometry.patch_depth, columns])?;
    Gemm::new(out.dtype(), Source::Patches, Source::Columns)?.run(gpu, &factors)
}

#[register_kernel(
    device = Gpu, op = ops::Conv2DBackpropInput, T = [f32, i32, f16 if "f16"], host_memory = ["input_sizes"],
    programs = |T| {
        let kinds = [[Source::Flows, Source::Filters], [Source::Rows, Source::Rows]];
        and_turns(gemm::programs(T, kinds)?, T)
    },
    state = |ctx| Convolution::new(ctx.attrs, Code::Unimplemented)
)]
fn backprop_input(convolution: &Convolution, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let (sizes, filter, gradient) = (ctx.input(O::INPUT_SIZES)?, ctx.input(O::FILTER)?, ctx.input(O::OUT_BACKPROP)?);
    let gradient = channels_last(gpu, convolution.format, gradient)?;
    let (shape, geometry) = convolution.backward_to_input(sizes, filter.shape(), gradient.shape())?;
    let out = output_images(gpu, ctx, convolution.format, shape, |out| {
        if out.num_elements() == 0 {
            return Ok(());
        }
        gpu.in_windows(geometry.batch, &[whole(filter), read(&gradient), written(out)], |images, tensors| {
            flow_back(gpu, &Geometry { batch: images.len(), ..geometry }, [tensors[0], tensors[1], tensors[2]])
        })
    })?;
    ctx.set_output(O::OUTPUT, out)
}

fn flow_back(gpu: &GpuDevice, geometry: &Geometry, [filter, gradient, out]: [&Tensor; 3]) -> Result<()> {
    let is_empty = gradient.num_elements() == 0;
    let is_product = geometry.is_product();
    let taps = geometry.rows.window * geometry.columns.window;
    let groups = geometry.groups();
    let group_depth = geometry.out_depth / groups;
    let (rows, columns, inner) = match is_product {
        true => (geometry.pixels(), geometry.patch(), geometry.out_depth),
        false => {
            let pixels = geometry.batch * geometry.rows.input * geometry.columns.input;
            (pixels, geometry.patch_depth, taps * group_depth)
        }
    };
    let by_fours = group_depth.is_multiple_of(4);
    let factors = Factors {
        a: gradient,
        b: filter,
        out,
        extents: Extents { rows, columns, inner: if is_empty { 0 } else { inner }, batches: groups },
        vectors: [by_fours, by_fours, columns.is_multiple_of(4)],
        stride: columns * groups,
        step: columns,
        target: Target::Whole,
        end: End::default(),
        special: match is_product {
            true => of_matrices([geometry.out_depth; 2])?,
            // A window's element has the output's channels of a group.
            false => params(&Geometry { patch_depth: group_depth, ..*geometry }, [0, 0], [group_depth; 2])?,
        },
    };
    let [a, b] = if is_product { [Source::Rows, Source::Rows] } else { [Source::Flows, Source::Filters] };
    Gemm::new(out.dtype(), a, b)?.run(gpu, &factors)
}

#[register_kernel(
    device = Gpu, op = ops::Conv2DBackpropFilter, T = [f32, f16 if "f16"], host_memory = ["filter_sizes"],
    programs = |T| {
        let kinds = [[Source::PatchesAcross, Source::Columns], [Source::Columns, Source::Columns]];
        and_turns(gemm::programs(T, kinds)?, T)
    },
    state = |ctx| Convolution::new(ctx.attrs, Code::InvalidArgument)
)]
fn backprop_filter(convolution: &Convolution, ctx: &mut KernelContext<'_, O>) -> Result<()> {
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

/// Adds up what all images say: those in a window by themselves, if there are several.
fn add_up(gpu: &GpuDevice, geometry: &Geometry, [input, gradient, out]: [&Tensor; 3]) -> Result<()> {
    let (parts, product) = ([read(input), read(gradient)], product_of(geometry, out.dtype())?);
    let window = if gpu.fit(&[input, gradient]) { None } else { gpu.window(geometry.batch, &parts)? };
    let Some(window) = window else {
        return multiply(gpu, &product, geometry, [input, gradient, out], Target::Whole);
    };
    let elements = out.num_elements();
    let terms = gpu.allocate(product.sum_dtype(), [geometry.batch.div_ceil(window), elements])?;
    gpu.in_windows(geometry.batch, &parts, |images, tensors| {
        let first = images.start / window * elements;
        let term = Piece { tensor: &terms, first, count: elements, written: true };
        gpu.with_pieces(&[term], |term| {
            let tensors = [tensors[0], tensors[1], term[0]];
            multiply(gpu, &product, &Geometry { batch: images.len(), ..*geometry }, tensors, Target::Term)
        })
    })?;
    product.add(gpu, &terms, out)
}

fn product_of(geometry: &Geometry, dtype: DataType) -> Result<Gemm> {
    let a = if geometry.is_product() { Source::Columns } else { Source::PatchesAcross };
    Gemm::new(dtype, a, Source::Columns)
}

fn multiply(
    gpu: &GpuDevice,
    product: &Gemm,
    geometry: &Geometry,
    [input, gradient, out]: [&Tensor; 3],
    target: Target,
) -> Result<()> {
    let is_empty = input.num_elements() == 0;
    let groups = if is_empty { 1 } else { geometry.groups() };
    let columns = geometry.out_depth / groups;
    let extents = Extents {
        rows: geometry.patch(),
        columns,
        inner: if is_empty { 0 } else { geometry.pixels() },
        batches: groups,
    };
    let is_product = geometry.is_product();
    let neighbours = if is_product { geometry.patch() } else { geometry.patch_depth };
    let out_by_fours = columns.is_multiple_of(4);
    let factors = Factors {
        a: input,
        b: gradient,
        out,
        extents,
        vectors: [neighbours.is_multiple_of(4), out_by_fours, out_by_fours],
        stride: geometry.out_depth,
        step: columns,
        target,
        end: End::default(),
        special: match is_product {
            true => of_matrices([geometry.patch(), geometry.out_depth])?,
            false => params(geometry, [0, geometry.out_depth], [geometry.patch_depth, columns])?,
        },
    };
    product.run(gpu, &factors)
}

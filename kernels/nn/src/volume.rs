//! Convolutions of volumes and their gradients.

use kernlink::Result;
use kernlink::kernel::{KernelContext, RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::volume::{Volumes, Windows, ensure_shape, shape_of};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{Conv3D, Conv3DBackpropFilter, Conv3DBackpropFilterV2, Conv3DBackpropInput, Conv3DBackpropInputV2};

use super::convolve::Convolve;
use super::convolve_grad::of_input;
use super::narrow::{computed, gradient, widened};
use super::space::Geometry;
use super::volume_patches;
use super::volume_pool::centred;

/// The sizes of a convolution by a filter with so many output channels.
fn geometry(windows: &Windows, out_depth: usize) -> Geometry {
    let ([planes, rows, columns], in_depth) = (windows.axes, windows.channels);
    Geometry { batch: windows.batch, planes, rows, columns, in_depth, patch_depth: in_depth, out_depth }.flattened()
}

fn prepared(ctx: &RawConstruction<'_>) -> Result<Volumes> {
    Volumes::of_convolution(ctx.attrs)
}

#[register_kernel(device = Cpu, T = [f32, f64, f16, bf16], state = |ctx| prepared(ctx))]
fn conv3d<T: Computed<Wide: Convolve>>(volumes: &Volumes, ctx: &mut KernelContext<'_, Conv3D>) -> Result<()> {
    let output = convolved::<T>(volumes, ctx, ctx.input(Conv3D::INPUT)?, ctx.input(Conv3D::FILTER)?)?;
    ctx.set_output(Conv3D::OUTPUT, output)
}

/// Output 0: the convolution of volumes with a filter.
pub(super) fn convolved<T: Computed<Wide: Convolve>>(
    volumes: &Volumes,
    ctx: &RawContext<'_>,
    input: &Tensor,
    filter: &Tensor,
) -> Result<Tensor> {
    let (windows, depth) = volumes.convolve(input.shape(), filter.shape())?;
    let mut output = ctx.allocate_output_at(0, windows.output(depth)?)?;
    if output.num_elements() > 0 {
        let geometry = geometry(&windows, depth);
        let (mut input, filter) = (widened::<T>(Some(ctx), input)?, widened::<T>(Some(ctx), filter)?);
        let seen = centred(volumes, &windows, input.as_slice::<T::Wide>()?);
        if seen.len() < input.num_elements() {
            // No window reaches the zeros: as many elements are left out at the ends.
            let mut later = Tensor::zeros(input.dtype(), input.shape())?;
            later.as_mut_slice::<T::Wide>()?[..seen.len()].copy_from_slice(seen);
            input = later;
        }
        let packed = T::Wide::pack(ctx, &geometry, &filter)?;
        computed::<T>(ctx, &mut output, |output| {
            T::Wide::convolve(ctx, &geometry, (&input, &packed), output.as_mut_slice()?, None)
        })?;
    }
    Ok(output)
}

#[register_kernel(device = Cpu, T = [f32, f64, f16, bf16], Tshape = [int32, int64], host_memory = ["input_sizes"], state = |ctx| prepared(ctx))]
#[register_kernel(device = Cpu, T = [f32, f64, f16, bf16], Tshape = [int32, int64], host_memory = ["input_sizes"], label = "custom", state = |ctx| prepared(ctx))]
#[register_kernel(device = Cpu, T = [f32, f64, f16, bf16], Tshape = [int32, int64], host_memory = ["input_sizes"], label = "eigen_tensor", state = |ctx| prepared(ctx))]
fn conv3d_backprop_input<T: Computed<Wide: Convolve>>(
    volumes: &Volumes,
    ctx: &mut KernelContext<'_, Conv3DBackpropInputV2>,
) -> Result<()> {
    let shape = shape_of(ctx.input(Conv3DBackpropInputV2::INPUT_SIZES)?, "input_sizes")?;
    to_input::<T>(volumes, ctx, shape)
}

#[register_kernel(device = Cpu, T = [f32, f64, f16], state = |ctx| prepared(ctx))]
#[register_kernel(device = Cpu, T = [f32, f64, f16], label = "custom", state = |ctx| prepared(ctx))]
#[register_kernel(device = Cpu, T = [f32, f64, f16], label = "eigen_tensor", state = |ctx| prepared(ctx))]
fn old_conv3d_backprop_input<T: Computed<Wide: Convolve>>(
    volumes: &Volumes,
    ctx: &mut KernelContext<'_, Conv3DBackpropInput>,
) -> Result<()> {
    let shape = ctx.input(Conv3DBackpropInput::INPUT)?.shape().clone();
    to_input::<T>(volumes, ctx, shape)
}

/// Output 0: the gradient of an input of this shape, by the filter and what flows back, inputs 1 and 2.
fn to_input<T: Computed<Wide: Convolve>>(volumes: &Volumes, ctx: &mut RawContext<'_>, shape: Shape) -> Result<()> {
    let (filter, back) = (ctx.input_at(1)?, ctx.input_at(2)?);
    let (windows, depth) = volumes.convolve(&shape, filter.shape())?;
    ensure_shape("out_backprop", back.shape(), &windows.output(depth)?)?;
    let mut output = ctx.allocate_output_at(0, shape)?;
    gradient::<T>(ctx, [filter, back], &mut output, |filter, back, output| {
        if volume_patches::is_better(&windows) {
            let target = output.as_mut_slice::<T::Wide>()?;
            return volume_patches::add_patches(ctx, &windows, filter.as_slice()?, back.as_slice()?, target);
        }
        of_input::<T::Wide>(ctx, &geometry(&windows, depth), filter, back, output)
    })?;
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, T = [f32, f64, f16, bf16], host_memory = ["filter_sizes"], state = |ctx| prepared(ctx))]
#[register_kernel(device = Cpu, T = [f32, f64, bf16], host_memory = ["filter_sizes"], label = "custom", state = |ctx| prepared(ctx))]
#[register_kernel(device = Cpu, T = [f32, f64, bf16], host_memory = ["filter_sizes"], label = "eigen_tensor", state = |ctx| prepared(ctx))]
fn conv3d_backprop_filter<T: Computed<Wide: Convolve>>(
    volumes: &Volumes,
    ctx: &mut KernelContext<'_, Conv3DBackpropFilterV2>,
) -> Result<()> {
    let shape = shape_of(ctx.input(Conv3DBackpropFilterV2::FILTER_SIZES)?, "filter_sizes")?;
    to_filter::<T>(volumes, ctx, shape)
}

#[register_kernel(device = Cpu, T = [f32, f64, f16], state = |ctx| prepared(ctx))]
#[register_kernel(device = Cpu, T = [f32, f64], label = "custom", state = |ctx| prepared(ctx))]
#[register_kernel(device = Cpu, T = [f32, f64], label = "eigen_tensor", state = |ctx| prepared(ctx))]
fn old_conv3d_backprop_filter<T: Computed<Wide: Convolve>>(
    volumes: &Volumes,
    ctx: &mut KernelContext<'_, Conv3DBackpropFilter>,
) -> Result<()> {
    let shape = ctx.input(Conv3DBackpropFilter::FILTER)?.shape().clone();
    to_filter::<T>(volumes, ctx, shape)
}

/// Output 0: the gradient of a filter of this shape, by the input and what flows back, inputs 0 and 2.
fn to_filter<T: Computed<Wide: Convolve>>(volumes: &Volumes, ctx: &mut RawContext<'_>, shape: Shape) -> Result<()> {
    let (input, back) = (ctx.input_at(0)?, ctx.input_at(2)?);
    let (windows, depth) = volumes.convolve(input.shape(), &shape)?;
    ensure_shape("out_backprop", back.shape(), &windows.output(depth)?)?;
    let mut output = ctx.allocate_output_at(0, shape)?;
    gradient::<T>(ctx, [input, back], &mut output, |input, back, output| {
        let (operands, target) = ((input.as_slice()?, back.as_slice()?), output.as_mut_slice()?);
        T::Wide::filter_gradient(ctx, &geometry(&windows, depth), operands, target)
    })?;
    ctx.set_output_at(0, output)
}

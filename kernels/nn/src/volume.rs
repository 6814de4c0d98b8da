//! Convolutions of volumes and their gradients: products of matrices, one of which holds the patches under the windows.

use kernlink::Result;
use kernlink::dtype::Pod;
use kernlink::kernel::{KernelContext, RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::volume::{Volumes, Windows, ensure_shape, shape_of};
use kernlink_kernels_common::gemm::{Gemm, Matrix, Sizes, Target, gemm, gemm_rows};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{Conv3D, Conv3DBackpropFilter, Conv3DBackpropFilterV2, Conv3DBackpropInput, Conv3DBackpropInputV2};

use super::narrow::{computed, gradient, widened};

/// Bytes of patches that a thread gathers before it multiplies them.
const GATHERED: usize = 1 << 20;

/// How many patches are gathered at a time.
fn block<T>(patch: usize, bytes: usize) -> usize {
    (bytes / (patch * size_of::<T>())).clamp(1, 4096)
}

/// Writes what a window sees, zeros where that is padding.
pub(super) fn gather<T: Pod>(windows: &Windows, input: &[T], window: usize, patch: &mut [T]) {
    let (volume, place) = windows.place(window);
    let [depth, rows, columns] = windows.axes.map(|axis| axis.window);
    let channels = windows.channels;
    let taps = (0..depth).flat_map(|z| (0..rows).flat_map(move |y| (0..columns).map(move |x| [z, y, x])));
    for (tap, target) in taps.zip(patch.chunks_exact_mut(channels.max(1))) {
        match windows.pixel(volume, place, tap) {
            Some(pixel) => target.copy_from_slice(&input[pixel * channels..][..channels]),
            None => target.fill(T::default()),
        }
    }
}

fn prepared(ctx: &RawConstruction<'_>) -> Result<Volumes> {
    Volumes::of_convolution(ctx.attrs)
}

#[register_kernel(device = Cpu, T = [f32, f64, f16, bf16], state = |ctx| prepared(ctx))]
fn conv3d<T: Computed<Wide: Gemm>>(volumes: &Volumes, ctx: &mut KernelContext<'_, Conv3D>) -> Result<()> {
    let output = convolved::<T>(volumes, ctx, ctx.input(Conv3D::INPUT)?, ctx.input(Conv3D::FILTER)?)?;
    ctx.set_output(Conv3D::OUTPUT, output)
}

/// Output 0: the convolution of volumes with a filter.
pub(super) fn convolved<T: Computed<Wide: Gemm>>(
    volumes: &Volumes,
    ctx: &RawContext<'_>,
    input: &Tensor,
    filter: &Tensor,
) -> Result<Tensor> {
    let (windows, depth) = volumes.convolve(input.shape(), filter.shape())?;
    let mut output = ctx.allocate_output_at(0, windows.output(depth)?)?;
    if output.num_elements() > 0 {
        let (input, filter) = (widened::<T>(Some(ctx), input)?, widened::<T>(Some(ctx), filter)?);
        let (input, filter) = (input.as_slice::<T::Wide>()?, filter.as_slice::<T::Wide>()?);
        computed::<T>(ctx, &mut output, |output| convolve(ctx, &windows, input, filter, output.as_mut_slice()?))?;
    }
    Ok(output)
}

/// Each window is computed the same way, however many threads share them.
fn convolve<T: Gemm>(
    ctx: &RawContext<'_>,
    windows: &Windows,
    input: &[T],
    filter: &[T],
    output: &mut [T],
) -> Result<()> {
    let patch = windows.patch();
    let depth = filter.len() / patch;
    if windows.axes.iter().all(|axis| axis.window == 1 && axis.stride == 1) {
        let sizes = Sizes { m: output.len() / depth, k: patch, n: depth };
        let target = Target { data: output, row_stride: depth, accumulate: false };
        return gemm(ctx, sizes, Matrix::rows(input, patch), Matrix::rows(filter, depth), target);
    }
    let block = block::<T>(patch, GATHERED);
    let cost = patch.saturating_mul(depth) / 4 / depth + 1;
    ctx.try_parallel_chunks(output, depth, cost, |first, output| {
        let mut patches = Tensor::alloc(T::DTYPE, [block.min(output.len() / depth), patch])?;
        let patches = patches.as_mut_slice::<T>()?;
        for (index, output) in output.chunks_mut(block * depth).enumerate() {
            let (start, count) = (first / depth + index * block, output.len() / depth);
            for (window, patch) in (start..).zip(patches.chunks_exact_mut(patch).take(count)) {
                gather(windows, input, window, patch);
            }
            let target = Target { data: output, row_stride: depth, accumulate: false };
            let sizes = Sizes { m: count, k: patch, n: depth };
            gemm_rows(sizes, Matrix::rows(&patches[..count * patch], patch), Matrix::rows(filter, depth), target)?;
        }
        Ok(())
    })
}

#[register_kernel(device = Cpu, T = [f32, f64, f16, bf16], Tshape = [int32, int64], host_memory = ["input_sizes"], state = |ctx| prepared(ctx))]
#[register_kernel(device = Cpu, T = [f32, f64, f16, bf16], Tshape = [int32, int64], host_memory = ["input_sizes"], label = "custom", state = |ctx| prepared(ctx))]
#[register_kernel(device = Cpu, T = [f32, f64, f16, bf16], Tshape = [int32, int64], host_memory = ["input_sizes"], label = "eigen_tensor", state = |ctx| prepared(ctx))]
fn conv3d_backprop_input<T: Computed<Wide: Gemm>>(
    volumes: &Volumes,
    ctx: &mut KernelContext<'_, Conv3DBackpropInputV2>,
) -> Result<()> {
    let shape = shape_of(ctx.input(Conv3DBackpropInputV2::INPUT_SIZES)?, "input_sizes")?;
    to_input::<T>(volumes, ctx, shape)
}

#[register_kernel(device = Cpu, T = [f32, f64, f16], state = |ctx| prepared(ctx))]
#[register_kernel(device = Cpu, T = [f32, f64, f16], label = "custom", state = |ctx| prepared(ctx))]
#[register_kernel(device = Cpu, T = [f32, f64, f16], label = "eigen_tensor", state = |ctx| prepared(ctx))]
fn old_conv3d_backprop_input<T: Computed<Wide: Gemm>>(
    volumes: &Volumes,
    ctx: &mut KernelContext<'_, Conv3DBackpropInput>,
) -> Result<()> {
    let shape = ctx.input(Conv3DBackpropInput::INPUT)?.shape().clone();
    to_input::<T>(volumes, ctx, shape)
}

/// Output 0: the gradient of an input of this shape, by the filter and what flows back, inputs 1 and 2.
fn to_input<T: Computed<Wide: Gemm>>(volumes: &Volumes, ctx: &mut RawContext<'_>, shape: Shape) -> Result<()> {
    let (filter, back) = (ctx.input_at(1)?, ctx.input_at(2)?);
    let (windows, depth) = volumes.convolve(&shape, filter.shape())?;
    ensure_shape("out_backprop", back.shape(), &windows.output(depth)?)?;
    let mut output = ctx.allocate_output_at(0, shape)?;
    gradient::<T>(ctx, [filter, back], &mut output, |filter, back, output| {
        let target = output.as_mut_slice::<T::Wide>()?;
        back_to_input(ctx, &windows, filter.as_slice()?, back.as_slice()?, target)
    })?;
    ctx.set_output_at(0, output)
}

/// The products of what flows back with the filter are the gradients of patches, which are added up where they overlap.
fn back_to_input<T: Gemm>(
    ctx: &RawContext<'_>,
    windows: &Windows,
    filter: &[T],
    back: &[T],
    output: &mut [T],
) -> Result<()> {
    output.fill(T::ZERO);
    let (patch, channels, per_volume) = (windows.patch(), windows.channels, windows.per_volume());
    let depth = filter.len() / patch;
    let block = block::<T>(patch, 8 * GATHERED).min(per_volume);
    let mut patches = Tensor::alloc(T::DTYPE, [block, patch])?;
    let patches = patches.as_mut_slice::<T>()?;
    let volume_len = output.len() / windows.batch;
    let plane_len = volume_len / windows.axes[0].input;
    for (volume, output) in output.chunks_exact_mut(volume_len).enumerate() {
        for start in (0..per_volume).step_by(block) {
            let count = block.min(per_volume - start);
            let first = volume * per_volume + start;
            let sizes = Sizes { m: count, k: depth, n: patch };
            let back = &back[first * depth..][..count * depth];
            let target = Target { data: &mut patches[..count * patch], row_stride: patch, accumulate: false };
            gemm(ctx, sizes, Matrix::rows(back, depth), Matrix::transposed(filter, depth), target)?;
            let patches = &patches[..count * patch];
            // A thread has whole planes, so that nobody else adds to these.
            let cost = (count * patch / output.len().max(1) + 1) * 2;
            ctx.parallel_chunks(output, plane_len, cost, |begin, piece| {
                let planes = begin / plane_len..(begin + piece.len()) / plane_len;
                for (window, patch) in (first..).zip(patches.chunks_exact(patch)) {
                    add_patch(windows, window, patch, planes.clone(), channels, piece);
                }
            });
        }
    }
    Ok(())
}

/// Adds those rows of a patch's gradient that lie in some planes of its volume.
fn add_patch<T: Gemm>(
    windows: &Windows,
    window: usize,
    patch: &[T],
    planes: std::ops::Range<usize>,
    channels: usize,
    output: &mut [T],
) {
    let (_, place) = windows.place(window);
    let [depth, rows, columns] = &windows.axes;
    for z in depth.taps(place[0]) {
        let plane = (depth.start(place[0]) + z as i64) as usize;
        if !planes.contains(&plane) {
            continue;
        }
        for y in rows.taps(place[1]) {
            let row = (rows.start(place[1]) + y as i64) as usize;
            let taps = columns.taps(place[2]);
            let column = (columns.start(place[2]) + taps.start as i64) as usize;
            let length = taps.len() * channels;
            let from = ((z * rows.window + y) * columns.window + taps.start) * channels;
            let to = (((plane - planes.start) * rows.input + row) * columns.input + column) * channels;
            for (to, &from) in output[to..][..length].iter_mut().zip(&patch[from..][..length]) {
                *to = to.wrapping_add(from);
            }
        }
    }
}

#[register_kernel(device = Cpu, T = [f32, f64, f16, bf16], host_memory = ["filter_sizes"], state = |ctx| prepared(ctx))]
#[register_kernel(device = Cpu, T = [f32, f64, bf16], host_memory = ["filter_sizes"], label = "custom", state = |ctx| prepared(ctx))]
#[register_kernel(device = Cpu, T = [f32, f64, bf16], host_memory = ["filter_sizes"], label = "eigen_tensor", state = |ctx| prepared(ctx))]
fn conv3d_backprop_filter<T: Computed<Wide: Gemm>>(
    volumes: &Volumes,
    ctx: &mut KernelContext<'_, Conv3DBackpropFilterV2>,
) -> Result<()> {
    let shape = shape_of(ctx.input(Conv3DBackpropFilterV2::FILTER_SIZES)?, "filter_sizes")?;
    to_filter::<T>(volumes, ctx, shape)
}

#[register_kernel(device = Cpu, T = [f32, f64, f16], state = |ctx| prepared(ctx))]
#[register_kernel(device = Cpu, T = [f32, f64], label = "custom", state = |ctx| prepared(ctx))]
#[register_kernel(device = Cpu, T = [f32, f64], label = "eigen_tensor", state = |ctx| prepared(ctx))]
fn old_conv3d_backprop_filter<T: Computed<Wide: Gemm>>(
    volumes: &Volumes,
    ctx: &mut KernelContext<'_, Conv3DBackpropFilter>,
) -> Result<()> {
    let shape = ctx.input(Conv3DBackpropFilter::FILTER)?.shape().clone();
    to_filter::<T>(volumes, ctx, shape)
}

/// Output 0: the gradient of a filter of this shape, by the input and what flows back, inputs 0 and 2.
fn to_filter<T: Computed<Wide: Gemm>>(volumes: &Volumes, ctx: &mut RawContext<'_>, shape: Shape) -> Result<()> {
    let (input, back) = (ctx.input_at(0)?, ctx.input_at(2)?);
    let (windows, depth) = volumes.convolve(input.shape(), &shape)?;
    ensure_shape("out_backprop", back.shape(), &windows.output(depth)?)?;
    let mut output = ctx.allocate_output_at(0, shape)?;
    gradient::<T>(ctx, [input, back], &mut output, |input, back, output| {
        let target = output.as_mut_slice::<T::Wide>()?;
        back_to_filter(ctx, &windows, input.as_slice()?, back.as_slice()?, target)
    })?;
    ctx.set_output_at(0, output)
}

fn back_to_filter<T: Gemm>(
    ctx: &RawContext<'_>,
    windows: &Windows,
    input: &[T],
    back: &[T],
    output: &mut [T],
) -> Result<()> {
    let patch = windows.patch();
    let (depth, count) = (output.len() / patch, windows.batch * windows.per_volume());
    let block = block::<T>(patch, 8 * GATHERED).min(count);
    let mut patches = Tensor::alloc(T::DTYPE, [block, patch])?;
    let patches = patches.as_mut_slice::<T>()?;
    for start in (0..count).step_by(block) {
        let count = block.min(count - start);
        ctx.parallel_chunks(&mut patches[..count * patch], patch, 1, |first, piece| {
            for (window, patch) in (start + first / patch..).zip(piece.chunks_exact_mut(patch)) {
                gather(windows, input, window, patch);
            }
        });
        let sizes = Sizes { m: patch, k: count, n: depth };
        let back = Matrix::rows(&back[start * depth..][..count * depth], depth);
        let target = Target { data: output, row_stride: depth, accumulate: start > 0 };
        gemm(ctx, sizes, Matrix::transposed(&patches[..count * patch], patch), back, target)?;
    }
    Ok(())
}

//! Pooling of volumes, its gradients, and the patches under windows.

use kernlink::Result;
use kernlink::dtype::{Number, Pod, RealNumber};
use kernlink::ensure;
use kernlink::kernel::{KernelContext, RawConstruction, RawContext};
use kernlink_geometry::volume::{Volumes, Windows, ensure_shape, shape_of};
use kernlink_kernels_common::extremes::max_or_first;
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{AvgPool3D, AvgPool3DGrad, ExtractVolumePatches, MaxPool3D, MaxPool3DGrad, MaxPool3DGradGrad};

use super::narrow::{computed, widened};
use super::vector::widest;
use super::window::Lines;

fn pooling(ctx: &RawConstruction<'_>) -> Result<Volumes> {
    Volumes::of_pooling(ctx.attrs)
}

/// The elements from where the windows begin that are as far apart as to leave some out. Gradients begin with the first.
pub(super) fn centred<'e, T>(volumes: &Volumes, windows: &Windows, elements: &'e [T]) -> &'e [T] {
    elements.get(volumes.centring(windows).saturating_mul(windows.channels)..).unwrap_or_default()
}

/// Writes the results of all windows: `line` takes the number of a line of them, and its results.
fn for_each_line<T: Pod>(
    ctx: &RawContext<'_>,
    lines: &Lines,
    windows: &Windows,
    output: &mut [T],
    line: impl Fn(usize, &mut [T]) + Sync,
) {
    let length = lines.length();
    if output.is_empty() {
        return;
    }
    ctx.parallel_chunks(output, length, (windows.patch() / windows.channels).div_ceil(8), |first, piece| {
        for (index, results) in (first / length..).zip(piece.chunks_exact_mut(length)) {
            line(index, results);
        }
    });
}

widest! {
    /// Maxima of a line of windows, of which one that lies within the volume has `taps` pixels. NaN never wins, and negative infinity
    /// only in a window within: what lies around the volume is the lowest finite value in TensorFlow.
    fn max_line<T: RealNumber>(lines: &Lines, taps: usize, input: &[T], line: usize, results: &mut [T]) {
        for (window, greatest) in lines.windows(line).zip(results.chunks_exact_mut(lines.channels)) {
            let start = if window.pixels() == taps { T::from_f64(f64::NEG_INFINITY) } else { T::MIN };
            window.fold(input, greatest, start, max_or_first, |greatest| greatest);
        }
    }
}

#[register_kernel(device = Cpu, T = [f32, bf16], state = |ctx| pooling(ctx))]
fn max_pool3d<T: RealNumber>(volumes: &Volumes, ctx: &mut KernelContext<'_, MaxPool3D>) -> Result<()> {
    let input = ctx.input(MaxPool3D::INPUT)?;
    let windows = volumes.pool(input.shape())?;
    let lines = Lines::new(&windows)?;
    let taps = windows.axes.iter().fold(1, |taps: usize, axis| taps.saturating_mul(axis.window));
    let mut output = ctx.allocate_output(MaxPool3D::OUTPUT, windows.output(windows.channels)?)?;
    let input = centred(volumes, &windows, input.as_slice::<T>()?);
    for_each_line(ctx, &lines, &windows, output.as_mut_slice::<T>()?, |line, results| {
        max_line(&lines, taps, input, line, results);
    });
    ctx.set_output(MaxPool3D::OUTPUT, output)
}

/// Calls `f` with the planes of all volumes that a thread is to write, cut out of `output`, the element with which they begin, and
/// each line of windows that reach into one of them: nobody else writes to these.
fn by_planes<T: Send>(
    ctx: &RawContext<'_>,
    lines: &Lines,
    windows: &Windows,
    output: &mut [T],
    f: impl Fn(usize, usize, &mut [T]) + Sync,
) {
    if output.is_empty() {
        return;
    }
    let [_, rows, columns] = &windows.axes;
    let plane = rows.input * columns.input * windows.channels;
    ctx.parallel_chunks(output, plane, windows.patch().saturating_mul(2) / windows.channels, |first, piece| {
        for line in lines.reaching(first / plane..(first + piece.len()) / plane) {
            f(line, first, piece);
        }
    });
}

/// The part of `piece`, the elements from `first` on, that a row of a window covers, if it does.
#[inline(always)]
fn row_of<T>(piece: &mut [T], first: usize, row: usize, length: usize) -> Option<&mut [T]> {
    let start = row.checked_sub(first)?;
    piece.get_mut(start..start + length)
}

/// The input of MaxPool3D, what is the greatest in each window, and `back`: in MaxPool3DGrad the gradient of the result, with its
/// shape; in MaxPool3DGradGrad that of the input, with the input's.
struct Flow<'a, T, W> {
    input: &'a [T],
    result: &'a [T],
    back: &'a [W],
}

/// [`Computed`] and [`RealNumber`] in one bound, as `widest!` takes.
trait Pooled: Computed + RealNumber {}
impl<T: Computed + RealNumber> Pooled for T {}

/// Which elements of a window are its greatest, for TensorFlow's gradient: those that are nearer to it than this.
const NEAR: f64 = 1e-5;

widest! {
    /// What flows through a line of windows to the elements of `piece`, those from `first` on.
    fn max_gradient_line<T: Pooled>(
        lines: &Lines,
        flow: &Flow<'_, T, T::Wide>,
        line: usize,
        first: usize,
        piece: &mut [T::Wide],
    ) {
        let (channels, start, near) = (lines.channels, line * lines.length(), T::from_f64(NEAR));
        let results = flow.result[start..].chunks_exact(channels).zip(flow.back[start..].chunks_exact(channels));
        for (window, (result, back)) in lines.windows(line).zip(results) {
            let length = window.count * channels;
            window.row_starts().for_each(|row| {
                let Some(to) = row_of(piece, first, row, length) else { return };
                for (to, input) in to.chunks_exact_mut(channels).zip(flow.input[row..].chunks_exact(channels)) {
                    for (((to, input), &result), &back) in to.iter_mut().zip(input).zip(result).zip(back) {
                        let below = result.wrapping_sub(*input);
                        // Of infinities it is NaN.
                        let is_near = below < near && below.wrapping_neg() < near;
                        *to = to.wrapping_add(if is_near { back } else { T::Wide::ZERO });
                    }
                }
            });
        }
    }
}

/// What flows to a greatest element flows to all that are near it, as in TensorFlow; to none that is infinite.
#[register_kernel(device = Cpu, T = [f32, bf16], TInput = [float, bfloat16], state = |ctx| pooling(ctx))]
fn max_pool3d_grad<T: Pooled>(volumes: &Volumes, ctx: &mut KernelContext<'_, MaxPool3DGrad>) -> Result<()> {
    type Op = MaxPool3DGrad;
    let (input, result, back) = (ctx.input(Op::ORIG_INPUT)?, ctx.input(Op::ORIG_OUTPUT)?, ctx.input(Op::GRAD)?);
    let windows = volumes.pool(input.shape())?;
    let expected = windows.output(windows.channels)?;
    ensure_shape("orig_output", result.shape(), &expected)?;
    ensure_shape("grad", back.shape(), &expected)?;
    let lines = Lines::new(&windows)?;
    let mut output = ctx.allocate_output(Op::OUTPUT, input.shape())?;
    let back = widened::<T>(Some(ctx), back)?;
    let flow =
        Flow { input: input.as_slice::<T>()?, result: result.as_slice::<T>()?, back: back.as_slice::<T::Wide>()? };
    computed::<T>(ctx, &mut output, |output| {
        let output = output.as_mut_slice::<T::Wide>()?;
        output.fill(T::Wide::ZERO);
        by_planes(ctx, &lines, &windows, output, |line, first, piece| {
            max_gradient_line(&lines, &flow, line, first, piece);
        });
        Ok(())
    })?;
    ctx.set_output(Op::OUTPUT, output)
}

widest! {
    /// Of each window what flows to the first of its elements that equals the greatest.
    fn first_greatest_line<T: RealNumber>(lines: &Lines, flow: &Flow<'_, T, T>, line: usize, outs: &mut [T]) {
        let channels = lines.channels;
        let results = flow.result[line * lines.length()..].chunks_exact(channels);
        for ((window, result), out) in lines.windows(line).zip(results).zip(outs.chunks_exact_mut(channels)) {
            out.fill(T::ZERO);
            // From the last to the first, which is the one that stays.
            window.pixel_starts(channels).rev().for_each(|pixel| {
                let (input, back) = (&flow.input[pixel..][..channels], &flow.back[pixel..][..channels]);
                for (((out, input), result), &back) in out.iter_mut().zip(input).zip(result).zip(back) {
                    *out = if input == result { back } else { *out };
                }
            });
        }
    }
}

#[register_kernel(device = Cpu, T = [f32, bf16], state = |ctx| pooling(ctx))]
fn max_pool3d_grad_grad<T: RealNumber>(
    volumes: &Volumes,
    ctx: &mut KernelContext<'_, MaxPool3DGradGrad>,
) -> Result<()> {
    type Op = MaxPool3DGradGrad;
    let (input, result, back) = (ctx.input(Op::ORIG_INPUT)?, ctx.input(Op::ORIG_OUTPUT)?, ctx.input(Op::GRAD)?);
    let windows = volumes.pool(input.shape())?;
    ensure_shape("orig_output", result.shape(), &windows.output(windows.channels)?)?;
    ensure_shape("grad", back.shape(), input.shape())?;
    for (name, tensor) in [("orig_input", input), ("orig_output", result), ("grad", back)] {
        let shape = tensor.shape();
        ensure!(tensor.num_elements() > 0, InvalidArgument, "{name} must have elements, but its shape is {shape}");
    }
    let lines = Lines::new(&windows)?;
    let mut output = ctx.allocate_output(Op::OUTPUT, result.shape())?;
    let flow = Flow { input: input.as_slice::<T>()?, result: result.as_slice::<T>()?, back: back.as_slice::<T>()? };
    for_each_line(ctx, &lines, &windows, output.as_mut_slice::<T>()?, |line, outs| {
        first_greatest_line(&lines, &flow, line, outs);
    });
    ctx.set_output(Op::OUTPUT, output)
}

widest! {
    /// Means of a line of windows, over the pixels that are there.
    fn average_line<T: RealNumber>(lines: &Lines, input: &[T], line: usize, means: &mut [T]) {
        for (window, mean) in lines.windows(line).zip(means.chunks_exact_mut(lines.channels)) {
            let share = T::from_f64(1.0 / window.pixels() as f64);
            window.fold(input, mean, T::ZERO, T::wrapping_add, |sum| sum.wrapping_mul(share));
        }
    }
}

#[register_kernel(device = Cpu, T = [f32, bf16], state = |ctx| pooling(ctx))]
fn avg_pool3d<T: Computed<Wide: RealNumber>>(volumes: &Volumes, ctx: &mut KernelContext<'_, AvgPool3D>) -> Result<()> {
    let input = ctx.input(AvgPool3D::INPUT)?;
    let windows = volumes.pool(input.shape())?;
    let lines = Lines::new(&windows)?;
    let mut output = ctx.allocate_output(AvgPool3D::OUTPUT, windows.output(windows.channels)?)?;
    let input = widened::<T>(Some(ctx), input)?;
    let input = centred(volumes, &windows, input.as_slice::<T::Wide>()?);
    computed::<T>(ctx, &mut output, |output| {
        for_each_line(ctx, &lines, &windows, output.as_mut_slice::<T::Wide>()?, |line, means| {
            average_line(&lines, input, line, means);
        });
        Ok(())
    })?;
    ctx.set_output(AvgPool3D::OUTPUT, output)
}

widest! {
    /// What flows through a line of windows, an equal share to each pixel, to the elements of `piece`, those from `first` on: added to
    /// what is there, or in its place if `is_alone`.
    fn average_gradient_line<T: RealNumber>(
        lines: &Lines,
        back: &[T],
        line: usize,
        first: usize,
        piece: &mut [T],
        is_alone: bool,
    ) {
        // A sum of zero and negative zero is zero, for one window as for several.
        if is_alone {
            share_out(lines, back, line, first, piece, |to, share| *to = T::ZERO.wrapping_add(share));
        } else {
            share_out(lines, back, line, first, piece, |to, share| *to = to.wrapping_add(share));
        }
    }
}

/// Calls `put` with each element under a line of windows, and its share of what flows to the window. The pixels go by their index:
/// an iterator of chunks would divide for each row of a window.
#[inline(always)]
fn share_out<T: RealNumber>(
    lines: &Lines,
    back: &[T],
    line: usize,
    first: usize,
    piece: &mut [T],
    put: impl Fn(&mut T, T),
) {
    let (channels, rows) = (lines.channels, lines.row_starts(line));
    let (back, height) = (&back[line * lines.length()..], rows.len());
    let (mut count, mut factor) = (0, T::ZERO);
    for row in rows {
        for (columns, back) in lines.columns().zip(back.chunks_exact(channels)) {
            if columns.len() != count {
                count = columns.len();
                factor = T::from_f64(1.0 / (height * count) as f64);
            }
            let Some(to) = row_of(piece, first, row + columns.start * channels, count * channels) else { continue };
            for pixel in 0..count {
                let to = &mut to[pixel * channels..][..channels];
                // Blocks of a known length, which are vectors.
                let ((blocks, rest), (backs, back_rest)) = (to.as_chunks_mut::<16>(), back.as_chunks::<16>());
                let share = |(to, &back): (&mut T, &T)| put(to, back.wrapping_mul(factor));
                for (block, back) in blocks.iter_mut().zip(backs) {
                    block.iter_mut().zip(back).for_each(share);
                }
                rest.iter_mut().zip(back_rest).for_each(share);
            }
        }
    }
}

#[register_kernel(device = Cpu, T = [f32, bf16], host_memory = ["orig_input_shape"], state = |ctx| pooling(ctx))]
fn avg_pool3d_grad<T: Computed<Wide: RealNumber>>(
    volumes: &Volumes,
    ctx: &mut KernelContext<'_, AvgPool3DGrad>,
) -> Result<()> {
    type Op = AvgPool3DGrad;
    let shape = shape_of(ctx.input(Op::ORIG_INPUT_SHAPE)?, "orig_input_shape")?;
    let windows = volumes.pool(&shape)?;
    let back = ctx.input(Op::GRAD)?;
    ensure_shape("grad", back.shape(), &windows.output(windows.channels)?)?;
    let lines = Lines::new(&windows)?;
    let mut output = ctx.allocate_output(Op::OUTPUT, shape)?;
    let back = widened::<T>(Some(ctx), back)?;
    let back = back.as_slice::<T::Wide>()?;
    computed::<T>(ctx, &mut output, |output| {
        let output = output.as_mut_slice::<T::Wide>()?;
        let is_alone = lines.cover_each_once(&windows);
        if !is_alone {
            output.fill(T::Wide::ZERO);
        }
        by_planes(ctx, &lines, &windows, output, |line, first, piece| {
            average_gradient_line(&lines, back, line, first, piece, is_alone);
        });
        Ok(())
    })?;
    ctx.set_output(Op::OUTPUT, output)
}

/// Writes what a window sees, zeros where that is padding.
fn gather<T: Pod>(windows: &Windows, input: &[T], window: usize, patch: &mut [T]) {
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

fn patches(ctx: &RawConstruction<'_>) -> Result<Volumes> {
    Volumes::of_patches(ctx.attrs)
}

#[register_kernel(device = Cpu, T = [realnumbertype], state = |ctx| patches(ctx))]
fn extract_volume_patches<T: Pod>(volumes: &Volumes, ctx: &mut KernelContext<'_, ExtractVolumePatches>) -> Result<()> {
    type Op = ExtractVolumePatches;
    let input = ctx.input(Op::INPUT)?;
    let windows = volumes.pool(input.shape())?;
    let patch = windows.patch();
    let mut output = ctx.allocate_output(Op::PATCHES, windows.output(patch)?)?;
    if output.num_elements() > 0 {
        let input = centred(volumes, &windows, input.as_slice::<T>()?);
        ctx.parallel_chunks(output.as_mut_slice::<T>()?, patch, 1, |first, piece| {
            for (window, patch) in (first / patch..).zip(piece.chunks_exact_mut(patch)) {
                gather(&windows, input, window, patch);
            }
        });
    }
    ctx.set_output(Op::PATCHES, output)
}

//! Pooling of volumes, its gradients, and the patches under windows.

use kernlink::Result;
use kernlink::dtype::{Number, Pod, RealNumber};
use kernlink::ensure;
use kernlink::kernel::{KernelContext, RawConstruction};
use kernlink_geometry::volume::{Volumes, Windows, ensure_shape, shape_of};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{AvgPool3D, AvgPool3DGrad, ExtractVolumePatches, MaxPool3D, MaxPool3DGrad, MaxPool3DGradGrad};

use super::narrow::{computed, widened};

fn pooling(ctx: &RawConstruction<'_>) -> Result<Volumes> {
    Volumes::of_pooling(ctx.attrs)
}

/// The greatest of each channel; NaN never wins. In TensorFlow, what lies around the volume is the lowest finite value, so that
/// negative infinity wins only in windows that lie within it.
#[register_kernel(device = Cpu, T = [f32, bf16], state = |ctx| pooling(ctx))]
fn max_pool3d<T: RealNumber>(volumes: &Volumes, ctx: &mut KernelContext<'_, MaxPool3D>) -> Result<()> {
    let input = ctx.input(MaxPool3D::INPUT)?;
    let windows = volumes.pool(input.shape())?;
    let channels = windows.channels;
    let mut output = ctx.allocate_output(MaxPool3D::OUTPUT, windows.output(channels)?)?;
    let input = input.as_slice::<T>()?;
    if output.num_elements() > 0 {
        let (cost, lowest) = (windows.patch() / channels, T::from_f64(f64::NEG_INFINITY));
        ctx.parallel_chunks(output.as_mut_slice::<T>()?, channels, cost, |first, piece| {
            for (window, greatest) in (first / channels..).zip(piece.chunks_exact_mut(channels)) {
                let (_, place) = windows.place(window);
                let is_inside =
                    windows.axes.iter().zip(place).all(|(axis, place)| axis.taps(place).len() == axis.window);
                greatest.fill(if is_inside { lowest } else { T::MIN });
                windows.pixels(window, |pixel| {
                    for (greatest, &value) in greatest.iter_mut().zip(&input[pixel * channels..]) {
                        *greatest = if value > *greatest { value } else { *greatest };
                    }
                });
            }
        });
    }
    ctx.set_output(MaxPool3D::OUTPUT, output)
}

/// Calls `f` with the planes of all volumes that a thread is to write, cut out of `output`, and with each window that reaches
/// into one of them: nobody else writes to these.
fn by_planes<T: Send>(
    ctx: &kernlink::kernel::RawContext<'_>,
    windows: &Windows,
    output: &mut [T],
    f: impl Fn(usize, std::ops::Range<usize>, &mut [T]) + Sync,
) {
    let [depth, rows, columns] = &windows.axes;
    let plane = rows.input * columns.input * windows.channels;
    if output.is_empty() {
        return;
    }
    let per_plane = rows.output * columns.output;
    ctx.parallel_chunks(output, plane, windows.patch().saturating_mul(2) / windows.channels, |first, piece| {
        let (from, to) = (first / plane, (first + piece.len()) / plane);
        for window_plane in 0..windows.batch * depth.output {
            let (volume, place) = (window_plane / depth.output, window_plane % depth.output);
            let start = (volume * depth.input) as i64 + depth.start(place);
            if start < to as i64 && start + depth.window as i64 > from as i64 {
                for window in window_plane * per_plane..(window_plane + 1) * per_plane {
                    f(window, from * (plane / windows.channels)..to * (plane / windows.channels), piece);
                }
            }
        }
    });
}

/// What flows to a greatest element flows to all that equal it.
#[register_kernel(device = Cpu, T = [f32, bf16], TInput = [float, bfloat16], state = |ctx| pooling(ctx))]
fn max_pool3d_grad<T: Computed<Wide: RealNumber> + RealNumber>(
    volumes: &Volumes,
    ctx: &mut KernelContext<'_, MaxPool3DGrad>,
) -> Result<()> {
    type Op = MaxPool3DGrad;
    let (input, result, back) = (ctx.input(Op::ORIG_INPUT)?, ctx.input(Op::ORIG_OUTPUT)?, ctx.input(Op::GRAD)?);
    let windows = volumes.pool(input.shape())?;
    let channels = windows.channels;
    let expected = windows.output(channels)?;
    ensure_shape("orig_output", result.shape(), &expected)?;
    ensure_shape("grad", back.shape(), &expected)?;
    let mut output = ctx.allocate_output(Op::OUTPUT, input.shape())?;
    let (input, result) = (input.as_slice::<T>()?, result.as_slice::<T>()?);
    let back = widened::<T>(Some(ctx), back)?;
    let back = back.as_slice::<T::Wide>()?;
    computed::<T>(ctx, &mut output, |output| {
        let output = output.as_mut_slice::<T::Wide>()?;
        output.fill(T::Wide::ZERO);
        by_planes(ctx, &windows, output, |window, pixels, piece| {
            let (result, back) = (&result[window * channels..], &back[window * channels..]);
            windows.pixels(window, |pixel| {
                if pixels.contains(&pixel) {
                    let (input, to) = (&input[pixel * channels..], (pixel - pixels.start) * channels);
                    for (k, to) in piece[to..][..channels].iter_mut().enumerate() {
                        if input[k] == result[k] {
                            *to = to.wrapping_add(back[k]);
                        }
                    }
                }
            });
        });
        Ok(())
    })?;
    ctx.set_output(Op::OUTPUT, output)
}

/// What flows to the first element of a window that equals the greatest.
#[register_kernel(device = Cpu, T = [f32, bf16], state = |ctx| pooling(ctx))]
fn max_pool3d_grad_grad<T: RealNumber>(
    volumes: &Volumes,
    ctx: &mut KernelContext<'_, MaxPool3DGradGrad>,
) -> Result<()> {
    type Op = MaxPool3DGradGrad;
    let (input, result, back) = (ctx.input(Op::ORIG_INPUT)?, ctx.input(Op::ORIG_OUTPUT)?, ctx.input(Op::GRAD)?);
    let windows = volumes.pool(input.shape())?;
    let channels = windows.channels;
    ensure_shape("orig_output", result.shape(), &windows.output(channels)?)?;
    ensure_shape("grad", back.shape(), input.shape())?;
    ensure!(
        input.num_elements() > 0,
        InvalidArgument,
        "orig_input must have elements, but its shape is {}",
        input.shape()
    );
    let mut output = ctx.allocate_output(Op::OUTPUT, result.shape())?;
    let (input, result, back) = (input.as_slice::<T>()?, result.as_slice::<T>()?, back.as_slice::<T>()?);
    let cost = windows.patch();
    ctx.parallel_chunks(output.as_mut_slice::<T>()?, 1, cost, |first, piece| {
        for (index, out) in (first..).zip(piece) {
            let (window, channel) = (index / channels, index % channels);
            let mut found = None;
            windows.pixels(window, |pixel| {
                let at = pixel * channels + channel;
                if found.is_none() && input[at] == result[index] {
                    found = Some(back[at]);
                }
            });
            *out = found.unwrap_or(T::ZERO);
        }
    });
    ctx.set_output(Op::OUTPUT, output)
}

/// The mean of each channel over the pixels that are there.
#[register_kernel(device = Cpu, T = [f32, bf16], state = |ctx| pooling(ctx))]
fn avg_pool3d<T: Computed<Wide: RealNumber>>(volumes: &Volumes, ctx: &mut KernelContext<'_, AvgPool3D>) -> Result<()> {
    let input = ctx.input(AvgPool3D::INPUT)?;
    let windows = volumes.pool(input.shape())?;
    let channels = windows.channels;
    let mut output = ctx.allocate_output(AvgPool3D::OUTPUT, windows.output(channels)?)?;
    let input = widened::<T>(Some(ctx), input)?;
    let input = input.as_slice::<T::Wide>()?;
    if output.num_elements() > 0 {
        let cost = windows.patch() / channels;
        computed::<T>(ctx, &mut output, |output| {
            ctx.parallel_chunks(output.as_mut_slice::<T::Wide>()?, channels, cost, |first, piece| {
                for (window, mean) in (first / channels..).zip(piece.chunks_exact_mut(channels)) {
                    mean.fill(T::Wide::ZERO);
                    let mut count = 0;
                    windows.pixels(window, |pixel| {
                        count += 1;
                        for (sum, &value) in mean.iter_mut().zip(&input[pixel * channels..]) {
                            *sum = sum.wrapping_add(value);
                        }
                    });
                    let share = T::Wide::from_f64(1.0 / f64::from(count));
                    mean.iter_mut().for_each(|mean| *mean = mean.wrapping_mul(share));
                }
            });
            Ok(())
        })?;
    }
    ctx.set_output(AvgPool3D::OUTPUT, output)
}

#[register_kernel(device = Cpu, T = [f32, bf16], host_memory = ["orig_input_shape"], state = |ctx| pooling(ctx))]
fn avg_pool3d_grad<T: Computed<Wide: RealNumber>>(
    volumes: &Volumes,
    ctx: &mut KernelContext<'_, AvgPool3DGrad>,
) -> Result<()> {
    type Op = AvgPool3DGrad;
    let shape = shape_of(ctx.input(Op::ORIG_INPUT_SHAPE)?, "orig_input_shape")?;
    let windows = volumes.pool(&shape)?;
    let channels = windows.channels;
    let back = ctx.input(Op::GRAD)?;
    ensure_shape("grad", back.shape(), &windows.output(channels)?)?;
    let mut output = ctx.allocate_output(Op::OUTPUT, shape)?;
    let back = widened::<T>(Some(ctx), back)?;
    let back = back.as_slice::<T::Wide>()?;
    computed::<T>(ctx, &mut output, |output| {
        let output = output.as_mut_slice::<T::Wide>()?;
        output.fill(T::Wide::ZERO);
        by_planes(ctx, &windows, output, |window, pixels, piece| {
            let (_, place) = windows.place(window);
            let count: usize = windows.axes.iter().zip(place).map(|(axis, place)| axis.taps(place).len()).product();
            let share = T::Wide::from_f64(1.0 / count as f64);
            let back = &back[window * channels..];
            windows.pixels(window, |pixel| {
                if pixels.contains(&pixel) {
                    let to = (pixel - pixels.start) * channels;
                    for (to, &back) in piece[to..][..channels].iter_mut().zip(back) {
                        *to = to.wrapping_add(back.wrapping_mul(share));
                    }
                }
            });
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
        let input = &input.as_slice::<T>()?[volumes.centring(&windows) * windows.channels..];
        ctx.parallel_chunks(output.as_mut_slice::<T>()?, patch, 1, |first, piece| {
            for (window, patch) in (first / patch..).zip(piece.chunks_exact_mut(patch)) {
                gather(&windows, input, window, patch);
            }
        });
    }
    ctx.set_output(Op::PATCHES, output)
}

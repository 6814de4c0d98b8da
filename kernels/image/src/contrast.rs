//! AdjustContrast and AdjustContrastv2.

use kernlink::Result;
use kernlink::dtype::Pod;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::scratch;
use kernlink_geometry::integers::ensure_scalar;
use kernlink_kernels_common::number::AsPrimitive;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::{AdjustContrast, AdjustContrastv2};

widest! {
    /// Adds the second half to the first.
    fn fold(first: &mut [f32], second: &[f32]) {
        for (sum, &element) in first.iter_mut().zip(second) {
            *sum += element;
        }
    }
}

widest! {
    /// The sums of the elements of two halves.
    fn fold_from<T: AsPrimitive<f32>>(first: &[T], second: &[T], sums: &mut [f32]) {
        for ((sum, a), b) in sums.iter_mut().zip(first).zip(second) {
            *sum = b.as_() + a.as_();
        }
    }
}

/// The sums of an image's channels, in the first pixel of `sums`, which is as large as the image: half the pixels are added to
/// the others until one is left, which is TensorFlow's order, and exact to the last bits.
fn sum<T: AsPrimitive<f32>>(image: &[T], channels: usize, sums: &mut [f32]) {
    let mut pixels = image.len() / channels;
    let halves = |pixels: usize| (pixels - pixels / 2, pixels / 2);
    let (left, right) = halves(pixels);
    fold_from(&image[..right * channels], &image[left * channels..], sums);
    for (sum, element) in sums[right * channels..left * channels].iter_mut().zip(&image[right * channels..]) {
        *sum = element.as_();
    }
    pixels = left;
    while pixels > 1 {
        let (left, right) = halves(pixels);
        let (first, second) = sums.split_at_mut(left * channels);
        fold(first, &second[..right * channels]);
        pixels = left;
    }
}

widest! {
    /// Elements that are as many times as far from the means, which are repeated, as `factor` says.
    fn stretch<T: AsPrimitive<f32>>(source: &[T], means: &[f32], factor: f32, target: &mut [f32]) {
        for (source, target) in source.chunks(means.len()).zip(target.chunks_mut(means.len())) {
            for ((target, element), &mean) in target.iter_mut().zip(source).zip(means) {
                *target = mean + factor * (element.as_() - mean);
            }
        }
    }
}

/// The rows, columns and channels of images.
#[track_caller]
fn sizes(shape: &Shape) -> Result<[usize; 3]> {
    let [.., rows, columns, channels] = shape[..] else {
        kernlink::bail!(InvalidArgument, "input must be at least 3-D, got shape {shape}");
    };
    Ok([rows, columns, channels])
}

/// Means are repeated until there are about so many, so that loops over them use vectors.
const REPEATED: usize = 64;

/// How often the means of an image of `pixels` pixels are repeated: for many small images not more often than there are pixels.
fn repeats(channels: usize, pixels: usize) -> usize {
    REPEATED.div_ceil(channels).min(pixels)
}

/// Stretches the images of input 0. `mean` makes a mean of a sum and the number of pixels; `after` comes last.
fn adjust<T: Pod + AsPrimitive<f32>>(
    ctx: &mut RawContext<'_>,
    mean: fn(f32, usize) -> f32,
    after: impl Fn(&mut [f32]) + Sync,
) -> Result<()> {
    let images = ctx.input_at(0)?;
    let [rows, columns, channels] = sizes(images.shape())?;
    let factor = ctx.input_at(1)?.to_scalar::<f32>()?;
    let mut output = ctx.allocate_output_at(0, images.shape())?;
    if images.num_elements() > 0 {
        let (source, image) = (images.as_slice::<T>()?, rows * columns * channels);
        let target = output.as_mut_slice::<f32>()?;
        ctx.parallel_chunks(target, image, 1, |first, piece| {
            for (source, sums) in source[first..].chunks_exact(image).zip(piece.chunks_exact_mut(image)) {
                sum(source, channels, sums);
            }
        });
        // The means of each image, one after the other, repeated.
        let (repeats, count) = (repeats(channels, rows * columns), source.len() / image);
        let row = repeats * channels;
        let mut means = scratch::zeros::<f32>(count.saturating_mul(row))?;
        for (means, sums) in means.chunks_exact_mut(row).zip(target.chunks_exact(image)) {
            for (place, slot) in means.iter_mut().enumerate() {
                *slot = mean(sums[place % channels], rows * columns);
            }
        }
        ctx.parallel_chunks(target, channels, 1, |first, mut piece| {
            let mut at = first;
            while !piece.is_empty() {
                let index = at / image;
                let (part, rest) = piece.split_at_mut(((index + 1) * image - at).min(piece.len()));
                stretch(&source[at..][..part.len()], &means[index * row..][..row], factor, part);
                after(part);
                at += part.len();
                piece = rest;
            }
        });
    }
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, T = [float])]
fn adjust_contrast_v2(ctx: &mut KernelContext<'_, AdjustContrastv2>) -> Result<()> {
    sizes(ctx.input_at(0)?.shape())?;
    ensure_scalar(ctx.input_at(1)?, "contrast_factor")?;
    adjust::<f32>(ctx, |sum, pixels| sum * (1.0 / pixels as f32), |_| {})
}

#[register_kernel(device = Cpu, T = [u8, i8, i16, i32, f32, f64])]
fn adjust_contrast<T: Pod + AsPrimitive<f32>>(ctx: &mut KernelContext<'_, AdjustContrast>) -> Result<()> {
    sizes(ctx.input_at(0)?.shape())?;
    for (index, name) in [(1, "contrast_factor"), (2, "min_value"), (3, "max_value")] {
        ensure_scalar(ctx.input_at(index)?, name)?;
    }
    let [least, greatest] = [ctx.input_at(2)?.to_scalar::<f32>()?, ctx.input_at(3)?.to_scalar::<f32>()?];
    adjust::<T>(
        ctx,
        |sum, pixels| sum / pixels as f32,
        move |piece| {
            for element in piece {
                // NaN stays, and a limit that is NaN is none.
                let below = if greatest < *element { greatest } else { *element };
                *element = if below < least { least } else { below };
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_take_no_more_memory_than_the_images() {
        for channels in [1, 3, 64, 100] {
            for pixels in [1, 2, 21, 64, 1000] {
                let repeats = repeats(channels, pixels);
                assert!((1..=pixels).contains(&repeats), "{channels} channels, {pixels} pixels: {repeats}");
            }
        }
        assert_eq!(repeats(3, 1000), 22);
    }
}

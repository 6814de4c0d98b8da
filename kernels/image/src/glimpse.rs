//! ExtractGlimpse and its second version: windows around places in images.

use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::{Result, bail, ensure};
use kernlink_geometry::integers::checked_shape;
use kernlink_geometry::random::philox::{Philox, Words, entropy};
use kernlink_geometry::resize::pair;
use kernlink_kernels_common::random_floats::{normal32, uniform32};
use kernlink_kernels_common::truncate::Truncate;
use kernlink_macros::register_kernel;
use kernlink_ops::{ExtractGlimpse, ExtractGlimpseV2};

/// What is outside of an image.
#[derive(Clone, Copy, PartialEq)]
enum Noise {
    Uniform,
    Gaussian,
    Zero,
}

/// What the attrs say.
struct Glimpse {
    centered: bool,
    normalized: bool,
    noise: Noise,
    /// Whether this is the first version.
    is_first: bool,
}

impl Glimpse {
    fn new(ctx: &RawConstruction<'_>) -> Result<Glimpse> {
        let is_uniform: bool = ctx.attrs.required("uniform_noise")?;
        let noise: String = ctx.attrs.required("noise")?;
        ensure!(
            !is_uniform || matches!(&noise[..], "" | "uniform"),
            InvalidArgument,
            "The uniform_noise and noise could not be specified at the same time: noise is `{noise}`"
        );
        let noise = match &noise[..] {
            "" if is_uniform => Noise::Uniform,
            "" => Noise::Gaussian,
            "uniform" => Noise::Uniform,
            "gaussian" => Noise::Gaussian,
            "zero" => Noise::Zero,
            other => bail!(InvalidArgument, "The noise could only be uniform, gaussian, or zero, got `{other}`"),
        };
        let (centered, normalized) = (ctx.attrs.required("centered")?, ctx.attrs.required("normalized")?);
        Ok(Glimpse { centered, normalized, noise, is_first: ctx.op.name == "ExtractGlimpse" })
    }

    /// Where a window of `window` lines begins in an image of `size`.
    fn start(&self, offset: f32, size: usize, window: usize) -> i64 {
        let (size, window) = (size as f32, window as f32);
        let scaled = if self.normalized { offset * size } else { offset };
        let place = match (self.is_first, self.normalized, self.centered) {
            (true, _, true) | (false, true, true) => scaled / 2.0 + size / 2.0 - window / 2.0,
            (true, _, false) => scaled - window / 2.0,
            (false, true, false) | (false, false, false) => scaled,
            (false, false, true) => scaled + size / 2.0,
        };
        place.to_i64()
    }
}

/// What of a window is inside of an image, in one direction.
struct Span {
    /// The first line of the image.
    from: usize,
    /// The first line of the window.
    to: usize,
    count: usize,
    is_whole: bool,
}

impl Span {
    fn new(start: i64, size: usize, window: usize) -> Span {
        let (size, window) = (size as i64, window as i64);
        let (from, count, is_whole) = if start < 0 {
            (0, window.saturating_add(start).max(0), false)
        } else if start.saturating_add(window) >= size {
            (start, size.saturating_sub(start).max(0), false)
        } else {
            (start, window, true)
        };
        let to = if start < 0 { window - count } else { 0 };
        Span { from: from as usize, to: to as usize, count: count.min(size) as usize, is_whole }
    }
}

/// Least and greatest of some numbers.
fn bounds(numbers: impl Iterator<Item = f32>) -> [f32; 2] {
    numbers.fold([f32::INFINITY, f32::NEG_INFINITY], |[least, most], x| [least.min(x), most.max(x)])
}

/// Fills a window with noise like an image: between its least and its greatest number, or by mean and deviation of each channel.
fn fill(noise: Noise, words: &mut Words, image: &[f32], channels: usize, window: &mut [f32]) {
    match noise {
        Noise::Zero => window.fill(0.0),
        _ if image.is_empty() => window.fill(0.0),
        Noise::Uniform => {
            let [least, most] = bounds(image.iter().copied());
            window.iter_mut().for_each(|element| *element = least + uniform32(words.word()) * (most - least));
        }
        Noise::Gaussian => {
            for channel in 0..channels {
                let numbers = || image[channel..].iter().step_by(channels).copied();
                let count = (image.len() / channels) as f32;
                let mean = numbers().sum::<f32>() / count;
                let deviation = (numbers().map(|x| (x - mean) * (x - mean)).sum::<f32>() / count).sqrt();
                let [least, most] = bounds(numbers());
                for element in window[channel..].iter_mut().step_by(channels) {
                    *element = (mean + normal32([words.word(), words.word()])[0] * deviation).min(most).max(least);
                }
            }
        }
    }
}

/// The rows and columns of the windows, input 1.
fn window(ctx: &RawContext<'_>) -> Result<[usize; 2]> {
    let [rows, columns] = pair::<i32>(ctx.input_at(1)?, "size")?;
    ensure!(rows >= 0 && columns >= 0, InvalidArgument, "size must not be negative: {rows} and {columns}");
    Ok([rows as usize, columns as usize])
}

#[register_kernel(device = Cpu, op = [ExtractGlimpse, ExtractGlimpseV2], state = |ctx| Glimpse::new(ctx))]
fn extract_glimpse(glimpse: &Glimpse, ctx: &mut RawContext<'_>) -> Result<()> {
    let input = ctx.input_at(0)?;
    let &[batch, rows, columns, channels] = &input.shape()[..] else {
        bail!(
            InvalidArgument,
            "input must be 4-dimensional (batch_size, height, width, depth), not of shape {}",
            input.shape()
        );
    };
    let to = window(ctx)?;
    let offsets = ctx.input_at(2)?;
    ensure!(
        *offsets.shape() == Shape::from([batch, 2]),
        InvalidArgument,
        "offsets must have shape [{batch},2], not {}",
        offsets.shape()
    );
    let mut output = ctx.allocate_output_at(0, checked_shape([batch, to[0], to[1], channels].map(Some))?)?;
    if output.num_elements() == 0 {
        return ctx.set_output_at(0, output);
    }
    let (input, offsets) = (input.as_slice::<f32>()?, offsets.as_slice::<f32>()?.as_chunks::<2>().0);
    let (image, size) = (rows * columns * channels, to[0] * to[1] * channels);
    let generator = Philox::new(entropy(), [0, entropy()]);
    ctx.parallel_chunks(output.as_mut_slice::<f32>()?, size, 1, |first, piece| {
        for (index, window) in (first / size..).zip(piece.chunks_exact_mut(size)) {
            let image = &input[index * image..][..image];
            let [y, x] = offsets[index];
            let down = Span::new(glimpse.start(y, rows, to[0]), rows, to[0]);
            let across = Span::new(glimpse.start(x, columns, to[1]), columns, to[1]);
            if !(down.is_whole && across.is_whole) {
                // Each image has numbers of its own.
                let mut generator = generator;
                generator.skip((index as u64) << 40);
                fill(glimpse.noise, &mut Words::new(generator), image, channels, window);
            }
            if across.count == 0 {
                continue;
            }
            for row in 0..down.count {
                let source = ((down.from + row) * columns + across.from) * channels;
                let target = ((down.to + row) * to[1] + across.to) * channels;
                let count = across.count * channels;
                window[target..][..count].copy_from_slice(&image[source..][..count]);
            }
        }
    });
    ctx.set_output_at(0, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_like_the_image() {
        let image = [0.0, 10.0, 1.0, 20.0, 2.0, 30.0];
        let mut window = [0.0f32; 400];
        let mut words = Words::new(Philox::new(1, [2, 3]));
        fill(Noise::Uniform, &mut words, &image, 2, &mut window);
        assert!(window.iter().all(|x| (0.0..30.0).contains(x)));
        assert!((window.iter().sum::<f32>() / 400.0 - 15.0).abs() < 2.0);
        fill(Noise::Gaussian, &mut words, &image, 2, &mut window);
        let pixels = window.as_chunks::<2>().0;
        assert!(pixels.iter().all(|[a, b]| (0.0..=2.0).contains(a) && (10.0..=30.0).contains(b)));
        assert!((pixels.iter().map(|pixel| pixel[1]).sum::<f32>() / 200.0 - 20.0).abs() < 2.0);
        fill(Noise::Zero, &mut words, &image, 2, &mut window);
        assert_eq!(window, [0.0; 400]);
    }
}

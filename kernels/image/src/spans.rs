//! Which lines of an image a line of a scaled and moved one is the weighted sum of, and the kernels that the weights come from.

use kernlink::tensor::scratch;
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::truncate::Truncate;

/// A function of the distance, which gives weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kernel {
    /// Lanczos' window of this radius.
    Lanczos(f32),
    /// Gauss' function with the standard deviation 0.5, up to three of it.
    Gaussian,
    /// 1 up to a distance of a half.
    Box,
    /// 1 less the distance.
    Triangle,
    /// Keys, "Cubic Convolution Interpolation for Digital Image Processing", 1981.
    KeysCubic,
    /// Mitchell and Netravali, "Reconstruction Filters in Computer Graphics", 1988.
    MitchellCubic,
}

impl Kernel {
    /// That of attr `kernel_type`.
    pub(crate) fn from_name(name: &str) -> Result<Kernel> {
        Ok(match &name.to_ascii_lowercase()[..] {
            "lanczos1" => Kernel::Lanczos(1.0),
            "lanczos3" => Kernel::Lanczos(3.0),
            "lanczos5" => Kernel::Lanczos(5.0),
            "gaussian" => Kernel::Gaussian,
            "box" => Kernel::Box,
            "triangle" => Kernel::Triangle,
            "keyscubic" => Kernel::KeysCubic,
            "mitchellcubic" => Kernel::MitchellCubic,
            _ => bail!(
                InvalidArgument,
                "Unrecognized kernel type: `{name}`; there are lanczos1, lanczos3, lanczos5, gaussian, box, triangle, \
                 keyscubic and mitchellcubic"
            ),
        })
    }

    /// Beyond this distance weights are 0.
    fn radius(self) -> f32 {
        match self {
            Kernel::Lanczos(radius) => radius,
            Kernel::Gaussian => 1.5,
            Kernel::Box | Kernel::Triangle => 1.0,
            Kernel::KeysCubic | Kernel::MitchellCubic => 2.0,
        }
    }

    /// The weight at a distance, which is not negative.
    fn weight(self, x: f32) -> f32 {
        const PI: f32 = std::f32::consts::PI;
        match self {
            Kernel::Lanczos(radius) if x > radius => 0.0,
            // The limit at 0, too.
            Kernel::Lanczos(_) if x <= 1e-3 => 1.0,
            Kernel::Lanczos(radius) => radius * (PI * x).sin() * (PI * x / radius).sin() / (PI * PI * x * x),
            Kernel::Gaussian if x >= 1.5 => 0.0,
            Kernel::Gaussian => (f64::from(-x * x) / 0.5).exp() as f32,
            Kernel::Box if x < 0.5 => 1.0,
            Kernel::Box => {
                if x == 0.5 {
                    0.5
                } else {
                    0.0
                }
            }
            Kernel::Triangle if x < 1.0 => 1.0 - x,
            Kernel::Triangle => 0.0,
            Kernel::KeysCubic | Kernel::MitchellCubic if x >= 2.0 => 0.0,
            Kernel::KeysCubic if x >= 1.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
            Kernel::KeysCubic => ((1.5 * x - 2.5) * x) * x + 1.0,
            Kernel::MitchellCubic if x >= 1.0 => (((-7.0 / 18.0) * x + 2.0) * x - 10.0 / 3.0) * x + 16.0 / 9.0,
            Kernel::MitchellCubic => (((7.0 / 6.0) * x - 2.0) * x) * x + 8.0 / 9.0,
        }
    }
}

/// How an image becomes another in one direction.
#[derive(Clone, Copy)]
pub(crate) struct Move {
    pub(crate) scale: f32,
    pub(crate) translation: f32,
}

/// For each line of the output the weights of successive lines of the input.
///
/// TensorFlow gives all lines as many weights, the last of which may be 0: they matter only where the input is not finite, and
/// are not kept, because there may be far more of them than of the others.
pub(crate) struct Spans {
    /// How many weights each line has in TensorFlow.
    size: usize,
    /// The first line of the input, for each line of the output.
    starts: Vec<usize>,
    /// Where the weights of each line begin, and the last ones end.
    bounds: Vec<usize>,
    weights: Vec<f32>,
}

impl Spans {
    /// Those of `outputs` lines of `inputs` lines. With `antialias` the weights reach farther where an image becomes smaller.
    ///
    /// # Errors
    /// INTERNAL where the scale is so small that the lines cannot be counted; RESOURCE_EXHAUSTED without memory.
    pub(crate) fn new(kernel: Kernel, outputs: usize, inputs: usize, way: Move, antialias: bool) -> Result<Spans> {
        let step = (1.0 / f64::from(way.scale)) as f32;
        let offset = -step * way.translation;
        let kernel_scale = if antialias && step > 1.0 { step } else { 1.0 };
        let reach = kernel.radius() * kernel_scale;
        // Counted with 32 bits, as in TensorFlow.
        let half = i32::try_from(reach.ceil().to_i64()).unwrap_or(i32::MIN);
        let size = half.wrapping_mul(2).wrapping_add(1).min(i32::try_from(inputs).unwrap_or(i32::MAX));
        let size = usize::try_from(size).unwrap_or(0);
        let mut spans = Spans {
            size,
            starts: scratch::zeros(outputs)?,
            bounds: scratch::zeros(outputs.saturating_add(1))?,
            weights: Vec::new(),
        };
        let last = inputs as i64 - 1;
        let clamped = |line: f32| if last < line.to_i64() { last } else { line.to_i64().max(0) };
        for output in 0..outputs {
            let first = spans.weights.len();
            spans.bounds[output + 1] = first;
            let place = (output as f32 + 0.5) * step + offset;
            if place < 0.0 || place > inputs as f32 {
                continue;
            }
            let start = clamped((place - reach - 0.5).ceil());
            let end = clamped((place + reach - 0.5).floor()) + 1;
            let count = usize::try_from(end - start).unwrap_or(0);
            ensure!(count <= size, Internal, "Span is too large: {count} vs {size}.");
            scratch::resize(&mut spans.weights, first + count, 0.0)?;
            spans.bounds[output + 1] = first + count;
            let weights = &mut spans.weights[first..];
            let mut sum = 0.0;
            for (weight, line) in weights.iter_mut().zip(start..) {
                *weight = kernel.weight(((line as f32 + 0.5 - place) * (1.0 / kernel_scale)).abs());
                sum += *weight;
            }
            let factor = if sum.abs() >= 1000.0 * f32::MIN_POSITIVE { Some(1.0 / sum) } else { None };
            weights.iter_mut().for_each(|weight| *weight = factor.map_or(0.0, |factor| *weight * factor));
            spans.starts[output] = usize::try_from(start).unwrap_or(0);
        }
        Ok(spans)
    }

    /// Those of the gradient: for each of `inputs` lines the weights with which it is in lines of the output.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED without memory.
    pub(crate) fn transposed(&self, inputs: usize) -> Result<Spans> {
        // The first and the last output of each line.
        let mut reached = scratch::filled(None::<(usize, usize)>, inputs)?;
        let each = |f: &mut dyn FnMut(usize, usize, f32)| {
            for (output, &start) in self.starts.iter().enumerate() {
                for (line, &weight) in (start..inputs).zip(self.weights(output)) {
                    if weight != 0.0 {
                        f(output, line, weight);
                    }
                }
            }
        };
        each(&mut |output, line, _| {
            let first = reached[line].map_or(output, |(first, _)| first);
            reached[line] = Some((first, output));
        });
        let count = |reached: &Option<(usize, usize)>| reached.map_or(0, |(first, last)| last - first + 1);
        let size = reached.iter().map(count).max().unwrap_or(0);
        let starts = scratch::collected(reached.iter().map(|reached| reached.map_or(0, |(first, _)| first)))?;
        let mut bounds = scratch::zeros(inputs.saturating_add(1))?;
        for (line, reached) in reached.iter().enumerate() {
            bounds[line + 1] = bounds[line] + count(reached);
        }
        let weights = scratch::zeros(bounds[inputs])?;
        let mut spans = Spans { size, starts, bounds, weights };
        each(&mut |output, line, weight| {
            let place = spans.bounds[line] + output - spans.starts[line];
            spans.weights[place] += weight;
        });
        Ok(spans)
    }

    #[inline(always)]
    fn weights(&self, output: usize) -> &[f32] {
        &self.weights[self.bounds[output]..self.bounds[output + 1]]
    }

    /// The first line of the input that line `output` is made of, and the weights of those from there on.
    #[inline(always)]
    pub(crate) fn at(&self, output: usize, inputs: usize) -> (usize, &[f32]) {
        let start = self.starts[output];
        let weights = self.weights(output);
        (start, &weights[..weights.len().min(inputs.saturating_sub(start))])
    }

    /// The lines of the input after those of [`Spans::at`] whose weight is 0 in TensorFlow.
    #[inline(always)]
    pub(crate) fn zeros(&self, output: usize, inputs: usize) -> std::ops::Range<usize> {
        let start = self.starts[output];
        let end = start.saturating_add(self.size).min(inputs);
        (start + self.weights(output).len()).min(end)..end
    }

    /// How many weights a line has on average, rounded up.
    pub(crate) fn mean_count(&self) -> usize {
        self.weights.len().div_ceil(self.starts.len().max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: Move = Move { scale: 0.5, translation: 0.0 };

    #[test]
    fn weights_add_up_to_one() {
        for name in ["lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"] {
            let spans = Spans::new(Kernel::from_name(name).unwrap(), 5, 10, HALF, true).unwrap();
            for output in 0..5 {
                let sum: f32 = spans.at(output, 10).1.iter().sum();
                assert!((sum - 1.0).abs() < 1e-6, "{name}: {sum}");
            }
        }
        assert!(Kernel::from_name("nearest").is_err());
    }

    #[test]
    fn lines_without_weights_take_no_memory() {
        let far = Move { scale: 1e-6, translation: 0.0 };
        let spans = Spans::new(Kernel::Lanczos(3.0), 100_000, 100_000, far, true).unwrap();
        assert_eq!(spans.size, 100_000);
        assert!(spans.weights.len() <= 100_000, "{}", spans.weights.len());
        assert_eq!((spans.at(99_999, 100_000), spans.zeros(99_999, 100_000)), ((0, &[][..]), 0..100_000));
        assert_eq!(spans.transposed(100_000).unwrap().starts.len(), 100_000);
    }

    #[test]
    fn the_gradient_has_the_same_weights() {
        let spans = Spans::new(Kernel::Triangle, 5, 10, HALF, true).unwrap();
        let back = spans.transposed(10).unwrap();
        let weight = |spans: &Spans, to: usize, from: usize, count: usize| {
            let (start, weights) = spans.at(to, count);
            from.checked_sub(start).and_then(|place| weights.get(place)).copied().unwrap_or(0.0)
        };
        for output in 0..5 {
            for line in 0..10 {
                assert_eq!(weight(&spans, output, line, 10), weight(&back, line, output, 5), "{output} of {line}");
            }
        }
    }
}

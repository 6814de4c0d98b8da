//! A Fourier transform of 16-bit numbers, every step rounded as kissfft does with `FIXED_POINT` 16: radix 4, then 2, each
//! stage divided by its radix.

use kernlink::error::Result;
use kernlink::tensor::scratch;

/// A number with 15 bits behind the point.
#[derive(Clone, Copy, Default)]
pub(super) struct Complex {
    pub(super) re: i16,
    pub(super) im: i16,
}

/// The nearest number of 15 bits behind the point to a product, which has 30.
fn rounded(product: i32) -> i16 {
    (product.wrapping_add(1 << 14) >> 15) as i16
}

impl Complex {
    /// `exp(i * phase)`
    fn at(phase: f64) -> Complex {
        let number = |value: f64| (0.5 + f64::from(i16::MAX) * value).floor() as i16;
        Complex { re: number(phase.cos()), im: number(phase.sin()) }
    }

    fn plus(self, other: Complex) -> Complex {
        Complex { re: self.re.wrapping_add(other.re), im: self.im.wrapping_add(other.im) }
    }

    fn minus(self, other: Complex) -> Complex {
        Complex { re: self.re.wrapping_sub(other.re), im: self.im.wrapping_sub(other.im) }
    }

    fn times(self, other: Complex) -> Complex {
        let [a, b, c, d] = [self.re, self.im, other.re, other.im].map(i32::from);
        Complex { re: rounded((a * c).wrapping_sub(b * d)), im: rounded((a * d).wrapping_add(b * c)) }
    }

    fn divided(self, divisor: i16) -> Complex {
        let factor = i32::from(i16::MAX / divisor);
        Complex { re: rounded(i32::from(self.re) * factor), im: rounded(i32::from(self.im) * factor) }
    }

    /// `-i` times it.
    fn turned(self) -> Complex {
        Complex { re: self.im, im: self.re.wrapping_neg() }
    }
}

/// The transform of as many real samples as a power of two from 2 on.
pub(super) struct Transform {
    /// Those of the transform of half as many complex numbers.
    twiddles: Vec<Complex>,
    /// Those by which its result becomes that of real samples.
    real_twiddles: Vec<Complex>,
}

impl Transform {
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is no memory for the tables.
    pub(super) fn new(size: usize) -> Result<Transform> {
        let half = size / 2;
        let pi = std::f64::consts::PI;
        let twiddle = |index: usize| Complex::at(-2.0 * pi * index as f64 / half as f64);
        let real_twiddle = |index: usize| Complex::at(-pi * ((index + 1) as f64 / half as f64 + 0.5));
        Ok(Transform {
            twiddles: scratch::collected((0..half).map(twiddle))?,
            real_twiddles: scratch::collected((0..half / 2).map(real_twiddle))?,
        })
    }

    /// The spectrum's numbers.
    pub(super) fn frequencies(&self) -> usize {
        self.twiddles.len() + 1
    }

    /// The spectrum of samples, by way of `work`, which has one number less.
    pub(super) fn run(&self, samples: &[i16], work: &mut [Complex], spectrum: &mut [Complex]) {
        let half = self.twiddles.len();
        self.stage(samples, 1, work);
        let first = work[0].divided(2);
        spectrum[0] = Complex { re: first.re.wrapping_add(first.im), im: 0 };
        spectrum[half] = Complex { re: first.re.wrapping_sub(first.im), im: 0 };
        for k in 1..=half / 2 {
            let mirrored = work[half - k];
            let a = work[k].divided(2);
            let b = Complex { re: mirrored.re, im: mirrored.im.wrapping_neg() }.divided(2);
            let even = a.plus(b);
            let odd = a.minus(b).times(self.real_twiddles[k - 1]);
            // Sums of 17 bits, halved.
            let halved = |x: i32| (x >> 1) as i16;
            let [even_re, even_im, odd_re, odd_im] = [even.re, even.im, odd.re, odd.im].map(i32::from);
            spectrum[k] = Complex { re: halved(even_re + odd_re), im: halved(even_im + odd_im) };
            spectrum[half - k] = Complex { re: halved(even_re - odd_re), im: halved(odd_im - even_im) };
        }
    }

    /// The transform of every `stride`-th pair of samples.
    fn stage(&self, samples: &[i16], stride: usize, output: &mut [Complex]) {
        let radix = match output.len() {
            1 => 1,
            length if length.is_multiple_of(4) => 4,
            _ => 2,
        };
        let part = output.len() / radix;
        for (index, piece) in output.chunks_exact_mut(part).enumerate() {
            let samples = &samples[2 * stride * index..];
            match piece {
                [only] => *only = Complex { re: samples[0], im: samples[1] },
                _ => self.stage(samples, stride * radix, piece),
            }
        }
        match radix {
            4 => self.by_fours(output, stride),
            2 => self.by_twos(output, stride),
            // kissfft divides by one, too, which rounds.
            _ => output[0] = output[0].divided(1),
        }
    }

    fn by_twos(&self, output: &mut [Complex], stride: usize) {
        let (low, high) = output.split_at_mut(output.len() / 2);
        for (k, (a, b)) in low.iter_mut().zip(high).enumerate() {
            let turned = b.divided(2).times(self.twiddles[k * stride]);
            let kept = a.divided(2);
            (*a, *b) = (kept.plus(turned), kept.minus(turned));
        }
    }

    fn by_fours(&self, output: &mut [Complex], stride: usize) {
        let part = output.len() / 4;
        for k in 0..part {
            let at = |index: usize| output[k + index * part].divided(4);
            let [a, c] = [at(0), at(2).times(self.twiddles[2 * k * stride])];
            let [b, d] = [at(1).times(self.twiddles[k * stride]), at(3).times(self.twiddles[3 * k * stride])];
            let (sum, difference) = (a.plus(c), a.minus(c));
            let (odd_sum, turned) = (b.plus(d), b.minus(d).turned());
            output[k] = sum.plus(odd_sum);
            output[k + part] = difference.plus(turned);
            output[k + 2 * part] = sum.minus(odd_sum);
            output[k + 3 * part] = difference.minus(turned);
        }
    }
}

//! The operations on numbers of 32 bits.

use super::super::transforms::{mean, plus};

/// A pixel.
#[derive(Clone, Copy)]
pub(in super::super) struct Pixel(u32);

impl Pixel {
    #[inline(always)]
    pub(in super::super) fn new(word: u32) -> Pixel {
        Pixel(word)
    }

    #[inline(always)]
    pub(in super::super) fn word(self) -> u32 {
        self.0
    }

    /// The sum of each component.
    #[inline(always)]
    pub(in super::super) fn plus(self, other: Pixel) -> Pixel {
        Pixel(plus(self.0, other.0))
    }

    /// The mean of each component, rounded down.
    #[inline(always)]
    pub(in super::super) fn mean(self, other: Pixel) -> Pixel {
        Pixel(mean(self.0, other.0))
    }

    /// Of this pixel and the one above, the one that the sum of both less the one at the corner is nearer to; the one above if it is as near to both.
    #[inline(always)]
    pub(in super::super) fn nearer(self, above: Pixel, corner: Pixel) -> Pixel {
        let [a, b, c] = [above, self, corner].map(components);
        let balance: i32 = (0..4).map(|k| (b[k] - c[k]).abs() - (a[k] - c[k]).abs()).sum();
        if balance <= 0 { above } else { self }
    }

    /// The sum of this pixel and the one above, less the one at the corner, from 0 to 255.
    #[inline(always)]
    pub(in super::super) fn gradient(self, above: Pixel, corner: Pixel) -> Pixel {
        let [a, b, c] = [self, above, corner].map(components);
        each(|k| a[k] + b[k] - c[k])
    }

    /// The mean of this pixel and the one above, and half of what it is more than the one at the corner, from 0 to 255.
    #[inline(always)]
    pub(in super::super) fn half_gradient(self, above: Pixel, corner: Pixel) -> Pixel {
        let [a, c] = [self.mean(above), corner].map(components);
        each(|k| a[k] + (a[k] - c[k]) / 2)
    }
}

fn components(pixel: Pixel) -> [i32; 4] {
    pixel.0.to_le_bytes().map(i32::from)
}

fn each(f: impl Fn(usize) -> i32) -> Pixel {
    Pixel(u32::from_le_bytes([0, 1, 2, 3].map(|k| f(k).clamp(0, 255) as u8)))
}

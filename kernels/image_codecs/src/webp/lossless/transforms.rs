//! What pixels are made of, row by row: predictions, colours of other colours, palettes. Pixels are numbers of alpha, red, green and blue,
//! from the highest byte on.

use kernlink::tensor::scratch;
use kernlink_kernels_common::widest;

use super::Outcome;
use super::pixel::Pixel;

const BLACK: u32 = 0xff00_0000;

/// What was done to pixels, and is undone.
pub(super) enum Transform {
    /// The predictor transform: each is predicted from those before, in one of several ways, which the tile's green tells. `above` is the row
    /// above as it is then, and one pixel more.
    Predicted { tiles: Tiles, above: Vec<u32> },
    /// The cross-color transform: parts of green, and of red, were left out of the other colours.
    Colors(Tiles),
    /// The subtract-green transform: green was left out of red and blue.
    GreenLeftOut,
    /// The color-indexing transform: indices of colours, `1 << bits` in each pixel's green. `colors` are as many for each of the 256 values
    /// that green may have.
    Palette { colors: Vec<u32>, bits: u32, columns: usize },
}

/// What holds for tiles of `1 << bits` rows and columns.
pub(super) struct Tiles {
    pub(super) values: Vec<u32>,
    pub(super) bits: u32,
    pub(super) columns: usize,
}

impl Tiles {
    /// The values of a row of pixels, and where the pixels of each begin and end.
    fn row(&self, row: usize) -> impl Iterator<Item = (u32, usize, usize)> {
        let count = self.columns.div_ceil(1 << self.bits);
        let values = &self.values[(row >> self.bits) * count..][..count];
        let size = 1 << self.bits;
        values.iter().enumerate().map(move |(k, &value)| (value, k * size, self.columns.min((k + 1) * size)))
    }
}

/// The colours of a palette, of which each is written as its difference to the one before, and zeros up to all that an index tells, as
/// libwebp has them: those of the `1 << bits` indices in each byte.
pub(super) fn palette(differences: &[u32], bits: u32) -> Outcome<Vec<u32>> {
    let mut colors = [0; 256];
    let mut color = 0;
    for (to, &difference) in colors.iter_mut().zip(differences) {
        color = plus(color, difference);
        *to = color;
    }
    let (count, width) = (1 << bits, 8 >> bits);
    let mut all = scratch::zeros(256 * count)?;
    for (byte, to) in all.chunks_exact_mut(count).enumerate() {
        for (k, to) in to.iter_mut().enumerate() {
            *to = colors[byte >> (k * width) & ((1 << width) - 1)];
        }
    }
    Ok(all)
}

/// Replaces pixels, the first of which stand for `COUNT` each, by the colours of their green.
fn replace<const COUNT: usize>(colors: &[u32], pixels: &mut [u32]) {
    let colors = colors.as_chunks::<COUNT>().0;
    let colors_of = |pixel: u32| &colors[(pixel >> 8 & 0xff) as usize];
    // From behind, so that no pixel is overwritten before it is read.
    let (whole, rest) = (pixels.len() / COUNT, pixels.len() % COUNT);
    if rest > 0 {
        let colors = colors_of(pixels[whole]);
        pixels[whole * COUNT..].copy_from_slice(&colors[..rest]);
    }
    for k in (0..whole).rev() {
        let colors = colors_of(pixels[k]);
        pixels[k * COUNT..][..COUNT].copy_from_slice(colors);
    }
}

impl Transform {
    /// Undoes it for a row, which `count` pixels stand for; returns how many it has then. Rows come in order.
    pub(super) fn undo(&mut self, row: usize, pixels: &mut [u32], count: usize) -> usize {
        match self {
            Transform::Predicted { tiles, above } => {
                predict(tiles, row, above, &mut pixels[..count]);
                above[..count].copy_from_slice(&pixels[..count]);
            }
            Transform::Colors(tiles) => {
                add_colors(tiles, row, pixels);
            }
            Transform::GreenLeftOut => {
                for pixel in &mut pixels[..count] {
                    let green = *pixel >> 8 & 0xff;
                    *pixel = plus(*pixel, green << 16 | green);
                }
            }
            Transform::Palette { colors, bits, columns } => {
                let pixels = &mut pixels[..*columns];
                match *bits {
                    0 => replace::<1>(colors, pixels),
                    1 => replace::<2>(colors, pixels),
                    2 => replace::<4>(colors, pixels),
                    _ => replace::<8>(colors, pixels),
                }
                return *columns;
            }
        }
        count
    }
}

/// The sum of each component.
#[inline(always)]
pub(super) fn plus(a: u32, b: u32) -> u32 {
    const OTHERS: u32 = 0x00ff_00ff;
    (a & !OTHERS).wrapping_add(b & !OTHERS) & !OTHERS | (a & OTHERS).wrapping_add(b & OTHERS) & OTHERS
}

/// The mean of each component, rounded down.
#[inline(always)]
pub(super) fn mean(a: u32, b: u32) -> u32 {
    (((a ^ b) & 0xfefe_fefe) >> 1) + (a & b)
}

widest! {
    /// Predicts a row, given the one above and room for a pixel, and adds what is there.
    fn predict(tiles: &Tiles, row: usize, above: &mut [u32], pixels: &mut [u32]) {
        pixels[0] = plus(pixels[0], if row == 0 { BLACK } else { above[0] });
        if row == 0 {
            let mut left = pixels[0];
            for pixel in &mut pixels[1..] {
                *pixel = plus(*pixel, left);
                left = *pixel;
            }
            return;
        }
        // The pixel above and to the right of the last one is the first of its row.
        above[pixels.len()] = pixels[0];
        for (value, start, end) in tiles.row(row) {
            let start = start.max(1);
            if start >= end {
                continue;
            }
            let mut left = Pixel::new(pixels[start - 1]);
            let around = above[start - 1..].iter().zip(&above[start..]).zip(&above[start + 1..]);
            let pixels = pixels[start..end].iter_mut().zip(around);
            // From those above.
            macro_rules! above {
                (|$above:pat_param, $corner:pat_param, $right:pat_param| $predicted:expr) => {
                    for (pixel, ((&corner, &above), &right)) in pixels {
                        let ($above, $corner, $right) = (above, corner, right);
                        *pixel = plus(*pixel, $predicted);
                    }
                };
            }
            // From the one to the left, too.
            macro_rules! left {
                (|$left:pat_param, $above:pat_param, $corner:pat_param, $right:pat_param| $predicted:expr) => {
                    for (pixel, ((&corner, &above), &right)) in pixels {
                        let $left = left;
                        let [$above, $corner, $right] = [Pixel::new(above), Pixel::new(corner), Pixel::new(right)];
                        left = Pixel::new(*pixel).plus($predicted);
                        *pixel = left.word();
                    }
                };
            }
            match value >> 8 & 15 {
                1 => left!(|l, _, _, _| l),
                2 => above!(|a, _, _| a),
                3 => above!(|_, _, r| r),
                4 => above!(|_, c, _| c),
                5 => left!(|l, a, _, r| l.mean(r).mean(a)),
                6 => left!(|l, _, c, _| l.mean(c)),
                7 => left!(|l, a, _, _| l.mean(a)),
                8 => above!(|a, c, _| mean(c, a)),
                9 => above!(|a, _, r| mean(a, r)),
                10 => left!(|l, a, c, r| l.mean(c).mean(a.mean(r))),
                11 => left!(|l, a, c, _| l.nearer(a, c)),
                12 => left!(|l, a, c, _| l.gradient(a, c)),
                13 => left!(|l, a, c, _| l.half_gradient(a, c)),
                // 0, and 14 and 15, which have no meaning, and are that for libwebp.
                _ => above!(|_, _, _| BLACK),
            }
        }
    }
}

widest! {
    /// Adds the parts of green and of red to the other colours of a row.
    fn add_colors(tiles: &Tiles, row: usize, pixels: &mut [u32]) {
        for (parts, start, end) in tiles.row(row) {
            let part = |part: u32, color: u32| (i32::from(part as i8) * i32::from(color as i8)) >> 5;
            for pixel in &mut pixels[start..end] {
                let green = *pixel >> 8;
                let red = (*pixel >> 16) as i32 + part(parts, green);
                let blue = (*pixel & 0xff) as i32 + part(parts >> 8, green) + part(parts >> 16, red as u32);
                *pixel = *pixel & 0xff00_ff00 | (red as u32 & 0xff) << 16 | blue as u32 & 0xff;
            }
        }
    }
}

widest! {
    /// Writes the colours and the alpha of pixels, in this order.
    pub(super) fn with_alpha(pixels: &[u32], out: &mut [[u8; 4]]) {
        for (to, pixel) in out.iter_mut().zip(pixels) {
            let [blue, green, red, alpha] = pixel.to_le_bytes();
            *to = [red, green, blue, alpha];
        }
    }
}

widest! {
    /// Writes the colours of pixels.
    pub(super) fn without_alpha(pixels: &[u32], out: &mut [[u8; 3]]) {
        for (to, pixel) in out.iter_mut().zip(pixels) {
            let [blue, green, red, _] = pixel.to_le_bytes();
            *to = [red, green, blue];
        }
    }
}

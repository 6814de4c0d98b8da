//! What pixels are made of, row by row: predictions, colours of other colours, palettes. Pixels are numbers of alpha, red, green and blue,
//! from the highest byte on.

use kernlink::tensor::scratch;

use super::Outcome;

const BLACK: u32 = 0xff00_0000;

/// What was done to pixels, and is undone.
pub(super) enum Transform {
    /// Each is predicted from those before, in tiles of `1 << bits` by one of several ways, which the tile's green tells.
    Predicted {
        tiles: Tiles,
        above: Vec<u32>,
    },
    /// Parts of green, and of red, were left out of the other colours.
    Colors(Tiles),
    GreenLeftOut,
    /// Indices of colours, `1 << bits` in each pixel's green.
    Palette {
        colors: Vec<u32>,
        bits: u32,
        columns: usize,
    },
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

/// The colours of a palette, of which each is written as its difference to the one before, and black ones up to all that an index tells.
pub(super) fn palette(differences: &[u32], bits: u32) -> Outcome<Vec<u32>> {
    let mut colors = scratch::zeros(1 << (8 >> bits))?;
    let mut color = 0;
    for (to, &difference) in colors.iter_mut().zip(differences) {
        color = add(color, difference);
        *to = color;
    }
    Ok(colors)
}

impl Transform {
    /// Undoes it for a row, which `count` pixels stand for; returns how many it has then. Rows come in order.
    pub(super) fn undo(&mut self, row: usize, pixels: &mut [u32], count: usize) -> usize {
        match self {
            Transform::Predicted { tiles, above } => {
                predict(tiles, row, above, &mut pixels[..count]);
                above.copy_from_slice(&pixels[..count]);
            }
            Transform::Colors(tiles) => {
                for (value, start, end) in tiles.row(row) {
                    pixels[start..end].iter_mut().for_each(|pixel| *pixel = with_colors(*pixel, value));
                }
            }
            Transform::GreenLeftOut => {
                for pixel in &mut pixels[..count] {
                    let green = *pixel >> 8 & 0xff;
                    *pixel = add(*pixel, green << 16 | green);
                }
            }
            Transform::Palette { colors, bits, columns } => {
                let (width, mask) = (8 >> *bits, colors.len() - 1);
                // From behind, so that no packed pixel is overwritten before it is read.
                for column in (0..*columns).rev() {
                    let green = pixels[column >> *bits] >> 8 & 0xff;
                    let index = green as usize >> (width * (column & ((1 << *bits) - 1)));
                    pixels[column] = colors[index & mask];
                }
                return *columns;
            }
        }
        count
    }
}

/// The sum of each component.
#[inline(always)]
fn add(a: u32, b: u32) -> u32 {
    const OTHERS: u32 = 0x00ff_00ff;
    (a & !OTHERS).wrapping_add(b & !OTHERS) & !OTHERS | (a & OTHERS).wrapping_add(b & OTHERS) & OTHERS
}

/// The mean of each component, rounded down.
#[inline(always)]
fn mean(a: u32, b: u32) -> u32 {
    (((a ^ b) & 0xfefe_fefe) >> 1) + (a & b)
}

/// A function of each component.
#[inline(always)]
fn each(f: impl Fn(usize) -> i32) -> u32 {
    u32::from_le_bytes([0, 1, 2, 3].map(|k| f(k).clamp(0, 255) as u8))
}

#[inline(always)]
fn components(pixel: u32) -> [i32; 4] {
    pixel.to_le_bytes().map(i32::from)
}

/// Of the pixel above and the one to the left, the one that the sum of both less the one at the corner is nearer to.
#[inline(always)]
fn nearer(left: u32, above: u32, corner: u32) -> u32 {
    let [a, b, c] = [above, left, corner].map(components);
    let balance: i32 = (0..4).map(|k| (b[k] - c[k]).abs() - (a[k] - c[k]).abs()).sum();
    if balance <= 0 { above } else { left }
}

#[inline(always)]
fn gradient(left: u32, above: u32, corner: u32) -> u32 {
    let [a, b, c] = [left, above, corner].map(components);
    each(|k| a[k] + b[k] - c[k])
}

#[inline(always)]
fn half_gradient(left: u32, above: u32, corner: u32) -> u32 {
    let [a, c] = [mean(left, above), corner].map(components);
    each(|k| a[k] + (a[k] - c[k]) / 2)
}

/// Predicts a row, given the one above, and adds what is there.
fn predict(tiles: &Tiles, row: usize, above: &[u32], pixels: &mut [u32]) {
    let first = if row == 0 { BLACK } else { above[0] };
    pixels[0] = add(pixels[0], first);
    if row == 0 {
        let mut left = pixels[0];
        for pixel in &mut pixels[1..] {
            *pixel = add(*pixel, left);
            left = *pixel;
        }
        return;
    }
    let count = pixels.len();
    for (value, start, end) in tiles.row(row) {
        let start = start.max(1);
        if start >= end {
            continue;
        }
        // The pixel above and to the right of the last one is the first of its row.
        let next_row = pixels[0];
        let right = |k: usize| if k + 1 < count { above[k + 1] } else { next_row };
        macro_rules! by {
            (|$left:ident, $above:ident, $corner:ident, $right:ident| $predicted:expr) => {{
                let mut $left = pixels[start - 1];
                for k in start..end {
                    let ($above, $corner, $right) = (above[k], above[k - 1], right(k));
                    let _ = ($left, $above, $corner, $right);
                    $left = add(pixels[k], $predicted);
                    pixels[k] = $left;
                }
            }};
        }
        match value >> 8 & 15 {
            1 => by!(|left, a, c, r| left),
            2 => by!(|left, a, c, r| a),
            3 => by!(|left, a, c, r| r),
            4 => by!(|left, a, c, r| c),
            5 => by!(|left, a, c, r| mean(mean(left, r), a)),
            6 => by!(|left, a, c, r| mean(left, c)),
            7 => by!(|left, a, c, r| mean(left, a)),
            8 => by!(|left, a, c, r| mean(c, a)),
            9 => by!(|left, a, c, r| mean(a, r)),
            10 => by!(|left, a, c, r| mean(mean(left, c), mean(a, r))),
            11 => by!(|left, a, c, r| nearer(left, a, c)),
            12 => by!(|left, a, c, r| gradient(left, a, c)),
            13 => by!(|left, a, c, r| half_gradient(left, a, c)),
            _ => by!(|left, a, c, r| BLACK),
        }
    }
}

/// Adds the parts of green and of red to the other colours.
#[inline(always)]
fn with_colors(pixel: u32, parts: u32) -> u32 {
    let part = |part: u32, color: u32| (i32::from(part as i8) * i32::from(color as i8)) >> 5;
    let green = pixel >> 8;
    let red = (pixel >> 16) as i32 + part(parts, green);
    let blue = (pixel & 0xff) as i32 + part(parts >> 8, green) + part(parts >> 16, red as u32);
    pixel & 0xff00_ff00 | (red as u32 & 0xff) << 16 | blue as u32 & 0xff
}

//! Colours of brightness and differences, as libwebp makes them (`src/dsp/yuv.h`, `upsampling.c`).

use kernlink::Result;
use kernlink::tensor::scratch;
use kernlink_kernels_common::widest;

use super::plane::Plane;
use crate::lanes::{Lanes, widest_lanes};
use crate::upsample::twice;

/// What brightness is multiplied by, with 14 bits of fraction of which 6 are kept.
const BRIGHTNESS: u16 = 19077;
const RED_TO_RED: u16 = 26149;
const BLUE_TO_GREEN: u16 = 6419;
const RED_TO_GREEN: u16 = 13320;
const BLUE_TO_BLUE: u16 = 33050;

/// What is added to red, green and blue.
const OFFSETS: [i16; 3] = [-14234, 8708, -17685];

fn color([y, u, v]: [u8; 3]) -> [u8; 3] {
    let times = |sample: u8, factor: u16| (i32::from(sample) * i32::from(factor)) >> 8;
    let brightness = times(y, BRIGHTNESS);
    let sums = [times(v, RED_TO_RED), -times(u, BLUE_TO_GREEN) - times(v, RED_TO_GREEN), times(u, BLUE_TO_BLUE)];
    std::array::from_fn(|k| ((brightness + sums[k] + i32::from(OFFSETS[k])) >> 6).clamp(0, 255) as u8)
}

widest_lanes! {
    /// The colours of a row.
    fn colors<L, N>(rows: [&[u8]; 3], out: &mut [[u8; 3]]) {
        let (groups, _) = out.as_chunks_mut::<8>();
        let groups = groups.as_chunks_mut::<N>().0;
        let done = groups.len() * N * 8;
        let [y, u, v] = rows.map(|row| row.as_chunks::<8>().0.as_chunks::<N>().0);
        // Samples in the high halves of numbers, whose products' high halves are what `times` gives above.
        let high = |samples| L::centred(samples).add(L::all(128)).left::<8>();
        let times = |samples: L, factor: u16| samples.high_product_unsigned(L::all(factor as i16));
        // Samples around 0 are wanted. Sums wrap on the way, but the outcome is within 16 bits. No `map`: the compiler leaves it as a call.
        let offset = |k: usize| L::all(OFFSETS[k].wrapping_sub(128 << 6));
        let [red, green, blue] = [offset(0), offset(1), offset(2)];
        for (((out, &y), &u), &v) in groups.iter_mut().zip(y).zip(u).zip(v) {
            let (y, u, v) = (times(high(y), BRIGHTNESS), high(u), high(v));
            let red = red.add(y).add(times(v, RED_TO_RED));
            let green = green.add(y).sub(times(u, BLUE_TO_GREEN)).sub(times(v, RED_TO_GREEN));
            let blue = blue.add(times(u, BLUE_TO_BLUE)).add(y);
            let colors = [red.right::<6>(), green.right::<6>(), blue.right::<6>()];
            L::pixels(colors, bytemuck::cast_mut(out));
        }
        let [y, u, v] = rows;
        for (((out, &y), &u), &v) in out[done..].iter_mut().zip(&y[done..]).zip(&u[done..]).zip(&v[done..]) {
            *out = color([y, u, v]);
        }
    }
}

widest! {
    /// Writes colours and alpha beside each other.
    pub(super) fn join(colors: &[[u8; 3]], alpha: &[u8], out: &mut [[u8; 4]]) {
        for ((to, &[red, green, blue]), &alpha) in out.iter_mut().zip(colors).zip(alpha) {
            *to = [red, green, blue, alpha];
        }
    }
}

/// Makes the colours of a picture row by row.
pub(super) struct RowConverter<'a> {
    planes: &'a [Plane; 3],
    columns: usize,
    /// The last row of the differences of colour, which is next to itself.
    last: usize,
    sums: Vec<i16>,
    /// Both differences of colour in all columns.
    wide: [Vec<u8>; 2],
}

impl<'a> RowConverter<'a> {
    /// Of a picture of so many columns and rows.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub(super) fn new(planes: &'a [Plane; 3], columns: usize, rows: usize) -> Result<RowConverter<'a>> {
        let half = columns.div_ceil(2);
        let wide = [scratch::zeros(2 * half)?, scratch::zeros(2 * half)?];
        Ok(RowConverter { planes, columns, last: rows.div_ceil(2) - 1, sums: scratch::zeros(half)?, wide })
    }

    /// Writes the colours of a row.
    pub(super) fn write(&mut self, row: usize, out: &mut [[u8; 3]]) {
        let [brightness, differences @ ..] = self.planes;
        let (columns, half) = (self.columns, self.sums.len());
        let near = row / 2;
        let far = if row.is_multiple_of(2) { near.saturating_sub(1) } else { (near + 1).min(self.last) };
        for (plane, wide) in differences.iter().zip(&mut self.wide) {
            for ((sum, &near), &far) in self.sums.iter_mut().zip(plane.row(near, half)).zip(plane.row(far, half)) {
                *sum = 3 * i16::from(near) + i16::from(far);
            }
            twice::<4>(&self.sums, [8, 8], wide);
        }
        let [u, v] = &self.wide;
        colors([brightness.row(row, columns), &u[..columns], &v[..columns]], out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_of_rows_are_those_of_samples() {
        let samples = [0, 1, 2, 15, 16, 17, 100, 127, 128, 129, 200, 234, 235, 236, 254, 255];
        let all: Vec<[u8; 3]> = (0..16 * 16 * 16).map(|k| [k % 16, k / 16 % 16, k / 256].map(|k| samples[k])).collect();
        let rows: [Vec<u8>; 3] = std::array::from_fn(|k| all.iter().map(|sample| sample[k]).collect());
        for count in (0..70).chain([all.len()]) {
            for first in [0, 1000].map(|first| first.min(all.len() - count)) {
                let mut found = vec![[0; 3]; count];
                colors(
                    [&rows[0][first..][..count], &rows[1][first..][..count], &rows[2][first..][..count]],
                    &mut found,
                );
                let expected: Vec<[u8; 3]> = all[first..][..count].iter().map(|&sample| color(sample)).collect();
                assert_eq!(found, expected, "{count} from {first}");
            }
        }
    }
}

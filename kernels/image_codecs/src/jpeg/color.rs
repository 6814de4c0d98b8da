//! Between the components of a JPEG file and red, green and blue, in libjpeg's numbers of 16 bits of fraction.

use crate::lanes::{Lanes, WideLanes, widest_lanes};

const HALF: i32 = 1 << 15;

#[inline(always)]
fn byte(x: i32) -> u8 {
    x.clamp(0, 255) as u8
}

/// What blue and red differences add to red, green and blue.
#[inline(always)]
fn offsets(cb: u8, cr: u8) -> [i32; 3] {
    let (cb, cr) = (i32::from(cb) - 128, i32::from(cr) - 128);
    [(91881 * cr + HALF) >> 16, (-22554 * cb - 46802 * cr + HALF) >> 16, (116_130 * cb + HALF) >> 16]
}

widest_lanes! {
    /// Colours of brightness and differences.
    pub(crate) fn ycc_to_rgb<L, N>(rows: [&[u8]; 3], out: &mut [[u8; 3]]) {
        let (groups, _) = out.as_chunks_mut::<8>();
        let groups = groups.as_chunks_mut::<N>().0;
        let done = groups.len() * N * 8;
        let [y, cb, cr] = rows.map(|row| row.as_chunks::<8>().0.as_chunks::<N>().0);
        for (((out, &y), &cb), &cr) in groups.iter_mut().zip(y).zip(cb).zip(cr) {
            L::pixels(colors_of_ycc(L::centred(y), L::centred(cb), L::centred(cr)), bytemuck::cast_mut(out));
        }
        let [y, cb, cr] = rows;
        for (((out, &y), &cb), &cr) in out[done..].iter_mut().zip(&y[done..]).zip(&cb[done..]).zip(&cr[done..]) {
            *out = offsets(cb, cr).map(|offset| byte(i32::from(y) + offset));
        }
    }
}

/// Red, green and blue around 0 of pixels, which are given so. Factors that go beyond 16 bits are split, and products of which only the
/// high bits are kept are rounded by one bit more.
#[inline(always)]
fn colors_of_ycc<L: Lanes<N>, const N: usize>(y: L, cb: L, cr: L) -> [L; 3] {
    let part = |x: L, factor: i16| x.left::<1>().high_product(L::all(factor)).add(L::all(1)).right::<1>();
    [
        y.add(cr).add(part(cr, (91881 - 65536) as i16)),
        y.add(cb.dot(-22554, cr, (65536 - 46802) as i16).descaled::<16>()).sub(cr),
        y.add(cb).add(cb).add(part(cb, (116_130 - 131_072) as i16)),
    ]
}

/// Red, green and blue as brightness and differences.
#[inline(always)]
fn ycc([r, g, b]: [u8; 3]) -> [u8; 3] {
    let [r, g, b] = [r, g, b].map(i32::from);
    const MIDDLE: i32 = (128 << 16) + HALF - 1;
    [
        ((19595 * r + 38470 * g + 7471 * b + HALF) >> 16) as u8,
        ((-11059 * r - 21709 * g + 32768 * b + MIDDLE) >> 16) as u8,
        ((32768 * r - 27439 * g - 5329 * b + MIDDLE) >> 16) as u8,
    ]
}

/// The components of pixels, around 0. Of factors that go beyond 16 bits, one is split in two, 22086 and 16384, and the others are
/// negative.
#[inline(always)]
fn components_of_rgb<L: Lanes<N>, const N: usize>([r, g, b]: [L; 3]) -> [L; 3] {
    let below = L::Wide::all(-1);
    [
        r.dot(19595, g, 22086).add(b.dot(7471, g, 16384)).descaled::<16>().sub(L::all(128)),
        below.sub(r.dot(11059, g, 21709)).sub(b.dot(-32768, g, 0)).descaled::<16>(),
        below.sub(r.dot(-32768, g, 27439)).sub(b.dot(5329, g, 0)).descaled::<16>(),
    ]
}

widest_lanes! {
    /// The components of pixels.
    pub(crate) fn rgb_to_ycc<L, N>(pixels: &[[u8; 3]], rows: [&mut [u8]; 3]) {
        let groups = pixels.as_chunks::<8>().0.as_chunks::<N>().0;
        let done = groups.len() * N * 8;
        let [y, cb, cr] = rows;
        let (whole_y, rest_y) = y.split_at_mut(done);
        let (whole_cb, rest_cb) = cb.split_at_mut(done);
        let (whole_cr, rest_cr) = cr.split_at_mut(done);
        let whole = [whole_y, whole_cb, whole_cr].map(|row| row.as_chunks_mut::<8>().0.as_chunks_mut::<N>().0);
        let [y, cb, cr] = whole;
        for (((group, to_y), to_cb), to_cr) in groups.iter().zip(y).zip(cb).zip(cr) {
            let [y, cb, cr] = components_of_rgb(L::colors(bytemuck::cast_ref(group)));
            (*to_y, *to_cb, *to_cr) = (y.samples(), cb.samples(), cr.samples());
        }
        for (((&pixel, y), cb), cr) in pixels[done..].iter().zip(rest_y).zip(rest_cb).zip(rest_cr) {
            [*y, *cb, *cr] = ycc(pixel);
        }
    }
}

/// Colours as they are.
pub(crate) fn rgb([r, g, b]: [&[u8]; 3], out: &mut [[u8; 3]]) {
    for (((out, &r), &g), &b) in out.iter_mut().zip(r).zip(g).zip(b) {
        *out = [r, g, b];
    }
}

/// The brightness of colours.
pub(crate) fn rgb_to_gray([r, g, b]: [&[u8]; 3], out: &mut [u8]) {
    for (((out, &r), &g), &b) in out.iter_mut().zip(r).zip(g).zip(b) {
        *out = ((i32::from(r) * 19595 + i32::from(g) * 38470 + i32::from(b) * 7471 + HALF) >> 16) as u8;
    }
}

/// Colours of the four inks of print, which hold the file's numbers or, where they are differences, what those stand for. Adobe's
/// files have them inverted.
pub(crate) fn inks_to_rgb(rows: [&[u8]; 4], are_differences: bool, is_adobe: bool, out: &mut [[u8; 3]]) {
    let [c, m, y, k] = rows;
    for ((((out, &c), &m), &y), &k) in out.iter_mut().zip(c).zip(m).zip(y).zip(k) {
        let inks =
            if are_differences { offsets(m, y).map(|offset| byte(255 - (i32::from(c) + offset))) } else { [c, m, y] };
        let k = u32::from(k);
        *out = inks.map(|ink| {
            let ink = u32::from(ink);
            (if is_adobe { k * ink / 255 } else { (255 - k) * (255 - ink) / 255 }) as u8
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_pixels_have_the_components_of_each() {
        let steps = [0, 1, 2, 3, 50, 84, 85, 127, 128, 129, 170, 200, 253, 254, 255];
        let reds = steps.iter().flat_map(|&r| steps.iter().map(move |&g| [r, g]));
        let pixels: Vec<[u8; 3]> = reds.flat_map(|[r, g]| (0..=255).map(move |b| [r, g, b])).collect();
        // Not a whole number of groups.
        let pixels = &pixels[..pixels.len() - 1];
        let mut found = [(); 3].map(|()| vec![0; pixels.len()]);
        let [y, cb, cr] = &mut found;
        rgb_to_ycc(pixels, [y, cb, cr]);
        for (at, &pixel) in pixels.iter().enumerate() {
            assert_eq!(std::array::from_fn(|component| found[component][at]), ycc(pixel), "{pixel:?}");
        }
    }

    #[test]
    fn many_pixels_have_the_colours_of_each() {
        let steps: Vec<u8> = (0..=255).step_by(5).collect();
        let differences = (0..=255).flat_map(|cb| (0..=255).map(move |cr| [cb, cr]));
        let ycc: Vec<[u8; 3]> = differences.flat_map(|[cb, cr]| steps.iter().map(move |&y| [y, cb, cr])).collect();
        let rows: [Vec<u8>; 3] = std::array::from_fn(|component| ycc.iter().map(|pixel| pixel[component]).collect());
        // Not a whole number of groups.
        let count = ycc.len() - 1;
        let mut found = vec![[0; 3]; count];
        ycc_to_rgb([&rows[0][..count], &rows[1][..count], &rows[2][..count]], &mut found);
        for (found, &[y, cb, cr]) in found.iter().zip(&ycc) {
            assert_eq!(*found, offsets(cb, cr).map(|offset| byte(i32::from(y) + offset)), "{y} {cb} {cr}");
        }
    }
}

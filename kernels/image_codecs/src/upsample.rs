//! Rows of twice as many samples, which JPEG and WebP make of the differences of colours.

use crate::lanes::{Lanes, widest_lanes};

widest_lanes! {
    /// Twice as many samples: each is three quarters of the nearest and one of the next, where the ends are next to themselves. `sums`
    /// are samples, or sums of rows; what is added rounds them before `BITS` are left out, so that halves go up and down in turn.
    ///
    /// # Panics
    /// If there is no sum, or less room than for two samples of each.
    pub(crate) fn twice<L, N, const BITS: i32>(sums: &[i16], rounding: [i16; 2], out: &mut [u8]) {
        let (pairs, last) = (out.as_chunks_mut::<2>().0, sums.len() - 1);
        let pair = |k: usize| {
            let (here, before, after) = (sums[k] * 3, sums[k.saturating_sub(1)], sums[(k + 1).min(last)]);
            [((here + before + rounding[0]) >> BITS) as u8, ((here + after + rounding[1]) >> BITS) as u8]
        };
        pairs[0] = pair(0);
        let mut k = 1;
        let count = N * 8;
        while let Some(window) = sums.get(k - 1..k + 1 + count) {
            let [before, here, after] = [&window[..count], &window[1..=count], &window[2..]].map(L::load);
            let here = here.add(here.left::<1>());
            let [low, high] = rounding.map(L::all);
            let (even, odd) = (here.add(before).add(low).right::<BITS>(), here.add(after).add(high).right::<BITS>());
            pairs[k..k + count].as_flattened_mut().copy_from_slice(L::in_turn(even, odd).as_flattened());
            k += count;
        }
        for (k, out) in pairs.iter_mut().enumerate().take(last + 1).skip(k) {
            *out = pair(k);
        }
    }
}

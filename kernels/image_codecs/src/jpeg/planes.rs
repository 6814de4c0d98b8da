//! Samples of the components, and how rows of them are brought to the size of the image.

use super::idct::{Block, Transform};

/// A component's samples.
pub(crate) struct Plane {
    pub(crate) samples: Vec<u8>,
    /// How many samples a row holds, with those that only fill the last block.
    pub(crate) stride: usize,
    /// How many rows of samples the image has.
    pub(crate) rows: usize,
    /// How many samples of a row the image has.
    pub(crate) columns: usize,
    /// The first sample of each row that counts.
    pub(crate) first: usize,
    pub(crate) transform: Transform,
    pub(crate) multipliers: Block,
    pub(crate) expansion: Expansion,
}

/// How a component's samples become those of the image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Expansion {
    /// Not at all.
    Same,
    /// Each one this often across and down.
    Repeated(usize, usize),
    /// Twice as many across, by a triangle filter.
    Across,
    /// Twice as many down, by a triangle filter.
    Down,
    /// Twice as many in both directions, by a triangle filter.
    Both,
}

impl Plane {
    /// The samples of a block, which starts at `row` and `column` of blocks.
    #[inline]
    pub(crate) fn put(&mut self, block: &Block, row: usize, column: usize) {
        let size = self.transform.size();
        let at = row * size * self.stride + column * size;
        self.transform.apply(block, &self.multipliers, &mut self.samples, at, self.stride);
    }

    fn row(&self, row: usize) -> &[u8] {
        let row = row.min(self.rows - 1);
        &self.samples[row * self.stride + self.first..][..self.stride - self.first]
    }

    /// Row `row` of the image, from the first sample that counts on, written to `room` if it must be computed.
    pub(crate) fn expanded<'r>(&'r self, row: usize, room: &'r mut Room) -> &'r [u8] {
        let near = row / 2;
        let far = if row.is_multiple_of(2) { near.saturating_sub(1) } else { near + 1 };
        match self.expansion {
            Expansion::Same => return self.row(row),
            Expansion::Repeated(1, down) => return self.row(row / down),
            Expansion::Repeated(across, down) => {
                let samples = self.row(row / down);
                for (group, &sample) in room.row.chunks_mut(across).zip(samples) {
                    group.fill(sample);
                }
            }
            Expansion::Across => across(&self.row(row)[..self.columns], &mut room.row),
            Expansion::Down => {
                let bias = if row.is_multiple_of(2) { 1 } else { 2 };
                let pairs = self.row(near).iter().zip(self.row(far));
                for (out, (&near, &far)) in room.row.iter_mut().zip(pairs) {
                    *out = ((u16::from(near) * 3 + u16::from(far) + bias) >> 2) as u8;
                }
            }
            Expansion::Both => {
                let pairs = self.row(near)[..self.columns].iter().zip(&self.row(far)[..self.columns]);
                room.sums.clear();
                room.sums.extend(pairs.map(|(&near, &far)| u16::from(near) * 3 + u16::from(far)));
                both(&room.sums, &mut room.row);
            }
        }
        &room.row
    }
}

/// Room for a row of samples while it is expanded.
pub(crate) struct Room {
    row: Vec<u8>,
    sums: Vec<u16>,
}

impl Room {
    /// Room for rows of `columns` samples.
    pub(crate) fn new(columns: usize) -> Room {
        // The last group of samples may go beyond the row.
        Room { row: vec![0; columns + 8], sums: Vec::new() }
    }
}

/// Twice as many samples: each is three quarters of the nearest and one of the next. Halves go up and down in turn.
fn across(samples: &[u8], out: &mut [u8]) {
    let (pairs, last) = (out.as_chunks_mut::<2>().0, samples.len() - 1);
    for (pair, window) in pairs[1..].iter_mut().zip(samples.windows(3)) {
        let [before, here, after] = [0, 1, 2].map(|k| u16::from(window[k]));
        *pair = [((here * 3 + before + 1) >> 2) as u8, ((here * 3 + after + 2) >> 2) as u8];
    }
    let wide = |k: usize| u16::from(samples[k]);
    pairs[0] = [samples[0], ((wide(0) * 3 + wide(1) + 2) >> 2) as u8];
    pairs[last] = [((wide(last) * 3 + wide(last - 1) + 1) >> 2) as u8, samples[last]];
}

/// As [`across`], of sums of rows.
fn both(sums: &[u16], out: &mut [u8]) {
    let (pairs, last) = (out.as_chunks_mut::<2>().0, sums.len() - 1);
    for (pair, window) in pairs[1..].iter_mut().zip(sums.windows(3)) {
        let [before, here, after] = [window[0], window[1], window[2]];
        *pair = [((here * 3 + before + 8) >> 4) as u8, ((here * 3 + after + 7) >> 4) as u8];
    }
    pairs[0] = [((sums[0] * 4 + 8) >> 4) as u8, ((sums[0] * 3 + sums[1] + 7) >> 4) as u8];
    pairs[last] = [((sums[last] * 3 + sums[last - 1] + 8) >> 4) as u8, ((sums[last] * 4 + 7) >> 4) as u8];
}

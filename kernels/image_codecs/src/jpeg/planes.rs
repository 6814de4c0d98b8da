//! Samples of the components, and how rows of them are brought to the size of the image.

use std::ops::Range;

use kernlink::tensor::scratch::Pooled;

use super::idct::{Block, Transform};
use crate::upsample::twice;

/// A component's samples.
pub(crate) struct Plane {
    pub(crate) samples: Pooled<u8>,
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
    /// Whether libjpeg makes rows of the image when it has the next row of units, too, which it decides before it knows of a window.
    pub(crate) has_context: bool,
    /// The rows and columns of blocks that the output reads samples of.
    pub(crate) needed: [Range<usize>; 2],
    /// A block whose samples are made together with those of the next, and where they are to be; nothing if there is none.
    pub(crate) waiting: (Option<usize>, Block),
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

impl Expansion {
    /// The rows of samples that these rows of the image, of which there is one at least, are made of.
    fn rows(self, rows: &Range<usize>) -> Range<usize> {
        let last = rows.end - 1;
        match self {
            Expansion::Same | Expansion::Across => rows.clone(),
            Expansion::Repeated(_, down) => rows.start / down..last / down + 1,
            Expansion::Down | Expansion::Both => (rows.start / 2).saturating_sub(1)..last / 2 + 2,
        }
    }

    /// How many samples this many columns of the image are made of.
    fn columns(self, columns: usize) -> usize {
        match self {
            Expansion::Same | Expansion::Down => columns,
            Expansion::Repeated(across, _) => columns.div_ceil(across),
            Expansion::Across | Expansion::Both => columns.div_ceil(2),
        }
    }
}

impl Plane {
    /// Has the plane hold samples of these rows of the image and of this many columns, from the first that counts on.
    pub(crate) fn need(&mut self, rows: &Range<usize>, columns: usize) {
        let size = self.transform.size();
        let rows = self.expansion.rows(rows);
        let rows = rows.start.min(self.rows - 1)..rows.end.min(self.rows);
        let end = self.first + self.columns.max(self.expansion.columns(columns));
        self.needed = [rows, self.first..end].map(|range| range.start / size..range.end.div_ceil(size));
    }

    /// The samples of a block, which starts at `row` and `column` of blocks, if they are needed: now, or with those of the next.
    #[inline]
    pub(crate) fn put(&mut self, block: &Block, row: usize, column: usize) {
        if !(self.needed[0].contains(&row) && self.needed[1].contains(&column)) {
            return;
        }
        let size = self.transform.size();
        let at = row * size * self.stride + column * size;
        if let Some(first) = self.waiting.0.take() {
            let blocks = [(first, &self.waiting.1), (at, block)];
            self.transform.apply_to_two(blocks, &self.multipliers, &mut self.samples, self.stride);
        } else if self.transform.takes_two() {
            self.waiting = (Some(at), *block);
        } else {
            self.transform.apply(block, &self.multipliers, &mut self.samples, at, self.stride);
        }
    }

    /// The samples of a block that no other follows.
    pub(crate) fn end(&mut self) {
        if let Some(at) = self.waiting.0.take() {
            self.transform.apply(&self.waiting.1, &self.multipliers, &mut self.samples, at, self.stride);
        }
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
            Expansion::Across => {
                let samples = &self.row(row)[..self.columns];
                room.sums.resize(self.columns, 0);
                room.sums.iter_mut().zip(samples).for_each(|(sum, &sample)| *sum = sample.into());
                twice::<2>(&room.sums, [1, 2], &mut room.row);
            }
            Expansion::Down => {
                let bias = if row.is_multiple_of(2) { 1 } else { 2 };
                let pairs = self.row(near).iter().zip(self.row(far));
                for (out, (&near, &far)) in room.row.iter_mut().zip(pairs) {
                    *out = ((u16::from(near) * 3 + u16::from(far) + bias) >> 2) as u8;
                }
            }
            Expansion::Both => {
                let pairs = self.row(near)[..self.columns].iter().zip(&self.row(far)[..self.columns]);
                room.sums.resize(self.columns, 0);
                for (sum, (&near, &far)) in room.sums.iter_mut().zip(pairs) {
                    *sum = i16::from(near) * 3 + i16::from(far);
                }
                twice::<4>(&room.sums, [8, 7], &mut room.row);
            }
        }
        &room.row
    }
}

/// Room for a row of samples while it is expanded.
pub(crate) struct Room {
    row: Vec<u8>,
    sums: Vec<i16>,
}

impl Room {
    /// Room for rows of `columns` samples.
    pub(crate) fn new(columns: usize) -> Room {
        // The last group of samples may go beyond the row.
        Room { row: vec![0; columns + 8], sums: Vec::new() }
    }
}

//! Prediction of samples from those above and to the left (RFC 6386, section 12).

use super::modes::Mode;
use super::plane::Plane;

/// Samples from row to row of a square: a constant, so that the compiler knows where all of them are.
pub(super) const STRIDE: usize = 32;

/// Where the samples of a row begin, behind the one to the left.
const LEFT: usize = 8;

/// Samples of a macroblock that are predicted, and those around them that this takes: the first line is above the others.
pub(super) struct Square<const SIZE: usize, const LINES: usize> {
    lines: [[u8; STRIDE]; LINES],
}

/// Four rows of four samples, a [`STRIDE`] apart.
pub(super) type Block = [u8; 3 * STRIDE + 4];

/// A [`Block`], the line above it and the column to the left.
type Surrounded = [u8; 4 * STRIDE + 9];

impl<const SIZE: usize, const LINES: usize> Square<SIZE, LINES> {
    pub(super) fn new() -> Square<SIZE, LINES> {
        Square { lines: [[0; STRIDE]; LINES] }
    }

    /// Takes the samples above from a plane, and those to the left from the square before.
    pub(super) fn begin(&mut self, plane: &Plane, [row, column]: [usize; 2]) {
        let at = plane.at(SIZE * row, SIZE * column);
        let [above, rows @ ..] = &mut self.lines[..] else { return };
        above[LEFT - 1..][..LINES].copy_from_slice(&plane.samples[at - plane.stride - 1..][..LINES]);
        for row in rows {
            row[LEFT - 1] = if column > 0 { row[LEFT + SIZE - 1] } else { 129 };
        }
    }

    /// Predicts all samples by one of the first four modes.
    pub(super) fn predict(&mut self, mode: Mode, [has_above, has_left]: [bool; 2]) {
        let [above, rows @ ..] = &mut self.lines[..] else { return };
        // A copy, so that the compiler knows that no row is this one.
        let (corner, mut samples) = (above[LEFT - 1], [0; SIZE]);
        samples.copy_from_slice(&above[LEFT..][..SIZE]);
        let above = samples;
        match mode {
            Mode::Vertical => rows.iter_mut().for_each(|row| row[LEFT..][..SIZE].copy_from_slice(&above)),
            Mode::Horizontal => rows.iter_mut().for_each(|row| {
                let left = row[LEFT - 1];
                row[LEFT..][..SIZE].fill(left);
            }),
            Mode::TrueMotion => {
                for row in rows {
                    let change = i16::from(row[LEFT - 1]) - i16::from(corner);
                    for (to, &above) in row[LEFT..][..SIZE].iter_mut().zip(&above) {
                        *to = (i16::from(above) + change).clamp(0, 255) as u8;
                    }
                }
            }
            _ => {
                let size = SIZE as u32;
                let above = || above.iter().map(|&x| u32::from(x)).sum::<u32>();
                let left = || rows.iter().map(|row| u32::from(row[LEFT - 1])).sum::<u32>();
                let mean = match (has_above, has_left) {
                    (true, true) => (above() + left() + size) / (2 * size),
                    (true, false) => (above() + size / 2) / size,
                    (false, true) => (left() + size / 2) / size,
                    (false, false) => 128,
                };
                rows.iter_mut().for_each(|row| row[LEFT..][..SIZE].fill(mean as u8));
            }
        }
    }

    /// The block that begins at a row and a column.
    #[inline(always)]
    pub(super) fn block(&mut self, [row, column]: [usize; 2]) -> Option<&mut Block> {
        self.lines.as_flattened_mut()[(row + 1) * STRIDE + LEFT + column..].first_chunk_mut()
    }

    /// Writes the samples to a plane.
    pub(super) fn write(&self, plane: &mut Plane, [row, column]: [usize; 2]) {
        let mut window = plane.window::<SIZE, SIZE>(plane.at(SIZE * row, SIZE * column));
        for (k, line) in self.lines[1..].iter().enumerate() {
            window.row(k).copy_from_slice(&line[LEFT..][..SIZE]);
        }
    }
}

impl Square<16, 17> {
    /// Sets the samples above and to the right, which are those of the rightmost blocks of all rows.
    pub(super) fn set_right(&mut self, right: [u8; 4]) {
        for line in [0, 4, 8, 12] {
            self.lines[line][LEFT + 16..][..4].copy_from_slice(&right);
        }
    }

    /// Predicts the block that begins at a row and a column.
    #[inline(always)]
    pub(super) fn predict_block(&mut self, [row, column]: [usize; 2], mode: Mode) {
        if let Some(block) = self.lines.as_flattened_mut()[row * STRIDE + LEFT - 1 + column..].first_chunk_mut() {
            predict_block(block, mode);
        }
    }
}

fn predict_block(samples: &mut Surrounded, mode: Mode) {
    // The samples around, from below on the left to the right, the last twice; the corner is the fifth.
    let at = |k: usize| u16::from(samples[if k < 4 { (4 - k) * STRIDE } else { k.min(12) - 4 }]);
    let two = |k: usize| ((at(k) + at(k + 1) + 1) >> 1) as u8;
    let three = |k: usize| ((at(k - 1) + 2 * at(k) + at(k + 1) + 2) >> 2) as u8;
    let four = |k: usize| [three(k), three(k + 1), three(k + 2), three(k + 3)];
    let twos = |k: usize| [two(k), two(k + 1), two(k + 2), two(k + 3)];
    let rows: [[u8; 4]; 4] = match mode {
        Mode::Dc => {
            let sum: u16 = [0, 1, 2, 3, 5, 6, 7, 8].iter().map(|&k| at(k)).sum();
            [[((sum + 4) >> 3) as u8; 4]; 4]
        }
        Mode::TrueMotion => [3, 2, 1, 0].map(|left: usize| {
            let change = at(left) as i16 - at(4) as i16;
            [5, 6, 7, 8].map(|above: usize| (at(above) as i16 + change).clamp(0, 255) as u8)
        }),
        Mode::Vertical => [four(5); 4],
        Mode::Horizontal => {
            let last = ((at(1) + 3 * at(0) + 2) >> 2) as u8;
            [[three(3); 4], [three(2); 4], [three(1); 4], [last; 4]]
        }
        Mode::LeftDown => [four(6), four(7), four(8), four(9)],
        Mode::RightDown => [four(4), four(3), four(2), four(1)],
        Mode::VerticalRight => {
            let (first, second) = (twos(4), four(4));
            let below = |left: u8, row: [u8; 4]| [left, row[0], row[1], row[2]];
            [first, second, below(three(3), first), below(three(2), second)]
        }
        Mode::VerticalLeft => {
            let (first, second) = (twos(5), four(6));
            let below = |row: [u8; 4], right: u8| [row[1], row[2], row[3], right];
            [first, second, below(first, three(10)), below(second, three(11))]
        }
        Mode::HorizontalDown => {
            let line = [two(0), three(1), two(1), three(2), two(2), three(3), two(3), three(4), three(5), three(6)];
            [6, 4, 2, 0].map(|k: usize| [line[k], line[k + 1], line[k + 2], line[k + 3]])
        }
        Mode::HorizontalUp => {
            let (last, before) = (at(0) as u8, ((at(1) + 3 * at(0) + 2) >> 2) as u8);
            let line = [two(2), three(2), two(1), three(1), two(0), before, last, last, last, last];
            [0, 2, 4, 6].map(|k: usize| [line[k], line[k + 1], line[k + 2], line[k + 3]])
        }
    };
    for (row, to) in rows.iter().zip(samples[STRIDE + 1..].chunks_mut(STRIDE)) {
        to[..4].copy_from_slice(row);
    }
}

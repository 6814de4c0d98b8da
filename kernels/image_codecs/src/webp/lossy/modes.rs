//! How each macroblock is predicted (RFC 6386, section 11).

use super::header::Header;
use super::reader::Reader;
use super::tables::BLOCK_MODES;

/// How a square of samples is predicted from those above and to the left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Mode {
    /// By their mean.
    #[default]
    Dc,
    /// By the sample to the left and the one above, less the one at the corner.
    TrueMotion,
    Vertical,
    Horizontal,
    LeftDown,
    RightDown,
    VerticalRight,
    VerticalLeft,
    HorizontalDown,
    HorizontalUp,
}

/// How the samples of brightness are predicted.
#[derive(Clone, Copy)]
pub(super) enum Brightness {
    /// All of them together.
    Whole(Mode),
    /// By blocks of 4 by 4, each after the ones before.
    Blocks([[Mode; 4]; 4]),
}

impl Brightness {
    pub(super) fn has_blocks(&self) -> bool {
        matches!(self, Brightness::Blocks(_))
    }
}

#[derive(Clone, Copy)]
pub(super) struct Modes {
    pub(super) segment: usize,
    pub(super) has_coefficients: bool,
    pub(super) brightness: Brightness,
    pub(super) color: Mode,
}

/// Reads the modes of macroblocks, row by row.
pub(super) struct ModeReader<'a> {
    reader: Reader<'a>,
    segments: Option<[u8; 3]>,
    has_coefficients: Option<u8>,
    /// The modes of the lowest blocks of the row above, and of those that were read.
    above: Vec<[Mode; 4]>,
    /// The modes of the rightmost blocks of the macroblock before.
    left: [Mode; 4],
}

impl<'a> ModeReader<'a> {
    pub(super) fn new(header: &Header<'a>, above: Vec<[Mode; 4]>) -> ModeReader<'a> {
        let Header { modes: reader, segments, has_coefficients, .. } = *header;
        ModeReader { reader, segments, has_coefficients, above, left: [Mode::Dc; 4] }
    }

    /// Whether the modes end before those that were read.
    pub(super) fn is_over(&self) -> bool {
        self.reader.is_over
    }

    /// The modes of the next macroblock, which is in this column.
    pub(super) fn read(&mut self, column: usize) -> Modes {
        // A local copy, so that the compiler keeps it in registers.
        let mut own = self.reader;
        let reader = &mut own;
        let segment = self.segments.map_or(
            0,
            |[first, low, high]| {
                if reader.is(first) { 2 + reader.bit(high) } else { reader.bit(low) }
            },
        ) as usize;
        let has_coefficients = !self.has_coefficients.is_some_and(|probability| reader.is(probability));
        if column == 0 {
            self.left = [Mode::Dc; 4];
        }
        let above = &mut self.above[column];
        let brightness = if reader.is(145) {
            let mode = if reader.is(156) {
                if reader.is(128) { Mode::TrueMotion } else { Mode::Horizontal }
            } else if reader.is(163) {
                Mode::Vertical
            } else {
                Mode::Dc
            };
            (*above, self.left) = ([mode; 4], [mode; 4]);
            Brightness::Whole(mode)
        } else {
            let mut modes = [[Mode::Dc; 4]; 4];
            for (row, left) in modes.iter_mut().zip(&mut self.left) {
                for (mode, above) in row.iter_mut().zip(above.iter_mut()) {
                    *mode = block_mode(reader, &BLOCK_MODES[*above as usize][*left as usize]);
                    (*above, *left) = (*mode, *mode);
                }
            }
            Brightness::Blocks(modes)
        };
        let color = if !reader.is(142) {
            Mode::Dc
        } else if !reader.is(114) {
            Mode::Vertical
        } else if reader.is(183) {
            Mode::TrueMotion
        } else {
            Mode::Horizontal
        };
        self.reader = own;
        Modes { segment, has_coefficients, brightness, color }
    }
}

#[inline(always)]
fn block_mode(reader: &mut Reader<'_>, branches: &[u8; 9]) -> Mode {
    let mut is = |branch: usize| reader.is(branches[branch]);
    if !is(0) {
        Mode::Dc
    } else if !is(1) {
        Mode::TrueMotion
    } else if !is(2) {
        Mode::Vertical
    } else if !is(3) {
        if !is(4) {
            Mode::Horizontal
        } else if !is(5) {
            Mode::RightDown
        } else {
            Mode::VerticalRight
        }
    } else if !is(6) {
        Mode::LeftDown
    } else if !is(7) {
        Mode::VerticalLeft
    } else if !is(8) {
        Mode::HorizontalDown
    } else {
        Mode::HorizontalUp
    }
}

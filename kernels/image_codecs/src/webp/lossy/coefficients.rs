//! The coefficients of macroblocks (RFC 6386, section 13).

use super::header::{ByPlace, Steps};
use super::predict::Block;
use super::reader::Reader;
use super::tables::ZIGZAG;
use super::transform::{self, means};

/// What is known of a block's coefficients.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Content {
    /// All are 0.
    #[default]
    Nothing,
    /// All but the first are 0.
    Mean,
    /// All but the first three that are coded are 0.
    Few,
    Any,
}

/// The 16 blocks of brightness of a macroblock, and four of each of the two differences of colour.
pub(super) struct Blocks {
    coefficients: [[i16; 16]; 24],
    contents: [Content; 24],
}

/// Which of the blocks at an edge of a macroblock have coefficients.
#[derive(Clone, Copy, Default)]
pub(super) struct Edge {
    brightness: [bool; 4],
    colors: [[bool; 2]; 2],
    means: bool,
}

impl Edge {
    /// The edge of a macroblock without coefficients. `means` is kept if blocks have modes of their own: such a macroblock has no block of
    /// means.
    pub(super) fn clear(&mut self, has_block_modes: bool) {
        *self = Edge { means: self.means && has_block_modes, ..Edge::default() };
    }
}

/// What is coded, as an index of the probabilities.
const OTHERS_THAN_MEANS: usize = 0;
const MEANS: usize = 1;
const COLORS: usize = 2;
const ALL: usize = 3;

/// Behind which branches the numbers from 11 on are: their bits, from the highest on.
const LARGE: [&[u8]; 4] = [
    &[173, 148, 140],
    &[176, 155, 140, 135],
    &[180, 157, 141, 134, 130],
    &[254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129],
];

/// A number from 2 on.
#[inline(always)]
fn magnitude(reader: &mut Reader<'_>, branches: &[u8; 11]) -> i32 {
    if !reader.is(branches[3]) {
        if reader.is(branches[4]) { 3 + reader.bit(branches[5]) } else { 2 }
    } else if !reader.is(branches[6]) {
        if reader.is(branches[7]) {
            let high = reader.bit(165);
            7 + 2 * high + reader.bit(145)
        } else {
            5 + reader.bit(159)
        }
    } else {
        let high = usize::from(reader.is(branches[8]));
        let kind = 2 * high + usize::from(reader.is(branches[9 + high]));
        let number = LARGE[kind].iter().fold(0, |number, &probability| number << 1 | reader.bit(probability));
        3 + (8 << kind) + number
    }
}

/// Reads the coefficients of a block from place `first` on; returns the place behind the last that is not 0, or `first`.
///
/// `before` is how many of the blocks above and to the left have any.
#[inline(always)]
fn read(
    reader: &mut Reader<'_>,
    probabilities: &[[[u8; 11]; 3]; 17],
    before: usize,
    steps: [i32; 2],
    first: usize,
    block: &mut [i16; 16],
) -> usize {
    let mut branches = &probabilities[first][before];
    let mut place = first;
    'block: while place < 16 && reader.is(branches[0]) {
        while !reader.is(branches[1]) {
            place += 1;
            if place == 16 {
                break 'block;
            }
            branches = &probabilities[place][0];
        }
        let next = &probabilities[place + 1];
        let number = if reader.is(branches[2]) {
            let number = magnitude(reader, branches);
            branches = &next[2];
            number
        } else {
            branches = &next[1];
            1
        };
        let sign = reader.sign();
        let signed = (number ^ sign) - sign;
        block[usize::from(ZIGZAG[place])] = (signed * steps[usize::from(place > 0)]) as i16;
        place += 1;
    }
    place
}

/// Reads a square of blocks, each of which tells those below and to the right whether it has coefficients from place `first` on.
#[inline(always)]
fn read_square<const N: usize>(
    reader: &mut Reader<'_>,
    probabilities: &[[[u8; 11]; 3]; 17],
    steps: [i32; 2],
    first: usize,
    (blocks, contents): (&mut [[i16; 16]], &mut [Content]),
    [above, left]: [&mut [bool; N]; 2],
) {
    let rows = blocks.as_chunks_mut::<N>().0.iter_mut().zip(contents.as_chunks_mut::<N>().0);
    for ((blocks, contents), left) in rows.zip(left) {
        for ((block, of_block), above) in blocks.iter_mut().zip(contents).zip(above.iter_mut()) {
            let before = usize::from(*above) + usize::from(*left);
            let end = read(reader, probabilities, before, steps, first, block);
            (*above, *left) = (end > first, end > first);
            *of_block = content(end, block);
        }
    }
}

/// The content of a block whose coefficients end before a place.
fn content(end: usize, block: &[i16; 16]) -> Content {
    match end {
        4.. => Content::Any,
        2.. => Content::Few,
        _ if block[0] != 0 => Content::Mean,
        _ => Content::Nothing,
    }
}

impl Blocks {
    pub(super) fn new() -> Blocks {
        Blocks { coefficients: [[0; 16]; 24], contents: [Content::Nothing; 24] }
    }

    /// Adds what the coefficients of a block stand for to samples.
    #[inline(always)]
    pub(super) fn add(&self, index: usize, samples: Option<&mut Block>) {
        let Some(samples) = samples else { return };
        let coefficients = &self.coefficients[index];
        match self.contents[index] {
            Content::Nothing => {}
            Content::Mean => transform::add_mean(coefficients[0], samples),
            Content::Few => transform::add_few(coefficients, samples),
            Content::Any => transform::add_transformed(coefficients, samples),
        }
    }

    /// Reads those of a macroblock; returns whether any is not 0.
    pub(super) fn read(
        &mut self,
        reader: &mut Reader<'_>,
        probabilities: &ByPlace,
        steps: &Steps,
        has_block_modes: bool,
        [above, left]: [&mut Edge; 2],
    ) -> bool {
        self.coefficients.as_flattened_mut().fill(0);
        // A local copy, so that the compiler keeps it in registers.
        let mut own = *reader;
        let (brightness, colors) = self.coefficients.split_at_mut(16);
        let (contents, color_contents) = self.contents.split_at_mut(16);
        let (first, coded) = if has_block_modes { (0, ALL) } else { (1, OTHERS_THAN_MEANS) };
        if !has_block_modes {
            let mut block = [0; 16];
            let before = usize::from(above.means) + usize::from(left.means);
            let end = read(&mut own, &probabilities[MEANS], before, steps.means, 0, &mut block);
            (above.means, left.means) = (end > 0, end > 0);
            if end > 0 {
                for (block, mean) in brightness.iter_mut().zip(means(&block)) {
                    block[0] = mean;
                }
            }
        }
        let edges = [&mut above.brightness, &mut left.brightness];
        read_square(&mut own, &probabilities[coded], steps.brightness, first, (brightness, contents), edges);
        let planes = colors.chunks_exact_mut(4).zip(color_contents.chunks_exact_mut(4));
        for (plane, (above, left)) in planes.zip(above.colors.iter_mut().zip(&mut left.colors)) {
            let (blocks, contents) = plane;
            read_square(
                &mut own,
                &probabilities[COLORS],
                steps.color,
                0,
                (&mut *blocks, &mut *contents),
                [above, left],
            );
            // libwebp transforms all four blocks in 16 bits if one has more than a mean; only sums that wrap show it.
            if contents.iter().any(|content| matches!(content, Content::Few | Content::Any)) {
                contents
                    .iter_mut()
                    .filter(|content| **content != Content::Nothing)
                    .for_each(|content| *content = Content::Any);
            }
        }
        *reader = own;
        self.contents.iter().any(|&content| content != Content::Nothing)
    }
}

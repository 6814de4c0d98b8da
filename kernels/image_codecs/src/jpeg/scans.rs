//! The symbols and bits that blocks are written as: those of sequential files, and of the scans of progressive ones. Blocks of
//! the former are in natural order, those of the latter in the order of a file.

use super::codes::{Sink, sized};
use super::header::NATURAL_ORDER;
use super::idct::Block;
use super::rows::non_zeros;

/// Which tables a component's symbols belong to: those of DC are 0 and 1, those of AC 2 and 3.
#[derive(Clone, Copy)]
pub(crate) struct Tables {
    pub(crate) dc: usize,
    pub(crate) ac: usize,
}

/// Writes a block as a whole. `last` is the mean of the component's block before.
#[inline(always)]
pub(crate) fn sequential(block: &Block, last: &mut i32, tables: Tables, sink: &mut impl Sink) {
    dc_first(block, last, 0, tables, sink);
    sink.coefficients(tables.ac, Coefficients { block, left: in_order(non_zeros(block)) & !1, last: 0 });
}

/// Where in the order of a file the bits of each four coefficients are, which are in natural order.
static PLACES: [[u64; 16]; 16] = {
    let mut places = [[0; 16]; 16];
    let mut k = 0;
    while k < 64 {
        let (four, bit) = (NATURAL_ORDER[k] as usize / 4, NATURAL_ORDER[k] % 4);
        let mut bits = 0;
        while bits < 16 {
            places[four][bits] |= (bits as u64 >> bit & 1) << k;
            bits += 1;
        }
        k += 1;
    }
    places
};

/// Brings a bit for each coefficient to the order of a file.
#[inline(always)]
fn in_order(bits: u64) -> u64 {
    PLACES.iter().enumerate().fold(0, |all, (four, places)| all | places[(bits >> (four * 4)) as usize & 15])
}

/// A block's coefficients of AC: runs of zeros, what is after them, and what says that no more follow.
struct Coefficients<'b> {
    block: &'b Block,
    /// A bit for each coefficient that is not 0 and was not met yet.
    left: u64,
    last: usize,
}

impl Iterator for Coefficients<'_> {
    type Item = (usize, i32);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, i32)> {
        if self.left == 0 {
            let ends_early = self.last < 63;
            self.last = 63;
            return ends_early.then_some((0, 0));
        }
        let k = self.left.trailing_zeros() as usize & 63;
        let run = k - self.last - 1;
        if run > 15 {
            self.last += 16;
            return Some((15, 0));
        }
        (self.left, self.last) = (self.left & (self.left - 1), k);
        Some((run, self.block[usize::from(NATURAL_ORDER[k])].into()))
    }
}

/// Writes the high bits of a block's mean.
#[inline(always)]
pub(crate) fn dc_first(block: &Block, last: &mut i32, low_bit: u8, tables: Tables, sink: &mut impl Sink) {
    let value = i32::from(block[0]) >> low_bit;
    let (size, bits) = sized(value - *last);
    *last = value;
    sink.number(tables.dc, size as u8, bits, size);
}

/// How many bits of correction are kept for the end of a run of blocks.
const MOST_CORRECTIONS: usize = 1000;

/// A scan of some coefficients of a component's blocks.
pub(crate) struct AcScan<'s, S: Sink> {
    sink: &'s mut S,
    table: usize,
    first: usize,
    last: usize,
    low_bit: u8,
    /// The blocks that end without another coefficient.
    end_run: u32,
    /// The bits that correct coefficients of those blocks.
    corrections: Vec<u8>,
}

impl<'s, S: Sink> AcScan<'s, S> {
    pub(crate) fn new(sink: &'s mut S, table: usize, [first, last]: [usize; 2], low_bit: u8) -> AcScan<'s, S> {
        AcScan { sink, table, first, last, low_bit, end_run: 0, corrections: Vec::new() }
    }

    /// Writes how many blocks have ended.
    pub(crate) fn end(&mut self) {
        if self.end_run > 0 {
            let size = self.end_run.ilog2();
            self.sink.symbol(self.table, (size << 4) as u8);
            self.sink.bits(self.end_run & ((1 << size) - 1), size);
            self.end_run = 0;
            self.corrections.drain(..).for_each(|bit| self.sink.bits(bit.into(), 1));
        }
    }

    /// Writes the high bits of a block's coefficients.
    pub(crate) fn first(&mut self, block: &Block) {
        let mut run = 0;
        for &value in &block[self.first..=self.last] {
            let value = i32::from(value);
            let magnitude = value.abs() >> self.low_bit;
            if magnitude == 0 {
                run += 1;
                continue;
            }
            self.end();
            while run > 15 {
                self.sink.symbol(self.table, 0xF0);
                run -= 16;
            }
            let (size, bits) = sized(if value < 0 { -magnitude } else { magnitude });
            self.sink.number(self.table, (run << 4) as u8 | size as u8, bits, size);
            run = 0;
        }
        if run > 0 {
            self.end_run += 1;
            if self.end_run == 0x7FFF {
                self.end();
            }
        }
    }

    /// Writes the next bit of a block's coefficients.
    pub(crate) fn refine(&mut self, block: &Block) {
        let band = &block[self.first..=self.last];
        let low_bit = self.low_bit;
        let magnitude = |value: i16| i32::from(value).abs() >> low_bit;
        // After the last coefficient that was 0 before and is not now, runs can be told by the end of the block.
        let end = band.iter().rposition(|&value| magnitude(value) == 1).unwrap_or(0);
        let mut run = 0;
        let mut corrections: Vec<u8> = Vec::new();
        for (k, &coefficient) in band.iter().enumerate() {
            let value = magnitude(coefficient);
            if value == 0 {
                run += 1;
                continue;
            }
            while run > 15 && k <= end {
                self.end();
                self.sink.symbol(self.table, 0xF0);
                run -= 16;
                corrections.drain(..).for_each(|bit| self.sink.bits(bit.into(), 1));
            }
            if value > 1 {
                corrections.push((value & 1) as u8);
                continue;
            }
            self.end();
            self.sink.symbol(self.table, (run << 4) as u8 | 1);
            self.sink.bits(u32::from(coefficient >= 0), 1);
            corrections.drain(..).for_each(|bit| self.sink.bits(bit.into(), 1));
            run = 0;
        }
        if run > 0 || !corrections.is_empty() {
            self.end_run += 1;
            self.corrections.append(&mut corrections);
            if self.end_run == 0x7FFF || self.corrections.len() > MOST_CORRECTIONS - 64 + 1 {
                self.end();
            }
        }
    }
}

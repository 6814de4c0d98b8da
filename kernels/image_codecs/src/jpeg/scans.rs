//! The symbols and bits that blocks are written as: those of sequential files, and of the scans of progressive ones.

use super::codes::Sink;
use super::header::NATURAL_ORDER;
use super::idct::Block;

/// The bits of a number's magnitude, and the number as a file holds it: negative ones as the complement of their magnitude.
#[inline(always)]
fn sized(x: i32) -> (u32, u32) {
    (32 - x.unsigned_abs().leading_zeros(), (x + (x >> 31)) as u32)
}

/// Which tables a component's symbols belong to: those of DC are 0 and 1, those of AC 2 and 3.
#[derive(Clone, Copy)]
pub(crate) struct Tables {
    pub(crate) dc: usize,
    pub(crate) ac: usize,
}

/// Writes a block as a whole. `last` is the mean of the component's block before.
pub(crate) fn sequential(block: &Block, last: &mut i32, tables: Tables, sink: &mut impl Sink) {
    dc_first(block, last, 0, tables, sink);
    let mut run = 0;
    for &at in &NATURAL_ORDER[1..64] {
        let value = i32::from(block[usize::from(at)]);
        if value == 0 {
            run += 1;
            continue;
        }
        while run > 15 {
            sink.symbol(tables.ac, 0xF0);
            run -= 16;
        }
        let (size, bits) = sized(value);
        sink.symbol(tables.ac, (run << 4) as u8 | size as u8);
        sink.bits(bits, size);
        run = 0;
    }
    if run > 0 {
        sink.symbol(tables.ac, 0);
    }
}

/// Writes the high bits of a block's mean.
pub(crate) fn dc_first(block: &Block, last: &mut i32, low_bit: u8, tables: Tables, sink: &mut impl Sink) {
    let value = i32::from(block[0]) >> low_bit;
    let (size, bits) = sized(value - *last);
    *last = value;
    sink.symbol(tables.dc, size as u8);
    sink.bits(bits, size);
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
            self.sink.bits(self.end_run, size);
            self.end_run = 0;
            self.corrections.drain(..).for_each(|bit| self.sink.bits(bit.into(), 1));
        }
    }

    /// Writes the high bits of a block's coefficients.
    pub(crate) fn first(&mut self, block: &Block) {
        let mut run = 0;
        for &at in &NATURAL_ORDER[self.first..=self.last] {
            let value = i32::from(block[usize::from(at)]);
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
            self.sink.symbol(self.table, (run << 4) as u8 | size as u8);
            self.sink.bits(bits, size);
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
        let order = &NATURAL_ORDER[self.first..=self.last];
        let magnitude = |at: u8| i32::from(block[usize::from(at)]).abs() >> self.low_bit;
        // After the last coefficient that was 0 before and is not now, runs can be told by the end of the block.
        let end = order.iter().rposition(|&at| magnitude(at) == 1).unwrap_or(0);
        let mut run = 0;
        let mut corrections: Vec<u8> = Vec::new();
        for (k, &at) in order.iter().enumerate() {
            let value = i32::from(block[usize::from(at)]).abs() >> self.low_bit;
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
            self.sink.bits(u32::from(block[usize::from(at)] >= 0), 1);
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

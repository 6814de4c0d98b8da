//! Huffman codes, and bits of coded data, as libjpeg reads them: also when the data are cut or broken.

use super::header::HuffmanCode;
use super::source::{Read, Source, Stop};

const LOOK_AHEAD: u32 = 8;

/// A Huffman code that is laid out for decoding.
#[derive(Clone)]
pub(crate) struct Decoder {
    symbols: [u8; 256],
    /// The greatest code of each length, or -1; after the longest one that ends any search.
    greatest: [i32; 18],
    /// What added to a code of a length is the index of its symbol.
    offsets: [i32; 18],
    /// Of the next eight bits the length of their code, or more than there are, and the symbol.
    ahead: [(u8, u8); 1 << LOOK_AHEAD],
    /// Of the next bits the coefficient that they are, if they are a whole one.
    whole: [Whole; 1 << WHOLE_BITS],
}

const WHOLE_BITS: u32 = 10;

/// A coefficient whose code and number are short together.
#[derive(Clone, Copy, Default)]
struct Whole {
    /// How many bits it takes, or 0 if the bits are none.
    bits: u8,
    skipped: u8,
    value: i16,
}

impl Decoder {
    /// Lays out a code.
    ///
    /// # Errors
    /// If it is no code, or one of differences of DC that has symbols above 15.
    pub(crate) fn new(code: Option<&HuffmanCode>, is_dc: bool) -> Read<Decoder> {
        let code = code.ok_or(Stop::Error("a Huffman code is missing"))?;
        let wrong = Stop::Error("a Huffman code is wrong");
        let mut decoder = Decoder {
            symbols: code.symbols,
            greatest: [-1; 18],
            offsets: [0; 18],
            ahead: [(LOOK_AHEAD as u8 + 1, 0); 1 << LOOK_AHEAD],
            whole: [Whole::default(); 1 << WHOLE_BITS],
        };
        decoder.greatest[17] = 0xF_FFFF;
        let (mut next, mut index) = (0i32, 0usize);
        for length in 1..=16u32 {
            let count = usize::from(code.lengths[length as usize - 1]);
            if index + count > 256 {
                return Err(wrong);
            }
            if count > 0 {
                decoder.offsets[length as usize] = index as i32 - next;
                for symbol in &code.symbols[index..index + count] {
                    if is_dc && *symbol > 15 {
                        return Err(wrong);
                    }
                    if length <= LOOK_AHEAD {
                        let first = (next as usize) << (LOOK_AHEAD - length);
                        let Some(places) = decoder.ahead.get_mut(first..first + (1 << (LOOK_AHEAD - length))) else {
                            return Err(wrong);
                        };
                        places.fill((length as u8, *symbol));
                    }
                    next += 1;
                }
                index += count;
                decoder.greatest[length as usize] = next - 1;
                // No code is all ones.
                if next >= 1 << length {
                    return Err(wrong);
                }
            }
            next <<= 1;
        }
        for (bits, whole) in (0..).zip(&mut decoder.whole) {
            let (length, symbol) = decoder.ahead[bits >> (WHOLE_BITS - LOOK_AHEAD)];
            let (length, size) = (u32::from(length), u32::from(symbol & 15));
            if length <= LOOK_AHEAD && size > 0 && length + size <= WHOLE_BITS {
                let number = bits >> (WHOLE_BITS - length - size) & ((1 << size) - 1);
                let value = extended(number as i32, size) as i16;
                *whole = Whole { bits: (length + size) as u8, skipped: symbol >> 4, value };
            }
        }
        Ok(decoder)
    }
}

impl Decoder {
    /// The symbol of a code of this length; 0 if there is none.
    #[inline(always)]
    fn long(&self, code: i32, length: u32) -> u8 {
        if length > 16 { 0 } else { self.symbols[(code + self.offsets[length as usize]) as usize & 255] }
    }
}

/// What follows in a block: how many coefficients stay 0, and the one after them, which is 0 as well if they are all of a long run
/// or of the block's end.
pub(crate) type Coefficient = (usize, i16);

/// What skips the rest of a block.
const REST: Coefficient = (64, 0);

/// What reads symbols and numbers.
pub(crate) trait Reader {
    /// The next symbol of a code; 0 if the bits are none.
    fn symbol(&mut self, decoder: &Decoder) -> Read<u8>;

    /// The next `count` bits, up to 16.
    fn get(&mut self, count: u32) -> Read<i32>;

    /// The difference of a mean from the one before it.
    #[inline(always)]
    fn difference(&mut self, decoder: &Decoder) -> Read<i32> {
        let size = u32::from(self.symbol(decoder)?);
        Ok(if size > 0 { extended(self.get(size)?, size) } else { 0 })
    }

    /// The next bit, whatever was read before it.
    #[inline(always)]
    fn bit(&mut self) -> Read<bool> {
        Ok(self.get(1)? == 1)
    }

    /// The next coefficient of AC with what is skipped before it, if that is quicker to tell than by its symbol.
    #[inline(always)]
    fn short(&mut self, _: &Decoder) -> Option<Coefficient> {
        None
    }

    /// The next coefficient of AC.
    #[inline(always)]
    fn coefficient(&mut self, decoder: &Decoder) -> Read<Coefficient> {
        let symbol = self.symbol(decoder)?;
        let (run, size) = (usize::from(symbol >> 4), u32::from(symbol & 15));
        Ok(match (run, size) {
            (15, 0) => (15, 0),
            (_, 0) => REST,
            _ => (run, extended(self.get(size)?, size) as i16),
        })
    }
}

/// The sign of a number of `size` bits is in its first bit.
#[inline(always)]
pub(crate) fn extended(bits: i32, size: u32) -> i32 {
    if bits < 1 << (size - 1) { bits + (-1 << size) + 1 } else { bits }
}

/// What was read of coded data and not used yet.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bits {
    buffer: u64,
    left: u32,
    /// Whether the data ended before they should have; zeros follow then.
    pub(crate) is_exhausted: bool,
}

impl Bits {
    #[inline(always)]
    fn take(&mut self, count: u32) -> i32 {
        self.left -= count;
        (self.buffer >> self.left) as i32 & ((1 << count) - 1)
    }

    /// The next bits, which stay.
    #[inline(always)]
    fn ahead(&self, count: u32) -> usize {
        (self.buffer >> (self.left - count)) as usize & ((1 << count) - 1)
    }

    /// Drops what was read and not used.
    pub(crate) fn clear(&mut self) {
        (self.buffer, self.left) = (0, 0);
    }
}

/// How many bits there are at least after bytes were read.
const ENOUGH: u32 = 64 - 7;

/// Coded data, bit by bit, wherever they end.
pub(crate) struct BitReader<'s, 'a> {
    pub(crate) source: &'s mut Source<'a>,
    pub(crate) bits: Bits,
}

impl BitReader<'_, '_> {
    /// Reads bytes until there are many bits, or at least `needed` where a marker follows.
    #[inline(never)]
    fn fill(&mut self, needed: u32) -> Read<()> {
        if self.source.marker == 0 {
            while self.bits.left < ENOUGH {
                let mut byte = self.source.byte()?;
                if byte == 0xFF {
                    while byte == 0xFF {
                        byte = self.source.byte()?;
                    }
                    if byte != 0 {
                        self.source.marker = byte;
                        return self.fill(needed);
                    }
                    byte = 0xFF;
                }
                self.bits.buffer = self.bits.buffer << 8 | u64::from(byte);
                self.bits.left += 8;
            }
        } else if needed > self.bits.left {
            self.bits.is_exhausted = true;
            self.bits.buffer <<= ENOUGH - self.bits.left;
            self.bits.left = ENOUGH;
        }
        Ok(())
    }

    #[inline(always)]
    fn need(&mut self, count: u32) -> Read<()> {
        if self.bits.left < count { self.fill(count) } else { Ok(()) }
    }

    /// A symbol whose code has at least `length` bits.
    #[inline(never)]
    fn long_symbol(&mut self, decoder: &Decoder, mut length: u32) -> Read<u8> {
        self.need(length)?;
        let mut code = self.bits.take(length);
        while code > decoder.greatest[length as usize] {
            self.need(1)?;
            code = code << 1 | self.bits.take(1);
            length += 1;
        }
        Ok(decoder.long(code, length))
    }
}

impl Reader for BitReader<'_, '_> {
    #[inline(always)]
    fn get(&mut self, count: u32) -> Read<i32> {
        self.need(count)?;
        Ok(self.bits.take(count))
    }

    #[inline(always)]
    fn symbol(&mut self, decoder: &Decoder) -> Read<u8> {
        if self.bits.left < LOOK_AHEAD {
            self.fill(0)?;
            if self.bits.left < LOOK_AHEAD {
                return self.long_symbol(decoder, 1);
            }
        }
        let (length, symbol) = decoder.ahead[self.bits.ahead(LOOK_AHEAD)];
        if u32::from(length) <= LOOK_AHEAD {
            self.bits.left -= u32::from(length);
            return Ok(symbol);
        }
        self.long_symbol(decoder, LOOK_AHEAD + 1)
    }
}

/// How many bytes must be left for a block to be read by a [`FastReader`].
pub(crate) const FAST_BYTES: usize = 64 * 8;

/// Coded data of which enough bytes are left, so that nobody looks for their end. A marker among them is noted, and what was read
/// since is not to be used.
pub(crate) struct FastReader<'a> {
    rest: &'a [u8],
    at: usize,
    marker: u8,
    bits: Bits,
}

impl<'a> FastReader<'a> {
    pub(crate) fn new(source: &Source<'a>, bits: Bits) -> FastReader<'a> {
        FastReader { rest: source.rest(), at: 0, marker: 0, bits }
    }

    /// Whether enough bytes are left for a block, where `after` are not to be read.
    pub(crate) fn has_enough(&self, after: usize) -> bool {
        self.rest.len() - self.at >= after + FAST_BYTES
    }

    /// How many bytes were read, and the bits of them that were not used; nothing if a marker was met.
    pub(crate) fn end(self) -> Option<(usize, Bits)> {
        (self.marker == 0).then_some((self.at, self.bits))
    }

    /// Makes sure of the bits of a symbol and a number, which are 32 at most.
    #[inline(always)]
    fn fill(&mut self) {
        if self.bits.left >= 32 {
            return;
        }
        if let Some(&bytes) = self.rest.get(self.at..).and_then(|rest| rest.first_chunk())
            && !has_byte_of_ones(u32::from_be_bytes(bytes))
        {
            self.bits.buffer = self.bits.buffer << 32 | u64::from(u32::from_be_bytes(bytes));
            self.bits.left += 32;
            self.at += 4;
            return;
        }
        (self.bits, self.at, self.marker) = with_stuffing(self.rest, self.at, self.marker, self.bits);
    }
}

/// Whether one of four bytes is 0xFF.
#[inline(always)]
pub(crate) fn has_byte_of_ones(x: u32) -> bool {
    x & (!x).wrapping_sub(0x0101_0101) & 0x8080_8080 != 0
}

/// Four bytes, with the zeros left out that follow bytes of ones. By value, so that the reader stays in registers.
#[inline(never)]
fn with_stuffing(rest: &[u8], mut at: usize, mut marker: u8, mut bits: Bits) -> (Bits, usize, u8) {
    for _ in 0..4 {
        let [byte, next] = [at, at + 1].map(|at| rest.get(at).copied().unwrap_or(0));
        bits.buffer = bits.buffer << 8 | u64::from(byte);
        bits.left += 8;
        if byte != 0xFF {
            at += 1;
        } else if next == 0 {
            at += 2;
        } else {
            marker = next;
            bits.buffer &= !0xFF;
        }
    }
    (bits, at.min(rest.len()), marker)
}

/// As [`BitReader::long_symbol`], of bits that are there.
#[inline(never)]
fn long_symbol(decoder: &Decoder, mut bits: Bits) -> (u8, Bits) {
    let mut length = LOOK_AHEAD + 1;
    let mut code = bits.take(length);
    while code > decoder.greatest[length as usize] {
        code = code << 1 | bits.take(1);
        length += 1;
    }
    (decoder.long(code, length), bits)
}

impl Reader for FastReader<'_> {
    #[inline(always)]
    fn symbol(&mut self, decoder: &Decoder) -> Read<u8> {
        self.fill();
        let (length, symbol) = decoder.ahead[self.bits.ahead(LOOK_AHEAD)];
        if u32::from(length) <= LOOK_AHEAD {
            self.bits.left -= u32::from(length);
            return Ok(symbol);
        }
        let symbol;
        (symbol, self.bits) = long_symbol(decoder, self.bits);
        Ok(symbol)
    }

    /// The number of a symbol, whose bits were read with it.
    #[inline(always)]
    fn get(&mut self, count: u32) -> Read<i32> {
        Ok(self.bits.take(count))
    }

    #[inline(always)]
    fn bit(&mut self) -> Read<bool> {
        self.fill();
        self.get(1).map(|bit| bit == 1)
    }

    #[inline(always)]
    fn short(&mut self, decoder: &Decoder) -> Option<Coefficient> {
        self.fill();
        let whole = decoder.whole[self.bits.ahead(WHOLE_BITS)];
        self.bits.left -= u32::from(whole.bits);
        (whole.bits > 0).then_some((usize::from(whole.skipped), whole.value))
    }

    #[inline(always)]
    fn coefficient(&mut self, decoder: &Decoder) -> Read<Coefficient> {
        if let Some(coefficient) = self.short(decoder) {
            return Ok(coefficient);
        }
        let symbol = self.symbol(decoder)?;
        let (run, size) = (usize::from(symbol >> 4), u32::from(symbol & 15));
        Ok(match (run, size) {
            (15, 0) => (15, 0),
            (_, 0) => REST,
            _ => (run, extended(self.get(size)?, size) as i16),
        })
    }
}

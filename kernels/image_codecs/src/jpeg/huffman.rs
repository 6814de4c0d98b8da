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
        Ok(decoder)
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
    /// Drops what was read and not used.
    pub(crate) fn clear(&mut self) {
        (self.buffer, self.left) = (0, 0);
    }
}

/// How many bits there are at least after bytes were read.
const ENOUGH: u32 = 64 - 7;

/// How many bytes must be left for a block to be read without a look at their end.
pub(crate) const FAST_BYTES: usize = 64 * 8;

/// Coded data, bit by bit. With `FAST` the caller knows that enough bytes are left; a marker among them is then noted as
/// [`Source::marker`], and what was read since is not to be used.
pub(crate) struct BitReader<'s, 'a, const FAST: bool> {
    pub(crate) source: &'s mut Source<'a>,
    pub(crate) bits: Bits,
}

impl<const FAST: bool> BitReader<'_, '_, FAST> {
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

    /// Reads six bytes if few bits are left.
    #[inline(always)]
    fn fill_fast(&mut self) {
        if self.bits.left > 16 {
            return;
        }
        let rest = self.source.rest();
        if let Some(&[a, b, c, d, e, f]) = rest.first_chunk::<6>()
            && ![a, b, c, d, e, f].contains(&0xFF)
        {
            let bytes = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
            self.bits.buffer = self.bits.buffer << 48 | bytes;
            self.bits.left += 48;
            self.source.advance(6);
            return;
        }
        self.fill_with_stuffing();
    }

    #[inline(never)]
    fn fill_with_stuffing(&mut self) {
        let rest = self.source.rest();
        let mut at = 0;
        for _ in 0..6 {
            let [byte, next] = [at, at + 1].map(|at| rest.get(at).copied().unwrap_or(0));
            self.bits.buffer = self.bits.buffer << 8 | u64::from(byte);
            self.bits.left += 8;
            if byte != 0xFF {
                at += 1;
            } else if next == 0 {
                at += 2;
            } else {
                self.source.marker = next;
                self.bits.buffer &= !0xFF;
            }
        }
        self.source.advance(at.min(rest.len()));
    }

    /// Makes sure of `count` bits, up to 16.
    #[inline(always)]
    fn need(&mut self, count: u32) -> Read<()> {
        if FAST {
            self.fill_fast();
        } else if self.bits.left < count {
            self.fill(count)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn take(&mut self, count: u32) -> i32 {
        self.bits.left -= count;
        (self.bits.buffer >> self.bits.left) as i32 & ((1 << count) - 1)
    }

    /// The next `count` bits, up to 16.
    #[inline(always)]
    pub(crate) fn get(&mut self, count: u32) -> Read<i32> {
        self.need(count)?;
        Ok(self.take(count))
    }

    /// The next symbol of a code; 0 if the bits are none.
    #[inline(always)]
    pub(crate) fn symbol(&mut self, decoder: &Decoder) -> Read<u8> {
        if FAST {
            self.fill_fast();
        } else if self.bits.left < LOOK_AHEAD {
            self.fill(0)?;
            if self.bits.left < LOOK_AHEAD {
                return self.long_symbol(decoder, 1);
            }
        }
        let next = (self.bits.buffer >> (self.bits.left - LOOK_AHEAD)) as usize & ((1 << LOOK_AHEAD) - 1);
        let (length, symbol) = decoder.ahead[next];
        if u32::from(length) <= LOOK_AHEAD {
            self.bits.left -= u32::from(length);
            return Ok(symbol);
        }
        self.long_symbol(decoder, LOOK_AHEAD + 1)
    }

    /// A symbol whose code has at least `length` bits.
    #[inline(never)]
    fn long_symbol(&mut self, decoder: &Decoder, mut length: u32) -> Read<u8> {
        if !FAST {
            self.need(length)?;
        }
        let mut code = self.take(length);
        while code > decoder.greatest[length as usize] {
            if !FAST {
                self.need(1)?;
            }
            code = code << 1 | self.take(1);
            length += 1;
        }
        if length > 16 {
            return Ok(0);
        }
        Ok(decoder.symbols[(code + decoder.offsets[length as usize]) as usize & 255])
    }
}

//! The coding of a frame's pixels (Welch, Computer 17(6), 1984), decoded as giflib does it, also where the codes make no sense.

use super::{Broken, Reader};

/// Codes have this many bits at most.
const MOST_BITS: u32 = 12;

/// The number of codes.
const CODES: usize = 1 << MOST_BITS;

/// A place in the table that holds no code.
const NONE: u16 = 4098;

/// Decodes the pixels of a frame.
pub(super) struct Pixels<'a> {
    code_size: u32,
    clear: u16,
    /// What a code stands for: another code and a pixel after it.
    prefixes: [u16; CODES],
    suffixes: [u8; CODES],
    /// Pixels that were decoded and not asked for, the next one last.
    stack: Vec<u8>,
    last: u16,
    /// The number of codes so far.
    running: u32,
    bits: u32,
    limit: u32,
    buffer: u32,
    filled: u32,
    block: &'a [u8],
}

impl<'a> Pixels<'a> {
    pub(super) fn new(code_size: u8) -> Pixels<'a> {
        let code_size = u32::from(code_size);
        let clear = 1 << code_size;
        Pixels {
            code_size,
            clear,
            prefixes: [NONE; CODES],
            suffixes: [0; CODES],
            stack: Vec::new(),
            last: NONE,
            running: u32::from(clear) + 2,
            bits: code_size + 1,
            limit: 2 << code_size,
            buffer: 0,
            filled: 0,
            block: &[],
        }
    }

    fn code(&mut self, reader: &mut Reader<'a>) -> Result<u16, Broken> {
        while self.filled < self.bits {
            if self.block.is_empty() {
                self.block = reader.block()?.ok_or("the data of a frame end early")?;
            }
            self.buffer |= u32::from(self.block[0]) << self.filled;
            self.block = &self.block[1..];
            self.filled += 8;
        }
        let code = self.buffer & ((1 << self.bits) - 1);
        self.buffer >>= self.bits;
        self.filled -= self.bits;
        if self.running < CODES as u32 + 1 {
            self.running += 1;
            if self.running > self.limit && self.bits < MOST_BITS {
                self.limit <<= 1;
                self.bits += 1;
            }
        }
        Ok(code as u16)
    }

    /// The first pixel that a code stands for.
    fn first_pixel(&self, mut code: u16) -> u8 {
        for _ in 0..=CODES {
            if code <= self.clear {
                break;
            }
            match self.prefixes.get(usize::from(code)) {
                Some(&prefix) => code = prefix,
                None => break,
            }
        }
        code as u8
    }

    /// Decodes as many pixels as there is room for.
    pub(super) fn fill(&mut self, reader: &mut Reader<'a>, out: &mut [u8]) -> Result<(), Broken> {
        let mut at = 0;
        while at < out.len() {
            if let Some(pixel) = self.stack.pop() {
                out[at] = pixel;
                at += 1;
                continue;
            }
            let code = self.code(reader)?;
            if code == self.clear + 1 {
                return Err("the data of a frame end early");
            }
            if code == self.clear {
                self.prefixes.fill(NONE);
                self.running = u32::from(self.clear) + 2;
                self.bits = self.code_size + 1;
                self.limit = 1 << self.bits;
                self.last = NONE;
                continue;
            }
            // The place of the code that this one completes.
            let next = (self.running - 2) as usize;
            if code < self.clear {
                out[at] = code as u8;
                at += 1;
            } else {
                self.push(code, next)?;
            }
            if self.last != NONE && next < CODES && self.prefixes[next] == NONE {
                self.prefixes[next] = self.last;
                self.suffixes[next] = self.first_pixel(if usize::from(code) == next { self.last } else { code });
            }
            self.last = code;
        }
        Ok(())
    }

    /// Puts the pixels that a code stands for on the stack.
    fn push(&mut self, code: u16, next: usize) -> Result<(), Broken> {
        let mut prefix = code;
        if self.prefixes[usize::from(code)] == NONE {
            prefix = self.last;
            let pixel = self.first_pixel(if usize::from(code) == next { self.last } else { code });
            if let Some(suffix) = self.suffixes.get_mut(next) {
                *suffix = pixel;
            }
            self.stack.push(pixel);
        }
        while self.stack.len() < CODES - 1 && prefix > self.clear && usize::from(prefix) < CODES {
            self.stack.push(self.suffixes[usize::from(prefix)]);
            prefix = self.prefixes[usize::from(prefix)];
        }
        if self.stack.len() >= CODES - 1 || usize::from(prefix) >= CODES {
            return Err("the data of a frame are broken");
        }
        self.stack.push(prefix as u8);
        Ok(())
    }
}

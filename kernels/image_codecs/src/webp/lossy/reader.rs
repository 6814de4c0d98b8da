//! The decisions of VP8's arithmetic code (RFC 6386, section 7).

/// Reads decisions, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    /// Bits of the code that are not used up, in the lowest places.
    value: u64,
    /// How many of them there are behind the eight that the next decision depends on.
    bits: i32,
    /// The range of the code, less 1.
    range: u32,
    rest: &'a [u8],
    /// Whether a bit behind the end was needed; decisions mean nothing then. Like libwebp, the reader first supplies eight zero bits, and
    /// sets this when it does.
    pub(super) is_over: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(code: &'a [u8]) -> Reader<'a> {
        let mut reader = Reader { value: 0, bits: -8, range: 254, rest: code, is_over: false };
        reader.load();
        reader
    }

    #[inline(always)]
    fn load(&mut self) {
        if let Some(bytes) = self.rest.first_chunk() {
            let seven = u64::from_be_bytes(*bytes) >> 8;
            self.value = self.value << 56 | seven;
            self.bits += 56;
            self.rest = &self.rest[7..];
        } else {
            *self = self.with_last();
        }
    }

    /// Takes one of the last bytes. By value, so that a reader can be kept in registers.
    #[cold]
    #[inline(never)]
    fn with_last(mut self) -> Reader<'a> {
        if let [byte, rest @ ..] = self.rest {
            self.value = self.value << 8 | u64::from(*byte);
            self.bits += 8;
            self.rest = rest;
        } else if !self.is_over {
            self.value <<= 8;
            self.bits += 8;
            self.is_over = true;
        } else {
            self.bits = 0;
        }
        self
    }

    /// A decision that is `false` in so many of 256 cases.
    #[inline(always)]
    pub(super) fn is(&mut self, probability: u8) -> bool {
        if self.bits < 0 {
            self.load();
        }
        let split = (self.range * u32::from(probability)) >> 8;
        let is = self.window() > split;
        let range = if is { self.subtract(split) } else { split + 1 };
        let shift = 7 ^ (range | 1).ilog2();
        self.bits -= shift as i32;
        self.range = (range << shift) - 1;
        is
    }

    /// What the next decision depends on: below the range, unless the code is none that an encoder writes.
    #[inline(always)]
    fn window(&self) -> u32 {
        (self.value >> self.bits) as u32
    }

    /// Leaves out what is below the upper part of the range; returns how large that is.
    #[inline(always)]
    fn subtract(&mut self, split: u32) -> u32 {
        self.value = self.value.wrapping_sub(u64::from(split + 1) << self.bits);
        self.range - split
    }

    /// A sign: all bits of the number are set if `is(128)`, unless the code is none that an encoder writes. There is no branch, which could
    /// not be foreseen.
    #[inline(always)]
    pub(super) fn sign(&mut self) -> i32 {
        if self.bits < 0 {
            self.load();
        }
        let split = self.range >> 1;
        let sign = (split.wrapping_sub(self.window()) as i32) >> 31;
        self.value = self.value.wrapping_sub(u64::from((split + 1) & sign as u32) << self.bits);
        self.bits -= 1;
        self.range = self.range.wrapping_add(sign as u32) | 1;
        sign
    }

    /// [`Reader::is`] as a number.
    #[inline(always)]
    pub(super) fn bit(&mut self, probability: u8) -> i32 {
        self.is(probability).into()
    }

    /// A decision that is as likely as not.
    pub(super) fn flag(&mut self) -> bool {
        self.is(128)
    }

    /// A number of so many bits.
    pub(super) fn number(&mut self, bits: u32) -> i32 {
        (0..bits).fold(0, |number, _| number << 1 | self.bit(128))
    }

    /// A number of so many bits that may be negative, or 0 if there is none.
    pub(super) fn optional(&mut self, bits: u32) -> i32 {
        if self.flag() { self.signed(bits) } else { 0 }
    }

    /// A number of so many bits, and its sign.
    pub(super) fn signed(&mut self, bits: u32) -> i32 {
        let number = self.number(bits);
        if self.flag() { -number } else { number }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_is_a_decision_that_is_as_likely_as_not() {
        let code: Vec<u8> = (0..400).map(|k: u32| (k * k / 7 + k) as u8 & 0x7F).collect();
        let (mut signs, mut decisions) = (Reader::new(&code), Reader::new(&code));
        for k in 0..3000 {
            // Something else in between, so that the range changes.
            let probability = (k * 37 % 255 + 1) as u8;
            assert_eq!(signs.is(probability), decisions.is(probability), "{k}");
            assert_eq!(signs.sign(), -decisions.bit(128), "{k}");
        }
        assert!(signs.is_over && decisions.is_over);
    }

    #[test]
    fn a_reader_is_over_once_a_decision_needs_bits_behind_the_end() {
        for count in [0, 1, 2, 7, 8, 9, 16, 40_i64] {
            let code = vec![0; count as usize];
            let mut reader = Reader::new(&code);
            for decision in 0..8 * count + 30 {
                assert!(!reader.flag());
                // The first of these decisions uses no bit up, and each of the others one. A decision needs the next eight.
                let used_before = (decision - 1).max(0);
                assert_eq!(reader.is_over, used_before + 8 > 8 * count, "{decision} of {count} bytes");
            }
        }
    }
}

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
    /// Whether more was read than there is; decisions mean nothing then. As libwebp does, eight bits behind the end are 0 before that.
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
        let is = self.next() > split;
        let range = if is { self.take(split) } else { split + 1 };
        let shift = 7 ^ (range | 1).ilog2();
        self.bits -= shift as i32;
        self.range = (range << shift) - 1;
        is
    }

    /// What the next decision depends on: below the range, unless the code is none that an encoder writes.
    #[inline(always)]
    fn next(&self) -> u32 {
        (self.value >> self.bits) as u32
    }

    /// Leaves out what is below the upper part of the range; returns how large that is.
    #[inline(always)]
    fn take(&mut self, split: u32) -> u32 {
        self.value = self.value.wrapping_sub(u64::from(split + 1) << self.bits);
        self.range - split
    }

    /// A sign: `is(128)`, unless the code is none that an encoder writes.
    #[inline(always)]
    pub(super) fn is_negative(&mut self) -> bool {
        if self.bits < 0 {
            self.load();
        }
        let split = self.range >> 1;
        let is = (split.wrapping_sub(self.next()) as i32) < 0;
        let range = if is { self.take(split) } else { split + 1 };
        self.bits -= 1;
        self.range = 2 * range - 1;
        is
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

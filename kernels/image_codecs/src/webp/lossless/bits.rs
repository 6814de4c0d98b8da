//! The bits of a lossless picture, the lowest of each byte first.

/// Reads bits as libwebp's `VP8LBitReader` does, up to what it takes for bits behind the end: some files that are cut off are decoded.
/// The end is that of the last eight bytes, or, of data that is shorter, of eight bytes of which the last are 0.
#[derive(Clone, Copy)]
pub(super) struct Bits<'a> {
    /// Eight bytes of the data, the last of them 0 if there are not as many.
    value: u64,
    /// Bits of them that are used up: more than 64 if the end was passed, and what is read means nothing then.
    used: u32,
    rest: &'a [u8],
    /// Whether it was noticed that the end was passed, which is not looked at each time.
    has_ended: bool,
}

/// Once so many bits are used up, as many are loaded.
const WINDOW: u32 = 32;

impl<'a> Bits<'a> {
    pub(super) fn new(data: &'a [u8]) -> Bits<'a> {
        let (first, rest) = data.split_at(data.len().min(8));
        let mut bytes = [0; 8];
        bytes[..first.len()].copy_from_slice(first);
        Bits { value: u64::from_le_bytes(bytes), used: 0, rest, has_ended: false }
    }

    /// Whether more bits were used up than there are.
    #[inline(always)]
    pub(super) fn is_over(&self) -> bool {
        self.has_ended || self.rest.is_empty() && self.used > u64::BITS
    }

    /// Notices that the end was passed, if it was. Numbers are 0 from then on; symbols of codes are still read.
    pub(super) fn note_end(&mut self) {
        self.has_ended = self.is_over();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The next bits, of which 32 mean something behind [`Bits::fill`] unless the end is near.
    #[inline(always)]
    pub(super) fn peek(&self) -> u32 {
        self.value.wrapping_shr(self.used) as u32
    }

    #[inline(always)]
    pub(super) fn skip(&mut self, count: u32) {
        self.used += count;
    }

    #[inline(always)]
    pub(super) fn fill(&mut self) {
        if self.used < WINDOW {
            return;
        }
        match self.rest {
            [a, b, c, d, _, ..] if self.rest.len() > 8 => {
                self.value = self.value >> WINDOW | u64::from(u32::from_le_bytes([*a, *b, *c, *d])) << WINDOW;
                self.used -= WINDOW;
                self.rest = &self.rest[4..];
            }
            _ => *self = self.filled(),
        }
    }

    /// With as many bytes as there is room for. By value, so that what is read from can be kept in registers.
    #[inline(never)]
    fn filled(mut self) -> Bits<'a> {
        while let ([byte, rest @ ..], 8..) = (self.rest, self.used) {
            self.value = self.value >> 8 | u64::from(*byte) << 56;
            self.used -= 8;
            self.rest = rest;
        }
        if self.is_over() {
            self.has_ended = true;
            self.used = 0;
        }
        self
    }

    /// A number of at most 24 bits; 0 behind the end.
    #[inline(always)]
    pub(super) fn number(&mut self, bits: u32) -> u32 {
        if self.has_ended {
            self.used = 0;
            return 0;
        }
        let number = self.peek() & ((1 << bits) - 1);
        self.used += bits;
        if self.rest.len() > 8 {
            self.fill();
        } else {
            *self = self.filled();
        }
        number
    }

    pub(super) fn flag(&mut self) -> bool {
        self.number(1) == 1
    }
}

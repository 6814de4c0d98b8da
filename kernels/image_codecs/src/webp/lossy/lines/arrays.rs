//! The operations one by one.

use super::Lines;

/// Sixteen samples, or numbers from -128 to 127.
#[derive(Clone, Copy)]
pub(crate) struct Line([u8; 16]);

impl Line {
    pub(crate) fn load(samples: &[u8; 16]) -> Line {
        Line(*samples)
    }

    /// Eight samples and eight others.
    pub(crate) fn load_halves([low, high]: [&[u8; 8]; 2]) -> Line {
        Line(std::array::from_fn(|k| if k < 8 { low[k] } else { high[k - 8] }))
    }

    pub(crate) fn store(self, samples: &mut [u8; 16]) {
        *samples = self.0;
    }

    pub(crate) fn store_halves(self, [low, high]: [&mut [u8; 8]; 2]) {
        low.copy_from_slice(&self.0[..8]);
        high.copy_from_slice(&self.0[8..]);
    }

    fn with(self, other: Line, f: impl Fn(u8, u8) -> u8) -> Line {
        Line(std::array::from_fn(|k| f(self.0[k], other.0[k])))
    }

    fn each(self, f: impl Fn(i8) -> i8) -> Line {
        Line(self.0.map(|x| f(x as i8) as u8))
    }
}

impl Lines for Line {
    fn all(sample: u8) -> Line {
        Line([sample; 16])
    }

    fn difference(self, other: Line) -> Line {
        self.with(other, u8::abs_diff)
    }

    fn larger(self, other: Line) -> Line {
        self.with(other, u8::max)
    }

    fn at_most(self, other: Line) -> Line {
        self.with(other, |x, y| if x <= y { 0xFF } else { 0 })
    }

    fn plus(self, other: Line) -> Line {
        self.with(other, u8::saturating_add)
    }

    fn half(self) -> Line {
        self.with(self, |x, _| x >> 1)
    }

    fn and(self, other: Line) -> Line {
        self.with(other, |x, y| x & y)
    }

    fn and_not(self, other: Line) -> Line {
        self.with(other, |x, y| x & !y)
    }

    fn or(self, other: Line) -> Line {
        self.with(other, |x, y| x | y)
    }

    fn centred(self) -> Line {
        self.with(self, |x, _| x ^ 0x80)
    }

    fn moved(self, by: Line) -> Line {
        self.with(by, |x, y| (x as i8).saturating_add(y as i8) as u8)
    }

    fn moved_back(self, by: Line) -> Line {
        self.with(by, |x, y| (x as i8).saturating_sub(y as i8) as u8)
    }

    fn eighth(self) -> Line {
        self.each(|x| x >> 3)
    }

    fn signed_half(self) -> Line {
        self.each(|x| x >> 1)
    }

    fn parts(self) -> [Line; 3] {
        [27, 18, 9].map(|factor| self.each(|x| ((factor * i16::from(x) + 63) >> 7) as i8))
    }

    fn transposed(lines: [Line; 16]) -> [Line; 16] {
        std::array::from_fn(|column| Line(std::array::from_fn(|row| lines[row].0[column])))
    }
}

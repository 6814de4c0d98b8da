//! The operations one by one.

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

    pub(crate) fn all(sample: u8) -> Line {
        Line([sample; 16])
    }

    fn with(self, other: Line, f: impl Fn(u8, u8) -> u8) -> Line {
        Line(std::array::from_fn(|k| f(self.0[k], other.0[k])))
    }

    fn each(self, f: impl Fn(i8) -> i8) -> Line {
        Line(self.0.map(|x| f(x as i8) as u8))
    }

    /// How much samples differ.
    pub(crate) fn difference(self, other: Line) -> Line {
        self.with(other, u8::abs_diff)
    }

    pub(crate) fn larger(self, other: Line) -> Line {
        self.with(other, u8::max)
    }

    /// All bits of a sample that is at most another, and none of others.
    pub(crate) fn at_most(self, other: Line) -> Line {
        self.with(other, |x, y| if x <= y { 0xFF } else { 0 })
    }

    /// The sums of samples, at most 255.
    pub(crate) fn plus(self, other: Line) -> Line {
        self.with(other, u8::saturating_add)
    }

    /// Half of each sample.
    pub(crate) fn half(self) -> Line {
        self.with(self, |x, _| x >> 1)
    }

    pub(crate) fn and(self, other: Line) -> Line {
        self.with(other, |x, y| x & y)
    }

    /// What is set here and not there.
    pub(crate) fn and_not(self, other: Line) -> Line {
        self.with(other, |x, y| x & !y)
    }

    pub(crate) fn or(self, other: Line) -> Line {
        self.with(other, |x, y| x | y)
    }

    /// Samples as numbers around 0, and back.
    pub(crate) fn centred(self) -> Line {
        self.with(self, |x, _| x ^ 0x80)
    }

    /// The sums of numbers, from -128 to 127.
    pub(crate) fn moved(self, by: Line) -> Line {
        self.with(by, |x, y| (x as i8).saturating_add(y as i8) as u8)
    }

    /// The differences of numbers, from -128 to 127.
    pub(crate) fn moved_back(self, by: Line) -> Line {
        self.with(by, |x, y| (x as i8).saturating_sub(y as i8) as u8)
    }

    /// An eighth of each number, rounded down.
    pub(crate) fn eighth(self) -> Line {
        self.each(|x| x >> 3)
    }

    /// Half of each number, rounded down.
    pub(crate) fn signed_half(self) -> Line {
        self.each(|x| x >> 1)
    }

    /// 27, 18 and 9 128ths of numbers, rounded to the nearest.
    pub(crate) fn parts(self) -> [Line; 3] {
        [27, 18, 9].map(|factor| self.each(|x| ((factor * i16::from(x) + 63) >> 7) as i8))
    }
}

/// The columns of lines.
pub(crate) fn turned(lines: [Line; 16]) -> [Line; 16] {
    std::array::from_fn(|column| Line(std::array::from_fn(|row| lines[row].0[column])))
}

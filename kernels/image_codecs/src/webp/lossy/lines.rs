//! Lines of samples by sixteens, and the operations that filters are made of.

#[cfg(any(test, not(target_arch = "x86_64")))]
#[cfg_attr(target_arch = "x86_64", allow(dead_code, reason = "the tests compare with a part"))]
mod arrays;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(not(target_arch = "x86_64"))]
pub(super) use arrays::Line;
#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::{Line, WidePair};

/// Samples, or numbers from -128 to 127.
pub(super) trait Lines: Copy {
    fn all(sample: u8) -> Self;

    /// How much samples differ.
    fn difference(self, other: Self) -> Self;

    fn larger(self, other: Self) -> Self;

    /// All bits of a sample that is at most another, and none of others.
    fn at_most(self, other: Self) -> Self;

    /// The sums of samples, at most 255.
    fn plus(self, other: Self) -> Self;

    /// Half of each sample.
    fn half(self) -> Self;

    fn and(self, other: Self) -> Self;

    /// What is set here and not there.
    fn and_not(self, other: Self) -> Self;

    fn or(self, other: Self) -> Self;

    /// Samples as numbers around 0, and back.
    fn centred(self) -> Self;

    /// The sums of numbers, from -128 to 127.
    fn moved(self, by: Self) -> Self;

    /// The differences of numbers, from -128 to 127.
    fn moved_back(self, by: Self) -> Self;

    /// An eighth of each number, rounded down.
    fn eighth(self) -> Self;

    /// Half of each number, rounded down.
    fn signed_half(self) -> Self;

    /// 27, 18 and 9 128ths of numbers, rounded to the nearest.
    fn parts(self) -> [Self; 3];

    /// The columns of each sixteen, of which these are the rows.
    fn transposed(lines: [Self; 16]) -> [Self; 16];
}

/// Two sixteens beside each other.
pub(super) trait LinePair: Lines {
    fn new(lines: [Line; 2]) -> Self;

    fn lines(self) -> [Line; 2];

    /// The columns of a square by pairs of neighbours. Each value has one of its first eight rows, and the one eight behind it.
    fn pairs_transposed(rows: [Self; 8]) -> [Self; 8];

    /// What [`LinePair::pairs_transposed`] gives these columns for.
    fn pairs_transposed_back(columns: [Self; 8]) -> [Self; 8];
}

/// One after the other, where the processor has no wider operations.
impl Lines for [Line; 2] {
    #[inline(always)]
    fn all(sample: u8) -> Self {
        [Line::all(sample); 2]
    }

    #[inline(always)]
    fn difference(self, other: Self) -> Self {
        [self[0].difference(other[0]), self[1].difference(other[1])]
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        [self[0].larger(other[0]), self[1].larger(other[1])]
    }

    #[inline(always)]
    fn at_most(self, other: Self) -> Self {
        [self[0].at_most(other[0]), self[1].at_most(other[1])]
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        [self[0].plus(other[0]), self[1].plus(other[1])]
    }

    #[inline(always)]
    fn half(self) -> Self {
        [self[0].half(), self[1].half()]
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        [self[0].and(other[0]), self[1].and(other[1])]
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        [self[0].and_not(other[0]), self[1].and_not(other[1])]
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        [self[0].or(other[0]), self[1].or(other[1])]
    }

    #[inline(always)]
    fn centred(self) -> Self {
        [self[0].centred(), self[1].centred()]
    }

    #[inline(always)]
    fn moved(self, by: Self) -> Self {
        [self[0].moved(by[0]), self[1].moved(by[1])]
    }

    #[inline(always)]
    fn moved_back(self, by: Self) -> Self {
        [self[0].moved_back(by[0]), self[1].moved_back(by[1])]
    }

    #[inline(always)]
    fn eighth(self) -> Self {
        [self[0].eighth(), self[1].eighth()]
    }

    #[inline(always)]
    fn signed_half(self) -> Self {
        [self[0].signed_half(), self[1].signed_half()]
    }

    #[inline(always)]
    fn parts(self) -> [Self; 3] {
        let ([a, b, c], [d, e, f]) = (self[0].parts(), self[1].parts());
        [[a, d], [b, e], [c, f]]
    }

    #[inline(always)]
    fn transposed(mut lines: [Self; 16]) -> [Self; 16] {
        for half in 0..2 {
            let mut one = [lines[0][half]; 16];
            one.iter_mut().zip(&lines).for_each(|(one, line)| *one = line[half]);
            lines.iter_mut().zip(Line::transposed(one)).for_each(|(line, one)| line[half] = one);
        }
        lines
    }
}

impl LinePair for [Line; 2] {
    #[inline(always)]
    fn new(lines: [Line; 2]) -> Self {
        lines
    }

    #[inline(always)]
    fn lines(self) -> [Line; 2] {
        self
    }

    #[inline(always)]
    fn pairs_transposed(rows: [Self; 8]) -> [Self; 8] {
        let [a, b, c, d, e, f, g, h] = rows;
        let all = Line::transposed([
            a[0], b[0], c[0], d[0], e[0], f[0], g[0], h[0], a[1], b[1], c[1], d[1], e[1], f[1], g[1], h[1],
        ]);
        let mut pairs = rows;
        pairs.as_flattened_mut().copy_from_slice(&all);
        pairs
    }

    #[inline(always)]
    fn pairs_transposed_back(columns: [Self; 8]) -> [Self; 8] {
        let mut all = [columns[0][0]; 16];
        all.copy_from_slice(columns.as_flattened());
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = Line::transposed(all);
        [[a, i], [b, j], [c, k], [d, l], [e, m], [f, n], [g, o], [h, p]]
    }
}

#[cfg(target_arch = "x86_64")]
#[cfg(test)]
mod tests {
    use super::{Line, LinePair, Lines, WidePair, arrays};

    type Samples = [u8; 16];

    /// What each operation gives.
    fn outcomes<L: Lines>(a: L, b: L) -> Vec<L> {
        let mut all = vec![
            a.difference(b),
            a.larger(b),
            a.at_most(b),
            a.plus(b),
            a.half(),
            a.and(b),
            a.and_not(b),
            a.or(b),
            a.centred(),
            a.moved(b),
            a.moved_back(b),
            a.eighth(),
            a.signed_half(),
            L::all(0x8F),
        ];
        all.extend(a.parts());
        all
    }

    macro_rules! samples {
        ($lines:expr) => {
            $lines
                .into_iter()
                .map(|line| {
                    let (mut samples, mut low, mut high) = ([0; 16], [0; 8], [0; 8]);
                    line.store(&mut samples);
                    line.store_halves([&mut low, &mut high]);
                    assert_eq!([low, high].as_flattened(), samples);
                    samples
                })
                .collect::<Vec<Samples>>()
        };
    }

    fn load<L: LinePair>([low, high]: [Samples; 2]) -> L {
        L::new([Line::load(&low), Line::load(&high)])
    }

    fn half<L: LinePair>(lines: &[L], half: usize) -> Vec<Samples> {
        samples!(lines.iter().map(|lines| lines.lines()[half]))
    }

    #[test]
    fn the_machines_operations_are_those_of_arrays() {
        let all: [u8; 256] = std::array::from_fn(|k| k as u8);
        for shift in 0..256 {
            for first in (0..256).step_by(32) {
                let a = [0, 16].map(|more| std::array::from_fn(|k| all[first + more + k]));
                let b = [0, 16].map(|more| std::array::from_fn(|k| all[(first + more + k + shift) % 256]));
                let expected = [0, 1].map(|k| samples!(outcomes(arrays::Line::load(&a[k]), arrays::Line::load(&b[k]))));
                for k in 0..2 {
                    assert_eq!(samples!(outcomes(Line::load(&a[k]), Line::load(&b[k]))), expected[k]);
                    assert_eq!(half(&outcomes::<[Line; 2]>(load(a), load(b)), k), expected[k], "{a:?} {b:?}");
                    if crate::lanes::are_two() {
                        assert_eq!(half(&outcomes::<WidePair>(load(a), load(b)), k), expected[k], "{a:?} {b:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn lines_are_made_of_halves() {
        let (low, high) = (std::array::from_fn(|k| k as u8), std::array::from_fn(|k| 200 + k as u8));
        let expected = samples!([arrays::Line::load_halves([&low, &high])]);
        assert_eq!(samples!([Line::load_halves([&low, &high])]), expected);
        assert_eq!(expected[0][7..9], [7, 200]);
    }

    #[test]
    fn columns_become_lines() {
        let rows: [Samples; 16] = std::array::from_fn(|row| std::array::from_fn(|column| (16 * row + column) as u8));
        let others = rows.map(|row| row.map(|sample| 255 - sample));
        let both: [[Samples; 2]; 16] = std::array::from_fn(|k| [rows[k], others[k]]);
        let expected =
            [rows, others].map(|rows| samples!(arrays::Line::transposed(rows.map(|row| arrays::Line::load(&row)))));
        assert_eq!(expected[0][3][5], rows[5][3]);
        assert_eq!(samples!(Line::transposed(rows.map(|row| Line::load(&row)))), expected[0]);
        for (k, expected) in expected.iter().enumerate() {
            assert_eq!(half(&<[Line; 2]>::transposed(both.map(load)), k), *expected);
            if crate::lanes::are_two() {
                assert_eq!(half(&WidePair::transposed(both.map(load)), k), *expected);
            }
        }
    }

    #[test]
    fn pairs_are_transposed_and_back() {
        fn columns<L: LinePair>(rows: [[Samples; 2]; 8]) -> (Vec<[Samples; 2]>, Vec<[Samples; 2]>) {
            let columns = L::pairs_transposed(rows.map(load));
            let samples = |all: [L; 8]| (0..8).map(|k| [0, 1].map(|of| half(&all, of)[k])).collect();
            (samples(columns), samples(L::pairs_transposed_back(columns)))
        }
        let square: [Samples; 16] = std::array::from_fn(|row| std::array::from_fn(|column| (16 * row + column) as u8));
        let rows = std::array::from_fn(|k| [square[k], square[k + 8]]);
        let (found, back) = columns::<[Line; 2]>(rows);
        for (k, column) in found.as_flattened().iter().enumerate() {
            assert_eq!(*column, square.map(|row| row[k]));
        }
        assert_eq!(back, rows);
        if crate::lanes::are_two() {
            assert_eq!(columns::<WidePair>(rows), (found, back));
        }
    }
}

//! Lines of sixteen samples, and the operations that filters are made of.

#[cfg(any(test, not(target_arch = "x86_64")))]
#[cfg_attr(target_arch = "x86_64", allow(dead_code, reason = "the tests compare with a part"))]
mod arrays;
#[cfg(target_arch = "x86_64")]
mod sse2;

#[cfg(not(target_arch = "x86_64"))]
pub(super) use arrays::{Line, turned};
#[cfg(target_arch = "x86_64")]
pub(super) use sse2::{Line, turned};

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::{arrays, sse2};

    macro_rules! outcomes {
        ($lines:ident, $a:expr, $b:expr) => {{
            let (a, b) = ($lines::Line::load(&$a), $lines::Line::load(&$b));
            let [p, q, r] = a.parts();
            [
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
                p,
                q,
                r,
                $lines::Line::all($a[0]),
                $lines::Line::load_halves([$a.first_chunk().unwrap(), $b.last_chunk().unwrap()]),
            ]
            .map(|line| {
                let mut samples = [0; 16];
                line.store(&mut samples);
                samples
            })
        }};
    }

    #[test]
    fn the_machines_operations_are_those_of_arrays() {
        let all: [u8; 256] = std::array::from_fn(|k| k as u8);
        for shift in 0..256 {
            for first in (0..256).step_by(16) {
                let a: [u8; 16] = std::array::from_fn(|k| all[first + k]);
                let b: [u8; 16] = std::array::from_fn(|k| all[(first + k + shift) % 256]);
                assert_eq!(outcomes!(sse2, a, b), outcomes!(arrays, a, b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn columns_become_lines() {
        let lines: [[u8; 16]; 16] = std::array::from_fn(|row| std::array::from_fn(|column| (16 * row + column) as u8));
        let mut found = [[0; 16]; 16];
        let turned = sse2::turned(lines.each_ref().map(sse2::Line::load));
        turned.into_iter().zip(&mut found).for_each(|(line, found)| line.store(found));
        let mut expected = found;
        let turned = arrays::turned(lines.each_ref().map(arrays::Line::load));
        turned.into_iter().zip(&mut expected).for_each(|(line, expected)| line.store(expected));
        assert_eq!(found, expected);
        assert_eq!(found[3][5], lines[5][3]);
    }
}

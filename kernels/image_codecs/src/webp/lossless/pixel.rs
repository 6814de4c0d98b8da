//! Pixels that the next ones are predicted from: what there is to wait for is short.

#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(any(test, not(target_arch = "x86_64")))]
mod words;

#[cfg(target_arch = "x86_64")]
pub(super) use sse2::Pixel;
#[cfg(not(target_arch = "x86_64"))]
pub(super) use words::Pixel;

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::{sse2, words};

    #[test]
    fn the_machines_operations_are_those_of_words() {
        let mut x = 1u64;
        let mut next = || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 32) as u32
        };
        for round in 0..100_000 {
            // All values of a component meet, and pixels that hardly differ.
            let [a, b, c] =
                if round % 2 == 0 { [next(), next(), next()] } else { [next(), 0, 0].map(|n| n & 0x0303_0303) };
            macro_rules! outcomes {
                ($of:ident) => {{
                    let [a, b, c] = [a, b, c].map($of::Pixel::new);
                    [a.plus(b), a.mean(b), a.nearer(b, c), a.gradient(b, c), a.half_gradient(b, c)]
                        .map($of::Pixel::word)
                }};
            }
            assert_eq!(outcomes!(sse2), outcomes!(words), "{a:x} {b:x} {c:x}");
        }
    }
}

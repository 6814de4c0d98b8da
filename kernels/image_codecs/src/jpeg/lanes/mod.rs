//! Eight numbers of 16 bits at once, with the operations that the transforms of blocks are made of.

#[cfg(any(test, not(target_arch = "x86_64")))]
#[cfg_attr(target_arch = "x86_64", allow(dead_code, reason = "the tests compare with a part"))]
mod arrays;
#[cfg(target_arch = "x86_64")]
mod sse2;

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use arrays::{Eight, Wide, channels, in_turn, pair_sums, pixels, transposed};
#[cfg(target_arch = "x86_64")]
pub(crate) use sse2::{Eight, Wide, channels, in_turn, pair_sums, pixels, transposed};

use super::idct::Block;

/// The rows of a block.
#[inline(always)]
pub(crate) fn rows(block: &Block) -> [Eight; 8] {
    let rows = block.as_chunks::<8>().0;
    std::array::from_fn(|k| Eight::new(rows[k]))
}

/// A bit for each coefficient, the first the lowest: whether it is not 0.
#[inline(always)]
pub(crate) fn non_zeros(block: &Block) -> u64 {
    u64::from_le_bytes(rows(block).map(Eight::non_zeros))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Numbers at the edges and between, in pairs of all kinds.
    fn pairs() -> impl Iterator<Item = ([i16; 8], [i16; 8])> {
        let edges = [i16::MIN, i16::MIN + 1, -16384, -255, -128, -1, 0, 1, 127, 128, 255, 4095, 16384, i16::MAX];
        let mut x = 1u64;
        let mut next = move || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let edge = edges[(x >> 33) as usize % edges.len()];
            if x >> 63 == 0 { edge } else { (x >> 40) as i16 }
        };
        std::iter::repeat_with(move || (std::array::from_fn(|_| next()), std::array::from_fn(|_| next()))).take(2000)
    }

    #[test]
    fn the_machines_operations_are_those_of_arrays() {
        for (a, b) in pairs() {
            let (fast, slow) = (Eight::new(a), arrays::Eight::new(a));
            let (fast_b, slow_b) = (Eight::new(b), arrays::Eight::new(b));
            macro_rules! same {
                ($($call:tt)*) => {
                    assert_eq!(fast.$($call)*(fast_b).array(), slow.$($call)*(slow_b).array(), "{a:?} {b:?}")
                };
            }
            same!(add);
            same!(sub);
            same!(xor);
            same!(low_product);
            same!(high_product);
            same!(high_product_unsigned);
            assert_eq!(fast.left::<2>().array(), slow.left::<2>().array());
            assert_eq!(fast.right::<5>().array(), slow.right::<5>().array());
            assert_eq!(fast.samples(), slow.samples());
            assert_eq!(fast.non_zeros(), slow.non_zeros());
            let bytes = a.map(|x| x as u8);
            let colors = [fast, fast_b, fast.right::<4>()];
            let mut both = [[0; 24]; 2];
            pixels(colors, &mut both[0]);
            arrays::pixels([slow, slow_b, slow.right::<4>()], &mut both[1]);
            assert_eq!(both[0], both[1]);
            let pixels: [u8; 24] =
                std::array::from_fn(|k| if k < 8 { a[k] as u8 } else { (b[k % 8] >> (k / 8 * 3)) as u8 });
            assert_eq!(channels(&pixels).map(Eight::array), arrays::channels(&pixels).map(arrays::Eight::array));
            let (even, odd) = (Eight::new(bytes.map(i16::from)), Eight::new(b.map(|x| x & 0xFF)));
            assert_eq!(in_turn(even, odd).as_chunks::<2>().0[3], [bytes[3], b[3] as u8]);
            assert_eq!(
                pair_sums([bytes, bytes].as_flattened().try_into().unwrap()).array()[5],
                i16::from(bytes[2]) + i16::from(bytes[3])
            );
            assert_eq!(Eight::centred(bytes).array(), arrays::Eight::centred(bytes).array());
            let (all, slow_all) = (Wide::all(a[0].into()), arrays::Wide::all(a[0].into()));
            assert_eq!(all.descaled::<1>().array(), slow_all.descaled::<1>().array());
            // The sums wrap, and what is too large for 16 bits becomes the nearest.
            let wide = fast.dot(-20995, fast_b, 16819).add(fast.widened::<13>()).sub(fast_b.dot(32767, fast, -32768));
            let slow_wide =
                slow.dot(-20995, slow_b, 16819).add(slow.widened::<13>()).sub(slow_b.dot(32767, slow, -32768));
            assert_eq!(wide.descaled::<11>().array(), slow_wide.descaled::<11>().array());
            assert_eq!(wide.descaled::<18>().array(), slow_wide.descaled::<18>().array());
        }
    }

    #[test]
    fn columns_of_rows() {
        let block: Block = std::array::from_fn(|k| k as i16);
        let columns = transposed(rows(&block)).map(Eight::array);
        assert!(columns.iter().enumerate().all(|(x, column)| (0..8).all(|y| column[y] == block[y * 8 + x])));
    }
}

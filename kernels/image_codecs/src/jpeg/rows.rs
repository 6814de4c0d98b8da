//! The rows of blocks, one or two at a time.

use super::idct::Block;
use crate::lanes::{Eight, Lanes};

/// Row `k` of blocks. Without closures, which the compiler leaves as calls.
#[inline(always)]
fn row<L: Lanes<N>, const N: usize>(blocks: [&Block; N], k: usize) -> L {
    let mut row = [[0; 8]; N];
    for (row, block) in row.iter_mut().zip(blocks) {
        *row = block.as_chunks::<8>().0[k];
    }
    L::new(row)
}

/// The rows of blocks.
#[inline(always)]
pub(crate) fn rows<L: Lanes<N>, const N: usize>(blocks: [&Block; N]) -> [L; 8] {
    let row = |k| row(blocks, k);
    [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)]
}

/// A bit for each coefficient, the first the lowest: whether it is not 0.
#[inline(always)]
pub(crate) fn non_zeros(block: &Block) -> u64 {
    u64::from_le_bytes(rows([block]).map(Eight::non_zeros))
}

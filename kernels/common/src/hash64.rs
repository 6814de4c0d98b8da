//! The hash of TensorFlow's first versions.

use crate::siphash::last_bytes;

/// TensorFlow's `Hash64`, a relative of MurmurHash64A.
pub fn hash64(bytes: &[u8], seed: u64) -> u64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    const SHIFT: u32 = 47;
    let mut hash = seed ^ (bytes.len() as u64).wrapping_mul(FACTOR);
    for word in bytes.as_chunks::<8>().0 {
        let mut word = u64::from_le_bytes(*word).wrapping_mul(FACTOR);
        word ^= word >> SHIFT;
        hash = (hash ^ word.wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    }
    if !bytes.len().is_multiple_of(8) {
        hash = (hash ^ last_bytes(bytes)).wrapping_mul(FACTOR);
    }
    hash = (hash ^ (hash >> SHIFT)).wrapping_mul(FACTOR);
    hash ^ (hash >> SHIFT)
}

//! A hash with a key.

/// The bytes of a text that are behind its last whole word of 8, in little-endian order.
#[inline]
pub fn last_bytes(text: &[u8]) -> u64 {
    let rest = text.len() % 8;
    match text.last_chunk::<8>() {
        Some(_) if rest == 0 => 0,
        // Of the last word but some bytes belong to the one before.
        Some(last) => u64::from_le_bytes(*last) >> (64 - 8 * rest),
        None => text.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

/// SipHash-2-4, by J.-P. Aumasson and D. J. Bernstein.
pub fn siphash(key: [u64; 2], text: &[u8]) -> u64 {
    fn round(v: &mut [u64; 4]) {
        v[0] = v[0].wrapping_add(v[1]);
        v[2] = v[2].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(13) ^ v[0];
        v[3] = v[3].rotate_left(16) ^ v[2];
        v[0] = v[0].rotate_left(32);
        v[2] = v[2].wrapping_add(v[1]);
        v[0] = v[0].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(17) ^ v[2];
        v[3] = v[3].rotate_left(21) ^ v[0];
        v[2] = v[2].rotate_left(32);
    }
    let mut v = [
        key[0] ^ 0x736f_6d65_7073_6575,
        key[1] ^ 0x646f_7261_6e64_6f6d,
        key[0] ^ 0x6c79_6765_6e65_7261,
        key[1] ^ 0x7465_6462_7974_6573,
    ];
    let mut absorb = |word: u64| {
        v[3] ^= word;
        (0..2).for_each(|_| round(&mut v));
        v[0] ^= word;
    };
    text.as_chunks::<8>().0.iter().for_each(|word| absorb(u64::from_le_bytes(*word)));
    absorb(last_bytes(text) | (text.len() as u64) << 56);
    v[2] ^= 0xff;
    (0..4).for_each(|_| round(&mut v));
    v.into_iter().fold(0, |hash, word| hash ^ word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siphash_is_the_published_one() {
        let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        let text: Vec<u8> = (0..15).collect();
        assert_eq!(siphash(key, &text), 0xa129_ca61_49be_45e5);
        assert_eq!(siphash(key, &[]), 0x726f_db47_dd0e_0e31);
    }
}

//! A permutation of the numbers up to some number, by the Simon cipher (Beaulieu et al., 2013), walked until a number is in
//! range (Black and Rogaway, 2002): TensorFlow's `index_shuffle`.

/// A permutation of the numbers from 0 to a greatest one.
pub struct IndexShuffle {
    greatest: u64,
    bits: u32,
    keys: Vec<u64>,
}

impl IndexShuffle {
    /// A permutation of the numbers up to `greatest`, by the lower 32 bits of each of three keys, in an even number of rounds,
    /// of at least four.
    pub fn new(greatest: u64, seed: [u64; 3], rounds: usize) -> IndexShuffle {
        // As TensorFlow has it: beyond 2^52 not exact.
        let block = (greatest as f64).log2().ceil() as u32;
        let bits = block.next_multiple_of(2).max(16) / 2;
        let mask = (1 << bits) - 1;
        let keys = seed.iter().map(|key| key & 0xffff_ffff & mask).collect();
        let mut cipher = IndexShuffle { greatest, bits, keys };
        let mut constants = 0x7369_f885_192c_0ef5 & mask;
        for round in 3..rounds {
            let last = cipher.keys[round - 1];
            let key = 0xffff_fffc
                ^ constants & 1
                ^ cipher.keys[round - 3]
                ^ cipher.left(last, bits - 3)
                ^ cipher.left(last, bits - 4);
            cipher.keys.push(key & mask);
            constants >>= 1;
        }
        cipher
    }

    /// A word turned to the left.
    fn left(&self, word: u64, by: u32) -> u64 {
        (word << by | word >> (self.bits - by)) & ((1 << self.bits) - 1)
    }

    fn mix(&self, word: u64) -> u64 {
        self.left(word, 1) & self.left(word, 8) ^ self.left(word, 2)
    }

    fn encrypt(&self, block: u64) -> u64 {
        let mask = (1 << self.bits) - 1;
        let (mut left, mut right) = (block >> self.bits & mask, block & mask);
        for keys in self.keys.chunks_exact(2) {
            left ^= self.mix(right) ^ keys[0];
            right ^= self.mix(left) ^ keys[1];
        }
        left << self.bits | right
    }

    /// Where a number goes that is not above the greatest.
    pub fn place(&self, number: u64) -> u64 {
        if self.greatest == 0 {
            return 0;
        }
        let mut place = self.encrypt(number);
        while place > self.greatest {
            place = self.encrypt(place);
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_a_place_of_its_own() {
        for greatest in [0, 1, 2, 9, 1000, 70_000] {
            let shuffle = IndexShuffle::new(greatest, [1, u64::MAX, 7], 8);
            let mut places: Vec<u64> = (0..=greatest).map(|number| shuffle.place(number)).collect();
            places.sort_unstable();
            assert!(places.iter().copied().eq(0..=greatest), "{greatest}");
        }
    }
}

//! The Mersenne Twister of 64 bits, and what C++'s standard library draws with it.
//!
//! T. Nishimura, "Tables of 64-bit Mersenne Twisters", ACM Transactions on Modeling and Computer Simulation 10 (2000).

const WORDS: usize = 312;
const MIDDLE: usize = 156;

/// A generator of random numbers, `std::mt19937_64`.
pub struct Mersenne {
    words: [u64; WORDS],
    used: usize,
}

impl Mersenne {
    /// The generator with a seed.
    pub fn new(seed: u64) -> Mersenne {
        let mut words = [seed; WORDS];
        for index in 1..WORDS {
            let last = words[index - 1];
            words[index] = (last ^ (last >> 62)).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(index as u64);
        }
        Mersenne { words, used: WORDS }
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        if self.used == WORDS {
            self.turn();
        }
        let mut x = self.words[self.used];
        self.used += 1;
        x ^= (x >> 29) & 0x5555_5555_5555_5555;
        x ^= (x << 17) & 0x71d6_7fff_eda6_0000;
        x ^= (x << 37) & 0xfff7_eee0_0000_0000;
        x ^ (x >> 43)
    }

    fn turn(&mut self) {
        const UPPER: u64 = !0 << 31;
        for index in 0..WORDS {
            let x = (self.words[index] & UPPER) | (self.words[(index + 1) % WORDS] & !UPPER);
            let odd = if x & 1 == 1 { 0xb502_6f5a_a966_19e9 } else { 0 };
            self.words[index] = self.words[(index + MIDDLE) % WORDS] ^ (x >> 1) ^ odd;
        }
        self.used = 0;
    }

    /// A number below `count`, all equally probable, as libstdc++'s `uniform_int_distribution` draws it: by the upper half of
    /// a product. D. Lemire, "Fast Random Integer Generation in an Interval" (2019).
    fn below(&mut self, count: u64) -> u64 {
        let mut product = u128::from(self.number()) * u128::from(count);
        if (product as u64) < count {
            let threshold = count.wrapping_neg() % count;
            while (product as u64) < threshold {
                product = u128::from(self.number()) * u128::from(count);
            }
        }
        (product >> 64) as u64
    }

    /// Shuffles as libstdc++'s `shuffle` does, which draws two places by one number. Of more than 2³¹ items the order is
    /// another.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        let count = items.len();
        let mut at = 1;
        if count > 0 && count.is_multiple_of(2) {
            let with = self.below(2) as usize;
            items.swap(1, with);
            at = 2;
        }
        while at < count {
            let places = at as u64 + 1;
            let both = self.below(places.saturating_mul(places + 1));
            items.swap(at, (both / (places + 1)) as usize);
            items.swap(at + 1, (both % (places + 1)) as usize);
            at += 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_the_standard() {
        // C++11, 26.5.5: the 10,000th number of the default seed.
        let mut random = Mersenne::new(5489);
        assert_eq!((0..10_000).map(|_| random.number()).last(), Some(9_981_545_732_273_789_042));
    }

    #[test]
    fn everything_is_shuffled_and_nothing_lost() {
        for count in 0..50_usize {
            let mut items: Vec<usize> = (0..count).collect();
            Mersenne::new(count as u64).shuffle(&mut items);
            items.sort_unstable();
            assert!(items.iter().copied().eq(0..count));
        }
    }
}

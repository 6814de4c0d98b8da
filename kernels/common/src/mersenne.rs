//! The Mersenne Twisters of 64 and of 32 bits, and what C++'s standard library draws with them.
//!
//! M. Matsumoto, T. Nishimura, "Mersenne Twister", ACM Transactions on Modeling and Computer Simulation 8 (1998); T. Nishimura, "Tables of 64-bit Mersenne Twisters", ACM Transactions on Modeling and Computer Simulation 10 (2000).

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

const WORDS_32: usize = 624;
const MIDDLE_32: usize = 397;

/// A generator of random numbers, `std::mt19937`.
pub struct Mersenne32 {
    words: [u32; WORDS_32],
    used: usize,
}

impl Mersenne32 {
    /// The generator with a seed.
    pub fn new(seed: u32) -> Mersenne32 {
        let mut words = [seed; WORDS_32];
        for index in 1..WORDS_32 {
            let last = words[index - 1];
            words[index] = (last ^ (last >> 30)).wrapping_mul(1_812_433_253).wrapping_add(index as u32);
        }
        Mersenne32 { words, used: WORDS_32 }
    }

    /// The next number.
    pub fn number(&mut self) -> u32 {
        if self.used == WORDS_32 {
            self.turn();
        }
        let mut x = self.words[self.used];
        self.used += 1;
        x ^= x >> 11;
        x ^= (x << 7) & 0x9d2c_5680;
        x ^= (x << 15) & 0xefc6_0000;
        x ^ (x >> 18)
    }

    fn turn(&mut self) {
        const UPPER: u32 = 1 << 31;
        for index in 0..WORDS_32 {
            let x = (self.words[index] & UPPER) | (self.words[(index + 1) % WORDS_32] & !UPPER);
            let odd = if x & 1 == 1 { 0x9908_b0df } else { 0 };
            self.words[index] = self.words[(index + MIDDLE_32) % WORDS_32] ^ (x >> 1) ^ odd;
        }
        self.used = 0;
    }

    /// A number below `count`, as that of the other generator.
    fn below(&mut self, count: u32) -> usize {
        let mut product = u64::from(self.number()) * u64::from(count);
        if (product as u32) < count {
            let threshold = count.wrapping_neg() % count;
            while (product as u32) < threshold {
                product = u64::from(self.number()) * u64::from(count);
            }
        }
        (product >> 32) as usize
    }

    /// Shuffles as libstdc++'s `shuffle` does: up to 65535 items two places by one number, more each by its own. Of more than
    /// 2³² items those behind stay where they are.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        let count = u32::try_from(items.len()).unwrap_or(u32::MAX) as usize;
        let mut at = 1;
        if count > usize::from(u16::MAX) {
            while at < count {
                let with = self.below(at as u32 + 1);
                items.swap(at, with);
                at += 1;
            }
            return;
        }
        if count > 0 && count.is_multiple_of(2) {
            let with = self.below(2);
            items.swap(1, with);
            at = 2;
        }
        while at < count {
            let places = at + 1;
            let both = self.below((places * (places + 1)) as u32);
            items.swap(at, both / (places + 1));
            items.swap(at + 1, both % (places + 1));
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
    fn that_of_32_bits_is_that_of_the_standard() {
        let mut random = Mersenne32::new(5489);
        assert_eq!((0..10_000).map(|_| random.number()).last(), Some(4_123_659_995));
    }

    #[test]
    fn everything_is_shuffled_and_nothing_lost() {
        for count in (0..50).chain([65_535, 65_536]) {
            let mut items: Vec<usize> = (0..count).collect();
            Mersenne::new(count as u64).shuffle(&mut items);
            Mersenne32::new(count as u32).shuffle(&mut items);
            items.sort_unstable();
            assert!(items.iter().copied().eq(0..count));
        }
    }

    #[test]
    fn names_of_files_are_shuffled_as_tensorflow_shuffles_them() {
        // Those of a snapshot with `shuffle_on_read`, whose seeds are 7 and 2, in the order in which the system names them.
        let mut items: Vec<i32> = (0..14).collect();
        Mersenne32::new(9).shuffle(&mut items);
        assert_eq!(items, [11, 12, 4, 7, 9, 1, 5, 6, 0, 8, 13, 10, 2, 3]);
    }
}

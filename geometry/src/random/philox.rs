//! Philox 4x32 with ten rounds: random bits from a counter and a key.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Mutex, PoisonError};

/// A generator: each step turns the counter into 128 random bits and adds one to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Philox {
    counter: [u32; 4],
    key: [u32; 2],
}

/// Steps that [`Philox::block`] takes at once.
pub const BLOCK: usize = 16;

/// What the ten rounds make of a counter.
#[inline(always)]
fn rounds(mut block: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let even = u64::from(block[0]) * 0xd251_1f53;
        let odd = u64::from(block[2]) * 0xcd9e_8d57;
        block =
            [(odd >> 32) as u32 ^ block[1] ^ key[0], odd as u32, (even >> 32) as u32 ^ block[3] ^ key[1], even as u32];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    block
}

fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

fn whole(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

impl Philox {
    /// The generator of a key and a counter, whose lower half comes first.
    pub fn new(key: u64, counter: [u64; 2]) -> Philox {
        let ([a, b], [c, d]) = (halves(counter[0]), halves(counter[1]));
        Philox { counter: [a, b, c, d], key: halves(key) }
    }

    /// The generator of a stateful op's two seeds.
    pub fn from_seeds(seed: i64, seed2: i64) -> Philox {
        Philox::new(seed as u64, [0, seed2 as u64])
    }

    /// The generator of a stateless op's seed, each part of which may be weak.
    pub fn scrambled(seed: [u64; 2]) -> Philox {
        let [a, b, c, d] = Philox::new(0x0246_1e29_3ec8_f720, seed).step();
        Philox { counter: [0, 0, c, d], key: [a, b] }
    }

    /// The key.
    pub fn key(&self) -> u64 {
        whole(self.key[0], self.key[1])
    }

    /// The counter, its lower half first.
    pub fn counter(&self) -> [u64; 2] {
        let [a, b, c, d] = self.counter;
        [whole(a, b), whole(c, d)]
    }

    /// Leaves out `count` steps.
    #[inline]
    pub fn skip(&mut self, count: u64) {
        let [low, mut high] = halves(count);
        let [a, b, c, d] = &mut self.counter;
        *a = a.wrapping_add(low);
        if *a < low {
            // A carry out of here is lost, in TensorFlow as well.
            high = high.wrapping_add(1);
        }
        *b = b.wrapping_add(high);
        if *b < high {
            *c = c.wrapping_add(1);
            if *c == 0 {
                *d = d.wrapping_add(1);
            }
        }
    }

    /// The next 128 bits.
    #[inline]
    pub fn step(&mut self) -> [u32; 4] {
        let block = rounds(self.counter, self.key);
        let [a, b, c, d] = &mut self.counter;
        *a = a.wrapping_add(1);
        if *a == 0 {
            *b = b.wrapping_add(1);
            if *b == 0 {
                *c = c.wrapping_add(1);
                if *c == 0 {
                    *d = d.wrapping_add(1);
                }
            }
        }
        block
    }

    /// The 128 bits of a step, of that `stride` steps after it, and so on, [`BLOCK`] times; the generator is left where
    /// the next would be. One loop over all: in a function that is compiled for wide vectors it uses them.
    #[inline(always)]
    pub fn block(&mut self, stride: u64) -> [u32; 4 * BLOCK] {
        let mut words = [0; 4 * BLOCK];
        let [low, high] = self.counter();
        let [c, d] = halves(high);
        if stride.checked_mul(BLOCK as u64).and_then(|steps| low.checked_add(steps)).is_some() {
            for (lane, words) in (0..).zip(words.as_chunks_mut::<4>().0) {
                let [a, b] = halves(low + lane * stride);
                *words = rounds([a, b, c, d], self.key);
            }
        } else {
            // Somewhere the upper half changes.
            for (lane, words) in (0..).zip(words.as_chunks_mut::<4>().0) {
                let mut generator = *self;
                generator.skip(lane * stride);
                *words = generator.step();
            }
        }
        self.skip(stride.wrapping_mul(BLOCK as u64));
        words
    }
}

/// The bits of a generator, 32 at a time.
pub struct Words {
    generator: Philox,
    block: [u32; 4],
    used: usize,
}

impl Words {
    /// Those of a generator.
    pub fn new(generator: Philox) -> Words {
        Words { generator, block: [0; 4], used: 4 }
    }

    /// Those of a generator but for so many at the beginning.
    pub fn after(mut generator: Philox, count: u64) -> Words {
        generator.skip(count / 4);
        let mut words = Words::new(generator);
        (0..count % 4).for_each(|_| _ = words.word());
        words
    }

    /// The next 32 bits.
    #[inline]
    pub fn word(&mut self) -> u32 {
        if self.used == 4 {
            self.block = self.generator.step();
            self.used = 0;
        }
        self.used += 1;
        self.block[self.used - 1]
    }
}

/// A generator that runs of a kernel share: each takes the part of the sequence that it may need.
pub struct Shared(Mutex<Philox>);

impl Shared {
    /// The generator of two seeds; somewhere else each time if both are 0.
    pub fn new(seed: i64, seed2: i64) -> Shared {
        let (seed, seed2) = if seed == 0 && seed2 == 0 { (entropy() as i64, entropy() as i64) } else { (seed, seed2) };
        Shared(Mutex::new(Philox::from_seeds(seed, seed2)))
    }

    /// The generator of a run that takes at most `steps` steps.
    pub fn reserve(&self, steps: u64) -> Philox {
        // A generator is whole whatever panicked.
        let mut generator = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reserved = *generator;
        generator.skip(steps);
        reserved
    }
}

/// A number that nobody can know before.
pub fn entropy() -> u64 {
    // The only source of randomness in the standard library: the keys of hash maps.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(0);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_test_vectors() {
        let mut zeros = Philox { counter: [0; 4], key: [0; 2] };
        assert_eq!(zeros.step(), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
        let mut ones = Philox { counter: [!0; 4], key: [!0; 2] };
        assert_eq!(ones.step(), [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]);
        assert_eq!(ones.counter, [0; 4]);
        let counter = [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344];
        let mut pi = Philox { counter, key: [0xa4093822, 0x299f31d0] };
        assert_eq!(pi.step(), [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]);
    }

    #[test]
    fn words_after_others_are_those_that_follow_them() {
        let mut all = Words::new(Philox::new(3, [1, 2]));
        let words: Vec<u32> = (0..16).map(|_| all.word()).collect();
        for count in 0..10 {
            let mut rest = Words::after(Philox::new(3, [1, 2]), count as u64);
            assert_eq!([rest.word(), rest.word(), rest.word()], words[count..count + 3], "{count}");
        }
    }

    #[test]
    fn skipping_is_taking_steps() {
        for start in [[0, 0], [u64::MAX - 2, 7], [0xffff_fffe, u64::MAX]] {
            let (mut stepped, mut skipped) = (Philox::new(1, start), Philox::new(1, start));
            for _ in 0..5 {
                stepped.step();
            }
            skipped.skip(5);
            assert_eq!(stepped, skipped);
        }
        let mut far = Philox::new(1, [3, 0]);
        far.skip(u64::MAX);
        // The lost carry: TensorFlow's generator lands here, too.
        assert_eq!(far.counter(), [2, 0]);
    }

    #[test]
    fn a_block_is_steps_from_place_to_place() {
        let far = u64::MAX - 20;
        for (start, stride) in [([0, 0], 1), ([far, 7], 1), ([far, u64::MAX], 3), ([0xffff_fffe, 2], 256)] {
            let mut generator = Philox::new(0x0123_4567_89ab_cdef, start);
            let mut expected = generator;
            for _ in 0..2 {
                let words = generator.block(stride);
                for words in words.as_chunks::<4>().0 {
                    assert_eq!(*words, { expected }.step(), "from {start:?} by {stride}");
                    expected.skip(stride);
                }
                assert_eq!(generator, expected);
            }
        }
    }

    #[test]
    fn no_two_unseeded_generators_are_alike() {
        assert_ne!(Shared::new(0, 0).reserve(0), Shared::new(0, 0).reserve(0));
        assert_eq!(Shared::new(0, 1).reserve(0), Shared::new(0, 1).reserve(0));
    }
}

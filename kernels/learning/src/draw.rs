//! Random numbers as TensorFlow's `SimplePhilox` draws them.

use kernlink_geometry::random::philox::{Philox, Words};
use kernlink_kernels_common::random_floats::uniform32;

/// Random numbers of a seed.
pub(super) struct Draw(Words);

impl Draw {
    pub(super) fn new(seed: i64) -> Draw {
        Draw(Words::new(Philox::new(seed as u64, [0, 0])))
    }

    /// From 0 up to but without 1.
    pub(super) fn float(&mut self) -> f32 {
        uniform32(self.0.word())
    }

    fn word64(&mut self) -> u64 {
        let low = u64::from(self.0.word());
        low | u64::from(self.0.word()) << 32
    }

    /// Those that begin where a generator is.
    pub(super) fn of(generator: Philox) -> Draw {
        Draw(Words::new(generator))
    }

    /// A number below `count`, or 0 if that is 0, of 32 bits at a time.
    pub(super) fn below32(&mut self, count: u32) -> u32 {
        if count == 0 || count.is_power_of_two() {
            return self.0.word() & count.saturating_sub(1);
        }
        let least = u32::MAX % count + 1;
        loop {
            let word = self.0.word();
            if word >= least {
                return word % count;
            }
        }
    }

    /// A number below `count`, which is above 0; all are equally likely.
    pub(super) fn below(&mut self, count: u64) -> u64 {
        if count.is_power_of_two() {
            return self.word64() & (count - 1);
        }
        // Those by which the first numbers would come more often are left out.
        let least = u64::MAX % count + 1;
        loop {
            let word = self.word64();
            if word >= least {
                return word % count;
            }
        }
    }
}

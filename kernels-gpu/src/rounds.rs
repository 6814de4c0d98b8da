//! Drivers that end loops early.
//!
//! Mesa's software driver ends all loops of an invocation once it has gone round 65,535 times, in all of them together, and
//! goes on behind them as if nothing had happened (`LP_MAX_TGSI_LOOP_ITERATIONS` in its sources). What would go round more
//! often is cut into parts or refused: the answer would be wrong.

use kernlink::ensure;
use kernlink::error::Result;

use crate::device::GpuDevice;

/// A little less than what Mesa's driver allows, for loops that are not counted here.
const LLVMPIPE: usize = 65_000;

impl GpuDevice {
    /// How many rounds all loops of an invocation may have together.
    pub(crate) fn rounds(&self) -> usize {
        if self.adapter().driver.starts_with("llvmpipe") { LLVMPIPE } else { usize::MAX }
    }

    /// In how many parts loops of so many rounds are cut, at least.
    pub(crate) fn parts_of_rounds(&self, rounds: usize) -> usize {
        rounds.div_ceil(self.rounds()).max(1)
    }

    /// Refuses loops that the driver would end early.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if it would.
    #[track_caller]
    pub(crate) fn ensure_rounds(&self, rounds: usize) -> Result<()> {
        ensure!(
            rounds <= self.rounds(),
            ResourceExhausted,
            "a shader would go round {rounds} times, and the driver of {} ends loops after {}: place the node on the CPU",
            self.adapter().name,
            self.rounds()
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use kernlink::Code;

    use crate::testing::device;

    #[test]
    fn loops_that_a_driver_would_end_are_refused() {
        let gpu = device();
        assert_eq!(gpu.parts_of_rounds(0), 1);
        assert!(gpu.ensure_rounds(60_000).is_ok());
        if gpu.adapter().driver.starts_with("llvmpipe") {
            assert_eq!(gpu.ensure_rounds(65_536).unwrap_err().code(), Code::ResourceExhausted);
            assert_eq!(gpu.parts_of_rounds(65_001), 2);
        }
    }
}

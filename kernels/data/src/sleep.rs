//! Datasets that wait. No thread is held: one for all of them wakes those whose time has come.

use std::time::{Duration, Instant};

use kernlink::kernel::RawContext;
use kernlink::{Result, ensure};
use kernlink_kernels_common::alarm::sleep_until;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Element, Spec, scalar};
use crate::transform::{Input, Transform, set_transformed};

struct Sleep(Duration);

impl Transform for Sleep {
    type State = ();

    fn begin(&self, _: &Cx) -> Result<()> {
        Ok(())
    }

    async fn next<'a>(&'a self, _: &'a mut (), input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        if let Some(time) = Instant::now().checked_add(self.0).filter(|_| !self.0.is_zero()) {
            sleep_until(time).await?;
            cx.check()?;
        }
        input.next(cx).await
    }

    fn cardinality(&self, input: i64) -> i64 {
        input
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::SleepDataset, ops::ExperimentalSleepDataset])]
fn sleep(spec: &Spec, ctx: &mut RawContext<'_>) -> Result<()> {
    let time: i64 = scalar(ctx, "sleep_microseconds")?;
    ensure!(time >= 0, InvalidArgument, "`sleep_microseconds` must be >= 0");
    set_transformed(ctx, spec, Sleep(Duration::from_micros(time as u64)))
}

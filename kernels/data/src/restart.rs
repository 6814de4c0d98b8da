//! Datasets that go through their input again.

use kernlink::Result;
use kernlink::kernel::KernelContext;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Element, INFINITE, Spec, UNKNOWN, scalar};
use crate::saved::Saved;
use crate::transform::{Input, Transform, set_transformed};

struct Repeat(i64);

/// Where an iterator is.
struct Round {
    /// How many times it has gone through the input.
    done: i64,
    /// Whether it has no element of this round yet.
    is_new: bool,
}

impl Transform for Repeat {
    type State = Round;

    fn begin(&self, _: &Cx) -> Result<Round> {
        Ok(Round { done: 0, is_new: true })
    }

    async fn next<'a>(&'a self, round: &'a mut Round, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        while self.0 < 0 || round.done < self.0 {
            if let Some(element) = input.next(cx).await? {
                round.is_new = false;
                return Ok(Some(element));
            }
            cx.go_on().await?;
            if self.0 < 0 && round.is_new {
                // Without elements it would never end.
                return Ok(None);
            }
            round.done = round.done.saturating_add(1);
            // Also after the last round: as with TensorFlow an iterator is made then, which takes its seeds.
            input.restart(cx)?;
            round.is_new = true;
        }
        input.end();
        Ok(None)
    }

    fn cardinality(&self, input: i64) -> i64 {
        match (self.0, input) {
            (0, _) | (_, 0) => 0,
            (..0, _) => INFINITE,
            (_, INFINITE | UNKNOWN) => input,
            (count, known) => count.saturating_mul(known),
        }
    }

    async fn save<'a>(&'a self, round: &'a mut Round, saved: &'a mut Saved) -> Result<()> {
        saved.set("done", round.done);
        saved.set("is_new", i64::from(round.is_new));
        Ok(())
    }

    async fn restore<'a>(&'a self, round: &'a mut Round, _: &'a mut Input, saved: &'a Saved, _: &'a Cx) -> Result<()> {
        *round = Round { done: saved.get("done")?, is_new: saved.get("is_new")? != 0 };
        Ok(())
    }

    fn place(&self, index: i64, inputs: i64) -> Option<i64> {
        index.checked_rem(inputs)
    }
}

#[register_kernel(device = Cpu, cheap)]
fn repeat(spec: &Spec, ctx: &mut KernelContext<'_, ops::RepeatDataset>) -> Result<()> {
    let count = scalar(ctx, "count")?;
    set_transformed(ctx, spec, Repeat(count))
}

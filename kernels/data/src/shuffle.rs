//! Elements in random order.

use std::collections::VecDeque;
use std::sync::Arc;

use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Element, INFINITE, Spec, UNKNOWN, scalar};
use crate::random::{Drawn, Seeds, seeds_of};
use crate::saved::Saved;
use crate::transform::{Input, Transform, set_transformed};

/// How many rounds through the input there may be in the buffer.
const MOST_ROUNDS: usize = 3;

/// Holds elements, and gives out one of those of the earliest round through the input: TensorFlow's algorithm, so that the
/// order is TensorFlow's for given seeds.
struct Shuffle {
    size: u64,
    /// How many times it goes through the input, or −1.
    count: i64,
    seeds: Arc<Seeds>,
}

struct Buffer {
    drawn: Drawn,
    /// The elements of the rounds through the input, the earliest first.
    rounds: VecDeque<VecDeque<Element>>,
    held: u64,
    /// How many rounds were begun.
    begun: i64,
    has_begun: bool,
}

impl Shuffle {
    /// Takes elements in until the buffer is full; returns false if there is nothing, and never will be.
    async fn fill(&self, buffer: &mut Buffer, input: &mut Input, cx: &Cx) -> Result<bool> {
        while !input.is_over() && buffer.held < self.size {
            cx.go_on().await?;
            let element = loop {
                if let Some(element) = input.next(cx).await? {
                    break Some(element);
                }
                if !buffer.has_begun && self.count == -1 {
                    return Ok(false);
                }
                buffer.begun += 1;
                buffer.rounds.push_back(VecDeque::new());
                if self.count != -1 && buffer.begun >= self.count {
                    break None;
                }
                cx.go_on().await?;
                input.restart(cx)?;
            };
            if let Some(element) = element {
                buffer.has_begun = true;
                buffer.held += 1;
                if let Some(round) = buffer.rounds.back_mut() {
                    round.push_back(element);
                }
            }
            if buffer.rounds.len() > MOST_ROUNDS {
                break;
            }
        }
        Ok(true)
    }
}

impl Transform for Shuffle {
    type State = Buffer;
    const BEGINS_LATER: bool = true;

    fn passes_end(&self) -> bool {
        false
    }

    fn begin(&self, _: &Cx) -> Result<Buffer> {
        Ok(Buffer {
            drawn: Drawn::new(self.seeds.next()),
            rounds: VecDeque::from([VecDeque::new()]),
            held: 0,
            begun: 0,
            has_begun: false,
        })
    }

    async fn next<'a>(&'a self, buffer: &'a mut Buffer, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        if self.count == 0 {
            input.end();
        }
        if !self.fill(buffer, input, cx).await? || buffer.held == 0 {
            return Ok(None);
        }
        while buffer.rounds.front().is_some_and(VecDeque::is_empty) {
            buffer.rounds.pop_front();
            buffer.drawn = Drawn::new(self.seeds.next());
        }
        let Some(round) = buffer.rounds.front_mut() else { return Ok(None) };
        let place = buffer.drawn.next() as usize % round.len();
        round.swap(0, place);
        buffer.held -= 1;
        Ok(round.pop_front())
    }

    fn cardinality(&self, input: i64) -> i64 {
        match (self.count, input) {
            (-1, 0) => 0,
            (-1, _) | (_, INFINITE) => INFINITE,
            (_, UNKNOWN) => UNKNOWN,
            (count, known) => known.saturating_mul(count),
        }
    }

    fn seeds(&self) -> Option<&Seeds> {
        Some(&self.seeds)
    }

    async fn save<'a>(&'a self, buffer: &'a mut Buffer, saved: &'a mut Saved) -> Result<()> {
        self.seeds.save(saved);
        buffer.drawn.save(saved);
        saved.set("begun", buffer.begun);
        saved.set("has_begun", i64::from(buffer.has_begun));
        saved.set("rounds", buffer.rounds.len() as i64);
        for (index, round) in buffer.rounds.iter().enumerate() {
            saved.part("round", index).set_elements("elements", scratch::collected(round.iter().cloned())?);
        }
        Ok(())
    }

    async fn restore<'a>(
        &'a self,
        buffer: &'a mut Buffer,
        _: &'a mut Input,
        saved: &'a Saved,
        _: &'a Cx,
    ) -> Result<()> {
        self.seeds.restore(saved)?;
        buffer.drawn = Drawn::restored(saved)?;
        buffer.begun = saved.get("begun")?;
        buffer.has_begun = saved.get("has_begun")? != 0;
        buffer.rounds.clear();
        buffer.held = 0;
        for index in 0..saved.get("rounds")? as usize {
            let elements = saved.required_part("round", index)?.elements("elements")?;
            buffer.held += elements.len() as u64;
            buffer.rounds.push_back(elements.iter().cloned().collect());
        }
        Ok(())
    }
}

struct ShuffleKernel {
    spec: Spec,
    others_each_time: bool,
}

impl KernelState for ShuffleKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let others_each_time = match ctx.attrs.get("reshuffle_each_iteration") {
            Some(_) => ctx.attrs.required("reshuffle_each_iteration")?,
            None => true,
        };
        Ok(Self { spec: Spec::of(ctx)?, others_each_time })
    }
}

#[register_kernel(device = Cpu, cheap, op = [
    ops::ShuffleAndRepeatDataset, ops::ShuffleAndRepeatDatasetV2, ops::ShuffleDataset, ops::ShuffleDatasetV2,
    ops::ShuffleDatasetV3,
])]
fn shuffle(state: &ShuffleKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let size: i64 = scalar(ctx, "buffer_size")?;
    ensure!(
        size > 0 || size == UNKNOWN,
        InvalidArgument,
        "buffer_size must be greater than zero or UNKNOWN_CARDINALITY"
    );
    let has = |name: &str| ctx.op().input_index(name).is_some();
    let count = if has("count") { scalar(ctx, "count")? } else { 1 };
    ensure!(count > 0 || count == -1, InvalidArgument, "count must be greater than zero or equal to -1.");
    let seeds = match has("seed") {
        true => Seeds::chosen(scalar(ctx, "seed")?, scalar(ctx, "seed2")?),
        false => Seeds::chosen(0, 0),
    };
    let make = || Ok(Seeds::new(seeds, state.others_each_time));
    let seeds = if has("seed_generator") { seeds_of(ctx, make)? } else { Arc::new(make()?) };
    set_transformed(ctx, &state.spec, Shuffle { size: u64::try_from(size).unwrap_or(u64::MAX), count, seeds })
}

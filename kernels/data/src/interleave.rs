//! The elements of datasets that a function makes of elements.

use std::sync::Arc;

use kernlink::kernel::{KernelContext, RawContext};
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, UNKNOWN, scalar};
use crate::function::Closure;
use crate::map::FunctionKernel;
use crate::parallel_map::parallel_calls;
use crate::prefetch::Prefetched;
use crate::saved::Saved;
use crate::transform::{Input, Transform, set_transformed};

/// A dataset that is open: the element that it was made of, and an iterator.
struct Open {
    element: Element,
    dataset: Arc<dyn Dataset>,
    iterator: Box<dyn DatasetIterator>,
}

/// Interleaves the datasets that a function makes.
struct Interleave {
    function: Closure,
    /// From how many datasets elements are taken in turn; `None` for as many as there are threads.
    cycle: Option<usize>,
    block: i64,
    /// How many elements are made ahead of each, if any are.
    ahead: Option<usize>,
}

struct Turns {
    open: Vec<Option<Open>>,
    /// Whose turn it is.
    at: usize,
    /// How many elements it has given in its turn.
    given: i64,
}

impl Turns {
    fn advance(&mut self, cycle: usize) {
        self.given = 0;
        self.at = (self.at + 1) % cycle;
    }
}

impl Interleave {
    fn cycle(&self, cx: &Cx) -> usize {
        self.cycle.unwrap_or(cx.threads()).max(1)
    }

    /// Opens the dataset of an element, where an iterator over it was saved if it was.
    async fn open(&self, element: Element, saved: Option<&Saved>, cx: &Cx) -> Result<Open> {
        let dataset = self.function.dataset(element.clone(), cx).await?;
        let cx = &cx.within(&dataset)?;
        let mut iterator = dataset.clone().iterator(cx)?;
        if let Some(room) = self.ahead {
            let mut prefetched = Prefetched::new(iterator, room);
            if let Some(saved) = saved {
                prefetched.restore(saved, cx).await?;
            }
            // Only now: what is made ahead is made where the iterator is.
            prefetched.begin(cx);
            iterator = Box::new(prefetched);
        } else if let Some(saved) = saved {
            iterator.restore(saved, cx).await?;
        }
        Ok(Open { element, dataset, iterator })
    }
}

impl Transform for Interleave {
    type State = Turns;
    const PASSES_END: bool = false;

    fn begin(&self, _: &Cx) -> Result<Turns> {
        Ok(Turns { open: Vec::new(), at: 0, given: 0 })
    }

    async fn next<'a>(&'a self, turns: &'a mut Turns, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        let cycle = self.cycle(cx);
        loop {
            cx.check()?;
            if let Some(Some(open)) = turns.open.get_mut(turns.at) {
                let within = cx.within(&open.dataset)?;
                match open.iterator.next(&within).await {
                    Ok(Some(element)) => {
                        turns.given += 1;
                        if turns.given >= self.block {
                            turns.advance(cycle);
                        }
                        return Ok(Some(element));
                    }
                    Ok(None) => {
                        turns.open[turns.at] = None;
                        turns.advance(cycle);
                    }
                    Err(error) => {
                        if self.ahead.is_some() {
                            turns.given += 1;
                            if turns.given >= self.block {
                                turns.advance(cycle);
                            }
                        }
                        return Err(error);
                    }
                }
                continue;
            }
            let opened = match input.next(cx).await {
                Ok(Some(element)) => self.open(element, None, cx).await.map(Some),
                other => other.map(|_| None),
            };
            match opened.inspect_err(|_| {
                // Where elements are made ahead an error takes the turn of a dataset, as in TensorFlow; that this call has no
                // more time is nobody else's.
                if self.ahead.is_some() && cx.check().is_ok() {
                    turns.advance(cycle);
                }
            })? {
                Some(open) => {
                    if turns.at >= turns.open.len() {
                        turns.open.resize_with(turns.at + 1, || None);
                    }
                    turns.open[turns.at] = Some(open);
                }
                None if turns.open.iter().all(Option::is_none) => return Ok(None),
                // Beyond those that are open there will be none.
                None if turns.at + 1 >= turns.open.len() => turns.advance(turns.at + 1),
                None => turns.advance(cycle),
            }
        }
    }

    fn cardinality(&self, _: i64) -> i64 {
        UNKNOWN
    }

    async fn save<'a>(&'a self, turns: &'a mut Turns, saved: &'a mut Saved) -> Result<()> {
        saved.set("at", turns.at as i64);
        saved.set("given", turns.given);
        saved.set("open", turns.open.len() as i64);
        for (index, open) in turns.open.iter_mut().enumerate() {
            let Some(open) = open else { continue };
            let saved = saved.part("open", index);
            saved.set_elements("element", vec![open.element.clone()]);
            open.iterator.save(saved.part("iterator", 0)).await?;
        }
        Ok(())
    }

    async fn restore<'a>(&'a self, turns: &'a mut Turns, _: &'a mut Input, saved: &'a Saved, cx: &'a Cx) -> Result<()> {
        turns.at = saved.get("at")? as usize;
        turns.given = saved.get("given")?;
        for index in 0..saved.get("open")? as usize {
            let open = match saved.saved_part("open", index) {
                Some(saved) => {
                    let iterator = saved.required_part("iterator", 0)?;
                    Some(self.open(saved.element("element")?, Some(iterator), cx).await?)
                }
                None => None,
            };
            turns.open.push(open);
        }
        Ok(())
    }
}

#[register_kernel(device = Cpu, cheap)]
fn flat_map(state: &FunctionKernel, ctx: &mut KernelContext<'_, ops::FlatMapDataset>) -> Result<()> {
    let function = state.closure(ctx)?;
    let interleave = Interleave { function, cycle: Some(1), block: 1, ahead: None };
    set_transformed(ctx, &state.spec, interleave)
}

/// Sets the output to an interleaved dataset.
fn set_interleaved(state: &FunctionKernel, ctx: &mut RawContext<'_>, ahead: Option<usize>) -> Result<()> {
    let (cycle, block): (i64, i64) = (scalar(ctx, "cycle_length")?, scalar(ctx, "block_length")?);
    ensure!(cycle > 0 || cycle == -1, InvalidArgument, "`cycle_length` must be > 0");
    ensure!(block > 0, InvalidArgument, "`block_length` must be > 0");
    let function = state.closure(ctx)?;
    let cycle = usize::try_from(cycle).ok();
    set_transformed(ctx, &state.spec, Interleave { function, cycle, block, ahead })
}

#[register_kernel(device = Cpu, cheap)]
fn interleave(state: &FunctionKernel, ctx: &mut KernelContext<'_, ops::InterleaveDataset>) -> Result<()> {
    set_interleaved(state, ctx, None)
}

/// How many elements are made ahead of a dataset whose turn is to come.
const AHEAD: usize = 16;

#[register_kernel(device = Cpu, cheap, op = [
    ops::ParallelInterleaveDatasetV2, ops::ParallelInterleaveDatasetV3, ops::ParallelInterleaveDatasetV4,
])]
fn parallel_interleave(state: &FunctionKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let (calls, cycle): (i64, i64) = (scalar(ctx, "num_parallel_calls")?, scalar(ctx, "cycle_length")?);
    parallel_calls(calls, "num_parallel_calls")?;
    ensure!(
        cycle == -1 || calls <= cycle,
        InvalidArgument,
        "num_parallel_calls must be less than or equal to cycle_length, or -1, but {calls} is more than {cycle}."
    );
    if ctx.op().name == "ParallelInterleaveDatasetV4" {
        for name in ["buffer_output_elements", "prefetch_input_elements"] {
            let count: i64 = scalar(ctx, name)?;
            ensure!(
                count == -1 || count > 0 || (count == 0 && name == "prefetch_input_elements"),
                InvalidArgument,
                "`{name}` must be positive, or -1 for any number, but is {count}"
            );
        }
    }
    let block: i64 = scalar(ctx, "block_length")?;
    let ahead = usize::try_from(block).unwrap_or(1).clamp(1, AHEAD);
    set_interleaved(state, ctx, Some(ahead))
}

#[register_kernel(device = Cpu, cheap, op = [
    ops::ParallelInterleaveDataset, ops::ExperimentalParallelInterleaveDataset, ops::LegacyParallelInterleaveDatasetV2,
])]
fn legacy_parallel_interleave(state: &FunctionKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let ahead: i64 = scalar(ctx, "buffer_output_elements")?;
    ensure!(ahead > 0 || ahead == -1, InvalidArgument, "`buffer_output_elements` must be > 0");
    let inputs: i64 = scalar(ctx, "prefetch_input_elements")?;
    ensure!(inputs >= 0 || inputs == -1, InvalidArgument, "`prefetch_input_elements` must be >= 0");
    set_interleaved(state, ctx, Some(usize::try_from(ahead).unwrap_or(AHEAD).min(AHEAD)))
}

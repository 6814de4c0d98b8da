//! The elements of datasets that a function makes of elements.

use std::collections::VecDeque;
use std::sync::Arc;

use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::scratch;
use kernlink::{Error, Result, ensure};
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

/// Which of TensorFlow's iterators this one is like, where they differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Like {
    /// An error that comes with the input's end is passed on with the end.
    FlatMap,
    /// Such an error comes once, and then what the open datasets have.
    Interleave,
    /// Such an error, and one of an open dataset, is nothing but the end. And where a dataset ends that no other takes the place of, its
    /// block goes on with the next dataset's elements: it does in TensorFlow if these are there already.
    LegacyParallelInterleave,
}

/// Interleaves the datasets that a function makes.
struct Interleave {
    function: Closure,
    /// From how many datasets elements are taken in turn; `None` for as many as there are threads.
    cycle: Option<usize>,
    block: i64,
    /// How many elements are made ahead of each, if any are.
    ahead: Option<usize>,
    like: Like,
}

/// Of how many elements of the input ahead it is known that they are there.
const MOST_READ: usize = 1024;

struct Turns {
    open: Vec<Option<Open>>,
    /// Elements of the input for datasets that take the places of those that have ended.
    next: VecDeque<Result<Element>>,
    /// Whose turn it is.
    at: usize,
    /// How many elements it has given in its turn.
    given: i64,
}

impl Turns {
    fn advance(&mut self, cycle: usize) {
        self.given = 0;
        self.go_on(cycle);
    }

    /// The next dataset goes on with the block.
    fn go_on(&mut self, cycle: usize) {
        self.at = (self.at + 1) % cycle;
    }
}

impl Interleave {
    fn cycle(&self, cx: &Cx) -> usize {
        self.cycle.unwrap_or(cx.threads()).max(1)
    }

    /// The next element of the input.
    async fn element(&self, input: &mut Input, cx: &Cx) -> Result<Option<Element>> {
        match self.like {
            Like::FlatMap => input.next(cx).await,
            Like::Interleave => input.next_then_end(cx).await,
            Like::LegacyParallelInterleave => input.next_or_end(cx).await,
        }
    }

    /// Whether another dataset takes the place of the one that has ended: empty places are taken in turn, and this is the last of them.
    async fn is_followed(&self, turns: &mut Turns, input: &mut Input, cx: &Cx) -> Result<bool> {
        let empty = turns.open.iter().filter(|open| open.is_none()).count();
        let empty = (self.cycle(cx).saturating_sub(turns.open.len()) + empty).min(MOST_READ);
        while turns.next.len() < empty {
            let Some(element) = self.element(input, cx).await.transpose() else { return Ok(false) };
            // That this call has no more time is no error of the element's.
            cx.check()?;
            turns.next.push_back(element);
        }
        Ok(true)
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
    fn begin(&self, _: &Cx) -> Result<Turns> {
        Ok(Turns { open: Vec::new(), next: VecDeque::new(), at: 0, given: 0 })
    }

    async fn next<'a>(&'a self, turns: &'a mut Turns, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        let cycle = self.cycle(cx);
        let is_legacy = self.like == Like::LegacyParallelInterleave;
        loop {
            cx.check()?;
            if let Some(Some(open)) = turns.open.get_mut(turns.at) {
                let within = cx.within(&open.dataset)?;
                let element = match open.iterator.next(&within).await {
                    Err(error) if error.is_at_end() && is_legacy => Ok(None),
                    element => element.map_err(Error::before_end),
                };
                match element {
                    Ok(Some(element)) => {
                        turns.given += 1;
                        if turns.given >= self.block {
                            turns.advance(cycle);
                        }
                        return Ok(Some(element));
                    }
                    Ok(None) => {
                        turns.open[turns.at] = None;
                        if is_legacy && !self.is_followed(turns, input, cx).await? {
                            turns.go_on(cycle);
                        } else {
                            turns.advance(cycle);
                        }
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
            let next = match turns.next.pop_front() {
                Some(element) => element.map(Some),
                None => self.element(input, cx).await,
            };
            let opened = match next {
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
                None => {
                    let cycle = if turns.at + 1 >= turns.open.len() { turns.at + 1 } else { cycle };
                    if is_legacy { turns.go_on(cycle) } else { turns.advance(cycle) }
                }
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
        saved.set_results("next", scratch::collected(turns.next.iter().map(|result| result.clone().map(Some)))?);
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
        turns.next = saved.results("next")?.iter().cloned().filter_map(Result::transpose).collect();
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
    let interleave = Interleave { function, cycle: Some(1), block: 1, ahead: None, like: Like::FlatMap };
    set_transformed(ctx, &state.spec, interleave)
}

/// Sets the output to an interleaved dataset.
fn set_interleaved(state: &FunctionKernel, ctx: &mut RawContext<'_>, ahead: Option<usize>, like: Like) -> Result<()> {
    let (cycle, block): (i64, i64) = (scalar(ctx, "cycle_length")?, scalar(ctx, "block_length")?);
    ensure!(cycle > 0 || cycle == -1, InvalidArgument, "`cycle_length` must be > 0");
    ensure!(block > 0, InvalidArgument, "`block_length` must be > 0");
    let function = state.closure(ctx)?;
    let cycle = usize::try_from(cycle).ok();
    set_transformed(ctx, &state.spec, Interleave { function, cycle, block, ahead, like })
}

#[register_kernel(device = Cpu, cheap)]
fn interleave(state: &FunctionKernel, ctx: &mut KernelContext<'_, ops::InterleaveDataset>) -> Result<()> {
    set_interleaved(state, ctx, None, Like::Interleave)
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
    set_interleaved(state, ctx, Some(ahead), Like::Interleave)
}

#[register_kernel(device = Cpu, cheap, op = [
    ops::ParallelInterleaveDataset, ops::ExperimentalParallelInterleaveDataset, ops::LegacyParallelInterleaveDatasetV2,
])]
fn legacy_parallel_interleave(state: &FunctionKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let ahead: i64 = scalar(ctx, "buffer_output_elements")?;
    ensure!(ahead > 0 || ahead == -1, InvalidArgument, "`buffer_output_elements` must be > 0");
    let inputs: i64 = scalar(ctx, "prefetch_input_elements")?;
    ensure!(inputs >= 0 || inputs == -1, InvalidArgument, "`prefetch_input_elements` must be >= 0");
    set_interleaved(
        state,
        ctx,
        Some(usize::try_from(ahead).unwrap_or(AHEAD).min(AHEAD)),
        Like::LegacyParallelInterleave,
    )
}

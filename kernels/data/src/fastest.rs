//! Datasets that find out which of several ways is the fastest.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kernlink::attr::FunctionRef;
use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::step::BoxFuture;
use kernlink::tensor::scratch;
use kernlink::{Error, Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{
    Dataset, DatasetIterator, Element, Head, INFINITE, Spec, UNKNOWN, input_dataset, scalar, set_dataset, tensors,
    to_tensor,
};
use crate::flatten::equal_datasets;
use crate::function::{Captured, Closure};
use crate::saved::Saved;
use crate::transform::Input;
use crate::turn::Turn;

/// The index of the times whose 90th percentile is the least; the last of equal ones.
fn fastest(times: &mut [Vec<Duration>]) -> usize {
    let percentile = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times.get((times.len() * 9).div_ceil(10).saturating_sub(1)).copied().unwrap_or_default()
    };
    let percentiles = times.iter_mut().map(percentile).enumerate();
    percentiles.min_by_key(|&(index, time)| (time, std::cmp::Reverse(index))).map_or(0, |(index, _)| index)
}

/// The most elements whose times are kept: more say nothing new.
const MOST_TIMES: usize = 1 << 16;

fn note(times: &mut Vec<Duration>, time: Duration) -> Result<()> {
    if times.len() < MOST_TIMES { scratch::push(times, time) } else { Ok(()) }
}

/// Datasets of the same elements.
struct Fastest {
    head: Head,
    inputs: Vec<Arc<dyn Dataset>>,
    cardinality: i64,
    experiments: i64,
}

struct FastestIterator {
    dataset: Arc<Fastest>,
    inputs: Vec<Input>,
    times: Vec<Vec<Duration>>,
    /// For how many elements all were asked.
    asked: i64,
    chosen: Option<usize>,
}

impl Dataset for Fastest {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        self.cardinality
    }

    fn iterator(self: Arc<Self>, cx: &Cx) -> Result<Box<dyn DatasetIterator>> {
        let inputs: Vec<Input> = self.inputs.iter().map(|input| Input::new(input, cx)).collect::<Result<_>>()?;
        let times = vec![Vec::new(); inputs.len()];
        Ok(Box::new(FastestIterator { dataset: self, inputs, times, asked: 0, chosen: None }))
    }

    fn inputs(&self) -> Vec<Arc<dyn Dataset>> {
        self.inputs.clone()
    }
}

impl DatasetIterator for FastestIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(async move {
            if self.asked >= self.dataset.experiments {
                let times = &mut self.times;
                let chosen = *self.chosen.get_or_insert_with(|| fastest(times));
                return self.inputs[chosen].next(cx).await;
            }
            let mut first = Ok(None);
            for (index, input) in self.inputs.iter_mut().enumerate() {
                let start = Instant::now();
                let element = input.next(cx).await;
                cx.go_on().await?;
                note(&mut self.times[index], start.elapsed())?;
                if index == 0 {
                    first = element;
                }
            }
            self.asked += 1;
            first
        })
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            saved.set("asked", self.asked);
            saved.set("chosen", self.chosen.map_or(-1, |chosen| chosen as i64));
            for (index, input) in self.inputs.iter_mut().enumerate() {
                input.save(saved.part("of", index)).await?;
            }
            Ok(())
        })
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, cx: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.asked = saved.get("asked")?;
            let chosen = usize::try_from(saved.get("chosen")?).ok();
            self.chosen = chosen.filter(|&chosen| chosen < self.inputs.len());
            for (index, input) in self.inputs.iter_mut().enumerate() {
                input.restore(saved.required_part("of", index)?, cx).await?;
            }
            Ok(())
        })
    }
}

struct FastestKernel {
    spec: Spec,
    experiments: i64,
}

impl KernelState for FastestKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self { spec: Spec::of(ctx)?, experiments: ctx.attrs.required("num_experiments")? })
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::ChooseFastestDataset, ops::ExperimentalChooseFastestDataset])]
fn choose_fastest(state: &FastestKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let (inputs, spec) = equal_datasets(&tensors(ctx, "input_datasets")?, &state.spec, "ChooseFastestDataset")?;
    let mut cardinality = UNKNOWN;
    for (index, input) in inputs.iter().enumerate() {
        let own = input.cardinality();
        ensure!(
            own == UNKNOWN || cardinality == UNKNOWN || own == cardinality,
            InvalidArgument,
            "All inputs to ChooseFastestDataset must have compatible cardinalities. Input {index} has cardinality: {own}, \
             while all prior inputs have cardinality: {cardinality}."
        );
        if cardinality == UNKNOWN {
            cardinality = own;
        }
    }
    let head = Head::above(&state.spec.with(spec), &inputs)?;
    set_dataset(ctx, Fastest { head, inputs, cardinality, experiments: state.experiments })
}

/// What is left of an input, as a dataset: all iterators take from one.
struct Rest {
    head: Head,
    input: Arc<Turn<Input>>,
    /// How many elements may be taken, if not all.
    most: Option<i64>,
    is_taken: AtomicBool,
}

struct RestIterator {
    dataset: Arc<Rest>,
    taken: i64,
}

impl Dataset for Rest {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        UNKNOWN
    }

    fn iterator(self: Arc<Self>, _: &Cx) -> Result<Box<dyn DatasetIterator>> {
        ensure!(
            !self.is_taken.swap(true, Ordering::Relaxed),
            InvalidArgument,
            "Cannot create more than one WrapperIterator per WrapperDataset. Make sure the branches to ChooseFastestDataset do \
             not expect the input to repeat."
        );
        Ok(Box::new(RestIterator { dataset: self, taken: 0 }))
    }
}

impl DatasetIterator for RestIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(async move {
            if self.dataset.most.is_some_and(|most| self.taken >= most) {
                return Ok(None);
            }
            let element = self.dataset.input.take().await.next(cx).await?;
            self.taken += i64::from(element.is_some());
            Ok(element)
        })
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        saved.set("taken", self.taken);
        Box::pin(std::future::ready(Ok(())))
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, _: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.taken = saved.get("taken")?;
            Ok(())
        })
    }
}

/// A dataset that one of several functions makes of another.
struct Branches {
    head: Head,
    input: Arc<dyn Dataset>,
    branches: Vec<Closure>,
    /// How many elements are taken from each before one is chosen.
    elements: i64,
    numerator: i64,
    denominator: i64,
}

/// What a branch made, and its iterator.
struct Current {
    dataset: Arc<dyn Dataset>,
    iterator: Box<dyn DatasetIterator>,
}

struct BranchesIterator {
    dataset: Arc<Branches>,
    input: Arc<Turn<Input>>,
    current: Option<Current>,
    times: Vec<Vec<Duration>>,
    /// The branch that is tried; as many as there are once one is chosen.
    branch: usize,
    /// How many elements were taken from it.
    taken: i64,
    chosen: usize,
}

impl Dataset for Branches {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        match self.input.cardinality() {
            count @ (INFINITE | UNKNOWN) => count,
            count => (count as f64 * self.numerator as f64 / self.denominator as f64) as i64,
        }
    }

    fn iterator(self: Arc<Self>, cx: &Cx) -> Result<Box<dyn DatasetIterator>> {
        let input = Arc::new(Turn::new(Input::new(&self.input, cx)?));
        let times = vec![Vec::new(); self.branches.len()];
        Ok(Box::new(BranchesIterator { dataset: self, input, current: None, times, branch: 0, taken: 0, chosen: 0 }))
    }

    fn inputs(&self) -> Vec<Arc<dyn Dataset>> {
        vec![self.input.clone()]
    }
}

impl BranchesIterator {
    fn is_chosen(&self) -> bool {
        self.branch >= self.dataset.branches.len()
    }

    async fn open(&mut self, cx: &Cx) -> Result<Current> {
        let Branches { branches, elements, numerator, denominator, input, .. } = &*self.dataset;
        let (branch, most) = match self.is_chosen() {
            true => (self.chosen, None),
            false => {
                let most = i128::from(*elements) * i128::from(*numerator) / i128::from(*denominator);
                (self.branch, Some(i64::try_from(most).unwrap_or(i64::MAX)))
            }
        };
        let head = Head::source(&input.head().spec);
        let rest = Rest { head, input: self.input.clone(), most, is_taken: AtomicBool::new(false) };
        let dataset = branches[branch].dataset(vec![to_tensor(Arc::new(rest))], cx).await?;
        let iterator = dataset.clone().iterator(&cx.within(&dataset)?)?;
        Ok(Current { dataset, iterator })
    }
}

impl DatasetIterator for BranchesIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(async move {
            if self.current.is_none() {
                if self.is_chosen() {
                    self.chosen = fastest(&mut self.times);
                }
                self.current = Some(self.open(cx).await?);
            }
            let Some(current) = &mut self.current else { return Ok(None) };
            let cx = &cx.within(&current.dataset)?;
            let start = Instant::now();
            let element = current.iterator.next(cx).await;
            if self.is_chosen() {
                return element;
            }
            cx.go_on().await?;
            // The first takes longer, whatever it is.
            if self.taken > 0 {
                note(&mut self.times[self.branch], start.elapsed())?;
            }
            self.taken += 1;
            if self.taken >= self.dataset.elements {
                self.taken = 0;
                self.branch += 1;
                self.current = None;
            }
            element
        })
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if let Some(current) = &mut self.current {
                // First what is under way: it may use the input.
                current.iterator.save(saved.part("current", 0)).await?;
            }
            saved.set("branch", self.branch as i64);
            saved.set("taken", self.taken);
            saved.set("chosen", self.chosen as i64);
            self.input.take().await.save(saved).await
        })
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, cx: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let index = |name| -> Result<usize> {
                let count = self.dataset.branches.len();
                let index = usize::try_from(saved.get(name)?).ok().filter(|&index| index <= count);
                index.ok_or_else(|| Error::invalid_argument(format!("the state that was saved has no branch {name}")))
            };
            (self.branch, self.chosen) = (index("branch")?, index("chosen")?.min(self.dataset.branches.len() - 1));
            self.taken = saved.get("taken")?;
            self.input.take().await.restore(saved, cx).await?;
            self.current = match saved.saved_part("current", 0) {
                Some(part) => {
                    let mut current = self.open(cx).await?;
                    current.iterator.restore(part, &cx.within(&current.dataset)?).await?;
                    Some(current)
                }
                None => None,
            };
            Ok(())
        })
    }
}

struct BranchesKernel {
    spec: Spec,
    branches: Vec<Arc<Captured>>,
    /// How many other arguments each takes.
    lengths: Vec<usize>,
    elements: i64,
}

impl KernelState for BranchesKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let branches: Vec<FunctionRef> = ctx.attrs.required("branches")?;
        let lengths: Vec<i64> = ctx.attrs.required("other_arguments_lengths")?;
        ensure!(
            branches.len() == lengths.len(),
            InvalidArgument,
            "branches and other_arguments_lengths must have the same length."
        );
        let others: Vec<kernlink::dtype::DataType> = ctx.attrs.required("Targuments")?;
        let lengths: Option<Vec<usize>> = lengths.iter().map(|&length| usize::try_from(length).ok()).collect();
        let Some(lengths) = lengths.filter(|lengths| {
            lengths.iter().try_fold(0usize, |sum, &length| sum.checked_add(length)) == Some(others.len())
        }) else {
            return Err(Error::invalid_argument(format!(
                "other_arguments_lengths must be at least 0, and their sum {}, as many as there are other_arguments",
                others.len()
            )));
        };
        let branches = branches.into_iter().map(|branch| Captured::of(ctx, branch)).collect::<Result<_>>()?;
        Ok(Self { spec: Spec::of(ctx)?, branches, lengths, elements: ctx.attrs.required("num_elements_per_branch")? })
    }
}

#[register_kernel(device = Cpu, cheap)]
fn choose_fastest_branch(
    state: &BranchesKernel,
    ctx: &mut KernelContext<'_, ops::ChooseFastestBranchDataset>,
) -> Result<()> {
    let input = input_dataset(ctx, 0)?;
    let (numerator, denominator): (i64, i64) = (scalar(ctx, "ratio_numerator")?, scalar(ctx, "ratio_denominator")?);
    ensure!(numerator > 0, InvalidArgument, "`ratio_numerator` must be greater than zero.");
    ensure!(denominator > 0, InvalidArgument, "`ratio_denominator` must be greater than zero.");
    ensure!(
        state.elements % denominator == 0,
        InvalidArgument,
        "`num_elements_per_branch` must be divisible by `ratio_denominator`."
    );
    let mut others = tensors(ctx, "other_arguments")?.into_iter();
    let branches = state.branches.iter().zip(&state.lengths);
    let branches = branches.map(|(branch, &length)| Closure::with(branch, others.by_ref().take(length).collect()));
    let branches = branches.collect::<Result<_>>()?;
    let head = Head::above(&state.spec, [&input])?;
    set_dataset(ctx, Branches { head, input, branches, elements: state.elements, numerator, denominator })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_percentile_is_the_fastest() {
        let of = |times: &[u64]| times.iter().map(|&time| Duration::from_millis(time)).collect::<Vec<_>>();
        // One slow time of ten counts for nothing.
        let slow: Vec<u64> = (0..10).map(|index| if index == 3 { 1000 } else { 1 }).collect();
        assert_eq!(fastest(&mut [of(&[2; 10]), of(&slow)]), 1);
        assert_eq!(fastest(&mut [of(&[1]), of(&[1])]), 1);
        assert_eq!(fastest(&mut [of(&[]), of(&[1])]), 0);
    }
}

//! What functions make of elements.

use std::sync::Arc;

use kernlink::dtype::DataType;
use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::tensor::Tensor;
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::ahead::Ahead;
use crate::context::Cx;
use crate::dataset::{Element, Spec, UNKNOWN, scalar, tensors};
use crate::function::{Captured, Closure, ended};
use crate::prefetch::Call;
use crate::saved::Saved;
use crate::transform::{Input, Transform, set_transformed};

/// The state of kernels of datasets by one function.
pub(crate) struct FunctionKernel {
    pub(crate) spec: Spec,
    pub(crate) function: Arc<Captured>,
    pub(crate) preserves_cardinality: bool,
}

impl FunctionKernel {
    /// With the function that an attr names.
    pub(crate) fn of(ctx: &RawConstruction<'_>, attr: &str) -> Result<FunctionKernel> {
        let preserves_cardinality = match ctx.attrs.get("preserve_cardinality") {
            Some(_) => ctx.attrs.required("preserve_cardinality")?,
            None => false,
        };
        Ok(FunctionKernel { spec: Spec::of(ctx)?, function: Captured::new(ctx, attr)?, preserves_cardinality })
    }

    /// The function with what it takes behind the components of an element.
    pub(crate) fn closure(&self, ctx: &RawContext<'_>) -> Result<Closure> {
        Closure::new(&self.function, ctx, "other_arguments")
    }
}

impl KernelState for FunctionKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        FunctionKernel::of(ctx, "f")
    }
}

/// How many calls may be under way: what an input says, but no more than are of use.
pub(crate) fn parallel_calls(count: i64, what: &str) -> Result<Parallelism> {
    ensure!(count > 0 || count == -1, InvalidArgument, "{what} must be greater than zero.");
    Ok(Parallelism(count))
}

/// How many calls may be under way.
#[derive(Clone, Copy)]
pub(crate) struct Parallelism(i64);

impl Parallelism {
    /// More calls than these only take memory.
    const MOST: usize = 256;

    pub(crate) fn calls(self, cx: &Cx) -> usize {
        usize::try_from(self.0).unwrap_or(cx.threads()).clamp(1, Parallelism::MOST)
    }
}

struct Map {
    function: Closure,
    preserves_cardinality: bool,
}

/// How many elements there are if a function makes one of each.
fn mapped_cardinality(input: i64, preserves: bool) -> i64 {
    if preserves { input } else { UNKNOWN }
}

impl Transform for Map {
    type State = ();

    fn begin(&self, _: &Cx) -> Result<()> {
        Ok(())
    }

    async fn next<'a>(&'a self, _: &'a mut (), input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        match input.next(cx).await? {
            Some(element) => ended(self.function.call(element, cx).await, self.preserves_cardinality),
            None => Ok(None),
        }
    }

    fn cardinality(&self, input: i64) -> i64 {
        mapped_cardinality(input, self.preserves_cardinality)
    }

    fn place(&self, index: i64, _: i64) -> Option<i64> {
        Some(index)
    }

    async fn made<'a>(&'a self, element: Element, _: i64, cx: &'a Cx) -> Result<Element> {
        self.function.call(element, cx).await
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::MapDataset, ops::ExperimentalMapDataset])]
fn map(state: &FunctionKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let function = state.closure(ctx)?;
    set_transformed(ctx, &state.spec, Map { function, preserves_cardinality: state.preserves_cardinality })
}

/// A map whose calls go on at a time.
pub(crate) struct ParallelMap {
    function: Arc<Closure>,
    preserves_cardinality: bool,
    parallelism: Parallelism,
}

impl ParallelMap {
    fn call(&self) -> Call {
        let (function, preserves) = (self.function.clone(), self.preserves_cardinality);
        Arc::new(move |element, cx| {
            let function = function.clone();
            Box::pin(async move { ended(function.call(element, &cx).await, preserves) })
        })
    }
}

impl Transform for ParallelMap {
    type State = Ahead;

    fn begin(&self, _: &Cx) -> Result<Ahead> {
        Ok(Ahead::default())
    }

    async fn next<'a>(&'a self, ahead: &'a mut Ahead, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        ahead.next(self.parallelism.calls(cx), input, cx, || self.call()).await.unwrap_or(Ok(None))
    }

    fn cardinality(&self, input: i64) -> i64 {
        mapped_cardinality(input, self.preserves_cardinality)
    }

    async fn save<'a>(&'a self, ahead: &'a mut Ahead, saved: &'a mut Saved) -> Result<()> {
        ahead.save(saved).await
    }

    async fn restore<'a>(
        &'a self,
        ahead: &'a mut Ahead,
        input: &'a mut Input,
        saved: &'a Saved,
        cx: &'a Cx,
    ) -> Result<()> {
        ahead.restore(self.parallelism.calls(cx), input, saved, cx, || self.call()).await
    }

    fn place(&self, index: i64, _: i64) -> Option<i64> {
        Some(index)
    }

    async fn made<'a>(&'a self, element: Element, _: i64, cx: &'a Cx) -> Result<Element> {
        self.function.call(element, cx).await
    }
}

/// The scalar that input `num_parallel_calls` is.
pub(crate) fn parallelism(ctx: &RawContext<'_>) -> Result<Parallelism> {
    let count = match ctx.input_named("num_parallel_calls")?.dtype() {
        DataType::Int32 => i64::from(scalar::<i32>(ctx, "num_parallel_calls")?),
        _ => scalar(ctx, "num_parallel_calls")?,
    };
    parallel_calls(count, "num_parallel_calls")
}

#[register_kernel(device = Cpu, cheap, op = [ops::ParallelMapDataset, ops::ParallelMapDatasetV2])]
fn parallel_map(state: &FunctionKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let (function, parallelism) = (Arc::new(state.closure(ctx)?), parallelism(ctx)?);
    let preserves_cardinality = state.preserves_cardinality;
    set_transformed(ctx, &state.spec, ParallelMap { function, preserves_cardinality, parallelism })
}

/// A map whose calls go on at a time, and whose results are stacked.
#[register_kernel(device = Cpu, cheap, op = [ops::MapAndBatchDataset, ops::ExperimentalMapAndBatchDataset])]
fn map_and_batch(state: &FunctionKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let (function, parallelism) = (Arc::new(state.closure(ctx)?), parallelism(ctx)?);
    let batch = crate::batch::Batch::of(ctx)?;
    let preserves_cardinality = state.preserves_cardinality;
    let map = ParallelMap { function, preserves_cardinality, parallelism };
    crate::batch::set_mapped(ctx, &state.spec, map, batch)
}

/// A function that hands on a state.
struct Scan {
    function: Closure,
    initial: Vec<Tensor>,
    preserves_cardinality: bool,
}

impl Transform for Scan {
    type State = Vec<Tensor>;

    fn begin(&self, _: &Cx) -> Result<Vec<Tensor>> {
        Ok(self.initial.clone())
    }

    async fn next<'a>(
        &'a self,
        state: &'a mut Vec<Tensor>,
        input: &'a mut Input,
        cx: &'a Cx,
    ) -> Result<Option<Element>> {
        let Some(element) = input.next(cx).await? else { return Ok(None) };
        let arguments = state.iter().cloned().chain(element).collect();
        let Some(mut results) = ended(self.function.call(arguments, cx).await, self.preserves_cardinality)? else {
            return Ok(None);
        };
        let kept = self.initial.len();
        ensure!(
            results.len() >= kept && results.iter().zip(&self.initial).all(|(new, old)| new.dtype() == old.dtype()),
            InvalidArgument,
            "`f` must return the state, of the same dtypes as `initial_state`, before the components of an element."
        );
        let made = results.split_off(kept);
        *state = results;
        Ok(Some(made))
    }

    fn cardinality(&self, input: i64) -> i64 {
        mapped_cardinality(input, self.preserves_cardinality)
    }

    async fn save<'a>(&'a self, state: &'a mut Vec<Tensor>, saved: &'a mut Saved) -> Result<()> {
        saved.set_elements("state", vec![state.clone()]);
        Ok(())
    }

    async fn restore<'a>(
        &'a self,
        state: &'a mut Vec<Tensor>,
        _: &'a mut Input,
        saved: &'a Saved,
        _: &'a Cx,
    ) -> Result<()> {
        *state = saved.element("state")?;
        Ok(())
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::ScanDataset, ops::ExperimentalScanDataset])]
fn scan(state: &FunctionKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let (function, initial) = (state.closure(ctx)?, tensors(ctx, "initial_state")?);
    let preserves_cardinality = state.preserves_cardinality;
    set_transformed(ctx, &state.spec, Scan { function, initial, preserves_cardinality })
}

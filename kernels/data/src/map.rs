//! What functions make of elements.

use std::sync::Arc;

use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::tensor::Tensor;
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Element, Spec, UNKNOWN, tensors};
use crate::function::{Captured, Closure, ended};
use crate::parallel_map::{Keeps, ParallelMap, parallelism};
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
fn parallel(state: &FunctionKernel, ctx: &RawContext<'_>) -> Result<ParallelMap> {
    let function = Arc::new(state.closure(ctx)?);
    let call: Call = Arc::new(move |element, cx| {
        let function = function.clone();
        Box::pin(async move { function.call(element, &cx).await.map(Some) })
    });
    let keeps = Keeps::all_if(state.preserves_cardinality);
    Ok(ParallelMap { call, parallelism: parallelism(ctx)?, keeps, has_random_access: true })
}

#[register_kernel(device = Cpu, cheap, op = [ops::ParallelMapDataset, ops::ParallelMapDatasetV2])]
fn parallel_map(state: &FunctionKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let map = parallel(state, ctx)?;
    set_transformed(ctx, &state.spec, map)
}

/// A map whose calls go on at a time, and whose results are stacked.
#[register_kernel(device = Cpu, cheap, op = [ops::MapAndBatchDataset, ops::ExperimentalMapAndBatchDataset])]
fn map_and_batch(state: &FunctionKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let (map, batch) = (parallel(state, ctx)?, crate::batch::Batch::of(ctx)?);
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

//! The elements for which a function is true.

use std::sync::Arc;

use kernlink::dtype::DataType;
use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::{Result, bail};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Element, Spec, UNKNOWN};
use crate::function::Closure;
use crate::map::FunctionKernel;
use crate::parallel_map::{Keeps, ParallelMap, parallelism};
use crate::prefetch::Call;
use crate::transform::{Input, Transform, set_transformed};

/// The state of a kernel whose function is a predicate.
struct PredicateKernel(FunctionKernel);

impl KernelState for PredicateKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        FunctionKernel::of(ctx, "predicate").map(Self)
    }
}

struct Filter(Closure);

impl Transform for Filter {
    type State = ();

    fn begin(&self, _: &Cx) -> Result<()> {
        Ok(())
    }

    async fn next<'a>(&'a self, _: &'a mut (), input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        loop {
            cx.go_on().await?;
            let Some(element) = input.next(cx).await? else { return Ok(None) };
            if self.0.is_true(element.clone(), cx).await? {
                return Ok(Some(element));
            }
        }
    }

    fn cardinality(&self, _: i64) -> i64 {
        UNKNOWN
    }
}

#[register_kernel(device = Cpu, cheap)]
fn filter(state: &PredicateKernel, ctx: &mut KernelContext<'_, ops::FilterDataset>) -> Result<()> {
    let predicate = state.0.closure(ctx)?;
    set_transformed(ctx, &state.0.spec, Filter(predicate))
}

struct TakeWhile(Closure);

impl Transform for TakeWhile {
    type State = ();

    fn begin(&self, _: &Cx) -> Result<()> {
        Ok(())
    }

    async fn next<'a>(&'a self, _: &'a mut (), input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        let Some(element) = input.next(cx).await? else { return Ok(None) };
        if self.0.is_true(element.clone(), cx).await? {
            return Ok(Some(element));
        }
        input.end();
        Ok(None)
    }

    fn cardinality(&self, _: i64) -> i64 {
        UNKNOWN
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::TakeWhileDataset, ops::ExperimentalTakeWhileDataset])]
fn take_while(state: &PredicateKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let predicate = state.0.closure(ctx)?;
    set_transformed(ctx, &state.0.spec, TakeWhile(predicate))
}

#[register_kernel(device = Cpu, cheap)]
fn parallel_filter(state: &PredicateKernel, ctx: &mut KernelContext<'_, ops::ParallelFilterDataset>) -> Result<()> {
    let predicate = Arc::new(state.0.closure(ctx)?);
    let call: Call = Arc::new(move |element, cx| {
        let predicate = predicate.clone();
        Box::pin(async move { Ok(predicate.is_true(element.clone(), &cx).await?.then_some(element)) })
    });
    let filter = ParallelMap { call, parallelism: parallelism(ctx)?, keeps: Keeps::Some, has_random_access: false };
    set_transformed(ctx, &state.0.spec, filter)
}

/// Keeps elements by their last component, and leaves that out.
struct ByLastComponent;

impl Transform for ByLastComponent {
    type State = ();

    fn begin(&self, _: &Cx) -> Result<()> {
        Ok(())
    }

    async fn next<'a>(&'a self, _: &'a mut (), input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        loop {
            cx.go_on().await?;
            let Some(mut element) = input.next(cx).await? else { return Ok(None) };
            let stays = match element.pop() {
                Some(last) if last.dtype() == DataType::Bool && last.num_elements() == 1 => last.as_slice::<bool>()?[0],
                _ => bail!(InvalidArgument, "last component must be a scalar bool"),
            };
            if stays {
                return Ok(Some(element));
            }
        }
    }

    fn cardinality(&self, _: i64) -> i64 {
        UNKNOWN
    }
}

#[register_kernel(device = Cpu, cheap)]
fn filter_by_last_component(spec: &Spec, ctx: &mut KernelContext<'_, ops::FilterByLastComponentDataset>) -> Result<()> {
    set_transformed(ctx, spec, ByLastComponent)
}

//! The elements for which a function is true.

use std::sync::Arc;

use kernlink::dtype::DataType;
use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::{Result, bail};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::ahead::Ahead;
use crate::context::Cx;
use crate::dataset::{Element, Spec, UNKNOWN};
use crate::function::Closure;
use crate::map::{FunctionKernel, Parallelism, parallelism};
use crate::prefetch::Call;
use crate::saved::Saved;
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
            cx.check()?;
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

struct ParallelFilter {
    predicate: Arc<Closure>,
    parallelism: Parallelism,
}

impl ParallelFilter {
    fn call(&self) -> Call {
        let predicate = self.predicate.clone();
        Arc::new(move |element, cx| {
            let predicate = predicate.clone();
            Box::pin(async move { Ok(predicate.is_true(element.clone(), &cx).await?.then_some(element)) })
        })
    }
}

impl Transform for ParallelFilter {
    type State = Ahead;

    fn begin(&self, _: &Cx) -> Result<Ahead> {
        Ok(Ahead::default())
    }

    async fn next<'a>(&'a self, ahead: &'a mut Ahead, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        loop {
            cx.check()?;
            match ahead.next(self.parallelism.calls(cx), input, cx, || self.call()).await {
                None => return Ok(None),
                Some(Ok(None)) => {}
                Some(kept) => return kept,
            }
        }
    }

    fn cardinality(&self, _: i64) -> i64 {
        UNKNOWN
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
}

#[register_kernel(device = Cpu, cheap)]
fn parallel_filter(state: &PredicateKernel, ctx: &mut KernelContext<'_, ops::ParallelFilterDataset>) -> Result<()> {
    let (predicate, parallelism) = (Arc::new(state.0.closure(ctx)?), parallelism(ctx)?);
    set_transformed(ctx, &state.0.spec, ParallelFilter { predicate, parallelism })
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
            cx.check()?;
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

//! Random order without a buffer: elements are asked for by their places.

use std::sync::Arc;

use kernlink::kernel::{KernelContext, KernelState, RawConstruction};
use kernlink::step::BoxFuture;
use kernlink::{Result, ensure};
use kernlink_geometry::random::index_shuffle::IndexShuffle;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, Head, Spec, input_dataset, scalar, set_dataset};
use crate::random::{Seeds, seeds_of};
use crate::resource::Running;
use crate::saved::Saved;

/// The rounds of the permutation.
const ROUNDS: usize = 8;

struct GlobalShuffle {
    head: Head,
    input: Arc<dyn Dataset>,
    seeds: Arc<Seeds>,
}

struct GlobalShuffleIterator {
    dataset: Arc<GlobalShuffle>,
    keys: [i64; 3],
    at: i64,
}

impl Dataset for GlobalShuffle {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        self.input.cardinality()
    }

    fn iterator(self: Arc<Self>, _: &Cx) -> Result<Box<dyn DatasetIterator>> {
        let (first, second) = self.seeds.next();
        let (third, _) = self.seeds.next();
        Ok(Box::new(GlobalShuffleIterator { dataset: self, keys: [first, second, third], at: 0 }))
    }

    fn inputs(&self) -> Vec<Arc<dyn Dataset>> {
        vec![self.input.clone()]
    }

    fn seeds(&self) -> Option<&Seeds> {
        Some(&self.seeds)
    }
}

impl DatasetIterator for GlobalShuffleIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(async move {
            let input = &self.dataset.input;
            let count = input.cardinality();
            if self.at >= count {
                return Ok(None);
            }
            let shuffle = IndexShuffle::new(count as u64 - 1, self.keys.map(|key| key as u64), ROUNDS);
            let place = shuffle.place(self.at as u64) as i64;
            let Some(element) = input.get(place, cx) else { return Ok(None) };
            let element = element.await;
            self.at += 1;
            element.map(Some)
        })
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        saved.set("at", self.at);
        for (name, key) in ["seed", "seed2", "seed3"].into_iter().zip(self.keys) {
            saved.set(name, key);
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, _: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.at = saved.get("at")?.max(0);
            self.keys = [saved.get("seed")?, saved.get("seed2")?, saved.get("seed3")?];
            Ok(())
        })
    }
}

struct GlobalShuffleKernel {
    spec: Spec,
    reshuffles: bool,
}

impl KernelState for GlobalShuffleKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self { spec: Spec::of(ctx)?, reshuffles: ctx.attrs.required("reshuffle_each_iteration")? })
    }
}

#[register_kernel(device = Cpu)]
fn global_shuffle(state: &GlobalShuffleKernel, ctx: &mut KernelContext<'_, ops::GlobalShuffleDataset>) -> Result<()> {
    let input = input_dataset(ctx, 0)?;
    let count = input.cardinality();
    // Nothing whose elements can be had by place has no end, or one that nobody knows.
    ensure!(
        count >= 0,
        FailedPrecondition,
        "`global_shuffle` requires all upstream transformations be compatible with random access, and to have an end: repeat \
         behind it"
    );
    ensure!(
        count > 0,
        InvalidArgument,
        "`global_shuffle` requires the input dataset to have a non-empty finite cardinality. Got cardinality {count}"
    );
    let running = Running::new(input.clone(), ctx)?;
    let cx = running.cx(ctx)?;
    ensure!(
        input.get(0, &cx).is_some(),
        FailedPrecondition,
        "`global_shuffle` requires all upstream transformations be compatible with random access: shuffle, filter and flatten \
         behind it, or use `shuffle`, which has a buffer"
    );
    let seeds = Seeds::chosen(scalar(ctx, "seed")?, scalar(ctx, "seed2")?);
    let seeds = seeds_of(ctx, || Ok(Seeds::new(seeds, state.reshuffles)))?;
    let spec = state.spec.with(input.head().spec.clone());
    set_dataset(ctx, GlobalShuffle { head: Head::above(&spec, [&input])?, input, seeds })
}

//! Some of the elements of a dataset, as they are.

use std::collections::HashSet;
use std::sync::Arc;

use kernlink::dtype::{DataType, TString};
use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::step::BoxFuture;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{
    Dataset, DatasetIterator, Element, Head, INFINITE, Spec, UNKNOWN, input_dataset, scalar, set_dataset,
};
use crate::random::{Drawn, Seeds};
use crate::saved::Saved;
use crate::transform::{Input, Transform, set_transformed};

struct Take(i64);

impl Transform for Take {
    /// How many were taken.
    type State = i64;

    fn begin(&self, _: &Cx) -> Result<i64> {
        Ok(0)
    }

    async fn next<'a>(&'a self, taken: &'a mut i64, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        if self.0 >= 0 && *taken >= self.0 {
            input.end();
            return Ok(None);
        }
        let element = input.next(cx).await?;
        *taken += i64::from(element.is_some());
        Ok(element)
    }

    fn cardinality(&self, input: i64) -> i64 {
        match input {
            UNKNOWN => UNKNOWN,
            INFINITE => self.0,
            known if self.0 == -1 => known,
            known => known.min(self.0),
        }
    }

    async fn save<'a>(&'a self, taken: &'a mut i64, saved: &'a mut Saved) -> Result<()> {
        saved.set("taken", *taken);
        Ok(())
    }

    async fn restore<'a>(&'a self, taken: &'a mut i64, _: &'a mut Input, saved: &'a Saved, _: &'a Cx) -> Result<()> {
        *taken = saved.get("taken")?;
        Ok(())
    }

    fn place(&self, index: i64, _: i64) -> Option<i64> {
        Some(index)
    }
}

#[register_kernel(device = Cpu, cheap)]
fn take(spec: &Spec, ctx: &mut KernelContext<'_, ops::TakeDataset>) -> Result<()> {
    let count = scalar(ctx, "count")?;
    set_transformed(ctx, spec, Take(count))
}

struct Skip(i64);

impl Transform for Skip {
    /// How many are still to be skipped.
    type State = i64;

    fn begin(&self, _: &Cx) -> Result<i64> {
        Ok(self.0)
    }

    async fn next<'a>(&'a self, left: &'a mut i64, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        if *left < 0 {
            input.end();
        }
        if *left > 0 {
            *left -= input.pass(*left, cx)?;
        }
        while *left > 0 && !input.is_over() {
            cx.go_on().await?;
            input.next(cx).await?;
            *left -= 1;
        }
        input.next(cx).await
    }

    fn cardinality(&self, input: i64) -> i64 {
        match input {
            UNKNOWN | INFINITE => input,
            _ if self.0 < 0 => 0,
            known => known.wrapping_sub(self.0).max(0),
        }
    }

    async fn save<'a>(&'a self, left: &'a mut i64, saved: &'a mut Saved) -> Result<()> {
        saved.set("left", *left);
        Ok(())
    }

    async fn restore<'a>(&'a self, left: &'a mut i64, _: &'a mut Input, saved: &'a Saved, _: &'a Cx) -> Result<()> {
        *left = saved.get("left")?;
        Ok(())
    }

    fn place(&self, index: i64, _: i64) -> Option<i64> {
        index.checked_add(self.0)
    }
}

#[register_kernel(device = Cpu, cheap)]
fn skip(spec: &Spec, ctx: &mut KernelContext<'_, ops::SkipDataset>) -> Result<()> {
    let count = scalar(ctx, "count")?;
    set_transformed(ctx, spec, Skip(count))
}

pub(crate) struct Shard {
    pub(crate) count: i64,
    pub(crate) index: i64,
    pub(crate) needs_all: bool,
}

impl Transform for Shard {
    /// How many elements of the input were taken.
    type State = i64;

    fn begin(&self, _: &Cx) -> Result<i64> {
        Ok(0)
    }

    async fn next<'a>(&'a self, at: &'a mut i64, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        while at.rem_euclid(self.count) != self.index && !input.is_over() {
            cx.go_on().await?;
            *at += i64::from(input.next(cx).await?.is_some());
        }
        let element = input.next(cx).await?;
        if element.is_none() {
            return Ok(None);
        }
        *at += 1;
        // All shards look, so that all of them see it.
        while self.needs_all && *at < self.count {
            if input.next_or_end(cx).await?.is_none() {
                let few = format!(
                    "there are not enough elements for each shard to have at least one: {at} elements for {} shards",
                    self.count
                );
                return Err(Error::invalid_argument(few).at_end());
            }
            *at += 1;
        }
        Ok(element)
    }

    fn cardinality(&self, input: i64) -> i64 {
        match input {
            UNKNOWN | INFINITE => input,
            known => known / self.count + i64::from(self.index < known % self.count),
        }
    }

    async fn save<'a>(&'a self, at: &'a mut i64, saved: &'a mut Saved) -> Result<()> {
        saved.set("at", *at);
        Ok(())
    }

    async fn restore<'a>(&'a self, at: &'a mut i64, _: &'a mut Input, saved: &'a Saved, _: &'a Cx) -> Result<()> {
        *at = saved.get("at")?;
        Ok(())
    }

    fn place(&self, index: i64, _: i64) -> Option<i64> {
        index.checked_mul(self.count)?.checked_add(self.index)
    }
}

/// A dataset's spec and a bool attr.
struct WithFlag {
    spec: Spec,
    flag: bool,
}

impl KernelState for WithFlag {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self { spec: Spec::of(ctx)?, flag: ctx.attrs.required("require_non_empty")? })
    }
}

/// The number of shards that says where elements may be dealt out.
pub(crate) const SHARD_HINT: i64 = -1;

/// Where elements may be dealt out; as long as they are not, it has none.
struct Hinted;

impl Transform for Hinted {
    type State = ();

    fn begin(&self, _: &Cx) -> Result<()> {
        bail!(
            FailedPrecondition,
            "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used in \
             `tf.distribute.Strategy.experimental_distribute_dataset()` with `tf.data.experimental.AutoShardPolicy.HINT` policy, or \
             tf.data service with `tf.data.experimental.service.ShardingPolicy.HINT` processing mode."
        )
    }

    async fn next<'a>(&'a self, _: &'a mut (), _: &'a mut Input, _: &'a Cx) -> Result<Option<Element>> {
        Ok(None)
    }

    fn cardinality(&self, _: i64) -> i64 {
        UNKNOWN
    }
}

#[register_kernel(device = Cpu, cheap)]
fn shard(state: &WithFlag, ctx: &mut KernelContext<'_, ops::ShardDataset>) -> Result<()> {
    let (count, index) = (scalar(ctx, "num_shards")?, scalar(ctx, "index")?);
    if count == SHARD_HINT {
        return set_transformed(ctx, &state.spec, Hinted);
    }
    ensure!(count > 0, InvalidArgument, "Number of shards must be greater than zero (currently num_shards = {count}).");
    ensure!(
        (0..count).contains(&index),
        InvalidArgument,
        "Index must be between 0 and {} (currently index = {index}).",
        count - 1
    );
    // TensorFlow's asks its input, and what deals a dataset out need not know of what elements.
    let spec = state.spec.with(input_dataset(ctx, 0)?.head().spec.clone());
    set_transformed(ctx, &spec, Shard { count, index, needs_all: state.flag })
}

struct AssertCardinality(i64);

impl AssertCardinality {
    fn wrong(&self, there: impl std::fmt::Display) -> Error {
        let expected = match self.0 {
            INFINITE => "an infinite number of elements".to_owned(),
            1 => "1 element".to_owned(),
            count => format!("{count} elements"),
        };
        Error::failed_precondition(format!("Input dataset was expected to contain {expected} but contained {there}."))
    }
}

impl Transform for AssertCardinality {
    type State = i64;

    fn begin(&self, _: &Cx) -> Result<i64> {
        Ok(0)
    }

    async fn next<'a>(&'a self, seen: &'a mut i64, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        let element = input.next(cx).await?;
        if element.is_some() {
            *seen += 1;
        }
        match &element {
            None if *seen != self.0 => Err(self.wrong(format_args!("only {seen}")).at_end()),
            Some(_) if self.0 != INFINITE && *seen > self.0 => Err(self.wrong(format_args!("at least {seen}"))),
            _ => Ok(element),
        }
    }

    fn cardinality(&self, _: i64) -> i64 {
        self.0
    }

    async fn save<'a>(&'a self, seen: &'a mut i64, saved: &'a mut Saved) -> Result<()> {
        saved.set("seen", *seen);
        Ok(())
    }

    async fn restore<'a>(&'a self, seen: &'a mut i64, _: &'a mut Input, saved: &'a Saved, _: &'a Cx) -> Result<()> {
        *seen = saved.get("seen")?;
        Ok(())
    }

    fn place(&self, index: i64, _: i64) -> Option<i64> {
        Some(index)
    }
}

#[register_kernel(device = Cpu, cheap)]
fn assert_cardinality(spec: &Spec, ctx: &mut KernelContext<'_, ops::AssertCardinalityDataset>) -> Result<()> {
    let count = scalar(ctx, "cardinality")?;
    set_transformed(ctx, spec, AssertCardinality(count))
}

struct IgnoreErrors;

impl Transform for IgnoreErrors {
    type State = ();

    fn begin(&self, _: &Cx) -> Result<()> {
        Ok(())
    }

    async fn next<'a>(&'a self, _: &'a mut (), input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        loop {
            // One that comes with the end would come for ever, and does in TensorFlow.
            if let Ok(element) = input.next_or_end(cx).await {
                return Ok(element);
            }
            cx.go_on().await?;
        }
    }

    fn cardinality(&self, input: i64) -> i64 {
        if input == INFINITE { INFINITE } else { UNKNOWN }
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::IgnoreErrorsDataset, ops::ExperimentalIgnoreErrorsDataset])]
fn ignore_errors(spec: &Spec, ctx: &mut RawContext<'_>) -> Result<()> {
    set_transformed(ctx, spec, IgnoreErrors)
}

/// What a tensor is, so that equal ones have equal keys.
fn key_of(tensor: &Tensor) -> Result<Vec<u8>> {
    let mut key = Vec::new();
    for &dim in tensor.shape().dims() {
        scratch::append(&mut key, &dim.to_le_bytes())?;
    }
    match tensor.dtype() {
        DataType::String => {
            for text in tensor.as_slice::<TString>()? {
                scratch::append(&mut key, &text.len().to_le_bytes())?;
                scratch::append(&mut key, text.as_bytes())?;
            }
        }
        _ => scratch::append(&mut key, tensor.bytes()?)?,
    }
    Ok(key)
}

struct Unique;

impl Transform for Unique {
    type State = (HashSet<Vec<u8>>, Vec<Element>);

    fn begin(&self, _: &Cx) -> Result<Self::State> {
        Ok(Default::default())
    }

    async fn next<'a>(
        &'a self,
        (keys, seen): &'a mut Self::State,
        input: &'a mut Input,
        cx: &'a Cx,
    ) -> Result<Option<Element>> {
        loop {
            cx.go_on().await?;
            let Some(element) = input.next(cx).await? else { return Ok(None) };
            let [component] = element.as_slice() else { return Ok(Some(element)) };
            if keys.insert(key_of(component)?) {
                scratch::push(seen, element.clone())?;
                return Ok(Some(element));
            }
        }
    }

    fn cardinality(&self, _: i64) -> i64 {
        UNKNOWN
    }

    async fn save<'a>(&'a self, (_, seen): &'a mut Self::State, saved: &'a mut Saved) -> Result<()> {
        saved.set_elements("seen", scratch::copied(seen)?);
        Ok(())
    }

    async fn restore<'a>(
        &'a self,
        (keys, seen): &'a mut Self::State,
        _: &'a mut Input,
        saved: &'a Saved,
        _: &'a Cx,
    ) -> Result<()> {
        *seen = scratch::copied(saved.elements("seen")?)?;
        for element in seen.iter() {
            keys.insert(key_of(&element[0])?);
        }
        Ok(())
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::UniqueDataset, ops::ExperimentalUniqueDataset])]
fn unique(spec: &Spec, ctx: &mut RawContext<'_>) -> Result<()> {
    let input = input_dataset(ctx, 0)?;
    let dtypes = &input.head().spec.dtypes;
    ensure!(
        matches!(dtypes.as_slice(), [DataType::Int32 | DataType::Int64 | DataType::String]),
        InvalidArgument,
        "UniqueDataset only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` component."
    );
    set_transformed(ctx, spec, Unique)
}

/// Keeps each element with some probability.
struct Sampling {
    rate: f32,
    seeds: (i64, i64),
}

impl Transform for Sampling {
    type State = Drawn;

    fn begin(&self, _: &Cx) -> Result<Drawn> {
        Ok(Drawn::new(self.seeds))
    }

    async fn next<'a>(&'a self, drawn: &'a mut Drawn, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        loop {
            cx.go_on().await?;
            let Some(element) = input.next(cx).await? else { return Ok(None) };
            if kernlink_kernels_common::random_floats::uniform32(drawn.next()) < self.rate {
                return Ok(Some(element));
            }
        }
    }

    fn cardinality(&self, _: i64) -> i64 {
        UNKNOWN
    }

    async fn save<'a>(&'a self, drawn: &'a mut Drawn, saved: &'a mut Saved) -> Result<()> {
        drawn.save(saved);
        Ok(())
    }

    async fn restore<'a>(&'a self, drawn: &'a mut Drawn, _: &'a mut Input, saved: &'a Saved, _: &'a Cx) -> Result<()> {
        *drawn = Drawn::restored(saved)?;
        Ok(())
    }
}

#[register_kernel(device = Cpu, cheap)]
fn sampling(spec: &Spec, ctx: &mut KernelContext<'_, ops::SamplingDataset>) -> Result<()> {
    let rate = scalar(ctx, "rate")?;
    let seeds = Seeds::chosen(scalar(ctx, "seed")?, scalar(ctx, "seed2")?);
    set_transformed(ctx, spec, Sampling { rate, seeds })
}

/// A dataset as it is: TensorFlow tunes, rewrites or counts there.
#[register_kernel(device = Cpu, cheap, op = [
    ops::AssertNextDataset, ops::AssertPrevDataset, ops::ExperimentalAssertNextDataset,
    ops::ExperimentalMaxIntraOpParallelismDataset, ops::ExperimentalNonSerializableDataset,
    ops::ExperimentalPrivateThreadPoolDataset, ops::FinalizeDataset,
    ops::MaxIntraOpParallelismDataset, ops::ModelDataset, ops::NonSerializableDataset, ops::OptimizeDataset,
    ops::OptimizeDatasetV2, ops::PrivateThreadPoolDataset,
])]
fn as_it_is(spec: &Spec, ctx: &mut RawContext<'_>) -> Result<()> {
    let input = input_dataset(ctx, 0)?;
    set_same(ctx, spec, input)
}

/// Sets the output to what is another dataset but for the node that it was made of.
pub(crate) fn set_same(ctx: &mut RawContext<'_>, spec: &Spec, input: Arc<dyn Dataset>) -> Result<()> {
    set_wrapped(ctx, spec, input, false)
}

fn set_wrapped(ctx: &mut RawContext<'_>, spec: &Spec, input: Arc<dyn Dataset>, replicates: bool) -> Result<()> {
    let head = Head::above(&spec.with(input.head().spec.clone()), [&input])?;
    set_dataset(ctx, Same { head, input, replicates })
}

/// Another dataset, with whose iterators it has nothing to do.
struct Same {
    head: Head,
    input: Arc<dyn Dataset>,
    /// Whether its graph is that of the other with the sources marked, instead of a node above it.
    replicates: bool,
}

impl Dataset for Same {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        self.input.cardinality()
    }

    fn iterator(self: Arc<Self>, cx: &Cx) -> Result<Box<dyn DatasetIterator>> {
        self.input.clone().iterator(cx)
    }

    fn inputs(&self) -> Vec<Arc<dyn Dataset>> {
        vec![self.input.clone()]
    }

    fn get<'a>(&'a self, index: i64, cx: &'a Cx) -> Option<BoxFuture<'a, Result<Element>>> {
        self.input.get(index, cx)
    }

    fn origin(&self) -> Option<&Arc<dyn Dataset>> {
        self.replicates.then_some(&self.input)
    }

    fn replicates(&self) -> bool {
        self.replicates
    }
}

/// The input; of the rewritings that TensorFlow knows the name of one alone changes a graph: that by which all who share a dataset have
/// the whole of its sources.
#[register_kernel(device = Cpu, cheap)]
fn rewrite(spec: &Spec, ctx: &mut KernelContext<'_, ops::RewriteDataset>) -> Result<()> {
    let name: TString = scalar(ctx, "rewrite_name")?;
    let input = input_dataset(ctx, 0)?;
    if name.as_bytes() != b"replicate_on_split" {
        let same = ctx.input_at(0)?.clone();
        return ctx.set_output_at(0, same);
    }
    set_wrapped(ctx, spec, input, true)
}

/// Options, of which none changes what the elements are.
struct WithOptions(TString);

impl Transform for WithOptions {
    type State = ();

    fn begin(&self, _: &Cx) -> Result<()> {
        Ok(())
    }

    async fn next<'a>(&'a self, _: &'a mut (), input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        input.next(cx).await
    }

    fn cardinality(&self, input: i64) -> i64 {
        input
    }

    fn place(&self, index: i64, _: i64) -> Option<i64> {
        Some(index)
    }

    fn options(&self) -> Option<&[u8]> {
        Some(&self.0)
    }
}

struct OptionsState {
    spec: Spec,
    options: TString,
}

impl KernelState for OptionsState {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self { spec: Spec::of(ctx)?, options: ctx.attrs.required("serialized_options")? })
    }
}

#[register_kernel(device = Cpu, cheap)]
fn options(state: &OptionsState, ctx: &mut KernelContext<'_, ops::OptionsDataset>) -> Result<()> {
    set_transformed(ctx, &state.spec, WithOptions(state.options.clone()))
}

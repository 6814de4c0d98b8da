//! What is told of datasets at work: histograms of times and sizes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use kernlink::dtype::{DataType, TString};
use kernlink::kernel::{KernelContext, KernelState, NamedResource, RawConstruction, RawContext};
use kernlink::resource::Resource;
use kernlink::tensor::Tensor;
use kernlink::{Error, Result};
use kernlink_kernels_common::event_file::{Event, EventFile};
use kernlink_kernels_common::histogram::Histogram;
use kernlink_kernels_common::wire::Message;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Element, Spec, scalar};
use crate::resource::IteratorResource;
use crate::saved::Saved;
use crate::transform::{Input, Transform, set_transformed};

/// Histograms by name.
#[derive(Default)]
pub(crate) struct Aggregator {
    /// Whether histograms are written as they change, rather than kept.
    writes: bool,
    state: Mutex<Collected>,
}

#[derive(Default)]
struct Collected {
    histograms: BTreeMap<Vec<u8>, Histogram>,
    writer: Option<Arc<EventFile>>,
}

impl Resource for Aggregator {
    fn type_name() -> &'static str {
        "tensorflow::data::StatsAggregatorResource"
    }
}

/// A `Summary` of histograms.
fn summary<'h>(histograms: impl Iterator<Item = (&'h Vec<u8>, &'h Histogram)>) -> Result<Vec<u8>> {
    let mut summary = Message::default();
    for (name, histogram) in histograms {
        let mut value = Message::default();
        value.bytes(1, name)?;
        value.bytes(5, &histogram.encode()?)?;
        summary.bytes(1, &value.finish())?;
    }
    Ok(summary.finish())
}

impl Aggregator {
    fn add(&self, name: &[u8], value: f64, step: i64) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Collected { histograms, writer } = &mut *state;
        let histogram = histograms.entry(name.to_vec()).or_insert_with(Histogram::new);
        histogram.add(value);
        match writer {
            Some(writer) => {
                let name = name.to_vec();
                writer.add(step, Event::Summary(&summary(std::iter::once((&name, &*histogram)))?))
            }
            None => Ok(()),
        }
    }
}

/// Who collects, and what stands before the tags.
#[derive(Clone)]
pub(crate) struct Stats {
    aggregator: Arc<Aggregator>,
    tag: Arc<[u8]>,
}

impl Stats {
    fn add(&self, name: &[u8], value: f64, step: i64) -> Result<()> {
        if self.tag.is_empty() {
            return self.aggregator.add(name, value, step);
        }
        self.aggregator.add(&[&self.tag, &b"::"[..], name].concat(), value, step)
    }
}

struct AggregatorHandle {
    writes: bool,
    aggregator: NamedResource<Aggregator>,
}

impl KernelState for AggregatorHandle {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self { writes: ctx.op.name == "StatsAggregatorHandleV2", aggregator: NamedResource::new(ctx)? })
    }
}

#[register_kernel(device = Cpu, cheap, op = [
    ops::StatsAggregatorHandle, ops::StatsAggregatorHandleV2, ops::ExperimentalStatsAggregatorHandle,
])]
fn aggregator(state: &AggregatorHandle, ctx: &mut RawContext<'_>) -> Result<()> {
    state.aggregator.get(|| Ok(Aggregator { writes: state.writes, ..Aggregator::default() }))?;
    state.aggregator.set_handle(ctx)
}

#[register_kernel(device = Cpu, op = [ops::StatsAggregatorSummary, ops::ExperimentalStatsAggregatorSummary])]
fn aggregator_summary(ctx: &mut RawContext<'_>) -> Result<()> {
    let aggregator = ctx.resource_at::<Aggregator>(0)?;
    let summary = match aggregator.writes {
        true => Vec::new(),
        false => summary(aggregator.state.lock().unwrap_or_else(PoisonError::into_inner).histograms.iter())?,
    };
    ctx.set_output_at(0, Tensor::scalar(TString::from(summary)))
}

#[register_kernel(device = Cpu)]
fn set_writer(ctx: &mut KernelContext<'_, ops::StatsAggregatorSetSummaryWriter>) -> Result<()> {
    let (aggregator, writer) = (ctx.resource_at::<Aggregator>(0)?, ctx.resource_at::<EventFile>(1)?);
    if aggregator.writes {
        aggregator.state.lock().unwrap_or_else(PoisonError::into_inner).writer = Some(writer);
    }
    Ok(())
}

/// Says who collects.
struct WithStats(Stats);

impl Transform for WithStats {
    type State = ();

    fn begin(&self, _: &Cx) -> Result<()> {
        Ok(())
    }

    async fn next<'a>(&'a self, _: &'a mut (), input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        input.next(&cx.with_stats(&self.0)).await
    }

    fn cardinality(&self, input: i64) -> i64 {
        input
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::SetStatsAggregatorDataset, ops::ExperimentalSetStatsAggregatorDataset])]
fn set_aggregator(spec: &Spec, ctx: &mut RawContext<'_>) -> Result<()> {
    let aggregator = ctx.resource_at::<Aggregator>(1)?;
    let tag: TString = scalar(ctx, "tag")?;
    scalar::<TString>(ctx, "counter_prefix")?;
    set_transformed(ctx, spec, WithStats(Stats { aggregator, tag: tag.as_bytes().into() }))
}

/// What is told of each element.
enum What {
    /// How many microseconds it takes.
    Latency,
    /// How many bytes it has.
    Bytes,
}

struct Told {
    what: What,
    tag: TString,
}

/// The bytes of a tensor, as TensorFlow counts them: those of strings with what their handles take.
fn bytes_of(tensor: &Tensor) -> Result<f64> {
    const HANDLE: usize = 24;
    Ok(match tensor.dtype() {
        DataType::String => {
            tensor.as_slice::<TString>()?.iter().map(|string| (HANDLE + string.len()) as f64).sum::<f64>()
        }
        _ => tensor.num_bytes() as f64,
    })
}

impl Transform for Told {
    /// How many elements were told of.
    type State = i64;

    fn begin(&self, _: &Cx) -> Result<i64> {
        Ok(0)
    }

    async fn next<'a>(&'a self, count: &'a mut i64, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        let start = Instant::now();
        let element = input.next(cx).await?;
        if let (Some(element), Some(stats)) = (&element, cx.stats()) {
            let value = match self.what {
                What::Latency => start.elapsed().as_micros() as f64,
                What::Bytes => element.iter().map(bytes_of).sum::<Result<f64>>()?,
            };
            stats.add(&self.tag, value, *count)?;
        }
        *count += i64::from(element.is_some());
        Ok(element)
    }

    fn cardinality(&self, input: i64) -> i64 {
        input
    }

    async fn save<'a>(&'a self, count: &'a mut i64, saved: &'a mut Saved) -> Result<()> {
        saved.set("count", *count);
        Ok(())
    }

    async fn restore<'a>(&'a self, count: &'a mut i64, _: &'a mut Input, saved: &'a Saved, _: &'a Cx) -> Result<()> {
        *count = saved.get("count")?;
        Ok(())
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::LatencyStatsDataset, ops::ExperimentalLatencyStatsDataset])]
fn latency(spec: &Spec, ctx: &mut RawContext<'_>) -> Result<()> {
    let tag = scalar(ctx, "tag")?;
    set_transformed(ctx, spec, Told { what: What::Latency, tag })
}

#[register_kernel(device = Cpu, cheap, op = [
    ops::BytesProducedStatsDataset, ops::ExperimentalBytesProducedStatsDataset,
])]
fn bytes_produced(spec: &Spec, ctx: &mut RawContext<'_>) -> Result<()> {
    let tag = scalar(ctx, "tag")?;
    set_transformed(ctx, spec, Told { what: What::Bytes, tag })
}

#[register_kernel(device = Cpu, cheap)]
fn model(ctx: &mut KernelContext<'_, ops::IteratorGetModelProto>) -> Result<()> {
    ctx.resource_at::<IteratorResource>(0)?.running()?;
    Err(Error::not_found(
        "Cannot find this iterator's analytical model: datasets are not tuned while they run, as with `autotune` switched off",
    ))
}

/// What counts iterations, of which there is none.
struct IterationCounter;

impl Resource for IterationCounter {
    fn type_name() -> &'static str {
        "tensorflow::data::IterationCounter"
    }
}

#[register_kernel(device = Cpu, cheap)]
fn dummy_counter(ctx: &mut KernelContext<'_, ops::DummyIterationCounter>) -> Result<()> {
    let handle = ctx.resources()?.make_handle::<IterationCounter>(ctx.device_name(), "", "dummy_resource");
    ctx.set_output_at(0, Tensor::scalar(handle))
}

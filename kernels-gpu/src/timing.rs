//! How long the device takes: for each dispatch of a traced step, by timestamps at both ends of a pass of its own, and for
//! whatever else is measured.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kernlink::error::{Error, Result};
use kernlink::step::{Step, TracedNode};
use kernlink::tensor::Tensor;
use smallvec::SmallVec;

use crate::device::{Gpu, GpuDevice, Groups, Prepared, lock};
use crate::memory::Bound;
use crate::recorder::LARGEST_BATCH;
use crate::shader::Shader;

/// The bytes of a timestamp.
const STAMP: u64 = 8;

/// How often the device's clock is compared with the host's.
const CALIBRATIONS: usize = 4;

/// The dispatches of one batch that are timed, two timestamps each.
pub(crate) struct Timed {
    set: wgpu::QuerySet,
    nodes: Vec<Arc<TracedNode>>,
}

impl Timed {
    pub(crate) fn new(gpu: &Gpu) -> Timed {
        Timed { set: query_set(gpu, LARGEST_BATCH), nodes: Vec::new() }
    }

    /// Where the next dispatch, for this node, has its timestamps.
    pub(crate) fn next(&mut self, node: Arc<TracedNode>) -> wgpu::ComputePassTimestampWrites<'_> {
        self.nodes.push(node);
        writes(&self.set, self.nodes.len() as u32 - 1)
    }

    /// Has the timestamps come to the host when the batch is done.
    pub(crate) fn resolve(self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder) -> Resolved {
        Resolved { stamps: resolve(gpu, encoder, &self.set, self.nodes.len() as u32), nodes: self.nodes }
    }
}

/// Timestamps on their way to the host.
pub(crate) struct Resolved {
    stamps: wgpu::Buffer,
    nodes: Vec<Arc<TracedNode>>,
}

/// A dispatch: the node that it was for, and its first and last timestamp.
type Stamped = (Arc<TracedNode>, [u64; 2]);

/// What is known of the dispatches of traced steps.
#[derive(Default)]
pub(crate) struct Timing {
    resolved: Mutex<Vec<Resolved>>,
    /// The dispatches of each step.
    known: Mutex<HashMap<i64, Vec<Stamped>>>,
}

impl Timing {
    pub(crate) fn add(&self, resolved: Resolved) {
        lock(&self.resolved).push(resolved);
    }

    /// Waits until the device is done, and adds what a step's dispatches took to its statistics.
    pub(crate) fn end(&self, gpu: &Gpu, step: &Step) {
        let Some(stats) = step.stats() else { return };
        // What went wrong is told where results are missed.
        let _ = gpu.settle();
        for Resolved { stamps, nodes } in std::mem::take(&mut *lock(&self.resolved)) {
            let Ok(ticks) = read(gpu, &stamps) else { continue };
            for (node, ticks) in nodes.into_iter().zip(ticks) {
                lock(&self.known).entry(node.step).or_default().push((node, ticks));
            }
        }
        let Some(known) = lock(&self.known).remove(&step.id()) else { return };
        let Some((tick, at)) = calibrate(gpu) else { return };
        let nanoseconds = f64::from(gpu.queue.get_timestamp_period());
        let time = |ticks: u64| Duration::from_nanos((ticks as f64 * nanoseconds) as u64);
        for (node, [first, last]) in known {
            let start = (at - step.start()).saturating_sub(time(tick.saturating_sub(first)));
            stats.add_work(&node, &gpu.name, start, time(last.saturating_sub(first)));
        }
    }
}

fn query_set(gpu: &Gpu, passes: u32) -> wgpu::QuerySet {
    let ty = wgpu::QueryType::Timestamp;
    gpu.device.create_query_set(&wgpu::QuerySetDescriptor { label: None, ty, count: 2 * passes })
}

/// Where a pass has its timestamps.
fn writes(set: &wgpu::QuerySet, pass: u32) -> wgpu::ComputePassTimestampWrites<'_> {
    wgpu::ComputePassTimestampWrites {
        query_set: set,
        beginning_of_pass_write_index: Some(2 * pass),
        end_of_pass_write_index: Some(2 * pass + 1),
    }
}

/// Records that timestamps go to a buffer that the host can read.
fn resolve(gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, set: &wgpu::QuerySet, passes: u32) -> wgpu::Buffer {
    let size = u64::from(2 * passes) * STAMP;
    let buffer = |usage| {
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        gpu.device.create_buffer(&descriptor)
    };
    let there = buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC);
    let here = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
    encoder.resolve_query_set(set, 0..2 * passes, &there, 0);
    encoder.copy_buffer_to_buffer(&there, 0, &here, 0, size);
    here
}

/// The timestamps of each pass, when all work is done.
fn read(gpu: &Gpu, stamps: &wgpu::Buffer) -> Result<Vec<[u64; 2]>> {
    let cannot = |error: &dyn fmt::Display| Error::internal(format!("cannot read the GPU's timestamps: {error}"));
    stamps.map_async(wgpu::MapMode::Read, .., drop);
    gpu.faults.settle(&gpu.device)?;
    let view = stamps.get_mapped_range(..).map_err(|error| cannot(&error))?;
    let stamp = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).unwrap_or_default();
    Ok(view.chunks_exact(16).map(|pair| [stamp(&pair[..8]), stamp(&pair[8..])]).collect())
}

/// Records a pass that does nothing but have timestamps.
fn mark(gpu: &Gpu, set: &wgpu::QuerySet, pass: u32) -> wgpu::CommandEncoder {
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let timestamp_writes = Some(writes(set, pass));
    drop(encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes }));
    encoder
}

/// A timestamp of the device with the time of the host: of several, the one that is known best.
fn calibrate(gpu: &Gpu) -> Option<(u64, Instant)> {
    let once = || {
        let set = query_set(gpu, 1);
        let mut encoder = mark(gpu, &set, 0);
        let stamps = resolve(gpu, &mut encoder, &set, 1);
        let commands = encoder.finish();
        let before = Instant::now();
        gpu.queue.submit([commands]);
        gpu.faults.settle(&gpu.device).ok()?;
        let took = before.elapsed();
        Some((took, read(gpu, &stamps).ok()?.first()?[1], before + took / 2))
    };
    let best = (0..CALIBRATIONS).filter_map(|_| once()).min_by_key(|(took, ..)| *took);
    best.map(|(_, tick, at)| (tick, at))
}

/// Takes a dispatch: see [`GpuDevice::dispatch`].
pub(crate) type Dispatch<'d> = dyn FnMut(&Shader, &[&Tensor], &[u32], Groups) -> Result<()> + 'd;

/// The nanoseconds that the device takes for the dispatches that `work` hands over, which it does three times: those of
/// the one in the middle. What others record and submit is no part of it.
///
/// # Errors
/// Those of `work`, and INTERNAL if the device cannot say.
pub(crate) fn elapsed(device: &GpuDevice, work: impl FnOnce(&mut Dispatch<'_>) -> Result<()>) -> Result<f64> {
    const RUNS: usize = 3;
    let gpu = &*device.gpu;
    // Memory that `work` gives up is not to be given to others before its dispatches are submitted.
    let (mut kept, mut dispatches) = (Vec::new(), Vec::new());
    work(&mut |shader, tensors, params, groups| {
        kept.extend(tensors.iter().map(|&tensor| tensor.clone()));
        if let Some(Prepared { pipeline, buffers, words, groups }) = device.prepare(shader, tensors, params, groups)? {
            let entry = |(binding, bound)| wgpu::BindGroupEntry { binding, resource: Bound::resource(bound) };
            let entries: SmallVec<[_; 8]> = (0..).zip(&buffers).map(entry).collect();
            let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &pipeline.layout, entries: &entries };
            dispatches.push((pipeline.clone(), gpu.device.create_bind_group(&descriptor), words, groups));
        }
        Ok(())
    })?;
    let set = query_set(gpu, RUNS as u32);
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    for run in 0..RUNS {
        let timestamp_writes = Some(writes(&set, run as u32));
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
        for (pipeline, group, words, groups) in &dispatches {
            pass.set_pipeline(&pipeline.compute);
            pass.set_bind_group(0, group, &[]);
            if !words.is_empty() {
                pass.set_immediates(0, bytemuck::cast_slice(words));
            }
            pass.dispatch_workgroups(groups[0], groups[1], groups[2]);
        }
    }
    let stamps = resolve(gpu, &mut encoder, &set, RUNS as u32);
    gpu.settle()?;
    {
        let mut recorder = lock(&gpu.recorder);
        // The factors are results of what is recorded.
        recorder.submit_last(gpu)?;
        gpu.queue.submit([encoder.finish()]);
    }
    drop(kept);
    gpu.settle()?;
    let mut runs: Vec<u64> = read(gpu, &stamps)?.iter().map(|[first, last]| last.saturating_sub(*first)).collect();
    runs.sort_unstable();
    Ok(runs.get(RUNS / 2).map_or(0.0, |&ticks| ticks as f64 * f64::from(gpu.queue.get_timestamp_period())))
}

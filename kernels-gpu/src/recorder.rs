//! What is recorded and not yet submitted: one command encoder with one open pass.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use kernlink::error::{Error, Result};
use kernlink::step::{TracedNode, traced_node};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::counters::Counter;
use crate::device::Gpu;
use crate::fault::caught;
use crate::memory::{Bound, Buffer};
use crate::pipeline::Pipeline;
use crate::refusal::{Copied, Refusing};
use crate::shader::Access;
use crate::timing::Timed;

/// A batch is submitted when it has so many dispatches: few at first, so that the device sets to work.
const FIRST_BATCH: u32 = 8;
pub(crate) const LARGEST_BATCH: u32 = 64;

/// How many bind groups are kept.
const KEPT_BIND_GROUPS: usize = 8192;

/// The layout and the buffers of a bind group; behind a buffer that is bound in part, which part.
type GroupKey = (u32, SmallVec<[u64; 8]>);

pub(crate) struct Recorder {
    // The pass goes before its encoder.
    pass: Option<wgpu::ComputePass<'static>>,
    encoder: Option<wgpu::CommandEncoder>,
    dispatches: u32,
    limit: u32,
    pub(crate) refusing: Refusing,
    bind_groups: FxHashMap<GroupKey, wgpu::BindGroup>,
    /// The shaders of the batch, for errors.
    recorded: Vec<Arc<Pipeline>>,
    timed: Option<Timed>,
}

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder {
            pass: None,
            encoder: None,
            dispatches: 0,
            limit: FIRST_BATCH,
            refusing: Refusing::default(),
            bind_groups: FxHashMap::default(),
            recorded: Vec::new(),
            timed: None,
        }
    }
}

impl Recorder {
    /// Records one dispatch; submits the batch if it is full.
    pub(crate) fn dispatch(
        &mut self,
        gpu: &Gpu,
        pipeline: &Arc<Pipeline>,
        buffers: &[Bound<'_>],
        params: &[u32],
        groups: [u32; 3],
    ) -> Result<()> {
        if buffers.len() != pipeline.accesses.len() || params.len() != pipeline.words as usize {
            return Err(Error::internal(format!(
                "shader `{}` takes {} buffers and {} words, not {} and {}",
                pipeline.label,
                pipeline.accesses.len(),
                pipeline.words,
                buffers.len(),
                params.len()
            )));
        }
        let is_written = |(index, access): (usize, &Access)| {
            let shared = buffers.iter().filter(|bound| bound.buffer.id == buffers[index].buffer.id).count() > 1;
            *access == Access::Write && shared
        };
        if pipeline.accesses.iter().enumerate().any(is_written) {
            let message = format!("shader `{}` writes a buffer that it is given twice", pipeline.label);
            return Err(Error::internal(message));
        }
        let batch = gpu.open_batch.load(Ordering::Relaxed);
        let mut key: GroupKey = (pipeline.layout_id, SmallVec::new());
        for bound in buffers {
            bound.buffer.last_batch.store(batch, Ordering::Relaxed);
            key.1.push(bound.buffer.id);
            if let Some(part) = bound.part {
                key.1.extend([u64::MAX, part[0], part[1]]);
            }
        }
        let group = match self.bind_groups.get(&key) {
            Some(group) => group.clone(),
            None => {
                if self.bind_groups.len() >= KEPT_BIND_GROUPS {
                    self.bind_groups.clear();
                }
                let bound = buffers.iter().enumerate();
                let entries: SmallVec<[_; 8]> = bound
                    .map(|(binding, bound)| wgpu::BindGroupEntry {
                        binding: binding as u32,
                        resource: bound.resource(),
                    })
                    .collect();
                let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &pipeline.layout, entries: &entries };
                let group = gpu.device.create_bind_group(&descriptor);
                gpu.counters.add(Counter::BindGroups);
                self.bind_groups.insert(key, group.clone());
                group
            }
        };
        let traced = traced_node().filter(|_| gpu.has_timestamps);
        let is_traced = traced.is_some();
        if let Some(node) = traced {
            self.begin_timed_pass(gpu, node);
        }
        let pass = self.pass(gpu);
        pass.set_pipeline(&pipeline.compute);
        pass.set_bind_group(0, &group, &[]);
        if !params.is_empty() {
            pass.set_immediates(0, bytemuck::cast_slice(params));
        }
        pass.dispatch_workgroups(groups[0], groups[1], groups[2]);
        gpu.counters.add(Counter::Dispatches);
        self.recorded.push(pipeline.clone());
        self.dispatches += 1;
        if is_traced {
            self.pass = None;
        }
        if self.dispatches >= self.limit {
            self.submit(gpu)?;
        }
        Ok(())
    }

    /// Lets go of what is kept for buffers.
    pub(crate) fn forget_bind_groups(&mut self) {
        self.bind_groups.clear();
    }

    /// Opens a pass with timestamps at its ends.
    fn begin_timed_pass(&mut self, gpu: &Gpu, node: Arc<TracedNode>) {
        self.pass = None;
        self.encoder(gpu);
        let timed = self.timed.get_or_insert_with(|| Timed::new(gpu));
        let writes = timed.next(node);
        let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes: Some(writes) };
        self.pass = self.encoder.as_mut().map(|encoder| encoder.begin_compute_pass(&descriptor).forget_lifetime());
    }

    fn encoder(&mut self, gpu: &Gpu) -> &mut wgpu::CommandEncoder {
        self.encoder
            .get_or_insert_with(|| gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default()))
    }

    fn pass(&mut self, gpu: &Gpu) -> &mut wgpu::ComputePass<'static> {
        if self.pass.is_none() {
            let pass = self.encoder(gpu).begin_compute_pass(&wgpu::ComputePassDescriptor::default()).forget_lifetime();
            self.pass = Some(pass);
        }
        self.pass.as_mut().expect("made above")
    }

    /// Records a copy out of a tensor's buffer, from a byte on.
    pub(crate) fn copy_out(&mut self, gpu: &Gpu, from: (&Buffer, u64), to: (&wgpu::Buffer, u64), bytes: u64) {
        self.pass = None;
        from.0.last_batch.store(gpu.open_batch.load(Ordering::Relaxed), Ordering::Relaxed);
        self.encoder(gpu).copy_buffer_to_buffer(&from.0.buffer, from.1, to.0, to.1, bytes);
    }

    /// Records a copy of the words of refusals, and clears them, unless nothing can have been refused.
    pub(crate) fn copy_refusals(&mut self, gpu: &Arc<Gpu>, to: &wgpu::Buffer, at: u64) -> Option<Copied> {
        let words = gpu.refusals.buffer().filter(|_| self.refusing.is_any())?;
        self.pass = None;
        let encoder = self.encoder(gpu);
        encoder.copy_buffer_to_buffer(&words.buffer, 0, to, at, Copied::BYTES);
        encoder.clear_buffer(&words.buffer, 0, Some(Copied::BYTES));
        Some(self.refusing.copied(gpu))
    }

    /// Records a copy between tensors' buffers, from a byte of each on.
    pub(crate) fn copy(&mut self, gpu: &Gpu, from: (&Buffer, u64), to: (&Buffer, u64), bytes: u64) {
        to.0.last_batch.store(gpu.open_batch.load(Ordering::Relaxed), Ordering::Relaxed);
        self.copy_out(gpu, from, (&to.0.buffer, to.1), bytes);
    }

    /// Hands what is recorded to the device.
    ///
    /// # Errors
    /// INTERNAL or RESOURCE_EXHAUSTED if the device refuses it: the message names all shaders of the batch.
    pub(crate) fn submit(&mut self, gpu: &Gpu) -> Result<()> {
        self.pass = None;
        self.dispatches = 0;
        self.limit = (self.limit * 2).min(LARGEST_BATCH);
        let Some(mut encoder) = self.encoder.take() else { return Ok(()) };
        let resolved = self.timed.take().map(|timed| timed.resolve(gpu, &mut encoder));
        let submitted = caught(&gpu.device, || gpu.queue.submit([encoder.finish()]));
        gpu.open_batch.fetch_add(1, Ordering::AcqRel);
        gpu.uploaded.store(0, Ordering::Relaxed);
        gpu.counters.add(Counter::Submissions);
        let refused = submitted.err().map(|error| {
            let shaders = self.recorded.iter().map(|pipeline| pipeline.label.as_str()).collect::<Vec<_>>().join(", ");
            gpu.refused(&error).append(format!("\n  in a batch of the shaders {shaders}"))
        });
        self.recorded.clear();
        if let Some(resolved) = resolved.filter(|_| refused.is_none()) {
            gpu.timing.add(resolved);
        }
        refused.map_or(Ok(()), Err)
    }

    /// [`Recorder::submit`] after which the device is waited for, so that the next batch is a small one.
    pub(crate) fn submit_last(&mut self, gpu: &Gpu) -> Result<()> {
        let submitted = self.submit(gpu);
        self.limit = FIRST_BATCH;
        submitted
    }
}

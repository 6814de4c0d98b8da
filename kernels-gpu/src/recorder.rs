//! What is recorded and not yet submitted: one command encoder with one open pass.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use kernlink::error::{Error, Result};
use smallvec::SmallVec;

use crate::counters::Counter;
use crate::device::Gpu;
use crate::memory::Buffer;
use crate::pipeline::Pipeline;

/// A batch is submitted when it has so many dispatches: few at first, so that the device sets to work.
const FIRST_BATCH: u32 = 8;
const LARGEST_BATCH: u32 = 64;

/// How many bind groups are kept.
const KEPT_BIND_GROUPS: usize = 8192;

/// The layout and the buffers of a bind group.
type GroupKey = (u32, SmallVec<[u64; 8]>);

pub(crate) struct Recorder {
    // The pass goes before its encoder.
    pass: Option<wgpu::ComputePass<'static>>,
    encoder: Option<wgpu::CommandEncoder>,
    dispatches: u32,
    limit: u32,
    bind_groups: HashMap<GroupKey, wgpu::BindGroup>,
}

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder { pass: None, encoder: None, dispatches: 0, limit: FIRST_BATCH, bind_groups: HashMap::new() }
    }
}

impl Recorder {
    /// Records one dispatch; submits the batch if it is full.
    pub(crate) fn dispatch(
        &mut self,
        gpu: &Gpu,
        pipeline: &Pipeline,
        buffers: &[&Arc<Buffer>],
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
        let batch = gpu.open_batch.load(Ordering::Relaxed);
        let mut key: GroupKey = (pipeline.layout_id, SmallVec::new());
        for buffer in buffers {
            buffer.last_batch.store(batch, Ordering::Relaxed);
            key.1.push(buffer.id);
        }
        let group = match self.bind_groups.get(&key) {
            Some(group) => group.clone(),
            None => {
                if self.bind_groups.len() >= KEPT_BIND_GROUPS {
                    self.bind_groups.clear();
                }
                let bound = buffers.iter().enumerate();
                let entries: SmallVec<[_; 8]> = bound
                    .map(|(binding, buffer)| wgpu::BindGroupEntry {
                        binding: binding as u32,
                        resource: buffer.buffer.as_entire_binding(),
                    })
                    .collect();
                let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &pipeline.layout, entries: &entries };
                let group = gpu.device.create_bind_group(&descriptor);
                gpu.counters.add(Counter::BindGroups);
                self.bind_groups.insert(key, group.clone());
                group
            }
        };
        let pass = self.pass(gpu);
        pass.set_pipeline(&pipeline.compute);
        pass.set_bind_group(0, &group, &[]);
        if !params.is_empty() {
            pass.set_immediates(0, bytemuck::cast_slice(params));
        }
        pass.dispatch_workgroups(groups[0], groups[1], groups[2]);
        gpu.counters.add(Counter::Dispatches);
        self.dispatches += 1;
        if self.dispatches >= self.limit {
            self.submit(gpu);
        }
        Ok(())
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

    /// Records a copy out of a tensor's buffer.
    pub(crate) fn copy_out(&mut self, gpu: &Gpu, from: &Buffer, to: &wgpu::Buffer, bytes: u64) {
        self.pass = None;
        from.last_batch.store(gpu.open_batch.load(Ordering::Relaxed), Ordering::Relaxed);
        self.encoder(gpu).copy_buffer_to_buffer(&from.buffer, 0, to, 0, bytes);
    }

    /// Records a copy between tensors' buffers.
    pub(crate) fn copy(&mut self, gpu: &Gpu, from: &Buffer, to: &Buffer, bytes: u64) {
        to.last_batch.store(gpu.open_batch.load(Ordering::Relaxed), Ordering::Relaxed);
        self.copy_out(gpu, from, &to.buffer, bytes);
    }

    /// Hands what is recorded to the device.
    pub(crate) fn submit(&mut self, gpu: &Gpu) {
        self.pass = None;
        if let Some(encoder) = self.encoder.take() {
            gpu.queue.submit([encoder.finish()]);
            gpu.open_batch.fetch_add(1, Ordering::AcqRel);
            gpu.counters.add(Counter::Submissions);
        }
        self.dispatches = 0;
        self.limit = (self.limit * 2).min(LARGEST_BATCH);
    }

    /// [`Recorder::submit`] after which the device is waited for, so that the next batch is a small one.
    pub(crate) fn submit_last(&mut self, gpu: &Gpu) {
        self.submit(gpu);
        self.limit = FIRST_BATCH;
    }
}

//! Buffers: one for each tensor, kept for reuse by classes of sizes.
//!
//! All work goes to one queue and runs in order, so that what later work writes may take the buffer of a tensor that is
//! gone while work that reads it is still under way. Only uploads overtake what is recorded and not yet submitted: they
//! take buffers that the open batch does not touch.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use kernlink::error::{Error, Result};
use kernlink::tensor::DeviceMemory;

use crate::counters::Counter;
use crate::device::{Gpu, lock, now};

/// The smallest buffer, in bytes.
const SMALLEST: u64 = 256;

/// A wgpu buffer with what tells it from others.
pub(crate) struct Buffer {
    pub(crate) buffer: wgpu::Buffer,
    pub(crate) id: u64,
    /// The number of the last batch that touches it.
    pub(crate) last_batch: AtomicU64,
}

/// The memory of a tensor, or a part of it.
pub(crate) struct GpuMemory {
    gpu: Weak<Gpu>,
    /// Taken when the memory is given back.
    buffer: Option<Arc<Buffer>>,
    device: Arc<str>,
    bytes: usize,
    /// Where it begins in the buffer.
    offset: usize,
    /// That of which it is a part, which gives the buffer back.
    whole: Option<Arc<dyn DeviceMemory>>,
}

/// What a shader is bound to.
#[derive(Clone, Copy)]
pub(crate) struct Bound<'a> {
    pub(crate) buffer: &'a Arc<Buffer>,
    /// The first byte and the number of bytes, if it is not all.
    pub(crate) part: Option<[u64; 2]>,
}

impl Bound<'_> {
    pub(crate) fn resource(&self) -> wgpu::BindingResource<'_> {
        match self.part {
            None => self.buffer.buffer.as_entire_binding(),
            Some([offset, size]) => wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &self.buffer.buffer,
                offset,
                size: wgpu::BufferSize::new(size),
            }),
        }
    }
}

impl GpuMemory {
    /// Whether it is a piece of this device's memory.
    pub(crate) fn is_of(&self, gpu: &Arc<Gpu>) -> bool {
        std::ptr::eq(self.gpu.as_ptr(), Arc::as_ptr(gpu))
    }

    pub(crate) fn buffer(&self) -> &Arc<Buffer> {
        self.buffer.as_ref().expect("the buffer is there until the memory is dropped")
    }

    /// Where it begins in the buffer.
    pub(crate) fn offset(&self) -> u64 {
        self.offset as u64
    }

    /// Some bytes of `whole`, which is this memory.
    pub(crate) fn part(&self, whole: &Arc<dyn DeviceMemory>, first: usize, bytes: usize) -> GpuMemory {
        GpuMemory {
            gpu: self.gpu.clone(),
            buffer: self.buffer.clone(),
            device: self.device.clone(),
            bytes,
            offset: self.offset + first,
            whole: Some(whole.clone()),
        }
    }

    /// What shaders are bound to: whole vectors, which buffers hold.
    pub(crate) fn bound(&self) -> Bound<'_> {
        let size = self.bytes.next_multiple_of(16) as u64;
        Bound { buffer: self.buffer(), part: self.whole.as_ref().map(|_| [self.offset(), size]) }
    }
}

impl DeviceMemory for GpuMemory {
    fn device(&self) -> &str {
        &self.device
    }

    fn num_bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for GpuMemory {
    fn drop(&mut self) {
        if self.whole.is_some() {
            return;
        }
        if let (Some(gpu), Some(buffer)) = (self.gpu.upgrade(), self.buffer.take()) {
            lock(&gpu.pool.free).entry(buffer.buffer.size()).or_default().push(buffer);
        }
    }
}

/// The buffers that nothing uses, by size.
#[derive(Default)]
pub(crate) struct Pool {
    free: Mutex<HashMap<u64, Vec<Arc<Buffer>>>>,
    next_id: AtomicU64,
}

/// The class of a size: a quarter of a power of two.
fn class(bytes: u64) -> u64 {
    let bytes = bytes.max(SMALLEST);
    let step = (bytes.next_power_of_two() / 8).max(SMALLEST / 4);
    bytes.next_multiple_of(step)
}

impl Pool {
    /// Memory of at least `bytes` bytes with arbitrary content. For an upload it is not part of the open batch.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if the device has no such memory.
    pub(crate) fn allocate(&self, gpu: &Arc<Gpu>, bytes: usize, for_upload: bool) -> Result<GpuMemory> {
        let size = self.size(gpu, bytes)?;
        let found = {
            let mut free = lock(&self.free);
            let buffers = free.entry(size).or_default();
            if for_upload {
                let open = gpu.open_batch.load(Ordering::Acquire);
                let position = buffers.iter().rposition(|buffer| buffer.last_batch.load(Ordering::Relaxed) < open);
                position.map(|position| buffers.swap_remove(position))
            } else {
                buffers.pop()
            }
        };
        let buffer = match found {
            Some(buffer) => buffer,
            None => self.create(gpu, size).or_else(|_| {
                // What lies unused in other sizes may be enough.
                gpu.settle()?;
                self.clear();
                gpu.settle()?;
                self.create(gpu, size)
            })?,
        };
        let gpu_of = Arc::downgrade(gpu);
        Ok(GpuMemory { gpu: gpu_of, buffer: Some(buffer), device: gpu.name.clone(), bytes, offset: 0, whole: None })
    }

    fn size(&self, gpu: &Gpu, bytes: usize) -> Result<u64> {
        let limits = gpu.limits;
        if bytes > limits.buffer {
            return Err(Error::resource_exhausted(format!(
                "a tensor of {bytes} bytes is more than {} holds in one buffer: {}",
                gpu.info.name, limits.buffer
            )));
        }
        // What can be bound at once is bound with the whole buffer.
        let most = if bytes <= limits.binding { limits.binding } else { limits.buffer };
        Ok(class(bytes as u64).min(most as u64))
    }

    fn create(&self, gpu: &Gpu, size: u64) -> Result<Arc<Buffer>> {
        let out_of_memory = gpu.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        if now(out_of_memory.pop()).is_some() {
            let message = format!("{} has no {size} bytes left for a tensor", gpu.info.name);
            return Err(Error::resource_exhausted(message));
        }
        gpu.counters.add(Counter::Buffers);
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(Buffer { buffer, id, last_batch: AtomicU64::new(0) }))
    }

    /// Gives what is unused back to the driver.
    fn clear(&self) {
        lock(&self.free).clear();
    }

    /// The number and the bytes of the buffers that nothing uses.
    pub(crate) fn unused(&self) -> (usize, u64) {
        let free = lock(&self.free);
        let buffers = free.values().flatten();
        buffers.fold((0, 0), |(count, bytes), buffer| (count + 1, bytes + buffer.buffer.size()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_waste_little_and_hold_what_is_asked_for() {
        for bytes in [0, 1, 255, 256, 257, 1000, 1024, 1025, 4097, 1 << 20, (1 << 20) + 1, 5 << 30] {
            let size = class(bytes);
            assert!(size >= bytes && size.is_multiple_of(4), "{bytes}: {size}");
            assert!(size <= SMALLEST.max(bytes + bytes / 4), "{bytes}: {size}");
            assert_eq!(class(size), size);
        }
    }
}

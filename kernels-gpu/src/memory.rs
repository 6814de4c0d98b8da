//! Buffers: one for each tensor, kept for reuse by classes of sizes.
//!
//! All work goes to one queue and runs in order, so that what later work writes may take the buffer of a tensor that is
//! gone while work that reads it is still under way. Only uploads overtake what is recorded and not yet submitted: they
//! take buffers that the open batch does not touch.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use kernlink::error::{Error, Result};
use kernlink::tensor::DeviceMemory;
use rustc_hash::FxHashMap;

use crate::counters::Counter;
use crate::device::{Gpu, lock};
use crate::fault::caught;

/// The smallest buffer, in bytes.
const SMALLEST: u64 = 256;

/// So many bytes may lie unused at least.
const KEPT: u64 = 64 << 20;

/// So many times as much as was ever in use at once may lie unused, for runs with tensors of other sizes.
const KEPT_TIMES: u64 = 2;

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
        // The widest vectors have 32 bytes.
        let size = self.bytes.next_multiple_of(32) as u64;
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
            gpu.pool.give_back(buffer);
        }
    }
}

/// The buffers that nothing uses.
#[derive(Default)]
pub(crate) struct Pool {
    free: Mutex<Free>,
    next_id: AtomicU64,
}

/// By size, and in it by age: the oldest is taken first, so that a run takes those that the run before it took, and finds
/// its bind groups made.
#[derive(Default)]
struct Free {
    by_size: FxHashMap<u64, BTreeMap<u64, Arc<Buffer>>>,
    /// The bytes that lie here, those that do not, and the most that ever did not.
    unused: u64,
    used: u64,
    most_used: u64,
}

impl Free {
    /// A buffer of a size that the batch `open`, if it is given, does not touch.
    fn take(&mut self, size: u64, open: Option<u64>) -> Option<Arc<Buffer>> {
        let buffers = self.by_size.get_mut(&size)?;
        let untouched = |buffer: &Buffer| open.is_none_or(|open| buffer.last_batch.load(Ordering::Relaxed) < open);
        let id = buffers.iter().find(|(_, buffer)| untouched(buffer)).map(|(&id, _)| id)?;
        let buffer = buffers.remove(&id)?;
        self.unused -= size;
        self.use_more(size);
        Some(buffer)
    }

    fn use_more(&mut self, bytes: u64) {
        self.used += bytes;
        self.most_used = self.most_used.max(self.used);
    }

    /// Gives buffers back to the driver, those first that were used longest ago, until at most `most` bytes lie unused; not
    /// those that the batch `open` touches.
    fn shrink(&mut self, most: u64, open: u64) {
        if self.unused <= most {
            return;
        }
        let age = |buffer: &Arc<Buffer>| (buffer.last_batch.load(Ordering::Relaxed), buffer.id, buffer.buffer.size());
        let mut ages: Vec<_> = self.by_size.values().flat_map(BTreeMap::values).map(age).collect();
        ages.sort_unstable();
        for (_, id, size) in ages.into_iter().take_while(|&(batch, ..)| batch < open) {
            if self.unused <= most {
                break;
            }
            if let Some(buffer) = self.by_size.get_mut(&size).and_then(|buffers| buffers.remove(&id)) {
                // Bind groups that are kept would hold the memory otherwise.
                buffer.buffer.destroy();
                self.unused -= size;
            }
        }
    }
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
        let open = for_upload.then(|| gpu.open_batch.load(Ordering::Acquire));
        let found = lock(&self.free).take(size, open);
        let buffer = match found {
            Some(buffer) => buffer,
            None => {
                let made = self.create(gpu, size).or_else(|_| {
                    // What lies unused in other sizes may be enough.
                    gpu.trim()?;
                    self.create(gpu, size)
                })?;
                let mut free = lock(&self.free);
                free.use_more(size);
                let most = (free.most_used * KEPT_TIMES).max(KEPT);
                free.shrink(most, gpu.open_batch.load(Ordering::Acquire));
                made
            }
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
        let descriptor = wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        };
        let buffer = caught(&gpu.device, || gpu.device.create_buffer(&descriptor)).map_err(|error| match error {
            wgpu::Error::OutOfMemory { .. } => {
                Error::resource_exhausted(format!("{} has no {size} bytes left for a tensor", gpu.info.name))
            }
            error => gpu.refused(&error),
        })?;
        gpu.counters.add(Counter::Buffers);
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(Buffer { buffer, id, last_batch: AtomicU64::new(0) }))
    }

    fn give_back(&self, buffer: Arc<Buffer>) {
        let (size, mut free) = (buffer.buffer.size(), lock(&self.free));
        free.used -= size;
        free.unused += size;
        free.by_size.entry(size).or_default().insert(buffer.id, buffer);
    }

    /// Gives all that is unused back to the driver. No batch may be open.
    pub(crate) fn clear(&self) {
        lock(&self.free).shrink(0, u64::MAX);
    }

    /// The number and the bytes of the buffers that nothing uses.
    pub(crate) fn unused(&self) -> (usize, u64) {
        let free = lock(&self.free);
        (free.by_size.values().map(BTreeMap::len).sum(), free.unused)
    }
}

#[cfg(test)]
mod tests {
    use kernlink::device::Device as _;
    use kernlink::dtype::DataType;
    use kernlink::tensor::Tensor;

    use super::*;
    use crate::testing::device;

    #[test]
    fn classes_waste_little_and_hold_what_is_asked_for() {
        for bytes in [0, 1, 255, 256, 257, 1000, 1024, 1025, 4097, 1 << 20, (1 << 20) + 1, 5 << 30] {
            let size = class(bytes);
            assert!(size >= bytes && size.is_multiple_of(4), "{bytes}: {size}");
            assert!(size <= SMALLEST.max(bytes + bytes / 4), "{bytes}: {size}");
            assert_eq!(class(size), size);
        }
    }

    /// What lies behind a tensor.
    fn buffer(tensor: &Tensor) -> &Arc<Buffer> {
        tensor.device_memory().and_then(|memory| memory.downcast_ref::<GpuMemory>()).unwrap().buffer()
    }

    #[test]
    fn what_lies_unused_is_bounded_and_can_be_given_back() {
        let gpu = device();
        // From 1 to 56 MiB, each of a class of its own.
        let sizes: Vec<u64> = (18..24).flat_map(|bits| [4, 5, 6, 7].map(|quarters| quarters << bits)).collect();
        for &size in &sizes {
            let tensor = gpu.allocate(DataType::Uint8, [size as usize]).unwrap();
            assert_eq!(buffer(&tensor).buffer.size(), size);
            let (_, unused) = gpu.unused_memory();
            assert!(unused <= (KEPT_TIMES * size).max(KEPT), "{unused} bytes beside {size}");
        }
        let (count, unused) = gpu.unused_memory();
        assert!(count > 1 && unused < sizes.iter().sum(), "{unused} bytes in {count} buffers");
        gpu.trim().unwrap();
        assert_eq!(gpu.unused_memory(), (0, 0));
    }

    #[test]
    fn the_oldest_is_taken_first_but_for_what_the_open_batch_touches() {
        let gpu = device();
        let allocate = || gpu.allocate(DataType::Float, [100]).unwrap();
        let tensors = [allocate(), allocate(), allocate()];
        let ids = tensors.each_ref().map(|tensor| buffer(tensor).id);
        assert!(ids.is_sorted());
        let [first, second, third] = tensors;
        [second, third, first].into_iter().for_each(drop);
        let again = [allocate(), allocate(), allocate()];
        assert_eq!(again.each_ref().map(|tensor| buffer(tensor).id), ids);
        buffer(&again[0]).last_batch.store(gpu.gpu.open_batch.load(Ordering::Relaxed), Ordering::Relaxed);
        drop(again);
        let upload = gpu.to_device(&Tensor::vector(&[0f32; 100]).unwrap()).unwrap();
        assert_eq!((buffer(&upload).id, buffer(&allocate()).id), (ids[1], ids[0]));
    }
}

//! From the device's memory to the host's, without a thread that waits for each.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;

use kernlink::dtype::DataType;
use kernlink::error::{Error, Result};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use smallvec::{SmallVec, smallvec};

use crate::counters::Counter;
use crate::device::{Gpu, lock};
use crate::fault::{Faults, caught};
use crate::memory::GpuMemory;
use crate::refusal::Copied;
use crate::transfer;

/// So many bytes of staging buffers are kept at most.
const KEPT: u64 = 64 << 20;

/// The thread that waits for the device on behalf of all read-backs, and the buffers through which they go.
pub(crate) struct ReadBacks {
    /// Taken when the thread is to end.
    poke: Mutex<Option<Sender<()>>>,
    thread: Option<JoinHandle<()>>,
    staging: Mutex<Staging>,
}

impl ReadBacks {
    /// Starts the thread; it ends with the sender.
    pub(crate) fn start(device: &wgpu::Device, faults: &Arc<Faults>) -> Result<ReadBacks> {
        let (poke, poked) = channel::<()>();
        let (device, faults) = (device.clone(), faults.clone());
        let work = move || {
            while poked.recv().is_ok() {
                while poked.try_recv().is_ok() {}
                // Who waits is told of what goes wrong.
                let _ = faults.settle(&device);
            }
        };
        let spawned = std::thread::Builder::new().name("kernlink-gpu".to_owned()).spawn(work);
        let thread =
            spawned.map_err(|error| Error::resource_exhausted(format!("cannot start the GPU's thread: {error}")))?;
        Ok(ReadBacks { poke: Mutex::new(Some(poke)), thread: Some(thread), staging: Mutex::default() })
    }

    fn staging(&self, gpu: &Gpu, size: u64) -> Result<wgpu::Buffer> {
        {
            let mut staging = lock(&self.staging);
            if let Some(buffer) = staging.by_size.get_mut(&size).and_then(Vec::pop) {
                staging.unused -= size;
                return Ok(buffer);
            }
        }
        let descriptor = wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        };
        let make = || caught(&gpu.device, || gpu.device.create_buffer(&descriptor));
        let made = make().or_else(|error| gpu.trim().map_or(Err(error), |()| make()));
        let buffer = made.map_err(|error| match error {
            wgpu::Error::OutOfMemory { .. } => {
                Error::resource_exhausted(format!("{} has no {size} bytes left to read a tensor back", gpu.info.name))
            }
            error => gpu.refused(&error),
        })?;
        gpu.counters.add(Counter::Buffers);
        Ok(buffer)
    }

    /// Keeps a buffer for later.
    fn keep(&self, buffer: wgpu::Buffer) {
        let mut staging = lock(&self.staging);
        if staging.unused + buffer.size() <= KEPT {
            staging.unused += buffer.size();
            staging.by_size.entry(buffer.size()).or_default().push(buffer);
        }
    }

    /// Gives what is kept back to the driver.
    pub(crate) fn clear(&self) {
        *lock(&self.staging) = Staging::default();
    }
}

/// Buffers through which tensors come to the host, for reuse.
#[derive(Default)]
struct Staging {
    by_size: HashMap<u64, Vec<wgpu::Buffer>>,
    unused: u64,
}

impl Drop for ReadBacks {
    /// Waits for the thread: it holds the device, which must not outlive the program's end.
    fn drop(&mut self) {
        lock(&self.poke).take();
        // The last holder of the device may be a read-back that ends on the thread itself.
        if let Some(thread) = self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id()) {
            let _ = thread.join();
        }
    }
}

/// The result of a read-back.
#[derive(Default)]
struct Slot {
    result: Option<Result<Tensor>>,
    waker: Option<Waker>,
}

fn fill(slot: &Mutex<Slot>, result: Result<Tensor>) {
    let waker = {
        let mut slot = lock(slot);
        slot.result.get_or_insert(result);
        slot.waker.take()
    };
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// A read-back under way.
pub(crate) struct ReadBack(Arc<Mutex<Slot>>);

impl Future for ReadBack {
    type Output = Result<Tensor>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Tensor>> {
        let mut slot = lock(&self.0);
        match slot.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Submits what is recorded, with copies of a tensor's memory at its end: one, or some for a large tensor. If shaders have
/// refused elements on behalf of no step, reading fails.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is no memory through which it can go; and what the device says to the submission.
pub(crate) fn begin(
    gpu: &Arc<Gpu>,
    memory: &GpuMemory,
    dtype: DataType,
    shape: &Shape,
) -> Result<SmallVec<[ReadBack; 1]>> {
    let count = shape.num_elements();
    let most = gpu.limits.piece() / transfer::device_bytes(dtype, 1);
    if count <= most {
        let room = memory.buffer().buffer.size();
        return Ok(smallvec![begin_piece(gpu, memory, 0, room, dtype, shape.clone())?]);
    }
    let room = gpu.limits.piece() as u64;
    let piece = |first| begin_piece(gpu, memory, first, room, dtype, Shape::from([most.min(count - first)]));
    (0..count).step_by(most).map(piece).collect()
}

/// The tensor whose elements are read back.
pub(crate) async fn join(mut pieces: SmallVec<[ReadBack; 1]>, dtype: DataType, shape: Shape) -> Result<Tensor> {
    if pieces.len() == 1
        && let Some(only) = pieces.pop()
    {
        return only.await;
    }
    let mut bytes = scratch::room(shape.num_elements().saturating_mul(dtype.size()))?;
    for piece in pieces {
        bytes.extend_from_slice(piece.await?.bytes()?);
    }
    Tensor::from_bytes(dtype, shape, &bytes)
}

/// Begins to read elements from `first` on, by way of a buffer with `room` for their bytes.
fn begin_piece(
    gpu: &Arc<Gpu>,
    memory: &GpuMemory,
    first: usize,
    room: u64,
    dtype: DataType,
    shape: Shape,
) -> Result<ReadBack> {
    let bytes = transfer::device_bytes(dtype, shape.num_elements()) as u64;
    let size = bytes.next_multiple_of(4).max(4);
    let from = memory.offset() + transfer::device_bytes(dtype, first) as u64;
    let staging = gpu.read_backs.staging(gpu, room + Copied::BYTES)?;
    let copied = {
        let mut recorder = lock(&gpu.recorder);
        recorder.copy_out(gpu, (memory.buffer(), from), (&staging, 0), size);
        let copied = recorder.copy_refusals(gpu, &staging, size);
        recorder.submit_last(gpu)?;
        copied
    };
    let mapped = size + if copied.is_some() { Copied::BYTES } else { 0 };
    gpu.counters.add(Counter::ReadBacks);
    let slot = Arc::new(Mutex::new(Slot::default()));
    let (filled, owner, buffer) = (slot.clone(), Arc::downgrade(gpu), staging.clone());
    // Of a device that is lost wgpu says nothing to who waits for memory.
    let lost = slot.clone();
    let number = gpu.faults.wait(Box::new(move |error| fill(&lost, Err(error))));
    let done = move |outcome: std::result::Result<(), wgpu::BufferAsyncError>| {
        let failed = |what: String| {
            let cause = owner.upgrade().and_then(|gpu| gpu.fault().err());
            cause.unwrap_or_else(|| Error::internal(format!("cannot read the GPU's memory: {what}")))
        };
        let result = match outcome {
            Err(error) => Err(failed(error.to_string())),
            Ok(()) => match buffer.get_mapped_range(..mapped) {
                Err(error) => Err(failed(error.to_string())),
                Ok(view) => {
                    let refused = copied.map_or(Ok(()), |copied| copied.arrive(&view[size as usize..]));
                    refused.and_then(|()| transfer::from_device(dtype, shape, &view[..bytes as usize]))
                }
            },
        };
        buffer.unmap();
        if let (Some(gpu), true) = (owner.upgrade(), result.is_ok()) {
            gpu.read_backs.keep(buffer);
        }
        fill(&filled, result);
        if let Some(gpu) = owner.upgrade() {
            gpu.faults.has_ended(number);
        }
    };
    staging.map_async(wgpu::MapMode::Read, ..mapped, done);
    if let Some(poke) = &*lock(&gpu.read_backs.poke) {
        // The thread is there as long as the sender.
        let _ = poke.send(());
    }
    Ok(ReadBack(slot))
}

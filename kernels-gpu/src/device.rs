//! The device: opens an adapter, keeps its tensors and runs its shaders.

use std::any::Any;
use std::cell::Cell;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use kernlink::dtype::DataType;
use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::op::{Op, OutputArg};
use kernlink::shape::Shape;
use kernlink::step::{Step, block_on};
use kernlink::tensor::Tensor;
pub(crate) use kernlink_framework::device::*;

use crate::adapter::{self, AdapterInfo, VARIABLE};
use crate::capability::{self, CAPABILITIES};
use crate::counters::{Counter, Counters};
pub use crate::dispatch::Groups;
pub(crate) use crate::dispatch::{Prepared, counted};
use crate::fault::{Faults, met};
use crate::matmul::tune::Tuner;
use crate::memory::{GpuMemory, Pool};
use crate::pipeline::Pipelines;
use crate::read_back::{self, ReadBacks};
use crate::recorder::Recorder;
use crate::refusal::Refusals;
use crate::timing::Timing;
use crate::transfer::{self, device_bytes};
use crate::variants::Variants;
use crate::wgsl;
use crate::windows::Limits;

/// How many bytes of uploads wait for a submission at most.
const UNDER_WAY: u64 = 64 << 20;

/// Locks, also after a panic of another holder.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an error scope has caught: known at once, so that kernels need not wait.
pub(crate) fn now(caught: impl Future<Output = Option<wgpu::Error>>) -> Option<wgpu::Error> {
    match pin!(caught).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(error) => error,
        Poll::Pending => None,
    }
}

thread_local! {
    /// The step of the kernel that this thread runs, or ran last: only kernels record shaders that refuse elements.
    pub(crate) static STEP: Cell<Option<i64>> = const { Cell::new(None) };
}

/// A graphics processor.
pub struct GpuDevice {
    name: Arc<str>,
    pub(crate) gpu: Arc<Gpu>,
    capabilities: Vec<&'static str>,
    pub(crate) variants: Variants,
}

/// What the device and its tensors share.
pub(crate) struct Gpu {
    pub(crate) name: Arc<str>,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) info: AdapterInfo,
    pub(crate) limits: Limits,
    pub(crate) recorder: Mutex<Recorder>,
    pub(crate) pool: Pool,
    pub(crate) pipelines: Pipelines,
    pub(crate) read_backs: ReadBacks,
    pub(crate) refusals: Refusals,
    pub(crate) counters: Counters,
    pub(crate) tuner: Tuner,
    pub(crate) has_timestamps: bool,
    pub(crate) timing: Timing,
    /// The number of the batch that is being recorded, from 1.
    pub(crate) open_batch: AtomicU64,
    pub(crate) faults: Arc<Faults>,
    /// The bytes of uploads that no submission has taken along.
    pub(crate) uploaded: AtomicU64,
}

impl GpuDevice {
    /// The adapters that [`GpuDevice::open`] chooses among, in its order.
    pub fn adapters() -> Vec<AdapterInfo> {
        adapter::all().iter().map(AdapterInfo::of).collect()
    }

    /// `/device:GPU:0` on the adapter that the environment variable `KERNLINK_GPU` names, or else on the first that is
    /// no software.
    ///
    /// # Errors
    /// See [`GpuDevice::open_named`].
    pub fn open() -> Result<GpuDevice> {
        let wanted = std::env::var(VARIABLE).ok();
        GpuDevice::open_named(0, wanted.as_deref().filter(|wanted| !wanted.is_empty()))
    }

    /// `/device:GPU:number` on the adapter with this text in its name, or with this number in
    /// [`GpuDevice::adapters`]; on the first that is no software if nothing is named.
    ///
    /// # Errors
    /// NOT_FOUND if no adapter has the name, FAILED_PRECONDITION if there is none but software; both list what there is.
    /// INTERNAL if the driver refuses the device.
    pub fn open_named(number: usize, wanted: Option<&str>) -> Result<GpuDevice> {
        GpuDevice::open_without(number, wanted, &[])
    }

    /// [`GpuDevice::open_named`], as if the adapter lacked these capabilities: tests see by it what poorer devices do. So does
    /// the environment variable `KERNLINK_GPU_WITHOUT`.
    ///
    /// # Errors
    /// See [`GpuDevice::open_named`]; INVALID_ARGUMENT for an unknown capability.
    pub fn open_without(number: usize, wanted: Option<&str>, capabilities: &[&str]) -> Result<GpuDevice> {
        GpuDevice::open_on(number, &adapter::choose(adapter::all(), wanted)?, capabilities)
    }

    /// `/device:GPU:number` on the adapter with this number in [`GpuDevice::adapters`].
    ///
    /// # Errors
    /// NOT_FOUND if there are not so many adapters; INTERNAL if the driver refuses the device.
    pub fn open_numbered(number: usize) -> Result<GpuDevice> {
        GpuDevice::open_on(number, &adapter::numbered(adapter::all(), number)?, &[])
    }

    fn open_on(number: usize, adapter: &wgpu::Adapter, without: &[&str]) -> Result<GpuDevice> {
        let info = AdapterInfo::of(adapter);
        let features = adapter.features() & (wgpu::Features::IMMEDIATES | capability::allowed(without)?);
        if !features.contains(wgpu::Features::IMMEDIATES) {
            let message = format!("{info} takes no immediate parameters, which Kernlink's shaders need");
            return Err(Error::failed_precondition(message));
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("kernlink"),
            required_features: features,
            required_limits: adapter.limits(),
            // SAFETY: wgpu asks its users to know that experimental features may have faults. Only cooperative matrices are
            // asked for, and only a shader that requires them by name uses them.
            experimental_features: unsafe { wgpu::ExperimentalFeatures::enabled() },
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        };
        let (device, queue) = block_on(adapter.request_device(&descriptor))
            .map_err(|error| Error::internal(format!("{info} refuses a device: {error}")))?;
        let faults = Arc::new(Faults::new(&info.name));
        let on_error = faults.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| on_error.report(&error)));
        let on_loss = faults.clone();
        device.set_device_lost_callback(move |reason, message| on_loss.lose(&format!("{reason:?}: {message}")));
        let capabilities = CAPABILITIES.iter().filter(|(_, feature)| features.contains(*feature));
        let tuner = Tuner::new(&info, features.contains(wgpu::Features::TIMESTAMP_QUERY));
        let name: Arc<str> = format!("/device:GPU:{number}").into();
        let gpu = Arc::new(Gpu {
            name: name.clone(),
            read_backs: ReadBacks::start(&device, &faults)?,
            limits: Limits::new(&device.limits()),
            device,
            queue,
            info,
            refusals: Refusals::default(),
            recorder: Mutex::default(),
            pool: Pool::default(),
            pipelines: Pipelines::default(),
            counters: Counters::default(),
            tuner,
            has_timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
            timing: Timing::default(),
            open_batch: AtomicU64::new(1),
            faults,
            uploaded: AtomicU64::new(0),
        });
        let capabilities = capabilities.map(|(name, _)| *name).collect();
        Ok(GpuDevice { name, gpu, capabilities, variants: Variants::default() })
    }

    /// The device on which a kernel runs.
    ///
    /// # Errors
    /// INTERNAL if it is none of this kind.
    #[track_caller]
    pub fn of<'a>(ctx: &RawContext<'a>) -> Result<&'a GpuDevice> {
        let device = ctx.run().device.and_then(|device| device.downcast_ref::<GpuDevice>());
        STEP.set(ctx.run().step.map(|step| step.id()));
        device.ok_or_else(|| Error::internal("a GPU kernel runs on a device that is no GPU"))
    }

    /// The adapter.
    pub fn adapter(&self) -> &AdapterInfo {
        &self.gpu.info
    }

    /// The same device, which binds at most so many bytes at once: for tests of tensors that are larger.
    ///
    /// # Panics
    /// If there are tensors already.
    #[doc(hidden)]
    #[must_use]
    pub fn with_binding_limit(mut self, bytes: usize) -> GpuDevice {
        let gpu = Arc::get_mut(&mut self.gpu).expect("no tensor is there yet");
        gpu.limits = gpu.limits.lowered(bytes);
        self
    }

    /// Its limits, for kernels that choose their tiles by them.
    pub fn limits(&self) -> wgpu::Limits {
        self.gpu.device.limits()
    }

    /// The number and the bytes of the buffers that are kept and not used.
    pub fn unused_memory(&self) -> (usize, u64) {
        self.gpu.pool.unused()
    }

    /// Gives the buffers that are kept and not used back to the driver. It happens by itself where memory runs out, and to
    /// what exceeds by far what was ever in use.
    ///
    /// # Errors
    /// What was recorded and not yet submitted meets.
    pub fn trim(&self) -> Result<()> {
        self.gpu.trim()
    }

    /// A tensor in the device's memory, with arbitrary elements.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a shape with too many elements or a dtype that stays on the host; RESOURCE_EXHAUSTED if
    /// there is not enough memory.
    #[track_caller]
    pub fn allocate(&self, dtype: DataType, shape: impl Into<Shape>) -> Result<Tensor> {
        let shape = shape.into();
        shape.check()?;
        if !dtype.is_pod() {
            return Err(Error::invalid_argument(format!("a {dtype} tensor stays in the memory of the host")));
        }
        self.gpu.fault()?;
        let bytes = device_bytes(dtype, shape.num_elements());
        let memory = self.gpu.pool.allocate(&self.gpu, bytes, false)?;
        Ok(Tensor::from_device(dtype, shape, Arc::new(memory)))
    }

    /// A tensor for an output of a kernel, in the device's memory, with arbitrary elements.
    ///
    /// # Errors
    /// As [`GpuDevice::allocate`], and INVALID_ARGUMENT if there is no such output.
    #[track_caller]
    pub fn allocate_output(&self, ctx: &RawContext<'_>, index: usize, shape: impl Into<Shape>) -> Result<Tensor> {
        self.allocate(ctx.output_dtype_at(index)?, shape)
    }

    /// [`GpuDevice::allocate_output`] by the output's name.
    ///
    /// # Errors
    /// As [`GpuDevice::allocate`].
    #[track_caller]
    pub fn output<O: Op>(
        &self,
        ctx: &KernelContext<'_, O>,
        output: OutputArg<O>,
        shape: impl Into<Shape>,
    ) -> Result<Tensor> {
        self.allocate_output(ctx, ctx.output_position(output), shape)
    }

    /// Records a copy of a tensor's elements into new memory.
    ///
    /// # Errors
    /// As [`GpuDevice::allocate`]; INTERNAL if the tensor is not in the device's memory.
    #[track_caller]
    pub fn copy(&self, tensor: &Tensor) -> Result<Tensor> {
        let copy = self.allocate(tensor.dtype(), tensor.shape().clone())?;
        self.copy_part(tensor, 0, &copy, 0, tensor.num_elements())?;
        Ok(copy)
    }

    /// Records a copy of some elements of a tensor to a place in another of its dtype.
    ///
    /// # Errors
    /// INTERNAL if a tensor is not in the device's memory.
    #[track_caller]
    pub(crate) fn copy_part(&self, from: &Tensor, first: usize, to: &Tensor, place: usize, count: usize) -> Result<()> {
        let bytes_of = |elements: usize| device_bytes(from.dtype(), elements) as u64;
        let (source, target) = (self.memory(from)?, self.memory(to)?);
        let source = (&**source.buffer(), source.offset() + bytes_of(first));
        let target = (&**target.buffer(), target.offset() + bytes_of(place));
        if !source.1.is_multiple_of(4) || !target.1.is_multiple_of(4) {
            return self.copy_halves([from, to], [first, place], count);
        }
        // Buffers hold whole vectors.
        let bytes = bytes_of(count).next_multiple_of(4);
        if bytes > 0 {
            lock(&self.gpu.recorder).copy(&self.gpu, source, target, bytes);
        }
        Ok(())
    }

    /// Some elements of a tensor as a vector, if they begin where the device can bind.
    ///
    /// # Errors
    /// INTERNAL if the tensor is not in the device's memory.
    #[track_caller]
    pub(crate) fn view(&self, tensor: &Tensor, first: usize, count: usize) -> Result<Option<Tensor>> {
        let memory = self.memory(tensor)?;
        let [first, bytes] = [first, count].map(|elements| device_bytes(tensor.dtype(), elements));
        if !(memory.offset() as usize + first).is_multiple_of(self.gpu.limits.alignment) {
            return Ok(None);
        }
        let part = tensor.device_memory().map(|whole| memory.part(whole, first, bytes));
        Ok(part.map(|part| Tensor::from_device(tensor.dtype(), [count], Arc::new(part))))
    }

    /// The words in which shaders leave the numbers of errors that they find in elements; see [`crate::refusal`].
    pub(crate) fn refusals(&self) -> Result<&Tensor> {
        self.gpu.refusals.words(self)
    }

    #[track_caller]
    pub(crate) fn memory<'t>(&self, tensor: &'t Tensor) -> Result<&'t GpuMemory> {
        let memory = tensor.device_memory().and_then(|memory| memory.downcast_ref::<GpuMemory>());
        memory.filter(|memory| memory.is_of(&self.gpu)).ok_or_else(|| {
            let message = format!("a {} tensor of shape {} is not in the GPU's memory", tensor.dtype(), tensor.shape());
            Error::internal(message)
        })
    }
}

impl Gpu {
    /// What the device refuses to do: as it is lost, or else for what wgpu reports.
    pub(crate) fn refused(&self, error: &wgpu::Error) -> Error {
        self.fault().err().unwrap_or_else(|| met(error))
    }

    /// What went wrong since it was last asked.
    #[inline]
    pub(crate) fn fault(&self) -> Result<()> {
        self.faults.check()
    }

    /// Writes to a new buffer, piece by piece: what is on its way lies in memory that both see, of which a card may have
    /// little, and wgpu gives a device up that has none left.
    fn upload(&self, buffer: &wgpu::Buffer, bytes: &[u8]) -> Result<()> {
        let mut at = 0;
        for piece in bytes.chunks(self.limits.piece()) {
            let length = piece.len() as u64;
            if self.uploaded.fetch_add(length, Ordering::Relaxed) + length > UNDER_WAY {
                self.uploaded.store(length, Ordering::Relaxed);
                self.queue.submit([]);
                self.faults.settle(&self.device)?;
            }
            self.queue.write_buffer(buffer, at, piece);
            at += length;
        }
        Ok(())
    }

    /// Gives memory that nothing uses back to the driver.
    pub(crate) fn trim(&self) -> Result<()> {
        {
            let mut recorder = lock(&self.recorder);
            recorder.submit_last(self)?;
            recorder.forget_bind_groups();
            self.pool.clear();
        }
        self.read_backs.clear();
        self.faults.settle(&self.device)
    }

    /// Submits what is recorded and waits for its end.
    pub(crate) fn settle(&self) -> Result<()> {
        let submitted = lock(&self.recorder).submit_last(self);
        let waited = self.faults.settle(&self.device);
        submitted?;
        self.fault()?;
        waited
    }
}

impl Device for GpuDevice {
    fn name(&self) -> &str {
        &self.name
    }

    fn device_type(&self) -> DeviceType {
        GPU
    }

    fn pool(&self) -> Option<&Arc<kernlink::threads::ThreadPool>> {
        None
    }

    fn runner(&self) -> Option<&(dyn Any + Send + Sync)> {
        Some(&wgsl::RUNNER)
    }

    fn has_own_memory(&self) -> bool {
        true
    }

    fn capabilities(&self) -> &[&'static str] {
        &self.capabilities
    }

    fn to_device(&self, tensor: &Tensor) -> Result<Tensor> {
        if tensor.device_memory().is_some() {
            self.memory(tensor)?;
            return Ok(tensor.clone());
        }
        self.gpu.fault()?;
        let bytes = transfer::to_device(tensor)?;
        let memory = self.gpu.pool.allocate(&self.gpu, bytes.len(), true)?;
        if !bytes.is_empty() {
            self.gpu.counters.add(Counter::Uploads);
            self.gpu.upload(&memory.buffer().buffer, &bytes)?;
        }
        Ok(Tensor::from_device(tensor.dtype(), tensor.shape().clone(), Arc::new(memory)))
    }

    fn owns(&self, tensor: &Tensor) -> bool {
        self.memory(tensor).is_ok()
    }

    fn to_host(&self, tensor: &Tensor) -> BoxFuture<'static, Result<Tensor>> {
        let begun = || -> Result<BoxFuture<'static, Result<Tensor>>> {
            if tensor.device_memory().is_none() {
                return Ok(Box::pin(std::future::ready(Ok(tensor.clone()))));
            }
            let memory = self.memory(tensor)?;
            if tensor.num_elements() == 0 {
                let empty = Tensor::alloc(tensor.dtype(), tensor.shape().clone());
                return Ok(Box::pin(std::future::ready(empty)));
            }
            self.gpu.fault()?;
            let read_backs = read_back::begin(&self.gpu, memory, tensor.dtype(), tensor.shape())?;
            let gpu = self.gpu.clone();
            let (dtype, shape) = (tensor.dtype(), tensor.shape().clone());
            Ok(Box::pin(async move {
                let tensor = read_back::join(read_backs, dtype, shape).await?;
                gpu.fault()?;
                Ok(tensor)
            }))
        };
        begun().unwrap_or_else(|error| Box::pin(std::future::ready(Err(error))))
    }

    fn synchronize(&self) -> Result<()> {
        if lock(&self.gpu.recorder).refusing.is_any() {
            block_on(self.to_host(self.refusals()?))?;
        }
        self.gpu.settle()
    }

    fn flush(&self) -> Result<()> {
        lock(&self.gpu.recorder).submit_last(&self.gpu)
    }

    fn end_step(&self, step: &Step) -> BoxFuture<'static, Result<()>> {
        let id = step.id();
        let Some(is_written) = lock(&self.gpu.recorder).refusing.end(id) else {
            return Box::pin(std::future::ready(Ok(())));
        };
        let gpu = self.gpu.clone();
        let copy = is_written.then(|| self.refusals().map(|words| self.to_host(words)));
        Box::pin(async move {
            if let Some(copy) = copy {
                copy?.await?;
                // The copy has taken the word: the place is free now.
                lock(&gpu.recorder).refusing.end(id);
            }
            gpu.refusals.all_arrived(id).await;
            gpu.refusals.check_step(id)
        })
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.gpu.counters.all()
    }

    fn end_trace(&self, step: &Step) {
        self.gpu.timing.end(&self.gpu, step);
    }
}

#[cfg(test)]
mod tests {
    use kernlink::error::Code;

    use super::*;

    #[test]
    fn a_lost_device_is_the_error_of_all_that_comes_after() {
        let gpu = crate::testing::device();
        let tensor = gpu.to_device(&Tensor::scalar(1f32)).unwrap();
        gpu.gpu.device.destroy();
        for _ in 0..2 {
            let errors = [
                gpu.synchronize().unwrap_err(),
                gpu.to_device(&Tensor::scalar(1f32)).map(drop).unwrap_err(),
                gpu.allocate(DataType::Float, [4]).map(drop).unwrap_err(),
                block_on(gpu.to_host(&tensor)).map(drop).unwrap_err(),
            ];
            for error in errors {
                assert_eq!(error.code(), Code::Aborted, "{error}");
                assert!(error.message().contains("is lost"), "{error}");
            }
        }
    }
}

//! Devices: where kernels run.

mod end;
mod name;
mod variable;

pub use crate::step::BoxFuture;
pub use name::DeviceName;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::step::Step;
use crate::tensor::Tensor;

/// The type of a device, such as `CPU`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DeviceType(pub &'static str);

impl fmt::Display for DeviceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The host processor's device type.
pub const CPU: DeviceType = DeviceType("CPU");
/// The graphics processor's device type.
pub const GPU: DeviceType = DeviceType("GPU");

/// Where kernels run and their tensors live.
///
/// A device with memory of its own keeps the tensors of its kernels there, but for those that a kernel's registration
/// keeps in host memory and those of strings, resources and variants. The runtime brings them there and back.
pub trait Device: Any + Send + Sync {
    /// The full name, such as `/device:CPU:0`.
    fn name(&self) -> &str;

    /// The type, by which kernels are found.
    fn device_type(&self) -> DeviceType;

    /// The threads over which kernels split their work; `None` to run on the calling thread alone.
    fn pool(&self) -> Option<&Arc<rayon::ThreadPool>> {
        None
    }

    /// Whether tensors of the device's kernels are in memory that the host does not see.
    fn has_own_memory(&self) -> bool {
        false
    }

    /// Whether the device's own memory can hold elements of a dtype. Nodes that would have others there run elsewhere, also
    /// those that only hand them on.
    fn holds(&self, dtype: DataType) -> bool {
        dtype.is_pod()
    }

    /// What the device can do that not every one of its type can: see
    /// [`KernelDef::requires`](crate::kernel::KernelDef::requires).
    fn capabilities(&self) -> &[&'static str] {
        &[]
    }

    /// A tensor of the host's in the device's memory. Work that the device was given before may still be under way.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory; UNIMPLEMENTED for a dtype that the device cannot hold.
    fn to_device(&self, tensor: &Tensor) -> Result<Tensor> {
        Ok(tensor.clone())
    }

    /// Whether a tensor is in the device's own memory.
    fn owns(&self, tensor: &Tensor) -> bool {
        tensor.device_memory().is_some_and(|memory| memory.device() == self.name())
    }

    /// A tensor of the device's in host memory, when all work has been done of which it is the result. One that the host
    /// sees already is returned as it is.
    ///
    /// Who awaits it may drop the future, and may await several at once.
    fn to_host(&self, tensor: &Tensor) -> BoxFuture<'static, Result<Tensor>> {
        Box::pin(std::future::ready(Ok(tensor.clone())))
    }

    /// Waits until all work is done that the device was given.
    ///
    /// # Errors
    /// What that work met and nobody has been told of; INTERNAL if the device is lost.
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    /// Begins with what the device was given and has put off, so that it does not wait for more.
    ///
    /// # Errors
    /// What is met in doing so.
    fn flush(&self) -> Result<()> {
        Ok(())
    }

    /// The step ends, of which all kernels have run: gives the errors of its work on the device that no kernel was told of.
    fn end_step(&self, _step: &Step) -> BoxFuture<'static, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// What the device has made and done so far, by name; nothing if it does not count.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Waits for what a step that is traced has given the device to do, and adds what it took to the step's statistics,
    /// with [`StepStats::add_work`](crate::step::StepStats::add_work). See [`traced_node`](crate::step::traced_node).
    fn end_trace(&self, _step: &Step) {}
}

impl dyn Device {
    /// The device as its own type, if it is of that type.
    pub fn downcast_ref<T: Device>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// The most threads that a device takes.
pub const MAX_THREADS: usize = 1024;

/// The stack of a thread: a thread that waits for parts of a kernel takes up other nodes meanwhile, one upon another.
const STACK_BYTES: usize = 16 << 20;

/// A pool of threads, which are named after it.
///
/// # Errors
/// INVALID_ARGUMENT for no threads, or more than [`MAX_THREADS`]; RESOURCE_EXHAUSTED if they cannot be started.
pub fn thread_pool(name: &str, threads: usize) -> Result<Arc<rayon::ThreadPool>> {
    if threads == 0 || threads > MAX_THREADS {
        return Err(Error::invalid_argument(format!("a pool has 1 to {MAX_THREADS} threads, not {threads}")));
    }
    let name = name.to_owned();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(STACK_BYTES)
        .thread_name(move |index| format!("{name}-{index}"))
        .build()
        .map_err(|error| Error::resource_exhausted(format!("cannot start {threads} threads: {error}")))?;
    Ok(Arc::new(pool))
}

/// The host processor.
pub struct CpuDevice {
    name: String,
    pool: Option<Arc<rayon::ThreadPool>>,
}

impl CpuDevice {
    /// A device with this many threads; 0 stands for one per processor.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for more than [`MAX_THREADS`]; RESOURCE_EXHAUSTED if the threads cannot be started.
    pub fn new(threads: usize) -> Result<CpuDevice> {
        if threads > MAX_THREADS {
            return Err(Error::invalid_argument(format!("{threads} threads are more than {MAX_THREADS}")));
        }
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        if threads == 1 {
            return Ok(CpuDevice::on_caller());
        }
        let name = "/device:CPU:0".to_owned();
        Ok(CpuDevice { name, pool: Some(thread_pool("kernlink", threads)?) })
    }

    /// A device whose kernels run on the threads that call.
    pub fn on_caller() -> CpuDevice {
        CpuDevice { name: "/device:CPU:0".to_owned(), pool: None }
    }

    /// The `number`-th device on the same threads: what runs there is placed apart, and copied to and fro.
    pub fn sibling(&self, number: usize) -> CpuDevice {
        CpuDevice { name: format!("/device:CPU:{number}"), pool: self.pool.clone() }
    }
}

impl Device for CpuDevice {
    fn name(&self) -> &str {
        &self.name
    }

    fn device_type(&self) -> DeviceType {
        CPU
    }

    fn pool(&self) -> Option<&Arc<rayon::ThreadPool>> {
        self.pool.as_ref()
    }
}

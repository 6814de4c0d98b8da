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
use crate::threads::ThreadPool;

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

    /// The threads over which kernels split their work, beside the one that calls, and which expensive nodes run on; `None`
    /// to run on the calling thread alone.
    fn pool(&self) -> Option<&Arc<ThreadPool>> {
        None
    }

    /// Whether the device's kernels keep their tensors in memory that the host cannot read.
    fn has_own_memory(&self) -> bool {
        false
    }

    /// Whether the device's own memory can hold elements of a dtype. A node with an input or output of another dtype there is
    /// placed elsewhere, even if it only forwards the value.
    fn holds(&self, dtype: DataType) -> bool {
        dtype.is_pod()
    }

    /// Features that not every device of the type has: see
    /// [`KernelDef::requires`](crate::kernel::KernelDef::requires).
    fn capabilities(&self) -> &[&'static str] {
        &[]
    }

    /// Copies a tensor from the host to the device's memory. Earlier work of the device may still be under way.
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

    /// Copies a tensor from the device to host memory, once the work that computes it is done. A tensor that the host can
    /// already read is returned unchanged.
    ///
    /// The caller may drop the future, and may await several at once.
    fn to_host(&self, tensor: &Tensor) -> BoxFuture<'static, Result<Tensor>> {
        Box::pin(std::future::ready(Ok(tensor.clone())))
    }

    /// Waits until the device has finished all work it was given.
    ///
    /// # Errors
    /// Errors of that work that have not been reported yet; INTERNAL if the device is lost.
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    /// Starts work that the device has batched, instead of waiting for the batch to fill.
    ///
    /// # Errors
    /// Errors of starting it.
    fn flush(&self) -> Result<()> {
        Ok(())
    }

    /// Ends a step whose kernels have all run: fails with errors of its work on the device that no kernel was told of.
    fn end_step(&self, _step: &Step) -> BoxFuture<'static, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// What the device offers to kernels of a kind that only some devices run, which know its type, such as the
    /// [`ShaderRunner`](crate::kernel::shader::ShaderRunner) of those that run shaders.
    fn runner(&self) -> Option<&(dyn Any + Send + Sync)> {
        None
    }

    /// Counters of the device since it was opened, by name; empty if it has none.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Waits for the work that a traced step has given the device, and adds its timings to the step's statistics with [`StepStats::add_work`](crate::step::StepStats::add_work). See [`traced_node`](crate::step::traced_node).
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

/// A thread pool of up to this many threads, beside those that call, named `NAME-INDEX`. They are started as work comes.
///
/// # Errors
/// INVALID_ARGUMENT for no threads, or more than [`MAX_THREADS`].
pub fn thread_pool(name: &str, threads: usize) -> Result<Arc<ThreadPool>> {
    if threads == 0 || threads > MAX_THREADS {
        return Err(Error::invalid_argument(format!("a pool has 1 to {MAX_THREADS} threads, not {threads}")));
    }
    Ok(Arc::new(ThreadPool::new(name, threads)))
}

/// The host processor.
pub struct CpuDevice {
    name: String,
    pool: Option<Arc<ThreadPool>>,
}

impl CpuDevice {
    /// A device with this many threads, of which the calling one is the first; 0 stands for one per processor.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for more than [`MAX_THREADS`].
    pub fn new(threads: usize) -> Result<CpuDevice> {
        if threads > MAX_THREADS {
            return Err(Error::invalid_argument(format!("{threads} threads are more than {MAX_THREADS}")));
        }
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS),
            threads => threads,
        };
        if threads == 1 {
            return Ok(CpuDevice::on_caller());
        }
        let name = "/device:CPU:0".to_owned();
        Ok(CpuDevice { name, pool: Some(thread_pool("kernlink", threads - 1)?) })
    }

    /// A device on the threads of a pool, which other devices may share, and those that call; see [`thread_pool`].
    pub fn on_pool(pool: Arc<ThreadPool>) -> CpuDevice {
        // One thread alone is the one that calls.
        CpuDevice { name: "/device:CPU:0".to_owned(), pool: Some(pool).filter(|pool| pool.threads() > 1) }
    }

    /// A device whose kernels run on the threads that call.
    pub fn on_caller() -> CpuDevice {
        CpuDevice { name: "/device:CPU:0".to_owned(), pool: None }
    }

    /// Another CPU device on the same threads: nodes are placed on it separately, and tensors are copied between the two.
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

    fn pool(&self) -> Option<&Arc<ThreadPool>> {
        self.pool.as_ref()
    }
}

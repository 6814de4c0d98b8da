//! Devices: which there are, and which ops and sessions ask for.

use std::cell::RefCell;
use std::sync::Arc;

use kernlink::Error;
use kernlink::device::{CpuDevice, Device as CoreDevice};
use kernlink::tools::DeviceName;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::Raise;
use crate::values::arguments;

thread_local! {
    /// The devices that were asked for, the innermost last; empty for any. Each is the scope's own.
    static ENTERED: RefCell<Vec<Arc<str>>> = const { RefCell::new(Vec::new()) };
}

/// The device that ops ask for, as graphs write it; empty for any.
pub(crate) fn requested() -> String {
    ENTERED.with_borrow(|devices| devices.last().map(|device| device.to_string()).unwrap_or_default())
}

/// The devices of ops that run at once, the default first.
pub(crate) fn all() -> PyResult<Vec<Arc<dyn CoreDevice>>> {
    let mut devices: Vec<Arc<dyn CoreDevice>> = vec![Arc::new(CpuDevice::new(0).or_raise()?)];
    devices.extend(gpu());
    Ok(devices)
}

#[cfg(feature = "gpu")]
fn gpu() -> Option<Arc<dyn CoreDevice>> {
    // Without a GPU ops run on the CPU, and those that ask for one fail.
    kernlink::gpu::GpuDevice::open().ok().map(|device| Arc::new(device) as Arc<dyn CoreDevice>)
}

#[cfg(not(feature = "gpu"))]
fn gpu() -> Option<Arc<dyn CoreDevice>> {
    None
}

/// Refuses a GPU that this build cannot have, and names of no device.
///
/// # Errors
/// INVALID_ARGUMENT for another name; FAILED_PRECONDITION for a GPU, if the package is built without them.
pub(crate) fn check(name: &str) -> kernlink::Result<DeviceName> {
    let parsed = name.parse()?;
    match parsed {
        DeviceName::Gpu(_) if cfg!(not(feature = "gpu")) => Err(Error::failed_precondition(format!(
            "{name}: this package is built without GPUs; `maturin build --release -m python/Cargo.toml --features gpu` builds one that \
             has them"
        ))),
        parsed => Ok(parsed),
    }
}

/// A device that there is.
#[pyclass(module = "kernlink", frozen, eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Device {
    /// The name by which it is asked for: `cpu`, `gpu:0`.
    #[pyo3(get)]
    name: String,
    /// Its type: `CPU` or `GPU`.
    #[pyo3(get)]
    device_type: &'static str,
    /// What it is.
    #[pyo3(get)]
    description: String,
}

#[pymethods]
impl Device {
    fn __repr__(&self) -> String {
        format!("<kernlink.Device {}: {}>", self.name, self.description)
    }
}

/// The devices that there are: the CPU, and the adapters of GPUs if the package is built with them.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> Vec<Device> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let description = format!("{processors} processor{}", if processors == 1 { "" } else { "s" });
    let mut devices = vec![Device { name: "cpu".to_owned(), device_type: "CPU", description }];
    devices.extend(py.detach(adapters));
    devices
}

#[cfg(feature = "gpu")]
fn adapters() -> Vec<Device> {
    let adapters = kernlink::gpu::GpuDevice::adapters().into_iter().enumerate();
    let device = |(number, adapter): (usize, kernlink::gpu::AdapterInfo)| Device {
        name: format!("gpu:{number}"),
        device_type: "GPU",
        description: adapter.to_string(),
    };
    adapters.map(device).collect()
}

#[cfg(not(feature = "gpu"))]
fn adapters() -> Vec<Device> {
    Vec::new()
}

arguments! {
    device_name: Option<String> = "name", "a str";
}

/// A device that ops ask for while it is entered, by `with`, on the thread that enters it, and on which sessions that are made then
/// run: `cpu`, `gpu`, `gpu:K` for the adapter number K, or `None` for any. An op that has no kernel there fails at once; in a graph it
/// runs on the CPU, unless the session's `soft_placement` is off. `kernlink.devices()` lists what there is.
#[pyclass(module = "kernlink._kernlink", name = "DeviceScope", frozen)]
pub(crate) struct DeviceScope(Arc<str>);

#[pymethods]
impl DeviceScope {
    /// `None` for any device.
    #[new]
    #[pyo3(signature = (name))]
    fn new(#[pyo3(from_py_with = device_name)] name: Option<String>) -> PyResult<DeviceScope> {
        let device = match name.as_deref().map(check).transpose().or_raise()? {
            None => String::new(),
            Some(DeviceName::Cpu) => "/device:CPU:0".to_owned(),
            Some(DeviceName::Gpu(number)) => format!("/device:GPU:{}", number.unwrap_or(0)),
        };
        Ok(DeviceScope(device.into()))
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        ENTERED.with_borrow_mut(|devices| devices.push(slf.get().0.clone()));
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyTuple>) {
        ENTERED.with_borrow_mut(|devices| {
            if let Some(at) = devices.iter().rposition(|device| Arc::ptr_eq(device, &self.0)) {
                devices.remove(at);
            }
        });
    }
}

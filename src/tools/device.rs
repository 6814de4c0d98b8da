//! Devices by name.

use std::str::FromStr;
use std::sync::Arc;

use crate::device::{CpuDevice, Device};
use crate::error::{Error, Result, shortened};

/// A device that a user can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceName {
    /// The CPU.
    Cpu,
    /// The GPU that suits best, or the adapter with a number.
    Gpu(Option<usize>),
}

impl FromStr for DeviceName {
    type Err = Error;

    /// `cpu`, `gpu`, or `gpu:K` for the adapter number K, with or without `/device:` before it, in upper or lower case.
    fn from_str(name: &str) -> Result<DeviceName> {
        let lower = name.to_ascii_lowercase();
        let short = lower.strip_prefix('/').unwrap_or(&lower);
        let short = short.strip_prefix("device:").unwrap_or(short);
        let found = match short.split_once(':') {
            None if short == "cpu" => Some(DeviceName::Cpu),
            None if short == "gpu" => Some(DeviceName::Gpu(None)),
            Some(("cpu", "0")) => Some(DeviceName::Cpu),
            Some(("gpu", number)) => number.parse().ok().map(|number| DeviceName::Gpu(Some(number))),
            _ => None,
        };
        found.ok_or_else(|| {
            let name = shortened(name);
            let message =
                format!("there is no device `{name}`; available: cpu, and gpu or gpu:K for the adapter number K");
            Error::invalid_argument(message)
        })
    }
}

/// The devices to run on, the named one ([`DeviceName`]) first. Beside a GPU, the CPU runs nodes for which the GPU has no kernel; it
/// has so many threads, 0 for one per processor.
///
/// # Errors
/// INVALID_ARGUMENT for another name, or too many threads; FAILED_PRECONDITION for a GPU if the program is built without the feature
/// `gpu`; and those of opening the device.
pub fn devices(name: &str, threads: usize) -> Result<Vec<Arc<dyn Device>>> {
    let cpu = || CpuDevice::new(threads).map(|device| Arc::new(device) as Arc<dyn Device>);
    match name.parse()? {
        DeviceName::Cpu => Ok(vec![cpu()?]),
        DeviceName::Gpu(number) => Ok(vec![gpu(number)?, cpu()?]),
    }
}

#[cfg(feature = "gpu")]
fn gpu(number: Option<usize>) -> Result<Arc<dyn Device>> {
    use crate::gpu::GpuDevice;
    let device = match number {
        None => GpuDevice::open()?,
        Some(number) => GpuDevice::open_numbered(number)?,
    };
    Ok(Arc::new(device))
}

#[cfg(not(feature = "gpu"))]
fn gpu(_: Option<usize>) -> Result<Arc<dyn Device>> {
    Err(Error::failed_precondition("this program is built without GPUs: build it with `--features gpu`"))
}

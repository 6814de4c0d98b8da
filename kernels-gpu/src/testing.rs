//! A device for tests: those beside the crate have this file, too.

#![allow(dead_code, reason = "no test needs all of it")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::GpuDevice;

/// Drivers start and stop one at a time: software ones are not safe to do so at once.
static DRIVER: Mutex<()> = Mutex::new(());

/// A device that is closed before another is opened.
pub(crate) struct Opened {
    device: GpuDevice,
    _guard: MutexGuard<'static, ()>,
}

impl std::ops::Deref for Opened {
    type Target = GpuDevice;
    fn deref(&self) -> &GpuDevice {
        &self.device
    }
}

/// A device that binds at most so many bytes at once.
pub(crate) fn limited(bytes: usize) -> Opened {
    let Opened { device, _guard } = device();
    Opened { device: device.with_binding_limit(bytes), _guard }
}

/// A device on the adapter that `KERNLINK_GPU` names, or else on a software one.
pub(crate) fn device() -> Opened {
    without(&[])
}

/// The same as if it lacked some capabilities.
pub(crate) fn without(capabilities: &[&str]) -> Opened {
    let guard = DRIVER.lock().unwrap_or_else(PoisonError::into_inner);
    let wanted = std::env::var("KERNLINK_GPU").unwrap_or_else(|_| "llvmpipe".to_owned());
    let device = GpuDevice::open_without(0, Some(&wanted), capabilities)
        .expect("a Vulkan driver: on Debian the package mesa-vulkan-drivers");
    Opened { device, _guard: guard }
}

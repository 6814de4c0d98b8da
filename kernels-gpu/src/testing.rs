//! A device for tests: those beside the crate have this file, too.

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

/// A device on the adapter that `KERNLINK_GPU` names, or else on a software one.
pub(crate) fn device() -> Opened {
    let guard = DRIVER.lock().unwrap_or_else(PoisonError::into_inner);
    let wanted = std::env::var("KERNLINK_GPU").unwrap_or_else(|_| "llvmpipe".to_owned());
    let device =
        GpuDevice::open_named(0, Some(&wanted)).expect("a Vulkan driver: on Debian the package mesa-vulkan-drivers");
    Opened { device, _guard: guard }
}

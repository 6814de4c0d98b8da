//! Who runs shaders.

use super::{LaunchFunctions, Source};
use crate::error::{Error, Result};
use crate::kernel::{DynKernel, RawConstruction};

/// How a device makes the kernel of a node from a shader, with the functions that the kernel asks before each run. A device
/// that runs shaders [offers](crate::device::Device::runner) it.
///
/// # Errors
/// INVALID_ARGUMENT for a shader that is not valid, or does not suit its op.
pub struct ShaderRunner(
    pub fn(&'static Source, Box<dyn LaunchFunctions>, &RawConstruction<'_>) -> Result<Box<dyn DynKernel>>,
);

/// The kernel of a node from a shader, on the device that the node is on.
///
/// # Errors
/// UNIMPLEMENTED if the device runs no shaders; those of the [`ShaderRunner`].
pub fn make(
    source: &'static Source,
    functions: Box<dyn LaunchFunctions>,
    node: &RawConstruction<'_>,
) -> Result<Box<dyn DynKernel>> {
    let device = node.surroundings()?.device;
    match device.runner().and_then(|runner| runner.downcast_ref::<ShaderRunner>()) {
        Some(ShaderRunner(make)) => make(source, functions, node),
        None => {
            let (name, shader) = (device.name(), source.name);
            Err(Error::unimplemented(format!(
                "device {name} runs no shaders, as `{shader}` ({}) is one",
                source.location
            )))
        }
    }
}

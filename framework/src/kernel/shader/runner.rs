//! Who runs shaders.

use super::{LaunchFunctions, Source, suits};
use crate::error::{Error, Result};
use crate::kernel::{DynKernel, RawConstruction};

/// Makes the kernel of a node from a shader, with the functions that the kernel asks before each run.
///
/// # Errors
/// INVALID_ARGUMENT for a shader that is not valid, or does not suit its op.
pub type MakeKernel = fn(&'static Source, Box<dyn LaunchFunctions>, &RawConstruction<'_>) -> Result<Box<dyn DynKernel>>;

/// How a device makes kernels from shaders. A device that runs them [offers](crate::device::Device::runner) it.
pub struct ShaderRunner(pub MakeKernel);

/// The kernel of a node from a shader that no compiler has checked, on the device that the node is on.
///
/// # Errors
/// INVALID_ARGUMENT for a shader that does not suit its op; UNIMPLEMENTED if the device runs no shaders; those of the [`ShaderRunner`].
pub fn make(
    source: &'static Source,
    functions: Box<dyn LaunchFunctions>,
    node: &RawConstruction<'_>,
) -> Result<Box<dyn DynKernel>> {
    suits::check(source)?;
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

//! Kernels of the host that take variables whose values a device may hold: the values are brought to the host first.
//!
//! So it is where a device has kernels for some ops on a variable but not for all, and a function's body is placed without
//! those that its caller has.

use std::sync::Arc;

use crate::device::Device;
use crate::dtype::DataType;
use crate::error::Result;
use crate::kernel::{DynKernel, RawContext};
use crate::op::{ArgType, OpDef};
use crate::resource::Variable;
use crate::step::BoxFuture;

/// A kernel that waits for the values of its variables.
struct Bringing {
    kernel: Arc<dyn DynKernel>,
    devices: Arc<[Arc<dyn Device>]>,
}

/// The kernel of a node on `device`, or one that brings its variables to the host, if it may find them elsewhere.
pub(super) fn bringing(
    kernel: Arc<dyn DynKernel>,
    op: &OpDef,
    device: &dyn Device,
    devices: &Arc<[Arc<dyn Device>]>,
) -> Arc<dyn DynKernel> {
    let takes_variables = op.inputs.iter().any(|input| input.ty == ArgType::Fixed(DataType::Resource));
    let is_apart = !device.has_own_memory() && devices.iter().any(|device| device.has_own_memory());
    // A kernel that waits calls a function, or takes resources of other kinds.
    if !is_apart || !takes_variables || kernel.is_async() {
        return kernel;
    }
    Arc::new(Bringing { kernel, devices: devices.clone() })
}

impl Bringing {
    /// Brings the variable at an input to the host, if there is one.
    async fn bring(&self, variable: &Variable) -> Result<()> {
        loop {
            let Ok(there) = variable.read() else { return Ok(()) };
            let Some(device) = self.devices.iter().find(|device| device.owns(&there)) else { return Ok(()) };
            let host = device.to_host(&there).await?;
            if variable.bring_home(there, host) {
                return Ok(());
            }
            // It was changed meanwhile.
        }
    }
}

impl DynKernel for Bringing {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        self.kernel.compute(ctx)
    }

    fn is_async(&self) -> bool {
        true
    }

    fn compute_async<'a>(&'a self, ctx: &'a mut RawContext<'_>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            for input in 0..ctx.num_inputs() {
                if let Ok(variable) = ctx.resource_at::<Variable>(input) {
                    self.bring(&variable).await?;
                }
            }
            self.kernel.compute(ctx)
        })
    }

    fn is_expensive(&self) -> bool {
        self.kernel.is_expensive()
    }

    fn is_identity(&self) -> bool {
        self.kernel.is_identity()
    }

    fn takes_dead_inputs(&self) -> bool {
        self.kernel.takes_dead_inputs()
    }
}

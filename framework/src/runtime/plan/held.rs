//! Kernels of the host that take variables whose values a device may hold: these are brought to the host first.
//!
//! So it is where a device has kernels for some ops on a variable but not for all, and a function's body is placed without
//! those that its caller has.

use std::sync::Arc;

use crate::device::Device;
use crate::dtype::DataType;
use crate::error::{Code, Error, Result};
use crate::kernel::{DynKernel, RawContext};
use crate::op::{ArgType, OpDef};
use crate::resource::{Resource, ResourceManager, Variable};
use crate::step::{BoxFuture, block_on_alone, block_on_unchecked};
use crate::tensor::{ResourceHandle, Tensor, is_elsewhere};

/// How often a value is brought without keeping others from changing it meanwhile.
const FREE_TRIES: usize = 3;

/// How often a kernel is run because a variable went away again before it had it.
const MOST_RUNS: usize = 1000;

/// The kernel of a node on `device` as one that waits for the values of its variables, if a device may hold them. It takes
/// the kernel's place where a handle names a variable.
pub(super) fn waiting(
    op: &OpDef,
    kernel: &Arc<dyn DynKernel>,
    device: &dyn Device,
    devices: &Arc<[Arc<dyn Device>]>,
) -> Option<Arc<dyn DynKernel>> {
    let is_apart = !device.has_own_memory() && devices.iter().any(|device| device.has_own_memory());
    let takes_variables = is_apart
        // A kernel that waits calls a function, or takes resources of other kinds.
        && !kernel.is_async()
        && !kernel.takes_dead_inputs()
        && kernel.asks_for_values()
        && op.inputs.iter().any(|input| input.ty == ArgType::Fixed(DataType::Resource));
    takes_variables.then(|| Arc::new(Waiting { kernel: kernel.clone(), devices: devices.clone() }) as _)
}

struct Waiting {
    kernel: Arc<dyn DynKernel>,
    devices: Arc<[Arc<dyn Device>]>,
}

impl Waiting {
    /// Brings a variable to the host.
    async fn bring(&self, variable: &Variable, free_tries: usize) -> Result<()> {
        for _ in 0..free_tries {
            let Some(there) = variable.away() else { return Ok(()) };
            let host = self.holder(&there)?.to_host(&there).await?;
            // Unless it was changed meanwhile.
            variable.bring_home(there, host);
        }
        // Somebody changes it all the while, and must wait for once.
        variable.bring_home_by(|there| block_on_alone(self.holder(there)?.to_host(there)))
    }

    fn holder(&self, there: &Tensor) -> Result<&Arc<dyn Device>> {
        let device = self.devices.iter().find(|device| device.owns(there));
        device.ok_or_else(|| Error::internal("a variable is in the memory of another session's device"))
    }
}

/// The variable that an input names, if it names one. What is missing is told by the kernel.
pub(in crate::runtime) fn variable(resources: &ResourceManager, input: &Tensor) -> Option<Arc<Variable>> {
    let [handle] = input.as_slice::<ResourceHandle>().ok()? else { return None };
    let may_name_one = handle.type_name.is_empty() || handle.type_name == Variable::type_name();
    if may_name_one { resources.lookup_handle(handle).ok() } else { None }
}

impl DynKernel for Waiting {
    fn trace_string(&self, ctx: &RawContext<'_>) -> Option<String> {
        self.kernel.trace_string(ctx)
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        block_on_unchecked(self.compute_async(ctx))
    }

    fn is_async(&self) -> bool {
        true
    }

    fn compute_async<'a>(&'a self, ctx: &'a mut RawContext<'_>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let resources = ctx.resources()?;
            let named = ctx.inputs().iter().flatten().filter_map(|input| variable(resources, input));
            let variables: Vec<Arc<Variable>> = named.collect();
            let inputs = ctx.inputs().to_vec();
            for run in 0..MOST_RUNS {
                for variable in &variables {
                    self.bring(variable, if run == 0 { FREE_TRIES } else { 0 }).await?;
                }
                // Another run may have a device change one of them before the kernel has it.
                match self.kernel.compute(ctx) {
                    Err(error) if is_elsewhere(&error) => {}
                    Ok(()) if ctx.outputs().iter().flatten().any(|output| output.device_memory().is_some()) => {}
                    done => return done,
                }
                ctx.begin_again(&inputs);
            }
            let message = "devices take the variables away faster than the host can take them: run it again";
            Err(Error::new(Code::Aborted, message))
        })
    }

    fn is_expensive(&self) -> bool {
        self.kernel.is_expensive()
    }
}

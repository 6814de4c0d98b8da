//! Variables that a device holds and a kernel of the host takes: their values are brought to the host first.

use std::sync::Arc;

use super::node;
use super::run::Run;
use super::state::{Ready, State};
use super::wait;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::{DynKernel, RawContext};
use crate::resource::Variable;
use crate::runtime::plan::{Action, PlanNode};
use crate::step::BoxFuture;
use crate::tensor::{ResourceHandle, Tensor};

/// A kernel that waits for the values of its variables.
struct Bringing {
    kernel: Arc<dyn DynKernel>,
    devices: Arc<[Arc<dyn Device>]>,
}

/// Has a node that takes variables wait if a device holds one of them; returns whether it does.
pub(super) fn bring(run: &Arc<Run>, state: &mut State, ready: Ready, node: &PlanNode) -> bool {
    let Action::Compute(kernel) = &node.action else { return false };
    let slots = &mut state.iterations[ready.iteration as usize].slots;
    let inputs = &mut slots[node.inputs.start as usize..node.inputs.end as usize];
    // What is missing is told when the node runs.
    let is_there = node::fill(run, node, inputs, node.inputs.start).is_ok();
    if !is_there || !inputs.iter().flatten().any(|input| variable(run, input).is_some_and(|v| v.is_away())) {
        return false;
    }
    let bringing = Bringing { kernel: kernel.clone(), devices: run.plan.devices.clone() };
    wait::wait(run, state, ready, node, Arc::new(bringing));
    true
}

/// The variable that a handle names, if it names one.
fn variable(run: &Run, input: &Tensor) -> Option<Arc<Variable>> {
    let [handle] = input.as_slice::<ResourceHandle>().ok()? else { return None };
    run.step.resources().lookup_handle(handle).ok()
}

impl Bringing {
    /// Brings a variable to the host. Who writes to it all the while keeps it waiting.
    async fn bring(&self, variable: &Variable) -> Result<()> {
        while variable.is_away() {
            let there = variable.read()?;
            let device = self.devices.iter().find(|device| device.owns(&there));
            let device =
                device.ok_or_else(|| Error::internal("a variable is in the memory of another session's device"))?;
            let host = device.to_host(&there).await?;
            // Unless it was changed meanwhile.
            variable.bring_home(there, host);
        }
        Ok(())
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
            let inputs = 0..ctx.num_inputs();
            let variables: Vec<Arc<Variable>> = inputs.filter_map(|input| ctx.resource_at(input).ok()).collect();
            // While one is brought, another may go.
            while variables.iter().any(|variable| variable.is_away()) {
                for variable in &variables {
                    self.bring(variable).await?;
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
}

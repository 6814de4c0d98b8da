//! Which kernels of the host take variables whose values a device may hold.
//!
//! So it is where a device has kernels for some ops on a variable but not for all, and a function's body is placed without
//! those that its caller has.

use std::sync::Arc;

use crate::device::Device;
use crate::dtype::DataType;
use crate::kernel::DynKernel;
use crate::op::{ArgType, OpDef};

/// Ops on variables that do not ask for their values.
const BLIND: [&str; 4] = ["AssignVariableOp", "DestroyResourceOp", "VarIsInitializedOp", "VariableShape"];

/// Whether a node on `device` may have to wait for the values of variables to come to the host.
pub(super) fn takes_variables(
    op: &OpDef,
    kernel: &dyn DynKernel,
    device: &dyn Device,
    devices: &[Arc<dyn Device>],
) -> bool {
    let is_apart = !device.has_own_memory() && devices.iter().any(|device| device.has_own_memory());
    is_apart
        // A kernel that waits calls a function, or takes resources of other kinds.
        && !kernel.is_async()
        && !kernel.takes_dead_inputs()
        && op.inputs.iter().any(|input| input.ty == ArgType::Fixed(DataType::Resource))
        && !BLIND.contains(&&*op.name)
}

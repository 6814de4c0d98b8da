//! Registrations of kernels, as one program tells another which kernels it has.

use super::{AttrValue as ProtoValue, KernelDef as ProtoKernel, attr_to_proto, kernel_def};
use crate::attr::AttrValue;
use crate::error::Result;
use crate::kernel::{ConstraintValues, KernelDef};

/// The message that describes a kernel's registration.
///
/// # Errors
/// As [`attr_to_proto`].
pub fn kernel_to_proto(kernel: &KernelDef) -> Result<ProtoKernel> {
    let constraint = kernel.constraints.iter().map(|constraint| {
        let values = match constraint.values {
            ConstraintValues::Types(types) => AttrValue::from(types),
            ConstraintValues::Strings(strings) => {
                strings.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>().into()
            }
            ConstraintValues::Ints(ints) => AttrValue::from(ints),
            ConstraintValues::Bools(bools) => AttrValue::from(bools),
        };
        let allowed_values: Option<ProtoValue> = Some(attr_to_proto(&values)?);
        Ok(kernel_def::AttrConstraint { name: constraint.attr.to_owned(), allowed_values })
    });
    Ok(ProtoKernel {
        op: kernel.op.to_owned(),
        device_type: kernel.device.to_string(),
        constraint: constraint.collect::<Result<_>>()?,
        host_memory_arg: kernel.host_memory.iter().map(|argument| (*argument).to_owned()).collect(),
        label: kernel.label.to_owned(),
        priority: kernel.priority,
    })
}

//! Which inputs and outputs of a kernel are in host memory.

use super::KernelDef;
use crate::op::{OpDef, Signature};

/// For each input and each output of a node, whether the kernel has it in host memory. On a device without memory of its
/// own all are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSlots {
    /// The inputs.
    pub inputs: Box<[bool]>,
    /// The outputs.
    pub outputs: Box<[bool]>,
}

impl KernelDef {
    /// The inputs and outputs in host memory: arguments that the registration names, strings, resources and variants.
    pub fn host_slots(&self, op: &OpDef, signature: &Signature) -> HostSlots {
        let mut inputs: Box<[bool]> = signature.inputs.iter().map(|slot| !slot.dtype.is_pod()).collect();
        let mut outputs: Box<[bool]> = signature.outputs.iter().map(|slot| !slot.dtype.is_pod()).collect();
        for argument in self.host_memory {
            if let Some(index) = op.input_index(argument) {
                inputs[signature.input_ranges[index].clone()].fill(true);
            }
            if let Some(index) = op.output_index(argument) {
                outputs[signature.output_ranges[index].clone()].fill(true);
            }
        }
        HostSlots { inputs, outputs }
    }
}

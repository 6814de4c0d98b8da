//! Memory types of a node's inputs and outputs, and which inputs are reserved for which outputs.

use super::KernelDef;
use crate::attr::{AttrMap, AttrValue};
use crate::dtype::DataType;
use crate::op::{InOutType, OpDef, Signature};

/// Where a tensor of a node lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryType {
    /// In the memory of the device that the node runs on.
    Device,
    /// In host memory, for kernels that read it on the host.
    Host,
}

/// Memory types and reservations of a node; most nodes have neither.
///
/// The attr `_forward_input`, of pairs `[input, output]`, reserves an input for one output: no other output is forwarded
/// from it. An output that the attr `_scoped_allocator` names is never forwarded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeMemory {
    host_inputs: Vec<usize>,
    host_outputs: Vec<usize>,
    /// Which input is reserved for which output.
    kept: Vec<(usize, usize)>,
    never_forwarded: Vec<usize>,
}

impl NodeMemory {
    /// That of a node of `op` with this kernel; `None` if it has none of these. Pairs that do not fit the node are
    /// ignored.
    pub fn of(kernel: &KernelDef, op: &OpDef, attrs: &AttrMap, signature: &Signature) -> Option<NodeMemory> {
        let slots = kernel.host_slots(op, signature);
        // For the others the dtype decides.
        let hosted = |slots: &[InOutType], is_on_host: &[bool]| -> Vec<usize> {
            let named = |&index: &usize| is_on_host[index] && slots[index].dtype.is_pod();
            (0..slots.len()).filter(named).collect()
        };
        let pairs = |name: &str| -> Vec<(usize, usize)> {
            let Some(AttrValue::ListInt(list)) = attrs.get(name) else { return Vec::new() };
            let number = |value: i64| usize::try_from(value).ok();
            list.chunks_exact(2).filter_map(|pair| Some((number(pair[0])?, number(pair[1])?))).collect()
        };
        let (inputs, outputs) = (signature.inputs.len(), signature.outputs.len());
        let never_forwarded: Vec<usize> = pairs("_scoped_allocator").into_iter().map(|(output, _)| output).collect();
        let fits = |&(input, output): &(usize, usize)| {
            input < inputs && output < outputs && !never_forwarded.contains(&output)
        };
        let memory = NodeMemory {
            host_inputs: hosted(&signature.inputs, &slots.inputs),
            host_outputs: hosted(&signature.outputs, &slots.outputs),
            kept: pairs("_forward_input").into_iter().filter(fits).collect(),
            never_forwarded,
        };
        (memory != NodeMemory::default()).then_some(memory)
    }

    pub(super) fn input(&self, index: usize, dtype: DataType) -> MemoryType {
        memory_type(dtype, &self.host_inputs, index)
    }

    pub(super) fn output(&self, index: usize, dtype: DataType) -> MemoryType {
        memory_type(dtype, &self.host_outputs, index)
    }

    /// Whether an input is reserved for the output.
    pub(super) fn keeps_for(&self, output: usize) -> bool {
        self.kept.iter().any(|&(_, kept)| kept == output)
    }

    /// Whether the input is not reserved for another output, and the output may be forwarded. `None` stands for a
    /// temporary tensor.
    pub(super) fn may_forward(&self, input: usize, output: Option<usize>) -> bool {
        let kept_for = |&(other, output): &(usize, usize)| (other == input).then_some(output);
        let is_free = !output.is_some_and(|output| self.never_forwarded.contains(&output));
        let mut reservations = self.kept.iter().filter_map(kept_for).peekable();
        is_free && (reservations.peek().is_none() || reservations.any(|reserved| Some(reserved) == output))
    }
}

/// Strings, handles and variants are always in host memory; of the others those that are hosted, in order.
fn memory_type(dtype: DataType, hosted: &[usize], index: usize) -> MemoryType {
    let is_host = !dtype.is_pod() || hosted.binary_search(&index).is_ok();
    if is_host { MemoryType::Host } else { MemoryType::Device }
}

pub(super) fn memory_without_plan(dtype: DataType) -> MemoryType {
    memory_type(dtype, &[], 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_knows_whether_an_input_is_kept_for_it() {
        let memory = NodeMemory { kept: vec![(0, 1)], ..NodeMemory::default() };
        assert!(memory.keeps_for(1) && !memory.keeps_for(0));
    }

    #[test]
    fn what_no_device_holds_is_on_the_host() {
        for dtype in [DataType::String, DataType::Resource, DataType::Variant] {
            assert_eq!(memory_type(dtype, &[], 0), MemoryType::Host, "{dtype}");
        }
        assert_eq!(memory_type(DataType::Int32, &[1], 0), MemoryType::Device);
        assert_eq!(memory_type(DataType::Int32, &[1], 1), MemoryType::Host);
    }
}

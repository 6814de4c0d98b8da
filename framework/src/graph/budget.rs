//! How much of the functions that a graph calls is looked into. A small file can call them, and hand them attrs, so that
//! there is no end; what is called beyond is unknown.

use std::cell::Cell;

use prost::Message;

use super::remembered::Remembered;
use crate::dtype::DataType;
use crate::proto::{AttrValue as ProtoValue, NameAttrList, TensorProto, attr_value};

/// How many nodes of function bodies are looked into for one graph.
const MAX_NODES: u64 = 1 << 15;

/// How many attr values, arguments, inputs and outputs function bodies have for one graph.
const MAX_VALUES: u64 = 1 << 19;

/// How many bytes the values of function bodies take for one graph, tensors as they are when read.
const MAX_BYTES: u64 = 1 << 32;

/// How many functions are handed to functions, one within the other.
const MAX_DEPTH: u32 = 32;

/// What a function, and an argument or result, counts among the values: they take more memory.
const FUNCTION: u64 = 16;
const ARGUMENT: u64 = 4;

/// How many bytes a string counts, or another element that is an object.
const OBJECT: u64 = 32;

/// What may still be looked into, and what is known of what was.
pub(super) struct Budget {
    nodes: Cell<u64>,
    values: Cell<u64>,
    bytes: Cell<u64>,
    pub(super) remembered: Remembered,
}

impl Budget {
    /// That of a graph of its own.
    pub(super) fn new() -> Budget {
        Budget {
            nodes: Cell::new(MAX_NODES),
            values: Cell::new(MAX_VALUES),
            bytes: Cell::new(MAX_BYTES),
            remembered: Remembered::default(),
        }
    }

    /// Pays for nodes; false if there is not enough.
    #[must_use]
    pub(super) fn nodes(&self, count: usize) -> bool {
        spend(&self.nodes, count as u64)
    }

    /// Pays for arguments or results.
    #[must_use]
    pub(super) fn arguments(&self, count: usize) -> bool {
        spend(&self.values, (count as u64).saturating_mul(ARGUMENT))
    }

    /// Pays for inputs or outputs of nodes.
    #[must_use]
    pub(super) fn slots(&self, count: usize) -> bool {
        spend(&self.values, count as u64)
    }

    /// Pays for a copy of a value that stands within `depth` functions.
    #[must_use]
    pub(super) fn value(&self, value: &ProtoValue, depth: u32) -> bool {
        if depth > MAX_DEPTH || !spend(&self.values, 1) {
            return false;
        }
        match &value.value {
            None => true,
            Some(attr_value::Value::Func(function)) => self.functions(std::slice::from_ref(function), depth),
            Some(attr_value::Value::List(list)) if !list.func.is_empty() => self.functions(&list.func, depth),
            Some(attr_value::Value::List(list)) if !list.tensor.is_empty() => {
                list.tensor.iter().all(|t| self.tensor(t))
            }
            Some(attr_value::Value::Tensor(tensor)) => self.tensor(tensor),
            Some(_) => spend(&self.bytes, value.encoded_len() as u64),
        }
    }

    fn functions(&self, functions: &[NameAttrList], depth: u32) -> bool {
        functions.iter().all(|function| {
            spend(&self.values, FUNCTION)
                && spend(&self.bytes, function.name.len() as u64)
                && function
                    .attr
                    .iter()
                    .all(|(name, value)| spend(&self.bytes, name.len() as u64) && self.value(value, depth + 1))
        })
    }

    /// A tensor of few bytes may say that it repeats its last element.
    fn tensor(&self, tensor: &TensorProto) -> bool {
        let dims = tensor.tensor_shape.iter().flat_map(|shape| &shape.dim);
        let elements = dims.fold(1u64, |count, dim| count.saturating_mul(u64::try_from(dim.size).unwrap_or(0)));
        let size = match DataType::from_number(tensor.dtype).map_or(0, DataType::size) {
            0 => OBJECT,
            size => size as u64,
        };
        spend(&self.bytes, elements.saturating_mul(size).saturating_add(tensor.encoded_len() as u64))
    }
}

fn spend(left: &Cell<u64>, amount: u64) -> bool {
    match left.get().checked_sub(amount) {
        Some(rest) => {
            left.set(rest);
            true
        }
        None => false,
    }
}

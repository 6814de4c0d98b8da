//! Lookup of the kernel for a node, by TensorFlow's rules; the order of registration does not matter.

use super::Registry;
use super::miss::explain_miss;
use super::tables::{Found, Tables};
use crate::attr::{AttrMap, AttrValue};
use crate::error::{Error, Result};
use crate::kernel::{DeviceType, KernelDef};
use crate::sort::CompactSort as _;

/// Kernels registered for this device type serve devices that have none of their own.
pub(super) const DEFAULT: DeviceType = DeviceType("DEFAULT");

/// Device types that compile graphs instead of running them: they do not use kernels for `DEFAULT`.
const SYMBOLIC: [&str; 3] = ["XLA_CPU_JIT", "XLA_GPU_JIT", "XLA_TPU_JIT"];

/// A node, as far as the lookup of its kernel depends on it.
#[derive(Clone, Copy)]
pub struct NodeQuery<'a> {
    /// The node's name, for errors.
    pub node: &'a str,
    /// Its op.
    pub op: &'a str,
    /// Its attrs, defaults included.
    pub attrs: &'a AttrMap,
    /// The type of the device on which it is to run.
    pub device: DeviceType,
    /// The device's capabilities: see [`Device::capabilities`](crate::device::Device::capabilities).
    pub capabilities: &'a [&'static str],
}

impl NodeQuery<'_> {
    /// The label that the node asks for, in its attr `_kernel`.
    pub(super) fn label(&self) -> &[u8] {
        match self.attrs.get("_kernel") {
            Some(AttrValue::String(label)) => label.as_bytes(),
            _ => &[],
        }
    }
}

impl Tables {
    fn find(&self, query: &NodeQuery<'_>) -> Found {
        let Some(kernels) = self.kernels_of(query.op) else { return Found::None };
        let label = query.label();
        match kernels.find(query, label, query.device) {
            Found::None if !SYMBOLIC.contains(&query.device.0) => kernels.find(query, label, DEFAULT),
            found => found,
        }
    }
}

impl Registry {
    /// The kernel for a node: of those whose constraints hold, the one with the highest priority; failing that, one
    /// registered for the device type `DEFAULT`.
    ///
    /// # Errors
    /// NOT_FOUND if there is none; the message says why each of the op's kernels does not match. INVALID_ARGUMENT if several
    /// match at the highest priority.
    pub fn find_kernel(&self, query: NodeQuery<'_>) -> Result<&'static KernelDef> {
        self.find_kernel_if_any(query)?.ok_or_else(|| Error::not_found(explain_miss(self, query)))
    }

    /// Whether a node has a kernel on a device. An ambiguous choice counts as none.
    pub fn has_kernel(&self, query: NodeQuery<'_>) -> bool {
        matches!(self.tables().find(&query), Found::One(_))
    }

    /// Whether a kernel of the op may wait, as those do that call functions, and those of queues; see [`KernelDef::waits`].
    pub fn may_wait(&self, op: &str) -> bool {
        self.tables().kernels_of(op).is_some_and(|kernels| kernels.in_use().any(|kernel| kernel.waits))
    }

    /// The kernel for a node; `None` if it has none.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if several kernels match at the highest priority.
    pub fn find_kernel_if_any(&self, query: NodeQuery<'_>) -> Result<Option<&'static KernelDef>> {
        let found = self.tables().find(&query);
        match found {
            Found::One(kernel) => Ok(Some(kernel)),
            Found::None => Ok(None),
            Found::Several(first, second) => Err(ambiguous(query.node, first, second)),
        }
    }

    /// Those of `devices` on which a node can run, if they have the capabilities of the query, with the priority of its
    /// kernel there: the highest first, equal ones in the order given.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if several kernels for one of the devices match at the highest priority.
    pub fn supported_devices(&self, query: NodeQuery<'_>, devices: &[DeviceType]) -> Result<Vec<(DeviceType, i32)>> {
        let mut supported = Vec::new();
        for &device in devices {
            if let Some(kernel) = self.find_kernel_if_any(NodeQuery { device, ..query })? {
                supported.push((device, kernel.priority));
            }
        }
        supported.compact_sort_by_key(|&(_, priority)| std::cmp::Reverse(priority));
        Ok(supported)
    }
}

fn ambiguous(node: &str, first: &KernelDef, second: &KernelDef) -> Error {
    Error::invalid_argument(format!(
        "node `{node}` matches several kernels at the same priority: {first}; and {second}"
    ))
}

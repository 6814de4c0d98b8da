//! Lookup of the kernel for a node, by TensorFlow's rules; the order of registration does not matter.

use std::borrow::Cow;

use super::tables::{Found, Tables, allows};
use super::{Registry, nearest_names};
use crate::attr::{AttrMap, AttrValue};
use crate::error::{Error, Result};
use crate::kernel::{DeviceType, KernelDef};
use crate::select;

/// Kernels registered for this device type serve devices that have none of their own.
const DEFAULT: DeviceType = DeviceType("DEFAULT");

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
    fn label(&self) -> &[u8] {
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
        self.find_kernel_if_any(query)?.ok_or_else(|| Error::not_found(self.explain_miss(query)))
    }

    /// Whether a node has a kernel on a device. An ambiguous choice counts as none.
    pub fn has_kernel(&self, query: NodeQuery<'_>) -> bool {
        matches!(self.tables().find(&query), Found::One(_))
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
        supported.sort_by_key(|&(_, priority)| std::cmp::Reverse(priority));
        Ok(supported)
    }

    fn explain_miss(&self, query: NodeQuery<'_>) -> String {
        let NodeQuery { node, op, attrs, device, capabilities } = query;
        let label = String::from_utf8_lossy(query.label());
        let mut text = format!("no kernel for node `{node}` (op {op}) on {device}");
        if !label.is_empty() {
            text += &format!(" with label \"{label}\"");
        }
        let tables = self.snapshot();
        let Some(kernels) = tables.kernels_of(op) else {
            text += ": the op has no kernel in this program";
            match self.feature_of(op) {
                Some(feature) => text += &format!("; {feature} may bring one"),
                // The op is known, so that its name is not misspelt.
                None if tables.ops.get(op).is_some_and(|entry| entry.selected) => {}
                None => {
                    let near = nearest_names(op, tables.kernels.keys().copied());
                    if !near.is_empty() {
                        text += &format!("; ops with similar names that have one: {}", near.join(", "));
                    }
                }
            }
            return text;
        };
        let left_out = kernels.all().into_iter().find(|kernel| {
            let device_fits = kernel.device == device || kernel.device == DEFAULT;
            !kernel.selected && device_fits && kernel.label == label && mismatches(kernel, attrs).is_empty()
        });
        if let Some(explanation) = left_out.and_then(select::explain_kernel) {
            return text + ": " + &explanation;
        }
        let mut reasons: Vec<(usize, String)> = Vec::new();
        for kernel in kernels.all().into_iter().filter(|kernel| kernel.selected) {
            let mismatches = mismatches(kernel, attrs);
            let mut faults: Vec<Cow<'_, str>> = Vec::new();
            if kernel.device != device && kernel.device != DEFAULT {
                faults.push(format!("is for {}", kernel.device).into());
            } else {
                let lacking = kernel.requires.iter().filter(|required| !capabilities.contains(*required));
                faults.extend(lacking.map(|required| Cow::from(lacks(required, capabilities))));
            }
            if kernel.label != label {
                faults.push(format!("has label \"{}\"", kernel.label).into());
            }
            faults.extend(mismatches.into_iter().map(Cow::from));
            if kernels.is_removed(kernel, attrs) {
                faults.push("was removed while the program runs".into());
            }
            let line = format!("\n  {kernel}: {}", faults.join(", "));
            if !reasons.iter().any(|(_, other)| *other == line) {
                reasons.push((faults.len(), line));
            }
        }
        // Near misses come first.
        reasons.sort_by_key(|&(faults, _)| faults);
        const SHOWN: usize = 24;
        text += ". Registered:";
        text.extend(reasons.iter().take(SHOWN).map(|(_, line)| line.as_str()));
        if reasons.len() > SHOWN {
            text += &format!("\n  and {} more", reasons.len() - SHOWN);
        }
        text
    }
}

fn ambiguous(node: &str, first: &KernelDef, second: &KernelDef) -> Error {
    Error::invalid_argument(format!(
        "node `{node}` matches several kernels at the same priority: {first}; and {second}"
    ))
}

/// What a device lacks that a kernel requires, and what it has.
fn lacks(required: &str, capabilities: &[&str]) -> String {
    match capabilities {
        [] => format!("requires {required}, and the device has no capabilities"),
        capabilities => format!("requires {required}, and the device has {}", capabilities.join(", ")),
    }
}

/// Why a kernel's constraints do not hold for these attrs; empty if they do.
fn mismatches(kernel: &KernelDef, attrs: &AttrMap) -> Vec<String> {
    let broken = kernel.constraints.iter().filter_map(|constraint| match attrs.get(constraint.attr) {
        None => Some(format!("the node has no attr {}", constraint.attr)),
        Some(value) => (!allows(constraint.values, value)).then(|| format!("{} is {value}", constraint.attr)),
    });
    broken.collect()
}

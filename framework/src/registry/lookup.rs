//! Which kernel computes a node: TensorFlow's rules, independent of the order of registration.

use super::{Registry, nearest_names};
use crate::attr::{AttrMap, AttrValue};
use crate::error::{Error, Result};
use crate::kernel::{AttrConstraint, ConstraintValues, DeviceType, KernelDef};

/// Kernels registered for this device type serve devices that have none of their own.
const DEFAULT: DeviceType = DeviceType("DEFAULT");

/// What a lookup needs to know of a node.
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
}

impl Registry {
    /// The kernel for a node: of those whose constraints hold, the one with the highest priority; failing that, one
    /// registered for the device type `DEFAULT`.
    ///
    /// # Errors
    /// NOT_FOUND if there is none: the message says why each one of the op does not match. INVALID_ARGUMENT if several
    /// match at the highest priority.
    pub fn find_kernel(&self, query: NodeQuery<'_>) -> Result<&'static KernelDef> {
        let label = match query.attrs.get("_kernel") {
            Some(AttrValue::String(label)) => label.to_string_lossy().into_owned(),
            _ => String::new(),
        };
        let kernels = self.kernels_of(query.op);
        for device in [query.device, DEFAULT] {
            let matching = kernels.iter().filter(|kernel| {
                kernel.device == device && kernel.label == label && mismatch(kernel, query.attrs).is_none()
            });
            let mut best: Vec<&'static KernelDef> = Vec::new();
            for &kernel in matching {
                match best.first().map(|first| first.priority.cmp(&kernel.priority)) {
                    Some(std::cmp::Ordering::Greater) => {}
                    Some(std::cmp::Ordering::Equal) => best.push(kernel),
                    Some(std::cmp::Ordering::Less) | None => best = vec![kernel],
                }
            }
            match best.as_slice() {
                [] => {}
                [kernel] => return Ok(kernel),
                [first, second, ..] => {
                    return Err(Error::invalid_argument(format!(
                        "node `{}` matches several kernels at the same priority: {first}; and {second}",
                        query.node
                    )));
                }
            }
        }
        Err(Error::not_found(self.explain_miss(query, &label)))
    }

    fn explain_miss(&self, query: NodeQuery<'_>, label: &str) -> String {
        let NodeQuery { node, op, attrs, device } = query;
        let mut text = format!("no kernel for node `{node}` (op {op}) on {device}");
        if !label.is_empty() {
            text += &format!(" with label \"{label}\"");
        }
        let kernels = self.kernels_of(op);
        if kernels.is_empty() {
            let near = nearest_names(op, self.kernels.keys().copied());
            text += ": the op has no kernel in this program";
            if !near.is_empty() {
                text += &format!("; ops with similar names that have one: {}", near.join(", "));
            }
            return text;
        }
        let mut reasons: Vec<String> = Vec::new();
        for kernel in kernels {
            let reason = if kernel.device != device && kernel.device != DEFAULT {
                format!("is for {}", kernel.device)
            } else if kernel.label != label {
                format!("has label \"{}\"", kernel.label)
            } else {
                mismatch(kernel, attrs).unwrap_or_default()
            };
            let line = format!("\n  {kernel}: {reason}");
            if !reasons.contains(&line) {
                reasons.push(line);
            }
        }
        const SHOWN: usize = 24;
        text += ". Registered:";
        text.extend(reasons.iter().take(SHOWN).map(String::as_str));
        if reasons.len() > SHOWN {
            text += &format!("\n  and {} more", reasons.len() - SHOWN);
        }
        text
    }
}

/// Why a kernel's constraints do not hold for these attrs; `None` if they do.
fn mismatch(kernel: &KernelDef, attrs: &AttrMap) -> Option<String> {
    kernel.constraints.iter().find_map(|constraint| broken(constraint, attrs))
}

fn broken(constraint: &AttrConstraint, attrs: &AttrMap) -> Option<String> {
    let Some(value) = attrs.get(constraint.attr) else {
        return Some(format!("the node has no attr {}", constraint.attr));
    };
    let holds = match (constraint.values, value) {
        (ConstraintValues::Types(types), AttrValue::Type(dtype)) => types.contains(dtype),
        (ConstraintValues::Types(types), AttrValue::ListType(list)) => list.iter().all(|dtype| types.contains(dtype)),
        (ConstraintValues::Types(_), AttrValue::EmptyList) => true,
        (ConstraintValues::Strings(strings), AttrValue::String(text)) => {
            strings.iter().any(|string| string.as_bytes() == text.as_bytes())
        }
        (ConstraintValues::Ints(ints), AttrValue::Int(int)) => ints.contains(int),
        (ConstraintValues::Bools(bools), AttrValue::Bool(bool)) => bools.contains(bool),
        _ => false,
    };
    (!holds).then(|| format!("{} is {value}", constraint.attr))
}

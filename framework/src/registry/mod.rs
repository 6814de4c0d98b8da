//! The registry: every op and kernel that a program knows.
//!
//! A [`Registry`] is a plain value built from entries. [`Registry::linked`] builds it from what the linker collected,
//! and checks that the linker lost nothing.

mod lookup;
mod similar;

pub use lookup::NodeQuery;
pub use similar::nearest_names;

use std::collections::{BTreeMap, BTreeSet};

use crate::collect::{self, OpEntry};
use crate::error::{Error, Result};
use crate::kernel::{ConstraintValues, KernelDef, Provider};

/// The ops and kernels that a program knows, sorted.
pub struct Registry {
    ops: BTreeMap<&'static str, &'static OpEntry>,
    kernels: BTreeMap<&'static str, Vec<&'static KernelDef>>,
}

impl Registry {
    /// A registry of these ops and kernels.
    ///
    /// # Errors
    /// ALREADY_EXISTS if an op is declared twice or two kernels would both be chosen for the same node; NOT_FOUND if a
    /// kernel's op is not among the ops. All such faults are in one error, each with both locations.
    pub fn new(
        ops: impl IntoIterator<Item = &'static OpEntry>,
        kernels: impl IntoIterator<Item = &'static KernelDef>,
    ) -> Result<Registry> {
        let mut faults = Vec::new();
        let mut registry = Registry { ops: BTreeMap::new(), kernels: BTreeMap::new() };
        let mut ops: Vec<_> = ops.into_iter().collect();
        ops.sort_by_key(|entry| (&*entry.def.name, entry.location));
        for entry in ops {
            match registry.ops.entry(&entry.def.name) {
                std::collections::btree_map::Entry::Vacant(slot) => {
                    slot.insert(entry);
                }
                std::collections::btree_map::Entry::Occupied(first) => faults.push(format!(
                    "op {} is declared at {} (crate {}) and again at {} (crate {})",
                    entry.def.name,
                    first.get().location,
                    first.get().provider.name,
                    entry.location,
                    entry.provider.name
                )),
            }
        }
        for kernel in kernels {
            registry.kernels.entry(kernel.op).or_default().push(kernel);
        }
        let mut unknown = Vec::new();
        for (op, kernels) in &mut registry.kernels {
            kernels.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
            if !registry.ops.contains_key(op) {
                unknown.extend(kernels.iter().map(|kernel| format!("there is no op {op} for the kernel {kernel}")));
            }
            for (i, first) in kernels.iter().enumerate() {
                for second in &kernels[i + 1..] {
                    if clash(first, second) {
                        faults.push(format!("two kernels would be chosen for the same node: {first}; and {second}"));
                    }
                }
            }
        }
        if !faults.is_empty() {
            return Err(Error::already_exists(faults.join("\n")));
        }
        if !unknown.is_empty() {
            return Err(Error::not_found(unknown.join("\n")));
        }
        Ok(registry)
    }

    /// The registry of everything that is linked, which must contain all that `required` and every other linked
    /// provider promise.
    ///
    /// # Errors
    /// As [`Registry::new`]; FAILED_PRECONDITION if the linker lost registrations.
    pub fn linked(required: &[&'static Provider]) -> Result<Registry> {
        let ops: Vec<_> = collect::linked_ops().collect();
        let kernels: Vec<_> = collect::linked_kernels().collect();
        check_promises(required, &ops, &kernels)?;
        Registry::new(ops, kernels)
    }

    /// The op with this name.
    ///
    /// # Errors
    /// NOT_FOUND, with the nearest names.
    #[track_caller]
    pub fn op(&self, name: &str) -> Result<&'static OpEntry> {
        self.ops.get(name).copied().ok_or_else(|| Error::not_found(self.unknown_op(name)))
    }

    /// Says that there is no op with this name, and which are near.
    pub fn unknown_op(&self, name: &str) -> String {
        let near = nearest_names(name, self.ops.keys().copied());
        let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
        format!("op `{name}` is not linked into this program{hint}")
    }

    /// All ops, sorted by name.
    pub fn ops(&self) -> impl Iterator<Item = &'static OpEntry> {
        self.ops.values().copied()
    }

    /// All kernels, sorted by op, device, label, constraints and priority.
    pub fn kernels(&self) -> impl Iterator<Item = &'static KernelDef> {
        self.kernels.values().flatten().copied()
    }

    /// The kernels of an op, sorted.
    pub fn kernels_of(&self, op: &str) -> &[&'static KernelDef] {
        self.kernels.get(op).map_or(&[], Vec::as_slice)
    }
}

/// Compares what each provider promises with what arrived.
fn check_promises(
    required: &[&'static Provider],
    ops: &[&'static OpEntry],
    kernels: &[&'static KernelDef],
) -> Result<()> {
    let linked = ops.iter().map(|entry| entry.provider).chain(kernels.iter().map(|kernel| kernel.provider));
    // Providers are told apart by address: two crates may have one name.
    let providers: BTreeMap<*const Provider, &'static Provider> =
        required.iter().copied().chain(linked).map(|provider| (std::ptr::from_ref(provider), provider)).collect();
    let mut faults = BTreeSet::new();
    for provider in providers.values() {
        let delivered = [
            ("ops", provider.ops, ops.iter().filter(|entry| std::ptr::eq(entry.provider, *provider)).count()),
            ("kernels", provider.kernels, kernels.iter().filter(|k| std::ptr::eq(k.provider, *provider)).count()),
        ];
        for (kind, promised, found) in delivered {
            if let Some(promised) = promised
                && promised != found
            {
                faults.insert(format!(
                    "crate {} is linked but delivered {found} of its {promised} {kind} ({})",
                    provider.name, provider.location
                ));
            }
        }
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(Error::failed_precondition(format!(
        "{}. The linker has dropped registrations: a static library needs --whole-archive (-force_load on Apple), and \
         a Rust `dylib` has a collection of its own; see docs/linking.md",
        faults.into_iter().collect::<Vec<_>>().join("; ")
    )))
}

fn sort_key(kernel: &KernelDef) -> (crate::kernel::DeviceType, &'static str, String, i32, crate::kernel::Location) {
    let constraints: Vec<_> = kernel.constraints.iter().map(|constraint| constraint.to_string()).collect();
    (kernel.device, kernel.label, constraints.join(";"), -kernel.priority, kernel.location)
}

/// Whether a node could match both kernels with equal right.
fn clash(a: &KernelDef, b: &KernelDef) -> bool {
    if (a.device, a.label, a.priority) != (b.device, b.label, b.priority) {
        return false;
    }
    fn meet<T: PartialEq>(a: &[T], b: &[T]) -> bool {
        a.iter().any(|item| b.contains(item))
    }
    a.constraints.iter().all(|first| {
        let second = b.constraints.iter().find(|second| second.attr == first.attr);
        second.is_none_or(|second| match (first.values, second.values) {
            (ConstraintValues::Types(a), ConstraintValues::Types(b)) => meet(a, b),
            (ConstraintValues::Strings(a), ConstraintValues::Strings(b)) => meet(a, b),
            (ConstraintValues::Ints(a), ConstraintValues::Ints(b)) => meet(a, b),
            (ConstraintValues::Bools(a), ConstraintValues::Bools(b)) => meet(a, b),
            _ => true,
        })
    })
}

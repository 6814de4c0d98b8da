//! Check that the linker kept all registrations that crates promise.

use std::collections::{BTreeMap, BTreeSet};

use crate::collect::OpEntry;
use crate::error::{Error, Result};
use crate::kernel::{KernelDef, Provider};

/// Compares each provider's promise with the registrations that were linked; returns all providers.
///
/// # Errors
/// FAILED_PRECONDITION if the linker lost registrations.
pub(super) fn check(
    required: &[&'static Provider],
    ops: &[&'static OpEntry],
    kernels: &[&'static KernelDef],
) -> Result<Vec<&'static Provider>> {
    // Providers are compared by address: two crates may have the same name.
    let mut found: BTreeMap<*const Provider, (&'static Provider, usize, usize)> =
        required.iter().map(|&provider| (std::ptr::from_ref(provider), (provider, 0, 0))).collect();
    for entry in ops {
        found.entry(entry.provider).or_insert((entry.provider, 0, 0)).1 += 1;
    }
    for kernel in kernels {
        found.entry(kernel.provider).or_insert((kernel.provider, 0, 0)).2 += 1;
    }
    let (mut lost, mut wrong, mut numbers) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for &(provider, ops, kernels) in found.values() {
        for (kind, promised, found) in [("ops", provider.ops, ops), ("kernels", provider.kernels, kernels)] {
            let (name, location) = (provider.name, provider.location);
            match promised {
                Some(promised) if found < promised => {
                    numbers.insert(format!("`{kind} = {found}` at {location}"));
                    lost.insert(format!("crate {name} is linked but delivered {found} of its {promised} {kind} ({location})"))
                }
                Some(promised) if found > promised => wrong.insert(format!(
                    "crate {name} promises {promised} {kind} but registers {found}: correct the number in `provider!` at \
                     {location}, or state it there if a macro writes registrations, which `registered_{kind}!` does not see"
                )),
                _ => false,
            };
        }
    }
    if lost.is_empty() && wrong.is_empty() {
        let mut providers: Vec<_> = found.into_values().map(|(provider, ..)| provider).collect();
        providers.sort_by_key(|provider| (provider.name, provider.location));
        return Ok(providers);
    }
    if lost.is_empty() {
        return Err(Error::failed_precondition(joined(wrong, "; ")));
    }
    Err(Error::failed_precondition(format!(
        "{}. If a number in `provider!` is wrong, correct it: {} is what was found (`registered_ops!()` and \
         `registered_kernels!()` count the sources). If it is right, the linker has dropped registrations: a static library \
         needs --whole-archive (-force_load on Apple), and a Rust `dylib` has a collection of its own; see docs/linking.md",
        joined(lost.into_iter().chain(wrong), "; "),
        joined(numbers, ", ")
    )))
}

fn joined(texts: impl IntoIterator<Item = String>, separator: &str) -> String {
    texts.into_iter().collect::<Vec<_>>().join(separator)
}

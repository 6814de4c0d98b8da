//! Check that the linker kept all registrations that crates promise.

use std::collections::{BTreeMap, BTreeSet};

use crate::collect::{GradientEntry, OpEntry};
use crate::error::{Error, Result};
use crate::kernel::{KernelDef, Provider};
use crate::sort::CompactSort as _;

/// Compares each provider's promise with the registrations that were linked; returns all providers.
///
/// # Errors
/// FAILED_PRECONDITION if the linker lost registrations.
pub(super) fn check(
    required: &[&'static Provider],
    ops: &[&'static OpEntry],
    kernels: &[&'static KernelDef],
    gradients: &[&'static GradientEntry],
) -> Result<Vec<&'static Provider>> {
    // Providers are compared by address: two crates may have the same name.
    let mut found: BTreeMap<*const Provider, (&'static Provider, [usize; 3])> =
        required.iter().map(|&provider| (std::ptr::from_ref(provider), (provider, [0; 3]))).collect();
    let ops = ops.iter().map(|entry| (0, entry.provider));
    let kernels = kernels.iter().map(|kernel| (1, kernel.provider));
    let gradients = gradients.iter().map(|gradient| (2, gradient.provider));
    for (kind, provider) in ops.chain(kernels).chain(gradients) {
        found.entry(provider).or_insert((provider, [0; 3])).1[kind] += 1;
    }
    let (mut faults, mut numbers, mut is_lost) = (BTreeSet::new(), BTreeSet::new(), false);
    for &(provider, found) in found.values() {
        let promised = [provider.ops, provider.kernels, provider.gradients];
        for ((kind, promised), found) in ["ops", "kernels", "gradients"].into_iter().zip(promised).zip(found) {
            let (name, location) = (provider.name, provider.location);
            let fault = match promised {
                Some(promised) if found < promised => {
                    is_lost = true;
                    format!("crate {name} is linked but delivered {found} of its {promised} {kind} ({location})")
                }
                Some(promised) if found > promised => {
                    format!("crate {name} promises {promised} {kind} but registers {found} ({location})")
                }
                _ => continue,
            };
            faults.insert(fault);
            numbers.insert(format!("`{kind} = {found}` at {location}"));
        }
    }
    if faults.is_empty() {
        let mut providers: Vec<_> = found.into_values().map(|(provider, ..)| provider).collect();
        providers.compact_sort_by_key(|provider| (provider.name, provider.location));
        return Ok(providers);
    }
    let is = if numbers.len() == 1 { "is" } else { "are" };
    let mut message = format!(
        "{}. If a number in `provider!` is wrong, correct it: {} {is} what was found. A kernel counts once for each choice \
         of its dtypes, a gradient for each of its ops; `registered_ops!()`, `registered_kernels!()` and \
         `registered_gradients!()` count the sources, but not what a macro writes",
        joined(faults, "; "),
        joined(numbers, ", ")
    );
    if is_lost {
        message.push_str(
            ". If the number is right, the linker has dropped registrations: a static library needs --whole-archive \
             (-force_load on Apple), and a Rust `dylib` has a collection of its own; see docs/linking.md",
        );
    }
    Err(Error::failed_precondition(message))
}

fn joined(texts: impl IntoIterator<Item = String>, separator: &str) -> String {
    texts.into_iter().collect::<Vec<_>>().join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Location;
    use crate::op::OpDef;

    #[test]
    fn all_numbers_that_are_wrong_are_told_at_once() {
        const LOCATION: Location = Location { file: "own/src/lib.rs", line: 3 };
        static OWN: Provider = Provider {
            name: "own",
            part_of: None,
            ops: Some(1),
            kernels: Some(2),
            gradients: Some(1),
            feature_of: None,
            lacks: None,
            location: LOCATION,
        };
        let gradient = || -> &'static GradientEntry {
            let writable = false.into();
            let (provider, location) = (&OWN, LOCATION);
            Box::leak(Box::new(GradientEntry { name: "", op: "", gradient: None, provider, location, writable }))
        };
        let entry = || -> &'static OpEntry {
            Box::leak(Box::new(OpEntry {
                def: Box::leak(Box::new(OpDef::EMPTY)),
                shape_fn: None,
                system: false,
                selected: true,
                provider: &OWN,
                location: LOCATION,
                writable: false.into(),
            }))
        };
        let (one, two) = ([entry()], [entry(), entry()]);
        let (a_gradient, more_gradients) = ([gradient()], [gradient(), gradient(), gradient()]);
        let more_ops_fewer_kernels = check(&[&OWN], &two, &[], &a_gradient).unwrap_err();
        for words in [
            "promises 1 ops but registers 2 (own/src/lib.rs:3)",
            "delivered 0 of its 2 kernels (own/src/lib.rs:3)",
            "correct it: `kernels = 0` at own/src/lib.rs:3, `ops = 2` at own/src/lib.rs:3 are what was found",
            "once for each choice of its dtypes",
            "--whole-archive",
        ] {
            assert!(more_ops_fewer_kernels.message().contains(words), "`{words}` is not in: {more_ops_fewer_kernels}");
        }
        let fewer_kernels = check(&[&OWN], &one, &[], &a_gradient).unwrap_err();
        assert!(fewer_kernels.message().contains("correct it: `kernels = 0` at own/src/lib.rs:3 is what was found"));
        assert!(!fewer_kernels.message().contains("ops but registers"), "{fewer_kernels}");
        assert!(!fewer_kernels.message().contains("gradients = "), "{fewer_kernels}");
        let gradients = |found: &[&'static GradientEntry]| check(&[&OWN], &one, &[], found).unwrap_err().to_string();
        let (fewer, more) = (gradients(&[]), gradients(&more_gradients));
        assert!(
            fewer.contains("delivered 0 of its 1 gradients") && fewer.contains("`gradients = 0` at own"),
            "{fewer}"
        );
        assert!(
            more.contains("promises 1 gradients but registers 3") && more.contains("`gradients = 3` at own"),
            "{more}"
        );
    }
}

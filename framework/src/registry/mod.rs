//! The registry: every op and kernel that a program knows.
//!
//! A [`Registry`] is a plain value built from entries. [`Registry::linked`] builds it from what the linker collected,
//! and checks that the linker lost nothing.
//!
//! It can change while the program runs: ops and kernels are registered, kernels removed and restored. A query sees the
//! registry before or after a change, never in between.

mod change;
mod filter;
mod lookup;
mod miss;
mod promises;
mod similar;
mod tables;

pub use change::{Validator, Watcher};
pub use filter::KernelFilter;
pub use lookup::NodeQuery;
pub use similar::{did_you_mean, listed, nearest_names};

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use self::change::Changes;
use self::tables::{Tables, clash};
use crate::collect::{self, GradientEntry, OpEntry, RewriteEntry};
use crate::error::{Advice, Error, Result, shortened};
use crate::kernel::{KernelDef, Provider};
use crate::select;

/// Why a registry has no op of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Absence {
    /// A crate declares it, but selective registration left it out.
    LeftOut,
    /// A Cargo feature that is off brings it; this names the feature and its crate.
    Feature(String),
    /// A crate knows the name and that it declares no such op; this says whose op it is.
    Lacking(&'static str),
    /// No crate knows the name.
    Unknown,
}

/// The ops and kernels that a program knows.
pub struct Registry {
    tables: RwLock<Arc<Tables>>,
    /// The number of changes so far.
    generation: AtomicU64,
    /// Deferred registrations, watcher and validators.
    changes: Mutex<Changes>,
    /// Serialises changes.
    changing: Mutex<()>,
    /// Whether ops of graphs may not change the registry.
    closed_to_graphs: AtomicBool,
    providers: Vec<&'static Provider>,
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
        let mut tables = Tables::default();
        let mut faults = Vec::new();
        for entry in ops {
            if let Some(other) = tables.ops.insert(&entry.def.name, entry) {
                let (first, second) = if other.location <= entry.location { (other, entry) } else { (entry, other) };
                faults.push((&*entry.def.name, declared_twice(first, &second.origin())));
            }
        }
        // Sorting all kernels by the names of their ops would take longer than all the rest.
        let mut by_op: FxHashMap<&'static str, Vec<&'static KernelDef>> = FxHashMap::default();
        for kernel in kernels {
            by_op.entry(kernel.op).or_default().push(kernel);
        }
        let mut unknown = Vec::new();
        for (op, mut kernels) in by_op {
            kernels.sort_unstable_by_key(|kernel| (kernel.device, kernel.label, kernel.location));
            if !tables.ops.contains_key(op) {
                unknown.extend(kernels.iter().map(|kernel| (op, no_op_for(kernel))));
            }
            for (i, first) in kernels.iter().enumerate() {
                let clashing = kernels[i + 1..].iter().filter(|second| clash(first, &[], second, &[]));
                faults.extend(clashing.map(|second| (op, same_node(first, second))));
            }
            tables.add_kernels(op, &kernels);
        }
        if !faults.is_empty() {
            return Err(Error::already_exists(by_name_of_op(faults)));
        }
        if !unknown.is_empty() {
            return Err(Error::not_found(by_name_of_op(unknown)));
        }
        Ok(Registry {
            tables: RwLock::new(Arc::new(tables)),
            generation: AtomicU64::new(0),
            changes: Mutex::default(),
            changing: Mutex::default(),
            closed_to_graphs: AtomicBool::new(false),
            providers: Vec::new(),
        })
    }

    /// The registry of everything that is linked, which must contain all that `required` and every other linked
    /// provider promise.
    ///
    /// # Errors
    /// As [`Registry::new`]; ALREADY_EXISTS for rewrites or gradients of one name; FAILED_PRECONDITION if the linker lost
    /// registrations.
    pub fn linked(required: &[&'static Provider]) -> Result<Registry> {
        let ops: Vec<_> = collect::linked_ops().collect();
        let kernels: Vec<_> = collect::linked_kernels().collect();
        let gradients: Vec<_> = collect::linked_gradients().collect();
        let providers = promises::check(required, &ops, &kernels, &gradients)?;
        check_rewrites(collect::linked_rewrites())?;
        check_gradients(gradients)?;
        Ok(Registry { providers, ..Registry::new(ops, kernels)? })
    }

    /// The op with this name.
    ///
    /// # Errors
    /// NOT_FOUND; the message names the Cargo feature that brings the op, if one is known, or similar names.
    #[track_caller]
    pub fn op(&self, name: &str) -> Result<&'static OpEntry> {
        self.find_op(name).ok_or_else(|| Error::not_found(self.unknown_op(name)).advise_all("; ", self.advice([name])))
    }

    /// The op with this name, if there is one: what [`Registry::op`] returns, without the cost of an error that says why
    /// there is none.
    pub fn find_op(&self, name: &str) -> Option<&'static OpEntry> {
        self.tables().ops.get(name).copied().filter(|entry| entry.selected)
    }

    /// Whether selective registration left the op out.
    pub fn is_left_out(&self, name: &str) -> bool {
        self.tables().ops.get(name).is_some_and(|entry| !entry.selected)
    }

    /// The message that there is no op with this name, and why: a selection or a Cargo feature left it out, a provider
    /// knows that it lacks the op, or no linked crate knows the name; then similar names are told.
    pub fn unknown_op(&self, name: &str) -> String {
        let not_linked = format!("op `{}` is not linked into this program", shortened(name));
        match self.why_absent(name) {
            Absence::LeftOut => select::left_out(format_args!("op `{}`", shortened(name))),
            Absence::Feature(feature) => format!("{not_linked}: {feature} brings it"),
            Absence::Lacking(reason) => format!("{not_linked}: {reason}"),
            Absence::Unknown => {
                let tables = self.snapshot();
                let names = tables.ops.values().filter(|entry| entry.selected).map(|entry| &*entry.def.name);
                let hint = did_you_mean(name, names);
                format!("{not_linked}, and no crate in it knows the name{hint}")
            }
        }
    }

    /// What to do about ops that [`Registry::unknown_op`] tells of, as far as several have it in common.
    pub fn advice<'a>(&self, missing: impl IntoIterator<Item = &'a str>) -> Vec<Advice> {
        let (mut left_out, mut elsewhere) = (false, false);
        for name in missing {
            match self.why_absent(name) {
                Absence::LeftOut => left_out = true,
                Absence::Feature(_) => {}
                // Whoever else has the op, a crate of the user may declare it too.
                Absence::Lacking(_) | Absence::Unknown => elsewhere = true,
            }
        }
        left_out.then(select::advice).into_iter().chain(elsewhere.then_some(Advice::BringOps)).collect()
    }

    /// Why there is no op with this name; `None` if there is one.
    pub fn absence(&self, name: &str) -> Option<Absence> {
        let is_there = self.tables().ops.get(name).is_some_and(|entry| entry.selected);
        (!is_there).then(|| self.why_absent(name))
    }

    /// Why there is no op with this name, which is known to be absent.
    fn why_absent(&self, name: &str) -> Absence {
        if self.is_left_out(name) {
            return Absence::LeftOut;
        }
        if let Some(feature) = self.feature_of(name) {
            return Absence::Feature(feature);
        }
        let lacking = self.providers.iter().find_map(|provider| provider.lacks?(name));
        lacking.map_or(Absence::Unknown, Absence::Lacking)
    }

    /// [`Registry::unknown_op`] with the nodes that need the op.
    pub fn missing_op(&self, name: &str, nodes: &[String]) -> String {
        let node = match nodes {
            [] => String::new(),
            [node] => format!(" (node `{}`)", shortened(node)),
            [node, more @ ..] => format!(" (node `{}` and {} more)", shortened(node), more.len()),
        };
        self.unknown_op(name) + &node
    }

    /// All ops, sorted by name.
    pub fn ops(&self) -> impl Iterator<Item = &'static OpEntry> + use<> {
        let mut ops: Vec<_> = self.tables().ops.values().copied().filter(|entry| entry.selected).collect();
        ops.sort_unstable_by_key(|entry| &*entry.def.name);
        ops.into_iter()
    }

    /// All kernels in use, sorted by op, device, label, constraints and priority.
    pub fn kernels(&self) -> impl Iterator<Item = &'static KernelDef> + use<> {
        self.kernels_where(|_| true).into_iter()
    }

    /// The kernels in use that `wanted` takes, sorted as by [`Registry::kernels`].
    pub fn kernels_where(&self, wanted: impl Fn(&KernelDef) -> bool) -> Vec<&'static KernelDef> {
        let tables = self.snapshot();
        let mut ops: Vec<_> = tables.kernels.iter().collect();
        ops.sort_unstable_by_key(|(op, _)| **op);
        ops.into_iter().flat_map(|(_, kernels)| kernels.in_use_sorted()).filter(|kernel| wanted(kernel)).collect()
    }

    /// The kernels of an op that are in use, sorted.
    pub fn kernels_of(&self, op: &str) -> Vec<&'static KernelDef> {
        self.snapshot().kernels_of(op).map(|kernels| kernels.in_use_sorted()).unwrap_or_default()
    }

    /// How often the registry has changed. Results of queries are valid as long as this stays the same.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The Cargo feature that brings an op or its kernels, if a provider knows it.
    fn feature_of(&self, op: &str) -> Option<String> {
        self.providers.iter().find_map(|provider| {
            let feature = (provider.feature_of?)(op)?;
            Some(format!("the Cargo feature `{feature}` of {}", provider.part_of.unwrap_or(provider.name)))
        })
    }

    /// The contents under the read lock, for short queries.
    fn tables(&self) -> std::sync::RwLockReadGuard<'_, Arc<Tables>> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// A snapshot of the contents.
    fn snapshot(&self) -> Arc<Tables> {
        self.tables().clone()
    }
}

/// Faults in the order of the names of their ops, a line each.
fn by_name_of_op(mut faults: Vec<(&str, String)>) -> String {
    faults.sort_by_key(|(op, _)| *op);
    faults.into_iter().map(|(_, fault)| fault).collect::<Vec<_>>().join("\n")
}

/// Refuses rewrites of one name.
fn check_rewrites(rewrites: impl IntoIterator<Item = &'static RewriteEntry>) -> Result<()> {
    let mut rewrites: Vec<_> = rewrites.into_iter().collect();
    rewrites.sort_unstable_by_key(|rewrite| (rewrite.name, rewrite.location));
    let twice = rewrites.windows(2).filter(|pair| pair[0].name == pair[1].name);
    let faults: Vec<String> = twice.map(|pair| registered_twice(pair[0], pair[1])).collect();
    if faults.is_empty() { Ok(()) } else { Err(Error::already_exists(faults.join("\n"))) }
}

/// Refuses gradients of one name.
fn check_gradients(mut gradients: Vec<&'static GradientEntry>) -> Result<()> {
    gradients.sort_unstable_by_key(|gradient| (gradient.name, gradient.location));
    let twice = gradients.windows(2).filter(|pair| pair[0].name == pair[1].name);
    let faults: Vec<String> = twice.map(|pair| differentiated_twice(pair[0], pair[1])).collect();
    if faults.is_empty() { Ok(()) } else { Err(Error::already_exists(faults.join("\n"))) }
}

fn differentiated_twice(first: &GradientEntry, second: &GradientEntry) -> String {
    format!(
        "gradient {} is registered at {} (crate {}) and again at {} (crate {}): an op has one gradient, or is \
         `not_differentiable!`; further gradients of it have a `name` of their own, by which nodes ask for them with the attr \
         `_gradient_op_type`",
        first.name, first.location, first.provider.name, second.location, second.provider.name
    )
}

fn registered_twice(first: &RewriteEntry, second: &RewriteEntry) -> String {
    format!(
        "rewrite {} is registered at {} (crate {}) and again at {} (crate {}): each has a name of its own, by which it is \
         switched off",
        first.name, first.location, first.provider.name, second.location, second.provider.name
    )
}

/// What is wrong with two ops of one name; `second` is the origin of the other.
fn declared_twice(first: &OpEntry, second: &str) -> String {
    format!(
        "op {} is declared {} and again {second}: an op of one's own has a name of its own, such as `name = \"Mine>{}\"`, or one of \
         the two is left out",
        first.def.name,
        first.origin(),
        first.def.name
    )
}

fn same_node(first: &KernelDef, second: &KernelDef) -> String {
    format!(
        "two kernels would be chosen for the same node: {first}; and {second}. The one to be taken has a higher `priority`, \
         one that only some nodes ask for a `label`"
    )
}

fn no_op_for(kernel: &KernelDef) -> String {
    format!("there is no op {} for the kernel {kernel}", kernel.op)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewrites_of_one_name_are_told_with_both_places() {
        static PROVIDER: Provider = Provider { name: "own", ..Provider::RUN_TIME };
        let entry = |name, line| -> &'static RewriteEntry {
            let location = crate::kernel::Location { file: "own/src/lib.rs", line };
            let writable = false.into();
            Box::leak(Box::new(RewriteEntry { name, rewrite: None, provider: &PROVIDER, location, writable }))
        };
        assert!(check_rewrites([entry("a", 1), entry("b", 2)]).is_ok());
        let error = check_rewrites([entry("a", 7), entry("b", 2), entry("a", 3)]).unwrap_err();
        let both = "rewrite a is registered at own/src/lib.rs:3 (crate own) and again at own/src/lib.rs:7 (crate own)";
        assert!(error.message().contains(both), "{error}");
    }

    #[test]
    fn gradients_of_one_name_are_told_with_both_places() {
        static OWN: Provider = Provider { name: "own", ..Provider::RUN_TIME };
        static OTHER: Provider = Provider { name: "other", ..Provider::RUN_TIME };
        let entry = |name, provider, file, line| -> &'static GradientEntry {
            let location = crate::kernel::Location { file, line };
            let writable = false.into();
            Box::leak(Box::new(GradientEntry { name, op: name, gradient: None, provider, location, writable }))
        };
        let own = |name, line| entry(name, &OWN, "own/src/lib.rs", line);
        assert!(check_gradients(vec![own("A", 1), own("B", 2)]).is_ok());
        let error =
            check_gradients(vec![own("A", 7), own("B", 2), entry("A", &OTHER, "other/src/lib.rs", 3)]).unwrap_err();
        let both = "gradient A is registered at other/src/lib.rs:3 (crate other) and again at own/src/lib.rs:7 (crate own): an \
                    op has one gradient, or is `not_differentiable!`";
        assert!(error.message().contains(both) && error.code() == crate::error::Code::AlreadyExists, "{error}");
    }

    #[test]
    fn what_to_do_about_an_op_depends_on_why_it_is_absent() {
        static PROVIDER: Provider = Provider {
            feature_of: Some(|op| (op == "Rfft").then_some("signal")),
            lacks: Some(|op| (op == "Svd").then_some("an op of someone else")),
            ..Provider::RUN_TIME
        };
        let registry = Registry { providers: vec![&PROVIDER], ..Registry::new([], []).unwrap() };
        let linked = "`use that_crate as _;`";
        assert_eq!(registry.absence("Svd"), Some(Absence::Lacking("an op of someone else")));
        assert!(
            registry.op("Svd").err().unwrap().to_string().contains("an op of someone else; a crate that declares it")
        );
        assert!(registry.op("Svd").err().unwrap().message().ends_with(linked));
        assert_eq!(registry.advice(["Svd"]), [Advice::BringOps]);
        assert_eq!(registry.absence("Frobnicate"), Some(Absence::Unknown));
        assert!(registry.op("Frobnicate").err().unwrap().advice().eq([&Advice::BringOps]));
        assert!(matches!(registry.absence("Rfft"), Some(Absence::Feature(feature)) if feature.contains("`signal`")));
        assert!(registry.op("Rfft").err().unwrap().to_string().contains("the Cargo feature `signal` of"));
        assert_eq!(registry.advice(["Rfft"]), []);
    }
}

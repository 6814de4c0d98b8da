//! Changes at run time: new ops and kernels, kernels removed and restored.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use super::tables::Tables;
use super::{KernelFilter, Registry, declared_twice, did_you_mean, no_op_for, same_node};
use crate::collect::OpEntry;
use crate::error::{Code, Error, Result};
use crate::kernel::{KernelDef, Location, Provider, check_against_op};
use crate::op::OpDef;
use crate::select;
use crate::shape_inference::ShapeFn;
use crate::sort::CompactSort as _;

/// Is called with the result of every registration of an op; what it returns replaces the result.
pub type Watcher = Arc<dyn Fn(Result<()>, &OpDef) -> Result<()> + Send + Sync>;

/// Is called with an op before it is registered, and may refuse it.
pub type Validator = Arc<dyn Fn(&OpDef) -> Result<()> + Send + Sync>;

/// State that changes of the registry use.
#[derive(Default)]
pub(super) struct Changes {
    /// Deferred registrations; `None` unless registrations are deferred.
    deferred: Option<Vec<&'static OpEntry>>,
    watcher: Option<Watcher>,
    validators: Vec<Validator>,
}

/// An op that stays in memory for the rest of the program.
#[track_caller]
fn entry(def: OpDef, shape_fn: Option<ShapeFn>) -> &'static OpEntry {
    let location = std::panic::Location::caller();
    entry_at(def, shape_fn, Location { file: location.file(), line: location.line() })
}

fn entry_at(def: OpDef, shape_fn: Option<ShapeFn>, location: Location) -> &'static OpEntry {
    Box::leak(Box::new(OpEntry {
        def: Box::leak(Box::new(def)),
        shape_fn,
        system: false,
        selected: true,
        provider: &Provider::RUN_TIME,
        location,
        writable: AtomicBool::new(false),
    }))
}

impl Registry {
    /// A registry of ops that were read from somewhere, such as another program's
    /// [OpList](crate::proto::op_list_from_bytes), to check graphs against. They stay in memory for the rest of the
    /// program, and have neither shape functions nor kernels.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for an op that contradicts itself; ALREADY_EXISTS for two of one name.
    #[track_caller]
    pub fn from_ops(ops: impl IntoIterator<Item = OpDef>) -> Result<Registry> {
        let mut entries = Vec::new();
        for def in ops {
            def.validate()?;
            entries.push(entry(def, None));
        }
        Registry::new(entries, [])
    }

    /// Registers an op. It stays in memory for the rest of the program.
    ///
    /// If registrations are deferred, [`Registry::process_registrations`] carries it out.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for an op that contradicts itself; ALREADY_EXISTS, with both locations, if there is an op with
    /// the name; those of validators; or what the watcher returns instead.
    #[track_caller]
    pub fn register_op(&self, def: OpDef, shape_fn: Option<ShapeFn>) -> Result<()> {
        let entry = entry(def, shape_fn);
        if let Some(waiting) = &mut self.changes().deferred {
            waiting.push(entry);
            return Ok(());
        }
        self.register_entry(entry)
    }

    /// Defers registrations of ops, as the loader of a library does to receive their errors.
    pub fn defer_registrations(&self) {
        self.changes().deferred.get_or_insert_default();
    }

    /// Carries out the deferred registrations in order, and ends deferral.
    ///
    /// # Errors
    /// The first one; the registrations after it are dropped.
    pub fn process_registrations(&self) -> Result<()> {
        let waiting = self.changes().deferred.take().unwrap_or_default();
        waiting.into_iter().try_for_each(|entry| self.register_entry(entry))
    }

    /// Drops the deferred registrations, without ending deferral; returns how many there were.
    pub fn clear_deferred_registrations(&self) -> usize {
        self.changes().deferred.as_mut().map_or(0, |waiting| std::mem::take(waiting).len())
    }

    /// Sets or removes the watcher. It is called without a lock and may itself change the registry.
    ///
    /// # Errors
    /// ALREADY_EXISTS if there is a watcher and `watcher` is another one.
    pub fn set_watcher(&self, watcher: Option<Watcher>) -> Result<()> {
        let mut changes = self.changes();
        if watcher.is_some() && changes.watcher.is_some() {
            return Err(Error::already_exists("the registry has a watcher: take it away first, with `None`"));
        }
        changes.watcher = watcher;
        Ok(())
    }

    /// Adds a validator, which ops must pass from now on. It is called without a lock.
    pub fn add_validator(&self, validator: Validator) {
        self.changes().validators.push(validator);
    }

    /// Registers a kernel; see [`KernelDefBuilder`](crate::kernel::KernelDefBuilder). Sessions take it up with their
    /// next plan.
    ///
    /// # Errors
    /// NOT_FOUND if its op is not registered; INVALID_ARGUMENT if it names attrs, values or arguments that the op does
    /// not have; ALREADY_EXISTS, with both locations, if a kernel would be chosen for the same node at the same
    /// priority.
    pub fn register_kernel(&self, kernel: &'static KernelDef) -> Result<()> {
        self.register_kernels([kernel])
    }

    /// Registers kernels atomically: all of them or, if one is refused, none.
    ///
    /// # Errors
    /// As [`Registry::register_kernel`].
    pub fn register_kernels(&self, kernels: impl IntoIterator<Item = &'static KernelDef>) -> Result<()> {
        let kernels: Vec<_> = kernels.into_iter().collect();
        self.change(|tables| kernels.iter().try_for_each(|kernel| insert(tables, kernel)))
    }

    /// Registers the ops and kernels of a library, which is at `origin`, atomically: all of them or, if one is refused, none.
    /// `before_use` is told of the ops before anybody can find them. It does not wait if registrations are deferred, and the watcher,
    /// who may change the outcome of one registration, is not asked.
    ///
    /// # Errors
    /// As [`Registry::register_op`] and [`Registry::register_kernel`].
    pub fn register_library(
        &self,
        origin: Location,
        ops: Vec<(OpDef, Option<ShapeFn>)>,
        kernels: &[&'static KernelDef],
        before_use: impl FnOnce(&[&'static OpEntry]),
    ) -> Result<Vec<&'static OpEntry>> {
        let validators = self.changes().validators.clone();
        for (op, _) in &ops {
            op.validate()?;
            validators.iter().try_for_each(|valid| valid(op))?;
            // Before the op is made to stay: what is refused leaves nothing behind, however often it comes.
            if let Some(first) = self.find_op(&op.name) {
                return Err(Error::already_exists(declared_twice(first, &origin.origin(&Provider::RUN_TIME))));
            }
        }
        let entries: Vec<_> = ops.into_iter().map(|(def, shape_fn)| entry_at(def, shape_fn, origin)).collect();
        self.change(|tables| {
            for &entry in &entries {
                insert_op(tables, entry)?;
            }
            kernels.iter().try_for_each(|kernel| insert(tables, kernel))?;
            before_use(&entries);
            Ok(())
        })?;
        Ok(entries)
    }

    /// Takes out, atomically, what [`Registry::register_library`] and [`Registry::register_kernels`] registered for a library that
    /// goes. It does not come back by [`Registry::restore_kernels`]. What is not there is passed over.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if an op of the library has a kernel that is not the library's. Nothing has changed then.
    pub fn unregister_library(&self, ops: &[&'static OpEntry], kernels: &[&'static KernelDef]) -> Result<()> {
        self.change(|tables| {
            kernels.iter().for_each(|kernel| tables.forget(kernel));
            for &entry in ops {
                let name: &str = &entry.def.name;
                if !tables.ops.get(name).is_some_and(|there| std::ptr::eq(*there, entry)) {
                    continue;
                }
                if let Some(kernel) = tables.kernels_of(name).and_then(|kernels| kernels.all().into_iter().next()) {
                    let message = format!("op {name} cannot go: there is another's kernel for it: {kernel}");
                    return Err(Error::failed_precondition(message));
                }
                tables.ops.remove(name);
                tables.kernels.remove(name);
            }
            Ok(())
        })
    }

    /// Removes kernels; returns how many. Existing plans keep them.
    ///
    /// # Errors
    /// NOT_FOUND if no kernel in use matches.
    pub fn remove_kernels(&self, filter: &KernelFilter) -> Result<usize> {
        // Without a match the contents are not copied.
        if self.tables().count(filter) == 0 {
            return Err(nothing_meant(&self.snapshot(), filter));
        }
        self.change(|tables| match tables.remove(filter) {
            0 => Err(nothing_meant(tables, filter)),
            count => Ok(count),
        })
    }

    /// Removes kernels and registers another atomically; returns how many were removed.
    ///
    /// # Errors
    /// As [`Registry::remove_kernels`] and [`Registry::register_kernel`]; INVALID_ARGUMENT for a kernel that the
    /// filter does not match. Nothing has changed then.
    pub fn replace_kernels(&self, filter: &KernelFilter, kernel: &'static KernelDef) -> Result<usize> {
        if !filter.matches(kernel) {
            let message =
                format!("the kernel {kernel} cannot take the place of the kernels {filter}: it is none of them");
            return Err(Error::invalid_argument(message));
        }
        self.change(|tables| {
            let count = tables.remove(filter);
            if count == 0 {
                return Err(nothing_meant(tables, filter));
            }
            insert(tables, kernel)?;
            Ok(count)
        })
    }

    /// Undoes the removals and replacements whose kernels all match the filter; returns how many.
    /// A kernel that replaced a restored one is dropped.
    ///
    /// # Errors
    /// NOT_FOUND if there was no such removal.
    pub fn restore_kernels(&self, filter: &KernelFilter) -> Result<usize> {
        self.change(|tables| match tables.restore(filter) {
            0 => {
                let removed = tables.removals(&filter.op).map(|removed| format!("`{removed}`")).collect::<Vec<_>>();
                let hint =
                    if removed.is_empty() { String::new() } else { format!("; what was: {}", removed.join(", ")) };
                Err(Error::not_found(format!("nothing was removed that is all meant by `{filter}`{hint}")))
            }
            count => Ok(count),
        })
    }

    /// Sets whether ops such as `RemoveKernel` may change the registry; by default they may. A program that runs untrusted
    /// graphs calls it with `false`.
    pub fn allow_changes_by_graphs(&self, allow: bool) {
        self.closed_to_graphs.store(!allow, Ordering::Relaxed);
    }

    /// Refuses a change of the registry by an op if changes by graphs are not allowed.
    ///
    /// # Errors
    /// PERMISSION_DENIED.
    pub fn check_change_by_graph(&self) -> Result<()> {
        if self.closed_to_graphs.load(Ordering::Relaxed) {
            let message = "this program does not allow graphs to change its registry";
            return Err(Error::new(Code::PermissionDenied, message));
        }
        Ok(())
    }

    fn register_entry(&self, entry: &'static OpEntry) -> Result<()> {
        let (validators, watcher) = {
            let changes = self.changes();
            (changes.validators.clone(), changes.watcher.clone())
        };
        let valid = entry.def.validate().and_then(|()| validators.iter().try_for_each(|valid| valid(entry.def)));
        let result = valid.and_then(|()| self.change(|tables| insert_op(tables, entry)));
        match watcher {
            Some(watcher) => watcher(result, entry.def),
            None => result,
        }
    }

    fn changes(&self) -> MutexGuard<'_, Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the contents by a changed copy, unless the change fails.
    fn change<R>(&self, change: impl FnOnce(&mut Tables) -> Result<R>) -> Result<R> {
        let _alone = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tables = Tables::clone(&self.snapshot());
        let result = change(&mut tables)?;
        *self.tables.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tables);
        self.generation.fetch_add(1, Ordering::Release);
        Ok(result)
    }
}

/// The error that a filter matches no kernel in use, with suggestions.
fn nothing_meant(tables: &Tables, filter: &KernelFilter) -> Error {
    let hint = match tables.kernels_of(&filter.op) {
        None => did_you_mean(&filter.op, tables.kernels.keys().copied()),
        Some(kernels) => {
            let mut devices: Vec<_> = kernels.in_use().map(|kernel| kernel.device.0).collect();
            devices.compact_sort();
            devices.dedup();
            match devices.is_empty() {
                true => "; all of the op's were removed".to_owned(),
                false => format!("; the op has kernels on {}", devices.join(", ")),
            }
        }
    };
    Error::not_found(format!("there is no kernel {filter}{hint}"))
}

fn insert_op(tables: &mut Tables, entry: &'static OpEntry) -> Result<()> {
    match tables.ops.get(&*entry.def.name) {
        // Ops that selective registration left out do not count.
        Some(first) if first.selected => Err(Error::already_exists(declared_twice(first, &entry.origin()))),
        _ => {
            tables.ops.insert(&entry.def.name, entry);
            Ok(())
        }
    }
}

fn insert(tables: &mut Tables, kernel: &'static KernelDef) -> Result<()> {
    let entry = tables.ops.get(kernel.op).ok_or_else(|| Error::not_found(no_op_for(kernel)))?;
    if let Some(left_out) = select::explain_op(entry) {
        return Err(Error::not_found(left_out));
    }
    check_against_op(kernel, entry.def)?;
    if let Some(other) = tables.kernels_of(kernel.op).and_then(|kernels| kernels.clashing(kernel)) {
        return Err(Error::already_exists(same_node(other, kernel)));
    }
    tables.add(kernel);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn named(name: &'static str) -> OpDef {
        OpDef { name: name.into(), ..OpDef::EMPTY }
    }

    #[test]
    fn the_watcher_sees_how_each_registration_went_and_has_the_last_word() {
        let registry = Arc::new(Registry::from_ops([named("Old")]).unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (notes, within) = (seen.clone(), registry.clone());
        let watcher = move |result: Result<()>, op: &OpDef| {
            // The op is there by now, and no lock is held.
            let is_there = within.op(&op.name).is_ok();
            notes.lock().unwrap().push((op.name.to_string(), result.is_ok(), is_there));
            match &*op.name {
                "Old" => Ok(()),
                "Refused" => Err(Error::unimplemented("by the watcher")),
                _ => result,
            }
        };
        registry.set_watcher(Some(Arc::new(watcher))).unwrap();
        registry.register_op(named("New"), None).unwrap();
        registry.register_op(named("Old"), None).unwrap();
        assert_eq!(registry.register_op(named("Refused"), None).unwrap_err().code(), Code::Unimplemented);
        assert_eq!(registry.register_op(named("New"), None).unwrap_err().code(), Code::AlreadyExists);
        // What waits is seen when it is its turn.
        registry.defer_registrations();
        registry.register_op(named("Later"), None).unwrap();
        assert_eq!(seen.lock().unwrap().len(), 4);
        registry.process_registrations().unwrap();
        let note = |name: &str, went: bool| (name.to_owned(), went, true);
        let expected =
            [note("New", true), note("Old", false), note("Refused", true), note("New", false), note("Later", true)];
        assert_eq!(*seen.lock().unwrap(), expected);
    }

    #[test]
    fn there_is_one_watcher_at_a_time() {
        let registry = Registry::from_ops([]).unwrap();
        let watcher = |code: Code| -> Watcher { Arc::new(move |_, _| Err(Error::new(code, "watched"))) };
        registry.set_watcher(Some(watcher(Code::Aborted))).unwrap();
        assert_eq!(registry.set_watcher(Some(watcher(Code::DataLoss))).unwrap_err().code(), Code::AlreadyExists);
        assert_eq!(registry.register_op(named("A"), None).unwrap_err().code(), Code::Aborted);
        registry.set_watcher(None).unwrap();
        registry.register_op(named("B"), None).unwrap();
        registry.set_watcher(Some(watcher(Code::DataLoss))).unwrap();
        assert_eq!(registry.register_op(named("C"), None).unwrap_err().code(), Code::DataLoss);
    }
}

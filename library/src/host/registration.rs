//! Where registrations go: into the batch of a library that is being loaded, or straight into the program's registry.
//!
//! The constructors of a library run on the thread that loads it, so that a batch belongs to a thread. What a library registers
//! on another thread, or once it is loaded, is refused as far as its code can be told: nobody could take it back with the library.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};

use kernlink_framework::collect::OpEntry;
use kernlink_framework::error::catch_panic;
use kernlink_framework::kernel::{KernelDef, Location};
use kernlink_framework::op::OpDef;
use kernlink_framework::registry::Registry;
use kernlink_framework::shape_inference::InferenceContext;
use kernlink_framework::{Error, Result};

use super::LibraryInUse;
use super::in_use::owner_of;
use super::shape::infer;
use crate::abi::ShapeFunction;

/// An op that a library declares.
pub struct PendingOp {
    pub(super) def: OpDef,
    pub(super) shape_function: Option<ShapeFunction>,
}

/// What a library registered while it was loaded.
pub struct Batch {
    ops: Vec<PendingOp>,
    kernels: Vec<&'static KernelDef>,
    /// The kernels that no node can get, each with the reason.
    unused: Vec<String>,
    /// The first registration that failed: with it the library fails.
    failure: Option<Error>,
    library: Arc<LibraryInUse>,
}

thread_local! {
    /// Whether this thread loads a library. Without it, a thread does not touch `LOADING`: what has to be dropped when a thread ends
    /// is announced to the system's loader, which waits for the constructor that may wait for this thread.
    static IS_LOADING: Cell<bool> = const { Cell::new(false) };
    static LOADING: RefCell<Option<Batch>> = const { RefCell::new(None) };
}

/// Kernels for ops that are not there so far, with the registry that waits for the ops.
static WAITING: Mutex<Vec<(Weak<Registry>, &'static KernelDef)>> = Mutex::new(Vec::new());

/// Finds the registry of a program.
pub type FindRegistry = fn() -> Result<Arc<Registry>>;

/// Finds the registry of a program that registers without loading, as one that is linked to `libtensorflow` and calls
/// `TF_RegisterKernelBuilder` itself.
static TARGET: OnceLock<FindRegistry> = OnceLock::new();

/// The shape functions of ops from libraries, by the addresses of their declarations, which stay.
static SHAPES: RwLock<BTreeMap<usize, (ShapeFunction, Arc<LibraryInUse>)>> = RwLock::new(BTreeMap::new());

/// The origin of what is registered without being loaded.
const THIS_PROGRAM: Location = Location::library("(this program)");

/// Says where registrations go that no load waits for: `registry` is asked when there is one. The first call counts.
pub fn register_into(registry: FindRegistry) {
    TARGET.get_or_init(|| registry);
}

/// Collects what `load` registers on this thread.
pub fn collect<R>(load: impl FnOnce() -> R) -> (R, Batch) {
    collect_of(&LibraryInUse::new(THIS_PROGRAM), load)
}

/// Collects what `load` registers on this thread, for a library.
pub(crate) fn collect_of<R>(library: &Arc<LibraryInUse>, load: impl FnOnce() -> R) -> (R, Batch) {
    /// Puts back what was collected before, also if `load` panics.
    struct Collecting(Option<Batch>, bool);

    impl Collecting {
        fn end(&mut self) -> Option<Batch> {
            IS_LOADING.set(self.1);
            LOADING.replace(self.0.take())
        }
    }

    impl Drop for Collecting {
        fn drop(&mut self) {
            self.end();
        }
    }

    let mut collecting = Collecting(LOADING.replace(Some(Batch::new(library))), IS_LOADING.replace(true));
    let result = load();
    let batch = collecting.end();
    std::mem::forget(collecting);
    // What registers puts the batch back.
    (result, batch.unwrap_or_else(|| Batch::new(library)))
}

/// Whether a library is being loaded on this thread.
pub(crate) fn is_loading() -> bool {
    IS_LOADING.get() && LOADING.with_borrow(Option::is_some)
}

impl Batch {
    /// What all of it shares.
    pub(crate) fn library(&self) -> &Arc<LibraryInUse> {
        &self.library
    }

    fn new(library: &Arc<LibraryInUse>) -> Batch {
        Batch { ops: Vec::new(), kernels: Vec::new(), unused: Vec::new(), failure: None, library: library.clone() }
    }

    /// Whether nothing was registered, not even in vain.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty() && self.kernels.is_empty() && self.unused.is_empty() && self.failure.is_none()
    }

    /// Registers all of it, or nothing. Kernels for ops that are not there wait for their ops, as in TensorFlow.
    ///
    /// # Errors
    /// The first failure while it was collected; ALREADY_EXISTS for an op or a kernel that is there already; and what else a
    /// registry refuses.
    pub fn commit(self, registry: &Arc<Registry>) -> Result<Registered> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let Batch { ops, kernels, mut unused, library, .. } = self;
        let is_there = |op: &str| ops.iter().any(|new| new.def.name == op) || registry.find_op(op).is_some();
        let (usable, waiting): (Vec<_>, Vec<_>) = kernels.iter().copied().partition(|kernel| is_there(kernel.op));
        let shape_functions: Vec<_> = ops.iter().map(|op| op.shape_function).collect();
        let ops = ops.into_iter().map(|op| (op.def, op.shape_function.map(|_| infer_by_library as _))).collect();
        let ops = registry.register_library(library.origin(), ops, &usable, |entries| {
            let mut shapes = SHAPES.write().unwrap_or_else(PoisonError::into_inner);
            for (entry, function) in entries.iter().zip(shape_functions) {
                shapes.extend(function.map(|function| (key(entry.def), (function, library.clone()))));
            }
        })?;
        unused.extend(waiting.iter().map(|kernel| format!("{kernel}: there is no such op so far")));
        if !waiting.is_empty() {
            let waiting = waiting.into_iter().map(|kernel| (Arc::downgrade(registry), kernel));
            self::waiting().extend(waiting);
        }
        join_ops(registry);
        Ok(Registered { ops, kernels, unused, library })
    }
}

fn waiting() -> MutexGuard<'static, Vec<(Weak<Registry>, &'static KernelDef)>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers the kernels that wait for ops which the registry has, however these came.
pub(crate) fn join_ops(registry: &Arc<Registry>) {
    waiting().retain(|(of, kernel)| {
        let joins = std::ptr::eq(of.as_ptr(), Arc::as_ptr(registry)) && registry.find_op(kernel.op).is_some();
        // One that does not fit the op, or clashes with another kernel, may join once these have gone.
        !(joins && registry.register_kernel(kernel).is_ok()) && of.strong_count() > 0
    });
}

/// What a library has in the registry.
pub struct Registered {
    /// Its ops.
    pub ops: Vec<&'static OpEntry>,
    /// Its kernels, with those that wait for their op.
    pub kernels: Vec<&'static KernelDef>,
    /// Its kernels that no node could get when it was loaded, each with the reason.
    pub unused: Vec<String>,
    /// Counts what of it exists.
    pub library: Arc<LibraryInUse>,
}

impl Registered {
    /// Takes all of it out of the registry, if that is still there.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if an op of it has another's kernel; nothing has changed then.
    pub fn withdraw(&self, registry: Option<&Registry>) -> Result<()> {
        // First those that wait, so that none of them joins meanwhile.
        let is_own = |kernel: &KernelDef| self.kernels.iter().any(|own| std::ptr::eq(*own, kernel));
        let own: Vec<_> = waiting().extract_if(.., |(_, kernel)| is_own(kernel)).collect();
        let withdrawn = registry.map_or(Ok(()), |registry| registry.unregister_library(&self.ops, &self.kernels));
        if let Err(error) = withdrawn {
            waiting().extend(own);
            return Err(error);
        }
        let mut shapes = SHAPES.write().unwrap_or_else(PoisonError::into_inner);
        for entry in &self.ops {
            shapes.remove(&key(entry.def));
        }
        Ok(())
    }
}

fn key(op: &OpDef) -> usize {
    std::ptr::from_ref(op).addr()
}

/// The shape function of every op from a library.
fn infer_by_library(c: &mut InferenceContext<'_>) -> Result<()> {
    let found = SHAPES.read().unwrap_or_else(PoisonError::into_inner).get(&key(c.op())).cloned();
    match found {
        Some((function, library)) => {
            let _entered = library.enter()?;
            infer(function, c)
        }
        None => Err(Error::failed_precondition(format!("the library of op {} was unloaded", c.op().name))),
    }
}

/// Adds to the batch of the library that is being loaded, or registers at once, unless the code at one of the addresses is a
/// library's. Nothing is borrowed meanwhile: what a registry asks about a registration may register something itself.
#[track_caller]
fn take(code: &[usize], add: impl FnOnce(&mut Batch)) -> Result<()> {
    let batch = if IS_LOADING.get() { LOADING.take() } else { None };
    let Some(mut batch) = batch else {
        if let Some(library) = owner_of(code) {
            return Err(Error::failed_precondition(format!(
                "the library {} registers on another thread than the one that loads it, or after it was loaded: it could not be \
                 unloaded any more. A library registers in its constructor, before that returns",
                library.origin()
            )));
        }
        let mut alone = Batch::new(&LibraryInUse::new(THIS_PROGRAM));
        add(&mut alone);
        return alone.commit(&target()?).map(drop);
    };
    // One that panics fails the library, whose batch stays.
    let added = catch_panic("the registration", || {
        add(&mut batch);
        Ok(())
    });
    if let Err(error) = &added {
        batch.failure.get_or_insert_with(|| error.clone());
    }
    LOADING.set(Some(batch));
    added
}

/// Takes the declaration of an op.
pub(super) fn take_op(op: PendingOp) -> Result<()> {
    let code = op.shape_function.map(|function| function as usize);
    take(code.as_slice(), |batch| batch.ops.push(op))
}

/// Takes a kernel, whose functions are at these addresses. It is made once it is known what it is a part of.
pub(super) fn take_kernel(code: &[usize], make: impl FnOnce(&Arc<LibraryInUse>) -> &'static KernelDef) -> Result<()> {
    take(code, |batch| {
        let kernel = make(&batch.library);
        batch.kernels.push(kernel);
    })
}

/// Kernels that were refused outside a load, by what was said of them.
static REFUSED: Mutex<BTreeMap<String, &'static KernelDef>> = Mutex::new(BTreeMap::new());

/// [`take_kernel`] for a kernel of which `told` says all. Outside a load, a kernel that was refused is kept for the next that is told
/// to be the same: a kernel stays in memory once it is made, and a program may try as often as it likes.
pub(super) fn take_told_kernel(
    code: &[usize],
    told: String,
    make: impl FnOnce(&Arc<LibraryInUse>) -> &'static KernelDef,
) -> Result<()> {
    if is_loading() {
        return take_kernel(code, make);
    }
    let refused = || REFUSED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut kernel = refused().remove(&told);
    let taken = take_kernel(code, |library| *kernel.get_or_insert_with(|| make(library)));
    if let (Err(_), Some(kernel)) = (&taken, kernel) {
        refused().insert(told, kernel);
    }
    taken
}

/// Takes note of a kernel that no node can get, and why.
pub(super) fn take_unused(code: &[usize], kernel: String) -> Result<()> {
    take(code, |batch| batch.unused.push(kernel))
}

/// Notes a registration that failed before it got here.
pub(super) fn failed(error: &Error) {
    if !IS_LOADING.get() {
        return;
    }
    LOADING.with_borrow_mut(|loading| {
        if let Some(batch) = loading {
            batch.failure.get_or_insert_with(|| error.clone());
        }
    });
}

#[track_caller]
fn target() -> Result<Arc<Registry>> {
    match TARGET.get() {
        Some(registry) => registry(),
        None => Err(Error::failed_precondition(
            "no library is being loaded on this thread, and the program has named no registry: a library registers in its \
             constructor, when Kernlink loads it",
        )),
    }
}

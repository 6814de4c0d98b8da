//! Where registrations go: into the batch of a library that is being loaded, or straight into the program's registry.
//!
//! The constructors of a library run on the thread that loads it, so that a batch belongs to a thread.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use kernlink_framework::collect::OpEntry;
use kernlink_framework::kernel::KernelDef;
use kernlink_framework::op::OpDef;
use kernlink_framework::registry::Registry;
use kernlink_framework::shape_inference::InferenceContext;
use kernlink_framework::{Error, Result};

use super::shape::infer;
use crate::abi::ShapeFunction;

/// An op that a library declares.
pub struct PendingOp {
    pub(super) def: OpDef,
    pub(super) shape_function: Option<ShapeFunction>,
}

/// What a library registered while it was loaded.
#[derive(Default)]
pub struct Batch {
    ops: Vec<PendingOp>,
    kernels: Vec<&'static KernelDef>,
    /// The first registration that failed: with it the library fails.
    failure: Option<Error>,
    /// Held by each kernel of the library that exists.
    library: Arc<LibraryInUse>,
}

/// Is shared by all that has pointers into a library: as long as it is shared, the library must stay.
#[derive(Debug, Default)]
pub struct LibraryInUse(());

thread_local! {
    static LOADING: RefCell<Option<Batch>> = const { RefCell::new(None) };
}

/// The registry of a program that registers without loading, as one that is linked to `libtensorflow` and calls
/// `TF_RegisterKernelBuilder` itself.
static TARGET: OnceLock<Arc<Registry>> = OnceLock::new();

/// The shape functions of ops from libraries, by the addresses of their declarations, which stay.
static SHAPES: RwLock<BTreeMap<usize, ShapeFunction>> = RwLock::new(BTreeMap::new());

/// Says where registrations go that no load waits for. The first call counts.
pub fn register_into(registry: &Arc<Registry>) {
    let _ = TARGET.set(registry.clone());
}

/// Collects what `load` registers on this thread.
pub fn collect<R>(load: impl FnOnce() -> R) -> (R, Batch) {
    let before = LOADING.replace(Some(Batch::default()));
    let result = load();
    (result, LOADING.replace(before).unwrap_or_default())
}

impl Batch {
    /// Registers all of it, or nothing.
    ///
    /// # Errors
    /// The first failure while it was collected; ALREADY_EXISTS for an op or a kernel that is there already; and what else a
    /// registry refuses.
    pub fn commit(self, registry: &Registry) -> Result<Registered> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let shape_functions: Vec<_> = self.ops.iter().map(|op| op.shape_function).collect();
        let ops = self.ops.into_iter().map(|op| (op.def, op.shape_function.map(|_| infer_by_library as _))).collect();
        let ops = registry.register_library(ops, &self.kernels, |entries| {
            let mut shapes = SHAPES.write().unwrap_or_else(PoisonError::into_inner);
            for (entry, function) in entries.iter().zip(shape_functions) {
                shapes.extend(function.map(|function| (key(entry.def), function)));
            }
        })?;
        Ok(Registered { ops, kernels: self.kernels, library: self.library })
    }
}

/// What a library has in the registry.
pub struct Registered {
    /// Its ops.
    pub ops: Vec<&'static OpEntry>,
    /// Its kernels.
    pub kernels: Vec<&'static KernelDef>,
    /// Shared as long as one of its kernels exists.
    pub library: Arc<LibraryInUse>,
}

/// Forgets the shape functions of ops whose library goes.
pub fn forget_shape_functions(ops: &[&'static OpEntry]) {
    let mut shapes = SHAPES.write().unwrap_or_else(PoisonError::into_inner);
    for entry in ops {
        shapes.remove(&key(entry.def));
    }
}

fn key(op: &OpDef) -> usize {
    std::ptr::from_ref(op).addr()
}

/// The shape function of every op from a library.
fn infer_by_library(c: &mut InferenceContext<'_>) -> Result<()> {
    let found = SHAPES.read().unwrap_or_else(PoisonError::into_inner).get(&key(c.op())).copied();
    match found {
        Some(function) => infer(function, c),
        None => Err(Error::failed_precondition(format!("the library of op {} was unloaded", c.op().name))),
    }
}

/// Adds to the batch of the library that is being loaded, or registers at once. Nothing is borrowed meanwhile: what a registry
/// asks about a registration may register something itself.
fn take(add: impl FnOnce(&mut Batch)) -> Result<()> {
    let Some(mut batch) = LOADING.take() else {
        let mut alone = Batch::default();
        add(&mut alone);
        return alone.commit(target()?).map(drop);
    };
    add(&mut batch);
    LOADING.set(Some(batch));
    Ok(())
}

/// Takes the declaration of an op.
pub(super) fn take_op(op: PendingOp) -> Result<()> {
    take(|batch| batch.ops.push(op))
}

/// Takes a kernel, which is made once it is known what it is a part of.
pub(super) fn take_kernel(make: impl FnOnce(Arc<LibraryInUse>) -> &'static KernelDef) -> Result<()> {
    take(|batch| batch.kernels.push(make(batch.library.clone())))
}

/// Notes a registration that failed before it got here.
pub(super) fn failed(error: &Error) {
    LOADING.with_borrow_mut(|loading| {
        if let Some(batch) = loading {
            batch.failure.get_or_insert_with(|| error.clone());
        }
    });
}

#[track_caller]
fn target() -> Result<&'static Registry> {
    TARGET.get().map(|registry| &**registry).ok_or_else(|| {
        Error::failed_precondition(
            "nothing is being loaded, and the program has named no registry: load the library by `load_op_library`",
        )
    })
}

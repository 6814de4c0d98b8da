//! The functions that a host calls for every kernel of the library: which it is, the node says.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kernlink_framework::attr::AttrMap;
use kernlink_framework::collect::linked_ops;
use kernlink_framework::error::catch_panic;
use kernlink_framework::kernel::KernelDef;
use kernlink_framework::op::OpDef;
use kernlink_framework::proto::{Message as _, NodeDef, attr_from_proto};
use kernlink_framework::registry::Registry;
use kernlink_framework::runtime::{Computed, EagerContext, NodeKernel};
use kernlink_framework::{Error, Result};

use super::functions::{Host, host};
use super::status::Status;
use super::tensor::{input, set_output};
use crate::abi::{TF_AsyncOpKernelDoneCallback, TF_OpKernelConstruction, TF_OpKernelContext};

/// The kernels of the crates that this library is made of.
static KERNELS: Mutex<Vec<&'static KernelDef>> = Mutex::new(Vec::new());

/// Adds kernels that were offered to the host.
pub(super) fn add(kernels: Vec<&'static KernelDef>) {
    KERNELS.lock().unwrap_or_else(PoisonError::into_inner).extend(kernels);
}

/// What the library's kernels run in: threads and resources of its own, and a registry of its own kernels alone.
fn context() -> Result<&'static EagerContext> {
    static CONTEXT: OnceLock<EagerContext> = OnceLock::new();
    if let Some(context) = CONTEXT.get() {
        return Ok(context);
    }
    stay_loaded();
    let kernels = KERNELS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    // What fails once, as for want of threads, may succeed later.
    let context = EagerContext::new(&Arc::new(Registry::new(linked_ops(), kernels)?))?;
    Ok(CONTEXT.get_or_init(|| context))
}

/// Keeps the library's code in the process for good: threads of the context run it, and none tells when it has left.
fn stay_loaded() {
    // SAFETY: zeros are null pointers.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    let address = (stay_loaded as *const ()).cast();
    // SAFETY: the address is within this library, whose name is the loader's; nothing is loaded that is not loaded already.
    unsafe {
        if libc::dladdr(address, &raw mut info) != 0 && !info.dli_fname.is_null() {
            libc::dlopen(info.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE);
        }
    }
}

/// Makes the kernel of a node; null if it fails.
pub(super) unsafe extern "C" fn create(ctx: *mut TF_OpKernelConstruction) -> *mut c_void {
    let Some(host) = host() else { return ptr::null_mut() };
    // SAFETY: the host calls with a context that lives as long as the call.
    match catch_panic("the kernel's construction", || unsafe { make(host, ctx) }) {
        Ok(kernel) => Arc::into_raw(Arc::new(kernel)).cast_mut().cast(),
        Err(error) => {
            let status = Status::new(host);
            // SAFETY: as above.
            unsafe { (host.TF_OpKernelConstruction_Failure)(ctx, status.with(&error)) };
            ptr::null_mut()
        }
    }
}

/// # Safety
/// `ctx` is a context of the host's.
unsafe fn make(host: &'static Host, ctx: *mut TF_OpKernelConstruction) -> Result<NodeKernel> {
    let context = context()?;
    // SAFETY: as the caller says.
    let (node, attrs) = unsafe { node(host, ctx, |op| context.registry().op(op).map(|entry| entry.def)) }?;
    NodeKernel::new(context, &node.name, &node.op, attrs)
}

/// The node for which a kernel is made, and its attrs.
///
/// # Safety
/// `ctx` is a context of the host's.
///
/// # Errors
/// Those of the host and of `op_of`.
pub(super) unsafe fn node(
    host: &'static Host,
    ctx: *mut TF_OpKernelConstruction,
    op_of: impl FnOnce(&str) -> Result<&'static OpDef>,
) -> Result<(NodeDef, AttrMap)> {
    let status = Status::new(host);
    // SAFETY: as the caller says.
    let buffer = status.check(|status| unsafe { (host.TF_OpKernelConstruction_GetNodeDef)(ctx, status) })?;
    // SAFETY: the host gave the buffer, which is deleted once, after its bytes were read.
    let node = unsafe {
        let decoded = match (*buffer).length {
            0 => NodeDef::decode(&[][..]),
            length => NodeDef::decode(std::slice::from_raw_parts((*buffer).data.cast::<u8>(), length)),
        };
        (host.TF_DeleteBuffer)(buffer);
        decoded
    };
    let node = node.map_err(|error| Error::internal(format!("the host's NodeDef cannot be read: {error}")))?;
    let op = op_of(&node.op)?;
    let mut attrs = AttrMap::new();
    for (name, value) in &node.attr {
        // Of the runtime's own attrs only those that a kernel may ask for can be read.
        match attr_from_proto(value) {
            Ok(value) => drop(attrs.insert(name, value)),
            Err(error) if op.attr(name).is_some() => return Err(error.context(format!("attr `{name}`"))),
            Err(_) => {}
        }
    }
    Ok((node, attrs))
}

/// Deletes what [`create`] made.
pub(super) unsafe extern "C" fn delete(kernel: *mut c_void) {
    if !kernel.is_null() {
        // SAFETY: the pointer came from `Arc::into_raw`, and is deleted once.
        let kernel = unsafe { Arc::from_raw(kernel.cast_const().cast::<NodeKernel>()) };
        // A panic of what is dropped has no way to be told.
        let _ = catch_panic("the kernel's end", || {
            drop(kernel);
            Ok(())
        });
    }
}

/// # Safety
/// The pointer is null, or came from [`create`] and is not deleted meanwhile.
unsafe fn kernel<'a>(kernel: *mut c_void) -> Result<&'a NodeKernel> {
    // SAFETY: as the caller says.
    unsafe { kernel.cast_const().cast::<NodeKernel>().as_ref() }
        .ok_or_else(|| Error::internal("a kernel that could not be made is called"))
}

/// One call of a kernel.
#[derive(Clone, Copy)]
struct Call {
    host: &'static Host,
    ctx: *mut TF_OpKernelContext,
}

// SAFETY: a kernel that calls back may use its context on any thread until then.
unsafe impl Send for Call {}

impl Call {
    /// The inputs, which stay the host's.
    fn inputs(self, kernel: &NodeKernel, status: &Status) -> Result<Computed> {
        let expected = kernel.signature().inputs.iter().enumerate();
        // SAFETY: the context lives until the call has ended.
        expected
            .map(|(index, slot)| unsafe { input(self.host, status, self.ctx, index, slot.dtype).map(Some) })
            .collect()
    }

    /// Hands the outputs over.
    fn finish(self, status: &Status, outputs: Computed) -> Result<()> {
        let outputs = outputs.into_iter().flatten().enumerate();
        for (index, output) in outputs {
            // SAFETY: as above.
            unsafe { set_output(self.host, status, self.ctx, index, output) }?;
        }
        Ok(())
    }

    fn fail(self, status: &Status, error: &Error) {
        // SAFETY: as above.
        unsafe { (self.host.TF_OpKernelContext_Failure)(self.ctx, status.with(error)) };
    }
}

/// Runs the kernel.
pub(super) unsafe extern "C" fn compute(made: *mut c_void, ctx: *mut TF_OpKernelContext) {
    let Some(host) = host() else { return };
    let (call, status) = (Call { host, ctx }, Status::new(host));
    let computed = catch_panic("the kernel's call", || {
        // SAFETY: the host calls with what `create` made.
        let kernel = unsafe { kernel(made) }?;
        let mut inputs = call.inputs(kernel, &status)?;
        call.finish(&status, kernel.compute(&mut inputs)?)
    });
    if let Err(error) = computed {
        call.fail(&status, &error);
    }
}

/// Has the host go on after a call, once.
struct Done {
    host: &'static Host,
    done: *mut TF_AsyncOpKernelDoneCallback,
}

// SAFETY: the callback may be used on any thread.
unsafe impl Send for Done {}

impl Drop for Done {
    fn drop(&mut self) {
        // SAFETY: the host's own, used once.
        unsafe { (self.host.TF_RunAsyncOpKernelDoneCallback)(self.done) };
    }
}

/// Begins to run the kernel, which may wait.
pub(super) unsafe extern "C" fn compute_async(
    made: *mut c_void,
    ctx: *mut TF_OpKernelContext,
    done: *mut TF_AsyncOpKernelDoneCallback,
) {
    let Some(host) = host() else { return };
    let (call, done) = (Call { host, ctx }, Done { host, done });
    let begun = catch_panic("the kernel's call", || {
        // SAFETY: the host calls with what `create` made; the kernel is shared below.
        let kernel = unsafe { kernel(made) }?;
        let inputs = call.inputs(kernel, &Status::new(host))?;
        // SAFETY: the pointer came from `Arc::into_raw`, and its owner keeps it during the call.
        let kernel = unsafe {
            Arc::increment_strong_count(ptr::from_ref(kernel));
            Arc::from_raw(ptr::from_ref(kernel))
        };
        Ok((kernel, inputs))
    });
    let finish = move |computed: Result<Computed>| {
        // Dropped last, as the context goes with it.
        let done = done;
        let status = Status::new(host);
        let finished =
            computed.and_then(|outputs| catch_panic("the kernel's outputs", || call.finish(&status, outputs)));
        if let Err(error) = finished {
            call.fail(&status, &error);
        }
        drop(status);
        drop(done);
    };
    match begun {
        Ok((kernel, inputs)) if kernel.is_async() => {
            // If it panics before it has begun, `finish` goes, and calls back.
            let _ = catch_panic("the kernel's start", || {
                kernel.start(inputs, finish);
                Ok(())
            });
        }
        Ok((kernel, mut inputs)) => {
            let computed = catch_panic("the kernel's call", || kernel.compute(&mut inputs));
            drop(inputs);
            finish(computed);
        }
        Err(error) => finish(Err(error)),
    }
}

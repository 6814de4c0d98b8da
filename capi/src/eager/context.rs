//! `TFE_Context`: where ops run at once, with the functions that they can call.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::slice;
use std::sync::Arc;
use std::time::SystemTime;

use kernlink::device::DeviceName;
use kernlink::proto::{FunctionDef, Message as _};
use kernlink::runtime::EagerContext;
use kernlink::{Error, Result};
use kernlink_library::host::{fill, guarded, report, text};

use super::policy::Identity;
use crate::abi::{TF_Buffer, TF_DeviceList, TF_Function, TF_Status, TFE_Context, TFE_ContextOptions};
use crate::pointer::{borrow, bytes, c_text, opaque, release, share_with_c};
use crate::program::registry;
use crate::session::{full_name, list_of, metadata_of};

opaque! {
    TFE_Context => CContext, "context";
}

/// What is behind a `TFE_Context`. Its maker and its ops have it in common.
pub(crate) struct CContext {
    pub(super) eager: EagerContext,
    /// Those of the eager context, in the same order.
    devices: Vec<NamedDevice>,
    is_soft: bool,
    pub(super) policy: c_int,
    /// What threads that have set a policy of their own know the context by.
    pub(super) identity: Arc<Identity>,
}

/// A device by its names.
struct NamedDevice {
    parsed: DeviceName,
    full: Arc<CStr>,
}

impl CContext {
    /// A context with these options.
    ///
    /// # Safety
    /// As said in `pointer`.
    unsafe fn new(options: *const TFE_ContextOptions) -> Result<CContext> {
        // SAFETY: as the caller says.
        let options = unsafe { borrow(options) }?;
        let eager = EagerContext::on(&registry()?, options.devices()?)?;
        let named = |name: String| -> Result<NamedDevice> {
            Ok(NamedDevice { parsed: DeviceName::parse(&name)?, full: c_text(&name).into() })
        };
        let devices = eager.devices().iter().map(|device| named(full_name(device.name()))).collect::<Result<_>>()?;
        Ok(CContext { eager, devices, is_soft: options.is_soft(), policy: options.policy, identity: Arc::default() })
    }

    /// The position of the first device that a name matches.
    pub(super) fn device(&self, name: &DeviceName) -> Option<usize> {
        self.devices.iter().position(|device| name.matches(&device.parsed))
    }

    /// The position of the device that an op runs on which asks for this one.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such device, and the context is strict.
    pub(super) fn placed(&self, name: &DeviceName) -> Result<usize> {
        match self.device(name) {
            Some(device) => Ok(device),
            None if self.is_soft => Ok(0),
            None => {
                let known: Vec<_> = self.devices.iter().map(|device| device.parsed.to_string()).collect();
                Err(Error::invalid_argument(format!(
                    "Could not satisfy device specification '{name}'. enable_soft_placement=0. All available devices [{}].",
                    known.join(", ")
                )))
            }
        }
    }

    /// The full name of a device.
    pub(super) fn device_name(&self, position: usize) -> &Arc<CStr> {
        &self.devices[position].full
    }

    /// Adds a function, unless it is there.
    fn add(&self, function: &FunctionDef) -> Result<()> {
        self.eager.add_functions(slice::from_ref(function))
    }
}

/// Makes a context; null on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_NewContext(opts: *const TFE_ContextOptions, status: *mut TF_Status) -> *mut TFE_Context {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null_mut(), || Ok(share_with_c(Arc::new(CContext::new(opts)?)))) }
}

/// Gives up a context. Its ops keep it alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_DeleteContext(ctx: *mut TFE_Context) {
    // SAFETY: as said in `pointer`.
    unsafe { release(ctx) };
}

/// The devices of a context, for the caller to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_ContextListDevices(ctx: *mut TFE_Context, status: *mut TF_Status) -> *mut TF_DeviceList {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null_mut(), || Ok(list_of(borrow(ctx)?.eager.devices()))) }
}

/// Adds a serialized FunctionDef.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_ContextAddFunctionDef(
    ctx: *mut TFE_Context,
    serialized_function_def: *const c_char,
    size: usize,
    status: *mut TF_Status,
) {
    let add = || {
        // SAFETY: as said in `pointer`.
        let (context, def) = unsafe { (borrow(ctx)?, bytes("the function", serialized_function_def, size)?) };
        let def = FunctionDef::decode(def);
        context.add(&def.map_err(|_| Error::invalid_argument("Invalid FunctionDef proto"))?)
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), add) };
}

/// Adds a function, which stays the caller's, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_ContextAddFunction(
    ctx: *mut TFE_Context,
    function: *mut TF_Function,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), || borrow(ctx)?.add(&borrow(function)?.def)) };
}

/// Removes a function. Calls of it that run go on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_ContextRemoveFunction(ctx: *mut TFE_Context, name: *const c_char, status: *mut TF_Status) {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), || borrow(ctx)?.eager.remove_function(text("the function's name", name)?)) };
}

/// Whether there is a function of this name: 1 or 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_ContextHasFunction(ctx: *mut TFE_Context, name: *const c_char) -> u8 {
    guarded(0, || {
        // SAFETY: as said in `pointer`.
        match unsafe { (borrow(ctx), text("the function's name", name)) } {
            (Ok(context), Ok(name)) => context.eager.function_library().has_function(name).into(),
            _ => 0,
        }
    })
}

/// What a context does that cannot fail.
macro_rules! deeds {
    ($($(#[$doc:meta])* $name:ident = $deed:expr;)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(ctx: *mut TFE_Context) {
                let deed: fn(&EagerContext) = $deed;
                // SAFETY: as said in `pointer`.
                guarded((), || unsafe { borrow(ctx) }.map_or((), |context| deed(&context.eager)));
            }
        )*
    };
}
deeds! {
    /// Drops all kernels, and with them the state of ops that have one: random numbers begin anew.
    TFE_ContextClearCaches = EagerContext::clear_kernels;
    /// Collects statistics of every op from now on.
    TFE_ContextEnableRunMetadata = EagerContext::enable_run_metadata;
    /// Collects no more statistics, and drops those that were not exported.
    TFE_ContextDisableRunMetadata = EagerContext::disable_run_metadata;
    /// Begins a step: what goes with a step and is known by a name, such as the arrays of `TensorArrayV2`, stays until all steps
    /// have ended. Arrays and stacks that handles own go with the handles.
    TFE_ContextStartStep = EagerContext::begin_step;
    /// Ends a step.
    TFE_ContextEndStep = EagerContext::end_step;
}

/// Fills an empty buffer with the statistics that were collected, as a serialized RunMetadata, and begins anew.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_ContextExportRunMetadata(
    ctx: *mut TFE_Context,
    buf: *mut TF_Buffer,
    status: *mut TF_Status,
) {
    let export = || {
        // SAFETY: as said in `pointer`.
        let context = unsafe { borrow(ctx) }?;
        // SAFETY: as said in `pointer`.
        if unsafe { buf.as_ref() }.is_some_and(|buffer| !buffer.data.is_null()) {
            return Err(Error::invalid_argument("Passing non-empty run_metadata is invalid."));
        }
        let metadata = context.eager.export_run_metadata();
        let begin = SystemTime::now().checked_sub(metadata.time).unwrap_or(SystemTime::UNIX_EPOCH);
        // SAFETY: as said in `pointer`.
        unsafe { fill(buf, metadata_of(begin, Some(&metadata.step_stats), None)) }
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), export) };
}

//! `TFE_ContextOptions`: where and how ops run.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;

use kernlink::device::Device;
use kernlink::{Error, Result};
use kernlink_library::host::{guarded, report};

use super::policy::SILENT;
use crate::abi::{TF_Status, TFE_ContextDevicePlacementPolicy, TFE_ContextOptions};
use crate::pointer::{borrow_mut, bytes, free, into_c, opaque};
use crate::session::ConfigProto;

opaque! {
    TFE_ContextOptions => Options, "context options";
}

/// What is behind a `TFE_ContextOptions`.
pub(crate) struct Options {
    config: ConfigProto,
    pub(super) policy: c_int,
}

impl Options {
    /// The devices of a context.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there are to be too many, or too many threads.
    pub(super) fn devices(&self) -> Result<Vec<Arc<dyn Device>>> {
        /// As many as a context can have.
        const MOST: usize = 255;
        let first = self.config.cpu_device()?;
        let count = self.config.cpu_devices().max(1);
        if count > MOST {
            return Err(Error::invalid_argument(format!("{count} CPU devices are more than {MOST}")));
        }
        let others: Vec<_> = (1..count).map(|number| first.sibling(number)).collect();
        Ok(std::iter::once(first).chain(others).map(|device| Arc::new(device) as Arc<dyn Device>).collect())
    }

    /// Whether an op that asks for a device that is not there runs on the first one.
    pub(super) fn is_soft(&self) -> bool {
        self.config.allow_soft_placement
    }
}

/// Options: one CPU device, and copies between devices without a warning.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_NewContextOptions() -> *mut TFE_ContextOptions {
    guarded(ptr::null_mut(), || into_c(Options { config: ConfigProto::default(), policy: SILENT }))
}

/// Sets what a serialized ConfigProto says of devices, threads and placement.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_ContextOptionsSetConfig(
    options: *mut TFE_ContextOptions,
    proto: *const c_void,
    proto_len: usize,
    status: *mut TF_Status,
) {
    let set = || {
        // SAFETY: as said in `pointer`.
        let (options, proto) = unsafe { (borrow_mut(options)?, bytes("the config", proto.cast(), proto_len)?) };
        options.config = ConfigProto::parse(proto)?;
        Ok(())
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), set) };
}

/// Lets ops end after the calls that run them, if they like. Kernlink's do not: what is promised of asynchronous contexts
/// holds, and errors come earlier than they must.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_ContextOptionsSetAsync(_options: *mut TFE_ContextOptions, _enable: u8) {}

/// Sets what happens to inputs on other devices than the op's, where a thread does not say otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_ContextOptionsSetDevicePlacementPolicy(
    options: *mut TFE_ContextOptions,
    policy: TFE_ContextDevicePlacementPolicy,
) {
    // SAFETY: as said in `pointer`.
    if let Ok(options) = unsafe { borrow_mut(options) } {
        options.policy = policy;
    }
}

/// Frees options. Contexts that were made with them keep theirs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_DeleteContextOptions(options: *mut TFE_ContextOptions) {
    // SAFETY: as said in `pointer`.
    unsafe { free(options) };
}

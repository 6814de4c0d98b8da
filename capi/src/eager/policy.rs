//! What happens to inputs that are on another device than the op. What ops give is in the host's memory, where all devices of a
//! context are: there is nothing to copy, and the policies are only kept and told.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_int;

use kernlink_library::host::guarded;

use crate::abi::{TFE_Context, TFE_ContextDevicePlacementPolicy};
use crate::pointer::borrow;

/// `TFE_DEVICE_PLACEMENT_SILENT`: they are copied.
pub(super) const SILENT: c_int = 2;

thread_local! {
    /// What the thread has said, by the numbers of contexts.
    static SAID: RefCell<HashMap<u64, c_int>> = RefCell::default();
}

/// Sets the policy of this thread in a context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_ContextSetThreadLocalDevicePlacementPolicy(
    ctx: *mut TFE_Context,
    policy: TFE_ContextDevicePlacementPolicy,
) {
    guarded((), || {
        // SAFETY: as said in `pointer`.
        if let Ok(context) = unsafe { borrow(ctx) } {
            SAID.with_borrow_mut(|said| said.insert(context.number, policy));
        }
    });
}

/// The policy of this thread in a context, or else the context's; that of new options for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_ContextGetDevicePlacementPolicy(
    ctx: *mut TFE_Context,
) -> TFE_ContextDevicePlacementPolicy {
    guarded(SILENT, || {
        // SAFETY: as said in `pointer`.
        let Ok(context) = (unsafe { borrow(ctx) }) else { return SILENT };
        SAID.with_borrow(|said| said.get(&context.number).copied()).unwrap_or(context.policy)
    })
}

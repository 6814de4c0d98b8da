//! Work that a step waits for at its end. It is counted by step, so that one call may begin it and another end it.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use kernlink_framework::step::DeferredOp;

use super::context::ask;
use crate::abi::TF_OpKernelContext;

/// What steps wait for, by their numbers.
static DEFERRED: LazyLock<Mutex<HashMap<i64, Vec<DeferredOp>>>> = LazyLock::new(Mutex::default);

/// Keeps the step from ending until [`TF_DecNumDeferredOps`] is called as often, by this call or another of the same step.
pub unsafe extern "C" fn TF_IncNumDeferredOps(ctx: *mut TF_OpKernelContext) {
    // SAFETY: as said in `host`.
    let begun = unsafe { ask(ctx, None, |call| Ok(Some((call.raw.step()?.id(), call.raw.defer()?)))) };
    if let Some((step, deferred)) = begun {
        DEFERRED.lock().unwrap_or_else(PoisonError::into_inner).entry(step).or_default().push(deferred);
    }
}

/// See [`TF_IncNumDeferredOps`].
pub unsafe extern "C" fn TF_DecNumDeferredOps(ctx: *mut TF_OpKernelContext) {
    // SAFETY: as said in `host`.
    let Some(step) = (unsafe { ask(ctx, None, |call| Ok(Some(call.raw.step()?.id()))) }) else { return };
    let ended = {
        let mut deferred = DEFERRED.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = deferred.get_mut(&step).and_then(Vec::pop);
        deferred.retain(|other, left| *other != step || !left.is_empty());
        ended
    };
    // The step may end with it, on this thread.
    drop(ended);
}

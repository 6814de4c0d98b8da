//! What happens to inputs that are on another device than the op. What ops give is in the host's memory, where all devices of a
//! context are: there is nothing to copy, and the policies are only kept and told.

use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::{Arc, Weak};

use kernlink_library::host::guarded;

use crate::abi::{TFE_Context, TFE_ContextDevicePlacementPolicy};
use crate::pointer::borrow;

/// `TFE_DEVICE_PLACEMENT_SILENT`: they are copied.
pub(super) const SILENT: c_int = 2;

/// Stands for a context. As long as somebody knows it, no other one has its address.
#[derive(Default)]
pub(super) struct Identity;

/// The policies that a thread has set, by contexts, in no order.
#[derive(Default)]
struct Policies {
    set: Vec<(Weak<Identity>, c_int)>,
    /// How many there may be before those of contexts that are gone are removed.
    enough: usize,
}

thread_local! {
    static OWN: RefCell<Policies> = RefCell::default();
}

impl Policies {
    fn of(&self, context: &Arc<Identity>) -> Option<c_int> {
        let found = self.set.iter().find(|(known, _)| known.as_ptr() == Arc::as_ptr(context));
        found.map(|(_, policy)| *policy)
    }

    fn set(&mut self, context: &Arc<Identity>, policy: c_int) {
        if let Some(known) = self.set.iter_mut().find(|(known, _)| known.as_ptr() == Arc::as_ptr(context)) {
            known.1 = policy;
            return;
        }
        if self.set.len() >= self.enough {
            self.set.retain(|(known, _)| known.strong_count() > 0);
            self.enough = 2 * self.set.len() + 16;
        }
        self.set.push((Arc::downgrade(context), policy));
    }
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
            OWN.with_borrow_mut(|own| own.set(&context.identity, policy));
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
        OWN.with_borrow(|own| own.of(&context.identity)).unwrap_or(context.policy)
    })
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn what_threads_set_goes_with_contexts_and_threads() {
        let kept = Arc::<Identity>::default();
        let (mut own, mut most) = (Policies::default(), 0);
        own.set(&kept, 1);
        for number in 0..10_000 {
            let context = Arc::<Identity>::default();
            assert_eq!(own.of(&context), None, "context {number} has what one before it had");
            own.set(&context, number);
            own.set(&context, number + 1);
            assert_eq!((own.of(&context), own.of(&kept)), (Some(number + 1), Some(1)));
            most = most.max(own.set.len());
        }
        assert!(most < 50, "{most} policies are kept");
        let context = Arc::<Identity>::default();
        for _ in 0..1_000 {
            let context = context.clone();
            thread::spawn(move || OWN.with_borrow_mut(|own| own.set(&context, 3))).join().unwrap();
        }
        // Whoever had it in mind is gone.
        assert_eq!(Arc::weak_count(&context), 0);
    }
}

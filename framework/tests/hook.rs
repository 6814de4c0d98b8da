//! The panic hook, which is the process's: a test alone in its program.

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kernlink_framework::error::watch_panics;
use kernlink_framework::registry::Registry;

#[test]
fn the_hook_of_a_program_is_its_own_until_it_has_panics_watched() {
    let told = Arc::new(AtomicUsize::new(0));
    let own = {
        let told = told.clone();
        Box::new(move |_: &panic::PanicHookInfo<'_>| _ = told.fetch_add(1, Ordering::SeqCst))
    };
    let place = &raw const *own as usize;
    panic::set_hook(own);
    // Whether the hook is that which was set; it stays.
    let is_own = || {
        let hook = panic::take_hook();
        let is_own = (&raw const *hook).cast::<()>() as usize == place;
        panic::set_hook(hook);
        is_own
    };
    Registry::new([], []).unwrap();
    assert!(is_own());

    watch_panics();
    assert!(!is_own());
    panic::catch_unwind(|| panic!("as asked")).unwrap_err();
    assert_eq!(told.load(Ordering::SeqCst), 1, "the hook before is called");
}

//! What all of a program's graphs, sessions and contexts share.

use std::sync::Arc;

use kernlink::Result;
use kernlink::registry::Registry;
use kernlink_library::host::registration::register_into;

/// The ops and kernels of the program, with those of the libraries that it loaded.
///
/// # Errors
/// As [`kernlink::registry`].
pub(crate) fn registry() -> Result<Arc<Registry>> {
    kernlink::registry()
}

/// Has what registers without being loaded register there. Called before every function that could.
pub(crate) fn takes_registrations() {
    register_into(registry);
}

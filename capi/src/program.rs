//! What all of a program's graphs, sessions and contexts share.

use std::sync::{Arc, OnceLock};

use kernlink::Result;
use kernlink::registry::Registry;

/// The ops and kernels of the program, with those of the libraries that it loaded. What registers without being loaded
/// registers there, too.
///
/// # Errors
/// As [`kernlink::registry`].
pub(crate) fn registry() -> Result<Arc<Registry>> {
    static IS_TARGET: OnceLock<()> = OnceLock::new();
    let registry = kernlink::registry()?;
    IS_TARGET.get_or_init(|| kernlink_library::host::registration::register_into(&registry));
    Ok(registry)
}

//! What one target is to try, of the several things that it may.

use std::sync::LazyLock;

/// The place in `kinds` of what the environment variable `KERNLINK_FUZZ_KIND` names; `None` if it is not set.
///
/// # Panics
/// If it names none of them.
pub fn kind(kinds: &[&str]) -> Option<usize> {
    static NAMED: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("KERNLINK_FUZZ_KIND").ok());
    let named = NAMED.as_deref()?;
    let place = kinds.iter().position(|&kind| kind == named);
    Some(place.unwrap_or_else(|| panic!("KERNLINK_FUZZ_KIND={named}: not one of {kinds:?}")))
}

//! What the crate has registered so far, so that the second of two that are the same can name the first.
//!
//! The compiler finds them, too, by impls that conflict; but the words of its error are those impls'.

use std::collections::BTreeMap;
use std::sync::Mutex;

use proc_macro2::Span;

use crate::provider;

/// Keys are made of words, of which the compiler may know that they mean different things: of `a::X`, `b::X` and `crate::b::X`,
/// written `X`, `X` and `crate::b::X`, the first two have one key and the last another. So the places that are returned
/// serve to number the registrations of a key, and to say where the other of two perhaps is; that there are two is the
/// compiler's to tell. It always does: an impl carries its number, so that two for one op are in conflict if they have the
/// same number, and otherwise the one with the higher number asks for all lower ones. Only where words of both kinds are
/// mixed the place that is told may be that of a namesake.
///
/// Adds a registration and returns where those before it stand that have the same key.
///
/// Outside of the compiler there are none: editors expand an item many times, in one process for many crates.
pub(crate) fn earlier(key: String, span: Span) -> Vec<String> {
    earlier_saying(key, "", span).into_iter().map(|(place, _)| place).collect()
}

/// The same, each with what its registration says.
pub(crate) fn earlier_saying(key: String, said: &'static str, span: Span) -> Vec<(String, &'static str)> {
    /// One process of the compiler expands the macros of one crate.
    static SEEN: Mutex<BTreeMap<String, Vec<(String, &'static str)>>> = Mutex::new(BTreeMap::new());
    if !proc_macro::is_available() || provider::root().is_none() {
        return Vec::new();
    }
    let span = span.unwrap();
    let place = format!("{}:{}", span.file(), span.line());
    let mut seen = SEEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let places = seen.entry(key).or_default();
    let earlier = places.clone();
    places.push((place, said));
    earlier
}

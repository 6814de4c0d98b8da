//! What is not offered to the host, told to the user by name.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What a library leaves out, by the reasons.
#[derive(Default)]
pub(super) struct Refusals(BTreeMap<(&'static str, String), Vec<String>>);

impl Refusals {
    /// Notes that something of a `kind`, in the plural, is left out.
    pub(super) fn add(&mut self, kind: &'static str, name: impl Into<String>, reason: impl Into<String>) {
        let names = self.0.entry((kind, reason.into())).or_default();
        let name = name.into();
        if !names.contains(&name) {
            names.push(name);
        }
    }

    /// One line for each reason; empty if nothing was left out.
    pub(super) fn text(&self, library: &str) -> String {
        let mut text = String::new();
        for ((kind, reason), names) in &self.0 {
            let _ = writeln!(text, "kernlink: library {library}: {kind} not offered: {}: {reason}", names.join(", "));
        }
        text
    }
}

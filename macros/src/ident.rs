//! Rust identifiers from TensorFlow's names.

use proc_macro2::Ident;
use quote::format_ident;

/// An identifier with exactly this name, raw if it is a keyword.
pub(crate) fn exact(name: &str) -> Ident {
    if syn::parse_str::<Ident>(name).is_ok() {
        format_ident!("{name}")
    } else if matches!(name, "self" | "Self" | "super" | "crate" | "_") {
        format_ident!("{name}_")
    } else {
        format_ident!("r#{name}")
    }
}

/// An identifier with this name, and a trailing `_` if it is a keyword or taken.
pub(crate) fn free(name: &str, taken: &[&str]) -> Ident {
    if taken.contains(&name) || syn::parse_str::<Ident>(name).is_err() {
        format_ident!("{name}_")
    } else {
        format_ident!("{name}")
    }
}

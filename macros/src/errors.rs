//! Errors that accumulate, so that one compilation shows all of them.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};

/// The errors met so far.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Adds an error at a span.
    pub(crate) fn at(&mut self, span: Span, message: impl std::fmt::Display) {
        self.push(syn::Error::new(span, message));
    }

    /// Adds an error on tokens.
    pub(crate) fn on(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            none => *none = Some(error),
        }
    }

    /// The value, or `None` with the error added.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Adds other errors.
    pub(crate) fn append(&mut self, others: Errors) {
        if let Some(errors) = others.0 {
            self.push(errors);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// A value of any type that cannot be evaluated, which tells the errors.
    pub(crate) fn value(self) -> TokenStream {
        let errors = self.0.map(|errors| errors.to_compile_error());
        quote!({ #errors ::core::unreachable!() })
    }

    /// The item as it was, and the errors.
    pub(crate) fn with(self, item: impl ToTokens) -> TokenStream {
        let errors = self.0.map(|errors| errors.to_compile_error());
        quote!(#item #errors)
    }
}

/// `unknown WHAT `word`: did you mean ...?` with all that is known.
pub(crate) fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let list = known.iter().map(|known| format!("`{known}`")).collect::<Vec<_>>().join(", ");
    match kernlink_spec::nearest(word, known.iter().copied()) {
        Some(near) => format!("unknown {what} `{word}`: did you mean `{near}`? Known are {list}"),
        None => format!("unknown {what} `{word}`: expected one of {list}"),
    }
}

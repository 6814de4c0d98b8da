//! Spans of tokens that are written for the user.

use proc_macro2::{Group, Span, TokenStream, TokenTree};

/// The tokens as if they stood elsewhere: an error in them is shown there.
pub(crate) fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    let respanned = tokens.into_iter().map(|mut token| {
        if let TokenTree::Group(group) = &token {
            token = Group::new(group.delimiter(), respan(group.stream(), span)).into();
        }
        token.set_span(span);
        token
    });
    respanned.collect()
}

/// The tokens as if they stood elsewhere, but written by the macro: an error that mentions them shows that place, and names
/// in them mean what they mean to the macro.
pub(crate) fn located(tokens: TokenStream, at: Span) -> TokenStream {
    respan(tokens, Span::call_site().located_at(at))
}

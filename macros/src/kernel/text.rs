//! Tokens as text.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident};

/// The tokens with values for some of their identifiers, as text.
pub(super) fn substituted(tokens: TokenStream, values: &[(String, String)]) -> String {
    compact(substitute(tokens, values))
}

fn substitute(tokens: TokenStream, values: &[(String, String)]) -> TokenStream {
    let replaced = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(ident) => match values.iter().find(|(name, _)| ident == name) {
            // Not all values are identifiers.
            Some((_, value)) => value.parse().unwrap_or_else(|_| format_ident!("_").into_token_stream()),
            None => ident.into_token_stream(),
        },
        TokenTree::Group(group) => {
            Group::new(group.delimiter(), substitute(group.stream(), values)).into_token_stream()
        }
        other => other.into_token_stream(),
    });
    replaced.collect()
}

/// Tokens as text, without the blanks that are not needed.
pub(super) fn compact(tokens: TokenStream) -> String {
    let text = tokens.to_string();
    let mut compact = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        if c != ' ' {
            compact.push(c);
        } else if compact.ends_with(',') || (compact.ends_with(word) && chars.peek().is_some_and(|&next| word(next))) {
            compact.push(' ');
        }
    }
    compact
}

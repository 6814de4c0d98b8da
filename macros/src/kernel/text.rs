//! Tokens as text.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};

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

/// `zero_out_on_gpu` for `path::ZeroOutOnGpu<T>`.
pub(super) fn snake(ty: &impl ToTokens) -> String {
    let text = compact(ty.to_token_stream());
    let path = text.split('<').next().unwrap_or_default();
    let name = path.rsplit("::").next().unwrap_or_default();
    let mut snake = String::new();
    for c in name.trim_start_matches("r#").chars() {
        if c.is_uppercase() && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

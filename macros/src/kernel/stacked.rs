//! Several `#[register_kernel]` on one item: those below the first one are for its ops, unless they list their own.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident, quote};
use syn::{Attribute, Item, Meta, Type};

use super::target::{OP, Target};
use crate::errors::Errors;

/// Hands the ops on to the attributes below, in the item as it is kept. In a template, each copy of which has its op as
/// [`OP`], they are for that one.
pub(super) fn hand_on_ops(target: &mut Target, ops: &[Type], errors: &mut Errors) {
    let Ok(mut item) = syn::parse2::<Item>(target.item.clone()) else { return };
    let attributes = match &mut item {
        Item::Impl(item) => &mut item.attrs,
        Item::Fn(item) => &mut item.attrs,
        Item::Type(item) => &mut item.attrs,
        Item::Struct(item) => &mut item.attrs,
        _ => return,
    };
    let op = match target.is_template {
        true => format_ident!("{OP}").into_token_stream(),
        false => quote!([#(#ops),*]),
    };
    let mut is_changed = false;
    for attribute in attributes {
        let Some(arguments) = arguments(attribute) else { continue };
        if !lists_ops(arguments) {
            let comma = (!ends_with_comma(arguments)).then(|| quote!(,));
            *arguments = quote!(#arguments #comma op = #op);
            is_changed = true;
        } else if target.is_template {
            let message = format!("`{OP}` stands for the ops of the first attribute: remove `op = ...` here");
            errors.on(attribute, message);
        }
    }
    if is_changed {
        target.item = item.into_token_stream();
    }
}

/// The arguments of another `#[register_kernel(...)]`.
fn arguments(attribute: &mut Attribute) -> Option<&mut TokenStream> {
    match &mut attribute.meta {
        Meta::List(list) if list.path.segments.last()?.ident == "register_kernel" => Some(&mut list.tokens),
        _ => None,
    }
}

fn lists_ops(arguments: &TokenStream) -> bool {
    let tokens = arguments.clone().into_iter().collect::<Vec<_>>();
    let is_op = |pair: &[TokenTree]| match pair {
        [TokenTree::Ident(ident), TokenTree::Punct(punct)] => ident == "op" && punct.as_char() == '=',
        _ => false,
    };
    tokens.windows(2).any(is_op)
}

fn ends_with_comma(arguments: &TokenStream) -> bool {
    matches!(arguments.clone().into_iter().last(), Some(TokenTree::Punct(punct)) if punct.as_char() == ',')
}

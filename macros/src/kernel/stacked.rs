//! Several `#[register_kernel]` on one item: those below the first one are for its ops, unless they list their own, and
//! their state is made as its.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident, quote};
use syn::{Attribute, Item, Meta};

use super::parse::KernelArgs;
use super::target::{OP, Target};
use crate::errors::Errors;

/// Hands ops and state on to the attributes below, in the item as it is kept. In a template, each copy of which has its op
/// as [`OP`], they are for that one.
pub(super) fn hand_on(target: &mut Target, args: &KernelArgs, errors: &mut Errors) {
    let ops = &args.ops;
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
        if let Some(state) = args.state.as_ref().filter(|_| !has(arguments, "state")) {
            add(arguments, &quote!(state = #state));
            is_changed = true;
        }
        if ops.is_empty() {
            continue;
        }
        if !has(arguments, "op") {
            add(arguments, &quote!(op = #op));
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

/// Whether an argument of this name is among them.
fn has(arguments: &TokenStream, name: &str) -> bool {
    let tokens = arguments.clone().into_iter().collect::<Vec<_>>();
    let is_named = |pair: &[TokenTree]| match pair {
        [TokenTree::Ident(ident), TokenTree::Punct(punct)] => ident == name && punct.as_char() == '=',
        _ => false,
    };
    tokens.windows(2).any(is_named)
}

fn add(arguments: &mut TokenStream, argument: &TokenStream) {
    let is_comma = |last: TokenTree| matches!(last, TokenTree::Punct(punct) if punct.as_char() == ',');
    let comma = (!arguments.clone().into_iter().last().is_some_and(is_comma)).then(|| quote!(,));
    *arguments = quote!(#arguments #comma #argument);
}

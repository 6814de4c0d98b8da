//! Several `#[register_kernel]` on one item: those below the first one are for its ops, unless they list their own, and
//! their state is made as its.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident, quote};
use syn::{Attribute, Item, Meta};

use super::parse::KernelArgs;
use super::target::{OP, Target};

/// Hands ops and state on to the attributes below, in the item as it is kept. In a template, each copy of which has its op
/// as [`OP`], they are for that one; those that list their own ops leave it, each with a template of its own, which is
/// returned.
pub(super) fn hand_on(target: &mut Target, args: &KernelArgs) -> Vec<TokenStream> {
    let ops = &args.ops;
    let Ok(mut item) = syn::parse2::<Item>(target.item.clone()) else { return Vec::new() };
    let Some(attributes) = attributes(&mut item) else { return Vec::new() };
    if let Some(state) = &args.state {
        add_to_all(attributes, "state", &quote!(#state));
    }
    let op = match target.is_template {
        true => format_ident!("{OP}").into_token_stream(),
        false => quote!([#(#ops),*]),
    };
    let leaves = |attribute: &mut Attribute| {
        target.is_template && arguments(attribute).is_some_and(|arguments| has(arguments, "op"))
    };
    let leaving = attributes.extract_if(.., |attribute| leaves(attribute)).collect::<Vec<_>>();
    if !ops.is_empty() {
        add_to_all(attributes, "op", &op);
    }
    target.item = item.to_token_stream();
    if let Some(attributes) = self::attributes(&mut item) {
        attributes.retain_mut(|attribute| arguments(attribute).is_none());
    }
    leaving.into_iter().map(|attribute| quote!(#attribute #item)).collect()
}

fn attributes(item: &mut Item) -> Option<&mut Vec<Attribute>> {
    match item {
        Item::Impl(item) => Some(&mut item.attrs),
        Item::Fn(item) => Some(&mut item.attrs),
        Item::Type(item) => Some(&mut item.attrs),
        Item::Struct(item) => Some(&mut item.attrs),
        _ => None,
    }
}

/// The arguments of another `#[register_kernel(...)]`.
pub(super) fn arguments(attribute: &mut Attribute) -> Option<&mut TokenStream> {
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

/// Adds an argument to the registrations that have none of this name.
fn add_to_all(attributes: &mut [Attribute], name: &str, value: &TokenStream) {
    let name_token = format_ident!("{name}");
    let is_comma = |last: TokenTree| matches!(last, TokenTree::Punct(punct) if punct.as_char() == ',');
    for arguments in attributes.iter_mut().filter_map(arguments).filter(|arguments| !has(arguments, name)) {
        let comma = (!arguments.clone().into_iter().last().is_some_and(is_comma)).then(|| quote!(,));
        *arguments = quote!(#arguments #comma #name_token = #value);
    }
}

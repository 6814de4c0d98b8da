//! `#[register_op]` on an enum: ops that share a declaration, each a variant.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::{Attribute, Fields, ItemEnum, ItemStruct, Meta, Token, Variant, parse_quote};

use super::parse::{Form, OpArgs};
use super::{Mistake, check, declare, stand_in};
use crate::errors::{Errors, unknown};

/// What a type may have and a family, which is none, may not.
const OF_TYPES: &[&str] = &["derive", "repr", "non_exhaustive"];

pub(super) fn register(args: TokenStream, item: &ItemEnum) -> TokenStream {
    let mut errors = Errors::default();
    let shared = OpArgs::parse(args, Form::Family, &mut errors);
    check_family(item, &mut errors);
    let mut members: Vec<(ItemStruct, OpArgs)> = Vec::new();
    for variant in &item.variants {
        let own = own_arguments(variant, &mut errors);
        let base = match &own.like {
            Some(like) => base(like, &members, &mut errors).unwrap_or(&shared),
            None => &shared,
        };
        let args = base.with(own, &mut errors);
        members.push((op_struct(variant, item), args));
    }
    let all_read = errors.is_empty();
    let mut mistakes = Vec::new();
    let checked = members.iter().map(|(item, args)| match check(args, item) {
        Ok(checked) => Some(checked),
        Err(found) => {
            // With an argument that could not be read, others may seem to refer to nothing.
            let told = found.into_iter().filter(|mistake| all_read || mistake.is_alone);
            mistakes.extend(told.map(|mistake| (&item.ident, mistake)));
            None
        }
    });
    let checked = checked.collect::<Vec<_>>();
    report(mistakes, members.len(), &mut errors);
    if errors.is_empty() {
        let ops = members.iter().zip(checked);
        return ops.filter_map(|((item, args), checked)| Some(declare(args, item, checked?))).collect();
    }
    // Told once: the others have the value of the first.
    let Some(((first, args), others)) = members.split_first() else { return errors.with(TokenStream::new()) };
    let (krate, ident) = (&args.krate, &first.ident);
    let as_first = quote!(<#ident as #krate::op::Op>::DEF);
    let others = others.iter().map(|(item, args)| stand_in::expand(args, item, &as_first));
    let others = others.collect::<TokenStream>();
    let first = stand_in::expand(args, first, &errors.value());
    quote!(#first #others)
}

/// What is wrong with the enum, whatever its arguments say.
fn check_family(item: &ItemEnum, errors: &mut Errors) {
    if !item.generics.params.is_empty() {
        errors.on(&item.generics, "a family of ops has no generics: dtypes are attrs, `attr(\"T: {float, int32}\")`");
    }
    if item.variants.is_empty() {
        errors.on(&item.ident, "a family of no ops: each variant declares one, as `Abs` in `pub enum Unary { Abs }`");
    }
    for attr in item.attrs.iter().filter(|attr| OF_TYPES.iter().any(|name| attr.path().is_ident(name))) {
        let name = attr.path().to_token_stream();
        let message = format!("a family is no type, its ops are: put `#[{name}]` on the variants, or remove it");
        errors.on(attr, message);
    }
    for variant in &item.variants {
        for attr in variant.attrs.iter().filter(|attr| is_register_op(attr)) {
            errors.on(
                attr,
                "a family has one `#[register_op(...)]`: what differs for an op of it stands in `#[op(...)]`",
            );
        }
        if !matches!(variant.fields, Fields::Unit) {
            let message = "an op carries no data: write the name alone; \
                           inputs and attrs go into `#[op(input(\"x: T\"))]` above it";
            errors.on(&variant.fields, message);
        }
        if let Some((_, value)) = &variant.discriminant {
            errors.on(value, "an op has no discriminant: write the name alone");
        }
    }
}

/// The arguments of the op that one below is like.
fn base<'a>(like: &Ident, above: &'a [(ItemStruct, OpArgs)], errors: &mut Errors) -> Option<&'a OpArgs> {
    let found = above.iter().find(|(op, _)| op.ident == *like);
    if found.is_none() {
        let names = above.iter().map(|(op, _)| op.ident.to_string()).collect::<Vec<_>>();
        let names = names.iter().map(String::as_str).collect::<Vec<_>>();
        let message = match &names[..] {
            [] => format!("`{like}` is not above: an op is like one that stands above it in the family"),
            names => unknown("op above in the family", &like.to_string(), names),
        };
        errors.on(like, message);
    }
    found.map(|(_, args)| args)
}

/// What the `#[op(...)]` of a variant say.
fn own_arguments(variant: &Variant, errors: &mut Errors) -> OpArgs {
    let mut tokens = TokenStream::new();
    for attr in variant.attrs.iter().filter(|attr| is_op(attr)) {
        match &attr.meta {
            Meta::List(list) => {
                let ends = tokens.clone().into_iter().last();
                if ends.is_some_and(|last| !matches!(last, TokenTree::Punct(last) if last.as_char() == ',')) {
                    <Token![,]>::default().to_tokens(&mut tokens);
                }
                list.tokens.to_tokens(&mut tokens);
            }
            _ => errors.on(attr, "expected what is special about the op: `#[op(attr(\"T: {float}\"))]`, or nothing"),
        }
    }
    OpArgs::parse(tokens, Form::Member, errors)
}

/// The struct that a variant stands for. What is said of the family is said of each op, after its own.
fn op_struct(variant: &Variant, family: &ItemEnum) -> ItemStruct {
    let (vis, ident) = (&family.vis, &variant.ident);
    let is_text = |attr: &&Attribute| matches!(&attr.meta, Meta::NameValue(meta) if meta.path.is_ident("doc"));
    let own = variant.attrs.iter().filter(|attr| !is_op(attr) && !is_register_op(attr));
    let shared = family.attrs.iter().filter(|attr| OF_TYPES.iter().all(|name| !attr.path().is_ident(name)));
    let has_both = own.clone().any(|attr| is_text(&attr)) && shared.clone().any(|attr| is_text(&attr));
    let blank = has_both.then(|| quote!(#[doc = ""]));
    parse_quote!(#(#own)* #blank #(#shared)* #vis struct #ident;)
}

fn is_register_op(attr: &Attribute) -> bool {
    attr.path().segments.last().is_some_and(|last| last.ident == "register_op")
}

fn is_op(attr: &Attribute) -> bool {
    attr.path().is_ident("op")
}

/// Reports what is wrong with ops of a family of `count`. A mistake in what they share is told once, where it stands; but
/// if only some of them make it one, on these.
fn report(mistakes: Vec<(&Ident, Mistake)>, count: usize, errors: &mut Errors) {
    let mut own = BTreeSet::new();
    let mut shared: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (op, mistake) in mistakes {
        let key = (mistake.at.to_string(), mistake.message);
        if mistake.is_shared {
            shared.entry(key).or_default().push((op, mistake.at));
        } else {
            errors.on(mistake.at, &key.1);
            own.insert(key);
        }
    }
    // What an op says itself is not told again on those that are like it.
    shared.retain(|key, _| !own.contains(key));
    for ((_, message), found) in shared {
        if found.len() == count {
            errors.on(&found[0].1, message);
        } else {
            for (op, at) in found {
                errors.on(op, format!("with the family's {at}: {message}"));
            }
        }
    }
}

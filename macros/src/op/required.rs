//! The attrs that a wrapper asks for: parameters of its own, or the fields of a struct where two could be exchanged.

use kernlink_spec::{AttrSpec, AttrType, Base};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::parse::Spec;
use super::typed::rust_type;
use super::{Op, doc, words};
use crate::span::located;

/// Whether two of the types are the same, so that values in the wrong order would compile.
pub(super) fn are_alike(types: impl Iterator<Item = AttrType>) -> bool {
    let types: Vec<_> = types.collect();
    types.iter().enumerate().any(|(i, ty)| types[..i].contains(ty))
}

/// The struct that a wrapper takes.
pub(super) struct Required {
    pub(super) declaration: TokenStream,
    /// Its type as a parameter.
    pub(super) ty: TokenStream,
}

/// What the struct is called: after the op, as the function is.
pub(super) fn name(op: &Op<'_>) -> Ident {
    format_ident!("{}Required", op.name.replace('>', ""))
}

/// The struct with these attrs, whose fields are called like this.
pub(super) fn structure(op: &Op<'_>, function: &str, attrs: &[(&AttrSpec, &Spec)], fields: &[Ident]) -> Required {
    let vis = &op.item.vis;
    let ident = name(op);
    let doc = format!("The required attrs of op `{}`, by name: what [`{function}`] takes.", op.name);
    let borrows = attrs.iter().any(|(attr, _)| attr.ty.list || attr.ty.base == Base::String);
    let (generics, elided) = match borrows {
        true => (quote!(<'a>), quote!(<'_>)),
        false => (TokenStream::new(), TokenStream::new()),
    };
    let fields = attrs.iter().zip(fields).map(|((attr, spec), field)| {
        let doc = doc::said(&words::attr_text(attr, &spec.text()), spec);
        let ty = field_type(attr.ty, op);
        // The compiler shows where fields are declared: at their specs.
        located(quote!(#[doc = #doc] pub #field: #ty), spec.literal.span())
    });
    let declaration = quote! {
        #[doc = #doc]
        #[derive(Clone, Debug)]
        #vis struct #ident #generics { #(#fields),* }
    };
    Required { declaration, ty: quote!(#ident #elided) }
}

fn field_type(ty: AttrType, op: &Op<'_>) -> TokenStream {
    let krate = &op.args.krate;
    match (ty.list, ty.base) {
        (false, Base::String) => quote!(&'a str),
        (true, Base::String) => quote!(&'a [&'a str]),
        (false, _) => rust_type(ty, krate),
        (true, base) => {
            let element = rust_type(AttrType { base, list: false }, krate);
            quote!(&'a [#element])
        }
    }
}

/// From a field to something that converts into an `AttrValue`.
pub(super) fn conversion(ty: AttrType, field: &TokenStream) -> TokenStream {
    match (ty.list, ty.base) {
        (true, Base::String) => quote! {
            ::std::iter::Iterator::collect::<::std::vec::Vec<::std::string::String>>(
                ::std::iter::Iterator::map(#field.iter(), |text| ::std::string::String::from(*text))
            )
        },
        _ => quote!(#field),
    }
}

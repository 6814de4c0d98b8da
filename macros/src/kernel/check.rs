//! Checks of a registration against its op, evaluated by the compiler: the macro itself cannot see the op.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};

use super::parse::{AttrList, KernelArgs, Values};
use super::wgsl;

/// Constants whose evaluation fails, on the user's token, if the registration does not suit the op.
pub(super) fn expand(args: &KernelArgs) -> TokenStream {
    let check = {
        let krate = &args.krate;
        quote!(#krate::kernel::check)
    };
    let lists = args.lists.iter().map(|list| attr(list, args, &check));
    let arguments = args
        .host_memory
        .iter()
        .map(|literal| quote_spanned!(literal.span()=> const _: () = #check::require_argument(__OP, #literal);));
    let shader = args.shader.as_ref().map(|shader| wgsl::checks(args, shader));
    quote!(#(#lists)* #(#arguments)* #shader)
}

fn attr(list: &AttrList, args: &KernelArgs, check: &TokenStream) -> TokenStream {
    let krate = &args.krate;
    let name = &list.name;
    let base = format_ident!(
        "{}",
        match &list.values {
            Values::Types(_) => "Type",
            Values::Strings(_) => "String",
            Values::Ints(_) => "Int",
            Values::Bools(_) => "Bool",
        }
    );
    let base = quote_spanned! {list.ident.span()=>
        const _: () = #check::require_attr(__OP, #name, #krate::op::AttrBase::#base);
    };
    let values: Vec<_> = match &list.values {
        // Of a set the first dtype that is not allowed is enough.
        Values::Types(entries) => entries
            .iter()
            .map(|entry| {
                let span = entry.span;
                let each = entry.elements.iter().map(|element| {
                    let variant = element.variant();
                    quote_spanned!(span=> #check::require_type(__OP, #name, #krate::dtype::DataType::#variant))
                });
                let each: Vec<_> = each.collect();
                match &each[..] {
                    [one] => quote_spanned!(span=> const _: () = #one;),
                    each => quote_spanned!(span=> const _: () = { #(#each;)* };),
                }
            })
            .collect(),
        Values::Strings(literals) => literals
            .iter()
            .map(
                |literal| quote_spanned!(literal.span()=> const _: () = #check::require_string(__OP, #name, #literal);),
            )
            .collect(),
        Values::Ints(ints) => ints
            .iter()
            .map(|(value, span)| quote_spanned!(*span=> const _: () = #check::require_int(__OP, #name, #value);))
            .collect(),
        Values::Bools(_) => Vec::new(),
    };
    quote!(#base #(#values)*)
}

//! Checks of a registration against its op, evaluated by the compiler: the macro itself cannot see the op.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};

use super::parse::{AttrList, KernelArgs, Values};
use super::wgsl;
use crate::span::respan;

/// Constants whose evaluation fails, on the user's token, if the registration does not suit the op.
pub(super) fn expand(args: &KernelArgs) -> TokenStream {
    let krate = &args.krate;
    let check = quote!(#krate::kernel::check);
    let lists = args.lists.iter().map(|list| attr(list, args, &check));
    let arguments = args
        .host_memory
        .iter()
        .map(|literal| constant(literal.span(), quote!(#check::require_argument(__OP, #literal))));
    let shader = args.shader.as_ref().map(|shader| wgsl::checks(args, shader));
    quote!(#(#lists)* #(#arguments)* #shader)
}

/// A constant with this value, an error in which is shown at a token of the user.
fn constant(span: Span, value: TokenStream) -> TokenStream {
    respan(quote!(const _: () = #value;), span)
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
    let base = constant(list.ident.span(), quote!(#check::require_attr(__OP, #name, #krate::op::AttrBase::#base)));
    let values: Vec<_> = match &list.values {
        // Of a set the first dtype that is not allowed is enough.
        Values::Types(entries) => {
            let constants = entries.iter().map(|entry| {
                let variants = entry.elements.iter().map(|element| element.variant());
                let each = variants
                    .map(|variant| quote!(#check::require_type(__OP, #name, #krate::dtype::DataType::#variant)))
                    .collect::<Vec<_>>();
                match &each[..] {
                    [one] => constant(entry.span, one.clone()),
                    each => constant(entry.span, quote!({ #(#each;)* })),
                }
            });
            constants.collect()
        }
        Values::Strings(literals) => {
            let constants = literals
                .iter()
                .map(|literal| constant(literal.span(), quote!(#check::require_string(__OP, #name, #literal))));
            constants.collect()
        }
        Values::Ints(ints) => {
            let constants =
                ints.iter().map(|(value, span)| constant(*span, quote!(#check::require_int(__OP, #name, #value))));
            constants.collect()
        }
        Values::Bools(_) => Vec::new(),
    };
    quote!(#base #(#values)*)
}

//! `programs = |T| programs(T)`: the shaders that a kernel which makes them itself may run, and the test that checks them.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Expr, Pat, Type};

use super::dtype::Element;
use super::parse::{KernelArgs, Values};
use super::target::{OP, Target};
use super::text::snake;
use crate::errors::Errors;
use crate::path::Crate;

const USAGE: &str = "expected what gives the shaders for dtypes of the lists: `programs = |T| programs(T)`";

/// What gives shaders: the names of lists of dtypes, and an expression in which they are dtypes.
#[derive(Clone)]
pub(super) struct Programs {
    lists: Vec<Ident>,
    body: Expr,
}

impl Programs {
    pub(super) fn parse(input: ParseStream<'_>) -> syn::Result<Programs> {
        let expr: Expr = input.parse().map_err(|error| syn::Error::new(error.span(), USAGE))?;
        let Expr::Closure(closure) = expr else { return Err(syn::Error::new_spanned(expr, USAGE)) };
        let lists = closure.inputs.iter().map(|pat| match pat {
            Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Ok(pat.ident.clone()),
            other => Err(syn::Error::new_spanned(other, USAGE)),
        });
        Ok(Programs { lists: lists.collect::<syn::Result<_>>()?, body: *closure.body })
    }

    /// What can be said once all arguments are there.
    pub(super) fn check(&self, args: &KernelArgs, errors: &mut Errors) {
        if args.device.as_ref().is_some_and(|device| device != "GPU") {
            errors.on(&self.body, "shaders are for the GPU: `device = Gpu`");
        }
        if args.shader.is_some() {
            errors.on(&self.body, "the shader that `wgsl` names is all that the kernel runs: remove `programs`");
        }
        for name in &self.lists {
            let list = args.list(&name.unraw().to_string());
            if !list.is_some_and(|list| matches!(list.values, Values::Types(_))) {
                errors.at(name.span(), format!("`{name}` is no list of dtypes of this registration"));
            }
        }
    }

    /// Uses what only the test calls, so that it counts as used without tests, and is checked then, too.
    pub(super) fn use_outside_of_tests(&self, krate: &Crate) -> TokenStream {
        let (lists, body) = (&self.lists, &self.body);
        quote! {
            #[allow(dead_code, non_snake_case, unused_variables, reason = "as the test calls it")]
            fn __programs(#(#lists: #krate::dtype::DataType),*) -> #krate::Result<::std::vec::Vec<#krate::gpu::Program>> {
                #body
            }
        }
    }

    /// A test that makes the shaders for all dtypes and checks them.
    pub(super) fn test(&self, args: &KernelArgs, target: &Target, op: &Type) -> TokenStream {
        let krate = &args.krate;
        let (lists, body) = (&self.lists, &self.body);
        let calls = args.narrowed().into_iter().map(|args| {
            let requires = &args.requires;
            let of_lists = lists.iter().filter_map(|name| match &args.list(&name.unraw().to_string())?.values {
                Values::Types(entries) => Some(entries.iter().flat_map(|entry| entry.elements.clone()).collect()),
                _ => None,
            });
            let combinations = of_lists.fold(vec![Vec::new()], |all: Vec<Vec<Element>>, list: Vec<Element>| {
                all.iter().flat_map(|some| list.iter().map(move |&one| [some.clone(), vec![one]].concat())).collect()
            });
            let calls = combinations.into_iter().map(|chosen| {
                let dtypes = chosen.into_iter().map(Element::variant);
                let dtypes = dtypes.map(|dtype| quote!(#krate::dtype::DataType::#dtype)).collect::<Vec<_>>();
                quote! {
                    check(&[#(#dtypes),*], &[#(#requires),*], programs(#(#dtypes),*));
                }
            });
            quote!(#(#calls)*)
        });
        let calls = calls.collect::<Vec<_>>();
        let of_op = target.names_op.then(|| format_ident!("{OP}")).map(|name| quote!(type #name = #op;));
        // Several registrations of a kernel for an op are told apart by their dtypes.
        let first = lists.first().and_then(|name| match &args.list(&name.unraw().to_string())?.values {
            Values::Types(entries) => entries.first()?.elements.first(),
            _ => None,
        });
        let of = first.map_or_else(String::new, |element| format!("_of_{}", element.rust.to_lowercase()));
        let test = format_ident!("the_shaders_of_{}_for_{}{of}_are_valid", snake(&target.called), snake(op));
        quote! {
            #[cfg(test)]
            #[test]
            #[allow(non_snake_case, unused_variables, reason = "named as the op's attrs")]
            fn #test() {
                #of_op
                let programs = |#(#lists: #krate::dtype::DataType),*| -> #krate::Result<::std::vec::Vec<#krate::gpu::Program>> {
                    #body
                };
                let check = #krate::gpu::wgsl::check_programs;
                #(#calls)*
            }
        }
    }
}

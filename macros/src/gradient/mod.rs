//! `#[register_gradient]` and `not_differentiable!`.

mod expand;
mod once;
mod parse;

use proc_macro2::TokenStream;
use syn::ItemFn;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Path, Token};

use self::parse::GradientArgs;
use crate::errors::Errors;
use crate::path::Crate;

pub(crate) fn register(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = GradientArgs::parse(args, &mut errors);
    let function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            errors.on(&item, format!("#[register_gradient] stands on a function: {}", expand::FORM));
            return errors.with(item);
        }
    };
    let parameters = expand::parameters(&function, &mut errors);
    match parameters {
        Some(parameters) if errors.is_empty() => expand::expand(&args, &parameters, &function),
        _ => errors.with(expand::unused(&function)),
    }
}

/// The name of the macro that says that nothing flows through ops.
pub(crate) const NOTHING: &str = "not_differentiable";

/// How many gradients `#[register_gradient]` registers, given its arguments; 0 for what does not compile.
pub(crate) fn count(args: TokenStream) -> usize {
    GradientArgs::parse(args, &mut Errors::default()).ops.len()
}

/// How many `not_differentiable!` registers; 0 for what does not compile.
pub(crate) fn count_nothing(ops: TokenStream) -> usize {
    parse_ops(ops).map_or(0, |ops| ops.len())
}

fn parse_ops(ops: TokenStream) -> syn::Result<Punctuated<Path, Token![,]>> {
    Punctuated::parse_terminated.parse2(ops)
}

/// Registers that no gradient flows through some ops.
pub(crate) fn not_differentiable(ops: TokenStream) -> TokenStream {
    match parse_ops(ops) {
        Ok(ops) => ops.iter().map(|op| expand::nothing(op, &Crate::KERNLINK)).collect(),
        Err(error) => {
            let message = "expected the types of ops between commas: `not_differentiable!(Shape, Size)`";
            syn::Error::new(error.span(), message).into_compile_error()
        }
    }
}

//! `#[register_kernel]`.

mod check;
mod dtype;
mod expand;
mod function;
mod parse;
mod programs;
mod stacked;
mod target;
mod text;
mod wgsl;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{ItemFn, Visibility};

use self::parse::KernelArgs;
use self::target::{OP, Target};
use crate::errors::Errors;

pub(crate) fn register(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = KernelArgs::parse(args, &mut errors);
    let mut target = Target::parse(item.clone(), &args, &mut errors);
    let of_other_ops = target.as_mut().map_or_else(Vec::new, |target| stacked::hand_on(target, &args));
    match target {
        Some(target) if errors.is_empty() => {
            let own = expand::expand(&args, &target);
            quote!(#own #(#of_other_ops)*)
        }
        target => errors.with(stand_in(item, target, &args)),
    }
}

/// What is left of an item whose registration is wrong, so that what uses the item is not wrong in turn.
fn stand_in(item: TokenStream, target: Option<Target>, args: &KernelArgs) -> TokenStream {
    let Some(target) = target else {
        // A function of another form would be wrong in its body, too, and its name is often that of the op's wrapper.
        return match syn::parse2::<ItemFn>(item.clone()) {
            Ok(function) if matches!(function.vis, Visibility::Inherited) => TokenStream::new(),
            _ => item,
        };
    };
    let kept = &target.item;
    if !target.is_template {
        return quote!(#kept);
    }
    // As for one of the ops; without any it means nothing.
    let of_one_op = args.ops.first().map(|op| {
        let name = format_ident!("{OP}");
        quote!(type #name = #op; #kept)
    });
    quote!(const _: () = { #of_one_op };)
}

/// How many registrations each of the attributes on an item makes, given their arguments; 0 for what does not compile.
pub(crate) fn count(stack: impl Iterator<Item = TokenStream>, item: &TokenStream) -> Vec<usize> {
    let mut first = Vec::new();
    let counts = stack.map(|arguments| {
        let mut errors = Errors::default();
        let mut args = KernelArgs::parse(arguments, &mut errors);
        if args.ops.is_empty() {
            args.ops.clone_from(&first);
        } else if first.is_empty() {
            first.clone_from(&args.ops);
        }
        Target::parse(item.clone(), &args, &mut errors).map_or(0, |target| expand::count(&args, &target))
    });
    counts.collect()
}

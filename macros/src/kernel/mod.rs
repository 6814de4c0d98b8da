//! `#[register_kernel]`.

mod check;
mod dtype;
mod expand;
mod function;
mod hash;
mod parse;
mod target;
mod text;
mod wgsl;

use proc_macro2::TokenStream;

use self::parse::KernelArgs;
use self::target::Target;
use crate::errors::Errors;

pub(crate) fn register(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = KernelArgs::parse(args, &mut errors);
    let target = Target::parse(item.clone(), &args, &mut errors);
    match target {
        Some(target) if errors.is_empty() => expand::expand(&args, &target),
        _ => errors.with(item),
    }
}

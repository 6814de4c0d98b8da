//! `#[register_rewrite]`.

mod expand;
mod parse;
mod pattern;

use proc_macro2::TokenStream;
use syn::ItemFn;

use self::parse::RewriteArgs;
use crate::errors::Errors;

pub(crate) fn register(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = RewriteArgs::parse(args, &mut errors);
    let function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            let message = "#[register_rewrite] stands on a function: `fn name(m: &mut Rewrite<'_, '_>, x: Output) -> \
                           Result<Option<Output>>`";
            errors.on(&item, message);
            return errors.with(item);
        }
    };
    let captures = expand::captures(&args, &function, &mut errors);
    match (args.complete(), captures) {
        (Some(complete), Some(captures)) if errors.is_empty() => expand::expand(&complete, &captures, &function),
        _ => errors.with(expand::unused(&function)),
    }
}

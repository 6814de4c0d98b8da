//! That a crate registers one gradient of each op and of each name.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{LitStr, Path};

use crate::hash::fnv;
use crate::path::Crate;
use crate::provider::Provider;
use crate::seen;

/// What is said of an op by `#[register_gradient]`.
pub(super) const GRADIENT: &str = "has a gradient";

/// What is said of it by `not_differentiable!`.
pub(super) const NOTHING: &str = "is `not_differentiable!`";

/// The impl that a second registration for the op, or under the name, would repeat, which does not compile; and, where there
/// seems to be one already, the check that says so in words.
pub(super) fn check(
    op: &Path,
    name: Option<&LitStr>,
    said: &'static str,
    krate: &Crate,
    provider: &Provider,
) -> TokenStream {
    let check = quote!(#krate::gradient::check);
    let (provider, span) = (&provider.ty, name.map_or_else(|| op.span(), LitStr::span));
    let (subject, key) = match name {
        Some(name) => {
            let hash = fnv(&name.value());
            (quote!(#check::GradientName<#hash>), format!("gradient by the name {}", name.value()))
        }
        None => (quote!(#op), format!("gradient of {}", op.to_token_stream())),
    };
    let implementation = |number: usize| {
        let number = Literal::usize_unsuffixed(number);
        quote!(#check::RegistersGradient<#provider, #number>)
    };
    let earlier = seen::earlier_saying(key, said, span);
    // Those before may be for another op of the same text: the compiler knows.
    let checks = earlier.iter().enumerate().map(|(number, (place, before))| {
        let message = message(op, name, said, before, place);
        let implementation = implementation(number);
        quote_spanned! {span=>
            const _: () = {
                struct __Of<Subject>(::core::marker::PhantomData<Subject>);
                #[allow(dead_code, reason = "hidden by the other, if there is one")]
                trait __Unregistered {
                    const IS_REGISTERED: bool = false;
                }
                impl<Subject> __Unregistered for __Of<Subject> {}
                #[allow(dead_code, reason = "where it is not for this op")]
                impl<Subject: #implementation> __Of<Subject> {
                    const IS_REGISTERED: bool = true;
                }
                ::core::assert!(!<__Of<#subject>>::IS_REGISTERED, #message);
            };
        }
    });
    let implementation = implementation(earlier.len());
    quote_spanned! {span=>
        #(#checks)*
        impl #implementation for #subject {}
    }
}

/// What is wrong with a registration beside that at `place`.
fn message(op: &Path, name: Option<&LitStr>, said: &str, before: &str, place: &str) -> String {
    let op = op.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
    if let Some(name) = name {
        let name = name.value();
        return format!(
            "this crate registers two gradients by the name `{name}`, here and at {place}: nodes ask for one by its name; give \
             one of them another"
        );
    }
    let (again, or_name) = match (said == before, said) {
        (true, GRADIENT) => {
            ("again", ", or give one a `name`, by which nodes ask for it with the attr `_gradient_op_type`")
        }
        (true, _) => ("again", ""),
        (false, _) => (before, ""),
    };
    format!(
        "op `{op}` {said} here, and {again} at {place}: a crate says one thing of an op; remove one of them{or_name}"
    )
}

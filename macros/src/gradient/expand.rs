//! From a gradient's function to constant data, and calls of the function with what its parameters stand for.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{FnArg, ItemFn, LitStr, Pat, Path, ReturnType, Type};

use super::once::{self, GRADIENT, NOTHING};
use super::parse::GradientArgs;
use crate::errors::Errors;
use crate::path::Crate;
use crate::provider::Provider;
use crate::span::{located, respan};

/// What the function looks like.
pub(super) const FORM: &str = "`fn name(g: &mut GradientScope<'_>, x: Value, d_y: Value) -> Result<Value>`, with parameters \
                               called as the op's inputs, outputs and attrs, and `d_y` for what flows back to output `y`";

/// A parameter of the function behind its first.
pub(super) struct Parameter<'f> {
    name: &'f Ident,
    ty: &'f Type,
}

/// The parameters of the function; `None`, with the errors, if it has another form.
pub(super) fn parameters<'f>(function: &'f ItemFn, errors: &mut Errors) -> Option<Vec<Parameter<'f>>> {
    let signature = &function.sig;
    let mut inputs = signature.inputs.iter();
    let has_form = matches!(inputs.next(), Some(FnArg::Typed(_)))
        && signature.generics.params.is_empty()
        && signature.asyncness.is_none()
        && matches!(signature.output, ReturnType::Type(..));
    if !has_form {
        errors.on(&signature.ident, format!("a gradient is a function {FORM}"));
        return None;
    }
    let parameters = inputs.map(|input| match input {
        FnArg::Typed(parameter) => match &*parameter.pat {
            Pat::Ident(pattern) => Some(Parameter { name: &pattern.ident, ty: &parameter.ty }),
            other => {
                errors.on(other, "a parameter has the name of an input, an output, what flows back to it, or an attr");
                None
            }
        },
        FnArg::Receiver(_) => None,
    });
    parameters.collect()
}

/// The function, where the registration does not compile: nothing calls it.
pub(super) fn unused(function: &ItemFn) -> TokenStream {
    quote!(#[allow(dead_code, reason = "its registration is wrong")] #function)
}

pub(super) fn expand(args: &GradientArgs, parameters: &[Parameter<'_>], function: &ItemFn) -> TokenStream {
    let of_ops = args.ops.iter().map(|op| of_op(op, args, parameters, function));
    quote! {
        #[allow(non_snake_case, clippy::too_many_arguments, reason = "parameters are the op's, by their names")]
        #function
        #(#of_ops)*
    }
}

/// The registration for one of the ops.
fn of_op(op: &Path, args: &GradientArgs, parameters: &[Parameter<'_>], function: &ItemFn) -> TokenStream {
    let krate = &args.krate;
    let gradient = quote!(#krate::gradient);
    let (name, ReturnType::Type(_, output)) = (&function.sig.ident, &function.sig.output) else {
        return TokenStream::new();
    };
    let place = |number: usize| format_ident!("__PLACE_{number}");
    let places = parameters.iter().enumerate().map(|(number, Parameter { name, ty })| {
        let (place, text) = (place(number), name.unraw().to_string());
        // A type that is no parameter's is told where it stands, a name that the op does not have at the name.
        let kind = quote_spanned!(ty.span()=> <#ty as #gradient::Parameter>::KIND);
        let found = respan(quote!({ #gradient::check::parameter(__OP, #text, __KIND) }), name.span());
        quote!(const #place: #gradient::Place = { const __KIND: #gradient::ParameterKind = #kind; #found };)
    });
    let taken = parameters.iter().enumerate().map(|(number, Parameter { ty, .. })| {
        let (place, value) = (place(number), format_ident!("__value_{number}"));
        quote_spanned!(ty.span()=> let #value = <#ty as #gradient::Parameter>::take(__scope, #place)?;)
    });
    let given = parameters.iter().enumerate().map(|(number, Parameter { ty, .. })| {
        let value = format_ident!("__value_{number}");
        located(quote!(#value), ty.span())
    });
    let uses = (0..parameters.len()).map(place);
    let shapes = quote_spanned!(output.span()=> <#output as #gradient::GradientResult>::INPUTS);
    let check = respan(quote!({ #gradient::check::require_inputs(__OP, __RETURNED) }), output.span());
    let returned =
        quote_spanned!(output.span()=> #gradient::GradientResult::into_gradients(#name(__scope, #(#given),*)));
    let differentiation = quote! {
        ::std::option::Option::Some(#gradient::Differentiation { uses: &[#(#uses),*], call: __call })
    };
    let entry = entry(op, args.name.as_ref(), GRADIENT, krate, &differentiation);
    // The compiler has not looked at conditions that stand below the attribute.
    let conditions = function.attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    quote! {
        #(#conditions)*
        const _: () = {
            #entry
            #(#places)*
            const _: () = { const __RETURNED: &[bool] = #shapes; #check };

            fn __call(__scope: &mut #gradient::GradientScope<'_>) -> #krate::Result<#gradient::InputGradients> {
                #(#taken)*
                #returned
            }
        };
    }
}

/// That nothing flows back through an op.
pub(super) fn nothing(op: &Path, krate: &Crate) -> TokenStream {
    let entry = entry(op, None, NOTHING, krate, &quote!(::std::option::Option::None));
    quote!(const _: () = { #entry };)
}

/// The items of an entry of the collection.
fn entry(
    op: &Path,
    name: Option<&LitStr>,
    said: &'static str,
    krate: &Crate,
    differentiation: &TokenStream,
) -> TokenStream {
    let bare = krate.bare();
    let provider = Provider::of(krate);
    let once = once::check(op, name, said, krate, &provider);
    let name = name.map_or_else(|| quote!(__OP_NAME), ToTokens::to_token_stream);
    let provide = provider.items;
    let def = quote_spanned!(op.span()=> <#op as #krate::op::Op>::DEF);
    let selected = quote_spanned!(op.span()=> <#op as #krate::op::Op>::IS_SELECTED);
    let marker = Ident::new("__GRADIENT", Span::call_site());
    quote! {
        #provide
        #once

        const __OP: &#krate::op::OpDef = #def;
        const __OP_NAME: &str = #krate::gradient::check::name_of(__OP);
        /// Of what the entry does not refer to, nothing is linked.
        const __SELECTED: bool = #selected;

        static #marker: #krate::gradient::GradientDef = #krate::gradient::GradientDef {
            name: #name,
            op: __OP,
            differentiation: #differentiation,
            provider: __PROVIDER,
            location: #krate::kernel::Location { file: ::std::file!(), line: ::std::line!() },
        };

        #krate::__collect_gradient!(#bare, #krate::__private::GradientEntry {
            name: #name,
            op: __OP_NAME,
            gradient: if __SELECTED { ::std::option::Option::Some(&#marker) } else { ::std::option::Option::None },
            provider: __PROVIDER,
            location: #krate::kernel::Location { file: ::std::file!(), line: ::std::line!() },
            writable: ::std::sync::atomic::AtomicBool::new(false),
        });
    }
}

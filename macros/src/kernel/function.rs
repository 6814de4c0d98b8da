//! Kernels that are plain functions.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned as _;
use syn::{FnArg, GenericArgument, GenericParam, ItemFn, PathArguments, ReturnType, Type, TypePath};

use super::parse::KernelArgs;
use super::target::{OP, names};
use crate::errors::Errors;
use crate::span::located;

const USAGE: &str = "a kernel that is a function has the form `fn name(ctx: &mut RawContext<'_>) -> Result<()>`, or \
                     `KernelContext<'_, Op>` for `RawContext<'_>`; before the context it may take `&Attrs<Op>`, the \
                     attrs, or `&State`, where `State: KernelState` or `state = f` makes it, and it may be `async`";

/// The op in `fn name(ctx: &mut KernelContext<'_, Op>) -> Result<()>`; with `RawContext` there is none. Reports what has
/// another form.
pub(super) fn op_of(item: &ItemFn, errors: &mut Errors) -> Option<Option<Type>> {
    let signature = &item.sig;
    let parameters = signature.inputs.iter().collect::<Vec<_>>();
    let parameter = match &parameters[..] {
        [FnArg::Receiver(receiver), ..] => {
            let message = "a method cannot be registered: #[register_kernel] stands on a function outside of an impl, or on \
                           the whole `impl OpKernel<Op> for Kernel`";
            errors.on(receiver, message);
            return None;
        }
        [FnArg::Typed(parameter)] => parameter,
        [FnArg::Typed(state), FnArg::Typed(parameter)] if matches!(*state.ty, Type::Reference(_)) => parameter,
        [] => {
            errors.on(&signature.ident, USAGE);
            return None;
        }
        _ => {
            errors.on(&signature.inputs, USAGE);
            return None;
        }
    };
    let context = match &*parameter.ty {
        Type::Reference(reference) => last_segment(&reference.elem),
        _ => None,
    };
    let op = match context {
        Some(context) if context.ident == "RawContext" => Some(None),
        Some(context) if context.ident == "KernelContext" => first_type(&context.arguments).map(Some),
        _ => None,
    };
    if op.is_none() {
        errors.on(&parameter.ty, USAGE);
    }
    let returns_result = match &signature.output {
        ReturnType::Default => Err(signature.ident.to_token_stream()),
        ReturnType::Type(_, ty) => {
            let result = last_segment(ty).filter(|segment| segment.ident == "Result");
            let ok = result.and_then(|result| first_type(&result.arguments));
            match ok {
                Some(Type::Tuple(tuple)) if tuple.elems.is_empty() => Ok(()),
                _ => Err(ty.to_token_stream()),
            }
        }
    };
    if let Err(at) = &returns_result {
        errors.on(at, USAGE);
    }
    if let Some(token) = &signature.unsafety {
        errors.on(token, "a model decides what a kernel is called with: it cannot be unsafe to call");
    }
    returns_result.ok().and(op)
}

fn last_segment(ty: &Type) -> Option<&syn::PathSegment> {
    match ty {
        Type::Path(TypePath { qself: None, path }) => path.segments.last(),
        _ => None,
    }
}

fn first_type(arguments: &PathArguments) -> Option<Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    })
}

/// What the function keeps for a node: the type behind its first reference, if it takes two.
pub(super) fn state_of(item: &ItemFn) -> Option<&Type> {
    match item.sig.inputs.first() {
        Some(FnArg::Typed(state)) if item.sig.inputs.len() > 1 => match &*state.ty {
            Type::Reference(reference) => Some(&reference.elem),
            _ => None,
        },
        _ => None,
    }
}

/// A type `__Function` with the function's generic parameters but the op, whose kernel for `op` calls the function.
pub(super) fn kernel(item: &ItemFn, args: &KernelArgs, op: &Type) -> TokenStream {
    let krate = &args.krate;
    let signature = &item.sig;
    let name = &signature.ident;
    let all = names(&signature.generics);
    let (state, new, arguments) = match state_of(item) {
        Some(state) => {
            let new = match &args.state {
                Some(new) => quote! {{
                    // The type says what a closure takes.
                    let new: fn(&#krate::kernel::KernelConstruction<'_, #op>) -> #krate::Result<#state> = #new;
                    new(ctx)?
                }},
                None => quote!(<#state as #krate::kernel::KernelState>::new(ctx)?),
            };
            (quote!(#state), new, quote!(&self.0, ctx))
        }
        None => (quote!(()), quote!(()), quote!(ctx)),
    };
    let call = if all.is_empty() { quote!(#name(#arguments)) } else { quote!(#name::<#(#all),*>(#arguments)) };
    // What does not fit is what the function returns.
    let call = match &signature.output {
        ReturnType::Type(_, ty) => located(call, ty.span()),
        ReturnType::Default => call,
    };
    let own = signature.generics.params.iter().filter(|param| match param {
        GenericParam::Type(param) => param.ident != OP,
        GenericParam::Const(_) => true,
        GenericParam::Lifetime(_) => false,
    });
    let own = own.collect::<Vec<_>>();
    let names = all.into_iter().filter(|name| *name != OP).collect::<Vec<_>>();
    let types = own.iter().filter_map(|param| match param {
        GenericParam::Type(param) => Some(&param.ident),
        _ => None,
    });
    let types = types.collect::<Vec<_>>();
    let declared = own.iter().map(|param| declaration(param));
    // Whatever the function asks of them, they are dtypes.
    let bounds = signature.generics.where_clause.iter().flat_map(|bounds| &bounds.predicates);
    let bounds = quote!(where #(#types: 'static,)* #(#bounds,)*);
    let (kernel, compute) = match signature.asyncness {
        Some(_) => (
            quote!(AsyncOpKernel),
            quote! {
                fn compute(
                    &self,
                    ctx: &mut #krate::kernel::KernelContext<'_, #op>,
                ) -> impl ::core::future::Future<Output = #krate::Result<()>> + ::core::marker::Send {
                    #call
                }
            },
        ),
        None => {
            let element_wise = args.element_wise.as_ref().map(|expr| {
                quote! {
                    const ELEMENT_WISE: ::core::option::Option<#krate::kernel::ElementWise> = #expr;
                }
            });
            let (is_expensive, asks_for_values) = (args.cheap.is_none(), args.handles_only.is_none());
            (
                quote!(OpKernel),
                quote! {
                    #element_wise

                    fn compute(&self, ctx: &mut #krate::kernel::KernelContext<'_, #op>) -> #krate::Result<()> {
                        #call
                    }

                    fn is_expensive(&self) -> bool {
                        #is_expensive
                    }

                    fn asks_for_values(&self) -> bool {
                        #asks_for_values
                    }
                },
            )
        }
    };
    quote! {
        struct __Function<#(#declared),*>(#state, ::core::marker::PhantomData<fn() -> (#(#types,)*)>);

        impl<#(#own),*> #krate::kernel::#kernel<#op> for __Function<#(#names),*> #bounds {
            fn new(ctx: &#krate::kernel::KernelConstruction<'_, #op>) -> #krate::Result<Self> {
                let _ = ctx;
                ::core::result::Result::Ok(Self(#new, ::core::marker::PhantomData))
            }

            #compute
        }
    }
}

/// A generic parameter as a type without bounds declares it.
pub(super) fn declaration(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => {
            let (ident, ty): (&Ident, &Type) = (&param.ident, &param.ty);
            quote!(const #ident: #ty)
        }
    }
}

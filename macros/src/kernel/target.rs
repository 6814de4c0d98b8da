//! What a registration stands on: the impl of a kernel, or a type alias.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Fields, GenericArgument, GenericParam, Generics, Item, ItemImpl, PathArguments, Type};

use super::parse::{KernelArgs, Values};
use super::wgsl;
use crate::errors::Errors;

/// What a registration stands on.
pub(super) struct Target {
    /// The item, to keep.
    pub(super) item: TokenStream,
    /// The op's type.
    pub(super) op: Type,
    /// Whether the kernel may wait.
    pub(super) is_async: bool,
    /// The kernel's type, with its parameters.
    pub(super) kernel: Type,
    /// The names of its generic parameters, in order, and the parameters as an alias declares them.
    pub(super) params: Vec<(Ident, TokenStream)>,
    /// The struct that stands for the kernel, if only its shader is written: the lists of dtypes are its parameters
    /// then, though its type has none.
    pub(super) shader: Option<Ident>,
}

impl Target {
    pub(super) fn parse(item: TokenStream, args: &KernelArgs, errors: &mut Errors) -> Option<Target> {
        let usage = "#[register_kernel] stands on `impl OpKernel<Op> for Kernel` (or AsyncOpKernel), or on a type alias \
                     `type AbsKernel<T> = Unary<AbsFn, T>;` with `op = Abs`";
        let parsed = match syn::parse2(item.clone()) {
            Ok(parsed) => parsed,
            Err(error) => {
                errors.push(error);
                return None;
            }
        };
        if args.shader.is_some() {
            return Target::of_shader(item, &parsed, args, errors);
        }
        let (op, is_async, kernel, generics) = match parsed {
            Item::Impl(item) => {
                if let Some(op) = &args.op {
                    errors.on(op, "the impl names the op already: remove `op = ...`");
                }
                let (op, is_async) = op_of(&item, usage, errors)?;
                (op, is_async, *item.self_ty, item.generics)
            }
            Item::Type(item) => {
                let Some(op) = args.op.clone() else {
                    let message = "say which op the kernel is for: `op = Abs`";
                    errors.on(&item.ident, message);
                    return None;
                };
                let (ident, generics) = (&item.ident, &item.generics);
                let names = names(generics);
                let arguments = (!names.is_empty()).then(|| quote!(<#(#names),*>));
                let kernel = syn::parse2(quote!(#ident #arguments)).ok()?;
                (op, false, kernel, item.generics)
            }
            other => {
                errors.on(other, usage);
                return None;
            }
        };
        let params = params(&generics, args, errors);
        Some(Target { item, op, is_async, kernel, params, shader: None })
    }

    /// A unit struct, if only the shader is written.
    fn of_shader(item: TokenStream, parsed: &Item, args: &KernelArgs, errors: &mut Errors) -> Option<Target> {
        let ident = match parsed {
            Item::Struct(item) if matches!(item.fields, Fields::Unit) && item.generics.params.is_empty() => &item.ident,
            other => {
                let usage = "with `wgsl`, #[register_kernel] stands on a unit struct: `struct ZeroOutOnGpu;`";
                errors.on(other, usage);
                return None;
            }
        };
        let Some(op) = args.op.clone() else {
            let message = "say which op the kernel is for: `op = ZeroOut`";
            errors.on(ident, message);
            return None;
        };
        let params = wgsl::type_lists(args).map(|list| (list.ident.clone(), TokenStream::new())).collect();
        let kernel = wgsl::kernel(&args.krate, ident);
        Some(Target { item, op, is_async: false, kernel, params, shader: Some(ident.clone()) })
    }
}

/// The op in `impl OpKernel<Op> for Kernel`, and whether it is `AsyncOpKernel<Op>`.
fn op_of(item: &ItemImpl, usage: &str, errors: &mut Errors) -> Option<(Type, bool)> {
    let Some((_, path, _)) = &item.trait_ else {
        errors.on(&item.self_ty, usage);
        return None;
    };
    let last = path.segments.last()?;
    let is_async = last.ident == "AsyncOpKernel";
    let op = match &last.arguments {
        PathArguments::AngleBracketed(arguments) if is_async || last.ident == "OpKernel" => {
            match arguments.args.first() {
                Some(GenericArgument::Type(op)) => Some(op.clone()),
                _ => None,
            }
        }
        _ => None,
    };
    if op.is_none() {
        errors.on(path, usage);
    }
    Some((op?, is_async))
}

fn names(generics: &Generics) -> Vec<&Ident> {
    let names = generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => Some(&param.ident),
        GenericParam::Const(param) => Some(&param.ident),
        GenericParam::Lifetime(_) => None,
    });
    names.collect()
}

/// The generic parameters, each of which must have a list.
fn params(generics: &Generics, args: &KernelArgs, errors: &mut Errors) -> Vec<(Ident, TokenStream)> {
    let mut params = Vec::new();
    for param in &generics.params {
        let (ident, declaration, example) = match param {
            GenericParam::Lifetime(lifetime) => {
                errors.on(lifetime, "a registered kernel owns what it holds: it cannot have a lifetime");
                continue;
            }
            GenericParam::Type(param) => {
                let ident = &param.ident;
                (ident, quote!(#ident), "[f32, f64]")
            }
            GenericParam::Const(param) => {
                let (ident, ty) = (&param.ident, &param.ty);
                (ident, quote!(const #ident: #ty), "[1, 2]")
            }
        };
        let is_const = matches!(param, GenericParam::Const(_));
        let list = args.list(&ident.to_string());
        match list.map(|list| &list.values) {
            None => errors.at(
                ident.span(),
                format!(
                    "generic parameter `{ident}` has no list of values: add `{ident} = {example}` to \
                     #[register_kernel], where `{ident}` is an attr of the op, or register a type alias in which it \
                     is fixed"
                ),
            ),
            Some(Values::Types(_)) if !is_const => {}
            Some(Values::Ints(_) | Values::Bools(_)) if is_const => {}
            Some(_) => {
                let kinds = if is_const { "integers or bools, as it is a const parameter" } else { "dtypes" };
                let span = list.map_or(ident.span(), |list| list.ident.span());
                errors.at(span, format!("`{ident}` is a generic parameter of the kernel: list {kinds}"));
            }
        }
        params.push((ident.clone(), declaration));
    }
    params
}

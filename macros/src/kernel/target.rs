//! What a registration stands on: the impl of a kernel, a function, or a type alias.

use kernlink_spec::function_name;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote};
use syn::ext::IdentExt as _;
use syn::{
    Fields, GenericArgument, GenericParam, Generics, Item, ItemFn, ItemImpl, PathArguments, Type, Visibility,
    parse_quote,
};

use super::parse::{AttrList, KernelArgs, Values};
use super::text::compact;
use super::wgsl;
use super::{function, stacked};
use crate::errors::Errors;

/// Stands for each of the ops in the item that is registered for them.
pub(super) const OP: &str = "O";

/// What a registration stands on.
pub(super) struct Target {
    /// The item, to keep.
    pub(super) item: TokenStream,
    /// Whether the item is written once for each op, with [`OP`] as the op's name, because it does not declare [`OP`] as
    /// a generic parameter.
    pub(super) is_template: bool,
    /// Whether [`OP`] stands for the op in it.
    pub(super) names_op: bool,
    /// The types of the ops.
    pub(super) ops: Vec<Type>,
    /// Whether the kernel may wait.
    pub(super) is_async: bool,
    /// The kernel's type, with its parameters.
    pub(super) kernel: Type,
    /// The kernel as messages call it.
    pub(super) called: TokenStream,
    /// The names of its generic parameters but [`OP`], in order, and the parameters as an alias declares them.
    pub(super) params: Vec<(Ident, TokenStream)>,
    /// The function, if it is one.
    pub(super) function: Option<ItemFn>,
    /// The struct that stands for the kernel, if only its shader is written: the lists of dtypes are its parameters
    /// then, though its type has none.
    pub(super) shader: Option<Ident>,
}

impl Target {
    /// The lists for its parameters.
    pub(super) fn lists<'a>(&self, args: &'a KernelArgs) -> Vec<&'a AttrList> {
        self.params.iter().filter_map(|(ident, _)| args.list(&ident.to_string())).collect()
    }

    pub(super) fn parse(item: TokenStream, args: &KernelArgs, errors: &mut Errors) -> Option<Target> {
        let usage = "#[register_kernel] stands on `impl OpKernel<Op> for Kernel` (or AsyncOpKernel), on a function \
                     `fn name(ctx: &mut RawContext<'_>) -> Result<()>`, or on a type alias `type AbsKernel<T> = \
                     Unary<Abs, T>;` with `op = Abs`";
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
        if let (Some(cheap), false) = (&args.cheap, matches!(parsed, Item::Fn(_))) {
            errors
                .on(cheap, "`cheap` goes with a function: in an impl write `fn is_expensive(&self) -> bool { false }`");
        }
        if let (Some(handles), false) = (&args.handles_only, matches!(parsed, Item::Fn(_))) {
            let message =
                "`handles_only` goes with a function: in an impl write `fn asks_for_values(&self) -> bool { false }`";
            errors.on(handles, message);
        }
        if let Some(state) = &args.state
            && !matches!(&parsed, Item::Fn(function) if function::state_of(function).is_some())
        {
            let message = "`state` makes what a function takes before its context: `fn name(state: &State, ctx: ...)`";
            errors.on(state, message);
        }
        if let Some(element_wise) = &args.element_wise
            && !matches!(&parsed, Item::Fn(function) if function.sig.asyncness.is_none())
        {
            let message =
                "`element_wise` goes with a function that does not wait: in an impl write `const ELEMENT_WISE`";
            errors.on(element_wise, message);
        }
        let target = match parsed {
            Item::Impl(parsed) => Target::of_impl(item, parsed, args, usage, errors)?,
            Item::Fn(parsed) => Target::of_function(item, parsed, args, errors)?,
            Item::Type(parsed) => {
                if args.ops.is_empty() {
                    if !args.is_wrong("op") {
                        errors.on(&parsed.ident, "say which op the kernel is for: `op = Abs`");
                    }
                    return None;
                }
                let kernel = with_names(&parsed.ident, &parsed.generics);
                Target {
                    item,
                    is_template: false,
                    names_op: declares_op(&parsed.generics),
                    ops: args.ops.clone(),
                    is_async: false,
                    kernel: syn::parse2(kernel.clone()).ok()?,
                    called: kernel,
                    params: params(&parsed.generics, args, errors),
                    function: None,
                    shader: None,
                }
            }
            other => {
                errors.on(other, usage);
                return None;
            }
        };
        Some(target)
    }

    fn of_impl(
        item: TokenStream,
        parsed: ItemImpl,
        args: &KernelArgs,
        usage: &str,
        errors: &mut Errors,
    ) -> Option<Target> {
        let (op, is_async) = op_of(&parsed, usage, errors)?;
        let (ops, is_template) = ops_of("impl", Some(op), &parsed.generics, args, errors)?;
        Some(Target {
            item,
            is_template,
            names_op: is_template || declares_op(&parsed.generics),
            ops,
            is_async,
            called: parsed.self_ty.to_token_stream(),
            kernel: *parsed.self_ty,
            params: params(&parsed.generics, args, errors),
            function: None,
            shader: None,
        })
    }

    fn of_function(item: TokenStream, mut parsed: ItemFn, args: &KernelArgs, errors: &mut Errors) -> Option<Target> {
        let op = function::op_of(&parsed, errors)?;
        if op.is_none() && args.ops.is_empty() {
            if !args.is_wrong("op") {
                let message = "say which op the kernel is for: `op = Abs`, or `op = [Abs, Neg]`";
                errors.on(&parsed.sig.ident, message);
            }
            return None;
        }
        let (ops, is_template) = ops_of("function", op, &parsed.sig.generics, args, errors)?;
        let names_op = is_template || declares_op(&parsed.sig.generics);
        let params = params(&parsed.sig.generics, args, errors);
        let names = params.iter().map(|(ident, _)| ident);
        let allow = function::state_of(&parsed)
            .map(|_| quote!(#[allow(clippy::ptr_arg, reason = "what a kernel keeps is lent as it is kept")]));
        let called = with_names(&name_of(&parsed), &parsed.sig.generics);
        let item = match !is_template && is_named_as_a_wrapper(&mut parsed, &ops) {
            true => {
                parsed.sig.ident = renamed(&parsed.sig.ident);
                parsed.to_token_stream()
            }
            false => item,
        };
        Some(Target {
            item: quote!(#allow #item),
            is_template,
            names_op,
            ops,
            is_async: parsed.sig.asyncness.is_some(),
            kernel: syn::parse2(with_arguments(quote!(__Function), names)).ok()?,
            called,
            params,
            function: Some(parsed),
            shader: None,
        })
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
        if args.ops.is_empty() {
            if !args.is_wrong("op") {
                errors.on(ident, "say which op the kernel is for: `op = ZeroOut`");
            }
            return None;
        }
        let params: Vec<_> = wgsl::type_lists(args).map(|list| (list.ident.clone(), TokenStream::new())).collect();
        let names = params.iter().map(|(ident, _)| ident);
        Some(Target {
            item,
            is_template: false,
            names_op: false,
            ops: args.ops.clone(),
            is_async: false,
            kernel: parse_quote!(#ident),
            called: with_arguments(ident.to_token_stream(), names),
            params,
            function: None,
            shader: Some(ident.clone()),
        })
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

/// What a function's name begins with that gave way to a wrapper.
const RENAMED: &str = "__kernel_";

/// A function that is called as its op's wrapper, which may stand beside it, gets another name.
fn renamed(ident: &Ident) -> Ident {
    Ident::new(&format!("{RENAMED}{}", ident.unraw()), ident.span())
}

/// The name that a function was written with.
fn name_of(function: &ItemFn) -> Ident {
    let ident = &function.sig.ident;
    match ident.to_string().strip_prefix(RENAMED) {
        Some(name) => Ident::new(name, ident.span()),
        None => ident.clone(),
    }
}

/// Whether a function that only its module sees is called as the wrapper of one of the ops that it is registered for.
fn is_named_as_a_wrapper(function: &mut ItemFn, ops: &[Type]) -> bool {
    let name = function.sig.ident.to_string();
    let is_wrapper = |op: &Type| match op {
        Type::Path(path) => path.path.segments.last().is_some_and(|op| name == function_name(&op.ident.to_string())),
        _ => false,
    };
    let others = function.attrs.iter_mut().filter_map(stacked::arguments);
    let mut others = others.flat_map(|arguments| KernelArgs::parse(arguments.clone(), &mut Errors::default()).ops);
    matches!(function.vis, Visibility::Inherited) && (ops.iter().any(is_wrapper) || others.any(|op| is_wrapper(&op)))
}

/// The ops of an item that names `op`, and whether the item is a template: it names [`OP`] and does not declare it.
fn ops_of(
    what: &str,
    op: Option<Type>,
    generics: &Generics,
    args: &KernelArgs,
    errors: &mut Errors,
) -> Option<(Vec<Type>, bool)> {
    let Some(op) = op else { return Some((args.ops.clone(), false)) };
    if compact(op.to_token_stream()) != OP {
        if let Some(listed) = args.ops.first() {
            let message = format!(
                "the {what} names the op already: remove `op = ...`, or write `{OP}` in the {what}, which stands for each of \
                 the ops"
            );
            errors.on(listed, message);
        }
        return Some((vec![op], false));
    }
    if args.ops.is_empty() {
        if !args.is_wrong("op") {
            let message = format!("`{OP}` stands for the ops that are listed: add `op = [Abs, Neg]`");
            errors.on(op, message);
        }
        return None;
    }
    // In the copy of a template it is the op itself.
    let is_copy = matches!(&args.ops[..], [only] if compact(only.to_token_stream()) == OP);
    Some((args.ops.clone(), !is_copy && !declares_op(generics)))
}

/// Whether [`OP`] is a generic parameter.
fn declares_op(generics: &Generics) -> bool {
    generics.type_params().any(|param| param.ident == OP)
}

/// The names of the generic parameters that are no lifetimes.
pub(super) fn names(generics: &Generics) -> Vec<&Ident> {
    let names = generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => Some(&param.ident),
        GenericParam::Const(param) => Some(&param.ident),
        GenericParam::Lifetime(_) => None,
    });
    names.collect()
}

fn with_names(ident: &Ident, generics: &Generics) -> TokenStream {
    with_arguments(ident.to_token_stream(), names(generics).into_iter())
}

fn with_arguments<'a>(name: TokenStream, arguments: impl Iterator<Item = &'a Ident>) -> TokenStream {
    let mut arguments = arguments.peekable();
    match arguments.peek() {
        Some(_) => quote!(#name<#(#arguments),*>),
        None => name,
    }
}

/// The generic parameters but [`OP`], each of which must have a list.
fn params(generics: &Generics, args: &KernelArgs, errors: &mut Errors) -> Vec<(Ident, TokenStream)> {
    let mut params = Vec::new();
    for param in &generics.params {
        let (ident, example) = match param {
            GenericParam::Lifetime(lifetime) => {
                errors.on(lifetime, "a registered kernel owns what it holds: it cannot have a lifetime");
                continue;
            }
            GenericParam::Type(param) if param.ident == OP && args.list(OP).is_none() => continue,
            GenericParam::Type(param) => (&param.ident, "[f32, f64]"),
            GenericParam::Const(param) => (&param.ident, "[1, 2]"),
        };
        let is_const = matches!(param, GenericParam::Const(_));
        let list = args.list(&ident.to_string());
        match list.map(|list| &list.values) {
            None if args.is_wrong(&ident.to_string()) => {}
            None => {
                // One that lists dtypes and is no parameter may be meant.
                let names = names(generics);
                let is_free = |list: &&AttrList| {
                    matches!(list.values, Values::Types(_)) && !names.iter().any(|name| **name == list.name)
                };
                let advice = match args.lists.iter().find(is_free) {
                    Some(list) => format!("call it `{}`, as the attr whose dtypes are listed", list.name),
                    None => format!(
                        "add `{ident} = {example}` to #[register_kernel], where `{ident}` is an attr of the op, or register \
                         a type alias in which it is fixed"
                    ),
                };
                errors.at(ident.span(), format!("generic parameter `{ident}` has no list of values: {advice}"));
            }
            Some(Values::Types(_)) if !is_const => {}
            Some(Values::Ints(_) | Values::Bools(_)) if is_const => {}
            Some(_) => {
                let kinds = if is_const { "integers or bools, as it is a const parameter" } else { "dtypes" };
                let span = list.map_or(ident.span(), |list| list.ident.span());
                errors.at(span, format!("`{ident}` is a generic parameter of the kernel: list {kinds}"));
            }
        }
        params.push((ident.clone(), function::declaration(param)));
    }
    params
}

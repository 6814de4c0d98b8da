//! The op's declaration as constant data.

use kernlink_spec::{Allowed, ArgType, AttrSpec, Base, CheckedArg, DefaultValue, Dtype, Scalar};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;

use super::Op;
use super::parse::Spec;
use crate::hash::fnv;
use crate::provider::Provider;
use crate::span::respan;

/// `impl Op`, the `OpDef`, and its entry in the collection.
pub(super) fn expand(op: &Op<'_>) -> TokenStream {
    let Op { args, item, name, doc, checked } = op;
    let krate = &args.krate;
    let bare = krate.bare();
    let ident = &item.ident;
    let attrs_ident = format_ident!("{ident}Attrs");
    let attrs = checked.attrs.iter().zip(&args.attrs).map(|(attr, spec)| attr_def(attr, spec));
    let inputs = checked.inputs.iter().zip(&args.inputs).map(|(arg, spec)| arg_def(arg, spec));
    let outputs = checked.outputs.iter().zip(&args.outputs).map(|(arg, spec)| arg_def(arg, spec));
    let (summary, description) = (&doc.summary, &doc.description);
    let flag = |name: &str| args.flag(name);
    let is_commutative = flag("commutative");
    let is_aggregate = flag("aggregate");
    let is_stateful = flag("stateful") || checked.uses_resource;
    let allows_uninitialized_input = flag("allows_uninitialized_input");
    let is_distributed_communication = flag("distributed_communication");
    let system = flag("system");
    let deprecation = match &args.deprecated {
        Some(deprecated) => {
            let (version, why) = (deprecated.version, &deprecated.why);
            quote!(c::deprecated(#version, #why))
        }
        None => option(None),
    };
    // Its type stands where it stands: an error then tells of nothing else.
    let shape_fn = option(args.shape_fn.as_ref().map(|path| {
        let ty = respan(quote!(#krate::shape_inference::ShapeFn), path.span());
        quote!({ let shape_fn: #ty = #path; shape_fn })
    }));
    let fields = checked.attrs.iter().map(|attr| {
        let (field, name) = (crate::ident::exact(&attr.name), &attr.name);
        quote!(#field: attrs.required(#name)?)
    });
    let Provider { items: provide, ty: provider } = Provider::of(krate);
    let hash = fnv(name);
    // Two ops of one name are told where they stand.
    let declares = respan(quote!(impl #krate::op::DeclaresOneOpOfEachName<#hash> for #provider {}), ident.span());
    // Where the op itself stands: the attribute may be that of a family.
    let line = quote_spanned!(ident.span()=> ::std::line!());
    let attrs_param = if checked.attrs.is_empty() { quote!(_) } else { quote!(attrs) };
    quote! {
        const _: () = {
            static DEF: #krate::op::OpDef = {
                use ::std::borrow::Cow::Borrowed as B;
                use #krate::{dtype::DataType as D, op::{AttrBase as A, AttrDefault, OpDef, constant as c}};
                const INPUTS: &[#krate::op::ArgDef] = &[#(#inputs),*];
                const OUTPUTS: &[#krate::op::ArgDef] = &[#(#outputs),*];
                const ATTRS: &[#krate::op::AttrDef] = &[#(#attrs),*];
                OpDef {
                    name: c::text(#name),
                    inputs: c::args(INPUTS),
                    outputs: c::args(OUTPUTS),
                    attrs: c::attrs(ATTRS),
                    summary: c::text(#summary),
                    description: c::text(#description),
                    is_commutative: #is_commutative,
                    is_aggregate: #is_aggregate,
                    is_stateful: #is_stateful,
                    allows_uninitialized_input: #allows_uninitialized_input,
                    is_distributed_communication: #is_distributed_communication,
                    deprecation: #deprecation,
                }
            };

            impl #krate::op::Op for #ident {
                const DEF: &'static #krate::op::OpDef = &DEF;
                const IS_SELECTED: bool = #system || #krate::select::keeps_op(#name);
                type Attrs = #attrs_ident;
                // Each kernel of the op calls it.
                #[inline(never)]
                fn read_attrs(#attrs_param: &#krate::attr::AttrMap) -> #krate::Result<#attrs_ident> {
                    ::std::result::Result::Ok(#attrs_ident { #(#fields),* })
                }
            }

            #provide
            #declares

            const __SELECTED: bool = <#ident as #krate::op::Op>::IS_SELECTED;
            // Of what the entry does not refer to in the end, nothing is linked.
            static __STUB: #krate::op::OpDef = #krate::select::op_stub(#name);

            #krate::__collect_op!(#bare, #krate::__private::OpEntry {
                def: if __SELECTED { &DEF } else { &__STUB },
                shape_fn: if __SELECTED { #shape_fn } else { ::std::option::Option::None },
                system: #system,
                selected: __SELECTED,
                provider: __PROVIDER,
                location: #krate::kernel::Location { file: ::std::file!(), line: #line },
                writable: ::std::sync::atomic::AtomicBool::new(false),
            });
        };
    }
}

fn option(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::std::option::Option::Some(#value)),
        None => quote!(::std::option::Option::None),
    }
}

fn arg_def(arg: &CheckedArg, spec: &Spec) -> TokenStream {
    let (name, doc, is_ref) = (&arg.name, &spec.doc, arg.is_ref);
    let ty = match &arg.ty {
        ArgType::Fixed(dtype) => {
            let dtype = self::dtype(*dtype);
            quote!(fixed(#dtype))
        }
        ArgType::Attr(attr) => quote!(of(#attr)),
        ArgType::ListAttr(attr) => quote!(list_of(#attr)),
    };
    let number = arg.number_attr.as_deref().unwrap_or_default();
    quote!(c::arg(#name, #doc, c::#ty, #number, #is_ref))
}

fn attr_def(attr: &AttrSpec, spec: &Spec) -> TokenStream {
    let (name, doc) = (&attr.name, &spec.doc);
    let (base, list) = (base(attr.ty.base), attr.ty.list);
    let default = option(attr.default.as_ref().map(|value| default(value, attr.ty.base)));
    let minimum = option(attr.minimum.map(|minimum| quote!(#minimum)));
    let allowed = match &attr.allowed {
        Some(Allowed::Types(types)) => {
            let types = types.iter().copied().map(dtype);
            quote!(c::types(&[#(#types),*]))
        }
        // What has a destructor is constant only if it says so.
        Some(Allowed::Strings(strings)) => quote!(c::strings(const { &[#(c::text(#strings)),*] })),
        None => option(None),
    };
    quote!(c::attr(#name, #doc, A::#base, #list, #default, #minimum, #allowed))
}

fn base(base: Base) -> proc_macro2::Ident {
    format_ident!("{base:?}")
}

fn dtype(dtype: Dtype) -> TokenStream {
    let variant = format_ident!("{}", dtype.variant);
    quote!(D::#variant)
}

fn default(value: &DefaultValue, of: Base) -> TokenStream {
    match value {
        DefaultValue::One(value) => {
            let (variant, value) = (base(of), scalar(value));
            quote!(AttrDefault::#variant(#value))
        }
        DefaultValue::List(values) => {
            let (variant, values) = (format_ident!("List{of:?}"), values.iter().map(scalar));
            quote!(AttrDefault::#variant(B(const { &[#(#values),*] })))
        }
    }
}

fn scalar(value: &Scalar) -> TokenStream {
    match value {
        Scalar::String(bytes) | Scalar::Tensor(bytes) | Scalar::Func(bytes) => {
            let bytes = Literal::byte_string(bytes);
            quote!(B(#bytes))
        }
        Scalar::Int(value) => quote!(#value),
        // By its bits, which infinities and NaN have too.
        Scalar::Float(value) => {
            let bits = value.to_bits();
            quote!(f32::from_bits(#bits))
        }
        Scalar::Bool(value) => quote!(#value),
        Scalar::Type(value) => dtype(*value),
        Scalar::Shape(dims) => option(dims.as_ref().map(|dims| quote!(B(&[#(#dims),*])))),
    }
}

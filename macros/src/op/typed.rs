//! What kernels name the op's parts with: constants for the arguments, a struct for the attrs.

use kernlink_spec::{AttrType, Base, CheckedArg, constant_name};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::parse::Spec;
use super::{Op, doc};
use crate::ident;
use crate::path::Crate;

pub(super) fn expand(op: &Op<'_>) -> TokenStream {
    let Op { args, item, name, checked, .. } = op;
    let krate = &args.krate;
    let (vis, struct_ident) = (&item.vis, &item.ident);
    let constants = arguments("Input", &checked.inputs, &args.inputs, op)
        .chain(arguments("Output", &checked.outputs, &args.outputs, op))
        .collect::<Vec<_>>();
    let constants = (!constants.is_empty()).then(|| quote!(impl #struct_ident { #(#constants)* }));
    let attrs_ident = format_ident!("{struct_ident}Attrs");
    let attrs_doc = format!("The attrs of op `{name}`.");
    let fields = checked.attrs.iter().zip(&args.attrs).map(|(attr, spec)| {
        let (field, ty, doc) = (ident::exact(&attr.name), rust_type(attr.ty, krate), doc::of_spec(spec));
        quote!(#[doc = #doc] pub #field: #ty)
    });
    quote! {
        #constants

        #[doc = #attrs_doc]
        #[derive(Clone, Debug)]
        #[allow(non_snake_case, reason = "TensorFlow's names")]
        #vis struct #attrs_ident { #(#fields),* }
    }
}

fn arguments<'a>(
    kind: &'a str,
    checked: &'a [CheckedArg],
    specs: &'a [Spec],
    op: &'a Op<'_>,
) -> impl Iterator<Item = TokenStream> + 'a {
    let (krate, vis) = (&op.args.krate, &op.item.vis);
    checked.iter().zip(specs).enumerate().map(move |(index, (arg, spec))| {
        let constant = ident::free(&constant_name(&arg.name), &[]);
        let list = if arg.is_list() { "List" } else { "" };
        let ty = format_ident!("{kind}{list}Arg");
        let doc = format!("{kind} {}", doc::of_spec(spec));
        quote!(#[doc = #doc] #vis const #constant: #krate::op::#ty<Self> = #krate::op::#ty::new(#index);)
    })
}

/// The Rust type of an attr's value.
pub(super) fn rust_type(ty: AttrType, krate: &Crate) -> TokenStream {
    let element = match ty.base {
        Base::String => quote!(::std::string::String),
        Base::Int => quote!(i64),
        Base::Float => quote!(f32),
        Base::Bool => quote!(bool),
        Base::Type => quote!(#krate::dtype::DataType),
        Base::Shape => quote!(#krate::shape::PartialShape),
        Base::Tensor => quote!(#krate::tensor::Tensor),
        Base::Func => quote!(#krate::attr::FunctionRef),
    };
    if ty.list { quote!(::std::vec::Vec<#element>) } else { element }
}

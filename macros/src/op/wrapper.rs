//! The wrapper: a function that adds a node of the op to a graph, and the builder that it returns.

use kernlink_spec::{AttrSpec, AttrType, Base, CheckedArg, function_name};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::parse::Spec;
use super::typed::rust_type;
use super::{Op, doc};
use crate::ident;

/// Methods that every builder has; attrs of these names get a trailing `_`.
const METHODS: &[&str] = &["name", "device", "control_input", "build"];

pub(super) fn expand(op: &Op<'_>) -> TokenStream {
    let Op { args, item, name, checked, .. } = op;
    let krate = &args.krate;
    let (vis, op_ident) = (&item.vis, &item.ident);
    let builder = format_ident!("{op_ident}Builder");
    let function = ident::free(&function_name(name), &[]);
    let function_doc = doc::of_wrapper(op);
    let function_path = function.to_string();
    let builder_doc = format!("Settings of a new node of op `{name}`: what [`{function_path}`] returns.");

    let inputs = checked.inputs.iter().map(|arg| parameter(&arg.name));
    let inputs = inputs.collect::<Vec<_>>();
    let input_types = checked.inputs.iter().map(|arg| match arg.is_list() {
        true => quote!(impl ::std::iter::IntoIterator<Item = #krate::graph::Output>),
        false => quote!(#krate::graph::Output),
    });
    let input_calls =
        checked.inputs.iter().map(|arg| format_ident!("{}", if arg.is_list() { "input_list" } else { "input" }));

    let given = || checked.attrs.iter().zip(&args.attrs).filter(|(attr, _)| !checked.is_inferred(&attr.name));
    let required = given().filter(|(attr, _)| attr.default.is_none()).map(|(attr, _)| attr).collect::<Vec<_>>();
    let required_params = required.iter().map(|attr| parameter(&snake(&attr.name))).collect::<Vec<_>>();
    let required_types = required.iter().map(|attr| parameter_type(attr.ty, op));
    let required_names = required.iter().map(|attr| &attr.name);
    let required_values = required.iter().zip(&required_params).map(|(attr, param)| conversion(attr.ty, param, op));
    let setters = given().filter(|(attr, _)| attr.default.is_some()).map(|(attr, spec)| setter(attr, spec, op));

    let many = checked.inputs.len() + required.len() > 6;
    let allow_many = many.then(|| quote!(#[allow(clippy::too_many_arguments, reason = "the op has as many")]));
    let allow_snake = function_path
        .trim_matches('_')
        .contains("__")
        .then(|| quote!(#[allow(non_snake_case, reason = "TensorFlow's name")]));
    let Outputs { ty: output_type, declaration, build } = outputs(op);
    quote! {
        #declaration

        #[doc = #function_doc]
        #allow_many
        #allow_snake
        #vis fn #function<'g>(
            graph: &'g mut #krate::graph::Graph,
            #(#inputs: #input_types,)*
            #(#required_params: #required_types,)*
        ) -> #builder<'g> {
            let mut __node = #krate::graph::NodeBuilder::new(graph, <#op_ident as #krate::op::Op>::DEF);
            #(__node.#input_calls(#inputs);)*
            #(__node.attr(#required_names, #required_values);)*
            #builder(__node)
        }

        #[doc = #builder_doc]
        #[must_use = "`build` adds the node"]
        #vis struct #builder<'g>(#krate::graph::NodeBuilder<'g>);

        impl #builder<'_> {
            #(#setters)*

            /// Names the node.
            #vis fn name(mut self, name: &str) -> Self {
                self.0.name(name);
                self
            }

            /// Asks for a device.
            #vis fn device(mut self, device: &str) -> Self {
                self.0.device(device);
                self
            }

            /// Makes the node run after another one.
            #vis fn control_input(mut self, node: #krate::graph::NodeId) -> Self {
                self.0.control_input(node);
                self
            }

            /// Adds the node.
            ///
            /// # Errors
            /// If inputs, attrs or the name do not suit.
            #[track_caller]
            #vis fn build(self) -> #krate::Result<#output_type> {
                #build
            }
        }
    }
}

/// An attr's name in the style of Rust: `DstT` → `dst_t`.
fn snake(attr: &str) -> String {
    function_name(attr)
}

fn parameter(name: &str) -> Ident {
    ident::free(name, &["graph"])
}

/// What a user gives for an attr.
fn parameter_type(ty: AttrType, op: &Op<'_>) -> TokenStream {
    let krate = &op.args.krate;
    match (ty.list, ty.base) {
        (false, Base::String) => quote!(&str),
        (false, Base::Shape) => quote!(impl ::std::convert::Into<#krate::shape::PartialShape>),
        (true, Base::String) => {
            quote!(impl ::std::iter::IntoIterator<Item = impl ::std::convert::Into<::std::string::String>>)
        }
        (false, _) => rust_type(ty, krate),
        (true, _) => {
            let list = rust_type(ty, krate);
            quote!(impl ::std::convert::Into<#list>)
        }
    }
}

/// From that to something that converts into an `AttrValue`.
fn conversion(ty: AttrType, param: &Ident, op: &Op<'_>) -> TokenStream {
    match (ty.list, ty.base) {
        (true, Base::String) => quote! {
            ::std::iter::Iterator::collect::<::std::vec::Vec<::std::string::String>>(
                ::std::iter::Iterator::map(::std::iter::IntoIterator::into_iter(#param), ::std::convert::Into::into)
            )
        },
        (false, Base::Shape) | (true, _) => {
            let ty = rust_type(ty, &op.args.krate);
            quote!(::std::convert::Into::<#ty>::into(#param))
        }
        _ => quote!(#param),
    }
}

/// The builder's method for an attr.
fn setter(attr: &AttrSpec, spec: &Spec, op: &Op<'_>) -> TokenStream {
    let vis = &op.item.vis;
    let name = &attr.name;
    let method = ident::free(&snake(name), METHODS);
    let param = format_ident!("value");
    let ty = parameter_type(attr.ty, op);
    let doc = format!("Sets attr {}", doc::of_spec(spec));
    let value = conversion(attr.ty, &param, op);
    quote! {
        #[doc = #doc]
        #vis fn #method(mut self, value: #ty) -> Self {
            self.0.attr(#name, #value);
            self
        }
    }
}

/// What `build` returns.
struct Outputs {
    ty: TokenStream,
    /// The struct, if there are several outputs.
    declaration: Option<TokenStream>,
    build: TokenStream,
}

fn outputs(op: &Op<'_>) -> Outputs {
    let Op { args, item, name, checked, .. } = op;
    let krate = &args.krate;
    let ty = |arg: &CheckedArg| match arg.is_list() {
        true => quote!(::std::vec::Vec<#krate::graph::Output>),
        false => quote!(#krate::graph::Output),
    };
    // Where each argument's outputs begin is known until the first list.
    let lists = checked.outputs.iter().any(CheckedArg::is_list);
    let value = |(index, arg): (usize, &CheckedArg)| match (lists, arg.is_list()) {
        (false, _) => quote!(#krate::graph::Output { node, index: #index }),
        (true, true) => quote!(graph.outputs_of(node, #index)),
        (true, false) => quote!(graph.outputs_of(node, #index)[0]),
    };
    let node = match lists {
        true => quote!(let (node, graph) = self.0.build_in()?;),
        false => quote!(let node = self.0.build()?;),
    };
    match &checked.outputs[..] {
        [] => Outputs { ty: quote!(#krate::graph::NodeId), declaration: None, build: quote!(self.0.build()) },
        [output] => {
            let value = value((0, output));
            Outputs { ty: ty(output), declaration: None, build: quote!(#node ::std::result::Result::Ok(#value)) }
        }
        outputs => {
            let vis = &item.vis;
            let ident = format_ident!("{}Output", item.ident);
            let fields = outputs.iter().map(|arg| ident::exact(&arg.name)).collect::<Vec<_>>();
            let docs = args.outputs.iter().map(doc::of_spec);
            let types = outputs.iter().map(ty);
            let values = outputs.iter().enumerate().map(value);
            let doc = format!("The outputs of a node of op `{name}`.");
            Outputs {
                ty: quote!(#ident),
                declaration: Some(quote! {
                    #[doc = #doc]
                    #[derive(Clone, Debug)]
                    #vis struct #ident { #(#[doc = #docs] pub #fields: #types),* }
                }),
                build: quote!(#node ::std::result::Result::Ok(#ident { #(#fields: #values),* })),
            }
        }
    }
}

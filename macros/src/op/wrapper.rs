//! The wrapper: a function that adds a node of the op to a graph, and the builder that it returns.

use kernlink_spec::{AttrSpec, AttrType, Base, CheckedArg, function_name};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::parse::Spec;
use super::required::{self, Required};
use super::typed::rust_type;
use super::{Op, doc, words};
use crate::ident;
use crate::span::located;

/// Methods that every builder has; attrs of these names get a trailing `_`.
const METHODS: &[&str] = &["name", "device", "attr", "control_input", "build"];

pub(super) fn expand(op: &Op<'_>) -> TokenStream {
    let Op { args, item, name, checked, .. } = op;
    let krate = &args.krate;
    let (vis, op_ident) = (&item.vis, &item.ident);
    let builder = format_ident!("{op_ident}Builder");
    let function = ident::free(&function_name(name), &[]);
    let function_path = function.to_string();
    let function = located(quote!(#function), op_ident.span());
    let scope = format_ident!("{}", if op_ident == "S" { "S_" } else { "S" });
    let builder_doc = format!("Settings of op `{name}`: what [`{function_path}`] returns.");

    let given = || checked.attrs.iter().zip(&args.attrs).filter(|(attr, _)| !checked.is_inferred(&attr.name));
    let required = given().filter(|(attr, _)| attr.default.is_none()).collect::<Vec<_>>();
    let mut taken = vec!["scope".to_owned()];
    let inputs = checked.inputs.iter().map(|arg| unique(&arg.name, &mut taken)).collect::<Vec<_>>();
    // The compiler shows where parameters are declared: at their specs.
    let declared = |spec: &Spec, param: &Ident, ty: TokenStream| located(quote!(#param: #ty,), spec.literal.span());
    let operand = quote!(impl #krate::graph::IntoOperand<#scope::Output>);
    let input_params = checked.inputs.iter().zip(&args.inputs).zip(&inputs).map(|((arg, spec), param)| {
        let ty = match arg.is_list() {
            true => quote!(impl ::std::iter::IntoIterator<Item = #operand>),
            false => operand.clone(),
        };
        declared(spec, param, ty)
    });
    let input_calls =
        checked.inputs.iter().map(|arg| format_ident!("{}", if arg.is_list() { "input_list" } else { "input" }));

    let is_struct = required::are_alike(required.iter().map(|(attr, _)| attr.ty));
    let of_all = unique("required", &mut taken.clone());
    // Fields are no parameters: they clash with each other alone.
    let mut taken = if is_struct { Vec::new() } else { taken };
    let required_idents =
        required.iter().map(|(attr, _)| unique(&function_name(&attr.name), &mut taken)).collect::<Vec<_>>();
    let of_struct = is_struct.then(|| required::structure(op, &function_path, &required, &required_idents));
    let declarations = match &of_struct {
        Some(Required { ty, .. }) => vec![quote!(#of_all: #ty,)],
        None => {
            let declarations = required.iter().zip(&required_idents);
            declarations.map(|((attr, spec), param)| declared(spec, param, parameter_type(attr.ty, op))).collect()
        }
    };
    let required_names = required.iter().map(|(attr, _)| &attr.name);
    let required_values = required.iter().zip(&required_idents).map(|((attr, _), ident)| match is_struct {
        true => required::conversion(attr.ty, &quote!(#of_all.#ident)),
        false => conversion(attr.ty, ident, op),
    });
    let mut methods = METHODS.iter().map(|&method| method.to_owned()).collect();
    let optional = given().filter(|(attr, _)| attr.default.is_some()).collect::<Vec<_>>();
    let methods = optional.iter().map(|(attr, _)| unique(&function_name(&attr.name), &mut methods)).collect::<Vec<_>>();
    let setters = optional.iter().zip(&methods).map(|((attr, spec), method)| setter(attr, spec, op, method));
    let called = |attr: &AttrSpec, ident: &Ident| (attr.name.clone(), ident.to_string());
    let function_doc = doc::of_wrapper(
        op,
        &required.iter().zip(&required_idents).map(|((attr, _), ident)| called(attr, ident)).collect::<Vec<_>>(),
        &optional.iter().zip(&methods).map(|((attr, _), ident)| called(attr, ident)).collect::<Vec<_>>(),
        is_struct,
    );
    // Graphs of today refuse the op.
    let deprecated = args.deprecated.as_ref().map(|deprecated| {
        let note = format!("removed in GraphDef version {}: {}", deprecated.version, deprecated.why.value());
        quote!(#[deprecated(note = #note)])
    });

    let many = checked.inputs.len() + declarations.len() > 6;
    let allow_many = many.then(|| quote!(#[allow(clippy::too_many_arguments, reason = "the op has as many")]));
    let allow_snake = function_path
        .trim_matches('_')
        .contains("__")
        .then(|| quote!(#[allow(non_snake_case, reason = "TensorFlow's name")]));
    let Outputs { ty: output_type, declaration, build } = outputs(op);
    let required_struct = of_struct.map(|required| required.declaration);
    quote! {
        #declaration
        #required_struct

        #[doc = #function_doc]
        #deprecated
        #allow_many
        #allow_snake
        #vis fn #function<'s, #scope: #krate::graph::OpScope>(
            scope: &'s mut #scope,
            #(#input_params)*
            #(#declarations)*
        ) -> #builder<'s, #scope> {
            let mut __node = #krate::graph::NodeBuilder::new(scope, <#op_ident as #krate::op::Op>::DEF);
            #(__node.#input_calls(#inputs);)*
            #(__node.attr(#required_names, #required_values);)*
            #builder(__node)
        }

        #[doc = #builder_doc]
        #[must_use = "`build` adds or runs the op"]
        #vis struct #builder<'s, S: #krate::graph::OpScope = #krate::graph::Graph>(
            #krate::graph::NodeBuilder<'s, S>,
        );

        impl<S: #krate::graph::OpScope> #builder<'_, S> {
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

            /// Sets an attr by name, such as `_kernel`.
            #vis fn attr(mut self, name: &str, value: impl ::std::convert::Into<#krate::attr::AttrValue>) -> Self {
                self.0.attr(name, value);
                self
            }

            /// Adds the node to the graph, or runs the op in the eager context.
            ///
            /// # Errors
            /// If inputs, attrs or the name do not suit, and in an eager context whatever the kernel meets.
            #[track_caller]
            #vis fn build(self) -> #krate::Result<#output_type> {
                #build
            }
        }

        impl #builder<'_, #krate::graph::Graph> {
            /// Makes the node run after another one: a node, or that of an output.
            #vis fn control_input(mut self, node: impl ::core::convert::Into<#krate::graph::NodeId>) -> Self {
                self.0.control_input(node);
                self
            }
        }
    }
}

/// An identifier that is not taken yet: attrs may differ from inputs in case alone.
fn unique(name: &str, taken: &mut Vec<String>) -> Ident {
    let mut name = name.to_owned();
    loop {
        let ident = ident::free(&name, &[]);
        let text = ident.to_string();
        if !taken.contains(&text) {
            taken.push(text);
            return ident;
        }
        name.push('_');
    }
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
fn setter(attr: &AttrSpec, spec: &Spec, op: &Op<'_>, method: &Ident) -> TokenStream {
    let vis = &op.item.vis;
    let name = &attr.name;
    let param = format_ident!("value");
    let ty = parameter_type(attr.ty, op);
    let doc = format!("Sets attr `{name}`: {}", doc::said(&words::attr_text(attr, &spec.text()), spec));
    let value = conversion(attr.ty, &param, op);
    let (method, ty) = (located(quote!(#method), spec.literal.span()), located(ty, spec.literal.span()));
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
    let ty = |arg: &CheckedArg, value: &TokenStream| match arg.is_list() {
        true => quote!(::std::vec::Vec<#value>),
        false => value.clone(),
    };
    let take = |arg: &CheckedArg| format_ident!("{}", if arg.is_list() { "take_list" } else { "take" });
    let value = quote!(S::Output);
    match &checked.outputs[..] {
        [] => Outputs { ty: quote!(S::Node), declaration: None, build: quote!(self.0.build()) },
        [output] if !output.is_list() => Outputs { ty: value, declaration: None, build: quote!(self.0.build_output()) },
        [output] => {
            let build = quote!(self.0.build_outputs()?.take_list(0));
            Outputs { ty: ty(output, &value), declaration: None, build }
        }
        outputs => {
            let vis = &item.vis;
            let ident = format_ident!("{}Output", item.ident);
            let fields = outputs.iter().map(|arg| ident::exact(&arg.name)).collect::<Vec<_>>();
            let specs = args.outputs.iter().enumerate();
            let docs = specs.map(|(i, spec)| doc::said(&words::output(checked, i), spec));
            let types = outputs.iter().map(|arg| ty(arg, &quote!(V)));
            let takes = outputs.iter().map(take);
            let indices = 0..outputs.len();
            let doc = format!("The outputs of op `{name}`.");
            Outputs {
                ty: quote!(#ident<S::Output>),
                declaration: Some(quote! {
                    #[doc = #doc]
                    #[derive(Clone, Debug)]
                    #vis struct #ident<V = #krate::graph::Output> { #(#[doc = #docs] pub #fields: #types),* }
                }),
                build: quote! {
                    let mut outputs = self.0.build_outputs()?;
                    ::std::result::Result::Ok(#ident { #(#fields: outputs.#takes(#indices)?),* })
                },
            }
        }
    }
}

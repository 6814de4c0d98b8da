//! From a rewrite to constant data, and a call of its function with the captures.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{FnArg, ItemFn, Lit, Pat, Path};

use super::parse::{Complete, CreatedOp, RewriteArgs};
use super::pattern::{NodePattern, Operand};
use crate::errors::Errors;
use crate::path::Crate;
use crate::provider::Provider;
use crate::span::{located, respan};

/// What the names in a pattern stand for.
#[derive(Default)]
pub(super) struct Captures<'p> {
    /// The nodes, the root first, those that a node takes behind it.
    nodes: Vec<&'p NodePattern>,
    outputs: Vec<&'p Ident>,
    lists: Vec<&'p Ident>,
}

/// A name and what it stands for.
enum Capture {
    Node(usize),
    Output(usize),
    List(usize),
}

/// The captures of the pattern; `None`, with the errors, if they do not suit the function.
pub(super) fn captures<'p>(args: &'p RewriteArgs, function: &ItemFn, errors: &mut Errors) -> Option<Captures<'p>> {
    let mut captures = Captures::default();
    captures.number(args.pattern.as_ref()?, errors);
    let parameters = parameters(function, errors)?;
    let mut used = Vec::new();
    for name in &parameters {
        match captures.find(name) {
            Some(_) => used.push(name.to_string()),
            None => {
                let names: Vec<String> = captures.names().map(|name| format!("`{name}`")).collect();
                let message = match &names[..] {
                    [] => format!("the pattern has no `{name}`: it captures nothing"),
                    names => format!("the pattern has no `{name}`: it captures {}", names.join(", ")),
                };
                errors.at(name.span(), message);
            }
        }
    }
    for name in captures.names() {
        // Twice in the pattern, a capture says that two outputs are the same.
        let count = captures.count(name);
        if count == 1 && !used.iter().any(|used| name == used) {
            let message =
                format!("the function does not take `{name}`: write `_`, or nothing before `@`, in its place");
            errors.at(name.span(), message);
        }
    }
    Some(captures)
}

/// The names of the parameters behind the first.
fn parameters<'f>(function: &'f ItemFn, errors: &mut Errors) -> Option<Vec<&'f Ident>> {
    let mut inputs = function.sig.inputs.iter();
    if !matches!(inputs.next(), Some(FnArg::Typed(_))) || !function.sig.generics.params.is_empty() {
        let message = "a rewrite is a function `fn name(m: &mut Rewrite<'_, '_>, x: Output, node: &Matched<Op>) -> \
                       Result<Option<Output>>`, with parameters called as the pattern's captures";
        errors.on(&function.sig.ident, message);
        return None;
    }
    let names = inputs.map(|input| match input {
        FnArg::Typed(parameter) => match &*parameter.pat {
            Pat::Ident(pattern) => Some(&pattern.ident),
            other => {
                errors.on(other, "a parameter has the name of a capture");
                None
            }
        },
        FnArg::Receiver(_) => None,
    });
    names.collect()
}

impl<'p> Captures<'p> {
    fn number(&mut self, node: &'p NodePattern, errors: &mut Errors) {
        if let Some(name) = &node.capture
            && self.find(name).is_some()
        {
            errors.at(name.span(), format!("`{name}` names two things: a node has a name of its own"));
        }
        self.nodes.push(node);
        node.inputs.iter().for_each(|(_, operand)| self.operand(operand, errors));
    }

    fn operand(&mut self, operand: &'p Operand, errors: &mut Errors) {
        match operand {
            Operand::Any => {}
            Operand::Output(name) | Operand::Constant(name) => match self.find(name) {
                None => self.outputs.push(name),
                Some(Capture::Output(_)) => {}
                Some(_) => errors.at(name.span(), format!("`{name}` names two things: an output and another")),
            },
            Operand::List(name) => match self.find(name) {
                None => self.lists.push(name),
                Some(_) => errors.at(name.span(), format!("`{name}` names two things: a list has a name of its own")),
            },
            Operand::Each(operands) => operands.iter().for_each(|operand| self.operand(operand, errors)),
            Operand::Node(node) => self.number(node, errors),
        }
    }

    fn find(&self, name: &Ident) -> Option<Capture> {
        let node = self.nodes.iter().position(|node| node.capture.as_ref() == Some(name));
        let output = self.outputs.iter().position(|other| *other == name);
        let list = self.lists.iter().position(|other| *other == name);
        node.map(Capture::Node).or(output.map(Capture::Output)).or(list.map(Capture::List))
    }

    fn names(&self) -> impl Iterator<Item = &'p Ident> + '_ {
        let nodes = self.nodes.iter().filter_map(|node| node.capture.as_ref());
        nodes.chain(self.outputs.iter().copied()).chain(self.lists.iter().copied())
    }

    /// How often a name stands in the pattern.
    fn count(&self, name: &Ident) -> usize {
        fn operand(of: &Operand, name: &Ident) -> usize {
            match of {
                Operand::Output(other) | Operand::Constant(other) => usize::from(other == name),
                Operand::Each(operands) => operands.iter().map(|of| operand(of, name)).sum(),
                _ => 0,
            }
        }
        let of_inputs = |node: &&NodePattern| node.inputs.iter().map(|(_, of)| operand(of, name)).sum::<usize>();
        self.nodes.iter().map(of_inputs).sum::<usize>().max(1)
    }
}

/// The function, where the registration does not compile: nothing calls it.
pub(super) fn unused(function: &ItemFn) -> TokenStream {
    quote!(#[allow(dead_code, reason = "its registration is wrong")] #function)
}

pub(super) fn expand(args: &Complete<'_>, captures: &Captures<'_>, function: &ItemFn) -> TokenStream {
    let Complete { name, creates, benefit, shared, internal, inexact, krate } = args;
    let bare = krate.bare();
    let Provider { items: provide, .. } = Provider::of(krate);
    let nodes = captures.nodes.iter().enumerate().map(|(number, node)| of_node(number, node, captures, krate));
    let (outputs, lists) = (captures.outputs.len(), captures.lists.len());
    let selected = captures.nodes.iter().map(|node| {
        let any = node.ops.iter().map(|op| quote!(__selects(<#op as #krate::op::Op>::DEF)));
        quote!((#(#any)||*))
    });
    let summary = summary(function);
    let def = |op: &Path| quote!(<#op as #krate::op::Op>::DEF);
    let made = creates.iter().map(|CreatedOp { op, of }| {
        let op = def(op);
        let of = match of.as_ref().map(def) {
            Some(of) => quote!(::std::option::Option::Some(#of)),
            None => quote!(::std::option::Option::None),
        };
        quote!(#krate::optimize::rewrite::CreatedOp { op: #op, of: #of })
    });
    // What is made only of an op that the build leaves out is not needed.
    let made_selected = creates.iter().map(|CreatedOp { op, of }| {
        let selects = |op: &Path| {
            let op = def(op);
            quote!(__selects(#op))
        };
        let op = selects(op);
        of.as_ref().map(selects).map_or_else(|| op.clone(), |of| quote!((#op || !#of)))
    });
    let call = call(args, captures, function);
    quote! {
        #function

        const _: () = {
            #provide

            /// Whether the build keeps an op, or the framework needs it in any case.
            const fn __selects(op: &#krate::op::OpDef) -> bool {
                match &op.name {
                    ::std::borrow::Cow::Borrowed(name) => #krate::select::keeps_op(name),
                    ::std::borrow::Cow::Owned(_) => false,
                }
            }

            static __REWRITE: #krate::optimize::rewrite::RewriteDef = #krate::optimize::rewrite::RewriteDef {
                name: #name,
                summary: #summary,
                pattern: #krate::optimize::rewrite::Pattern {
                    nodes: &[#(#nodes),*],
                    outputs: #outputs,
                    lists: #lists,
                },
                creates: &[#(#made),*],
                benefit: #benefit,
                is_portable: !#internal,
                is_shared: #shared,
                is_inexact: #inexact,
                provider: __PROVIDER,
                location: #krate::kernel::Location { file: ::std::file!(), line: ::std::line!() },
                apply: __apply,
            };

            fn __apply(
                __rewrite: &mut #krate::optimize::rewrite::Rewrite<'_, '_>,
                __bound: &#krate::optimize::rewrite::Bound,
            ) -> #krate::Result<::std::option::Option<#krate::optimize::rewrite::Replacement>> {
                #call
            }

            // Of what the entry does not refer to, nothing is linked.
            const __SELECTED: bool = true #(&& #selected)* #(&& #made_selected)*;

            #krate::__collect_rewrite!(#bare, #krate::__private::RewriteEntry {
                name: #name,
                rewrite: if __SELECTED { ::std::option::Option::Some(&__REWRITE) } else { ::std::option::Option::None },
                provider: __PROVIDER,
                location: #krate::kernel::Location { file: ::std::file!(), line: ::std::line!() },
                writable: ::std::sync::atomic::AtomicBool::new(false),
            });
        };
    }
}

/// The call of the function with what its parameters stand for.
fn call(args: &Complete<'_>, captures: &Captures<'_>, function: &ItemFn) -> TokenStream {
    let krate = args.krate;
    let name = &function.sig.ident;
    let parameters = function.sig.inputs.iter().skip(1).filter_map(|input| match input {
        FnArg::Typed(parameter) => match &*parameter.pat {
            Pat::Ident(pattern) => Some((&pattern.ident, parameter.ty.span())),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    });
    let (mut values, mut given) = (Vec::new(), Vec::new());
    for (position, (parameter, span)) in parameters.enumerate() {
        let value = Ident::new(&format!("__capture_{position}"), Span::call_site());
        match captures.find(parameter) {
            Some(Capture::Node(number)) => {
                values.push(match &captures.nodes[number].ops[..] {
                    [op] => quote!(let #value = __rewrite.matched::<#op>(__bound, #number)?;),
                    _ => quote!(let #value = __rewrite.matched_node(__bound, #number)?;),
                });
                given.push(located(quote!(&#value), span));
            }
            Some(Capture::Output(number)) => {
                values.push(quote!(let #value = __rewrite.captured(__bound, #number)?;));
                given.push(located(quote!(#value), span));
            }
            Some(Capture::List(number)) => {
                values.push(quote!(let #value = __rewrite.captured_list(__bound, #number);));
                given.push(located(quote!(&#value), span));
            }
            None => {}
        }
    }
    let made = respan(quote!(#krate::optimize::rewrite::made), function.sig.output.span());
    quote! {
        #(#values)*
        #made(#name(__rewrite, #(#given),*))
    }
}

/// The summary: the first paragraph of the function's documentation.
fn summary(function: &ItemFn) -> String {
    let lines = function.attrs.iter().filter_map(|attr| match &attr.meta {
        syn::Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            syn::Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    });
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A node as constant data, with checks that show errors at the tokens that are wrong.
fn of_node(number: usize, node: &NodePattern, captures: &Captures<'_>, krate: &Crate) -> TokenStream {
    let rewrite = quote!(#krate::optimize::rewrite);
    // An op that does not exist is told once.
    let defs = node.ops.iter().map(|op| quote_spanned!(op.span()=> <#op as #krate::op::Op>::DEF));
    let list = quote!(const __OPS: &[&#krate::op::OpDef] = &[#(#defs),*];);
    let ops = quote!(__OPS);
    let check = |span: Span, check: TokenStream| respan(quote!(const _: () = #check;), span);
    let mut checks = Vec::new();
    if !node.is_open {
        let named = node.inputs.iter().map(|(name, _)| spelling(name));
        checks.push(check(node.end, quote!(#rewrite::check::require_all_inputs(#ops, &[#(#named),*]))));
    }
    let inputs = node.inputs.iter().enumerate().map(|(at, (name, operand))| {
        let text = spelling(name);
        let argument = Ident::new(&format!("__INPUT_{at}"), Span::call_site());
        let place = respan(quote!({ #rewrite::check::input(#ops, #text) }), name.span());
        checks.push(quote!(const #argument: usize = #place;));
        let is_list = matches!(operand, Operand::List(_) | Operand::Each(..));
        if !matches!(operand, Operand::Any) {
            checks.push(check(name.span(), quote!(#rewrite::check::require_list(#ops, #argument, #is_list))));
        }
        let operand = of_operand(operand, captures, &rewrite);
        quote!(#rewrite::InputPattern { argument: #argument, operand: #operand })
    });
    let inputs = inputs.collect::<Vec<_>>();
    let attrs = node.attrs.iter().map(|(name, value, word)| {
        let text = spelling(name);
        let (base, is) = match (value, word) {
            (_, Some(word)) => {
                let variant = dtype(word);
                (quote!(Type), quote_spanned!(word.span()=> Type(#krate::dtype::DataType::#variant)))
            }
            (Lit::Str(_), _) => (quote!(String), quote!(String(#value))),
            (Lit::Int(_), _) => (quote!(Int), quote!(Int(#value))),
            _ => (quote!(Bool), quote!(Bool(#value))),
        };
        let require = quote!(#rewrite::check::require_attr(#ops, #text, #krate::op::AttrBase::#base));
        checks.push(check(name.span(), require));
        if let (Lit::Str(_), None) = (value, word) {
            checks.push(check(value.span(), quote!(#rewrite::check::require_string(#ops, #text, #value))));
        }
        quote!(#rewrite::AttrPattern { name: #text, is: #rewrite::AttrIs::#is })
    });
    let attrs = attrs.collect::<Vec<_>>();
    let output = match &node.output {
        Some(name) => {
            let text = spelling(name);
            let place = respan(quote!({ #rewrite::check::output(#ops, #text) }), name.span());
            checks.push(quote!(const __OUTPUT: usize = #place;));
            checks.push(check(name.span(), quote!(#rewrite::check::require_single_output(#ops, __OUTPUT))));
            quote!(__OUTPUT)
        }
        None => {
            if number > 0 {
                checks.push(check(node.end, quote!(#rewrite::check::require_single_output(#ops, 0))));
            }
            quote!(0)
        }
    };
    quote!({
        #list
        #(#checks)*
        #rewrite::PatternNode { ops: #ops, output: #output, inputs: &[#(#inputs),*], attrs: &[#(#attrs),*] }
    })
}

fn of_operand(operand: &Operand, captures: &Captures<'_>, rewrite: &TokenStream) -> TokenStream {
    let kind = quote!(#rewrite::OperandPattern);
    let output = |name: &Ident| captures.outputs.iter().position(|other| *other == name).unwrap_or(0);
    match operand {
        Operand::Any => quote!(#kind::Any),
        Operand::Output(name) => {
            let number = output(name);
            quote!(#kind::Output(#number))
        }
        Operand::Constant(name) => {
            let number = output(name);
            quote!(#kind::Constant(#number))
        }
        Operand::List(name) => {
            let number = captures.lists.iter().position(|other| *other == name).unwrap_or(0);
            quote!(#kind::List(#number))
        }
        Operand::Each(operands) => {
            let each = operands.iter().map(|operand| of_operand(operand, captures, rewrite));
            quote!(#kind::Each(&[#(#each),*]))
        }
        Operand::Node(node) => {
            let number = captures.nodes.iter().position(|other| std::ptr::eq(*other, &**node)).unwrap_or(0);
            quote!(#kind::Node(#number))
        }
    }
}

/// The variant of `DataType` that a word of TensorFlow's or Rust's means, or the word itself, which the compiler refuses.
fn dtype(word: &Ident) -> TokenStream {
    let name = word.to_string();
    let found = kernlink_spec::DTYPES.iter().find(|dtype| dtype.element == name);
    let found = found.copied().or_else(|| kernlink_spec::dtype_from_word(&name));
    match found {
        Some(dtype) => Ident::new(dtype.variant, word.span()).into_token_stream(),
        None => word.to_token_stream(),
    }
}

fn spelling(name: &Ident) -> String {
    syn::ext::IdentExt::unraw(name).to_string()
}

//! The arguments that go with `wgsl`.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Expr, LitInt, LitStr, Token, bracketed, parenthesized};

use super::{Dispatch, Param, ParamType, Shader};
use crate::errors::{Errors, unknown};
use crate::kernel::parse::{list, no_duplicates};

/// Whether the arguments of a registration name a file in WGSL, so that the words that go with one are no attrs.
pub(in crate::kernel) fn names_a_shader(arguments: &TokenStream) -> bool {
    let tokens = arguments.clone().into_iter().collect::<Vec<_>>();
    tokens.windows(3).any(|tokens| match tokens {
        [TokenTree::Ident(word), TokenTree::Punct(equals), value] => {
            // With brackets it is an attr.
            let is_list = matches!(value, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket);
            word == "wgsl" && equals.as_char() == '=' && !is_list
        }
        _ => false,
    })
}

/// Refuses a word that goes with `wgsl`, which is not there.
pub(in crate::kernel) fn without_a_file(key: &Ident) -> syn::Error {
    let message = format!("`{key}` goes with the file of a shader: `wgsl = \"file.wgsl\"`");
    syn::Error::new(key.span(), message)
}

impl Shader {
    /// What can be said once all arguments are there.
    pub(in crate::kernel) fn check(&self, device: &str, errors: &mut Errors) {
        if device != "GPU"
            && let Some(file) = &self.file
        {
            errors.on(file, "a kernel in WGSL runs on the GPU: `device = Gpu`");
        }
        if self.is_raw {
            let message = "a raw shader says so itself: remove it here";
            self.vectors.iter().for_each(|name| errors.on(name, message));
            self.workgroup.iter().for_each(|threads| errors.on(threads, message));
        }
        if let Some(Dispatch::ElementWise(rule)) = &self.dispatch {
            let message = "an element-wise function is called by generated code, which has no use for this: remove it";
            self.vectors.iter().for_each(|name| errors.on(name, message));
            self.workgroup.iter().for_each(|threads| errors.on(threads, message));
            self.outputs.iter().for_each(|function| errors.on(function, message));
            if self.is_raw {
                errors.at(rule.span(), "a raw shader is the whole of it: remove `raw` or the dispatch rule");
            }
            for param in &self.params {
                match param {
                    Param::Attr(..) => {}
                    Param::Computed(name, ..) => {
                        errors.at(name.span(), "an element-wise function has attrs for parameters")
                    }
                    Param::Shape(argument, ..) => {
                        errors.on(argument, "an element-wise function has attrs for parameters")
                    }
                }
            }
        } else if let Some((code, _)) = &self.refusal {
            errors
                .at(code.span(), "`refusal` goes with an element-wise function: `dispatch = element_wise(broadcast)`");
        }
    }

    /// The rest of an argument of the registration, its key and `=` being behind us.
    pub(in crate::kernel) fn one(
        &mut self,
        word: &str,
        input: ParseStream<'_>,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        let expect =
            |usage: &'static str| move |error: syn::Error| syn::Error::new(error.span(), format!("expected `{usage}`"));
        match word {
            "wgsl" => self.file = Some(input.parse().map_err(expect("wgsl = \"file.wgsl\""))?),
            "dispatch" => self.dispatch = Some(dispatch(input)?),
            "params" => {
                refuse_nothing(input)?;
                let params = list(input, "params = [attr, top: i32 = function]", param)?;
                let names = params.iter().map(|param| match param {
                    Param::Attr(name, _) | Param::Computed(name, ..) => (name.unraw().to_string(), name.span()),
                    Param::Shape(argument, _, span) => (format!("{}_shape", argument.value()), *span),
                });
                no_duplicates(names.clone(), errors);
                for (name, span) in names {
                    if matches!(name.as_str(), "count" | "row_length" | "rows" | "columns") {
                        errors.at(span, format!("the parameter `{name}` is the dispatch's own: choose another name"));
                    }
                }
                self.params = params;
            }
            "refusal" => {
                let usage = "refusal = (InvalidArgument, \"division by zero\")";
                if !input.peek(syn::token::Paren) {
                    return Err(input.error(format!("expected `{usage}`")));
                }
                let content;
                parenthesized!(content in input);
                let parsed: syn::Result<(Ident, Expr)> = (|| {
                    let code: Ident = content.parse().map_err(expect(usage))?;
                    content.parse::<Token![,]>().map_err(expect(usage))?;
                    Ok((code, content.parse().map_err(expect(usage))?))
                })();
                let _: syn::Result<TokenStream> = content.parse();
                self.refusal = Some(parsed?);
            }
            "outputs" => self.outputs = Some(input.parse().map_err(expect("outputs = function"))?),
            "vectors" => {
                let usage = "vectors = [\"x\", \"y\"]";
                refuse_nothing(input)?;
                let names = list(input, usage, |input| input.parse::<LitStr>().map_err(expect(usage)))?;
                no_duplicates(names.iter().map(|name| (name.value(), name.span())), errors);
                self.vectors = names;
            }
            _ => {
                let literal: LitInt = input.parse().map_err(expect("workgroup = 64"))?;
                if !literal.base10_parse::<u32>().is_ok_and(|threads| (1..=256).contains(&threads)) {
                    let message = "a workgroup has 1 to 256 threads on every device";
                    return Err(syn::Error::new(literal.span(), message));
                }
                self.workgroup = Some(literal);
            }
        }
        Ok(())
    }
}

/// Refuses an empty list.
fn refuse_nothing(input: ParseStream<'_>) -> syn::Result<()> {
    let list = input.fork();
    if list.peek(syn::token::Bracket) {
        let content;
        let bracket = bracketed!(content in list);
        if content.is_empty() {
            return Err(syn::Error::new(bracket.span.join(), "the list is empty: leave it out"));
        }
    }
    Ok(())
}

const RULES: &[&str] = &["elements", "rows", "tiles", "element_wise"];

/// What an element-wise function asks of its operands' shapes, with the names in Rust.
const OPERANDS: &[(&str, &str)] = &[("broadcast", "Broadcast"), ("equal", "Equal"), ("alike", "Alike")];

fn dispatch(input: ParseStream<'_>) -> syn::Result<Dispatch> {
    if !(input.peek(syn::Ident) && input.peek2(syn::token::Paren)) {
        let usage = "expected `elements(\"argument\")`, `rows(\"argument\")`, `tiles(\"argument\", rows, columns)`, \
                     `element_wise(broadcast)`, or a function";
        return input.parse().map(Dispatch::Function).map_err(|error| syn::Error::new(error.span(), usage));
    }
    let rule: Ident = input.parse()?;
    let content;
    parenthesized!(content in input);
    let parsed = (|| {
        let usage = match rule.to_string().as_str() {
            "elements" => {
                "expected the argument of whose elements each thread has one, or so many: \
                           `elements(\"y\", 4)`"
            }
            "rows" => "expected the argument of whose rows each workgroup has one: `rows(\"x\")`",
            "tiles" => {
                "expected the argument of whose last two dimensions each workgroup has a tile, and the tile's \
                        size: `tiles(\"y\", 16, 16)`"
            }
            "element_wise" => {
                "expected what is asked of the operands' shapes: `element_wise(broadcast)`, `element_wise(equal)`, or \
                        `element_wise(alike)`, of as many elements"
            }
            word => return Err(syn::Error::new(rule.span(), unknown("dispatch rule", word, RULES))),
        };
        let explain = |error: syn::Error| syn::Error::new(error.span(), usage);
        if rule == "element_wise" {
            let operands: Ident = content.parse().map_err(explain)?;
            let known = OPERANDS.iter().find(|(word, _)| operands == word);
            let (_, name) = known.ok_or_else(|| syn::Error::new(operands.span(), usage))?;
            return match content.is_empty() {
                true => Ok(Dispatch::ElementWise(Ident::new(name, operands.span()))),
                false => Err(content.error(usage)),
            };
        }
        let argument: LitStr = content.parse().map_err(explain)?;
        let dispatch = match rule.to_string().as_str() {
            "elements" if content.is_empty() => Dispatch::Elements(argument, 1),
            "elements" => Dispatch::Elements(argument, count(&content).map_err(explain)?),
            "rows" => Dispatch::Rows(argument),
            _ => Dispatch::Tiles(argument, count(&content).map_err(explain)?, count(&content).map_err(explain)?),
        };
        content.parse::<Option<Token![,]>>()?;
        if content.is_empty() { Ok(dispatch) } else { Err(content.error(usage)) }
    })();
    // What is left after an error would be reported again.
    let _: syn::Result<TokenStream> = content.parse();
    parsed
}

/// A comma and a number that is not zero.
fn count(input: ParseStream<'_>) -> syn::Result<u32> {
    input.parse::<Token![,]>()?;
    let literal: LitInt = input.parse()?;
    match literal.base10_parse()? {
        0 => Err(syn::Error::new(literal.span(), "it is not zero")),
        value => Ok(value),
    }
}

fn param(input: ParseStream<'_>) -> syn::Result<Param> {
    let usage = "expected a parameter: `attr`, `attr: u32`, `name: i32 = function`, or `shape(\"argument\", rank)`";
    let explain = |error: syn::Error| syn::Error::new(error.span(), usage);
    let name = input.call(Ident::parse_any).map_err(explain)?;
    if name == "shape" && input.peek(syn::token::Paren) {
        let content;
        parenthesized!(content in input);
        let parsed = (|| {
            let argument = content.parse().map_err(explain)?;
            let rank = count(&content).map_err(explain)?;
            content.parse::<Option<Token![,]>>()?;
            if content.is_empty() { Ok(Param::Shape(argument, rank, name.span())) } else { Err(content.error(usage)) }
        })();
        let _: syn::Result<TokenStream> = content.parse();
        return parsed;
    }
    if !input.peek(Token![:]) {
        return Ok(Param::Attr(name, None));
    }
    input.parse::<Token![:]>()?;
    let ty: Ident = input.parse().map_err(explain)?;
    let ty = match ty.to_string().as_str() {
        "i32" => ParamType::I32,
        "u32" => ParamType::U32,
        "f32" => ParamType::F32,
        word => {
            let message = unknown("type of a parameter", word, &["i32", "u32", "f32"]);
            return Err(syn::Error::new(ty.span(), message));
        }
    };
    if !input.peek(Token![=]) {
        return Ok(Param::Attr(name, Some(ty)));
    }
    input.parse::<Token![=]>()?;
    let value: Expr = input.parse().map_err(explain)?;
    Ok(Param::Computed(name, ty, value))
}

//! The arguments of `#[register_op]`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Expr, LitInt, LitStr, Token, parenthesized};

use crate::errors::{Errors, unknown};
use crate::path::Crate;

const KNOWN: &[&str] = &[
    "attr",
    "input",
    "output",
    "name",
    "shape_fn",
    "stateful",
    "commutative",
    "aggregate",
    "allows_uninitialized_input",
    "distributed_communication",
    "system",
    "deprecated",
    "crate",
];

/// A spec with its documentation.
pub(super) struct Spec {
    pub(super) literal: LitStr,
    pub(super) doc: String,
}

impl Spec {
    pub(super) fn text(&self) -> String {
        self.literal.value()
    }
}

/// `deprecated(version, "why")`.
pub(super) struct Deprecated {
    pub(super) version: i32,
    pub(super) why: LitStr,
}

/// The arguments of `#[register_op]`.
pub(super) struct OpArgs {
    pub(super) attrs: Vec<Spec>,
    pub(super) inputs: Vec<Spec>,
    pub(super) outputs: Vec<Spec>,
    pub(super) name: Option<LitStr>,
    pub(super) shape_fn: Option<Expr>,
    pub(super) deprecated: Option<Deprecated>,
    pub(super) krate: Crate,
    flags: Vec<String>,
}

impl OpArgs {
    pub(super) fn parse(tokens: TokenStream, errors: &mut Errors) -> OpArgs {
        let mut args = OpArgs {
            attrs: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            name: None,
            shape_fn: None,
            deprecated: None,
            krate: Crate::KERNLINK,
            flags: Vec::new(),
        };
        let mut seen = Vec::new();
        let parser = |input: ParseStream<'_>| {
            each_argument(input, errors, |input| args.one(input, &mut seen));
            Ok(())
        };
        // `each_argument` consumes everything and reports by itself.
        let _: syn::Result<()> = parser.parse2(tokens);
        args
    }

    /// Whether a flag such as `stateful` is given.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag == name)
    }

    fn one(&mut self, input: ParseStream<'_>, seen: &mut Vec<String>) -> syn::Result<()> {
        let key = key(input, "an argument such as `attr(\"T: type\")` or `stateful`")?;
        let word = key.unraw().to_string();
        if !matches!(word.as_str(), "attr" | "input" | "output") {
            once(&key, seen)?;
        }
        match word.as_str() {
            "attr" => self.attrs.push(spec(input, &key, "T: {float, int32}")?),
            "input" => self.inputs.push(spec(input, &key, "x: T")?),
            "output" => self.outputs.push(spec(input, &key, "y: T")?),
            "name" => self.name = Some(value(input, "name = \"Ns>Op\"")?),
            "shape_fn" => self.shape_fn = Some(value(input, "shape_fn = path::to::function")?),
            "deprecated" => self.deprecated = Some(deprecated(input, &key)?),
            "crate" => self.krate = Crate::parse(input)?,
            "stateful"
            | "commutative"
            | "aggregate"
            | "allows_uninitialized_input"
            | "distributed_communication"
            | "system" => {
                if !input.is_empty() && !input.peek(Token![,]) {
                    return Err(input.error(format!("`{word}` is a flag and takes no value: write `{word}` alone")));
                }
                self.flags.push(word);
            }
            _ => return Err(syn::Error::new(key.span(), unknown("argument", &word, KNOWN))),
        }
        Ok(())
    }
}

/// Calls `one` for each of the arguments between commas. After an error it goes on with the next.
pub(crate) fn each_argument(
    input: ParseStream<'_>,
    errors: &mut Errors,
    mut one: impl FnMut(ParseStream<'_>) -> syn::Result<()>,
) {
    while !input.is_empty() {
        let parsed = one(input);
        let failed = errors.keep(parsed).is_none();
        if !failed && !input.is_empty() && !input.peek(Token![,]) {
            errors.push(input.error("expected `,` between arguments"));
        }
        while !input.is_empty() && !input.peek(Token![,]) {
            let _: syn::Result<TokenTree> = input.parse();
        }
        let _: syn::Result<Token![,]> = input.parse();
    }
}

/// The word that an argument begins with.
pub(crate) fn key(input: ParseStream<'_>, expected: &str) -> syn::Result<Ident> {
    input.call(Ident::parse_any).map_err(|error| syn::Error::new(error.span(), format!("expected {expected}")))
}

/// Refuses a word that was there before.
pub(crate) fn once(key: &Ident, seen: &mut Vec<String>) -> syn::Result<()> {
    let word = key.unraw().to_string();
    if seen.contains(&word) {
        return Err(syn::Error::new(key.span(), format!("`{word}` is given twice: remove one of them")));
    }
    seen.push(word);
    Ok(())
}

/// The rest of `name = value`.
fn value<T: Parse>(input: ParseStream<'_>, usage: &str) -> syn::Result<T> {
    let parsed = input.parse::<Token![=]>().and_then(|_| input.parse());
    parsed.map_err(|error| syn::Error::new(error.span(), format!("expected `{usage}`")))
}

/// The rest of `attr("spec", "documentation")`.
fn spec(input: ParseStream<'_>, key: &Ident, example: &str) -> syn::Result<Spec> {
    let usage = || format!("expected a spec in parentheses: `{key}(\"{example}\")`");
    if !input.peek(syn::token::Paren) {
        return Err(syn::Error::new(key.span(), usage()));
    }
    let content;
    parenthesized!(content in input);
    let parsed = (|| {
        let literal = content.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), usage()))?;
        let mut doc = String::new();
        if content.peek(Token![,]) {
            content.parse::<Token![,]>()?;
            if !content.is_empty() {
                doc = content.parse::<LitStr>()?.value();
                content.parse::<Option<Token![,]>>()?;
            }
        }
        if !content.is_empty() {
            return Err(content.error(format!(
                "expected the spec and at most its documentation: `{key}(\"{example}\", \"What it is.\")`"
            )));
        }
        Ok(Spec { literal, doc })
    })();
    // What is left after an error would be reported again.
    let _: syn::Result<TokenStream> = content.parse();
    parsed
}

/// The rest of `deprecated(version, "why")`.
fn deprecated(input: ParseStream<'_>, key: &Ident) -> syn::Result<Deprecated> {
    let usage = "expected the first GraphDef version in which the op is refused, and what to use instead: \
                 `deprecated(9, \"Use MatMul\")`";
    if !input.peek(syn::token::Paren) {
        return Err(syn::Error::new(key.span(), usage));
    }
    let content;
    parenthesized!(content in input);
    let parsed = (|| {
        let version = content.parse::<LitInt>()?.base10_parse()?;
        content.parse::<Token![,]>()?;
        let why = content.parse()?;
        content.parse::<Option<Token![,]>>()?;
        if content.is_empty() { Ok(Deprecated { version, why }) } else { Err(content.error(usage)) }
    })();
    let _: syn::Result<TokenStream> = content.parse();
    parsed.map_err(|error| syn::Error::new(error.span(), usage))
}

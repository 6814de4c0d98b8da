//! The arguments of `#[register_gradient]`.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{LitStr, Path, Token, bracketed, token};

use crate::errors::{Errors, unknown};
use crate::op::{each_argument, key, once};
use crate::path::Crate;

const ARGUMENTS: &[&str] = &["op", "name", "crate"];

/// The arguments of `#[register_gradient]`.
pub(super) struct GradientArgs {
    pub(super) ops: Vec<Path>,
    /// By which nodes ask for this gradient, if it is not their op's own.
    pub(super) name: Option<LitStr>,
    pub(super) krate: Crate,
}

impl GradientArgs {
    pub(super) fn parse(tokens: TokenStream, errors: &mut Errors) -> GradientArgs {
        let mut args = GradientArgs { ops: Vec::new(), name: None, krate: Crate::KERNLINK };
        let mut seen = Vec::new();
        let parser = |input: ParseStream<'_>| {
            each_argument(input, errors, |input| args.one(input, &mut seen));
            Ok(())
        };
        // `each_argument` consumes everything and reports by itself.
        let _: syn::Result<()> = parser.parse2(tokens);
        if errors.is_empty() && args.ops.is_empty() {
            errors.at(Span::call_site(), "there is no `op = MatMul`, the op whose gradient this is");
        }
        if let (Some(name), [_, second, ..]) = (&args.name, &args.ops[..]) {
            let name = name.value();
            let message = format!(
                "by the name `{name}` nodes ask for one gradient, but this is that of several ops: give each of them a \
                 registration with a name of its own"
            );
            errors.on(second, message);
        }
        args
    }

    fn one(&mut self, input: ParseStream<'_>, seen: &mut Vec<String>) -> syn::Result<()> {
        let key = key(input, "an argument such as `op = MatMul`")?;
        let word = key.unraw().to_string();
        once(&key, seen)?;
        match word.as_str() {
            "op" => {
                input.parse::<Token![=]>()?;
                if input.peek(token::Bracket) {
                    let content;
                    bracketed!(content in input);
                    self.ops = content.parse_terminated(Path::parse_mod_style, Token![,])?.into_iter().collect();
                } else {
                    self.ops.push(Path::parse_mod_style(input)?);
                }
            }
            "name" => {
                let parsed = input.parse::<Token![=]>().and_then(|_| input.parse());
                let name: LitStr =
                    parsed.map_err(|error| syn::Error::new(error.span(), "expected `name = \"ClippedIdentity\"`"))?;
                if name.value().is_empty() {
                    return Err(syn::Error::new(name.span(), "a gradient's name is not empty"));
                }
                self.name = Some(name);
            }
            "crate" => self.krate = Crate::parse(input)?,
            _ => return Err(syn::Error::new(key.span(), unknown("argument", &word, ARGUMENTS))),
        }
        Ok(())
    }
}

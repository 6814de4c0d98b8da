//! The arguments of `#[register_rewrite]`.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{LitInt, LitStr, Path, Token, bracketed};

use super::pattern::NodePattern;
use crate::errors::{Errors, unknown};
use crate::op::{each_argument, key, once};
use crate::path::Crate;

const ARGUMENTS: &[&str] = &["name", "pattern", "creates", "benefit", "shared", "internal", "inexact", "crate"];

/// The arguments of `#[register_rewrite]`, as far as they are given.
pub(super) struct RewriteArgs {
    name: Option<LitStr>,
    pub(super) pattern: Option<NodePattern>,
    creates: Vec<CreatedOp>,
    benefit: i32,
    shared: bool,
    internal: bool,
    inexact: bool,
    krate: Crate,
}

/// One of `creates`: an op, perhaps with the op without which no node of it is made.
pub(super) struct CreatedOp {
    pub(super) op: Path,
    pub(super) of: Option<Path>,
}

impl Parse for CreatedOp {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let op = Path::parse_mod_style(input)?;
        let of =
            if input.parse::<Option<Token![for]>>()?.is_some() { Some(Path::parse_mod_style(input)?) } else { None };
        Ok(CreatedOp { op, of })
    }
}

/// All of them.
pub(super) struct Complete<'a> {
    pub(super) name: &'a LitStr,
    pub(super) creates: &'a [CreatedOp],
    pub(super) benefit: i32,
    pub(super) shared: bool,
    pub(super) internal: bool,
    pub(super) inexact: bool,
    pub(super) krate: &'a Crate,
}

impl RewriteArgs {
    pub(super) fn parse(tokens: TokenStream, errors: &mut Errors) -> RewriteArgs {
        let mut args = RewriteArgs {
            name: None,
            pattern: None,
            creates: Vec::new(),
            benefit: 1,
            shared: false,
            internal: false,
            inexact: false,
            krate: Crate::KERNLINK,
        };
        let mut seen = Vec::new();
        let before = errors.is_empty();
        let parser = |input: ParseStream<'_>| {
            each_argument(input, errors, |input| args.one(input, &mut seen));
            Ok(())
        };
        // `each_argument` consumes everything and reports by itself.
        let _: syn::Result<()> = parser.parse2(tokens);
        if before && errors.is_empty() {
            for (what, is_there) in [
                ("`name = \"fuse-conv-bias\"`, by which the rewrite is switched off", args.name.is_some()),
                ("`pattern = Op { input }`, the nodes that it is about", args.pattern.is_some()),
            ] {
                if !is_there {
                    errors.at(Span::call_site(), format!("there is no {what}"));
                }
            }
        }
        args
    }

    pub(super) fn complete(&self) -> Option<Complete<'_>> {
        Some(Complete {
            name: self.name.as_ref()?,
            creates: &self.creates,
            benefit: self.benefit,
            shared: self.shared,
            internal: self.internal,
            inexact: self.inexact,
            krate: &self.krate,
        })
    }

    fn one(&mut self, input: ParseStream<'_>, seen: &mut Vec<String>) -> syn::Result<()> {
        let key = key(input, "an argument such as `name = \"fuse-conv-bias\"`")?;
        let word = key.unraw().to_string();
        once(&key, seen)?;
        match word.as_str() {
            "name" => {
                let name: LitStr = value(input, "name = \"fuse-conv-bias\"")?;
                let is_legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                if name.value().is_empty() || !name.value().chars().all(is_legal) {
                    let message = "the name of a rewrite is of lower-case letters, digits and `-`: `fuse-conv-bias`";
                    return Err(syn::Error::new(name.span(), message));
                }
                self.name = Some(name);
            }
            "pattern" => {
                input.parse::<Token![=]>()?;
                self.pattern = Some(input.parse()?);
            }
            "creates" => {
                input.parse::<Token![=]>()?;
                let content;
                bracketed!(content in input);
                self.creates = content.parse_terminated(CreatedOp::parse, Token![,])?.into_iter().collect();
            }
            "benefit" => self.benefit = value::<LitInt>(input, "benefit = 2")?.base10_parse()?,
            "crate" => self.krate = Crate::parse(input)?,
            "shared" => self.shared = true,
            "internal" => self.internal = true,
            "inexact" => self.inexact = true,
            _ => return Err(syn::Error::new(key.span(), unknown("argument", &word, ARGUMENTS))),
        }
        Ok(())
    }
}

/// The rest of `name = value`.
fn value<T: Parse>(input: ParseStream<'_>, usage: &str) -> syn::Result<T> {
    let parsed = input.parse::<Token![=]>().and_then(|_| input.parse());
    parsed.map_err(|error| syn::Error::new(error.span(), format!("expected `{usage}`")))
}

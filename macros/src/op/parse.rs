//! The arguments of `#[register_op]`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Expr, ItemStruct, LitInt, LitStr, Token, parenthesized};

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

/// On what the arguments are written.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// A struct, which is an op.
    Op,
    /// An enum, whose variants are ops: what they share.
    Family,
    /// Such a variant: what differs.
    Member,
}

/// A spec with its documentation.
#[derive(Clone)]
pub(super) struct Spec {
    pub(super) literal: LitStr,
    pub(super) doc: String,
    /// Whether the op has it from its family, or from the op that it is like.
    pub(super) is_shared: bool,
    /// Beside which of the family's specs it goes.
    beside: Option<Beside>,
}

impl Spec {
    pub(super) fn text(&self) -> String {
        self.literal.value()
    }

    /// The name before the colon.
    fn name(&self) -> String {
        self.text().split(':').next().unwrap_or_default().trim().to_owned()
    }
}

/// `before = "name"` or `after = "name"`.
#[derive(Clone)]
struct Beside {
    is_after: bool,
    name: LitStr,
}

/// `deprecated(version, "why")`.
#[derive(Clone)]
pub(super) struct Deprecated {
    pub(super) version: i32,
    pub(super) why: LitStr,
}

/// The arguments of `#[register_op]`, or of `#[op]` on a variant.
#[derive(Clone)]
pub(super) struct OpArgs {
    pub(super) attrs: Vec<Spec>,
    pub(super) inputs: Vec<Spec>,
    pub(super) outputs: Vec<Spec>,
    pub(super) name: Option<LitStr>,
    pub(super) shape_fn: Option<Expr>,
    pub(super) deprecated: Option<Deprecated>,
    pub(super) krate: Crate,
    /// The op of the family whose declaration this one starts from, in the place of the family's.
    pub(super) like: Option<Ident>,
    flags: Vec<String>,
    form: Form,
}

impl OpArgs {
    pub(super) fn parse(tokens: TokenStream, form: Form, errors: &mut Errors) -> OpArgs {
        let mut args = OpArgs {
            attrs: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            name: None,
            shape_fn: None,
            deprecated: None,
            krate: Crate::KERNLINK,
            like: None,
            flags: Vec::new(),
            form,
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

    /// The op's name: what `name` says, or else the struct's.
    pub(super) fn name(&self, item: &ItemStruct) -> String {
        self.name.as_ref().map_or_else(|| item.ident.unraw().to_string(), LitStr::value)
    }

    /// The arguments of an op of the family that these are of, or that is like the op that these are of: what it says of
    /// a name replaces what they say of it.
    pub(super) fn with(&self, own: OpArgs, errors: &mut Errors) -> OpArgs {
        OpArgs {
            attrs: merged(&self.attrs, own.attrs, "attr", errors),
            inputs: merged(&self.inputs, own.inputs, "input", errors),
            outputs: merged(&self.outputs, own.outputs, "output", errors),
            name: own.name,
            shape_fn: own.shape_fn.or_else(|| self.shape_fn.clone()),
            deprecated: own.deprecated.or_else(|| self.deprecated.clone()),
            krate: self.krate.clone(),
            like: own.like,
            flags: [&self.flags[..], &own.flags].concat(),
            form: own.form,
        }
    }

    fn one(&mut self, input: ParseStream<'_>, seen: &mut Vec<String>) -> syn::Result<()> {
        let key = key(input, "an argument such as `attr(\"T: type\")` or `stateful`")?;
        let word = key.unraw().to_string();
        if !matches!(word.as_str(), "attr" | "input" | "output") {
            once(&key, seen)?;
        }
        match word.as_str() {
            "attr" => self.attrs.push(spec(input, &key, "T: {float, int32}", self.form)?),
            "input" => self.inputs.push(spec(input, &key, "x: T", self.form)?),
            "output" => self.outputs.push(spec(input, &key, "y: T", self.form)?),
            "name" if self.form == Form::Family => {
                let message = "each op of a family has its own name: `#[op(name = \"Ns>Op\")]` on its variant";
                return Err(syn::Error::new(key.span(), message));
            }
            "like" if self.form == Form::Member => self.like = Some(value(input, "like = OtherOp")?),
            "crate" if self.form == Form::Member => {
                let message = "`crate` is said once for the family, in `#[register_op(...)]`";
                return Err(syn::Error::new(key.span(), message));
            }
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
            _ => {
                let only_here = if self.form == Form::Member { &["like"][..] } else { &[] };
                let known = [KNOWN, only_here].concat();
                return Err(syn::Error::new(key.span(), unknown("argument", &word, &known)));
            }
        }
        Ok(())
    }
}

/// Calls `one` for each of the arguments between commas. After an error it goes on with the next, and returns the words
/// that it passes over.
pub(crate) fn each_argument(
    input: ParseStream<'_>,
    errors: &mut Errors,
    mut one: impl FnMut(ParseStream<'_>) -> syn::Result<()>,
) -> Vec<String> {
    let mut skipped = Vec::new();
    while !input.is_empty() {
        let parsed = one(input);
        let failed = errors.keep(parsed).is_none();
        if !failed && !input.is_empty() && !input.peek(Token![,]) {
            errors.push(input.error("expected `,` between arguments"));
        }
        while !input.is_empty() && !input.peek(Token![,]) {
            if let Ok(TokenTree::Ident(word)) = input.parse() {
                skipped.push(word.to_string());
            }
        }
        let _: syn::Result<Token![,]> = input.parse();
    }
    skipped
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

/// The specs of an op: the family's, with its own in the place of those of the same name. The others are additions: each
/// stands where it says, or at the end.
fn merged(family: &[Spec], own: Vec<Spec>, kind: &str, errors: &mut Errors) -> Vec<Spec> {
    let mut all = family.iter().map(|spec| Spec { is_shared: true, ..spec.clone() }).collect::<Vec<_>>();
    for mut spec in own {
        let name = spec.name();
        // What the op itself says twice stays, and is reported with everything else that is wrong with the specs.
        let replaced = all.iter().position(|other| other.is_shared && other.name() == name);
        let replaced = replaced.map(|index| (index, all.remove(index)));
        if let Some((_, shared)) = &replaced
            && spec.doc.is_empty()
        {
            spec.doc.clone_from(&shared.doc);
        }
        let mut index = replaced.map_or(all.len(), |(index, _)| index);
        if let Some(Beside { is_after, name }) = &spec.beside {
            match all.iter().position(|other| other.name() == name.value()) {
                Some(found) => index = found + usize::from(*is_after),
                None if all.is_empty() => {
                    errors.on(name, format!("there is no other {kind} that this one stands beside"))
                }
                None => {
                    let names = all.iter().map(Spec::name).collect::<Vec<_>>();
                    let names = names.iter().map(String::as_str).collect::<Vec<_>>();
                    errors.on(name, unknown(kind, &name.value(), &names));
                }
            }
        }
        all.insert(index, spec);
    }
    all
}

/// The rest of `attr("spec", "documentation")`.
fn spec(input: ParseStream<'_>, key: &Ident, example: &str, form: Form) -> syn::Result<Spec> {
    let usage = || format!("expected a spec in parentheses: `{key}(\"{example}\")`");
    if !input.peek(syn::token::Paren) {
        return Err(syn::Error::new(key.span(), usage()));
    }
    let content;
    parenthesized!(content in input);
    let parsed = (|| {
        let literal = content.parse().map_err(|error: syn::Error| syn::Error::new(error.span(), usage()))?;
        let (mut doc, mut beside) = (String::new(), None);
        let next = || content.parse::<Option<Token![,]>>().is_ok_and(|comma| comma.is_some());
        if next() && content.peek(LitStr) {
            doc = content.parse::<LitStr>()?.value();
            next();
        }
        if form == Form::Member && content.peek(Ident::peek_any) {
            beside = Some(place(&content)?);
            next();
        }
        if !content.is_empty() {
            return Err(content.error(match form {
                Form::Member => format!(
                    "expected the spec, its documentation and its place, of which the last two may be missing: \
                     `{key}(\"{example}\", \"What it is.\", after = \"name\")`"
                ),
                _ => {
                    format!("expected the spec and at most its documentation: `{key}(\"{example}\", \"What it is.\")`")
                }
            }));
        }
        Ok(Spec { literal, doc, is_shared: form == Form::Family, beside })
    })();
    // What is left after an error would be reported again.
    let _: syn::Result<TokenStream> = content.parse();
    parsed
}

/// `after = "name"`
fn place(input: ParseStream<'_>) -> syn::Result<Beside> {
    let word = input.call(Ident::parse_any)?;
    let name = word.to_string();
    if !["before", "after"].contains(&name.as_str()) {
        return Err(syn::Error::new(word.span(), unknown("place", &name, &["before", "after"])));
    }
    Ok(Beside { is_after: name == "after", name: value(input, &format!("{name} = \"name\""))? })
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

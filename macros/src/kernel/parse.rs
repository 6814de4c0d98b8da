//! The arguments of `#[register_kernel]`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::{Expr, LitBool, LitInt, LitStr, Token, Type, bracketed};

use super::dtype::{self, Element};
use super::programs::Programs;
use super::text::compact;
use super::wgsl::{self, Shader};
use crate::errors::{Errors, unknown};
use crate::op::{each_argument, key, once};
use crate::path::Crate;

/// The arguments that are no attrs.
const ARGUMENTS: &[&str] = &[
    "device",
    "op",
    "cheap",
    "handles_only",
    "state",
    "element_wise",
    "host_memory",
    "requires",
    "label",
    "priority",
    "system",
    "crate",
    "wgsl",
    "dispatch",
    "params",
    "outputs",
    "vectors",
    "workgroup",
    "raw",
    "programs",
];

/// Those of [`ARGUMENTS`] that have no value.
const FLAGS: &[&str] = &["cheap", "handles_only", "system", "raw"];

const DEVICES: &[&str] = &["Cpu", "Gpu", "Default"];

/// The arguments of `#[register_kernel]`.
#[derive(Clone)]
pub(super) struct KernelArgs {
    pub(super) device: Option<String>,
    /// The ops, as far as they are listed here.
    pub(super) ops: Vec<Type>,
    pub(super) host_memory: Vec<LitStr>,
    pub(super) requires: Vec<LitStr>,
    pub(super) label: Option<LitStr>,
    pub(super) priority: i32,
    pub(super) system: bool,
    /// `cheap`, where it stands.
    pub(super) cheap: Option<Ident>,
    /// `handles_only`, where it stands.
    pub(super) handles_only: Option<Ident>,
    /// What makes that which a function keeps for its node: `state = |ctx| Masks::from_attrs(ctx.attrs)`.
    pub(super) state: Option<Expr>,
    /// What a function computes of each element, a constant `Option<ElementWise>`.
    pub(super) element_wise: Option<Expr>,
    pub(super) lists: Vec<AttrList>,
    /// If only the shader is written.
    pub(super) shader: Option<Shader>,
    /// The shaders that a kernel may run for dtypes of the lists: `programs = |T| programs(T)`.
    pub(super) programs: Option<Programs>,
    pub(super) krate: Crate,
    /// The arguments that are there but wrong: that they are missing is no error.
    wrong: Vec<String>,
}

/// `T = [f32, f64]`.
#[derive(Clone)]
pub(super) struct AttrList {
    pub(super) ident: Ident,
    pub(super) name: String,
    pub(super) values: Values,
}

/// The values in an [`AttrList`].
#[derive(Clone)]
pub(super) enum Values {
    Types(Vec<TypeEntry>),
    Strings(Vec<LitStr>),
    Ints(Vec<(i64, Span)>),
    Bools(Vec<LitBool>),
}

/// What one entry of a list of dtypes names: a dtype, or several if it is a set.
#[derive(Clone)]
pub(super) struct TypeEntry {
    pub(super) elements: Vec<Element>,
    /// What a device must be able to do for them: `f16 if "f16"`.
    pub(super) requires: Option<LitStr>,
    pub(super) span: Span,
}

impl KernelArgs {
    pub(super) fn parse(tokens: TokenStream, errors: &mut Errors) -> KernelArgs {
        let mut args = KernelArgs {
            device: None,
            ops: Vec::new(),
            host_memory: Vec::new(),
            requires: Vec::new(),
            label: None,
            priority: 0,
            system: false,
            cheap: None,
            handles_only: None,
            state: None,
            element_wise: None,
            lists: Vec::new(),
            shader: wgsl::names_a_shader(&tokens).then(Shader::default),
            programs: None,
            krate: Crate::KERNLINK,
            wrong: Vec::new(),
        };
        let mut seen = Vec::new();
        let mut more = Errors::default();
        let parser = |input: ParseStream<'_>| {
            let skipped = each_argument(input, errors, |input| {
                let word = input.cursor().ident().map(|(ident, _)| ident.to_string());
                let parsed = args.one(input, &mut seen, &mut more);
                if let (Err(_), Some(word)) = (&parsed, word) {
                    let meant = kernlink_spec::nearest(&word, ARGUMENTS.iter().copied()).map(str::to_owned);
                    args.wrong.extend(meant.into_iter().chain([word]));
                }
                parsed
            });
            Ok(skipped)
        };
        // `each_argument` consumes everything and reports by itself.
        let skipped = parser.parse2(tokens).unwrap_or_default();
        args.wrong.extend(skipped);
        errors.append(more);
        if args.device.is_none() && !args.is_wrong("device") {
            let message = "say on which device the kernel runs: `device = Cpu`";
            errors.at(Span::call_site(), message);
        }
        if let (Some(shader), Some(device)) = (&args.shader, &args.device) {
            shader.check(device, errors);
        }
        if let Some(programs) = &args.programs {
            programs.check(&args, errors);
        }
        args
    }

    /// The arguments for each part of the lists of dtypes that requires the same of the device.
    pub(super) fn narrowed(&self) -> Vec<KernelArgs> {
        let mut all = vec![self.clone()];
        for (place, list) in self.lists.iter().enumerate() {
            let Values::Types(entries) = &list.values else { continue };
            let mut groups: Vec<Vec<TypeEntry>> = Vec::new();
            let capability = |entry: &TypeEntry| entry.requires.as_ref().map(LitStr::value);
            for entry in entries {
                match groups.iter_mut().find(|group| group.first().map(capability) == Some(capability(entry))) {
                    Some(group) => group.push(entry.clone()),
                    None => groups.push(vec![entry.clone()]),
                }
            }
            let narrowed = all.iter().flat_map(|args| {
                groups.iter().map(move |group| {
                    let mut args = args.clone();
                    let more = group.first().and_then(|entry| entry.requires.clone());
                    let is_new = |more: &LitStr| args.requires.iter().all(|own| own.value() != more.value());
                    let more = more.filter(is_new);
                    args.requires.extend(more);
                    args.lists[place].values = Values::Types(group.clone());
                    args
                })
            });
            all = narrowed.collect();
        }
        all
    }

    /// Whether an argument is there, but wrong; or one that is misspelt and means it.
    pub(super) fn is_wrong(&self, name: &str) -> bool {
        self.wrong.iter().any(|wrong| wrong == name)
    }

    /// The list for an attr.
    pub(super) fn list(&self, name: &str) -> Option<&AttrList> {
        self.lists.iter().find(|list| list.name == name)
    }

    fn one(&mut self, input: ParseStream<'_>, seen: &mut Vec<String>, errors: &mut Errors) -> syn::Result<()> {
        let key = key(input, "an argument such as `device = Cpu` or `T = [f32, f64]`")?;
        let word = key.unraw().to_string();
        once(&key, seen)?;
        if word == "crate" {
            self.krate = Crate::parse(input)?;
            return Ok(());
        }
        // An attr of this name has values.
        if word == "system" && !input.peek(Token![=]) {
            self.system = true;
            return Ok(());
        }
        if word == "cheap" && !input.peek(Token![=]) {
            self.cheap = Some(key);
            return Ok(());
        }
        if word == "handles_only" && !input.peek(Token![=]) {
            self.handles_only = Some(key);
            return Ok(());
        }
        if word == "raw" && !input.peek(Token![=]) {
            return match &mut self.shader {
                Some(shader) => {
                    shader.is_raw = true;
                    Ok(())
                }
                None => Err(wgsl::without_a_file(&key)),
            };
        }
        let usage = match word.as_str() {
            "device" => "device = Cpu",
            "op" => "op = Abs",
            "host_memory" => "host_memory = [\"shape\"]",
            "requires" => "requires = [\"f16\"]",
            "label" => "label = \"name\"",
            "priority" => "priority = 1",
            _ => "T = [f32, f64]",
        };
        if !input.peek(Token![=]) {
            let message = match kernlink_spec::nearest(&word, FLAGS.iter().copied()).filter(|flag| *flag != word) {
                Some(flag) => format!("unknown argument `{word}`: did you mean `{flag}`?"),
                None => format!("expected `= value` after `{word}`, as in `{usage}`"),
            };
            return Err(syn::Error::new(key.span(), message));
        }
        if FLAGS.contains(&word.as_str()) && !is_list(input) {
            return Err(input.error(format!("`{word}` is a flag and takes no value: write `{word}` alone")));
        }
        if !ARGUMENTS.contains(&word.as_str()) {
            let meant = kernlink_spec::nearest(&word, ARGUMENTS.iter().copied());
            // Attrs may have such names, but no such values.
            if let Some(meant) = meant.filter(|&meant| !is_list(input) || (meant == "op" && !is_list_of_values(input)))
            {
                let message = format!("unknown argument `{word}`: did you mean `{meant}`?");
                return Err(syn::Error::new(key.span(), message));
            }
        }
        input.parse::<Token![=]>()?;
        if word == "state" && !input.peek(syn::token::Bracket) {
            self.state = Some(input.parse()?);
            return Ok(());
        }
        if word == "element_wise" && !input.peek(syn::token::Bracket) {
            self.element_wise = Some(input.parse()?);
            return Ok(());
        }
        if word == "programs" && !input.peek(syn::token::Bracket) {
            self.programs = Some(Programs::parse(input)?);
            return Ok(());
        }
        if wgsl::ARGUMENTS.contains(&word.as_str()) {
            match &mut self.shader {
                Some(shader) => return shader.one(&word, input, errors),
                // With brackets it may be an attr.
                None if !input.peek(syn::token::Bracket) => return Err(wgsl::without_a_file(&key)),
                None => {}
            }
        }
        let explain = |error: syn::Error| syn::Error::new(error.span(), format!("expected `{usage}`"));
        match word.as_str() {
            "device" => self.device = Some(device(input)?),
            "op" if input.peek(syn::token::Bracket) => {
                self.ops = list(input, "op = [Abs, Neg]", |input| input.parse().map_err(explain))?;
                no_duplicates(self.ops.iter().map(|op| (compact(op.to_token_stream()), op.span())), errors);
            }
            "op" if input.peek(LitStr) => {
                let literal = input.parse::<LitStr>()?;
                let message = format!("the op is the type that declares it, not its name: `op = {}`", literal.value());
                return Err(syn::Error::new(literal.span(), message));
            }
            "op" => self.ops = vec![input.parse().map_err(explain)?],
            "label" => self.label = Some(input.parse().map_err(explain)?),
            "priority" => {
                let negative = input.parse::<Option<Token![-]>>()?.is_some();
                let value: i32 = input.parse::<LitInt>().and_then(|value| value.base10_parse()).map_err(explain)?;
                self.priority = if negative { -value } else { value };
            }
            "host_memory" => {
                let names = list(input, usage, |input| input.parse::<LitStr>().map_err(explain))?;
                no_duplicates(names.iter().map(|name| (name.value(), name.span())), errors);
                self.host_memory = names;
            }
            "requires" => {
                let names = list(input, usage, |input| capability(input, usage))?;
                no_duplicates(names.iter().map(|name| (name.value(), name.span())), errors);
                self.requires = names;
            }
            _ => {
                let values = values(input, &word, errors)?;
                self.lists.push(AttrList { name: word, ident: key, values });
            }
        }
        Ok(())
    }
}

/// Whether `= [...]` follows.
fn is_list(input: ParseStream<'_>) -> bool {
    input.peek(Token![=]) && input.peek2(syn::token::Bracket)
}

/// Whether `= [...]` follows, with what attrs can be.
fn is_list_of_values(input: ParseStream<'_>) -> bool {
    let (ahead, mut errors) = (input.fork(), Errors::default());
    let parsed = ahead.parse::<Token![=]>().and_then(|_| values(&ahead, "", &mut errors));
    parsed.is_ok() && errors.is_empty()
}

fn device(input: ParseStream<'_>) -> syn::Result<String> {
    if input.peek(LitStr) {
        let literal = input.parse::<LitStr>()?;
        let device = literal.value();
        let is_upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        if device.is_empty() || !device.chars().all(is_upper) {
            let message = "a device type is a word in capitals, such as `\"TPU\"`";
            return Err(syn::Error::new(literal.span(), message));
        }
        return Ok(device);
    }
    let usage = |error: syn::Error| {
        let message = "expected `Cpu`, `Gpu`, `Default`, or another device type as a string: `device = Cpu`";
        syn::Error::new(error.span(), message)
    };
    let ident: Ident = input.call(Ident::parse_any).map_err(usage)?;
    let word = ident.to_string();
    if !DEVICES.contains(&word.as_str()) {
        let message =
            format!("{} (any other device type is a string: `device = \"TPU\"`)", unknown("device", &word, DEVICES));
        return Err(syn::Error::new(ident.span(), message));
    }
    Ok(word.to_uppercase())
}

/// What a device must be able to do.
fn capability(input: ParseStream<'_>, usage: &str) -> syn::Result<LitStr> {
    let explain = |error: syn::Error| syn::Error::new(error.span(), format!("expected `{usage}`"));
    let literal = input.parse::<LitStr>().map_err(explain)?;
    if literal.value().is_empty() {
        return Err(syn::Error::new(literal.span(), "a capability has a name, such as `\"f16\"`"));
    }
    Ok(literal)
}

/// Values in brackets, at least one.
pub(super) fn list<T>(
    input: ParseStream<'_>,
    usage: &str,
    mut one: impl FnMut(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<Vec<T>> {
    if !input.peek(syn::token::Bracket) {
        return Err(input.error(format!("expected values in brackets: `{usage}`")));
    }
    let content;
    let bracket = bracketed!(content in input);
    let mut values = Vec::new();
    let parsed = (|| {
        while !content.is_empty() {
            values.push(one(&content)?);
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        if values.is_empty() {
            let message = format!("the list is empty, so the kernel would never be chosen: `{usage}`");
            return Err(syn::Error::new(bracket.span.join(), message));
        }
        Ok(values)
    })();
    // What is left after an error would be reported again.
    let _: syn::Result<TokenStream> = content.parse();
    parsed
}

/// A value of an attr.
enum Value {
    /// A dtype that is unknown is reported, and lists none.
    Type(TypeEntry),
    Str(LitStr),
    Int(i64, Span),
    Bool(LitBool),
}

fn values(input: ParseStream<'_>, attr: &str, errors: &mut Errors) -> syn::Result<Values> {
    let usage = format!("{attr} = [f32, f64]");
    let mut values = list(input, &usage, |input| value(input, errors))?.into_iter().peekable();
    let mixed = |span: Span| {
        syn::Error::new(
            span,
            format!(
                "the values of `{attr}` differ in kind: list only dtypes, only strings, only integers, or only bools"
            ),
        )
    };
    let (mut types, mut strings, mut ints, mut bools) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for value in values.by_ref() {
        let (span, others) = match value {
            Value::Type(entry) => {
                let span = entry.span;
                types.push(entry);
                (span, [!strings.is_empty(), !ints.is_empty(), !bools.is_empty()])
            }
            Value::Str(literal) => {
                let span = literal.span();
                strings.push(literal);
                (span, [!types.is_empty(), !ints.is_empty(), !bools.is_empty()])
            }
            Value::Int(value, span) => {
                ints.push((value, span));
                (span, [!types.is_empty(), !strings.is_empty(), !bools.is_empty()])
            }
            Value::Bool(literal) => {
                let span = literal.span();
                bools.push(literal);
                (span, [!types.is_empty(), !strings.is_empty(), !ints.is_empty()])
            }
        };
        if others.contains(&true) {
            return Err(mixed(span));
        }
    }
    if !types.is_empty() {
        let names = types.iter().flat_map(|entry| {
            entry.elements.iter().map(|element| (format!("{} ({})", element.rust, element.dtype.name), entry.span))
        });
        no_duplicates(names, errors);
        return Ok(Values::Types(types));
    }
    if !strings.is_empty() {
        no_duplicates(strings.iter().map(|literal| (literal.value(), literal.span())), errors);
        return Ok(Values::Strings(strings));
    }
    if !ints.is_empty() {
        no_duplicates(ints.iter().map(|(value, span)| (value.to_string(), *span)), errors);
        return Ok(Values::Ints(ints));
    }
    no_duplicates(bools.iter().map(|literal| (literal.value.to_string(), literal.span())), errors);
    Ok(Values::Bools(bools))
}

fn value(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Value> {
    if input.peek(LitStr) {
        return Ok(Value::Str(input.parse()?));
    }
    if input.peek(LitBool) {
        return Ok(Value::Bool(input.parse()?));
    }
    if input.peek(LitInt) || input.peek(Token![-]) {
        let minus = input.parse::<Option<Token![-]>>()?;
        let literal = input.parse::<LitInt>()?;
        let text = format!("{}{}", if minus.is_some() { "-" } else { "" }, literal.base10_digits());
        let value = text.parse().map_err(|_| syn::Error::new(literal.span(), "the integer does not fit 64 bits"))?;
        return Ok(Value::Int(value, literal.span()));
    }
    let ty: Type = input.parse().map_err(|error| {
        let message = "expected a dtype such as `f32`, a string, an integer or a bool";
        syn::Error::new(error.span(), message)
    })?;
    let elements = errors.keep(dtype::parse(&ty)).unwrap_or_default();
    let is_conditional = input.parse::<Option<Token![if]>>()?.is_some();
    let requires = is_conditional.then(|| capability(input, "T = [f32, f16 if \"f16\"]")).transpose()?;
    Ok(Value::Type(TypeEntry { elements, requires, span: ty.span() }))
}

pub(super) fn no_duplicates(values: impl Iterator<Item = (String, Span)>, errors: &mut Errors) {
    let mut seen = Vec::new();
    for (value, span) in values {
        if seen.contains(&value) {
            errors.at(span, format!("`{value}` is listed twice: remove one of them"));
        }
        seen.push(value);
    }
}

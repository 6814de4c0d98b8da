//! `registered_ops!()`, `registered_kernels!()` and `registered_gradients!()`: how many registrations the crate's sources
//! hold.
//!
//! What the linker delivers is compared with this number, so that it must not come from the linker. It comes from the
//! sources: from the file of the call, which is the crate's root, and the modules below it. What stands under
//! `#[cfg(...)]` counts where the condition holds, which is left to the compiler to say.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::quote;

use crate::{gradient, kernel};

/// What is counted.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Ops,
    Kernels,
    Gradients,
}

/// An expression that is the number of registrations in the crate whose root holds the call.
pub(crate) fn registered(kind: Kind, arguments: TokenStream) -> TokenStream {
    let span = Span::call_site();
    if !arguments.is_empty() {
        return syn::Error::new_spanned(arguments, "there are no arguments").into_compile_error();
    }
    // Tools that are no compiler do not tell the file.
    let library = || Some(Path::new(&std::env::var_os("CARGO_MANIFEST_DIR")?).join("src/lib.rs"));
    let root = span.unwrap().local_file().or_else(library);
    let Some((root, text)) = root.and_then(|root| fs::read_to_string(&root).ok().map(|text| (root, text))) else {
        let message = "the source cannot be read to count what it registers: state the number instead";
        return syn::Error::new(span, message).into_compile_error();
    };
    let mut counter = Counter { kind, counts: BTreeMap::new() };
    let directory = root.parent().unwrap_or(Path::new("")).to_owned();
    counter.file(&text, &Place { file: directory.clone(), modules: directory }, &[]);
    let terms = counter.counts.into_values().map(|(conditions, count)| {
        let count = Literal::usize_suffixed(count);
        quote!(+ if ::core::cfg!(all(#(#conditions),*)) { #count } else { 0 })
    });
    quote!((0usize #(#terms)*))
}

/// Where modules are looked for.
struct Place {
    /// The folder of the file, for `#[path]`.
    file: PathBuf,
    /// The folder of modules below.
    modules: PathBuf,
}

struct Counter {
    kind: Kind,
    /// By the conditions as text: these, and the registrations under them.
    counts: BTreeMap<String, (Vec<TokenStream>, usize)>,
}

/// The attributes before an item, as far as they matter.
#[derive(Default)]
struct Attributes {
    conditions: Vec<TokenStream>,
    path: Option<String>,
    /// The arguments of registrations, each with the condition under which it stands.
    registrations: Vec<(Option<TokenStream>, TokenStream)>,
}

impl Counter {
    fn file(&mut self, text: &str, place: &Place, conditions: &[TokenStream]) {
        // Most of the time goes into tokens.
        if ["register_", "mod ", gradient::NOTHING].iter().any(|word| text.contains(word)) {
            // What is no Rust the compiler reports.
            if let Ok(tokens) = text.parse() {
                self.items(tokens, place, conditions);
            }
        }
    }

    /// Counts in a sequence of items.
    fn items(&mut self, tokens: TokenStream, place: &Place, conditions: &[TokenStream]) {
        let mut conditions = conditions.to_vec();
        let mut attributes = Attributes::default();
        let mut tokens = tokens.into_iter().peekable();
        // The tokens of the item so far, without its attributes and the contents of its braces.
        let mut item: Vec<TokenTree> = Vec::new();
        while let Some(token) = tokens.next() {
            if is_punct(&token, '#') {
                let is_inner = tokens.next_if(|token| is_punct(token, '!')).is_some();
                if let Some(TokenTree::Group(group)) = tokens.next_if(|token| matches!(token, TokenTree::Group(_))) {
                    let mut found = Attributes::default();
                    let into = if is_inner { &mut found } else { &mut attributes };
                    self.attribute(group.stream(), into);
                    conditions.extend(found.conditions);
                    continue;
                }
            }
            let is_end = match &token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    !is_const_argument(item.last(), tokens.peek())
                }
                token => is_punct(token, ';'),
            };
            if !is_end {
                item.push(token);
                continue;
            }
            let own = [&conditions[..], &attributes.conditions].concat();
            self.item(&item, &token, place, &own, &attributes);
            (attributes, item) = (Attributes::default(), Vec::new());
        }
    }

    /// Counts the registrations on an item, and those inside of it.
    fn item(
        &mut self,
        item: &[TokenTree],
        end: &TokenTree,
        place: &Place,
        conditions: &[TokenStream],
        attributes: &Attributes,
    ) {
        let group = match end {
            TokenTree::Group(group) => Some(group),
            _ => None,
        };
        if !attributes.registrations.is_empty() {
            let end = group.map_or(end.clone(), |group| Group::new(group.delimiter(), TokenStream::new()).into());
            let whole: TokenStream = item.iter().cloned().chain([end]).collect();
            let arguments = attributes.registrations.iter().map(|(_, arguments)| arguments.clone());
            // Each with the conditions of its own: variants of a family have some.
            let counts = match self.kind {
                Kind::Ops => {
                    let ops = match group.filter(|_| is_enum(item)) {
                        Some(variants) => self.variants(variants.stream()),
                        None => vec![(Vec::new(), 1)],
                    };
                    vec![ops; attributes.registrations.len()]
                }
                Kind::Kernels => {
                    let counts = kernel::count(arguments, &whole).into_iter();
                    counts.map(|count| vec![(Vec::new(), count)]).collect()
                }
                Kind::Gradients => arguments.map(|arguments| vec![(Vec::new(), gradient::count(arguments))]).collect(),
            };
            for ((condition, _), counts) in attributes.registrations.iter().zip(counts) {
                for (own, count) in counts {
                    self.add(conditions.iter().cloned().chain(condition.clone()).chain(own).collect(), count);
                }
            }
        }
        if let Some(ops) = not_differentiable(item, group).filter(|_| self.kind == Kind::Gradients) {
            self.add(conditions.to_vec(), gradient::count_nothing(ops));
        }
        match (module(item), group) {
            (Some(name), Some(group)) => {
                let modules = place.modules.join(&name);
                let inside = Place { file: modules.clone(), modules };
                self.items(group.stream(), &inside, conditions);
            }
            (Some(name), None) => {
                let files = match &attributes.path {
                    Some(path) => vec![place.file.join(path)],
                    None => vec![place.modules.join(format!("{name}.rs")), place.modules.join(&name).join("mod.rs")],
                };
                for file in files {
                    let Ok(text) = fs::read_to_string(&file) else { continue };
                    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
                    let is_folder = file.ends_with("mod.rs") || attributes.path.is_some();
                    let modules = if is_folder { folder.clone() } else { folder.join(&name) };
                    self.file(&text, &Place { file: folder, modules }, conditions);
                }
            }
            // What a macro makes of its arguments cannot be seen.
            (None, Some(group)) if !is_macro_call(item) => self.items(group.stream(), place, conditions),
            (None, _) => {}
        }
    }

    /// Adds registrations that stand under these conditions.
    fn add(&mut self, conditions: Vec<TokenStream>, count: usize) {
        let text = conditions.iter().map(TokenStream::to_string).collect::<Vec<_>>().join(", ");
        self.counts.entry(text).or_insert((conditions, 0)).1 += count;
    }

    /// The variants of an enum, with their conditions.
    fn variants(&self, tokens: TokenStream) -> Vec<(Vec<TokenStream>, usize)> {
        let variants = split(tokens).into_iter().filter(|variant| !variant.is_empty());
        let conditions = variants.map(|variant| {
            let (mut attributes, mut tokens) = (Attributes::default(), variant.into_iter());
            while let (Some(_), Some(TokenTree::Group(group))) = (tokens.next(), tokens.next()) {
                self.attribute(group.stream(), &mut attributes);
            }
            attributes.conditions
        });
        conditions.map(|conditions| (conditions, 1)).collect()
    }

    fn attribute(&self, tokens: TokenStream, into: &mut Attributes) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        match &tokens[..] {
            [TokenTree::Ident(name), TokenTree::Group(group)] if name == "cfg" => into.conditions.push(group.stream()),
            [TokenTree::Ident(name), TokenTree::Group(group)] if name == "cfg_attr" => {
                let mut parts = split(group.stream()).into_iter();
                let condition = parts.next();
                let mut inner = Attributes::default();
                parts.for_each(|part| self.attribute(part, &mut inner));
                let under = inner.registrations.into_iter().map(|(_, arguments)| (condition.clone(), arguments));
                into.registrations.extend(under);
            }
            [TokenTree::Ident(name), equals, TokenTree::Literal(path)] if name == "path" && is_punct(equals, '=') => {
                into.path =
                    syn::parse2::<syn::LitStr>(TokenTree::from(path.clone()).into()).ok().map(|path| path.value());
            }
            [.., TokenTree::Ident(name), TokenTree::Group(group)] if self.is_registration(name) => {
                into.registrations.push((None, group.stream()));
            }
            [.., TokenTree::Ident(name)] if self.is_registration(name) => {
                into.registrations.push((None, TokenStream::new()));
            }
            _ => {}
        }
    }

    fn is_registration(&self, name: &Ident) -> bool {
        name == match self.kind {
            Kind::Ops => "register_op",
            Kind::Kernels => "register_kernel",
            Kind::Gradients => "register_gradient",
        }
    }
}

/// Whether braces between these tokens hold a const argument, as in `Kernel<{ 3 }, T>`.
fn is_const_argument(before: Option<&TokenTree>, after: Option<&TokenTree>) -> bool {
    let is = |token: Option<&TokenTree>, char| token.is_some_and(|token| is_punct(token, char));
    (is(before, '<') || is(before, ',')) && (is(after, '>') || is(after, ','))
}

/// The name in `mod name`.
fn module(item: &[TokenTree]) -> Option<String> {
    match item {
        [.., TokenTree::Ident(word), TokenTree::Ident(name)] if word == "mod" => {
            Some(name.to_string().trim_start_matches("r#").to_owned())
        }
        _ => None,
    }
}

/// Whether the item up to its braces is `name!` or `macro_rules! name`.
fn is_macro_call(item: &[TokenTree]) -> bool {
    match item {
        [.., TokenTree::Ident(_), bang] if is_punct(bang, '!') => true,
        [.., TokenTree::Ident(_), bang, TokenTree::Ident(_)] if is_punct(bang, '!') => true,
        _ => false,
    }
}

/// What stands in `not_differentiable!(...)`, whatever its brackets: braces end the item, others are part of it.
fn not_differentiable(item: &[TokenTree], braces: Option<&Group>) -> Option<TokenStream> {
    let (call, ops) = match (item, braces) {
        (call, Some(braces)) => (call, braces),
        ([call @ .., TokenTree::Group(ops)], None) => (call, ops),
        _ => return None,
    };
    match call {
        [.., TokenTree::Ident(name), bang] if name == gradient::NOTHING && is_punct(bang, '!') => Some(ops.stream()),
        _ => None,
    }
}

/// Whether the item up to its braces is `enum Name`.
fn is_enum(item: &[TokenTree]) -> bool {
    matches!(item, [.., TokenTree::Ident(word), TokenTree::Ident(_)] if word == "enum")
}

fn is_punct(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

/// The parts between commas.
fn split(tokens: TokenStream) -> Vec<TokenStream> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    tokens.split(|token| is_punct(token, ',')).map(|part| part.iter().cloned().collect()).collect()
}

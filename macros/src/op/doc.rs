//! Documentation: an op's doc comment, and what is said about its parts.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use super::parse::Spec;
use super::{Op, required, words};

/// The doc comment of an op.
pub(super) struct Doc {
    /// Its first paragraph, on one line.
    pub(super) summary: String,
    /// The rest.
    pub(super) description: String,
}

impl Doc {
    pub(super) fn of(attrs: &[Attribute]) -> Doc {
        let text = attrs.iter().filter_map(line).collect::<Vec<_>>().join("\n");
        // Indents are part of the text: a description may begin with an example.
        let text = text.trim_start_matches('\n').trim_end();
        let (summary, description) = text.split_once("\n\n").unwrap_or((text, ""));
        let mut lines = summary.lines();
        let first = lines.next().unwrap_or_default().to_owned();
        Doc {
            summary: lines.fold(first, |summary, line| format!("{summary} {}", line.trim())),
            description: description.trim_start_matches('\n').to_owned(),
        }
    }
}

/// The text of a doc attribute, without the blank that follows `///`.
fn line(attr: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attr.meta else { return None };
    if !meta.path.is_ident("doc") {
        return None;
    }
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &meta.value else { return None };
    let text = text.value();
    let lines = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// A spec and its documentation: `` `x: T`: What it is. ``
pub(super) fn of_spec(spec: &Spec) -> String {
    match spec.doc.trim() {
        "" => format!("`{}`", spec.text()),
        doc => format!("`{}`: {doc}", spec.text()),
    }
}

/// The documentation of the wrapper function. `needed` and `optional` are what the attrs that can be given are called
/// in Rust, by the attrs' own names; `is_struct` says whether the required ones are the fields of a struct.
pub(super) fn of_wrapper(
    op: &Op<'_>,
    needed: &[(String, String)],
    optional: &[(String, String)],
    is_struct: bool,
) -> String {
    let Op { args, checked, doc, name, .. } = op;
    let mut text = String::new();
    let mut paragraph = |part: &str| {
        if !part.is_empty() {
            text = if text.is_empty() { part.to_owned() } else { format!("{text}\n\n{part}") };
        }
    };
    paragraph(&doc.summary);
    paragraph(&doc.description);
    if let Some(deprecated) = &args.deprecated {
        let (version, why) = (deprecated.version, deprecated.why.value());
        paragraph(&format!("Deprecated: not available from GraphDef version {version} on. {why}"));
    }
    paragraph(&format!("Adds a node of op `{name}` to a graph, or runs the op in an eager context."));
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            paragraph(&format!("# {title}\n{}", lines.join("\n")));
        }
    };
    let item = |name: &str, words: &str, spec: &Spec| format!("- `{name}`: {}", said(words, spec));
    let inputs = checked.inputs.iter().zip(&args.inputs).enumerate();
    section("Inputs", inputs.map(|(i, (arg, spec))| item(&arg.name, &words::input(checked, i), spec)).collect());
    let attrs = |called: &[(String, String)]| {
        let attrs = checked.attrs.iter().zip(&args.attrs);
        let attrs = attrs.filter_map(|(attr, spec)| {
            let (_, rust) = called.iter().find(|(name, _)| *name == attr.name)?;
            let name = match *rust == attr.name {
                true => format!("`{rust}`"),
                false => format!("`{rust}` (attr `{}`)", attr.name),
            };
            Some(format!("- {name}: {}", said(&words::attr_text(attr, &spec.text()), spec)))
        });
        attrs.collect::<Vec<_>>()
    };
    let mut fields = attrs(needed);
    if is_struct {
        fields.insert(0, format!("By name, as the fields of [`{}`]:", required::name(op)));
    }
    section("Attrs", fields);
    section("Optional attrs", attrs(optional));
    let outputs = checked.outputs.iter().zip(&args.outputs).enumerate();
    let title = if checked.outputs.len() == 1 { "Output" } else { "Outputs" };
    section(title, outputs.map(|(i, (arg, spec))| item(&arg.name, &words::output(checked, i), spec)).collect());
    text
}

/// What follows from a spec in words, and what its author says.
pub(super) fn said(words: &str, spec: &Spec) -> String {
    let doc = spec.doc.trim().replace('\n', "\n  ");
    if doc.is_empty() { words.to_owned() } else { format!("{words} {doc}") }
}

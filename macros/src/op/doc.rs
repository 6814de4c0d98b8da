//! Documentation: an op's doc comment, and what is said about its parts.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use super::Op;
use super::parse::Spec;

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
        let text = text.trim();
        let (summary, description) = text.split_once("\n\n").unwrap_or((text, ""));
        Doc {
            summary: summary.lines().map(str::trim).collect::<Vec<_>>().join(" "),
            description: description.trim().to_owned(),
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

/// The documentation of the wrapper function.
pub(super) fn of_wrapper(op: &Op<'_>) -> String {
    let Op { args, checked, doc, name, .. } = op;
    let mut text = format!("Adds a node of op `{name}` to a graph.");
    for part in [&doc.summary, &doc.description] {
        if !part.is_empty() {
            text = format!("{text}\n\n{part}");
        }
    }
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            text = format!("{text}\n\n# {title}\n{}", lines.join("\n"));
        }
    };
    let lines = |specs: &[Spec]| specs.iter().map(|spec| format!("- {}", of_spec(spec))).collect::<Vec<_>>();
    section("Inputs", lines(&args.inputs));
    let attrs = args.attrs.iter().zip(&checked.attrs).map(|(spec, attr)| {
        let inferred = if checked.is_inferred(&attr.name) { " (follows from the inputs)" } else { "" };
        format!("- {}{inferred}", of_spec(spec))
    });
    section("Attrs", attrs.collect());
    section("Outputs", lines(&args.outputs));
    text
}

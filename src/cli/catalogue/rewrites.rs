//! The rewrites of graphs that are linked, in words.

use std::collections::BTreeSet;

use crate::op::OpDef;
use crate::optimize::rewrite::{AttrIs, OperandPattern, Pattern, RewriteDef, rewrites};
use crate::sort::CompactSort as _;

/// The rewrites of the crates that are wanted, by name.
pub(super) fn sorted(wanted: impl Fn(&RewriteDef) -> bool) -> Vec<&'static RewriteDef> {
    let mut all: Vec<&'static RewriteDef> = rewrites().iter().copied().filter(|rewrite| wanted(rewrite)).collect();
    all.compact_sort_by_key(|rewrite| rewrite.name);
    all
}

/// The ops of the nodes that a rewrite takes.
pub(super) fn taken(rewrite: &RewriteDef) -> BTreeSet<&'static str> {
    rewrite.pattern.nodes.iter().flat_map(|node| node.ops).map(|op| &*op.name).collect()
}

/// The ops of the nodes that a rewrite may make.
pub(super) fn made(rewrite: &RewriteDef) -> BTreeSet<&'static str> {
    rewrite.creates.iter().map(|created| &*created.op.name).collect()
}

/// What is to be known of a rewrite beside what it does: where it is made, and whether results stay the same to the bit.
pub(super) fn flags(rewrite: &RewriteDef) -> Vec<&'static str> {
    let portable = if rewrite.is_portable { "portable" } else { "sessions only" };
    let mut flags = vec![portable];
    flags.extend(rewrite.is_inexact.then_some("inexact: only when asked for"));
    flags.extend(rewrite.is_shared.then_some("shared: inner nodes may have other users"));
    flags
}

/// A pattern as `#[register_rewrite]` takes it, where each output that is bound has a letter.
pub(super) fn pattern(pattern: &Pattern) -> String {
    node(pattern, 0, 0)
}

fn node(pattern: &Pattern, at: usize, depth: usize) -> String {
    // A pattern is a tree.
    let Some(node) = pattern.nodes.get(at).filter(|_| depth <= pattern.nodes.len()) else { return "...".to_owned() };
    let ops = node.ops.iter().map(|op| &*op.name).collect::<Vec<_>>().join(" | ");
    let ops = if node.ops.len() > 1 { format!("({ops})") } else { ops };
    let argument = |at: usize| node.ops.first().and_then(|op: &&OpDef| op.inputs.get(at)).map_or("", |arg| &*arg.name);
    let inputs = node.inputs.iter().filter(|input| !matches!(input.operand, OperandPattern::Any));
    let inputs =
        inputs.map(|input| format!("{}: {}", argument(input.argument), operand(pattern, &input.operand, depth + 1)));
    let attrs = node.attrs.iter().map(|attr| match &attr.is {
        AttrIs::String(text) => format!("{} = {text:?}", attr.name),
        AttrIs::Int(number) => format!("{} = {number}", attr.name),
        AttrIs::Bool(value) => format!("{} = {value}", attr.name),
        AttrIs::Type(dtype) => format!("{} = {dtype}", attr.name),
    });
    let parts: Vec<String> = inputs.chain(attrs).collect();
    if parts.is_empty() { ops } else { format!("{ops} {{ {} }}", parts.join(", ")) }
}

fn operand(pattern: &Pattern, operand: &OperandPattern, depth: usize) -> String {
    match operand {
        OperandPattern::Any => "any".to_owned(),
        OperandPattern::Output(number) => letter(*number),
        OperandPattern::Constant(number) => format!("const {}", letter(*number)),
        OperandPattern::List(number) => format!("list {}", letter(*number)),
        OperandPattern::Each(each) => {
            let each: Vec<String> = each.iter().map(|one| self::operand(pattern, one, depth)).collect();
            format!("[{}]", each.join(", "))
        }
        OperandPattern::Node(at) => node(pattern, *at, depth),
    }
}

/// `a` for the first, and so on.
fn letter(number: usize) -> String {
    match u8::try_from(number).ok().filter(|&number| number < 26) {
        Some(number) => char::from(b'a' + number).to_string(),
        None => format!("x{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewrite(name: &str) -> &'static RewriteDef {
        rewrites().iter().find(|rewrite| rewrite.name == name).unwrap_or_else(|| panic!("no {name}"))
    }

    #[test]
    fn patterns_are_written_as_they_are_declared() {
        let text = pattern(&rewrite("merge-transposes").pattern);
        assert_eq!(text, "Transpose { x: Transpose { x: a, perm: const b }, perm: const c }");
        for rewrite in rewrites() {
            let text = pattern(&rewrite.pattern);
            assert!(!text.contains("..."), "{}: {text}", rewrite.name);
            taken(rewrite).iter().for_each(|op| assert!(text.contains(op), "{}: {text}", rewrite.name));
        }
    }

    #[test]
    fn flags_say_where_a_rewrite_is_made() {
        assert_eq!(flags(rewrite("drop-cast")), ["portable"]);
        assert_eq!(flags(rewrite("fuse-sigmoid"))[0], "sessions only");
    }
}

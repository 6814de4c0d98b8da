//! Regular expressions, in the syntax of RE2.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

/// Each string with matches of a regular expression replaced; the expression is an input.
#[register_op(
    attr("replace_global: bool = true", "Whether all matches are replaced, not only the first."),
    input("input: string"),
    input("pattern: string", "The regular expression, in RE2's syntax; a scalar."),
    input("rewrite: string", "What takes a match's place, a scalar; `\\0` is the match, `\\1` to `\\9` its groups."),
    output("output: string"),
    shape_fn = regex_replace_shape,
)]
pub struct RegexReplace;

fn regex_replace_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(1), 0)?;
    c.with_rank(c.input(2), 0)?;
    shapes::output_shape(c, c.input(0))
}

/// Each string with matches of a regular expression replaced; the expression is an attr.
#[register_op(
    attr("pattern: string", "The regular expression, in RE2's syntax."),
    attr("rewrite: string", "What takes a match's place; `\\0` is the match, `\\1` to `\\9` its groups."),
    attr("replace_global: bool = true", "Whether all matches are replaced, not only the first."),
    input("input: string"),
    output("output: string"),
    shape_fn = shapes::unchanged,
)]
pub struct StaticRegexReplace;

#[register_op(input("input: string"), output("output: bool"), shape_fn = regex_full_match_shape)]
pub enum FullMatches {
    /// Whether a regular expression matches the whole of each string; the expression is an input.
    #[op(input("pattern: string", "The regular expression, in RE2's syntax; a scalar."))]
    RegexFullMatch,
    /// Whether a regular expression matches the whole of each string; the expression is an attr.
    #[op(attr("pattern: string", "The regular expression, in RE2's syntax."), shape_fn = shapes::unchanged)]
    StaticRegexFullMatch,
}

fn regex_full_match_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(1), 0)?;
    shapes::output_shape(c, c.input(0))
}

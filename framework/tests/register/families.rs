//! Families: ops that share a declaration.

use std::borrow::Cow::Borrowed;
use std::sync::Arc;

use kernlink::collect::linked_ops;
use kernlink::dtype::DataType;
use kernlink::graph::Graph;
use kernlink::op::{AllowedValues, AttrDefault, Op, OpDef};
use kernlink::registry::Registry;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use super::wrappers::source;

fn of_family(_: &mut InferenceContext<'_>) -> kernlink::Result<()> {
    Ok(())
}

fn of_op(c: &mut InferenceContext<'_>) -> kernlink::Result<()> {
    c.set_output(0, c.scalar());
    Ok(())
}

/// What holds of all of them.
///
/// And more.
#[register_op(
    attr("T: {float, double}"),
    attr("keep: bool = false", "Whether to keep."),
    input("x: T", "What goes in."),
    input("y: T"),
    output("z: T"),
    shape_fn = of_family
)]
pub(crate) enum Family {
    /// An op like
    /// all.
    FamilyPlain,
    /// An op that differs.
    ///
    /// A lot.
    #[op(
        name = "Ns>FamilyOther",
        attr("T: {int32}"),
        attr("N: int = 1", before = "keep"),
        attr("first: int = 1", "The first.", before = "T"),
        attr("keep: bool = true"),
        input("x: Ref(T)"),
        input("between: T", after = "x"),
        input("next: T", "The next.", after = "between",),
        input("y: float", "What differs."),
        output("more: int32"),
        shape_fn = of_op,
        commutative,
    )]
    #[op(stateful)]
    FamilyOther,
    /// An op like another.
    #[op(like = FamilyOther, attr("first: int = 2"), input("last: T"))]
    FamilyLike,
    #[op(input("y: T", before = "x"), deprecated(9, "Use FamilyPlain."))]
    FamilyMoved,
    #[cfg(not(test))]
    FamilyNotInTests,
    #[cfg(test)]
    FamilyInTests,
}

fn names<'a>(parts: impl IntoIterator<Item = &'a std::borrow::Cow<'static, str>>) -> Vec<&'a str> {
    parts.into_iter().map(|name| &**name).collect()
}

fn inputs(def: &OpDef) -> Vec<&str> {
    names(def.inputs.iter().map(|arg| &arg.name))
}

fn attrs(def: &OpDef) -> Vec<&str> {
    names(def.attrs.iter().map(|attr| &attr.name))
}

#[test]
fn an_op_that_says_nothing_is_as_the_family_says() {
    let def = FamilyPlain::DEF;
    assert_eq!((inputs(def), attrs(def)), (vec!["x", "y"], vec!["T", "keep"]));
    assert_eq!((&*def.summary, &*def.description), ("An op like all.", "What holds of all of them.\n\nAnd more."));
    assert_eq!(def.inputs[0].description, "What goes in.");
    assert!(!def.is_stateful && !def.is_commutative && def.deprecation.is_none());
    assert_eq!((FamilyPlain::X.index(), FamilyPlain::Y.index(), FamilyPlain::Z.index()), (0, 1, 0));
}

#[test]
fn what_an_op_says_replaces_what_the_family_says_of_the_name_or_is_added() {
    let def = FamilyOther::DEF;
    assert_eq!(def.name, "Ns>FamilyOther");
    assert_eq!(inputs(def), ["x", "between", "next", "y"]);
    assert_eq!(attrs(def), ["first", "T", "N", "keep"]);
    assert_eq!(names(def.outputs.iter().map(|arg| &arg.name)), ["z", "more"]);
    assert!(def.inputs[0].is_ref && def.is_stateful && def.is_commutative);
    let docs: Vec<_> = def.inputs.iter().map(|arg| &*arg.description).collect();
    assert_eq!(docs, ["What goes in.", "", "The next.", "What differs."], "the family's, where the op has none");
    assert_eq!(def.attrs[1].allowed, Some(AllowedValues::Types(Borrowed(&[DataType::Int32]))));
    assert_eq!(def.attrs[3].description, "Whether to keep.");
    assert_eq!(def.description, "A lot.\n\nWhat holds of all of them.\n\nAnd more.");
    let attrs = FamilyOtherAttrs { first: 1, T: DataType::Int32, N: 1, keep: true };
    assert!(attrs.keep);
}

#[test]
fn an_op_that_is_like_another_starts_from_it() {
    let def = FamilyLike::DEF;
    assert_eq!((&*def.name, &*def.summary), ("FamilyLike", "An op like another."));
    assert_eq!(inputs(def), ["x", "between", "next", "y", "last"]);
    assert_eq!(attrs(def), ["first", "T", "N", "keep"]);
    assert_eq!((def.attrs[0].default.clone(), &*def.attrs[0].description), (Some(AttrDefault::Int(2)), "The first."));
    assert!(def.inputs[0].is_ref && def.is_stateful && def.is_commutative);
}

#[test]
fn an_op_may_move_what_the_family_says() {
    assert_eq!(inputs(FamilyMoved::DEF), ["y", "x"]);
    assert_eq!(FamilyMoved::DEF.deprecation.as_ref().map(|deprecation| deprecation.version), Some(9));
    // What the family documents is what an op without a text of its own has.
    assert_eq!(
        (&*FamilyMoved::DEF.summary, &*FamilyMoved::DEF.description),
        ("What holds of all of them.", "And more.")
    );
}

#[test]
fn each_op_has_its_entry_where_its_variant_stands() {
    let entry = |name: &str| linked_ops().find(|entry| entry.def.name == name);
    let line = |name: &str| entry(name).map(|entry| entry.location.line);
    let (plain, other, moved) = (line("FamilyPlain"), line("Ns>FamilyOther"), line("FamilyMoved"));
    assert!(plain < other && other < moved && plain.is_some(), "{plain:?}, {other:?}, {moved:?}");
    assert!(entry("FamilyInTests").is_some() && entry("FamilyNotInTests").is_none());
    let shape_fn = |name: &str| entry(name).and_then(|entry| entry.shape_fn).map(|function| function as usize);
    assert_eq!(shape_fn("FamilyPlain"), shape_fn("FamilyMoved"));
    assert_ne!(shape_fn("FamilyPlain"), shape_fn("Ns>FamilyOther"));
}

#[test]
fn each_op_has_its_wrapper() {
    let mut graph = Graph::new(&Arc::new(Registry::linked(&[&crate::KERNLINK_PROVIDER]).unwrap()));
    let x = source(&mut graph, DataType::Float).build().unwrap();
    let y = family_plain(&mut graph, x, x).keep(true).build().unwrap();
    let node = graph.node(y.node);
    assert_eq!((node.name.as_str(), &node.inputs[..]), ("FamilyPlain", &[x, x][..]));
}

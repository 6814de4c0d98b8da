//! The changes of an op that TensorFlow allows, and those that it refuses: a table of each.
//!
//! An allowed change must do what it promises, too: a node that was made for the old op is valid for the new one, with
//! the same inputs and outputs, once the new defaults are added.

use std::collections::BTreeMap;

use kernlink_framework::graph::{add_defaults, in_out_types, validate_node_def};
use kernlink_framework::op::{
    OpDef, OpDefBuilder, added_defaults_unchanged, attr_defaults_unchanged, broken_promises, find_op,
    op_def_compatible, types_compatible,
};
use kernlink_framework::proto::attr_value::{ListValue, Value};
use kernlink_framework::proto::{AttrValue, NodeDef};

/// An op from its specs: attrs as they are, inputs after `<`, outputs after `>`.
fn op(specs: &[&str]) -> OpDef {
    let mut builder = OpDefBuilder::new("Test");
    for spec in specs {
        builder = match spec.split_at(1) {
            ("<", input) => builder.input(input.trim()),
            (">", output) => builder.output(output.trim()),
            _ => builder.attr(*spec),
        };
    }
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

/// A node of an op with these attrs and as many inputs as they make.
fn node(op: &OpDef, attrs: &[(&str, Value)]) -> NodeDef {
    let attr: BTreeMap<_, _> =
        attrs.iter().map(|(name, value)| ((*name).to_owned(), AttrValue { value: Some(value.clone()) })).collect();
    let mut node = NodeDef { name: "node".into(), op: op.name.to_string(), attr, ..NodeDef::default() };
    add_defaults(&mut node, op).unwrap();
    let (inputs, _) = in_out_types(&node, op).unwrap();
    node.input = (0..inputs.len()).map(|i| format!("x:{i}")).collect();
    node
}

fn types(types: &[i32]) -> Value {
    Value::List(ListValue { r#type: types.to_vec(), ..ListValue::default() })
}

const INT32: i32 = 3;
const BOOL: i32 = 10;

type Attrs<'a> = &'a [(&'a str, Value)];

#[test]
fn allowed_changes() {
    let text = |text: &str| Value::S(text.as_bytes().to_vec().into());
    let (string, ten) = ("> ndef: string", Value::I(10));
    // What changes, the old op, the new op, the attrs of a node of the old one.
    let table: &[(&str, &[&str], &[&str], Attrs<'_>)] = &[
        (
            "nothing",
            &["T: type", "N: int", "L: list(type)", "< a: int32", "< b: T", "< c: N * int32", "< d: N * T", "< e: L"],
            &["T: type", "N: int", "L: list(type)", "< a: int32", "< b: T", "< c: N * int32", "< d: N * T", "< e: L"],
            &[("T", Value::Type(1)), ("N", Value::I(3)), ("L", types(&[BOOL, BOOL]))],
        ),
        ("an attr is added, with a default", &[string], &["a: int = 42", string], &[]),
        ("more strings are allowed", &["a: {'A', 'B'}"], &["a: {'A', 'B', 'C'}"], &[("a", text("B"))]),
        ("all strings are allowed", &["a: {'A', 'B'}"], &["a: string"], &[("a", text("B"))]),
        ("more dtypes are allowed", &["t: {int32, int64}"], &["t: {bool, int64, int32}"], &[("t", Value::Type(INT32))]),
        ("all dtypes are allowed", &["t: {int32, bool}"], &["t: type"], &[("t", Value::Type(INT32))]),
        ("more dtypes in a list", &["t: list({int32})"], &["t: list({int32, bool})"], &[("t", types(&[INT32]))]),
        (
            "attrs change places",
            &["b: bool", "a: int"],
            &["a: int", "b: bool"],
            &[("a", ten.clone()), ("b", Value::B(true))],
        ),
        ("an input becomes polymorphic", &["< a: int32"], &["T: type = DT_INT32", "< a: T"], &[]),
        ("an output becomes polymorphic", &["> a: int32"], &["T: type = DT_INT32", "> a: T"], &[]),
        ("an input becomes a list", &["< a: int32"], &["N: int = 1", "< a: N * int32"], &[]),
        (
            "an input becomes a polymorphic list",
            &["< a: int32"],
            &["N: int = 1", "T: type = DT_INT32", "< a: N * T"],
            &[],
        ),
        ("an input becomes any list", &["< a: int32"], &["T: list(type) = [DT_INT32]", "< a: T"], &[]),
        ("an output becomes any list", &["> a: int32"], &["T: list(type) = [DT_INT32]", "> a: T"], &[]),
        (
            "a polymorphic input becomes a list",
            &["T: type", "< a: T"],
            &["N: int = 1", "T: type", "< a: N * T"],
            &[("T", Value::Type(INT32))],
        ),
        ("inputs merge into a list", &["< a: int32", "< b: int32"], &["N: int = 2", "< a: N * int32"], &[]),
        (
            "inputs merge into any list",
            &["< a: int32", "< b: float"],
            &["T: list(type) = [DT_INT32, DT_FLOAT]", "< a: T"],
            &[],
        ),
        ("an input is renamed", &["< x: int32"], &["< y: int32"], &[]),
        ("an empty list of ints is added", &[string], &["N: int >= 0 = 0", "< a: N * int32", string], &[]),
        (
            "an empty polymorphic list is added",
            &[string],
            &["N: int >= 0 = 0", "T: type = DT_BOOL", "< a: N * T", string],
            &[],
        ),
        (
            "an empty list of a known dtype is added",
            &["T: type", "< a: T"],
            &["N: int >= 0 = 0", "T: type", "< a: T", "< b: N * T"],
            &[("T", Value::Type(7))],
        ),
        ("an empty any list is added", &[string], &["T: list(type) >= 0 = []", "< a: T", string], &[]),
        (
            "shorter any lists",
            &["T: list(type) >= 2", "< a: T"],
            &["T: list(type)", "< a: T"],
            &[("T", types(&[BOOL, BOOL]))],
        ),
        ("shorter lists", &["N: int >= 2", "< a: N * int32"], &["N: int", "< a: N * int32"], &[("N", Value::I(2))]),
        ("a minimum goes", &["n: int >= 3"], &["n: int"], &[("n", ten.clone())]),
        ("a minimum gets lower", &["n: int >= 3"], &["n: int >= 1"], &[("n", ten.clone())]),
        ("an input drops its reference", &["< i: Ref(int32)"], &["< i: int32"], &[]),
        ("an output gets a reference", &["> o: int32"], &["> o: Ref(int32)"], &[]),
        ("a default is added", &["a: int"], &["a: int = 1234"], &[("a", ten.clone())]),
    ];
    for (what, old, new, attrs) in table {
        let (old, new) = (op(old), op(new));
        op_def_compatible(&old, &new).unwrap_or_else(|error| panic!("{what}: {error}"));
        attr_defaults_unchanged(&old, &new).unwrap_or_else(|error| panic!("{what}: {error}"));
        let mut node = node(&old, attrs);
        validate_node_def(&node, &old).unwrap_or_else(|error| panic!("{what}: {error}"));
        let (old_inputs, old_outputs) = in_out_types(&node, &old).unwrap();
        add_defaults(&mut node, &new).unwrap();
        validate_node_def(&node, &new).unwrap_or_else(|error| panic!("{what}: {error}"));
        let (new_inputs, new_outputs) = in_out_types(&node, &new).unwrap();
        // What fed the old inputs feeds the new ones; what took the old outputs takes the new ones.
        assert_eq!((old_inputs.len(), old_outputs.len()), (new_inputs.len(), new_outputs.len()), "{what}");
        assert!(old_inputs.iter().zip(&new_inputs).all(|(old, new)| types_compatible(*new, *old)), "{what}");
        assert!(old_outputs.iter().zip(&new_outputs).all(|(old, new)| types_compatible(*old, *new)), "{what}");
    }
    let flagged = OpDefBuilder::new("Test").stateful().commutative().doc("Other words.").build().unwrap();
    op_def_compatible(&op(&[]), &flagged).unwrap();
    op_def_compatible(&flagged, &op(&[])).unwrap();
}

#[test]
fn refused_changes() {
    // What changes, the old op, the new op, the reason.
    let table: &[(&str, &[&str], &[&str], &str)] = &[
        ("an attr is removed", &["a: int"], &[], "attr `a` removed"),
        ("an attr is added, without a default", &[], &["a: int"], "attr `a` added without default"),
        ("an input is added", &[], &["< a: int32"], "input signature mismatch: `` became `int32`"),
        ("an output is added", &[], &["> a: int32"], "output signature mismatch: `` became `a: int32`"),
        ("a list of one is added", &[], &["N: int = 1", "< a: N * int32"], "`` became `int32`"),
        (
            "a polymorphic list of one is added",
            &[],
            &["N: int = 1", "T: type = DT_INT32", "< a: N * T"],
            "`` became `int32`",
        ),
        ("any list of one is added", &[], &["T: list(type) = [DT_INT32]", "< a: T"], "`` became `int32`"),
        (
            "an input's dtype changes",
            &["< a: int32"],
            &["< a: float"],
            "input signature mismatch: `int32` became `float`",
        ),
        (
            "inputs change places",
            &["< b: int32", "< a: float"],
            &["< a: float", "< b: int32"],
            "input signature mismatch: `int32, float` became `float, int32`",
        ),
        ("an input is removed", &["< a: float"], &[], "input signature mismatch: `float` became ``"),
        ("an attr's type changes", &["a: bool"], &["a: int"], "attr `a` changed type from bool to int"),
        ("a list becomes one", &["a: list(int)"], &["a: int"], "attr `a` changed type from list(int) to int"),
        ("one becomes a list", &["a: int"], &["a: list(int)"], "attr `a` changed type from int to list(int)"),
        (
            "a polymorphic input becomes any list",
            &["T: type", "< a: T"],
            &["T: list(type)", "< a: T"],
            "attr `T` changed type from type to list(type)",
        ),
        (
            "a list of one dtype becomes any list",
            &["T: type", "N: int", "< a: N * T"],
            &["T: list(type)", "N: int = 1", "< a: T"],
            "attr `T` changed type from type to list(type)",
        ),
        (
            "a set of allowed values is added",
            &["t: type"],
            &["t: {int32, int64}"],
            "attr `t` has a stricter set of allowed values: from no restriction to {int32, int64}",
        ),
        (
            "fewer values are allowed",
            &["t: {int32, int64, bool}"],
            &["t: {int32, int64}"],
            "attr `t` has a stricter set of allowed values: from {int32, int64, bool} to {int32, int64}",
        ),
        ("fewer strings are allowed", &["s: {'a', 'b'}"], &["s: {'a'}"], "from {'a', 'b'} to {'a'}"),
        ("a minimum is added", &["n: int"], &["n: int >= 3"], "attr `n` has a higher minimum: from no minimum to 3"),
        ("a minimum is raised", &["n: int >= 1"], &["n: int >= 3"], "attr `n` has a higher minimum: from 1 to 3"),
        ("an input gets a reference", &["< i: int32"], &["< i: Ref(int32)"], "input 0 changed from non-ref to ref"),
        (
            "an output drops its reference",
            &["> o: Ref(int32)"],
            &["> o: int32"],
            "output 0 changed from ref to non-ref",
        ),
        (
            "an output is renamed",
            &["> old: int32"],
            &["> new: int32"],
            "output signature mismatch: `old: int32` became `new: int32`",
        ),
        (
            "a list of outputs is renamed",
            &["N: int", "> old: N * int32"],
            &["N: int", "> new: N * int32"],
            "output signature mismatch: `old: N * int32` became `new: N * int32`",
        ),
        (
            "any list of outputs is renamed",
            &["T: list(type)", "> old: T"],
            &["T: list(type)", "> new: T"],
            "output signature mismatch: `old: T` became `new: T`",
        ),
        (
            "a reference comes with a list",
            &["< a: int32", "< b: int32"],
            &["N: int = 2", "< a: Ref(N * int32)"],
            "input 0 changed from non-ref to ref; input 1 changed",
        ),
    ];
    for (what, old, new, reason) in table {
        let (old, new) = (op(old), op(new));
        let error = op_def_compatible(&old, &new).expect_err(what);
        assert!(error.message().starts_with("incompatible change of op Test: "), "{what}: {error}");
        assert!(error.message().contains(reason), "{what}: {error}");
        assert!(error.message().contains(&format!("old: {old}")), "{what}: {error}");
        assert!(error.message().contains(&format!("new: {new}")), "{what}: {error}");
    }
    let other = OpDefBuilder::new("Other").build().unwrap();
    assert!(op_def_compatible(&op(&[]), &other).unwrap_err().message().contains("the name changed from `Test`"));
}

#[test]
fn all_reasons_are_told_at_once() {
    let error =
        op_def_compatible(&op(&["a: int", "b: int", "< x: float"]), &op(&["b: int >= 1", "c: int"])).unwrap_err();
    for reason in ["attr `a` removed", "attr `b` has a higher", "attr `c` added", "input signature mismatch"] {
        assert!(error.message().contains(reason), "{error}");
    }
}

#[test]
fn changed_defaults() {
    let change = |old: &str, new: &str| {
        attr_defaults_unchanged(&op(&[old]), &op(&[new])).err().map(|error| error.message().to_owned())
    };
    assert_eq!(change("a: int = 2", "a: int = 2"), None);
    assert_eq!(change("a: int", "a: int = 2"), None);
    assert_eq!(change("a: int", "a: int"), None);
    assert_eq!(change("a: float = nan", "a: float = nan"), None);
    assert_eq!(change("a: list(float) = [nan]", "a: list(float) = [nan]"), None);
    assert_eq!(change("a: int = 2", "b: int"), None);
    let message = change("a: int = 91", "a: int").unwrap();
    assert_eq!(message, "changed defaults of op Test: attr `a` has removed its default: from 91 to no default");
    for (old, new) in
        [("int = 2", "int = 1"), ("float = 0.0", "float = -0.0"), ("list(float) = [1.0]", "list(float) = []")]
    {
        let message = change(&format!("a: {old}"), &format!("a: {new}")).unwrap();
        let (before, now) = (old.split("= ").nth(1).unwrap(), new.split("= ").nth(1).unwrap());
        assert!(
            message.contains(&format!("attr `a` has changed its default value: from {before} to {now}")),
            "{message}"
        );
    }
}

#[test]
fn defaults_that_were_added_are_frozen() {
    let check = |oldest: &[&str], penultimate: &[&str], new: &[&str]| {
        let result = added_defaults_unchanged(&op(oldest), &op(penultimate), &op(new));
        result.err().map(|error| error.message().to_owned())
    };
    assert_eq!(check(&[], &[], &["a: int = 1"]), None);
    assert_eq!(check(&[], &["a: int = 1"], &["a: int = 1", "b: int = 2"]), None);
    // The oldest version had the attr: its default is another rule's matter.
    assert_eq!(check(&["a: int"], &["a: int = 1"], &["a: int = 2"]), None);
    let message = check(&[], &["a: int = 1"], &["a: int = 2"]).unwrap();
    assert!(message.contains("can't change the default value of attr `a` from 1 to 2"), "{message}");
    assert!(check(&[], &["a: int = 1"], &["a: int"]).unwrap().contains("missing default for attr `a`"));
    assert!(check(&[], &["a: int"], &["a: int = 1"]).unwrap().contains("missing default for attr `a`"));
    assert!(check(&[], &["a: int = 1"], &[]).unwrap().contains("missing attr `a`"));
}

#[test]
fn broken_promises_are_listed() {
    let named = |name: &str, attr: &str| OpDefBuilder::new(name).attr(attr).build().unwrap();
    let old = ["A", "B", "C", "D"].map(|name| named(name, "a: int = 1"));
    let new = [named("A", "a: int = 1"), named("B", "a: int = 2"), named("D", "a: float"), named("E", "a: int")];
    let broken = broken_promises(&old, |name| find_op(&new, name));
    assert_eq!(broken.len(), 4, "{broken:#?}");
    assert!(broken[0].contains("op B: attr `a` has changed its default value: from 1 to 2"), "{broken:#?}");
    assert_eq!(broken[1], "op C removed");
    assert!(broken[2].contains("op D: attr `a` changed type from int to float"), "{broken:#?}");
    assert!(broken[3].contains("op D: attr `a` has removed its default"), "{broken:#?}");
    assert_eq!(broken_promises(&old, |name| find_op(&old, name)), Vec::<String>::new());
}

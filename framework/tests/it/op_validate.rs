//! Ops that come as messages: every rule that one can break.

use kernlink_framework::Code;
use kernlink_framework::op::{AllowedValues, ArgDef, ArgType, AttrBase, AttrDef, AttrDefault, AttrType, OpDef};
use kernlink_framework::proto::attr_value::{ListValue, Value};
use kernlink_framework::proto::op_def::{ArgDef as ProtoArg, AttrDef as ProtoAttr};
use kernlink_framework::proto::{
    self, AttrValue, Message as _, OpDef as ProtoOp, OpList, OpListOptions, TensorShapeProto,
};

const FLOAT: i32 = 1;
const INT32: i32 = 3;
const STRING: i32 = 7;

/// What is wrong with an op; nothing if it is well-formed.
fn faults(op: &ProtoOp) -> Option<(Code, String)> {
    let checked = proto::op_from_proto(op).and_then(|op| op.validate());
    checked.err().map(|error| (error.code(), error.message().to_owned()))
}

#[track_caller]
fn good(op: &ProtoOp) {
    assert_eq!(faults(op), None);
}

/// Checks that an op has exactly this fault.
#[track_caller]
fn bad(op: &ProtoOp, message: &str) {
    let (code, text) = faults(op).expect("a fault");
    assert_eq!(code, Code::InvalidArgument);
    assert!(text.starts_with(&format!("op {}: ", op.name)) && text.contains(message), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

fn op(attrs: &[ProtoAttr], inputs: &[ProtoArg], outputs: &[ProtoArg]) -> ProtoOp {
    ProtoOp {
        name: "Test".into(),
        attr: attrs.to_vec(),
        input_arg: inputs.to_vec(),
        output_arg: outputs.to_vec(),
        ..ProtoOp::default()
    }
}

fn attr(name: &str, ty: &str) -> ProtoAttr {
    ProtoAttr { name: name.into(), r#type: ty.into(), ..ProtoAttr::default() }
}

fn minimum(attr: ProtoAttr, minimum: i64) -> ProtoAttr {
    ProtoAttr { has_minimum: true, minimum, ..attr }
}

fn value(value: Value) -> Option<AttrValue> {
    Some(AttrValue { value: Some(value) })
}

fn default(attr: ProtoAttr, of: Value) -> ProtoAttr {
    ProtoAttr { default_value: value(of), ..attr }
}

fn arg(name: &str) -> ProtoArg {
    ProtoArg { name: name.into(), ..ProtoArg::default() }
}

fn plain(name: &str) -> ProtoArg {
    ProtoArg { r#type: INT32, ..arg(name) }
}

fn ints(values: &[i64]) -> Value {
    Value::List(ListValue { i: values.to_vec(), ..ListValue::default() })
}

fn strings(values: &[&'static str]) -> Value {
    Value::List(ListValue { s: values.iter().map(|s| s.as_bytes().into()).collect(), ..ListValue::default() })
}

fn types(values: &[i32]) -> Value {
    Value::List(ListValue { r#type: values.to_vec(), ..ListValue::default() })
}

#[test]
fn names_of_ops() {
    for name in ["X", "Uppercase", "Ns>X", "Ns>X>Y", "_a", "_", "__inference_f-1"] {
        good(&ProtoOp { name: name.into(), ..ProtoOp::default() });
    }
    for name in ["lower", "BadSuffix 7%", ">OpName", "OpName>", "OpName>b", "OpName>A>>B"] {
        bad(
            &ProtoOp { name: name.into(), ..ProtoOp::default() },
            &format!("invalid name: `{name}` (did you use Camel"),
        );
    }
}

#[test]
fn names_of_parts() {
    let message = "duplicate name: `a`";
    bad(&op(&[attr("a", "int"), attr("a", "float")], &[], &[]), message);
    bad(&op(&[attr("a", "int")], &[plain("a")], &[]), message);
    bad(&op(&[], &[plain("a"), plain("a")], &[]), message);
    bad(&op(&[], &[plain("a")], &[plain("a")]), message);
    bad(&op(&[], &[], &[plain("a"), plain("a")]), message);
    bad(&op(&[attr("int32", "int")], &[], &[]), "attr can't have name `int32` that matches a data type");
    bad(&op(&[attr("float_ref", "int")], &[], &[]), "that matches a data type");
}

#[test]
fn types_of_attrs() {
    let message = |ty: &str, message: &str| bad(&op(&[attr("a", ty)], &[], &[]), message);
    message("illegal", "unrecognized type `illegal` of attr `a`");
    message("", "unrecognized type ``");
    message("list(illegal)", "unrecognized type `list(illegal)`");
    message("int extra", "extra ` extra` at the end");
    message("list(int extra)", "`list(` is missing `)`");
    message("list(int) extra", "extra ` extra` at the end");
    message("list(int", "`list(` is missing `)`");
}

#[test]
fn minimums() {
    good(&op(&[minimum(attr("a", "int"), -5), minimum(attr("b", "list(string)"), 1)], &[], &[]));
    bad(&op(&[minimum(attr("a", "string"), 0)], &[], &[]), "attr `a` has minimum for unsupported type string");
    bad(&op(&[minimum(attr("a", "list(int)"), -5)], &[], &[]), "must have a non-negative minimum, not -5");
    let unset = ProtoAttr { minimum: 3, ..attr("a", "list(int)") };
    bad(&op(&[unset], &[], &[]), "attr `a` with has_minimum = false but minimum 3");
}

#[test]
fn defaults_have_their_attrs_type() {
    let message = |ty: &str, of: Value, message: &str| bad(&op(&[default(attr("a", ty), of)], &[], &[]), message);
    message("int", Value::S("x".into()), "default of attr `a`: AttrValue had value with type string when int expected");
    message("int", Value::F(0.5), "with type float when int expected");
    message("int", ints(&[2]), "with type list(int) when int expected");
    message("list(int)", Value::F(0.5), "with type float when list(int) expected");
    message("func", Value::Placeholder("x".into()), "with type placeholder when func expected");
    let mixed = Value::List(ListValue { i: vec![5], f: vec![0.5], ..ListValue::default() });
    message("list(int)", mixed, "with type list(float) when list(int) expected");
    message("type", Value::Type(0), "AttrValue has invalid DataType: 0");
    message("type", Value::Type(INT32 + 100), "AttrValue must not have reference type value of int32_ref");
    message("list(type)", types(&[STRING + 100]), "AttrValue must not have reference type value of string_ref");
    for ty in ["type", "shape", "tensor", "int"] {
        let unset = ProtoAttr { default_value: Some(AttrValue::default()), ..attr("a", ty) };
        bad(&op(&[unset], &[], &[]), &format!("AttrValue missing value with expected type {ty}"));
    }
    // No value and an empty list are the same on the wire.
    good(&op(&[ProtoAttr { default_value: Some(AttrValue::default()), ..attr("a", "list(int)") }], &[], &[]));
    good(&op(&[default(attr("a", "list(int)"), ints(&[]))], &[], &[]));
    good(&op(&[default(attr("a", "shape"), Value::Shape(TensorShapeProto::default()))], &[], &[]));
}

#[test]
fn defaults_have_an_allowed_value() {
    let message = |attr: ProtoAttr, message: &str| bad(&op(&[attr], &[], &[]), message);
    message(default(minimum(attr("a", "int"), 7), Value::I(2)), "attr `a` is 2 but must be at least 7");
    message(default(minimum(attr("a", "list(int)"), 2), ints(&[])), "attr `a` has 0 elements but needs at least 2");
    message(default(minimum(attr("a", "list(string)"), 2), strings(&["x"])), "has 1 elements but needs at least 2");
    let allowed = |ty: &str, values: Value| ProtoAttr { allowed_values: value(values), ..attr("x", ty) };
    let numbers = || types(&[FLOAT, INT32]);
    good(&op(&[default(allowed("type", numbers()), Value::Type(INT32))], &[], &[]));
    good(&op(&[default(allowed("string", strings(&["foo", "bar"])), Value::S("bar".into()))], &[], &[]));
    message(
        default(allowed("type", numbers()), Value::Type(STRING)),
        "attr `x` is string but must be one of float, int32",
    );
    message(default(allowed("list(type)", numbers()), types(&[FLOAT, STRING])), "holds string but only float, int32");
    let texts = || strings(&["foo", "bar"]);
    message(
        default(allowed("string", texts()), Value::S("baz".into())),
        "attr `x` is \"baz\" but must be one of \"foo\", \"bar\"",
    );
    message(
        default(allowed("list(string)", texts()), strings(&["baz"])),
        "holds \"baz\" but only \"foo\", \"bar\" are allowed",
    );
}

#[test]
fn allowed_values_have_their_attrs_type() {
    let allowed =
        |ty: &str, values: Value| op(&[ProtoAttr { allowed_values: value(values), ..attr("x", ty) }], &[], &[]);
    bad(&allowed("string", Value::S("no list".into())), "with type string when list(string) expected");
    bad(&allowed("string", ints(&[6])), "allowed values of attr `x`: AttrValue had value with type list(int)");
    bad(&allowed("type", types(&[101])), "must not have reference type value of float_ref");
    bad(
        &allowed("string", Value::List(ListValue { s: vec![vec![0xff].into()], ..ListValue::default() })),
        "is not UTF-8",
    );
    let (code, text) = faults(&allowed("int", ints(&[1, 2]))).unwrap();
    assert_eq!(code, Code::Unimplemented);
    assert!(text.contains("allowed values of attr `x` are not implemented for type int"), "{text}");
    // Nothing is allowed: odd, but TensorFlow takes it.
    let read = proto::op_from_proto(&allowed("type", types(&[]))).unwrap();
    assert_eq!(read.attrs[0].allowed, Some(AllowedValues::Types(vec![].into())));
    let by_hand = AttrDef {
        name: "x".into(),
        ty: AttrType { base: AttrBase::Int, list: false },
        default: Some(AttrDefault::Bool(true)),
        description: "".into(),
        minimum: None,
        allowed: Some(AllowedValues::Strings(vec![].into())),
    };
    let error = OpDef { name: "Test".into(), attrs: vec![by_hand].into(), ..OpDef::EMPTY }.validate().unwrap_err();
    assert!(error.message().contains("op Test: the allowed values of attr `x` are not of its type int"), "{error}");
    assert!(error.message().contains("op Test: default: attr `x` must be int, not bool"), "{error}");
}

#[test]
fn types_of_arguments() {
    let both = |arg: ProtoArg, attrs: &[ProtoAttr], message: &str| {
        bad(&op(attrs, std::slice::from_ref(&arg), &[]), &format!("{message} for input `b`"));
        bad(&op(attrs, &[], &[arg]), &format!("{message} for output `b`"));
    };
    both(arg("b"), &[], "missing type");
    let typed = |ty: &str| ProtoArg { type_attr: ty.into(), ..arg("b") };
    let listed = |ty: &str| ProtoArg { type_list_attr: ty.into(), ..arg("b") };
    let exactly = "exactly one of type, type_attr, type_list_attr must be set";
    both(ProtoArg { r#type: INT32, ..typed("T") }, &[attr("T", "type")], exactly);
    both(ProtoArg { type_list_attr: "T".into(), ..typed("T") }, &[attr("T", "type")], exactly);
    both(ProtoArg { type_list_attr: "T".into(), ..plain("b") }, &[attr("T", "list(type)")], exactly);
    both(typed("x"), &[], "no attr with name `x`");
    both(listed("x"), &[], "no attr with name `x`");
    both(ProtoArg { r#type: 101, ..arg("b") }, &[], "illegal use of ref type `float_ref`. Use `Ref(float)` instead");
    both(ProtoArg { r#type: 77, ..arg("b") }, &[], "unknown dtype 77");
    for (ty, used) in [("int", "int"), ("list(type)", "list(type)")] {
        let message = format!("attr `x` used as type_attr for input `b` has type {used}, which is not type");
        bad(&op(&[attr("x", ty)], &[typed("x")], &[]), &message);
    }
    for (ty, used) in [("int", "int"), ("type", "type")] {
        let message =
            format!("attr `x` used as type_list_attr for output `b` has type {used}, which is not list(type)");
        bad(&op(&[attr("x", ty)], &[], &[listed("x")]), &message);
    }
    good(&op(
        &[attr("T", "type"), attr("L", "list(type)")],
        &[typed("T")],
        &[ProtoArg { name: "c".into(), ..listed("L") }],
    ));
}

#[test]
fn numbers_of_arguments() {
    let times = |arg: ProtoArg| ProtoArg { number_attr: "n".into(), ..arg };
    let n = || minimum(attr("n", "int"), 1);
    good(&op(&[n()], &[times(plain("b"))], &[]));
    bad(&op(&[], &[times(plain("b"))], &[]), "no attr with name `n` for input `b`");
    let used = "attr `n` used as length for input `b`";
    let message =
        |attr: ProtoAttr, message: &str| bad(&op(&[attr], &[times(plain("b"))], &[]), &format!("{used} {message}"));
    message(attr("n", "string"), "has type string, which is not int");
    message(minimum(attr("n", "list(int)"), 1), "has type list(int), which is not int");
    message(attr("n", "int"), "must have minimum");
    message(minimum(attr("n", "int"), -5), "must have minimum >= 0, not -5");
    let listed = ProtoArg { type_list_attr: "L".into(), ..arg("b") };
    let attrs = [n(), attr("L", "list(type)")];
    bad(&op(&attrs, &[times(listed)], &[]), "can't have both number_attr and type_list_attr for input `b`");
}

#[test]
fn all_faults_are_told_at_once() {
    let broken = op(
        &[attr("a", "wat"), default(attr("b", "int"), Value::F(1.0)), ProtoAttr { minimum: 1, ..attr("c", "int") }],
        &[arg("x")],
        &[ProtoArg { r#type: 77, ..arg("y") }],
    );
    let (_, text) = faults(&broken).unwrap();
    assert_eq!(text.matches("op Test: ").count(), 5, "{text}");
    let by_hand = OpDef {
        name: "lower".into(),
        inputs: vec![ArgDef {
            name: "a".into(),
            description: "".into(),
            ty: ArgType::ListAttr("T".into()),
            number_attr: Some("N".into()),
            is_ref: false,
        }]
        .into(),
        ..OpDef::EMPTY
    };
    let text = by_hand.validate().unwrap_err().message().to_owned();
    assert_eq!(text.matches("op lower: ").count(), 4, "{text}");
}

#[test]
fn lists_of_ops() {
    let named =
        |name: &str| ProtoOp { name: name.into(), summary: "What it does.".into(), ..op(&[], &[plain("x")], &[]) };
    let list = OpList { op: vec![named("B"), named("_C"), named("A")] };
    let ops = proto::op_list_from_bytes(&list.encode_to_vec()).unwrap();
    let names = |list: &OpList| list.op.iter().map(|op| op.name.clone()).collect::<Vec<_>>();
    let all = proto::op_list_to_proto(ops.iter().rev(), OpListOptions::default()).unwrap();
    assert_eq!(names(&all), ["A", "B", "_C"]);
    assert_eq!(all.op[0].summary, "What it does.");
    let few = proto::op_list_to_proto(&ops, OpListOptions { docs: false, internal: false }).unwrap();
    assert_eq!(names(&few), ["A", "B"]);
    assert_eq!(few.op[0].summary, "");
    let broken = OpList {
        op: vec![named("A"), named("B"), named("low"), ProtoOp { input_arg: vec![arg("x")], ..named("C") }, named("B")],
    };
    let error = proto::op_list_from_proto(&broken).unwrap_err();
    for part in ["op low: invalid name", "op C: missing type for input `x`", "op B is listed twice"] {
        assert!(error.message().contains(part), "{error}");
    }
    let error = proto::op_list_from_bytes(&[0xff; 5]).unwrap_err();
    assert!(error.message().contains("this is no OpList"), "{error}");
}

#[test]
fn documentation_is_left_out_of_every_part() {
    let documented = kernlink_framework::op::OpDefBuilder::new("A")
        .attr("T: type")
        .input("x: T")
        .output("y: T")
        .deprecated(3, "Use B")
        .doc("Summary.\n\nDescription.\n\nx: In.\ny: Out.\nT: Type.")
        .build()
        .unwrap();
    let bare = proto::op_list_to_proto([&documented], OpListOptions { docs: false, internal: true }).unwrap();
    let text = format!("{bare:?}");
    for word in ["Summary", "Description", "In.", "Out.", "Type."] {
        assert!(!text.contains(word), "{text}");
    }
    assert!(text.contains("Use B"));
}

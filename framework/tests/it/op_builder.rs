//! Ops declared while the program runs: what the grammar accepts, and every error that it knows.

use kernlink_framework::Code;
use kernlink_framework::dtype::DataType;
use kernlink_framework::op::{AllowedValues, ArgType, AttrDefault, OpDef, OpDefBuilder};

fn test() -> OpDefBuilder {
    OpDefBuilder::new("Test")
}

#[track_caller]
fn good(builder: OpDefBuilder) -> OpDef {
    let op = builder.build().unwrap_or_else(|error| panic!("{error}"));
    op.validate().unwrap();
    op
}

/// Checks that there is one error, which names the op, quotes the spec, says `message` and marks `piece` of the spec.
#[track_caller]
fn bad(builder: OpDefBuilder, place: &str, message: &str, piece: &str) {
    let error = builder.build().expect_err("an error");
    assert_eq!(error.code(), Code::InvalidArgument);
    let text = error.message();
    assert_eq!(text.matches("op Test: ").count(), 1, "{text}");
    assert!(text.starts_with(&format!("op Test: {place}: ")), "{text}");
    assert!(text.contains(message), "{text}");
    let mut lines = text.lines().rev();
    let (carets, spec) = (lines.next().unwrap(), lines.next().unwrap_or_default());
    let start = carets.find('^').expect("carets") - 4;
    let length = carets.matches('^').count();
    let spec = spec.strip_prefix("    ").expect("the spec");
    assert!(place.ends_with(&format!("({spec:?})")), "{text}");
    let marked: String = spec.chars().skip(start).take(length).collect();
    assert_eq!(marked, piece, "{text}");
}

#[track_caller]
fn bad_attr(spec: &str, message: &str, piece: &str) {
    bad(test().attr(spec), &format!("attr({spec:?})"), message, piece);
}

/// In an op with the attrs `T: type`, `L: list(type)`, `N: int` and `f: float`.
#[track_caller]
fn bad_arg(spec: &str, message: &str, piece: &str) {
    let op = || test().attr("T: type").attr("L: list(type)").attr("N: int").attr("f: float");
    bad(op().input(spec), &format!("input({spec:?})"), message, piece);
    bad(op().output(spec), &format!("output({spec:?})"), message, piece);
}

#[test]
fn every_attr_type_alone_and_in_lists() {
    for word in ["string", "int", "float", "bool", "type", "shape", "tensor", "func"] {
        for spec in [format!("a: {word}"), format!("a: list({word})"), format!("a: list({word}) >= 2")] {
            let op = good(test().attr(&*spec));
            assert_eq!(op.attrs[0].to_string(), spec);
        }
    }
}

#[test]
fn defaults_of_every_type() {
    for spec in [
        "a: string = 'x'",
        "a: int = -3",
        "a: float = 1.5",
        "a: float = inf",
        "a: bool = true",
        "a: type = DT_FLOAT",
        "a: shape = { dim { size: 3 } dim { size: -1 } }",
        "a: shape = { unknown_rank: true }",
        "a: shape = {}",
        "a: tensor = { dtype: DT_INT32 tensor_shape {} int_val: 5 }",
        "a: func = { name: 'f' attr { key: 'T' value { type: DT_FLOAT } } }",
        "a: list(string) = ['a', 'b']",
        "a: list(int) = [1, 2]",
        "a: list(float) = [0.5, -inf]",
        "a: list(bool) = [true, false]",
        "a: list(type) = [DT_FLOAT, DT_STRING]",
        "a: list(shape) = [{}, { unknown_rank: true }]",
        "a: list(tensor) = [{ dtype: DT_INT32 int_val: 1 }]",
        "a: list(func) = [{ name: 'f' }]",
        "a: list(int) = []",
        "a: list(int) >= 1 = [1]",
        "a: int >= -5 = -5",
        "a: int >= -9223372036854775808",
        "a: {'SAME', 'VALID'} = 'SAME'",
        "a: list({'SAME', 'it\\'s'}) = ['it\\'s']",
        "a: {float, int32} = DT_INT32",
        "a: list({float, int32}) >= 1 = [DT_FLOAT]",
        "a: numbertype = DT_QINT8",
        "a: realnumbertype = DT_HALF",
        "a: list(quantizedtype) = []",
    ] {
        assert_eq!(good(test().attr(spec)).attrs[0].to_string(), spec);
    }
    let op =
        good(test().attr("a: list(string) = [\"a\\x41\", 'b']").attr("b: tensor = { dtype: DT_INT32 int_val: 5 }"));
    let Some(AttrDefault::ListString(strings)) = &op.attrs[0].default else { panic!("{op}") };
    assert_eq!(strings.iter().map(|s| s.to_vec()).collect::<Vec<_>>(), [b"aA".to_vec(), b"b".to_vec()]);
    assert_eq!(op.attrs[1].default, Some(AttrDefault::Tensor(vec![8, 3, 58, 1, 5].into())));
}

#[test]
fn sets_of_dtypes_expand_in_place() {
    let allowed = |spec: &str| match good(test().attr(spec)).attrs[0].allowed.clone() {
        Some(AllowedValues::Types(types)) => types.into_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(allowed("T: numbertype").len(), 19);
    assert_eq!(allowed("T: numerictype").len(), 19);
    assert_eq!(allowed("T: { string , realnumbertype, variant, }").len(), 14);
    assert_eq!(allowed("T: {float32, float64, float16}"), [DataType::Float, DataType::Double, DataType::Half]);
    assert_eq!(allowed("T: list({float8_e5m2, int4})").len(), 2);
}

#[test]
fn arguments_of_every_form() {
    let op = good(
        test()
            .input("a: int32")
            .input("b : N * T")
            .input("c:L")
            .input("d: Ref ( N*float ) ")
            .output("e: Ref(T)")
            .attr("T: type")
            .attr("L: list(type)")
            .attr("N: int"),
    );
    let specs: Vec<String> = op.inputs.iter().chain(op.outputs.iter()).map(|arg| arg.to_string()).collect();
    assert_eq!(specs, ["a: int32", "b: N * T", "c: L", "d: Ref(N * float)", "e: Ref(T)"]);
    assert_eq!(op.inputs[2].ty, ArgType::ListAttr("L".into()));
    // An attr that says how many tensors there are is at least 1, unless its spec says otherwise.
    assert_eq!(op.attr("N").unwrap().minimum, Some(1));
    assert_eq!(op.attr("L").unwrap().minimum, Some(1));
    assert_eq!(op.attr("T").unwrap().minimum, None);
    let op = good(test().attr("N: int >= 0").attr("L: list(type) >= 3").input("a: N * bool").output("b: L"));
    assert_eq!((op.attrs[0].minimum, op.attrs[1].minimum), (Some(0), Some(3)));
}

#[test]
fn flags_and_names() {
    let op = good(test());
    assert_eq!(op, OpDef { name: "Test".into(), ..OpDef::EMPTY });
    let op = good(
        test()
            .stateful()
            .commutative()
            .aggregate()
            .allows_uninitialized_input()
            .distributed_communication()
            .deprecated(9, "Use MatMul"),
    );
    assert!(op.is_stateful && op.is_commutative && op.is_aggregate);
    assert!(op.allows_uninitialized_input && op.is_distributed_communication);
    assert_eq!(op.deprecation.map(|it| (it.version, it.explanation.into_owned())), Some((9, "Use MatMul".into())));
    for name in ["Ns>Op", "A>B>C", "_Arg", "_a", "_", "_x-1", "X2_y"] {
        assert_eq!(good(OpDefBuilder::new(name)).name, name);
    }
}

#[test]
fn a_literal_resource_makes_the_op_stateful() {
    assert!(good(test().input("a: resource")).is_stateful);
    assert!(good(test().attr("N: int").output("a: N * resource")).is_stateful);
    assert!(!good(test().attr("T: {resource}").input("a: T")).is_stateful);
}

#[test]
fn trouble_with_names_of_attrs() {
    for (spec, piece) in [("_: string", "_"), ("9:string", "9"), (":string", ":"), (" a: int", " ")] {
        bad_attr(spec, "trouble parsing `<name>:`", piece);
    }
    bad_attr("string", "trouble parsing `<name>:`: expected `:` after the name", " ".trim());
    bad_attr("T-x: type", "trouble parsing `<name>:`", "-");
}

#[test]
fn trouble_with_types_of_attrs() {
    bad_attr("a:invalid", "unrecognized attr type `invalid`", "invalid");
    bad_attr("a: int32", "write `int` for an integer", "int32");
    bad_attr("a: typefoo", "unrecognized attr type `typefoo`", "typefoo");
    bad_attr("a: list(list(int))", "lists of lists do not exist", "list");
    bad_attr("a: list(int", "expected `)` to close `list(`, not: the end", "");
    bad_attr("a: list(int]", "expected `)` to close `list(`, not: `]`", "]");
    bad_attr("a: any", "`any` is for attrs that TensorFlow itself makes", "any");
    bad_attr("b:", "expected the type of the attr", "");
}

#[test]
fn trouble_with_allowed_values() {
    bad_attr("a:{}", "trouble parsing type string", "}");
    bad_attr("a:{,}", "trouble parsing type string", ",");
    bad_attr("a:{float,,}", "trouble parsing type string", ",");
    bad_attr("a:{invalid}", "unrecognized type string `invalid`", "invalid");
    bad_attr("a:{\"str\", float}", "trouble parsing allowed string", "float");
    bad_attr("a:{ float, \"str\" }", "trouble parsing type string", "\"");
    bad_attr("a:{float double}", "expected `,` or `}` after types", "double");
    bad_attr("a:{'x' 'y'}", "expected `,` or `}` after strings", "'");
    bad_attr("a:{'\\q'}", "trouble unescaping `\\q`", "\\q");
    bad_attr("a:{'x", "no closing '", "'x");
}

#[test]
fn trouble_with_minimums() {
    bad_attr("i: int >= a", "could not parse integer lower limit after `>=`, found `a` instead", "a");
    bad_attr("i: int >= -a", "could not parse integer lower limit", "-a");
    bad_attr("i: int >= 9223372036854775808", "could not parse integer lower limit", "9223372036854775808");
    bad_attr("i: float >= 2", "a minimum is for int and for lists", ">= 2");
    bad_attr("i: list(int) >= -1", "must not be negative", "-1");
    bad_attr("i: int >= 2 = 1", "value for attr `i` of 1 must be at least minimum 2", "1");
    bad_attr("i: list(bool) >= 2 = []", "length for attr `i` of 0 must be at least minimum 2", "[]");
}

#[test]
fn trouble_with_defaults() {
    for (spec, piece) in [
        ("a:int=\"foo\"", "\"foo\""),
        ("a: int = 0x10", "0x10"),
        ("a: int = 1e3", "1e3"),
        ("a: bool = yes", "yes"),
        ("a: string = x", "x"),
        ("a: type = float", "float"),
        ("a: type = DT_FLOAT_REF", "DT_FLOAT_REF"),
        ("a:float = [1.25]", "[1.25]"),
        ("a:list(int)=[7, \"foo\"]", "\"foo\""),
        ("a:list(float) = [[1.25]]", "[1.25]"),
        ("a:list(float) = 1.25", "1.25"),
        ("a:list(float) = [", ""),
        ("a:list(float) = ", ""),
        ("a: tensor = {}", "{}"),
        ("a: func = {}", "{}"),
    ] {
        bad_attr(spec, "could not parse default value", piece);
    }
    bad_attr("a: int = 3 4", "extra `4` at the end", "4");
    bad_attr("a: int 3", "extra `3` at the end", "3");
    bad_attr("a: shape = { dim { size: -2 } }", "or -1 for an unknown one", "-2");
    bad_attr(
        "x: numbertype = DT_STRING",
        "value for attr `x` of string is not in the list of allowed values",
        "DT_STRING",
    );
    bad_attr("x: {'a', 'b'} = 'c'", "value for attr `x` of \"c\" is not in the list of allowed values", "'c'");
    let deep = format!("a: tensor = {}{{}}{}", "{a".repeat(99), "}".repeat(99));
    let error = test().attr(&*deep).build().unwrap_err();
    assert!(error.message().contains("nest more than 99 deep"), "{error}");
}

#[test]
fn trouble_with_arguments() {
    for (spec, piece) in [("9: int32", "9"), ("_: int32", "_"), (": int32", ":"), ("CAPS: int32", "CAPS")] {
        bad_arg(spec, "trouble parsing `name:`", piece);
    }
    bad_arg("int32", "trouble parsing `name:`", "");
    for (spec, piece) in [("a: _", "_"), ("a: 9", "9"), ("a: 9 * int32", "9"), ("a: N * _", "_"), ("a:", "")] {
        bad_arg(spec, "trouble parsing either a type or an attr name", piece);
    }
    bad_arg("a: N * T extra", "extra `extra` at the end", "extra");
    bad_arg("a: Ref(int32", "did not find closing `)` for `Ref(`, instead found: the end", "");
    bad_arg("a: Ref(T y", "did not find closing `)` for `Ref(`, instead found: `y`", "y");
    bad_arg("a: Ref", "reference to unknown attr `Ref`", "Ref");
    bad_arg("a: x", "reference to unknown attr `x`", "x");
    bad_arg("a: x * T", "reference to unknown attr `x`", "x");
    bad_arg("a: f", "reference to attr `f` with type float that isn't type or list(type)", "f");
    bad_arg("a: T * T", "attr `T` used as length for", "T");
    bad_arg("a: N * L", "can't have both a number attr and a type-list attr", "N * L");
    bad_arg("a: float_ref", "illegal use of ref type `float_ref`. Use `Ref(float)` instead", "float_ref");
    let spec = "a: N * bool";
    let op = test().attr("N: int >= -1").input(spec);
    bad(op, &format!("input({spec:?})"), "must have minimum >= 0, not -1", "N");
}

#[test]
fn trouble_with_names() {
    for name in ["lower", "BadSuffix 7%", ">OpName", "OpName>", "OpName>b", "OpName>A>>B", ""] {
        let error = OpDefBuilder::new(name).build().unwrap_err();
        assert!(error.message().contains(&format!("op {name}: name({name:?}): invalid name: `{name}`")), "{error}");
    }
    let duplicate = "duplicate name: ";
    bad(test().input("a: int32").input("a: float"), "input(\"a: float\")", duplicate, "a");
    bad(test().input("a: int32").output("a: float"), "output(\"a: float\")", duplicate, "a");
    bad(test().output("a: int32").output("a: float"), "output(\"a: float\")", duplicate, "a");
    bad(test().input("a: int32").attr("a: float"), "input(\"a: int32\")", duplicate, "a");
    bad(test().attr("a: int").attr("a: float"), "attr(\"a: float\")", duplicate, "a");
    bad_attr("int32: int", "attr can't have name `int32` that matches a data type", "int32");
    bad_attr("float_ref: string", "that matches a data type", "float_ref");
}

#[test]
fn all_errors_are_told_at_once() {
    let error = OpDefBuilder::new("test")
        .attr("T: wat")
        .attr("N: int = x")
        .input("X: float")
        .output("y: S")
        .deprecated(1, "")
        .deprecated(2, "")
        .build()
        .unwrap_err();
    let text = error.message();
    assert_eq!(text.matches("op test: ").count(), 6, "{text}");
    let found = [
        "deprecated(...) is called twice",
        "name(\"test\"): invalid name",
        "attr(\"T: wat\")",
        "attr(\"N: int = x\")",
        "input(\"X: float\")",
        "output(\"y: S\")",
    ]
    .map(|part| text.find(part).unwrap_or_else(|| panic!("{part} is not in {text}")));
    assert!(found.is_sorted(), "{text}");
}

#[test]
fn documentation_is_taken_apart() {
    let op = good(
        test()
            .input("concat_dim: int32")
            .input("values: N * T")
            .output("output: T")
            .attr("T: type")
            .attr("N: int")
            .doc(
                "
Concatenate N Tensors along one dimension.

The ranks must match.
  (Indented: no name.)

And a second paragraph.

concat_dim: The dimension along which to concatenate.  Must be
    in the range:
      [0, rank(values...)).

    That is all.

values:= The N Tensors.
output :
  On the next line.
N: How many.
",
            ),
    );
    assert_eq!(op.summary, "Concatenate N Tensors along one dimension.");
    assert_eq!(op.description, "The ranks must match.\n  (Indented: no name.)\n\nAnd a second paragraph.");
    let dim =
        "The dimension along which to concatenate.  Must be\nin the range:\n  [0, rank(values...)).\n\nThat is all.";
    assert_eq!(op.inputs[0].description, dim);
    // `:=` keeps wrappers from writing the type in front.
    assert_eq!(op.inputs[1].description, "= The N Tensors.");
    assert_eq!(op.outputs[0].description, "\nOn the next line.");
    assert_eq!(op.attrs[0].description, "");
    assert_eq!(op.attrs[1].description, "How many.");
    let op = good(test().doc("Only a summary."));
    assert_eq!((&*op.summary, &*op.description), ("Only a summary.", ""));
    let op = good(test().attr("i: int").doc("Summary\ni: Much."));
    assert_eq!((&*op.summary, &*op.description, &*op.attrs[0].description), ("Summary", "", "Much."));
}

#[test]
fn trouble_with_documentation() {
    let text = |builder: OpDefBuilder| builder.build().unwrap_err().message().to_owned();
    let error = text(test().input("a: int32").doc("Summary\n\na: Something.\nb: Not defined.\nc: Neither."));
    assert!(error.contains("op Test: doc(...): no matching input/output/attr for name `b`"), "{error}");
    assert!(error.contains("for name `c`"), "{error}");
    let error = text(test().input("a: int32").doc("Summary\n\na: One.\na: Two."));
    assert!(error.contains("op Test: doc(...): `a` is documented twice"), "{error}");
    assert!(text(test().doc("What's").doc("up, doc?")).contains("op Test: extra call to doc(...)"));
    assert!(text(test().deprecated(1, "a").deprecated(2, "b")).contains("op Test: deprecated(...) is called twice"));
}

//! Ops: the declaration, the constants and the attrs.

use std::borrow::Cow::Borrowed;

use kernlink::attr::{AttrMap, AttrValue, FunctionRef};
use kernlink::collect::linked_ops;
use kernlink::dtype::DataType;
use kernlink::op::{
    AllowedValues, ArgDef, ArgType, AttrBase, AttrDef, AttrDefault, AttrType, Deprecation, InputArg, InputListArg, Op,
    OpDef, OutputArg, OutputListArg,
};
use kernlink::shape_inference::InferenceContext;
use kernlink::tensor::Tensor;
use kernlink_macros::register_op;

fn no_shapes(_: &mut InferenceContext<'_>) -> kernlink::Result<()> {
    Ok(())
}

/// Keeps the element at `preserve_index`
/// and sets every other one to zero.
///
/// A second paragraph,
///   with an indent.
///
/// And a third.
#[register_op(
    attr("T: {float, double, int32}", "The dtype."),
    attr("preserve_index: int >= 0 = 0", "Which element to keep."),
    input("to_zero: T", "What to zero."),
    output("zeroed: T"),
    shape_fn = no_shapes
)]
pub(crate) struct ZeroOut;

#[test]
fn the_declaration() {
    let expected = OpDef {
        name: Borrowed("ZeroOut"),
        inputs: Borrowed(&[ArgDef {
            name: Borrowed("to_zero"),
            description: Borrowed("What to zero."),
            ty: ArgType::Attr(Borrowed("T")),
            number_attr: None,
            is_ref: false,
        }]),
        outputs: Borrowed(&[ArgDef {
            name: Borrowed("zeroed"),
            description: Borrowed(""),
            ty: ArgType::Attr(Borrowed("T")),
            number_attr: None,
            is_ref: false,
        }]),
        attrs: Borrowed(&[
            AttrDef {
                name: Borrowed("T"),
                ty: AttrType { base: AttrBase::Type, list: false },
                default: None,
                description: Borrowed("The dtype."),
                minimum: None,
                allowed: Some(AllowedValues::Types(Borrowed(&[DataType::Float, DataType::Double, DataType::Int32]))),
            },
            AttrDef {
                name: Borrowed("preserve_index"),
                ty: AttrType { base: AttrBase::Int, list: false },
                default: Some(AttrDefault::Int(0)),
                description: Borrowed("Which element to keep."),
                minimum: Some(0),
                allowed: None,
            },
        ]),
        summary: Borrowed("Keeps the element at `preserve_index` and sets every other one to zero."),
        description: Borrowed("A second paragraph,\n  with an indent.\n\nAnd a third."),
        ..OpDef::EMPTY
    };
    assert_eq!(*ZeroOut::DEF, expected);
    assert!(matches!(ZeroOut::DEF.inputs, Borrowed(_)), "no allocation");
    assert_eq!((ZeroOut::TO_ZERO.index(), ZeroOut::ZEROED.index()), (0, 0));
    let (_, _): (InputArg<ZeroOut>, OutputArg<ZeroOut>) = (ZeroOut::TO_ZERO, ZeroOut::ZEROED);
}

#[test]
fn the_entry() {
    let line = line!();
    let entries: Vec<_> = linked_ops().filter(|entry| entry.def.name == "ZeroOut").collect();
    let [entry] = entries[..] else { panic!("{} entries", entries.len()) };
    assert!(std::ptr::eq(entry.def, ZeroOut::DEF));
    assert!(entry.shape_fn.is_some() && !entry.system);
    assert!(entry.location.file.ends_with("ops.rs") && entry.location.line < line);
    assert!(std::ptr::eq(entry.provider, &crate::KERNLINK_PROVIDER));
}

/// One attr of each type, with a default.
#[register_op(
    attr("s: string = 'a\\001'"),
    attr("e: {'x', \"y\"} = 'y'"),
    attr("i: int = -3"),
    attr("f: float = 0.1"),
    attr("inf: float = -inf"),
    attr("b: bool = true"),
    attr("t: type = DT_STRING"),
    attr("shape: shape = { dim { size: 2 } dim { size: -1 } }"),
    attr("unknown: shape = { unknown_rank: true }"),
    attr("tensor: tensor = { dtype: DT_INT32 tensor_shape {} int_val: 5 }"),
    attr("func: func = { name: 'f' }"),
    attr("ls: list(string) = ['a', '']"),
    attr("li: list(int) = [1, -2]"),
    attr("lf: list(float) = [0.5]"),
    attr("lb: list(bool) = [true, false]"),
    attr("lt: list({float, string}) = [DT_STRING]"),
    attr("lshape: list(shape) = [{}, { unknown_rank: true }]"),
    attr("ltensor: list(tensor) = [{ dtype: DT_INT32 }]"),
    attr("lfunc: list(func) = []"),
    attr("type: int = 1", "A keyword.")
)]
pub(crate) struct Defaults;

#[test]
fn defaults_of_every_type() {
    let defaults: Vec<_> = Defaults::DEF.attrs.iter().map(|attr| attr.default.clone().unwrap()).collect();
    let expected = [
        AttrDefault::String(Borrowed(b"a\x01")),
        AttrDefault::String(Borrowed(b"y")),
        AttrDefault::Int(-3),
        AttrDefault::Float(0.1),
        AttrDefault::Float(f32::NEG_INFINITY),
        AttrDefault::Bool(true),
        AttrDefault::Type(DataType::String),
        AttrDefault::Shape(Some(Borrowed(&[2, -1]))),
        AttrDefault::Shape(None),
        AttrDefault::Tensor(Borrowed(&[8, 3, 18, 0, 58, 1, 5])),
        AttrDefault::Func(Borrowed(&[10, 1, b'f'])),
        AttrDefault::ListString(Borrowed(&[Borrowed(b"a"), Borrowed(b"")])),
        AttrDefault::ListInt(Borrowed(&[1, -2])),
        AttrDefault::ListFloat(Borrowed(&[0.5])),
        AttrDefault::ListBool(Borrowed(&[true, false])),
        AttrDefault::ListType(Borrowed(&[DataType::String])),
        AttrDefault::ListShape(Borrowed(&[Some(Borrowed(&[])), None])),
        AttrDefault::ListTensor(Borrowed(&[Borrowed(&[8, 3])])),
        AttrDefault::ListFunc(Borrowed(&[])),
        AttrDefault::Int(1),
    ];
    assert_eq!(defaults, expected);
    let strings = Defaults::DEF.attr("e").unwrap().allowed.clone();
    assert_eq!(strings, Some(AllowedValues::Strings(Borrowed(&[Borrowed("x"), Borrowed("y")]))));
}

#[test]
fn attrs_are_read_into_fields() {
    let mut attrs = AttrMap::new();
    attrs.insert("s", "text");
    attrs.insert("e", "x");
    attrs.insert("i", 7);
    attrs.insert("f", 1.5f32);
    attrs.insert("inf", f32::INFINITY);
    attrs.insert("b", false);
    attrs.insert("t", DataType::Half);
    attrs.insert("shape", AttrValue::Shape(Default::default()));
    attrs.insert("unknown", AttrValue::Shape(Default::default()));
    attrs.insert("tensor", Tensor::scalar(1.5f32));
    attrs.insert("func", FunctionRef { name: "g".into(), ..FunctionRef::default() });
    attrs.insert("ls", AttrValue::EmptyList);
    attrs.insert("li", vec![1i64, 2]);
    for list in ["lf", "lb", "lt", "lshape", "ltensor", "lfunc"] {
        attrs.insert(list, AttrValue::EmptyList);
    }
    let error = Defaults::read_attrs(&attrs).unwrap_err();
    assert!(error.message().contains("`type`"), "{error}");
    attrs.insert("type", 3);
    let read = Defaults::read_attrs(&attrs).unwrap();
    let s: &String = &read.s;
    let (i, f, b): (i64, f32, bool) = (read.i, read.f, read.b);
    assert_eq!((s.as_str(), i, f, b, read.t), ("text", 7, 1.5, false, DataType::Half));
    assert_eq!((read.li, read.r#type, read.func.name.as_str()), (vec![1, 2], 3, "g"));
}

/// Every flag.
#[register_op(
    name = "Ns>Flags",
    stateful,
    commutative,
    aggregate,
    allows_uninitialized_input,
    distributed_communication,
    system,
    deprecated(9, "Use other flags"),
    shape_fn = |_| Ok(()),
    crate = kernlink,
)]
pub(crate) struct AllFlags;

#[test]
fn flags() {
    let expected = OpDef {
        name: Borrowed("Ns>Flags"),
        summary: Borrowed("Every flag."),
        is_commutative: true,
        is_aggregate: true,
        is_stateful: true,
        allows_uninitialized_input: true,
        is_distributed_communication: true,
        deprecation: Some(Deprecation { version: 9, explanation: Borrowed("Use other flags") }),
        ..OpDef::EMPTY
    };
    assert_eq!(*AllFlags::DEF, expected);
    let entry = linked_ops().find(|entry| entry.def.name == "Ns>Flags").unwrap();
    assert!(entry.system);
    let plain = linked_ops().find(|entry| entry.def.name == "Defaults").unwrap();
    assert!(!plain.def.is_stateful && plain.shape_fn.is_none());
}

#[register_op(
    attr("N: int"),
    attr("M: int >= 0"),
    attr("L: list(type)"),
    attr("T: type"),
    input("values: N * T"),
    input("more: M * float"),
    input("any: L"),
    input("handle: resource"),
    input("r: Ref(T)"),
    output("out: N * T"),
    output("all: L"),
    output("type: int32")
)]
pub(crate) struct Lists;

#[test]
fn lists_imply_minimums_and_a_resource_implies_state() {
    let minimum = |attr: &str| Lists::DEF.attr(attr).unwrap().minimum;
    assert_eq!((minimum("N"), minimum("M"), minimum("L"), minimum("T")), (Some(1), Some(0), Some(1), None));
    assert!(Lists::DEF.is_stateful);
    let (_, _, _): (InputListArg<Lists>, InputListArg<Lists>, InputArg<Lists>) =
        (Lists::VALUES, Lists::ANY, Lists::HANDLE);
    let (_, _, _): (OutputListArg<Lists>, OutputListArg<Lists>, OutputArg<Lists>) =
        (Lists::OUT, Lists::ALL, Lists::TYPE);
    assert_eq!((Lists::R.index(), Lists::TYPE.index()), (4, 2));
    assert!(Lists::DEF.inputs[4].is_ref && !Lists::DEF.inputs[0].is_ref);
    assert_eq!(Lists::DEF.inputs[0].number_attr.as_deref(), Some("N"));
    assert_eq!(Lists::DEF.inputs[2].ty, ArgType::ListAttr(Borrowed("L")));
    assert_eq!(Lists::DEF.inputs[3].ty, ArgType::Fixed(DataType::Resource));
}

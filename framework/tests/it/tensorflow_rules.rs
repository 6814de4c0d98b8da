//! Thousands of specs, ops, changes and nodes, drawn at random by tests/tensorflow/rules.py, get TensorFlow's verdicts.

use kernlink_framework::graph::{strip_defaults, validate_node_def};
use kernlink_framework::op::{OpDef, OpDefBuilder, attr_defaults_unchanged, op_def_compatible};
use kernlink_framework::proto::{self, Message, NodeDef};

const RULES: &str = include_str!("../../../tests/tensorflow/rules.txt");

/// The cases of one kind, as their fields.
fn cases(kind: &str) -> Vec<Vec<&'static str>> {
    let lines = RULES.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    lines.filter(|fields| fields[0] == kind).map(|fields| fields[1..].to_vec()).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let hex = if hex == "empty" { "" } else { hex };
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal")).collect()
}

fn message<M: Message + Default>(hex: &str) -> M {
    M::decode(&bytes(hex)[..]).expect("a message")
}

fn op(hex: &str) -> OpDef {
    let op = proto::op_from_proto(&message(hex)).expect("a well-formed op");
    op.validate().expect("a valid op");
    op
}

/// What Python's `unicode_escape` wrote.
fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let (length, c) = match rest.as_bytes()[at + 1] {
            b'n' => (2, '\n'),
            b't' => (2, '\t'),
            b'r' => (2, '\r'),
            b'\\' => (2, '\\'),
            b'x' => (4, char::from(u8::from_str_radix(&rest[at + 2..at + 4], 16).unwrap())),
            other => panic!("an escape \\{other}"),
        };
        plain.push(c);
        rest = &rest[at + length..];
    }
    plain + rest
}

/// Why Kernlink refuses what TensorFlow takes: TensorFlow overlooks what is wrong there.
const STRICTER: &[&str] = &[
    "expected nothing after the default",
    "has no field `",
    "expected `size: 3` in a dimension",
    "expected a size, or -1",
    "has no `dim`: remove one of them",
    "it has no `dtype`",
    "it has no `name`",
    "remove the leading zero",
    "expected a 64-bit decimal integer such as",
    "expected a number such as",
    "expected a number for `",
    "expected `true` or `false`",
    "expected `:` after the field",
    "expected a field or `",
    "is listed twice",
    "is documented twice",
    "; write `DT_",
];

#[test]
fn specs() {
    let cases = cases("spec");
    let (mut accepted, mut refused, mut stricter) = (0, 0, 0);
    for case in &cases {
        let parts = unescape(case[0]);
        let mut builder = OpDefBuilder::new("Test");
        for part in parts.split('\u{1e}') {
            let (kind, text) = part.split_at(1);
            builder = match kind {
                "a" => builder.attr(text),
                "i" => builder.input(text),
                "o" => builder.output(text),
                _ => builder.doc(text),
            };
        }
        match (builder.build(), case[1]) {
            (Ok(op), "-") => panic!("TensorFlow refuses {parts:?}, which became {op}"),
            (Ok(op), theirs) => {
                accepted += 1;
                // As bytes, in which NaN equals itself.
                let ours = proto::op_to_proto(&op).unwrap().encode_to_vec();
                assert_eq!(ours, message::<proto::OpDef>(theirs).encode_to_vec(), "{parts:?}");
            }
            (Err(_), "-") => refused += 1,
            (Err(error), _) => {
                stricter += 1;
                assert!(
                    STRICTER.iter().any(|reason| error.message().contains(reason)),
                    "TensorFlow takes this: {error}"
                );
            }
        }
    }
    assert!(accepted > 150 && refused > 300 && stricter < 60, "{accepted}, {refused}, {stricter}");
}

#[test]
fn ops() {
    for case in cases("op") {
        let proto: proto::OpDef = message(case[0]);
        let ours = proto::op_from_proto(&proto).and_then(|op| op.validate());
        assert_eq!(ours.is_ok(), case[1] == "ok", "{ours:?} for {proto:?}");
    }
}

#[test]
fn changes() {
    for case in cases("change") {
        let (old, new) = (op(case[0]), op(case[1]));
        let ours = op_def_compatible(&old, &new);
        assert_eq!(ours.is_ok(), case[2] == "ok", "{ours:?} for\n  old {old}\n  new {new}");
        let ours = attr_defaults_unchanged(&old, &new);
        assert_eq!(ours.is_ok(), case[3] == "ok", "{ours:?} for\n  old {old}\n  new {new}");
    }
}

#[test]
fn nodes() {
    for case in cases("node") {
        let (mut node, op): (NodeDef, OpDef) = (message(case[0]), op(case[1]));
        let ours = validate_node_def(&node, &op);
        assert_eq!(ours.is_ok(), case[2] == "ok", "{ours:?} for\n  {node:?}\n  {op}");
        strip_defaults(&mut node, &op).unwrap();
        assert_eq!(node.encode_to_vec(), message::<NodeDef>(case[3]).encode_to_vec(), "{node:?}\n  {op}");
    }
}

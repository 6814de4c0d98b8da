//! Specs with accidents: TensorFlow's own, with characters lost, doubled, swapped and strewn in. Whatever comes of it,
//! nothing panics; and what is still accepted is a valid op whose printed specs declare it again.

use kernlink_framework::op::{OpDef, OpDefBuilder, op_def_compatible};
use kernlink_framework::proto::{self, Message as _, OpList};

/// A small generator of numbers: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

const STREWN: &[&str] = &[
    " ",
    ":",
    "=",
    ">=",
    "-",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    "'",
    "\"",
    "\\",
    "\\x",
    "*",
    "#",
    "\n",
    "é",
    "0",
    "9",
    "int",
    "list(",
    "Ref(",
    "DT_FLOAT",
    "type",
    "dim",
    "<",
    ">",
    "_",
    "nan",
    "numbertype",
];

fn mutate(spec: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = spec.chars().collect();
    for _ in 0..1 + random.below(3) {
        let at = random.below(chars.len() + 1);
        match random.below(4) {
            0 if at < chars.len() => drop(chars.remove(at)),
            1 if at + 1 < chars.len() => chars.swap(at, at + 1),
            2 if at < chars.len() => chars.insert(at, chars[at]),
            _ => {
                let strewn = STREWN[random.below(STREWN.len())].chars();
                chars.splice(at..at, strewn);
            }
        }
    }
    chars.into_iter().collect()
}

fn builder(attrs: &[String], inputs: &[String], outputs: &[String]) -> OpDefBuilder {
    let op = attrs.iter().fold(OpDefBuilder::new("Test"), OpDefBuilder::attr);
    let op = inputs.iter().fold(op, OpDefBuilder::input);
    outputs.iter().fold(op, OpDefBuilder::output)
}

fn specs(op: &OpDef) -> [Vec<String>; 3] {
    [
        op.attrs.iter().map(|attr| attr.to_string()).collect(),
        op.inputs.iter().map(|arg| arg.to_string()).collect(),
        op.outputs.iter().map(|arg| arg.to_string()).collect(),
    ]
}

#[test]
fn accidents_are_told_or_harmless() {
    let list = OpList::decode(&include_bytes!("../../../tests/tensorflow/ops.pb")[..]).unwrap();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut accepted, mut refused) = (0, 0);
    for proto in list.op.iter().cycle().take(6_000) {
        let mut specs_of = specs(&proto::op_from_proto(proto).unwrap());
        let kinds: Vec<usize> = (0..3).filter(|&kind| !specs_of[kind].is_empty()).collect();
        let Some(&kind) = kinds.get(random.below(kinds.len())) else { continue };
        let at = random.below(specs_of[kind].len());
        let spec = mutate(&specs_of[kind][at], &mut random);
        specs_of[kind][at].clone_from(&spec);
        let [attrs, inputs, outputs] = &specs_of;
        match builder(attrs, inputs, outputs).build() {
            Err(error) => {
                refused += 1;
                assert!(error.message().starts_with("op Test: "), "{error}");
            }
            Ok(op) => {
                accepted += 1;
                op.validate().unwrap_or_else(|error| panic!("{spec:?}: {error}"));
                let [attrs, inputs, outputs] = specs(&op);
                let again =
                    builder(&attrs, &inputs, &outputs).build().unwrap_or_else(|error| panic!("{spec:?}: {error}"));
                assert_eq!(op, again, "{spec:?}");
            }
        }
    }
    assert!(accepted > 500 && refused > 3000, "{accepted} accepted, {refused} refused");
}

#[test]
fn messages_with_accidents_do_no_harm() {
    let list = OpList::decode(&include_bytes!("../../../tests/tensorflow/ops.pb")[..]).unwrap();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut valid, mut invalid, mut unreadable) = (0, 0, 0);
    for proto in list.op.iter().cycle().take(6_000) {
        let mut bytes = proto.encode_to_vec();
        for _ in 0..1 + random.below(3) {
            let at = random.below(bytes.len());
            bytes[at] = match random.below(3) {
                0 => bytes[at] ^ (1 << random.below(8)),
                1 => random.below(256) as u8,
                _ => bytes[random.below(bytes.len())],
            };
        }
        let Ok(changed) = proto::OpDef::decode(&bytes[..]) else {
            unreadable += 1;
            continue;
        };
        let original = proto::op_from_proto(proto).unwrap();
        match proto::op_from_proto(&changed).and_then(|op| op.validate().map(|()| op)) {
            Err(error) => {
                invalid += 1;
                assert!(!error.message().is_empty());
            }
            Ok(op) => {
                valid += 1;
                assert!(!op.to_string().is_empty());
                // Whatever the verdict is, there is one.
                let _ = op_def_compatible(&original, &op);
                let _ = op_def_compatible(&op, &original);
                op_def_compatible(&op, &op).unwrap();
                assert_eq!(proto::op_from_proto(&proto::op_to_proto(&op).unwrap()).unwrap(), op);
            }
        }
    }
    assert!(valid > 500 && invalid > 500 && unreadable > 500, "{valid}, {invalid}, {unreadable}");
}

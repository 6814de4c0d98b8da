//! Every op that TensorFlow 2.21 has can be declared: each is printed as specs, built from them again, and compared.
//! tests/tensorflow/extract.py wrote the ops, and says what it left out: documentation and `experimental_full_type`.

use kernlink_framework::op::{OpDef, OpDefBuilder, op_def_compatible};
use kernlink_framework::proto::{self, Message as _, OpList, OpListOptions};

const FILE: &[u8] = include_bytes!("../../../tests/tensorflow/ops.pb");

fn tensorflow() -> OpList {
    OpList::decode(FILE).expect("ops.pb is an OpList")
}

#[test]
fn nothing_in_the_file_is_unknown_to_the_messages() {
    assert_eq!(tensorflow().encode_to_vec(), FILE);
}

/// The op, declared again from the specs that it prints.
fn rebuild(op: &OpDef) -> kernlink_framework::Result<OpDef> {
    let mut builder = OpDefBuilder::new(&*op.name);
    for attr in op.attrs.iter() {
        builder = builder.attr(attr.to_string());
    }
    for input in op.inputs.iter() {
        builder = builder.input(input.to_string());
    }
    for output in op.outputs.iter() {
        builder = builder.output(output.to_string());
    }
    if op.is_stateful {
        builder = builder.stateful();
    }
    if op.is_commutative {
        builder = builder.commutative();
    }
    if op.is_aggregate {
        builder = builder.aggregate();
    }
    if op.allows_uninitialized_input {
        builder = builder.allows_uninitialized_input();
    }
    if op.is_distributed_communication {
        builder = builder.distributed_communication();
    }
    if let Some(deprecation) = &op.deprecation {
        builder = builder.deprecated(deprecation.version, &*deprecation.explanation);
    }
    builder.build()
}

#[test]
fn every_op_can_be_declared_while_the_program_runs() {
    let list = tensorflow();
    assert_eq!(list.op.len(), 1910);
    let mut different = Vec::new();
    for proto in &list.op {
        let theirs = proto::op_from_proto(proto).expect("TensorFlow's ops are well-formed");
        match rebuild(&theirs) {
            Err(error) => different.push(error.to_string()),
            // Once as declarations and once as messages: neither conversion may hide what the other loses.
            Ok(ours) if ours != theirs => different.push(format!("{ours:?}\n  is not {theirs:?}")),
            Ok(ours) => {
                let ours = proto::op_to_proto(&ours).expect("ours are too");
                if &ours != proto {
                    different.push(format!("as a message, {ours:?}\n  is not {proto:?}"));
                }
            }
        }
    }
    assert!(different.is_empty(), "{} ops differ:\n{}", different.len(), different.join("\n"));
}

#[test]
fn every_op_is_valid_and_compatible_with_itself() {
    let list = tensorflow();
    let ops = proto::op_list_from_proto(&list).unwrap();
    assert_eq!(ops.len(), 1910);
    ops.iter().for_each(|op| op_def_compatible(op, op).unwrap());
    assert_eq!(proto::op_list_to_proto(&ops, OpListOptions::default()).unwrap(), list);
    let public = proto::op_list_to_proto(&ops, OpListOptions { internal: false, ..OpListOptions::default() }).unwrap();
    assert_eq!(public.op.len(), 1910 - 176);
}

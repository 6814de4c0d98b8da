//! A library of ops, offered as TensorFlow takes it: there, handles of resources are strings, and kernels call back at once.

extern crate kernlink_framework as kernlink;

mod common;
mod ops;

use std::sync::Arc;

use kernlink::Code;
use kernlink::dtype::DataType;
use kernlink::registry::Registry;
use kernlink::tensor::Tensor;
use kernlink_library::guest::HostKind;

kernlink::provider!();

fn registry() -> &'static Arc<Registry> {
    &common::load(&KERNLINK_PROVIDER, HostKind::TensorFlow).0
}

#[test]
fn handles_are_strings_and_keep_their_order() {
    let run = |op, attrs: &[_], inputs| common::run(registry(), op, attrs, inputs);
    let op = |name| registry().op(name).unwrap().def;
    assert_eq!(op("TotalHandle").to_string().matches("total: string").count(), 1);
    assert!(op("AddToTotal").is_stateful && !op("CopyOf").is_stateful);
    let handle = run("TotalHandle", &[("shared_name", "total".into())], vec![]).unwrap().remove(0);
    assert_eq!((handle.dtype(), handle.rank()), (DataType::String, 0));
    for now in [3i64, 6] {
        let added = run("AddToTotal", &[], vec![handle.clone(), Tensor::scalar(3i64)]).unwrap();
        assert_eq!(added[0].to_scalar::<i64>().unwrap(), now);
    }
    for wrong in [Tensor::from("no handle"), Tensor::zeros(DataType::String, [2]).unwrap()] {
        let refused = run("AddToTotal", &[], vec![wrong, Tensor::scalar(3i64)]).unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
    }
}

#[test]
fn kernels_that_wait_end_within_the_call() {
    let doubled = common::run(registry(), "DoubleLater", &[], vec![Tensor::scalar(4.0f32)]).unwrap();
    assert_eq!(doubled[0].to_scalar::<f32>().unwrap(), 8.0);
    let late = common::run(registry(), "DoubleLater", &[], vec![Tensor::scalar(-1.0f32)]).unwrap_err();
    assert_eq!(late.code(), Code::OutOfRange);
}

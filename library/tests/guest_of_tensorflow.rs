//! A library of ops, offered as TensorFlow takes it: there, kernels that wait end within the call.

extern crate kernlink_framework as kernlink;

mod common;
mod ops;

use std::sync::Arc;

use kernlink::Code;
use kernlink::device::CpuDevice;
use kernlink::registry::Registry;
use kernlink::tensor::Tensor;
use kernlink_library::guest::HostKind;

kernlink::provider!();

fn registry() -> &'static Arc<Registry> {
    &common::load(&KERNLINK_PROVIDER, HostKind::TensorFlow).0
}

#[test]
fn what_is_offered_is_the_same() {
    let (registry, said) = common::load(&KERNLINK_PROVIDER, HostKind::TensorFlow);
    assert!(registry.op("TotalHandle").unwrap().def.to_string().contains("total: string"));
    assert_eq!(said.lines().count(), 4);
}

#[test]
fn kernels_that_wait_end_within_the_call() {
    let doubled =
        common::run(registry(), &CpuDevice::new(2).unwrap(), "DoubleLater", &[], vec![Tensor::scalar(4.0f32)]).unwrap();
    assert_eq!(doubled[0].to_scalar::<f32>().unwrap(), 8.0);
    let late = common::run(registry(), &CpuDevice::new(2).unwrap(), "DoubleLater", &[], vec![Tensor::scalar(-1.0f32)])
        .unwrap_err();
    assert_eq!(late.code(), Code::OutOfRange);
}

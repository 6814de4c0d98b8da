//! A library of ops of every kind: `cargo build -p kernlink-library --features guest --example every_kind` makes
//! `libevery_kind.so`, which tests/library/in_tensorflow.py loads.

extern crate kernlink_framework as kernlink;

#[path = "../tests/ops/mod.rs"]
pub mod ops;

kernlink::provider!();
kernlink_library::library!();

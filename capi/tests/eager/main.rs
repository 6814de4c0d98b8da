//! `tensorflow/c/eager/c_api.h`, called as C calls it. What TensorFlow 2.21 answered to the same calls stands in the tests.

mod allocated;
mod attrs;
mod client;
#[path = "../common/mod.rs"]
mod common;
mod contexts;
#[path = "../common/def.rs"]
mod def;
mod functions;
mod handles;
mod nulls;
mod ops;
mod speed;

//! Tests of ops: [`OpTest`] runs them and holds outputs, shapes and errors against what is expected, [`ShapeTest`] does so with
//! shape functions.
//!
//! ```
//! use kernlink::prelude::*;
//! use kernlink::testing::{self, infer_ok};
//!
//! # fn main() {
//! let mut test = testing::cpu();
//! test.run(|op| ops::top_kv2(op, [3.0f32, 7.0, 5.0], 2).build())
//!     .expect(ops::TopKV2::VALUES, [7.0, 5.0])
//!     .expect(ops::TopKV2::INDICES, [1, 2]);
//! test.run(|op| ops::sqrt(op, [2.0f32, 9.0]).build()).expect_close(ops::Sqrt::Y, [1.4142, 3.0], 1e-4);
//! test.run(|op| ops::top_kv2(op, [1.0f32], 2).build()).expect_error(Code::InvalidArgument, "input must have at least k");
//!
//! infer_ok(&testing::shapes::<ops::MatMul>(), "[2,?];[?,3]", "[d0_0,d1_1]");
//! # }
//! ```
//!
//! Inputs and attrs are those of the op's wrapper, and outputs are named as in kernels: what is misspelt does not compile.
//! Every run also checks that the shapes are those that the op's shape function gives, and that the kernel leaves inputs alone
//! that others share: an op without a state runs with shared inputs first, and then with inputs of its own. What a run leaves in kernels and
//! resources is there for the next one of the same [`OpTest`].

use std::sync::Arc;

pub use kernlink_framework::shape_inference::testing::{ShapeTest, infer_error, infer_ok};
pub use kernlink_framework::testing::*;

use kernlink_framework::device::Device;
use kernlink_framework::op::Op;
use kernlink_framework::registry::Registry;

/// Tests on the CPU, with all ops and kernels that are linked.
///
/// # Panics
/// If what is linked is at fault; see [`registry`](crate::registry()).
#[track_caller]
pub fn cpu() -> OpTest {
    OpTest::new(&linked())
}

/// Tests on a device, such as a `kernlink::gpu::GpuDevice`, with all ops and kernels that are linked. An op without a kernel
/// for the device fails.
///
/// # Panics
/// If what is linked is at fault.
#[track_caller]
pub fn on(device: Arc<dyn Device>) -> OpTest {
    OpTest::on(&linked(), device)
}

/// Tests of an op's shape function.
///
/// # Panics
/// If what is linked is at fault, or the op has no shape function.
#[track_caller]
pub fn shapes<O: Op>() -> ShapeTest {
    let entry = linked().op(&O::DEF.name).unwrap_or_else(|error| panic!("{error}"));
    match entry.shape_fn {
        Some(shape_fn) => ShapeTest::of::<O>(shape_fn),
        None => panic!("{} has no shape function", O::DEF.name),
    }
}

/// The graph that one rewrite makes of another one, both as lines of text: see [`graph_from_lines`].
///
/// Lines `feed a, b` and `fetch c` say what is fed beside placeholders, and fetched in the place of what nothing else uses.
///
/// # Panics
/// If the text cannot be read, there is no such rewrite, or its function fails.
#[track_caller]
pub fn rewritten(rewrite: &str, before: &str) -> String {
    rewritten_by(&linked(), rewrite, before)
}

#[track_caller]
fn linked() -> Arc<Registry> {
    crate::registry().unwrap_or_else(|error| panic!("{error}"))
}

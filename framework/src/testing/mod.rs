//! Tests of ops, without a graph: an op runs on given inputs, and its outputs, their shapes or its error are held against what
//! is expected.
//!
//! What an op's wrapper takes and its builder has are its inputs and attrs, so that a misspelt attr does not compile, and
//! outputs are named as in kernels:
//!
//! ```ignore
//! use kernlink::testing;
//!
//! #[test]
//! fn zero_out_keeps_one_element() {
//!     let mut test = testing::cpu();
//!     test.run(|op| zero_out(op, [1.0f32, 2.0, 3.0]).preserve_index(1).build()).expect(ZeroOut::ZEROED, [0.0, 2.0, 0.0]);
//!     test.run(|op| zero_out(op, 1.0f32).preserve_index(1).build()).expect_error(Code::InvalidArgument, "out of range");
//! }
//! ```
//!
//! Every run also holds the op's shape function against what the kernel gives, and runs the kernel with inputs that others
//! share, however small they are: one that changes them fails. An op without a state then runs once more, with inputs of its
//! own, and must give the same. What one run leaves in kernels and resources is there for the next one of the same
//! [`OpTest`]. Shape functions have tests of their own in [`shape_inference::testing`](crate::shape_inference::testing). Ops
//! with reference inputs run in graphs only: they are tested in a [`Session`](crate::runtime::Session), and [`compare`] serves
//! for its answers. [`OpTest::compute_gradient`] holds the gradients of ops against differences.

mod compare;
mod compute_gradient;
mod graph_text;
mod op_test;
mod rewritten;

pub use compare::{Tolerance, compare};
pub use compute_gradient::{ComputedGradient, Jacobian, TestedFunction};
pub use graph_text::{graph_from_lines, graph_to_lines};
pub use op_test::{OpTest, Ran};
pub use rewritten::rewritten_by;

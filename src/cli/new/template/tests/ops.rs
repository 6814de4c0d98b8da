//! The ops, called without a graph.

use kernlink::prelude::*;
use kernlink::testing;

use my_ops::{ZeroOut, zero_out};

#[test]
fn zero_out_keeps_one_element() {
    let mut test = testing::cpu();
    test.run(|op| zero_out(op, [1.0, 2.0, 3.0]).preserve_index(1).build())
        .expect(ZeroOut::ZEROED, [0.0, 2.0, 0.0]);
    test.run(|op| zero_out(op, [1, 2]).preserve_index(2).build())
        .expect_error(Code::InvalidArgument, "is out of range for 2 elements");
}

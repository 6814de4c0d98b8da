//! Comparisons, logic and bits.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: realnumbertype"),
    input("x: T"),
    input("y: T"),
    output("z: bool"),
    shape_fn = shapes::broadcast_binary_op,
)]
pub enum Comparisons {
    /// Whether `x == y`. NaN equals nothing. The shapes broadcast.
    #[op(
        attr("T: type"),
        attr(
            "incompatible_shape_error: bool = true",
            "Whether shapes that do not broadcast are an error; if not, the answer is the scalar `false`.",
        ),
        commutative
    )]
    Equal,
    /// Whether `x != y`. NaN differs from everything. The shapes broadcast.
    #[op(
        attr("T: type"),
        attr(
            "incompatible_shape_error: bool = true",
            "Whether shapes that do not broadcast are an error; if not, the answer is the scalar `true`.",
        ),
        commutative
    )]
    NotEqual,
    /// Whether `x < y`. The shapes broadcast.
    Less,
    /// Whether `x <= y`. The shapes broadcast.
    LessEqual,
    /// Whether `x > y`. The shapes broadcast.
    Greater,
    /// Whether `x >= y`. The shapes broadcast.
    GreaterEqual,
}

#[register_op(
    input("x: bool"),
    input("y: bool"),
    output("z: bool"),
    commutative,
    shape_fn = shapes::broadcast_binary_op,
)]
pub enum Logic {
    /// Whether both are true. The shapes broadcast.
    LogicalAnd,
    /// Whether at least one is true. The shapes broadcast.
    LogicalOr,
}

#[register_op(
    attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}"),
    input("x: T"),
    input("y: T"),
    output("z: T"),
    shape_fn = shapes::broadcast_binary_op,
)]
pub enum Bits {
    /// The bits that are set in both. The shapes broadcast.
    #[op(commutative)]
    BitwiseAnd,
    /// The bits that are set in at least one. The shapes broadcast.
    #[op(commutative)]
    BitwiseOr,
    /// The bits that are set in just one. The shapes broadcast.
    #[op(commutative)]
    BitwiseXor,
    /// The bits of `x` moved up by `y`, zeros following. `y` is first clamped to 0 … bits − 1. The shapes broadcast.
    LeftShift,
    /// The bits of `x` moved down by `y`; signed integers keep their sign. `y` is first clamped to 0 … bits − 1. The
    /// shapes broadcast.
    RightShift,
}

#[cfg(test)]
mod tests {
    use crate::testing::infer;
    use kernlink::dtype::DataType;

    use super::*;

    #[test]
    fn shapes_that_do_not_broadcast_may_be_allowed() {
        let op = |strict: bool| infer::<Equal>().attr("T", DataType::Float).attr("incompatible_shape_error", strict);
        op(true).ok("[2,1];[1,3]", "[d0_0,d1_1]");
        op(true).error("Dimensions must be equal", "[2];[3]");
        op(false).ok("[2];[3]", "[]");
        op(false).ok("[2];[?]", "?");
        op(false).ok("[1];[?]", "[d1_0]");
        op(true).ok("[2];[?]", "[d0_0]");
    }
}

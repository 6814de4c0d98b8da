//! Bit operations and logic.

use kernlink_macros::register_kernel;
use kernlink_ops::{
    BitwiseAnd, BitwiseOr, BitwiseXor, Invert, LeftShift, LogicalAnd, LogicalNot, LogicalOr, PopulationCount,
    RightShift,
};

use super::binary::{Binary, binary};
use super::unary::{Unary, unary};

unary!(Invert, 500: i8, i16, i32, i64, u8, u16, u32, u64 => |x| !x);
unary!(PopulationCount -> u8: i8, i16, i32, i64, u8, u16, u32, u64 => |x| x.count_ones() as u8);
unary!(LogicalNot, 500: bool => |x| !x);
binary!(BitwiseAnd, 500: i8, i16, i32, i64, u8, u16, u32, u64 => |x, y| x & y);
binary!(BitwiseOr, 500: i8, i16, i32, i64, u8, u16, u32, u64 => |x, y| x | y);
binary!(BitwiseXor, 500: i8, i16, i32, i64, u8, u16, u32, u64 => |x, y| x ^ y);
binary!(LogicalAnd, 500: bool => |x, y| x & y);
binary!(LogicalOr, 500: bool => |x, y| x | y);

/// Shifts, whose distance is clamped to what the dtype has bits for.
macro_rules! shifts {
    ($($t:ident),+) => {$(
        binary!(LeftShift, 500: $t => |x, y| x << y.clamp(0, ($t::BITS - 1) as $t));
        binary!(RightShift, 500: $t => |x, y| x >> y.clamp(0, ($t::BITS - 1) as $t));
    )+};
}
shifts!(i8, i16, i32, i64, u8, u16, u32, u64);

#[register_kernel(device = Cpu, op = [Invert, PopulationCount], T = [i8, i16, i32, i64, u8, u16, u32, u64])]
type UnaryKernels<O, T> = Unary<O, T>;

#[register_kernel(device = Cpu, op = [BitwiseAnd, BitwiseOr, BitwiseXor, LeftShift, RightShift], T = [i8, i16, i32, i64, u8, u16, u32, u64])]
type BinaryKernels<O, T> = Binary<O, T>;

#[register_kernel(device = Cpu, op = LogicalNot)]
type LogicalNotKernel = Unary<LogicalNot, bool>;

#[register_kernel(device = Cpu, op = LogicalAnd)]
type LogicalAndKernel = Binary<LogicalAnd, bool>;

#[register_kernel(device = Cpu, op = LogicalOr)]
type LogicalOrKernel = Binary<LogicalOr, bool>;

//! Roots of whole numbers, for norms of integers.

use crate::shader::Scalar;

/// The WGSL of `fn whole_root(a: A) -> A`, the root without its fraction; of what is negative, the least
/// number, which is what TensorFlow makes of a NaN.
pub(super) fn whole_root(part: Scalar) -> String {
    let (top, guard) = match part {
        Scalar::I64 => ("i64(1) << 62u", "if (a < A(0)) { return i64(1) << 63u; }"),
        Scalar::I32 => ("i32(1) << 30u", "if (a < A(0)) { return i32(-2147483648); }"),
        _ => ("1u << 30u", ""),
    };
    include_str!("whole_root.wgsl").replace("GUARD", guard).replace("TOP", top)
}

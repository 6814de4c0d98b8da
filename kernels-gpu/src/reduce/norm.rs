//! Roots of whole numbers, for norms of integers.

use crate::shader::Scalar;

/// The WGSL of `fn whole_root(a: A) -> A`, the root without its fraction; 0 of what is negative.
pub(super) fn whole_root(part: Scalar) -> String {
    let (top, guard) = match part {
        Scalar::I64 => ("i64(1) << 62u", "if (a < A(0)) { return A(0); }"),
        Scalar::I32 => ("i32(1) << 30u", "if (a < A(0)) { return A(0); }"),
        _ => ("1u << 30u", ""),
    };
    include_str!("whole_root.wgsl").replace("GUARD", guard).replace("TOP", top)
}

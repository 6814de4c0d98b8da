//! Roots of whole numbers, for norms of integers.

use crate::shader::Scalar;

/// The WGSL of `fn whole_root(a: A) -> A`, the root without its fraction; 0 of what is negative.
pub(super) fn whole_root(part: Scalar) -> String {
    let (top, guard) = match part {
        Scalar::I64 => ("i64(1) << 62u", "    if (a < A(0)) { return A(0); }\n"),
        Scalar::I32 => ("i32(1) << 30u", "    if (a < A(0)) { return A(0); }\n"),
        _ => ("1u << 30u", ""),
    };
    format!(
        "fn whole_root(a: A) -> A {{\n{guard}    var rest = a;\n    var root = A(0);\n    var bit = {top};\n    \
         while (bit > rest) {{ bit = bit >> 2u; }}\n    while (bit != A(0)) {{\n        \
         if (rest >= root + bit) {{\n            rest = rest - (root + bit);\n            root = (root >> 1u) + bit;\n        \
         }} else {{\n            root = root >> 1u;\n        }}\n        bit = bit >> 2u;\n    }}\n    return root;\n}}\n"
    )
}

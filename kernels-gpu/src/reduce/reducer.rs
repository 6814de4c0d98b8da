//! What the reductions compute: how elements become partial results, how those merge, and what comes out.

use crate::shader::Scalar;

/// A reduction in WGSL. `X` is the type of an element (`f32` for `f16`), `A` of a partial result, `R` of the output's
/// element.
#[derive(Clone, Debug)]
pub(crate) struct Reducer {
    /// What names it in errors.
    pub(crate) label: &'static str,
    /// What the input's elements are.
    pub(crate) from: Scalar,
    /// What partial results are.
    pub(crate) part: Scalar,
    /// What the output's elements are.
    pub(crate) to: Scalar,
    /// The result of no elements.
    pub(crate) identity: &'static str,
    /// The body of `fn lift(x: X) -> A`: the result of one element.
    pub(crate) lift: &'static str,
    /// The body of `fn merge(a: A, b: A) -> A`: the result of two parts.
    pub(crate) merge: &'static str,
    /// The body of `fn finish(a: A, count: u32) -> R`: the output's element for `count` elements.
    pub(crate) finish: &'static str,
}

/// The reductions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Sum,
    /// Of integers rounded towards zero; their sums are kept in 64 bits.
    Mean,
    Product,
    /// NaN if an element is.
    Greatest,
    /// NaN if an element is.
    Least,
    /// Half the sum of the squares.
    HalfSquares,
    /// The root of the sum of the squares.
    Norm,
}

impl Kind {
    /// The reduction of elements of this kind.
    pub(crate) fn of(self, scalar: Scalar) -> Reducer {
        use Scalar::{Bool, F16, F32, I32, I64, U32};
        let part = match (self, scalar) {
            (_, F32 | F16) => F32,
            (Kind::Mean, I32 | U32) => I64,
            (_, scalar) => scalar,
        };
        let is_float = part == F32;
        let (label, identity, merge) = match self {
            Kind::Sum => ("Sum", "A(0)", "return a + b;"),
            Kind::Mean => ("Mean", "A(0)", "return a + b;"),
            Kind::HalfSquares => ("L2Loss", "A(0)", "return a + b;"),
            Kind::Norm => ("EuclideanNorm", "A(0)", "return a + b;"),
            Kind::Product => ("Prod", "A(1)", "return a * b;"),
            Kind::Greatest => {
                let lowest = match part {
                    F32 | F16 => "-inf()",
                    I32 => "i32(-2147483648)",
                    I64 => "i64(1) << 63u",
                    U32 | Bool => "0u",
                };
                ("Max", lowest, if is_float { "return greater(a, b);" } else { "return select(b, a, a > b);" })
            }
            Kind::Least => {
                let highest = match part {
                    F32 | F16 => "inf()",
                    I32 => "2147483647",
                    I64 => "~(i64(1) << 63u)",
                    U32 => "0xffffffffu",
                    Bool => "1u",
                };
                ("Min", highest, if is_float { "return less(a, b);" } else { "return select(b, a, a < b);" })
            }
        };
        let lift = match self {
            Kind::HalfSquares => "return x * x * 0.5;",
            Kind::Norm => "return x * x;",
            // By way of 64 bits without a sign: some devices take a `u32` for an `i32` on the way to an `i64`.
            Kind::Mean if scalar == U32 => "return i64(u64(x));",
            Kind::Mean if part == I64 => "return i64(x);",
            _ => "return x;",
        };
        let finish = match (self, scalar) {
            // TensorFlow rounds the sum and the count before it divides, so that both may overflow.
            (Kind::Mean, F16) => "if (count == 0u) { return nan(); }\n    return f32(f16(a)) / f32(f16(f32(count)));",
            (Kind::Mean, F32) => "if (count == 0u) { return nan(); }\n    return a / f32(count);",
            (Kind::Mean, _) => "if (count == 0u) { return R(0); }\n    return R(a / i64(count));",
            (Kind::Norm, F32 | F16) => "return sqrt(a);",
            (Kind::Norm, _) => "return whole_root(a);",
            _ => "return a;",
        };
        Reducer { label, from: scalar, part, to: scalar, identity, lift, merge, finish }
    }
}

impl Reducer {
    /// The reduction to partial results.
    pub(crate) fn to_parts(&self) -> Reducer {
        Reducer { to: self.part, finish: "return a;", ..self.clone() }
    }

    /// The reduction of partial results.
    pub(crate) fn of_parts(&self) -> Reducer {
        Reducer { from: self.part, lift: "return x;", ..self.clone() }
    }
}

//! Cast: conversion of elements to another dtype, as C++ on x86 converts them.

use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink_ops as ops;

use super::driver::{self, ElementWise, Function, Shapes};
use crate::family::{gpu_kernels, scalar_of};
use crate::shader::{Program, Scalar};

/// The body of the function between two kinds of elements, `f16` being computed with as `f32`.
pub(super) fn body(from: Scalar, to: Scalar) -> &'static str {
    use Scalar::{Bool, F16, F32, I32, I64, U32};
    match (from, to) {
        (F32 | F16, F32 | F16) | (I32, I32) | (U32, U32) | (Bool, Bool | U32) | (I64, I64) => "return x;",
        (F32 | F16, Bool) => "return u32((bitcast<u32>(x) << 1u) != 0u);",
        (_, Bool) => "return u32(x != T(0));",
        // What no integer holds becomes the lowest.
        (F32 | F16, I32) => {
            "if (x < 2147483648.0 && x >= -2147483648.0) { return i32(x); }\n    return i32(-2147483648);"
        }
        (F32 | F16, U32) => "return low_bits(x);",
        (F32 | F16, I64) => {
            "if (x < 9223372036854775808.0 && x >= -9223372036854775808.0) { return i64(x); }\n    \
             return i64(1) << 63u;"
        }
        (_, F32 | F16) => "return f32(x);",
        (_, I32) => "return i32(x);",
        (_, U32) => "return u32(x);",
        // By way of 64 bits without a sign: some devices take a `u32` for an `i32` on the way to an `i64`.
        (U32, I64) => "return i64(u64(x));",
        (_, I64) => "return i64(x);",
    }
}

/// The function between two kinds of elements.
fn function(from: Scalar, to: Scalar, truncates: bool) -> Option<Function> {
    let body = match (from, to) {
        // What 16 bits do not hold is dropped, not rounded.
        (Scalar::F32, Scalar::F16) if truncates => {
            "if (is_nan(x)) { return x; }\n    return bitcast<f32>(bitcast<u32>(x) & 0xffffe000u);"
        }
        _ => body(from, to),
    };
    let label = format!("Cast{}{from:?}To{to:?}", if truncates { "Truncate" } else { "" });
    (from != to).then(|| Function::new(&label, &[from], to, body).shapes(Shapes::Equal))
}

struct CastKernel {
    /// `None` if the dtypes are the same.
    conversion: Option<ElementWise>,
}

impl CastKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<CastKernel> {
        let (from, to) = (scalar_of(ctx.input_dtype_at(0)?)?, scalar_of(ctx.output_dtype_at(0)?)?);
        let truncates = ctx.attrs.required("Truncate")?;
        Ok(CastKernel { conversion: function(from, to, truncates).map(ElementWise::new) })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        match &self.conversion {
            None => {
                let same = ctx.take_input_at(0)?;
                ctx.set_output_at(0, same)
            }
            Some(conversion) => conversion.compute(ctx),
        }
    }
}

gpu_kernels! {
    Cast host [] as CastKernel: |ctx| CastKernel::new(ctx);
    { SrcT = [f32, i32, u32, bool], DstT = [f32, i32, u32, bool] }
    { SrcT = [f16], DstT = [f32, i32, u32, bool, f16]; "f16" }
    { SrcT = [f32, i32, u32, bool], DstT = [f16]; "f16" }
    { SrcT = [i64], DstT = [f32, i32, u32, bool, i64]; "i64" }
    { SrcT = [f32, i32, u32, bool], DstT = [i64]; "i64" }
    { SrcT = [f16], DstT = [i64]; "f16", "i64" }
    { SrcT = [i64], DstT = [f16]; "f16", "i64" }
}

/// All programs of the family.
pub(super) fn programs() -> Vec<Program> {
    use Scalar::{Bool, F16, F32, I32, I64, U32};
    let all = [F32, I32, U32, Bool, F16, I64];
    let pairs = all.into_iter().flat_map(|from| all.map(|to| (from, to)));
    let mut functions: Vec<Function> = pairs.filter_map(|(from, to)| function(from, to, false)).collect();
    functions.extend(function(F32, F16, true));
    functions.iter().flat_map(driver::programs).collect()
}

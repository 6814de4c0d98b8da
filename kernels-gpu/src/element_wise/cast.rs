//! Cast: conversion of elements to another dtype, as C++ on x86 converts them.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::shader::Operands;
use kernlink::kernel::{KernelContext, Meet};
use kernlink_macros::register_kernel;
use kernlink_ops::Cast;

use super::driver::{self, ElementWise, Function};
use crate::shader::{Program, Scalar, scalar_of};

pub(super) const FILE: &str = include_str!("cast.wgsl");

/// The function of [`FILE`] between two kinds of elements.
pub(super) fn conversion(from: Scalar, to: Scalar) -> &'static str {
    use Scalar::{Bool, F16, F32, I32, I64, U32};
    match (from, to) {
        (F32 | F16, F32 | F16) | (I32, I32) | (U32, U32) | (Bool, Bool | U32) | (I64, I64) => "unchanged",
        (F32 | F16, Bool) => "float_to_bool",
        (_, Bool) => "integer_to_bool",
        (F32 | F16, I32) => "float_to_i32",
        (F32 | F16, U32) => "float_to_u32",
        (F32 | F16, I64) => "float_to_i64",
        (U32 | Bool, I64) => "u32_to_i64",
        _ => "converted",
    }
}

/// The function between two kinds of elements, unless they are one.
fn function(from: DataType, to: DataType, truncates: bool) -> Result<Option<Function>> {
    let (from, to) = (scalar_of(from)?, scalar_of(to)?);
    let name = match (from, to) {
        (Scalar::F32, Scalar::F16) if truncates => "truncated_to_f16",
        _ => conversion(from, to),
    };
    Ok((from != to).then(|| Function::new(FILE, name, &[from], to).operands(Operands::Equal)))
}

fn programs(from: DataType, to: DataType) -> Result<Vec<Program>> {
    let functions = [function(from, to, false)?, function(from, to, true)?];
    Ok(functions.iter().flatten().flat_map(driver::programs).collect())
}

#[register_kernel(
    device = Gpu, op = Cast, SrcT = [f32, i32, u32, bool, f16 if "f16", i64 if "i64"],
    DstT = [f32, i32, u32, bool, f16 if "f16", i64 if "i64"], programs = |SrcT, DstT| programs(SrcT, DstT),
    element_wise = Some(kernlink::kernel::ElementWise {
        parameter: None,
        meet: Meet::Equal,
        function: |inputs, output| function(*inputs.first()?, output, false).ok()??.joins()
    }),
    state = |ctx| {
        let function = function(ctx.input_dtype(O::X), ctx.output_dtype(O::Y), ctx.attrs().Truncate)?;
        Ok(function.map(|function| ElementWise::new(function, None)))
    }
)]
fn cast(conversion: &Option<ElementWise>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    match conversion {
        None => {
            let same = ctx.take_input(O::X)?;
            ctx.set_output(O::Y, same)
        }
        Some(conversion) => conversion.compute(ctx, &[]),
    }
}

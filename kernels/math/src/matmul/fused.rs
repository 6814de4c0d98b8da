//! _FusedMatMul and _FusedBatchMatMulV2: products of matrices, and what follows them.

use kernlink::Result;
use kernlink::kernel::{KernelConstruction, KernelContext};
use kernlink_geometry::fusion::Fusion;
use kernlink_geometry::products::ensure_matrices;
use kernlink_kernels_common::fused::{Activated, Fused};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{FusedBatchMatMulV2, FusedMatMul};

use super::batch::{Adjoint, multiply};
use super::product::{Factor, Operand, Packed, Products};

/// What a node keeps.
struct Prepared {
    transpose: [bool; 2],
    b: Packed,
    fusion: Fusion,
}

impl Prepared {
    fn new(ctx: &KernelConstruction<'_, FusedMatMul>) -> Result<Self> {
        let transpose = [ctx.attrs().transpose_a, ctx.attrs().transpose_b];
        let b = Packed::new(ctx.constant(FusedMatMul::B).is_some());
        Ok(Self { transpose, b, fusion: Fusion::new(ctx.attrs, false)? })
    }
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32], state = Prepared::new)]
fn fused_mat_mul<T: Factor + Computed<Wide: Activated>>(
    prepared: &Prepared,
    ctx: &mut KernelContext<'_, FusedMatMul>,
) -> Result<()> {
    let (a, b) = (ctx.input(FusedMatMul::A)?, ctx.input(FusedMatMul::B)?);
    ensure_matrices(a.shape(), b.shape())?;
    let a_side = Operand { shape: a.shape(), transposed: prepared.transpose[0], conjugate: false };
    let b_side = Operand { shape: b.shape(), transposed: prepared.transpose[1], conjugate: false };
    let products = Products::new(a_side, b_side)?;
    let mut product = ctx.allocate_output(FusedMatMul::PRODUCT, products.output.clone())?;
    products.compute::<T>(ctx, a.as_slice()?, b, &prepared.b, product.as_mut_slice()?)?;
    let fused = Fused::new::<T>(ctx, &prepared.fusion, product.shape(), |summand| Ok(summand.clone()))?;
    fused.finish_narrow::<T>(ctx, &mut product)?;
    ctx.set_output(FusedMatMul::PRODUCT, product)
}

/// What a node of a batch keeps.
struct PreparedBatch {
    adjoint: Adjoint,
    y: Packed,
    fusion: Fusion,
}

impl PreparedBatch {
    fn new(ctx: &KernelConstruction<'_, FusedBatchMatMulV2>) -> Result<Self> {
        let y = Packed::new(ctx.constant(FusedBatchMatMulV2::Y).is_some());
        Ok(Self { adjoint: Adjoint::new(ctx)?, y, fusion: Fusion::new(ctx.attrs, false)? })
    }
}

#[register_kernel(device = Cpu, T = [f32], state = PreparedBatch::new)]
fn fused_batch_mat_mul<T: Factor + Computed<Wide: Activated>>(
    prepared: &PreparedBatch,
    ctx: &mut KernelContext<'_, FusedBatchMatMulV2>,
) -> Result<()> {
    let (x, y) = (ctx.input(FusedBatchMatMulV2::X)?, ctx.input(FusedBatchMatMulV2::Y)?);
    let mut output = multiply::<T>(ctx, prepared.adjoint, true, x, y, &prepared.y)?;
    let fused = Fused::new::<T>(ctx, &prepared.fusion, output.shape(), |summand| Ok(summand.clone()))?;
    fused.finish_narrow::<T>(ctx, &mut output)?;
    ctx.set_output(FusedBatchMatMulV2::OUTPUT, output)
}

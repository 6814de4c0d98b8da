//! MatMul and BatchMatMul: products of matrices, whole or transposed.

pub(crate) mod config;
mod einsum;
pub(crate) mod gemm;
mod large;
pub(crate) mod matrices;
mod products;
pub(crate) mod sum_parts;
pub(crate) mod text;
pub(crate) mod tune;
mod vector;

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::op::Op as _;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::fusion::Fusion;
use kernlink_geometry::products::{ensure_batches, ensure_matrices};
use kernlink_macros::register_kernel;
use kernlink_ops::{BatchMatMul, BatchMatMulV2, BatchMatMulV3, FusedBatchMatMulV2, FusedMatMul, MatMul};

use self::products::Products;
use crate::device::GpuDevice;
use crate::epilogue::Finish;
use crate::shader::{Program, scalar_of};

fn programs(dtype: DataType) -> Result<Vec<Program>> {
    let all = [[false, false], [false, true], [true, false], [true, true]];
    let by_tiles = gemm::programs(dtype, all.map(products::sources))?;
    Ok([by_tiles, vector::programs(scalar_of(dtype)?)].concat())
}

#[register_kernel(
    device = Gpu, op = MatMul, T = [f32, i32, f16 if "f16", i64 if "i64"], programs = |T| programs(T),
    state = |ctx| Products::new(ctx.input_dtype(O::A), [ctx.attrs().transpose_a, ctx.attrs().transpose_b])
)]
fn mat_mul(products: &Products, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (a, b) = (ctx.input(O::A)?, ctx.input(O::B)?);
    ensure_matrices(a.shape(), b.shape())?;
    let product = products.compute(GpuDevice::of(ctx)?, a, b)?;
    ctx.set_output(O::PRODUCT, product)
}

/// Those of products that have an end in their shader.
fn fused_programs(dtype: DataType) -> Result<Vec<Program>> {
    let all = [[false, false], [false, true], [true, false], [true, true]];
    let by_tiles = gemm::fused_programs(dtype, all.map(products::sources))?;
    Ok([by_tiles, vector::fused_programs(scalar_of(dtype)?)].concat())
}

/// What follows products of this shape in their node.
fn finish(ctx: &RawContext<'_>, fusion: &Fusion, output: &Shape) -> Result<Option<Finish>> {
    let arguments = fusion.arguments_of(ctx, ctx.output_dtype_at(0)?, output, |summand| Ok(summand.clone()))?;
    Ok(Some(Finish::new(fusion, arguments, output)))
}

#[register_kernel(
    device = Gpu, T = [f32, f16 if "f16"], programs = |T| fused_programs(T), state = |ctx| {
        let transposed = [ctx.attrs().transpose_a, ctx.attrs().transpose_b];
        Ok((Products::new(ctx.input_dtype(FusedMatMul::A), transposed)?, Fusion::new(ctx.attrs, false)?))
    }
)]
fn fused_mat_mul((products, fusion): &(Products, Fusion), ctx: &mut KernelContext<'_, FusedMatMul>) -> Result<()> {
    let (a, b) = (ctx.input(FusedMatMul::A)?, ctx.input(FusedMatMul::B)?);
    ensure_matrices(a.shape(), b.shape())?;
    let product = products.fused(GpuDevice::of(ctx)?, [a, b], |output| finish(ctx, fusion, output))?;
    ctx.set_output(FusedMatMul::PRODUCT, product)
}

#[register_kernel(
    device = Gpu, T = [f32], programs = |T| fused_programs(T), state = |ctx| {
        let transposed = [ctx.attrs().adj_x, ctx.attrs().adj_y];
        Ok((Products::new(ctx.input_dtype(FusedBatchMatMulV2::X), transposed)?, Fusion::new(ctx.attrs, false)?))
    }
)]
fn fused_batch_mat_mul(
    (products, fusion): &(Products, Fusion),
    ctx: &mut KernelContext<'_, FusedBatchMatMulV2>,
) -> Result<()> {
    let (x, y) = (ctx.input(FusedBatchMatMulV2::X)?, ctx.input(FusedBatchMatMulV2::Y)?);
    ensure_batches(x.shape(), y.shape(), true)?;
    let output = products.fused(GpuDevice::of(ctx)?, [x, y], |output| finish(ctx, fusion, output))?;
    ctx.set_output(FusedBatchMatMulV2::OUTPUT, output)
}

#[register_kernel(
    device = Gpu, op = [BatchMatMul, BatchMatMulV2], T = [f32, i32, f16 if "f16", i64 if "i64"],
    programs = |T| programs(T),
    state = |ctx| Products::new(ctx.input_dtype(O::X), [ctx.attrs().adj_x, ctx.attrs().adj_y])
)]
fn batch_mat_mul(products: &Products, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    // Batch dimensions broadcast from the second version on.
    let broadcasts = O::DEF.name == "BatchMatMulV2";
    let output = multiplied(products, GpuDevice::of(ctx)?, [ctx.input(O::X)?, ctx.input(O::Y)?], broadcasts)?;
    ctx.set_output(O::OUTPUT, output)
}

fn multiplied(products: &Products, gpu: &GpuDevice, [x, y]: [&Tensor; 2], broadcasts: bool) -> Result<Tensor> {
    ensure_batches(x.shape(), y.shape(), broadcasts)?;
    products.compute(gpu, x, y)
}

#[register_kernel(
    device = Gpu, Ta = [f32], Tb = [f32], Tout = [f32], programs = |Ta| programs(Ta),
    state = |ctx| Products::new(ctx.input_dtype(BatchMatMulV3::X), [ctx.attrs().adj_x, ctx.attrs().adj_y])
)]
#[register_kernel(device = Gpu, Ta = [i32], Tb = [i32], Tout = [i32], programs = |Ta| programs(Ta))]
#[register_kernel(device = Gpu, Ta = [f16 if "f16"], Tb = [f16], Tout = [f16], programs = |Ta| programs(Ta))]
#[register_kernel(device = Gpu, Ta = [i64 if "i64"], Tb = [i64], Tout = [i64], programs = |Ta| programs(Ta))]
fn batch_mat_mul_v3(products: &Products, ctx: &mut KernelContext<'_, BatchMatMulV3>) -> Result<()> {
    let output =
        multiplied(products, GpuDevice::of(ctx)?, [ctx.input(BatchMatMulV3::X)?, ctx.input(BatchMatMulV3::Y)?], true)?;
    ctx.set_output(BatchMatMulV3::OUTPUT, output)
}

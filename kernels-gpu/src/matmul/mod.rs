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
use kernlink::kernel::KernelContext;
use kernlink::op::Op as _;
use kernlink::tensor::Tensor;
use kernlink_geometry::products::{ensure_batches, ensure_matrices};
use kernlink_macros::register_kernel;
use kernlink_ops::{BatchMatMul, BatchMatMulV2, BatchMatMulV3, MatMul};

use self::products::Products;
use crate::device::GpuDevice;
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

//! MatMul and BatchMatMul: products of matrices, whole or transposed.

pub(crate) mod config;
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
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::op::Op as _;
use kernlink::tensor::Tensor;
use kernlink_geometry::products::{ensure_batches, ensure_matrices};
use kernlink_macros::register_kernel;
use kernlink_ops::{BatchMatMul, BatchMatMulV2, BatchMatMulV3, MatMul};

use self::products::Products;
use crate::device::GpuDevice;
use crate::shader::{Program, scalar_of};

/// MatMul.
struct Matrices(Products);

#[register_kernel(device = Gpu, T = [f32, i32, f16 if "f16", i64 if "i64"], programs = |T| programs(T))]
impl OpKernel<MatMul> for Matrices {
    fn new(ctx: &KernelConstruction<'_, MatMul>) -> Result<Self> {
        let attrs = ctx.attrs();
        Products::new(ctx.input_dtype(MatMul::A), [attrs.transpose_a, attrs.transpose_b]).map(Matrices)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, MatMul>) -> Result<()> {
        let (a, b) = (ctx.input(MatMul::A)?, ctx.input(MatMul::B)?);
        ensure_matrices(a.shape(), b.shape())?;
        let product = self.0.compute(GpuDevice::of(ctx)?, a, b)?;
        ctx.set_output(MatMul::PRODUCT, product)
    }
}

/// BatchMatMul in its versions.
struct Batches {
    products: Products,
    /// Whether batch dimensions broadcast.
    broadcasts: bool,
}

impl Batches {
    fn multiply(&self, gpu: &GpuDevice, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        ensure_batches(x.shape(), y.shape(), self.broadcasts)?;
        self.products.compute(gpu, x, y)
    }
}

#[register_kernel(
    device = Gpu,
    op = [BatchMatMul, BatchMatMulV2],
    T = [f32, i32, f16 if "f16", i64 if "i64"],
    programs = |T| programs(T)
)]
impl OpKernel<O> for Batches {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let products = Products::new(ctx.input_dtype(O::X), [ctx.attrs().adj_x, ctx.attrs().adj_y])?;
        Ok(Batches { products, broadcasts: O::DEF.name == "BatchMatMulV2" })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let products = self.multiply(GpuDevice::of(ctx)?, ctx.input(O::X)?, ctx.input(O::Y)?)?;
        ctx.set_output(O::OUTPUT, products)
    }
}

impl OpKernel<BatchMatMulV3> for Batches {
    fn new(ctx: &KernelConstruction<'_, BatchMatMulV3>) -> Result<Self> {
        let adjoint = [ctx.attrs().adj_x, ctx.attrs().adj_y];
        Ok(Batches { products: Products::new(ctx.input_dtype(BatchMatMulV3::X), adjoint)?, broadcasts: true })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, BatchMatMulV3>) -> Result<()> {
        let (x, y) = (ctx.input(BatchMatMulV3::X)?, ctx.input(BatchMatMulV3::Y)?);
        let products = self.multiply(GpuDevice::of(ctx)?, x, y)?;
        ctx.set_output(BatchMatMulV3::OUTPUT, products)
    }
}

#[register_kernel(
    device = Gpu, op = BatchMatMulV3, Ta = [f32], Tb = [f32], Tout = [f32], programs = |Ta| programs(Ta)
)]
type FloatBatches = Batches;

#[register_kernel(
    device = Gpu, op = BatchMatMulV3, Ta = [i32], Tb = [i32], Tout = [i32], programs = |Ta| programs(Ta)
)]
type IntBatches = Batches;

#[register_kernel(
    device = Gpu, op = BatchMatMulV3, Ta = [f16 if "f16"], Tb = [f16], Tout = [f16], programs = |Ta| programs(Ta)
)]
type HalfBatches = Batches;

#[register_kernel(
    device = Gpu, op = BatchMatMulV3, Ta = [i64 if "i64"], Tb = [i64], Tout = [i64], programs = |Ta| programs(Ta)
)]
type LongBatches = Batches;

fn programs(dtype: DataType) -> Result<Vec<Program>> {
    let all = [[false, false], [false, true], [true, false], [true, true]];
    let by_tiles = gemm::programs(dtype, all.map(products::sources))?;
    Ok([by_tiles, vector::programs(scalar_of(dtype)?)].concat())
}

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

use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink_geometry::products::{ensure_batches, ensure_matrices};
use kernlink_ops as ops;

use self::products::Products;
use crate::device::GpuDevice;
use crate::family::gpu_kernels;
use crate::shader::{Program, Scalar};

/// MatMul.
struct MatMul(Products);

impl MatMul {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (a, b) = (ctx.input_at(0)?, ctx.input_at(1)?);
        ensure_matrices(a.shape(), b.shape())?;
        let product = self.0.compute(gpu, a, b)?;
        ctx.set_output_at(0, product)
    }
}

gpu_kernels! {
    MatMul T { [f32, i32] [f16; "f16"] [i64; "i64"] } host [] as MatMul: |ctx| {
        let attrs = ctx.attrs();
        Products::new(ctx.input_dtype_at(0)?, [attrs.transpose_a, attrs.transpose_b]).map(MatMul)
    }
}

/// BatchMatMul in its versions.
struct BatchMatMul {
    products: Products,
    /// Whether batch dimensions broadcast.
    broadcasts: bool,
}

impl BatchMatMul {
    fn new(ctx: &RawConstruction<'_>, broadcasts: bool) -> Result<BatchMatMul> {
        let adjoint = [ctx.attrs.required("adj_x")?, ctx.attrs.required("adj_y")?];
        Ok(BatchMatMul { products: Products::new(ctx.input_dtype_at(0)?, adjoint)?, broadcasts })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (x, y) = (ctx.input_at(0)?, ctx.input_at(1)?);
        ensure_batches(x.shape(), y.shape(), self.broadcasts)?;
        let products = self.products.compute(gpu, x, y)?;
        ctx.set_output_at(0, products)
    }
}

gpu_kernels! {
    BatchMatMul T { [f32, i32] [f16; "f16"] [i64; "i64"] } host [] as BatchMatMul: |ctx| BatchMatMul::new(ctx, false)
}
gpu_kernels! {
    BatchMatMulV2 T { [f32, i32] [f16; "f16"] [i64; "i64"] } host [] as BatchMatMul: |ctx| BatchMatMul::new(ctx, true)
}

gpu_kernels! {
    BatchMatMulV3 host [] as BatchMatMul: |ctx| BatchMatMul::new(ctx, true);
    { Ta = [f32], Tb = [f32], Tout = [f32] }
    { Ta = [i32], Tb = [i32], Tout = [i32] }
    { Ta = [f16], Tb = [f16], Tout = [f16]; "f16" }
    { Ta = [i64], Tb = [i64], Tout = [i64]; "i64" }
}

/// All programs of the family.
pub(crate) fn programs() -> Vec<Program> {
    let mut programs = sum_parts::programs();
    for scalar in [Scalar::F32, Scalar::I32, Scalar::F16, Scalar::I64] {
        programs.extend(vector::programs(scalar));
        for transposed in [[false, false], [false, true], [true, false], [true, true]] {
            let [a, b] = products::sources(transposed);
            programs.extend(gemm::programs(scalar, a, b));
        }
    }
    programs
}

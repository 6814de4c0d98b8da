//! MatMul and BatchMatMul: products of matrices, whole or transposed; Einsum; cross products.

mod batch;
mod cross;
mod einsum;
mod fused;
mod mixed;
mod product;

use kernlink::Result;
use kernlink::kernel::{KernelConstruction, KernelContext};
use kernlink::tensor::Tensor;
use kernlink_geometry::products::ensure_matrices;
use kernlink_kernels_common::gemm::{Target, by_matrixmultiply};
use kernlink_macros::register_kernel;
use kernlink_ops::MatMul;

use product::{Factor, Operand, Packed, Products};

/// What a node keeps.
struct Prepared {
    transpose: [bool; 2],
    b: Packed,
}

impl Prepared {
    fn new(ctx: &KernelConstruction<'_, MatMul>) -> Result<Prepared> {
        let transpose = [ctx.attrs().transpose_a, ctx.attrs().transpose_b];
        Ok(Prepared { transpose, b: Packed::new(ctx.constant(MatMul::B).is_some()) })
    }

    /// The product, and its factors.
    fn products<'c>(&self, ctx: &'c KernelContext<'_, MatMul>) -> Result<(Products, &'c Tensor, &'c Tensor)> {
        let (a, b) = (ctx.input(MatMul::A)?, ctx.input(MatMul::B)?);
        ensure_matrices(a.shape(), b.shape())?;
        let side = |tensor: &'c Tensor, transposed| Operand { shape: tensor.shape(), transposed, conjugate: false };
        let [first, second] = self.transpose;
        Ok((Products::new(side(a, first), side(b, second))?, a, b))
    }
}

#[register_kernel(
    device = Cpu,
    T = [f32, f64, f16, bf16, i32, i64, Complex32, Complex64],
    state = Prepared::new,
)]
fn mat_mul<T: Factor>(prepared: &Prepared, ctx: &mut KernelContext<'_, MatMul>) -> Result<()> {
    let (products, a, b) = prepared.products(ctx)?;
    let mut product = ctx.allocate_output(MatMul::PRODUCT, products.output.clone())?;
    products.compute::<T>(ctx, a.as_slice()?, b, &prepared.b, product.as_mut_slice()?)?;
    ctx.set_output(MatMul::PRODUCT, product)
}

/// The same by the crate `matrixmultiply`, for nodes that ask for it: `_kernel: "matrixmultiply"`.
#[register_kernel(device = Cpu, label = "matrixmultiply", T = [float], state = Prepared::new)]
fn mat_mul_by_matrixmultiply(prepared: &Prepared, ctx: &mut KernelContext<'_, MatMul>) -> Result<()> {
    let (products, a, b) = prepared.products(ctx)?;
    let mut product = ctx.allocate_output(MatMul::PRODUCT, products.output.clone())?;
    let (sizes, [a, b]) = products.first(a.as_slice()?, b.as_slice()?);
    let target = Target { data: product.as_mut_slice()?, row_stride: sizes.n, accumulate: false };
    by_matrixmultiply(ctx, sizes, a, b, target)?;
    ctx.set_output(MatMul::PRODUCT, product)
}

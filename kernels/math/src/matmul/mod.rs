//! MatMul and BatchMatMul: products of matrices, whole or transposed; Einsum; cross products.

mod batch;
mod cross;
mod einsum;
mod fused;
mod mixed;
mod product;

use kernlink::Result;
use kernlink::kernel::KernelContext;
use kernlink_geometry::products::ensure_matrices;
use kernlink_macros::register_kernel;
use kernlink_ops::MatMul;

use product::{Factor, Operand, Products};

#[register_kernel(
    device = Cpu,
    T = [f32, f64, f16, bf16, i32, i64, Complex32, Complex64],
    state = |ctx| Ok([ctx.attrs().transpose_a, ctx.attrs().transpose_b]),
)]
fn mat_mul<T: Factor>(transpose: &[bool; 2], ctx: &mut KernelContext<'_, MatMul>) -> Result<()> {
    let (a, b) = (ctx.input(MatMul::A)?, ctx.input(MatMul::B)?);
    ensure_matrices(a.shape(), b.shape())?;
    let a_side = Operand { shape: a.shape(), transposed: transpose[0], conjugate: false };
    let b_side = Operand { shape: b.shape(), transposed: transpose[1], conjugate: false };
    let products = Products::new(a_side, b_side)?;
    let mut product = ctx.allocate_output(MatMul::PRODUCT, products.output.clone())?;
    products.compute::<T>(ctx, a.as_slice()?, b.as_slice()?, product.as_mut_slice()?)?;
    ctx.set_output(MatMul::PRODUCT, product)
}

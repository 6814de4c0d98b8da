//! BatchMatMul in its three versions: products of matrices over leading dimensions.

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::dtype::{Complex32, Complex64, bf16};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawConstruction, RawContext};
use kernlink::op::Op;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::products::ensure_batches;
use kernlink_macros::register_kernel;
use kernlink_ops::{BatchMatMul, BatchMatMulV2, BatchMatMulV3};

use super::product::{Factor, Operand, Packed, Products};

/// Attrs `adj_x` and `adj_y`: whether a factor is transposed and its elements conjugated.
#[derive(Clone, Copy)]
pub(super) struct Adjoint {
    pub(super) x: bool,
    pub(super) y: bool,
}

impl Adjoint {
    pub(super) fn new(ctx: &RawConstruction<'_>) -> Result<Adjoint> {
        Ok(Adjoint { x: ctx.attrs.required("adj_x")?, y: ctx.attrs.required("adj_y")? })
    }

    /// The products of tensors of these shapes.
    pub(super) fn products(self, x: &Shape, y: &Shape, broadcasts: bool) -> Result<Products> {
        ensure_batches(x, y, broadcasts)?;
        let side = |shape, adjoint| Operand { shape, transposed: adjoint, conjugate: adjoint };
        Products::new(side(x, self.x), side(y, self.y))
    }
}

/// The products; `BROADCASTS` says whether batch dimensions may differ.
struct BatchMatMulOf<const BROADCASTS: bool, T> {
    adjoint: Adjoint,
    y: Packed,
    element: PhantomData<T>,
}

impl<O: Op, const BROADCASTS: bool, T: Factor> OpKernel<O> for BatchMatMulOf<BROADCASTS, T> {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let y = Packed::new(ctx.constant_at(1).is_some());
        Ok(Self { adjoint: Adjoint::new(ctx)?, y, element: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let (x, y) = (ctx.input_at(0)?, ctx.input_at(1)?);
        let output = multiply::<T>(ctx, self.adjoint, BROADCASTS, x, y, &self.y)?;
        ctx.set_output_at(0, output)
    }
}

/// The products of the matrices in `x` and `y`, of which the node keeps `packed`.
pub(super) fn multiply<T: Factor>(
    ctx: &RawContext<'_>,
    adjoint: Adjoint,
    broadcasts: bool,
    x: &Tensor,
    y: &Tensor,
    packed: &Packed,
) -> Result<Tensor> {
    let products = adjoint.products(x.shape(), y.shape(), broadcasts)?;
    let mut output = Tensor::alloc(T::DTYPE, products.output.clone())?;
    products.compute::<T>(ctx, x.as_slice()?, y, packed, output.as_mut_slice()?)?;
    Ok(output)
}

#[register_kernel(device = Cpu, op = BatchMatMul, T = [f32, f64, f16, bf16, i32, i64, Complex32, Complex64])]
type BatchMatMulKernel<T> = BatchMatMulOf<false, T>;

#[register_kernel(device = Cpu, op = BatchMatMulV2, T = [f32, f64, f16, bf16, i16, i32, i64, Complex32, Complex64])]
type BatchMatMulV2Kernel<T> = BatchMatMulOf<true, T>;
#[register_kernel(device = Cpu, op = BatchMatMulV3, Ta = [f32], Tb = [f32], Tout = [f32])]
type V3Float = BatchMatMulOf<true, f32>;
#[register_kernel(device = Cpu, op = BatchMatMulV3, Ta = [f64], Tb = [f64], Tout = [f64])]
type V3Double = BatchMatMulOf<true, f64>;
#[register_kernel(device = Cpu, op = BatchMatMulV3, Ta = [bf16], Tb = [bf16], Tout = [bf16])]
type V3Bfloat16 = BatchMatMulOf<true, bf16>;
#[register_kernel(device = Cpu, op = BatchMatMulV3, Ta = [i16], Tb = [i16], Tout = [i16])]
type V3Int16 = BatchMatMulOf<true, i16>;
#[register_kernel(device = Cpu, op = BatchMatMulV3, Ta = [i32], Tb = [i32], Tout = [i32])]
type V3Int32 = BatchMatMulOf<true, i32>;
#[register_kernel(device = Cpu, op = BatchMatMulV3, Ta = [i64], Tb = [i64], Tout = [i64])]
type V3Int64 = BatchMatMulOf<true, i64>;
#[register_kernel(device = Cpu, op = BatchMatMulV3, Ta = [Complex32], Tb = [Complex32], Tout = [Complex32])]
type V3Complex64 = BatchMatMulOf<true, Complex32>;
#[register_kernel(device = Cpu, op = BatchMatMulV3, Ta = [Complex64], Tb = [Complex64], Tout = [Complex64])]
type V3Complex128 = BatchMatMulOf<true, Complex64>;

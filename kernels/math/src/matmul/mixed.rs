//! BatchMatMulV3 of 8-bit integers, and of 8-bit integers with bfloat16.

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::dtype::{Element, bf16};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::Tensor;
use kernlink_macros::register_kernel;
use kernlink_ops::BatchMatMulV3;

use super::batch::{Adjoint, multiply};
use super::product::{Factor, Packed};

/// Both sides are converted to `W`, the dtype of the output, which holds every 8-bit integer.
struct Mixed<A, B, W> {
    adjoint: Adjoint,
    dtypes: PhantomData<fn(A, B) -> W>,
}

impl<A, B, W> OpKernel<BatchMatMulV3> for Mixed<A, B, W>
where
    A: Element + Copy + Into<W>,
    B: Element + Copy + Into<W>,
    W: Factor,
{
    fn new(ctx: &KernelConstruction<'_, BatchMatMulV3>) -> Result<Self> {
        Ok(Self { adjoint: Adjoint::new(ctx)?, dtypes: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, BatchMatMulV3>) -> Result<()> {
        let x = convert::<A, W>(ctx.input(BatchMatMulV3::X)?)?;
        let y = convert::<B, W>(ctx.input(BatchMatMulV3::Y)?)?;
        let output = multiply::<W>(ctx, self.adjoint, true, &x, &y, &Packed::default())?;
        ctx.set_output(BatchMatMulV3::OUTPUT, output)
    }
}

fn convert<A: Element + Copy + Into<W>, W: Element + Copy>(tensor: &Tensor) -> Result<Tensor> {
    if A::DTYPE == W::DTYPE {
        return Ok(tensor.clone());
    }
    let mut converted = Tensor::alloc(W::DTYPE, tensor.shape())?;
    for (target, &element) in converted.as_mut_slice::<W>()?.iter_mut().zip(tensor.as_slice::<A>()?) {
        *target = element.into();
    }
    Ok(converted)
}

#[register_kernel(device = Cpu, op = BatchMatMulV3, Ta = [i8, u8], Tb = [i8, u8], Tout = [int32])]
type Integers<Ta, Tb> = Mixed<Ta, Tb, i32>;

#[register_kernel(device = Cpu, op = BatchMatMulV3, Ta = [i8, u8], Tb = [bf16], Tout = [bfloat16])]
type IntegersFirst<Ta> = Mixed<Ta, bf16, bf16>;

#[register_kernel(device = Cpu, op = BatchMatMulV3, Ta = [bf16], Tb = [i8, u8], Tout = [bfloat16])]
type IntegersSecond<Tb> = Mixed<bf16, Tb, bf16>;

//! Einsum on the processor.

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::einsum::{Device, Equation};
use kernlink_geometry::products::Side;
use kernlink_kernels_common::strided::{Run as _, StridedCopy};
use kernlink_macros::register_kernel;
use kernlink_ops::Einsum;

use super::product::{Factor, Operand, Packed, Products};
use crate::reduce::{Summand, sum_rows};

/// Computes with elements of a dtype.
struct Processor<'a, T> {
    ctx: &'a RawContext<'a>,
    element: PhantomData<fn(T)>,
}

impl<T: Factor + Summand> Device for Processor<'_, T> {
    fn copied(&self, source: &Tensor, copy: &StridedCopy, shape: Shape, sparse: bool) -> Result<Tensor> {
        let mut copied = if sparse { Tensor::zeros(T::DTYPE, shape) } else { Tensor::alloc(T::DTYPE, shape) }?;
        copy.run(self.ctx, &mut copied, source)?;
        Ok(copied)
    }

    fn row_sums(&self, rows: &Tensor, columns: usize, shape: Shape) -> Result<Tensor> {
        let mut sums = Tensor::alloc(T::DTYPE, shape)?;
        sum_rows::<T>(self.ctx, rows.as_slice()?, columns, sums.as_mut_slice()?)?;
        Ok(sums)
    }

    fn products(&self, [a, b]: [&Tensor; 2], sides: [Side<'_>; 2]) -> Result<Tensor> {
        let [first, second] =
            sides.map(|side| Operand { shape: side.shape, transposed: side.transposed, conjugate: false });
        let products = Products::new(first, second)?;
        let mut output = Tensor::alloc(T::DTYPE, products.output.clone())?;
        products.compute::<T>(self.ctx, a.as_slice()?, b, &Packed::new(false), output.as_mut_slice()?)?;
        Ok(output)
    }
}

#[register_kernel(
    device = Cpu,
    T = [f32, f64, f16, bf16, i32, i64, Complex32, Complex64],
    state = |ctx| Equation::new(&ctx.attrs().equation),
)]
fn einsum<T: Factor + Summand>(equation: &Equation, ctx: &mut KernelContext<'_, Einsum>) -> Result<()> {
    let tensors = (0..ctx.num_inputs()).map(|index| ctx.input_at(index)).collect::<Result<Vec<_>>>()?;
    let output = equation.compute(&Processor { ctx, element: PhantomData::<fn(T)> }, &tensors)?;
    ctx.set_output(Einsum::OUTPUT, output)
}

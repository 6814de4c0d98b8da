//! BatchMatMulV3 of 8-bit integers, and of 8-bit integers with bfloat16.

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::dtype::{DataType, Element, bf16};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::tensor::Tensor;
use kernlink_kernels_common::gemm::Sizes;
use kernlink_kernels_common::int8::{self, Byte, BytePanels};
use kernlink_macros::register_kernel;
use kernlink_ops::BatchMatMulV3;

use super::batch::{Adjoint, multiply};
use super::product::{Factor, Packed, Products, matrix};

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
        let output = multiply::<W>(ctx, self.adjoint, true, &x, &y, &Packed::new(false))?;
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

/// Products of 8-bit integers: four at a time where the processor multiplies them so, or else as 32-bit ones.
struct Integers<A, B> {
    mixed: Mixed<A, B, i32>,
    y: Packed<BytePanels>,
}

#[register_kernel(device = Cpu, Ta = [i8, u8], Tb = [i8, u8], Tout = [int32])]
impl<Ta: Byte, Tb: Byte> OpKernel<BatchMatMulV3> for Integers<Ta, Tb> {
    fn new(ctx: &KernelConstruction<'_, BatchMatMulV3>) -> Result<Self> {
        Ok(Self { mixed: Mixed::new(ctx)?, y: Packed::new(ctx.constant_at(1).is_some()) })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, BatchMatMulV3>) -> Result<()> {
        if !int8::is_available() {
            return self.mixed.compute(ctx);
        }
        let (x, y) = (ctx.input(BatchMatMulV3::X)?, ctx.input(BatchMatMulV3::Y)?);
        let products = self.mixed.adjoint.products(x.shape(), y.shape(), true)?;
        let mut output = Tensor::alloc(DataType::Int32, products.output.clone())?;
        by_fours::<Ta, Tb>(ctx, &products, x.as_slice()?, y, &self.y, output.as_mut_slice()?)?;
        ctx.set_output(BatchMatMulV3::OUTPUT, output)
    }
}

/// The products, of whose right operand the node keeps `packed`.
fn by_fours<A: Byte, B: Byte>(
    ctx: &RawContext<'_>,
    products: &Products,
    x: &[A],
    y: &Tensor,
    packed: &Packed<BytePanels>,
    output: &mut [i32],
) -> Result<()> {
    if output.is_empty() {
        return Ok(());
    }
    let (Sizes { m, k, n }, [x_transposed, y_transposed]) = (products.sizes, products.transposed);
    let elements = y.as_slice::<B>()?;
    let pack = |ctx, index: usize| BytePanels::new(ctx, matrix(&elements[index * k * n..], k, n, y_transposed), k, n);
    if products.is_one() {
        let panels = match packed.panels(y, products.sizes, || pack(Some(ctx), 0).map(Some))? {
            Some(panels) => panels,
            None => pack(Some(ctx), 0)?,
        };
        let rows = m * products.count;
        return int8::multiply(Some(ctx), rows, matrix(x, rows, k, x_transposed), &panels, output);
    }
    // A product that all threads share costs them a meeting; few large ones are worth it.
    if products.count < 2 * ctx.threads() && m.saturating_mul(k).saturating_mul(n) > 16_000_000 {
        for (index, target) in output.chunks_mut(m * n).enumerate() {
            let [a, b] = products.pair(index);
            let left = matrix(&x[a * m * k..], m, k, x_transposed);
            int8::multiply(Some(ctx), m, left, &pack(Some(ctx), b)?, target)?;
        }
        return Ok(());
    }
    let cost = (k / 64).max(1);
    ctx.try_parallel_chunks(output, m * n, cost, |first, piece| {
        // Neighbours often have the same right operand.
        let mut last: Option<(usize, BytePanels)> = None;
        for (index, target) in (first / (m * n)..).zip(piece.chunks_mut(m * n)) {
            let [a, b] = products.pair(index);
            let panels = match last.take() {
                Some((at, panels)) if at == b => panels,
                _ => pack(None, b)?,
            };
            int8::multiply(None, m, matrix(&x[a * m * k..], m, k, x_transposed), &panels, target)?;
            last = Some((b, panels));
        }
        Ok(())
    })
}

#[register_kernel(device = Cpu, op = BatchMatMulV3, Ta = [i8, u8], Tb = [bf16], Tout = [bfloat16])]
type IntegersFirst<Ta> = Mixed<Ta, bf16, bf16>;

#[register_kernel(device = Cpu, op = BatchMatMulV3, Ta = [bf16], Tb = [i8, u8], Tout = [bfloat16])]
type IntegersSecond<Tb> = Mixed<bf16, Tb, bf16>;

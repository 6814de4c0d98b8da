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
        let (x, y) = (ctx.input(BatchMatMulV3::X)?, ctx.input(BatchMatMulV3::Y)?);
        let products = self.mixed.adjoint.products(x.shape(), y.shape(), true)?;
        if !int8::is_available() || !int8::is_worthwhile(products.sizes_of_one()) {
            return self.mixed.compute(ctx);
        }
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
    let pack = |ctx: Option<&RawContext<'_>>, y: &[B]| BytePanels::new(ctx, matrix(y, k, n, y_transposed), k, n);
    let first = || y.read_once(|y| pack(Some(ctx), y.as_slice()?).map(Some));
    let is_shared = y.num_elements() == k * n;
    // The one right operand of all products, kept or made for them.
    let shared = match is_shared {
        true => match packed.panels(y, products.sizes, first)? {
            Some(panels) => Some(panels),
            None => first()?,
        },
        false => None,
    };
    if let Some(panels) = shared.as_ref().filter(|_| products.is_one()) {
        let rows = m * products.count;
        return int8::multiply(Some(ctx), rows, matrix(x, rows, k, x_transposed), panels, output);
    }
    let product = |ctx: Option<&RawContext<'_>>, index: usize, target: &mut [i32]| {
        let [a, b] = products.pair(index);
        let left = matrix(&x[a * m * k..], m, k, x_transposed);
        match &shared {
            Some(panels) => int8::multiply(ctx, m, left, panels, target),
            None => int8::multiply(ctx, m, left, &pack(ctx, &y.as_slice::<B>()?[b * k * n..])?, target),
        }
    };
    // A product that all threads share costs them a meeting; few large ones are worth it.
    if products.count < 2 * ctx.threads() && m.saturating_mul(k).saturating_mul(n) > 16_000_000 {
        let mut targets = output.chunks_mut(m * n).enumerate();
        return targets.try_for_each(|(index, target)| product(Some(ctx), index, target));
    }
    /// Nanoseconds of packing and of memory for it.
    const EACH: usize = 500;
    let cost = k / 64 + EACH / (m * n) + 1;
    ctx.try_parallel_chunks(output, m * n, cost, |first, piece| {
        let mut targets = (first / (m * n)..).zip(piece.chunks_mut(m * n));
        targets.try_for_each(|(index, target)| product(None, index, target))
    })
}

#[register_kernel(device = Cpu, op = BatchMatMulV3, Ta = [i8, u8], Tb = [bf16], Tout = [bfloat16])]
type IntegersFirst<Ta> = Mixed<Ta, bf16, bf16>;

#[register_kernel(device = Cpu, op = BatchMatMulV3, Ta = [bf16], Tb = [i8, u8], Tout = [bfloat16])]
type IntegersSecond<Tb> = Mixed<bf16, Tb, bf16>;

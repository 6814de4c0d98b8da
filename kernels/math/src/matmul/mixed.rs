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

#[cfg(test)]
mod tests {
    use kernlink::op::{OpDef, Signature};
    use kernlink::threads::ThreadPool;

    use super::*;

    /// The products of tensors of these shapes by fours, twice by what one node keeps, and as 32-bit integers.
    fn agree(ctx: &RawContext<'_>, adjoint: Adjoint, shapes: [&[usize]; 2], is_constant: bool) {
        let numbers = |shape: &[usize], by: usize| -> Vec<u8> {
            (0..shape.iter().product()).map(|i: usize| (i * by % 253) as u8).collect()
        };
        let x: Vec<i8> = numbers(shapes[0], 37).into_iter().map(u8::cast_signed).collect();
        let x = Tensor::from_vec(shapes[0], x).unwrap();
        let y = Tensor::from_vec(shapes[1], numbers(shapes[1], 91)).unwrap();
        let wide = (convert::<i8, i32>(&x).unwrap(), convert::<u8, i32>(&y).unwrap());
        let expected = multiply::<i32>(ctx, adjoint, true, &wide.0, &wide.1, &Packed::new(false)).unwrap();
        let products = adjoint.products(x.shape(), y.shape(), true).unwrap();
        let is_taken = expected.num_elements() == 0 || int8::is_worthwhile(products.sizes_of_one());
        assert!(is_taken, "{shapes:?} is for the other way");
        let packed = Packed::new(is_constant);
        for _ in 0..4 {
            let mut output = vec![77; products.output.num_elements()];
            by_fours::<i8, u8>(ctx, &products, x.as_slice().unwrap(), &y, &packed, &mut output).unwrap();
            assert!(output == expected.as_slice::<i32>().unwrap(), "{shapes:?}");
        }
    }

    #[test]
    fn products_by_fours_are_those_of_wider_integers() {
        if !int8::is_available() {
            eprintln!("this processor does not multiply 8-bit integers four at a time: nothing is tested");
            return;
        }
        let signature = Signature::default();
        let pool = ThreadPool::new("test", 2);
        let ctx = RawContext::new("product", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(&pool));
        for adjoint in [(false, false), (true, false), (false, true), (true, true)].map(|(x, y)| Adjoint { x, y }) {
            let side = |rows, columns, exchanged| if exchanged { [columns, rows] } else { [rows, columns] };
            let (x, y) = (side(9, 30, adjoint.x), side(30, 21, adjoint.y));
            // One matrix, one for all, one each, and batches that broadcast to each other.
            for (batch_x, batch_y) in [
                (&[][..], &[][..]),
                (&[7], &[]),
                (&[7], &[1]),
                (&[40], &[40]),
                (&[2, 1], &[3]),
                (&[], &[5]),
                (&[0], &[]),
            ] {
                let (x, y) = ([batch_x, &x].concat(), [batch_y, &y].concat());
                agree(&ctx, adjoint, [&x, &y], true);
                agree(&ctx, adjoint, [&x, &y], false);
            }
        }
        // Few that all threads share.
        agree(&ctx, Adjoint { x: false, y: false }, [&[2, 256, 260], &[2, 260, 256]], false);
        assert!(!int8::is_worthwhile(Sizes { m: 100, k: 100, n: 1 }), "a vector is for the other way");
    }
}

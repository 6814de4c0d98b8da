//! Shapes as values: Shape, ShapeN, Size, Rank, BroadcastArgs.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::integers::vector;

/// Integers as a tensor of `dtype`, which is `int32` or `int64`.
fn tensor_of(values: &[i64], dtype: DataType, shape: Shape) -> Result<Tensor> {
    if dtype == DataType::Int64 {
        return Tensor::from_elements(shape, values);
    }
    let narrow: Vec<i32> = values
        .iter()
        .map(|&value| i32::try_from(value))
        .collect::<std::result::Result<_, _>>()
        .or_else(|_| bail!(InvalidArgument, "{values:?} does not fit int32: ask for out_type int64"))?;
    Tensor::from_elements(shape, &narrow)
}

/// The shape of a tensor, as a vector.
fn shape_tensor(tensor: &Tensor, dtype: DataType) -> Result<Tensor> {
    tensor_of(&tensor.shape().to_i64(), dtype, Shape::from([tensor.rank()]))
}

struct ShapeKernel;

#[register_kernel(device = Cpu, out_type = [int32, int64])]
impl OpKernel<ops::Shape> for ShapeKernel {
    fn new(_: &KernelConstruction<'_, ops::Shape>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::Shape>) -> Result<()> {
        let output = shape_tensor(ctx.input(ops::Shape::INPUT)?, ctx.output_dtype_at(0)?)?;
        ctx.set_output(ops::Shape::OUTPUT, output)
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

struct ShapeNKernel;

#[register_kernel(device = Cpu, out_type = [int32, int64])]
impl OpKernel<ops::ShapeN> for ShapeNKernel {
    fn new(_: &KernelConstruction<'_, ops::ShapeN>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::ShapeN>) -> Result<()> {
        for index in 0..ctx.num_inputs() {
            let output = shape_tensor(ctx.input_at(index)?, ctx.output_dtype_at(index)?)?;
            ctx.set_output_at(index, output)?;
        }
        Ok(())
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

struct SizeKernel;

#[register_kernel(device = Cpu, out_type = [int32, int64])]
impl OpKernel<ops::Size> for SizeKernel {
    fn new(_: &KernelConstruction<'_, ops::Size>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::Size>) -> Result<()> {
        let count = ctx.input(ops::Size::INPUT)?.num_elements() as i64;
        let output = tensor_of(&[count], ctx.output_dtype_at(0)?, Shape::scalar())?;
        ctx.set_output(ops::Size::OUTPUT, output)
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

struct RankKernel;

#[register_kernel(device = Cpu)]
impl OpKernel<ops::Rank> for RankKernel {
    fn new(_: &KernelConstruction<'_, ops::Rank>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::Rank>) -> Result<()> {
        let rank = ctx.input(ops::Rank::INPUT)?.rank() as i32;
        ctx.set_output(ops::Rank::OUTPUT, Tensor::scalar(rank))
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

struct BroadcastArgsKernel;

#[register_kernel(device = Cpu, T = [int32, int64])]
impl OpKernel<ops::BroadcastArgs> for BroadcastArgsKernel {
    fn new(_: &KernelConstruction<'_, ops::BroadcastArgs>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::BroadcastArgs>) -> Result<()> {
        let a = vector(ctx.input(ops::BroadcastArgs::S0)?, "s0")?;
        let b = vector(ctx.input(ops::BroadcastArgs::S1)?, "s1")?;
        let rank = a.len().max(b.len());
        let size = |shape: &[i64], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |axis| shape[axis]);
        let mut dims = Vec::with_capacity(rank);
        for axis in 0..rank {
            let (x, y) = (size(&a, axis), size(&b, axis));
            ensure!(x == y || x == 1 || y == 1, InvalidArgument, "Incompatible shapes: {a:?} vs. {b:?}");
            dims.push(if x == 1 { y } else { x });
        }
        let output = tensor_of(&dims, ctx.output_dtype_at(0)?, Shape::from([rank]))?;
        ctx.set_output(ops::BroadcastArgs::R0, output)
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

//! Adding to whole variables, subtracting from them, counting with them.

use kernlink::dtype::{DataType, Number, Pod};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};

use kernlink::tensor::Tensor;
use kernlink::{Result, ensure};
use kernlink_geometry::training::ensure_addend;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::combine::match_numbers;
use super::place::{forward, update};

#[register_kernel(device = Cpu, op = ops::AssignAdd, T = [realnumbertype, complex128, complex64])]
#[register_kernel(device = Cpu, op = ops::AssignAddVariableOp, dtype = [realnumbertype, complex128, complex64])]
fn add(ctx: &mut RawContext<'_>) -> Result<()> {
    accumulate(ctx, false)
}

#[register_kernel(device = Cpu, op = ops::AssignSub, T = [realnumbertype, complex128, complex64])]
#[register_kernel(device = Cpu, op = ops::AssignSubVariableOp, dtype = [realnumbertype, complex128, complex64])]
fn subtract(ctx: &mut RawContext<'_>) -> Result<()> {
    accumulate(ctx, true)
}

/// Adds input 1 to the variable at input 0, or subtracts it.
fn accumulate(ctx: &mut RawContext<'_>, subtract: bool) -> Result<()> {
    let dtype = ctx.input_at(1)?.dtype();
    update(ctx, dtype, |ctx, [variable]| {
        let value = ctx.input_at(1)?;
        ensure_addend(variable.shape(), value.shape())?;
        variable.make_unique()?;
        if subtract {
            match_numbers!(dtype, T => each::<T>(ctx, variable, value, Number::wrapping_sub))
        } else {
            match_numbers!(dtype, T => each::<T>(ctx, variable, value, Number::wrapping_add))
        }
    })?;
    forward(ctx)
}

fn each<T: Pod>(
    ctx: &RawContext<'_>,
    variable: &mut Tensor,
    value: &Tensor,
    f: impl Fn(T, T) -> T + Sync,
) -> Result<()> {
    let value = value.as_slice::<T>()?;
    ctx.parallel_chunks(variable.as_mut_slice::<T>()?, 1024, 1, |first, elements| {
        elements.iter_mut().zip(&value[first..]).for_each(|(old, &new)| *old = f(*old, new));
    });
    Ok(())
}

/// Counts up to a limit.
struct CountUpTo {
    limit: i64,
}

#[register_kernel(device = Cpu, op = [ops::CountUpTo, ops::ResourceCountUpTo], T = [int32, int64])]
impl OpKernel<O> for CountUpTo {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let limit = ctx.attrs().limit;
        let is_narrow = ctx.output_dtype_at(0)? == DataType::Int32;
        ensure!(
            !is_narrow || i32::try_from(limit).is_ok(),
            InvalidArgument,
            "Attr limit has value {limit} out of range for an int32"
        );
        Ok(Self { limit })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let dtype = ctx.output_dtype_at(0)?;
        let before = update(ctx, dtype, |_, [variable]| {
            ensure!(variable.rank() == 0, InvalidArgument, "input is not a scalar: {}", variable.shape());
            let before = variable.clone();
            let value = before.to_i64_vec()?[0];
            ensure!(value < self.limit, OutOfRange, "Reached limit of {}", self.limit);
            // Below the limit, which fits the dtype, one more is no overflow.
            *variable = match dtype {
                DataType::Int32 => Tensor::scalar(value as i32 + 1),
                _ => Tensor::scalar(value + 1),
            };
            Ok(before)
        })?;
        ctx.set_output_at(0, before)
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

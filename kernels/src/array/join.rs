//! Several tensors into one: Concat, ConcatV2, Pack.

use std::ops::Range;

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::shape::{MAX_RANK, Shape};
use kernlink::tensor::Tensor;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::integers::{ensure_single, single};
use super::strided::StridedCopy;

/// Joins inputs, of which input `index` fills `runs[index]` elements after one another in each of `rows` rows.
fn join(ctx: &RawContext<'_>, inputs: Range<usize>, rows: usize, runs: &[usize], output: &mut Tensor) -> Result<()> {
    let row: usize = runs.iter().sum();
    let mut start = 0;
    for (index, &run) in inputs.zip(runs) {
        StridedCopy::new(start, 0).step(rows, row, run as isize).step(run, 1, 1).run(
            ctx,
            output,
            ctx.input_at(index)?,
        )?;
        start += run;
    }
    Ok(())
}

/// Joins the inputs `values` along the axis that input `axis` names.
fn concat(ctx: &mut RawContext<'_>, values: Range<usize>, axis: usize, name: &str) -> Result<Tensor> {
    let axis_tensor = ctx.input_at(axis)?;
    ensure_single(axis_tensor, name)?;
    let given = single(axis_tensor, name)?;
    let first = ctx.input_at(values.start)?.shape().clone();
    let rank = first.rank();
    ensure!(rank > 0, InvalidArgument, "ConcatOp : Can't concatenate scalars (use Pack instead)");
    ensure!(
        (-(rank as i64)..rank as i64).contains(&given),
        InvalidArgument,
        "ConcatOp : Expected concatenating dimensions in the range [-{rank}, {rank}), but got {given}"
    );
    let axis = given.rem_euclid(rank as i64) as usize;
    let mut shape = first.clone();
    shape.dims_mut()[axis] = 0;
    for index in values.clone() {
        let other = ctx.input_at(index)?.shape();
        ensure!(
            other.rank() == rank,
            InvalidArgument,
            "ConcatOp : Ranks of all input tensors should match: shape[0] = {first} vs. shape[{}] = {other}",
            index - values.start
        );
        for d in (0..rank).filter(|&d| d != axis) {
            ensure!(
                other[d] == first[d],
                InvalidArgument,
                "ConcatOp : Dimension {d} in both shapes must be equal: shape[0] = {first} vs. shape[{}] = {other}",
                index - values.start
            );
        }
        shape.dims_mut()[axis] = shape[axis].saturating_add(other[axis]);
    }
    // A join with empty tensors is the one that is not empty.
    if let Some(only) = only_one_with_elements(ctx, values.clone())? {
        return ctx.take_input_at(only)?.reshaped(shape);
    }
    let mut output = ctx.allocate_output_at(0, shape)?;
    if output.num_elements() > 0 {
        let rows: usize = first[..axis].iter().product();
        let runs = values
            .clone()
            .map(|index| Ok(ctx.input_at(index)?.num_elements() / rows))
            .collect::<Result<Vec<usize>>>()?;
        join(ctx, values, rows, &runs, &mut output)?;
    }
    Ok(output)
}

fn only_one_with_elements(ctx: &RawContext<'_>, values: Range<usize>) -> Result<Option<usize>> {
    let mut only = None;
    for index in values {
        if ctx.input_at(index)?.num_elements() > 0 && only.replace(index).is_some() {
            return Ok(None);
        }
    }
    Ok(only)
}

struct ConcatKernel;

#[register_kernel(device = Cpu, host_memory = ["concat_dim"], T = [
    bfloat16, bool, complex128, complex64, double, float, float8_e4m3fn, float8_e5m2, half, int16, int32, int64, int8,
    qint16, qint32, qint8, quint16, quint8, string, uint16, uint32, uint64, uint8,
])]
#[register_kernel(device = Default, T = [int32], host_memory = ["concat_dim", "values", "output"])]
impl OpKernel<ops::Concat> for ConcatKernel {
    fn new(_: &KernelConstruction<'_, ops::Concat>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::Concat>) -> Result<()> {
        let count = ctx.num_inputs();
        let output = concat(ctx, 1..count, 0, "concat_dim")?;
        ctx.set_output(ops::Concat::OUTPUT, output)
    }
}

struct ConcatV2Kernel;

#[register_kernel(device = Cpu, host_memory = ["axis"], T = [
    bfloat16, bool, complex128, complex64, double, float, float8_e4m3fn, float8_e5m2, half, int16, int32, int64, int8,
    qint16, qint32, qint8, quint16, quint8, string, uint16, uint32, uint64, uint8,
])]
#[register_kernel(device = Default, T = [int32], host_memory = ["values", "axis", "output"])]
impl OpKernel<ops::ConcatV2> for ConcatV2Kernel {
    fn new(_: &KernelConstruction<'_, ops::ConcatV2>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::ConcatV2>) -> Result<()> {
        let axis = ctx.num_inputs() - 1;
        let output = concat(ctx, 0..axis, axis, "axis")?;
        ctx.set_output(ops::ConcatV2::OUTPUT, output)
    }
}

struct PackKernel {
    axis: i64,
}

#[register_kernel(device = Cpu, T = [
    bfloat16, bool, complex128, complex64, double, float, float8_e4m3fn, float8_e5m2, half, int16, int32, int64, int8,
    qint16, qint32, qint8, quint16, quint8, resource, string, uint16, uint32, uint64, uint8, variant,
])]
#[register_kernel(device = Default, T = [int32], host_memory = ["values", "output"])]
impl OpKernel<ops::Pack> for PackKernel {
    fn new(ctx: &KernelConstruction<'_, ops::Pack>) -> Result<Self> {
        Ok(Self { axis: ctx.attrs().axis })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::Pack>) -> Result<()> {
        let count = ctx.num_inputs();
        let first: Shape = ctx.input_at(0)?.shape().clone();
        ensure!(first.rank() < MAX_RANK, InvalidArgument, "tensors of rank {} cannot be packed", first.rank());
        let axis = super::integers::axis(self.axis, first.rank() + 1, "axis")?;
        for index in 1..count {
            let other = ctx.input_at(index)?.shape();
            ensure!(
                *other == first,
                InvalidArgument,
                "Shapes of all inputs must match: values[0].shape = {first} != values[{index}].shape = {other}"
            );
        }
        let mut shape = first.clone();
        shape.insert(axis, count);
        let output = if count == 1 {
            ctx.take_input_at(0)?.reshaped(shape)?
        } else {
            let mut output = ctx.allocate_output(ops::Pack::OUTPUT, shape)?;
            if output.num_elements() > 0 {
                let rows: usize = first[..axis].iter().product();
                join(ctx, 0..count, rows, &vec![first.num_elements() / rows; count], &mut output)?;
            }
            output
        };
        ctx.set_output(ops::Pack::OUTPUT, output)
    }
}

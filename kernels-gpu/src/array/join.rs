//! Several tensors into one: Concat, ConcatV2, Pack.

use std::fmt::Write as _;

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink_geometry::concat::{Joined, concatenated, packed};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::strided::{Run as _, StridedCopy, copies};
use super::unit::{Unit, word};
use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program};

/// How many inputs a shader joins: with the output they are as many buffers as every device binds.
const MOST: usize = 7;

/// Joins tensors with elements, of which each fills its part of each of `rows` rows.
fn join(gpu: &GpuDevice, output: &Tensor, inputs: &[&Tensor], rows: usize) -> Result<()> {
    let row = output.num_elements() / rows;
    let mut start = 0;
    // Strided copies go by windows.
    let most = if gpu.fits(output) { MOST } else { 1 };
    for some in inputs.chunks(most) {
        let runs: Vec<usize> = some.iter().map(|input| input.num_elements() / rows).collect();
        let width: usize = runs.iter().sum();
        if let [only] = *some {
            StridedCopy::new(start, 0).step(rows, row, width as isize).step(width, 1, 1).run(gpu, output, only)?;
        } else {
            let (unit, times) = Unit::of(output.dtype())?.widest(|times| {
                row.is_multiple_of(times)
                    && start.is_multiple_of(times)
                    && runs.iter().all(|run| run.is_multiple_of(times))
            });
            let mut params = vec![word(row / times), word(start / times), word(width / times)];
            params.extend(runs.iter().map(|run| word(run / times)));
            let tensors: Vec<&Tensor> = some.iter().copied().chain([output]).collect();
            let count = rows * width / times;
            gpu.run(program, (unit, some.len()), &tensors, &params, Groups::Elements(count))?;
        }
        start += width;
    }
    Ok(())
}

/// The program that joins so many inputs.
fn program((unit, inputs): (Unit, usize)) -> Program {
    let program = unit.program(format!("join of {inputs} of {unit:?}"));
    let program = (0..inputs).fold(program, |program, input| unit.read(program, &format!("x{input}")));
    let mut program = unit.write(program, "y").words("row start width");
    let mut text = "fn joined(r: u32, column: u32) -> U {\n    var c = column;\n".to_owned();
    for input in 0..inputs {
        program = program.words(&format!("n{input}"));
        let element = format!("return x{input}[r * params.n{input} + c];");
        let _ = match input + 1 == inputs {
            true => writeln!(text, "    {element}\n}}"),
            false => writeln!(text, "    if (c < params.n{input}) {{ {element} }}\n    c -= params.n{input};"),
        };
    }
    program.declare(&text).compose(Entry::Elements, include_str!("join.wgsl"), &[])
}

fn programs(dtype: DataType) -> Result<Vec<Program>> {
    let joins = Unit::all_of(dtype)?.flat_map(|unit| (2..=MOST).map(move |inputs| program((unit, inputs))));
    Ok(joins.chain(copies(dtype)?).collect())
}

/// Inputs that stand side by side in the rows of a tensor.
fn joined(ctx: &mut RawContext<'_>, joined: Joined) -> Result<Tensor> {
    let Joined { shape, filled, rows } = joined;
    // A join with empty tensors is the one that is not empty.
    if let [only] = filled[..] {
        return ctx.take_input_at(only)?.reshaped(shape);
    }
    let gpu = GpuDevice::of(ctx)?;
    let output = gpu.allocate_output(ctx, 0, shape)?;
    if !filled.is_empty() {
        let inputs = filled.into_iter().map(|index| ctx.input_at(index)).collect::<Result<Vec<_>>>()?;
        join(gpu, &output, &inputs, rows)?;
    }
    Ok(output)
}

#[register_kernel(
    device = Gpu, op = ops::Concat, T = [f32, u32, bool, i64, f16 if "f16"], host_memory = ["concat_dim"],
    programs = |T| programs(T)
)]
fn concat_v1(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (axis, count) = (ctx.input_position(O::CONCAT_DIM), ctx.num_inputs());
    let inputs = concatenated(ctx, axis + 1..count, axis, "concat_dim")?;
    let output = joined(ctx, inputs)?;
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(
    device = Gpu, op = ops::ConcatV2, T = [f32, u32, bool, i64, f16 if "f16"], host_memory = ["axis"],
    programs = |T| programs(T)
)]
fn concat_v2(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let axis = ctx.input_position(O::AXIS);
    let inputs = concatenated(ctx, 0..axis, axis, "axis")?;
    let output = joined(ctx, inputs)?;
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(
    device = Gpu, op = ops::Pack, T = [f32, u32, bool, i64, f16 if "f16"], programs = |T| programs(T),
    state = |ctx| Ok(ctx.attrs().axis)
)]
fn pack(&axis: &i64, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let inputs = packed(ctx, axis)?;
    let output = joined(ctx, inputs)?;
    ctx.set_output(O::OUTPUT, output)
}

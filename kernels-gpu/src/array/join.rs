//! Several tensors into one: Concat, ConcatV2, Pack.

use std::fmt::Write as _;
use std::ops::Range;

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::{MAX_RANK, Shape};
use kernlink::tensor::Tensor;

use super::integers::{axis, ensure_single, single};
use super::mover::Mover;
use super::strided::StridedCopy;
use super::unit::{Unit, word};
use super::variant::Variant;
use crate::device::Groups;
use crate::shader::{Entry, Program};

/// How many inputs a shader joins: with the output they are as many buffers as every device binds.
pub(super) const MOST: usize = 7;

/// Joins tensors with elements, of which each fills its part of each of `rows` rows.
fn join(on: &Mover<'_>, output: &Tensor, inputs: &[&Tensor], rows: usize) -> Result<()> {
    let row = output.num_elements() / rows;
    let mut start = 0;
    // Strided copies go by windows.
    let most = if on.gpu.fits(output) { MOST } else { 1 };
    for some in inputs.chunks(most) {
        let runs: Vec<usize> = some.iter().map(|input| input.num_elements() / rows).collect();
        let width: usize = runs.iter().sum();
        if let [only] = *some {
            StridedCopy::new(start, 0).step(rows, row, width as isize).step(width, 1, 1).run(on, output, only)?;
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
            on.run(Variant::Join(unit, some.len()), &tensors, &params, Groups::Elements(count))?;
        }
        start += width;
    }
    Ok(())
}

/// The program that joins so many inputs.
pub(super) fn program(unit: Unit, inputs: usize) -> Program {
    let mut program = unit.declare(Program::builder(format!("join of {inputs} of {unit:?}")));
    for input in 0..inputs {
        program = unit.read(program, &format!("x{input}"));
    }
    program = unit.write(program, "y").param("row", "u32").param("start", "u32").param("width", "u32");
    let mut body = "fn element(i: u32) {\n    let r = i / params.width;\n    var c = i - r * params.width;\n    \
                    let place = r * params.row + params.start + c;\n"
        .to_owned();
    for input in 0..inputs {
        program = program.param(&format!("n{input}"), "u32");
        let _ = write!(
            body,
            "    if (c < params.n{input}) {{\n        y[place] = x{input}[r * params.n{input} + c];\n        \
             return;\n    }}\n    c -= params.n{input};\n"
        );
    }
    body += "}\n";
    program.build(Entry::Elements, &body)
}

/// Joins the inputs `values` along the axis that input `axis` names.
fn concat(on: &Mover<'_>, ctx: &mut RawContext<'_>, values: Range<usize>, axis: usize, name: &str) -> Result<()> {
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
    let mut filled = Vec::new();
    for index in values.clone() {
        let input = ctx.input_at(index)?;
        let other = input.shape();
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
        if input.num_elements() > 0 {
            filled.push(index);
        }
    }
    // A join with empty tensors is the one that is not empty.
    let output = if let [only] = filled[..] {
        ctx.take_input_at(only)?.reshaped(shape)?
    } else {
        let output = on.output(ctx, 0, shape)?;
        if !filled.is_empty() {
            let inputs = filled.into_iter().map(|index| ctx.input_at(index)).collect::<Result<Vec<_>>>()?;
            join(on, &output, &inputs, first[..axis].iter().product())?;
        }
        output
    };
    ctx.set_output_at(0, output)
}

pub(super) fn concat_v1(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let count = ctx.num_inputs();
    concat(on, ctx, 1..count, 0, "concat_dim")
}

pub(super) fn concat_v2(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let axis = ctx.num_inputs() - 1;
    concat(on, ctx, 0..axis, axis, "axis")
}

pub(super) fn pack(&given: &i64, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let count = ctx.num_inputs();
    let first: Shape = ctx.input_at(0)?.shape().clone();
    ensure!(first.rank() < MAX_RANK, InvalidArgument, "tensors of rank {} cannot be packed", first.rank());
    let axis = axis(given, first.rank() + 1, "axis")?;
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
        let output = on.output(ctx, 0, shape)?;
        if output.num_elements() > 0 {
            let inputs = (0..count).map(|index| ctx.input_at(index)).collect::<Result<Vec<_>>>()?;
            join(on, &output, &inputs, first[..axis].iter().product())?;
        }
        output
    };
    ctx.set_output_at(0, output)
}

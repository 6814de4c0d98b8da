//! Several tensors into one: Concat, ConcatV2, Pack.

use std::fmt::Write as _;

use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;
use kernlink_geometry::concat::{Joined, concatenated, packed};

use super::mover::Mover;
use super::strided::{Run as _, StridedCopy};
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
    let mut program = unit.declare(Program::trusted(format!("join of {inputs} of {unit:?}")));
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

/// Sets output 0 to inputs that stand side by side in its rows.
fn set_joined(on: &Mover<'_>, ctx: &mut RawContext<'_>, joined: Joined) -> Result<()> {
    let Joined { shape, filled, rows } = joined;
    // A join with empty tensors is the one that is not empty.
    let output = if let [only] = filled[..] {
        ctx.take_input_at(only)?.reshaped(shape)?
    } else {
        let output = on.output(ctx, 0, shape)?;
        if !filled.is_empty() {
            let inputs = filled.into_iter().map(|index| ctx.input_at(index)).collect::<Result<Vec<_>>>()?;
            join(on, &output, &inputs, rows)?;
        }
        output
    };
    ctx.set_output_at(0, output)
}

pub(super) fn concat_v1(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let count = ctx.num_inputs();
    let joined = concatenated(ctx, 1..count, 0, "concat_dim")?;
    set_joined(on, ctx, joined)
}

pub(super) fn concat_v2(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let axis = ctx.num_inputs() - 1;
    let joined = concatenated(ctx, 0..axis, axis, "axis")?;
    set_joined(on, ctx, joined)
}

pub(super) fn pack(&axis: &i64, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let joined = packed(ctx, axis)?;
    set_joined(on, ctx, joined)
}

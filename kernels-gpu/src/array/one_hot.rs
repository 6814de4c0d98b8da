//! OneHot.

use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink_geometry::indices::{self as geometry, OneHot};

use super::mover::Mover;
use super::unit::{Unit, word};
use super::variant::Variant;
use crate::device::Groups;
use crate::indices::Indices;
use crate::shader::{Entry, Program};
use crate::windows::{read, whole, written};

pub(super) fn program(unit: Unit, index: Indices) -> Program {
    let mut program = unit.declare(Program::trusted(format!("one-hot of {unit:?} by {index:?} indices")));
    program = unit.write(unit.read(unit.read(index.read(program), "on"), "off"), "y");
    program.param("depth", "u32").param("suffix", "u32").build(Entry::Elements, include_str!("one_hot.wgsl"))
}

pub(super) fn one_hot(&given: &i64, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let indices = ctx.input_at(0)?;
    let (hot, cold) = (ctx.input_at(2)?, ctx.input_at(3)?);
    let OneHot { shape, depth, suffix } = geometry::one_hot(indices.shape(), given, ctx.input_at(1)?, [hot, cold])?;
    let output = on.output(ctx, 0, shape)?;
    let variant = Variant::OneHot(Unit::of(output.dtype())?, Indices::of(indices.dtype())?);
    let sizes = [depth, suffix].map(word);
    if output.num_elements() > 0 {
        let parts = [read(indices), whole(hot), whole(cold), written(&output)];
        on.gpu.in_windows(indices.num_elements() / suffix, &parts, |rows, tensors| {
            on.run(variant, tensors, &sizes, Groups::Elements(rows.len() * depth * suffix))
        })?;
    }
    ctx.set_output_at(0, output)
}

//! OneHot.

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::MAX_RANK;

use super::index::Index;
use super::integers::{ensure_scalar, scalar};
use super::mover::Mover;
use super::unit::{Unit, word};
use super::variant::Variant;
use crate::device::Groups;
use crate::shader::{Entry, Program};
use crate::windows::{read, whole, written};

pub(super) fn program(unit: Unit, index: Index) -> Program {
    let mut program = unit.declare(Program::builder(format!("one-hot of {unit:?} by {index:?} indices")));
    program = unit.write(unit.read(unit.read(index.read(program), "on"), "off"), "y");
    program.param("depth", "u32").param("suffix", "u32").build(Entry::Elements, include_str!("one_hot.wgsl"))
}

pub(super) fn one_hot(&given: &i64, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let indices = ctx.input_at(0)?;
    let rank = indices.rank();
    ensure!(rank < MAX_RANK, InvalidArgument, "indices cannot have rank {rank}");
    ensure!(
        (-1..=rank as i64).contains(&given),
        InvalidArgument,
        "Expected axis to be -1 or between [0, {}).  But received: {given}",
        rank + 1
    );
    let depth = scalar(ctx.input_at(1)?, "depth")?;
    ensure!(depth >= 0, InvalidArgument, "depth must be non-negative, got: {depth}");
    let depth = depth as usize;
    let (hot, cold) = (ctx.input_at(2)?, ctx.input_at(3)?);
    ensure_scalar(hot, "on_value")?;
    ensure_scalar(cold, "off_value")?;
    let axis = if given == -1 { rank } else { given as usize };
    let mut shape = indices.shape().clone();
    shape.insert(axis, depth);
    let output = on.output(ctx, 0, shape)?;
    let suffix: usize = indices.shape()[axis..].iter().product();
    let variant = Variant::OneHot(Unit::of(output.dtype())?, Index::of(indices.dtype())?);
    let sizes = [depth, suffix].map(word);
    if output.num_elements() > 0 {
        let parts = [read(indices), whole(hot), whole(cold), written(&output)];
        on.gpu.in_windows(indices.num_elements() / suffix, &parts, |rows, tensors| {
            on.run(variant, tensors, &sizes, Groups::Elements(rows.len() * depth * suffix))
        })?;
    }
    ctx.set_output_at(0, output)
}

//! One tensor into several: Split, SplitV, Unpack.

use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink_geometry::split::Split;

use super::mover::Mover;

/// Sets the outputs to the parts of input `index`.
fn cut(on: &Mover<'_>, ctx: &mut RawContext<'_>, index: usize, split: &Split) -> Result<()> {
    let input = ctx.take_input_at(index)?;
    for (index, part) in split.parts(input.shape()).enumerate() {
        let output = on.arranged(ctx, index, input.clone(), part)?;
        ctx.set_output_at(index, output)?;
    }
    Ok(())
}

pub(super) fn split_evenly(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let split = Split::evenly(ctx.input_at(1)?.shape(), ctx.input_at(0)?, ctx.num_outputs())?;
    cut(on, ctx, 1, &split)
}

pub(super) fn split_v(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let (input, sizes) = (ctx.input_at(0)?.shape(), ctx.input_at(1)?);
    let split = Split::by_sizes(input, sizes, ctx.input_at(2)?, ctx.num_outputs())?;
    cut(on, ctx, 0, &split)
}

pub(super) fn unpack(&axis: &i64, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let split = Split::unpacked(ctx.input_at(0)?.shape(), axis, ctx.num_outputs())?;
    cut(on, ctx, 0, &split)
}

//! Between space, depth and batch: DepthToSpace, SpaceToDepth, SpaceToBatchND, BatchToSpaceND.

use kernlink::error::Result;
use kernlink::kernel::{GPU, RawConstruction, RawContext};
use kernlink_geometry::space::{Block, Blocks};

use super::fill::fill;
use super::mover::Mover;
use super::strided::Run as _;

/// The attrs of ops between depth and space.
pub(super) fn block(ctx: &RawConstruction<'_>) -> Result<Block> {
    let data_format: String = ctx.attrs.required("data_format")?;
    Block::new(ctx.attrs.required("block_size")?, &data_format, GPU)
}

pub(super) fn depth_to_space(block: &Block, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let space = block.moved(ctx.input_at(0)?.shape(), true)?;
    on.rearrange(ctx, 0, space)
}

pub(super) fn space_to_depth(block: &Block, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let depth = block.moved(ctx.input_at(0)?.shape(), false)?;
    on.rearrange(ctx, 0, depth)
}

/// Sets output 0 to what the copies make of input 0.
fn copy(on: &Mover<'_>, ctx: &mut RawContext<'_>, blocks: &Blocks) -> Result<()> {
    let input = ctx.input_at(0)?;
    let output = on.output(ctx, 0, &blocks.shape)?;
    if blocks.has_gaps {
        fill(on, &output, [0; 2])?;
    }
    blocks.copies(&mut |copy| copy.run(on, &output, input))?;
    ctx.set_output_at(0, output)
}

pub(super) fn space_to_batch(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let blocks = Blocks::of_image(ctx.input_at(0)?.shape(), ctx.input_at(1)?, ctx.input_at(2)?)?;
    copy(on, ctx, &blocks)
}

pub(super) fn batch_to_space(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let blocks = Blocks::of_batches(ctx.input_at(0)?.shape(), ctx.input_at(1)?, ctx.input_at(2)?)?;
    copy(on, ctx, &blocks)
}

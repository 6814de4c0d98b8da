//! Elements again and again: Tile, BroadcastTo.

use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink_geometry::rearranged;

use super::mover::Mover;

pub(super) fn tile(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let to = rearranged::tiled(ctx.input_at(0)?.shape(), ctx.input_at(1)?)?;
    on.rearrange(ctx, 0, to)
}

pub(super) fn broadcast_to(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let to = rearranged::broadcast_to(ctx.input_at(0)?.shape(), ctx.input_at(1)?)?;
    on.rearrange(ctx, 0, to)
}

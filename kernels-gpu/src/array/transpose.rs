//! Transpose, ConjugateTranspose.

use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::kernel::geometry::rearranged::transposed;

use super::mover::Mover;

/// Input 0 with its axes in the order of input 1.
pub(super) fn transpose(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let to = transposed(ctx.input_at(0)?.shape(), ctx.input_at(1)?)?;
    on.rearrange(ctx, 0, to)
}

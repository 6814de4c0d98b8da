//! What several families of resources infer alike.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;

use crate::shapes;

/// Container and name.
pub(crate) fn reference_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    shapes::output_shape(c, c.vector(2))
}

/// Checks that input 0 is container and name.
#[track_caller]
pub(super) fn reference(c: &InferenceContext<'_>) -> Result<()> {
    reference_at(c, 0)
}

/// Checks that an input is container and name.
#[track_caller]
pub(crate) fn reference_at(c: &InferenceContext<'_>, input: usize) -> Result<()> {
    let handle = c.with_rank(c.input(input), 1)?;
    c.with_value(c.dim(handle, 0), 2)?;
    Ok(())
}

pub(super) fn close_reference_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    reference(c)
}

pub(super) fn size_reference_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    reference(c)?;
    shapes::scalar_shape(c)
}

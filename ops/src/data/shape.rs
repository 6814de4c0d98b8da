//! What the shape functions of the family check.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;

/// What is said of an input's rank.
#[derive(Clone, Copy)]
pub(super) enum Rank {
    Is(usize),
    AtMost(usize),
}

/// All outputs are scalars.
///
/// # Errors
/// None.
pub(super) fn scalars(c: &mut InferenceContext<'_>) -> Result<()> {
    for index in 0..c.num_outputs() {
        c.set_output(index, c.scalar());
    }
    Ok(())
}

/// All outputs are scalars, and so are these inputs.
///
/// # Errors
/// INVALID_ARGUMENT if one is not.
pub(super) fn with_scalars(c: &mut InferenceContext<'_>, inputs: &[usize]) -> Result<()> {
    for &input in inputs {
        c.with_rank(c.input(input), 0)?;
    }
    scalars(c)
}

/// All outputs are scalars, and these inputs have these ranks; those with negative numbers are counted from the end.
///
/// # Errors
/// INVALID_ARGUMENT if one has another rank.
pub(super) fn with_ranks(c: &mut InferenceContext<'_>, inputs: &[(isize, Rank)]) -> Result<()> {
    for &(input, rank) in inputs {
        let input = if input < 0 { c.num_inputs().wrapping_add_signed(input) } else { input as usize };
        match rank {
            Rank::Is(rank) => c.with_rank(c.input(input), rank)?,
            Rank::AtMost(rank) => c.with_rank_at_most(c.input(input), rank)?,
        };
    }
    scalars(c)
}

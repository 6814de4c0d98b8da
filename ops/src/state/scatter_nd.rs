//! Changing slices of variables.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: type"),
    attr("Tindices: {int32, int64}"),
    attr("use_locking: bool = true", "Whether the variable stays locked meanwhile. Here it always is."),
    attr("bad_indices_policy: string = ''", "For bad indices: `\"ERROR\"` or empty fails, `\"IGNORE\"` skips them."),
    input("ref: Ref(T)", "The variable."),
    input("indices: Tindices", "The last dimension holds indices for the first dimensions of the variable."),
    input("updates: T", "One slice for each index vector."),
    shape_fn = scatter_nd_shape,
)]
pub enum ScatterNds {
    /// Assigns `updates` to slices of a variable, which index vectors name.
    #[op(output("output_ref: Ref(T)", "The variable, afterwards."))]
    ScatterNdUpdate,
    /// Adds `updates` to slices of a variable, which index vectors name.
    #[op(like = ScatterNdUpdate, attr("T: numbertype"), attr("use_locking: bool = false"))]
    ScatterNdAdd,
    /// Subtracts `updates` from slices of a variable, which index vectors name.
    #[op(like = ScatterNdUpdate, attr("T: numbertype"), attr("use_locking: bool = false"))]
    ScatterNdSub,
    /// Takes the greater of slices of a variable and `updates`, which index vectors name.
    #[op(like = ScatterNdUpdate, attr("T: numbertype"), attr("use_locking: bool = false"))]
    ScatterNdMax,
    /// Takes the lesser of slices of a variable and `updates`, which index vectors name.
    #[op(like = ScatterNdUpdate, attr("T: numbertype"), attr("use_locking: bool = false"))]
    ScatterNdMin,
    /// [`ScatterNdUpdate`] on a resource variable.
    #[op(input("ref: resource", "A handle of the variable."))]
    ResourceScatterNdUpdate,
    /// [`ScatterNdAdd`] on a resource variable.
    #[op(input("ref: resource", "A handle of the variable."))]
    ResourceScatterNdAdd,
    /// [`ScatterNdSub`] on a resource variable.
    #[op(input("ref: resource", "A handle of the variable."))]
    ResourceScatterNdSub,
    /// [`ScatterNdMax`] on a resource variable.
    #[op(input("ref: resource", "A handle of the variable."))]
    ResourceScatterNdMax,
    /// [`ScatterNdMin`] on a resource variable.
    #[op(input("ref: resource", "A handle of the variable."))]
    ResourceScatterNdMin,
}

fn scatter_nd_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let held = c.input_handle_shapes_and_types(0).and_then(|held| held.first());
    let variable = held.map_or_else(|| c.input(0), |held| held.shape);
    let indices = c.with_rank_at_least(c.input(1), 1)?;
    let updates = c.with_rank_at_least(c.input(2), 1)?;
    shapes::scatter_nd_shape_helper(c, indices, updates, variable)
}

//! Changing rows of variables.

use kernlink::dtype::DataType;
use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink::{Result, bail};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: numbertype"),
    attr("Tindices: {int32, int64}"),
    attr("use_locking: bool = false", "Whether the variable stays locked meanwhile. Here it always is."),
    input("ref: Ref(T)", "The variable."),
    input("indices: Tindices", "Rows of the variable; one that occurs twice is changed twice, in order."),
    input("updates: T", "One row for each index, or a scalar for all of them."),
    output("output_ref: Ref(T)", "The variable, afterwards."),
    shape_fn = scatter_shape,
)]
pub enum Scatter {
    /// Assigns `updates` to rows of a variable: `ref[indices[i…], …] = updates[i…, …]`.
    #[op(attr("T: type"), attr("use_locking: bool = true"))]
    ScatterUpdate,
    /// Adds `updates` to rows of a variable.
    ScatterAdd,
    /// Subtracts `updates` from rows of a variable.
    ScatterSub,
    /// Multiplies rows of a variable by `updates`.
    ScatterMul,
    /// Divides rows of a variable by `updates`.
    ScatterDiv,
    /// Takes the lesser of rows of a variable and `updates`.
    #[op(attr("T: {half, bfloat16, float, double, int32, int64}"))]
    ScatterMin,
    /// Takes the greater of rows of a variable and `updates`.
    #[op(attr("T: {half, bfloat16, float, double, int32, int64}"))]
    ScatterMax,
}

#[register_op(
    attr("dtype: numbertype"),
    attr("Tindices: {int32, int64}"),
    input("resource: resource", "A handle of the variable."),
    input("indices: Tindices", "Rows of the variable; one that occurs twice is changed twice, in order."),
    input("updates: dtype", "One row for each index, or a scalar for all of them."),
    shape_fn = resource_scatter_shape,
)]
pub enum ResourceScatter {
    /// [`ScatterUpdate`] on a resource variable.
    #[op(attr("dtype: type"))]
    ResourceScatterUpdate,
    /// [`ScatterAdd`] on a resource variable.
    ResourceScatterAdd,
    /// [`ScatterSub`] on a resource variable.
    ResourceScatterSub,
    /// [`ScatterMul`] on a resource variable.
    ResourceScatterMul,
    /// [`ScatterDiv`] on a resource variable.
    ResourceScatterDiv,
    /// [`ScatterMin`] on a resource variable.
    ResourceScatterMin,
    /// [`ScatterMax`] on a resource variable.
    ResourceScatterMax,
}

fn scatter_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    check_updates(c, c.input(0))?;
    shapes::output_shape(c, c.input(0))
}

fn resource_scatter_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let variable = shapes::validate_variable_resource_handle(c)?;
    check_updates(c, variable[0].shape)?;
    let held = c.input_handle_shapes_and_types(2).map(<[_]>::len);
    if let Some(held) = held
        && variable[0].dtype == Some(DataType::Variant)
        && variable.len() > 1
        && held != variable.len() - 1
    {
        let expected = variable.len() - 1;
        bail!(InvalidArgument, "The variable's variants hold {expected} tensors, but those of the updates {held}");
    }
    Ok(())
}

/// The updates are a scalar or have one row for each index.
fn check_updates(c: &InferenceContext<'_>, variable: ShapeHandle) -> Result<()> {
    let row = c.subshape(variable, 1)?;
    let expected = c.concatenate(c.input(1), row)?;
    if c.rank(c.input(2)) != Some(0) {
        c.merge(c.input(2), expected)?;
    }
    Ok(())
}

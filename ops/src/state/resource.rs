//! Variables behind handles: those of TensorFlow 2.

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::shape::PartialShape;
use kernlink::shape_inference::{InferenceContext, ShapeAndType};
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_op;

use crate::shapes;

/// A handle of a variable, which need not exist yet: the first assignment makes it.
#[register_op(
    attr("container: string = ''", "The container that keeps it; empty for the default one."),
    attr("shared_name: string = ''", "The name of the variable; nodes that give the same name share the variable."),
    attr("debug_name: string = ''", "A name for those who look at variables without one."),
    attr("dtype: type", "The dtype of the variable."),
    attr("shape: shape", "What is known of its shape."),
    attr("allowed_devices: list(string) = []", "Devices on which it may stand; for other runtimes."),
    output("resource: resource"),
    shape_fn = var_handle_shape,
)]
pub struct VarHandleOp;

/// Handles of several variables at once.
#[register_op(
    attr("containers: list(string)", "The container of each."),
    attr("shared_names: list(string)", "The name of each."),
    attr("N: int >= 0"),
    attr("dtypes: list(type)", "The dtype of each."),
    attr("shapes: list(shape)", "What is known of the shape of each."),
    output("resources: N * resource"),
    shape_fn = var_handles_shape,
)]
pub struct _VarHandlesOp;

#[register_op(input("resource: resource", "A handle of the variable."), shape_fn = read_variable_shape)]
pub enum Reading {
    /// The value of a variable. It stays as it is when the variable changes later.
    #[op(attr("dtype: type", "The dtype of the variable."), output("value: dtype"))]
    ReadVariableOp,
    /// Whether a variable exists and has a value.
    #[op(output("is_initialized: bool"), shape_fn = shapes::scalar_shape)]
    VarIsInitializedOp,
}

/// The values of several variables at once.
#[register_op(
    attr("N: int >= 0"),
    attr("dtypes: list(type) >= 1", "The dtype of each."),
    input("resources: N * resource", "Handles of the variables."),
    output("values: dtypes"),
    shape_fn = read_variables_shape,
)]
pub struct _ReadVariablesOp;

/// Forgets a resource of any type. Nodes that use it later fail.
#[register_op(
    attr("ignore_lookup_error: bool = true", "Whether it is no error that there is no such resource."),
    input("resource: resource", "A handle of the resource."),
    shape_fn = shapes::no_outputs,
)]
pub struct DestroyResourceOp;

#[register_op(
    attr("dtype: type", "The dtype of the variable."),
    input("resource: resource", "A handle of the variable."),
    input("value: dtype", "What to assign."),
    shape_fn = assign_variable_shape,
)]
pub enum Assignments {
    /// Gives a variable a value. The first assignment makes the variable.
    #[op(attr("validate_shape: bool = false", "Whether the value must have the shape of the one before."))]
    AssignVariableOp,
    /// Adds to a variable.
    #[op(input("value: dtype", "What to add, of the variable's shape."))]
    AssignAddVariableOp,
    /// Subtracts from a variable.
    #[op(input("value: dtype", "What to subtract, of the variable's shape."))]
    AssignSubVariableOp,
}

/// The shape of a variable's value.
#[register_op(
    attr("out_type: {int32, int64} = DT_INT32"),
    input("input: resource", "A handle of the variable."),
    output("output: out_type"),
    shape_fn = variable_shape_shape,
)]
pub struct VariableShape;

/// Slices of a variable along its first dimension, by index; with `batch_dims`, along the dimension after those.
#[register_op(
    attr("batch_dims: int = 0", "How many first dimensions of the variable and of `indices` pair off."),
    attr("validate_indices: bool = true", "Without effect: indices are always checked."),
    attr("dtype: type", "The dtype of the variable."),
    attr("Tindices: {int32, int64}"),
    input("resource: resource", "A handle of the variable."),
    input("indices: Tindices"),
    output("output: dtype"),
    shape_fn = resource_gather_shape,
)]
pub struct ResourceGather;

/// Slices of a variable by index vectors: the last dimension of `indices` holds indices for the variable's first ones.
#[register_op(
    attr("dtype: type", "The dtype of the variable."),
    attr("Tindices: {int32, int64}"),
    input("resource: resource", "A handle of the variable."),
    input("indices: Tindices"),
    output("output: dtype"),
    shape_fn = shapes::gather_nd_shape,
)]
pub struct ResourceGatherNd;

/// Adds one to a variable and gives its value from before, until that is `limit`: then the error is OUT_OF_RANGE.
#[register_op(
    attr("limit: int", "What the variable never exceeds."),
    attr("T: {int32, int64}"),
    input("resource: resource", "A handle of the variable, a scalar."),
    output("output: T"),
    shape_fn = count_up_to_shape,
)]
pub struct ResourceCountUpTo;

/// [`StridedSliceAssign`](super::StridedSliceAssign) on a resource variable.
#[register_op(
    attr("T: type"),
    attr("Index: {int32, int64}"),
    attr("begin_mask: int = 0"),
    attr("end_mask: int = 0"),
    attr("ellipsis_mask: int = 0"),
    attr("new_axis_mask: int = 0"),
    attr("shrink_axis_mask: int = 0"),
    input("ref: resource", "A handle of the variable."),
    input("begin: Index", "The first index of each entry."),
    input("end: Index", "The index at which each entry stops."),
    input("strides: Index", "The step of each entry."),
    input("value: T", "What to assign; it is broadcast to the part's shape."),
    shape_fn = shapes::no_outputs,
)]
pub struct ResourceStridedSliceAssign;

/// Without effect but for the error if there is no such variable: reads never copy here.
#[register_op(input("resource: resource", "A handle of the variable."), shape_fn = shapes::no_outputs)]
pub struct DisableCopyOnRead;

fn var_handle_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = c.make_shape_from_partial(&c.attr("shape")?);
    c.set_output(0, c.scalar());
    c.set_output_handle_shapes_and_types(0, &[ShapeAndType { shape, dtype: Some(c.attr("dtype")?) }]);
    Ok(())
}

fn var_handles_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (dtypes, shapes) = (c.attr::<Vec<DataType>>("dtypes")?, c.attr::<Vec<PartialShape>>("shapes")?);
    let n = c.num_outputs();
    ensure!(dtypes.len() == n, InvalidArgument, "Mismatched number of dtypes (n={n}, num dtypes={})", dtypes.len());
    ensure!(shapes.len() == n, InvalidArgument, "Mismatched number of shapes (n={n}, num shapes={})", shapes.len());
    for (index, (dtype, shape)) in dtypes.into_iter().zip(&shapes).enumerate() {
        c.set_output(index, c.scalar());
        let held = ShapeAndType { shape: c.make_shape_from_partial(shape), dtype: Some(dtype) };
        c.set_output_handle_shapes_and_types(index, &[held]);
    }
    Ok(())
}

fn read_variable_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    if let Some(AttrValue::Shape(shape)) = c.attrs().get("_shape") {
        return shapes::output_shape(c, c.make_shape_from_partial(shape));
    }
    let variable = shapes::validate_variable_resource_handle(c)?;
    c.set_output(0, variable[0].shape);
    if variable[0].dtype == Some(DataType::Variant) && variable.len() > 1 {
        c.set_output_handle_shapes_and_types(0, &variable[1..]);
    }
    Ok(())
}

fn read_variables_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let dtypes: Vec<DataType> = c.attr("dtypes")?;
    ensure!(c.num_inputs() == dtypes.len(), InvalidArgument, "Mismatched number of arguments to ReadVariablesOp");
    for (index, dtype) in dtypes.into_iter().enumerate() {
        let shape = match c.input_handle_shapes_and_types(index).and_then(|held| held.first()) {
            None => c.unknown_shape(),
            Some(held) if held.dtype == Some(dtype) => held.shape,
            Some(held) => {
                let known = held.dtype.map_or_else(|| "unknown".to_owned(), |dtype| dtype.to_string());
                bail!(InvalidArgument, "Trying to read variable with wrong dtype. Expected {known} got {dtype}");
            }
        };
        c.set_output(index, shape);
    }
    Ok(())
}

fn assign_variable_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let variable = shapes::validate_variable_resource_handle(c)?;
    c.merge(variable[0].shape, c.input(1))?;
    if let Some(held) = c.input_handle_shapes_and_types(1)
        && variable[0].dtype == Some(DataType::Variant)
        && variable.len() > 1
        && held.len() != variable.len() - 1
    {
        let (expected, held) = (variable.len() - 1, held.len());
        bail!(InvalidArgument, "The variable's variants hold {expected} tensors, but those of the value {held}");
    }
    Ok(())
}

fn variable_shape_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let held = c.input_handle_shapes_and_types(0).and_then(|held| held.first());
    let rank = held.and_then(|held| c.rank(held.shape)).map_or(-1, |rank| rank as i64);
    shapes::output_shape(c, c.vector(rank))
}

fn resource_gather_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let variable = shapes::validate_variable_resource_handle(c)?;
    let (params, indices) = (variable[0].shape, c.input(1));
    let batch_dims: i64 = c.attr("batch_dims")?;
    ensure!(batch_dims >= 0, InvalidArgument, "batch_dims is negative ({batch_dims})");
    let rank = usize::try_from(batch_dims).unwrap_or(usize::MAX);
    c.with_rank_at_least(params, rank.saturating_add(1))?;
    c.with_rank_at_least(indices, rank)?;
    let (outer, inner) = (c.subshape_range(params, 0, batch_dims)?, c.subshape(params, batch_dims.saturating_add(1))?);
    let picked = c.subshape(indices, batch_dims)?;
    let output = c.concatenate(c.concatenate(outer, picked)?, inner)?;
    c.set_output(0, output);
    if variable[0].dtype == Some(DataType::Variant) {
        c.set_output_handle_shapes_and_types(0, &variable[1..]);
    }
    Ok(())
}

fn count_up_to_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let Some(&held) = c.input_handle_shapes_and_types(0).and_then(|held| held.first()) else {
        bail!(InvalidArgument, "Handle has no shape/type information.");
    };
    let dtype: DataType = c.attr("T")?;
    let known = held.dtype.map_or_else(|| "unknown".to_owned(), |dtype| dtype.to_string());
    ensure!(held.dtype == Some(dtype), InvalidArgument, "Data types do not match: {dtype} and {known}");
    shapes::output_shape(c, c.with_rank(held.shape, 0)?)
}

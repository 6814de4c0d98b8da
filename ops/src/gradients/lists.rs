//! Lists of tensors, and optionals.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink::shape::PartialShape;
use kernlink_macros::{not_differentiable, register_gradient};

use super::shape_of;
use crate::*;

not_differentiable!(
    EmptyTensorList,
    OptionalHasValue,
    OptionalNone,
    TensorListElementShape,
    TensorListLength,
    TensorListReserve
);

/// The shape of the elements that a tensor's slices along its first dimension are, as a vector of `int32`.
fn element_dims(g: &mut GradientScope<'_>, tensor: &ShapeOf) -> Result<Value> {
    let dims = g.dims(tensor)?;
    let dims = cast(g, dims, DataType::Int32).build()?;
    slice(g, dims, &[1i32][..], &[-1i32][..]).build()
}

/// The shape of a tensor as a vector of `int32`.
fn narrow_dims(g: &mut GradientScope<'_>, tensor: &ShapeOf) -> Result<Value> {
    let dims = g.dims(tensor)?;
    cast(g, dims, DataType::Int32).build()
}

/// What the shapes of a list's elements agree with.
fn shape_of_elements(g: &mut GradientScope<'_>, list: Value) -> Result<Value> {
    tensor_list_element_shape(g, list, DataType::Int32).build()
}

#[register_gradient(op = TensorListPushBack)]
fn push_back_gradient(
    g: &mut GradientScope<'_>,
    element_dtype: DataType,
    tensor: ShapeOf,
    d_output_handle: Value,
) -> Result<(Value, Value)> {
    let shape = narrow_dims(g, &tensor)?;
    let popped = tensor_list_pop_back(g, d_output_handle, shape, element_dtype).build()?;
    Ok((popped.output_handle, popped.tensor))
}

#[register_gradient(op = TensorListPopBack)]
fn pop_back_gradient(
    g: &mut GradientScope<'_>,
    d_output_handle: Value,
    d_tensor: Value,
) -> Result<(Value, NoGradient)> {
    Ok((tensor_list_push_back(g, d_output_handle, d_tensor).build()?, NoGradient))
}

#[register_gradient(op = TensorListStack)]
fn stack_gradient(g: &mut GradientScope<'_>, input_handle: Value, d_tensor: Value) -> Result<(Value, NoGradient)> {
    let shape = shape_of_elements(g, input_handle)?;
    Ok((tensor_list_from_tensor(g, d_tensor, shape).build()?, NoGradient))
}

#[register_gradient(op = TensorListFromTensor)]
fn from_tensor_gradient(
    g: &mut GradientScope<'_>,
    element_dtype: DataType,
    tensor: ShapeOf,
    d_output_handle: Value,
) -> Result<(Value, NoGradient)> {
    let shape = element_dims(g, &tensor)?;
    Ok((tensor_list_stack(g, d_output_handle, shape, element_dtype).build()?, NoGradient))
}

#[register_gradient(op = TensorListGetItem)]
fn get_item_gradient(
    g: &mut GradientScope<'_>,
    input_handle: Value,
    index: Value,
    d_item: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    // Elements that were not read have no gradient: they are not set, which sums take for zeros.
    let dtype = g.dtype(d_item)?;
    let (shape, length) = (shape_of_elements(g, input_handle)?, tensor_list_length(g, input_handle).build()?);
    let unset = tensor_list_reserve(g, shape, length, dtype).build()?;
    Ok((tensor_list_set_item(g, unset, index, d_item).build()?, NoGradient, NoGradient))
}

#[register_gradient(op = TensorListSetItem)]
fn set_item_gradient(
    g: &mut GradientScope<'_>,
    element_dtype: DataType,
    resize_if_index_out_of_bounds: bool,
    input_handle: Value,
    index: Value,
    item: Value,
    d_output_handle: Value,
) -> Result<(Value, NoGradient, Value)> {
    let zeros = zeros_like(g, item).build()?;
    let mut of_list = tensor_list_set_item(g, d_output_handle, index, zeros).build()?;
    if resize_if_index_out_of_bounds {
        let length = tensor_list_length(g, input_handle).build()?;
        of_list = tensor_list_resize(g, of_list, length).build()?;
    }
    let item = shape_of(g, item);
    let shape = narrow_dims(g, &item)?;
    let of_item = tensor_list_get_item(g, d_output_handle, index, shape, element_dtype).build()?;
    Ok((of_list, NoGradient, of_item))
}

#[register_gradient(op = TensorListResize)]
fn resize_gradient(
    g: &mut GradientScope<'_>,
    input_handle: Value,
    d_output_handle: Value,
) -> Result<(Value, NoGradient)> {
    let length = tensor_list_length(g, input_handle).build()?;
    Ok((tensor_list_resize(g, d_output_handle, length).build()?, NoGradient))
}

/// An element that is gathered several times gets the sum of what flows back.
#[register_gradient(op = TensorListGather)]
fn gather_gradient(
    g: &mut GradientScope<'_>,
    input_handle: Value,
    indices: Value,
    d_values: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    let (length, shape) = (tensor_list_length(g, input_handle).build()?, shape_of_elements(g, input_handle)?);
    let sums = unsorted_segment_sum(g, d_values, indices, length).build()?;
    Ok((tensor_list_from_tensor(g, sums, shape).build()?, NoGradient, NoGradient))
}

/// What flows back to the slices of a tensor that were put into a list.
fn gathered(
    g: &mut GradientScope<'_>,
    flow: Value,
    indices: Value,
    tensor: &ShapeOf,
    element_dtype: DataType,
) -> Result<Value> {
    let shape = element_dims(g, tensor)?;
    tensor_list_gather(g, flow, indices, shape, element_dtype).build()
}

#[register_gradient(op = TensorListScatter)]
fn scatter_gradient(
    g: &mut GradientScope<'_>,
    element_dtype: DataType,
    tensor: ShapeOf,
    indices: Value,
    d_output_handle: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    Ok((gathered(g, d_output_handle, indices, &tensor, element_dtype)?, NoGradient, NoGradient))
}

#[register_gradient(op = TensorListScatterV2)]
fn scatter_v2_gradient(
    g: &mut GradientScope<'_>,
    element_dtype: DataType,
    tensor: ShapeOf,
    indices: Value,
    d_output_handle: Value,
) -> Result<(Value, NoGradient, NoGradient, NoGradient)> {
    Ok((gathered(g, d_output_handle, indices, &tensor, element_dtype)?, NoGradient, NoGradient, NoGradient))
}

#[register_gradient(op = TensorListScatterIntoExistingList)]
fn scatter_into_existing_list_gradient(
    g: &mut GradientScope<'_>,
    element_dtype: DataType,
    tensor: Value,
    indices: Value,
    d_output_handle: Value,
) -> Result<(Value, Value, NoGradient)> {
    let shape = shape_of(g, tensor);
    let of_tensor = gathered(g, d_output_handle, indices, &shape, element_dtype)?;
    let zeros = zeros_like(g, tensor).build()?;
    let of_list = tensor_list_scatter_into_existing_list(g, d_output_handle, zeros, indices).build()?;
    Ok((of_list, of_tensor, NoGradient))
}

/// The parts of what flows back to a list that was joined.
fn parts(g: &mut GradientScope<'_>, list: Value, lengths: Value, flow: Value) -> Result<Value> {
    let shape = shape_of_elements(g, list)?;
    tensor_list_split(g, flow, shape, lengths).build()
}

#[register_gradient(op = TensorListConcat)]
fn concat_gradient(g: &mut GradientScope<'_>, input_handle: Value, lengths: Value, d_tensor: Value) -> Result<Value> {
    parts(g, input_handle, lengths, d_tensor)
}

#[register_gradient(op = TensorListConcatV2)]
fn concat_v2_gradient(
    g: &mut GradientScope<'_>,
    input_handle: Value,
    lengths: Value,
    d_tensor: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    Ok((parts(g, input_handle, lengths, d_tensor)?, NoGradient, NoGradient))
}

#[register_gradient(op = TensorListSplit)]
fn split_gradient(
    g: &mut GradientScope<'_>,
    element_dtype: DataType,
    tensor: ShapeOf,
    lengths: Value,
    d_output_handle: Value,
) -> Result<(Value, NoGradient, NoGradient)> {
    let inner = element_dims(g, &tensor)?;
    let any = g.constant(&[-1i32][..])?;
    let shape = concat_v2(g, [any, inner], 0).build()?;
    let joined = tensor_list_concat_v2(g, d_output_handle, shape, lengths, element_dtype).build()?;
    Ok((joined.tensor, NoGradient, NoGradient))
}

#[register_gradient(op = OptionalFromValue)]
fn optional_from_value_gradient(
    g: &mut GradientScope<'_>,
    components: Vec<ShapeOf>,
    d_optional: Value,
) -> Result<Vec<Value>> {
    let shapes: Vec<PartialShape> = components.iter().map(|component| component.known().clone()).collect();
    let dtypes: Vec<DataType> = g.attrs().required("Toutput_types")?;
    optional_get_value(g, d_optional, dtypes, shapes).build()
}

#[register_gradient(op = OptionalGetValue)]
fn optional_get_value_gradient(
    g: &mut GradientScope<'_>,
    components: Vec<Value>,
    d_components: Vec<Option<Value>>,
) -> Result<Value> {
    let mut flows = Vec::with_capacity(components.len());
    for (component, flow) in components.into_iter().zip(d_components) {
        flows.push(match flow {
            Some(flow) => flow,
            // Nobody looks at what flows back to a handle.
            None if g.dtype(component)? == DataType::Resource => component,
            None => zeros_like(g, component).build()?,
        });
    }
    optional_from_value(g, flows).build()
}

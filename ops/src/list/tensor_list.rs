//! Lists of tensors that are values: changing one makes another.

use kernlink::dtype::DataType;
use kernlink::shape_inference::{InferenceContext, ShapeAndType, ShapeHandle};
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("element_dtype: type"),
    attr("shape_type: {int32, int64}"),
    input("element_shape: shape_type", "What all elements' shapes are compatible with: a vector, or −1 for any rank."),
    output("handle: variant", "The list."),
    shape_fn = |c| set_list(c, given(c, 0)?),
)]
pub enum NewLists {
    /// A list of tensors without elements.
    #[op(input("max_num_elements: int32", "How many elements the list may get, or −1 for any number."))]
    EmptyTensorList,
    /// A list of `num_elements` elements, none of which is set.
    ///
    /// An element that is read before it is set is a tensor of zeros.
    #[op(input("num_elements: int32", "The length, a scalar."), shape_fn = |c| set_list(c, given(c, 0)?))]
    TensorListReserve,
}

#[register_op(
    attr("element_dtype: type"),
    attr("shape_type: {int32, int64}"),
    input("tensor: element_dtype"),
    input("element_shape: shape_type", "What all elements' shapes are compatible with: a vector, or −1 for any rank."),
    output("output_handle: variant", "The list."),
    shape_fn = |c| set_list(c, given(c, 2)?),
)]
pub enum ListsOfTensors {
    /// A list of the slices of `tensor` along its first dimension.
    #[op(shape_fn = from_tensor_shape)]
    TensorListFromTensor,
    /// A list whose element at `indices[i]` is slice `i` of `tensor` along its first dimension.
    ///
    /// It is as long as the greatest index demands.
    #[op(input("indices: int32", "Where the slices go, a vector.", after = "tensor"))]
    TensorListScatter,
    /// A list whose element at `indices[i]` is slice `i` of `tensor` along its first dimension.
    #[op(
        input("indices: int32", "Where the slices go, a vector.", after = "tensor"),
        input("num_elements: int32", "The length, or −1 for what the greatest index demands.")
    )]
    TensorListScatterV2,
    /// A list of parts of `tensor`, which is cut along its first dimension.
    #[op(
        input("lengths: int64", "The sizes of the parts, a vector whose sum is the size of the dimension."),
        shape_fn = split_shape,
    )]
    TensorListSplit,
}

/// The elements of a list stacked along a new first dimension.
#[register_op(
    attr("element_dtype: type"),
    attr("num_elements: int = -1", "How many elements the list must have, or −1 for any number."),
    input("input_handle: variant", "The list."),
    input("element_shape: int32", "What all elements' shapes are compatible with: a vector, or −1 for any rank."),
    output("tensor: element_dtype"),
    shape_fn = stack_shape,
)]
pub struct TensorListStack;

/// The element of a list at `index`.
#[register_op(
    attr("element_dtype: type"),
    attr("Tshape: {int32, int64} = DT_INT32"),
    input("input_handle: variant", "The list."),
    input("index: int32", "Which element, a scalar from 0."),
    input("element_shape: Tshape", "The shape of elements not set, which are zeros, where the list does not say."),
    output("item: element_dtype"),
    shape_fn = get_item_shape,
)]
pub struct TensorListGetItem;

/// A list with another element at `index`.
#[register_op(
    attr("element_dtype: type"),
    attr("resize_if_index_out_of_bounds: bool = false", "Whether the list grows when the index is beyond its end."),
    input("input_handle: variant", "The list."),
    input("index: int32", "Which element, a scalar from 0."),
    input("item: element_dtype", "The new element."),
    output("output_handle: variant", "The new list."),
    shape_fn = set_item_shape,
)]
pub struct TensorListSetItem;

/// A list with one more element at its end.
#[register_op(
    attr("element_dtype: type"),
    input("input_handle: variant", "The list."),
    input("tensor: element_dtype", "The new element."),
    output("output_handle: variant", "The new list."),
    shape_fn = |c| set_list(c, list(c)?.unwrap_or_else(|| c.unknown_shape())),
)]
pub struct TensorListPushBack;

/// Lists with one more element each: the slices of `tensor` along its first dimension.
#[register_op(
    attr("element_dtype: type"),
    input("input_handles: variant", "The lists, a vector."),
    input("tensor: element_dtype", "The new elements."),
    output("output_handles: variant", "The new lists."),
    shape_fn = push_back_batch_shape,
)]
pub struct TensorListPushBackBatch;

/// The last element of a list, and the list without it.
#[register_op(
    attr("element_dtype: type"),
    input("input_handle: variant", "The list."),
    input("element_shape: int32", "The shape of elements not set, which are zeros, where the list does not say."),
    output("output_handle: variant", "The new list."),
    output("tensor: element_dtype", "The element."),
    shape_fn = pop_back_shape,
)]
pub struct TensorListPopBack;

/// The number of elements of a list.
#[register_op(input("input_handle: variant", "The list."), output("length: int32"), shape_fn = shapes::scalar_shape)]
pub struct TensorListLength;

/// What the shapes of a list's elements are compatible with: a vector, or −1 for any rank.
#[register_op(
    attr("shape_type: {int32, int64}"),
    input("input_handle: variant", "The list."),
    output("element_shape: shape_type"),
    shape_fn = element_shape_shape,
)]
pub struct TensorListElementShape;

/// A list cut, or extended by elements that are not set, to `size` elements.
#[register_op(
    input("input_handle: variant", "The list."),
    input("size: int32", "The new length, a scalar."),
    output("output_handle: variant", "The new list."),
    shape_fn = resize_shape,
)]
pub struct TensorListResize;

/// The elements of a list at `indices`, stacked along a new first dimension.
#[register_op(
    attr("element_dtype: type"),
    input("input_handle: variant", "The list."),
    input("indices: int32", "Which elements, from 0."),
    input("element_shape: int32", "The shape of elements not set, which are zeros, where the list does not say."),
    output("values: element_dtype"),
    shape_fn = gather_shape,
)]
pub struct TensorListGather;

/// A list with other elements at `indices`: the slices of `tensor` along its first dimension.
#[register_op(
    attr("element_dtype: type"),
    input("input_handle: variant", "The list."),
    input("tensor: element_dtype", "The new elements."),
    input("indices: int32", "Where they go, a vector."),
    output("output_handle: variant", "The new list."),
    shape_fn = scatter_into_shape,
)]
pub struct TensorListScatterIntoExistingList;

/// The elements of a list joined along their first dimension.
#[register_op(
    attr("element_dtype: type"),
    attr("element_shape: shape = { unknown_rank: true }", "What the shapes of all elements are compatible with."),
    input("input_handle: variant", "The list."),
    output("tensor: element_dtype"),
    output("lengths: int64", "The sizes of the elements along that dimension."),
    shape_fn = |c| concatenated(c, c.make_shape_from_partial(&c.attr("element_shape")?)),
)]
pub struct TensorListConcat;

/// The elements of a list joined along their first dimension.
#[register_op(
    attr("element_dtype: type"),
    attr("shape_type: {int32, int64}"),
    input("input_handle: variant", "The list."),
    input("element_shape: shape_type", "What all elements' shapes are compatible with: a vector, or −1 for any rank."),
    input("leading_dims: int64", "The first sizes of elements that are not set."),
    output("tensor: element_dtype"),
    output("lengths: int64", "The sizes of the elements along that dimension."),
    shape_fn = |c| concatenated(c, given(c, 1)?),
)]
pub struct TensorListConcatV2;

/// Lists with the elements of `input_a` followed by those of `input_b`.
#[register_op(
    attr("element_dtype: type"),
    input("input_a: variant", "A list, or several."),
    input("input_b: variant", "As many lists."),
    output("output: variant"),
    shape_fn = concat_lists_shape,
)]
pub struct TensorListConcatLists;

/// What is known of the one list behind input `index`: the shape and the dtype of its elements.
fn list_at(c: &InferenceContext<'_>, index: usize) -> Option<ShapeAndType> {
    match c.input_handle_shapes_and_types(index) {
        Some(&[list]) => Some(list),
        _ => None,
    }
}

/// What is known of the list behind input 0, whose elements are of `element_dtype`.
///
/// # Errors
/// INVALID_ARGUMENT if they are of another dtype, or the input holds several things.
#[track_caller]
fn list(c: &InferenceContext<'_>) -> Result<Option<ShapeHandle>> {
    let several = c.input_handle_shapes_and_types(0).is_some_and(|held| held.len() > 1);
    ensure!(!several, InvalidArgument, "Trying to read from list with wrong variant data.");
    checked_list(c)
}

/// As [`list`], for ops that take whatever is no list for one of which nothing is known.
#[track_caller]
fn checked_list(c: &InferenceContext<'_>) -> Result<Option<ShapeHandle>> {
    let Some(list) = list_at(c, 0) else { return Ok(None) };
    let dtype: DataType = c.attr("element_dtype")?;
    ensure!(
        list.dtype == Some(dtype),
        InvalidArgument,
        "Expected list with element dtype {dtype} but got list with element dtype {}",
        list.dtype.map_or("unknown", DataType::name)
    );
    Ok(Some(list.shape))
}

/// Makes output 0 a list of elements of this shape.
fn set_list(c: &InferenceContext<'_>, element_shape: ShapeHandle) -> Result<()> {
    c.set_output(0, c.scalar());
    set_elements(c, element_shape)
}

fn set_elements(c: &InferenceContext<'_>, element_shape: ShapeHandle) -> Result<()> {
    let dtype = Some(c.attr("element_dtype")?);
    c.set_output_handle_shapes_and_types(0, &[ShapeAndType { shape: element_shape, dtype }]);
    Ok(())
}

/// The shape that input `index` holds.
#[track_caller]
fn given(c: &InferenceContext<'_>, index: usize) -> Result<ShapeHandle> {
    c.make_shape_from_shape_tensor_treat_scalar_as_unknown_shape(index)
}

fn from_tensor_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let element = c.subshape(c.input(0), 1)?;
    let given = given(c, 1)?;
    c.merge(element, given)?;
    set_list(c, given)
}

fn stack_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let element = list(c)?.unwrap_or_else(|| c.unknown_shape());
    let element = c.merge(element, given(c, 1)?)?;
    let count: i64 = c.attr("num_elements")?;
    shapes::output_shape(c, c.concatenate(c.vector(count), element)?)
}

fn get_item_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let element = checked_list(c)?.unwrap_or_else(|| c.unknown_shape());
    shapes::output_shape(c, c.merge(element, given(c, 2)?)?)
}

fn set_item_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let Some(list) = list_at(c, 0) else { return set_list(c, c.unknown_shape()) };
    c.merge(c.input(2), list.shape)?;
    c.set_output(0, c.scalar());
    c.forward_handle_shapes_and_types(0, 0);
    Ok(())
}

fn push_back_batch_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let lists = c.with_rank(c.input(0), 1)?;
    let tensor = c.with_rank_at_least(c.input(1), 1)?;
    let (_, lists) = c.merge_prefix(tensor, lists)?;
    c.set_output(0, lists);
    set_elements(c, list(c)?.unwrap_or_else(|| c.unknown_shape()))
}

fn pop_back_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let element = list(c)?;
    if element.is_some() {
        c.forward_handle_shapes_and_types(0, 0);
    }
    c.set_output(0, c.scalar());
    c.set_output(1, element.unwrap_or_else(|| c.unknown_shape()));
    Ok(())
}

fn element_shape_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let rank = list_at(c, 0).and_then(|list| c.rank(list.shape));
    shapes::output_shape(c, rank.map_or_else(|| c.unknown_shape(), |rank| c.vector(rank as i64)))
}

fn resize_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(1), 0)?;
    c.set_output(0, c.scalar());
    if list_at(c, 0).is_some() {
        c.forward_handle_shapes_and_types(0, 0);
    }
    Ok(())
}

fn gather_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let element = checked_list(c)?.unwrap_or_else(|| c.unknown_shape());
    let element = c.merge(element, given(c, 2)?)?;
    // TensorFlow's kernel gathers along one dimension whatever the rank of the indices.
    if c.rank(c.input(1)) != Some(1) {
        c.set_outputs_are_promised();
    }
    shapes::output_shape(c, c.concatenate(c.input(1), element)?)
}

fn scatter_into_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank_at_least(c.input(1), 1)?;
    c.with_rank(c.input(2), 1)?;
    set_list(c, checked_list(c)?.unwrap_or_else(|| c.unknown_shape()))
}

fn split_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let tensor = c.with_rank_at_least(c.input(0), 1)?;
    c.with_rank(c.input(2), 1)?;
    let element = c.concatenate(c.vector(-1), c.subshape(tensor, 1)?)?;
    let given = given(c, 1)?;
    c.merge(element, given)?;
    set_list(c, given)
}

fn concatenated(c: &InferenceContext<'_>, mut element: ShapeHandle) -> Result<()> {
    if let Some(listed) = list(c)? {
        element = c.merge(element, listed)?;
    }
    let joined = match c.rank(element) {
        Some(_) => c.concatenate(c.vector(-1), c.subshape(element, 1)?)?,
        None => c.unknown_shape(),
    };
    c.set_output(0, joined);
    c.set_output(1, c.vector(-1));
    Ok(())
}

fn concat_lists_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.set_output(0, c.merge(c.input(0), c.input(1))?);
    let first = |index| c.input_handle_shapes_and_types(index).and_then(|held| held.first().copied());
    let (a, b) = match (first(0), first(1)) {
        (None, None) => return set_elements(c, c.unknown_shape()),
        (Some(one), None) | (None, Some(one)) => (one, one),
        (Some(a), Some(b)) => (a, b),
    };
    let dtype: DataType = c.attr("element_dtype")?;
    for (name, list) in [("input_a", a), ("input_b", b)] {
        let own = list.dtype.map_or("unknown", DataType::name);
        ensure!(list.dtype == Some(dtype), InvalidArgument, "{name}.type != element_dtype: {own} vs. {dtype}");
    }
    set_elements(c, c.merge(a.shape, b.shape)?)
}

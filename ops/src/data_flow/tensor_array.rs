//! Arrays of tensors that live as long as a run.

use kernlink::Result;
use kernlink::shape::MAX_RANK;
use kernlink::shape_inference::{InferenceContext, ShapeAndType};
use kernlink_macros::register_op;

use super::handle::reference;
use crate::shapes;

/// An array of tensors that lives as long as the run; each element is written once.
#[register_op(
    attr("dtype: type"),
    attr("element_shape: shape = { unknown_rank: true }", "What the shapes of all elements are compatible with."),
    attr("dynamic_size: bool = false", "Whether writing beyond the end makes the array longer."),
    attr("clear_after_read: bool = true", "Whether an element is forgotten once it was read."),
    attr("identical_element_shapes: bool = false", "Whether all elements have the shape of the first that is written."),
    attr("tensor_array_name: string = ''", "A name for the array; empty for that of the node."),
    input("size: int32", "The length, a scalar."),
    output("handle: resource", "The array."),
    output("flow: float", "A value to order what is done with the array."),
    stateful,
    shape_fn = array_shape,
)]
pub struct TensorArrayV3;

#[register_op(
    attr("source: string", "Whose gradients: those of the same source share the array."),
    input("handle: resource", "The array."),
    input("flow_in: float", "Orders what is done with the array."),
    output("grad_handle: resource", "The array of gradients."),
    output("flow_out: float", "Orders what is done with the array."),
    stateful,
    shape_fn = grad_shape,
)]
pub enum Gradients {
    /// The array of gradients of an array: writes add up.
    TensorArrayGradV3,
    /// The array of gradients of an array, whose elements have further dimensions in front.
    #[op(
        input("shape_to_prepend: int32", "The sizes of the further dimensions, a vector."),
        shape_fn = grad_with_shape_shape,
    )]
    TensorArrayGradWithShape,
}

#[register_op(
    attr("T: type"),
    input("handle: resource", "The array."),
    input("value: T"),
    input("flow_in: float", "Orders what is done with the array."),
    output("flow_out: float", "Orders what is done with the array."),
    stateful,
    shape_fn = write_shape,
)]
pub enum Writers {
    /// Writes an element of an array.
    #[op(input("index: int32", "Which element, a scalar from 0.", after = "handle"))]
    TensorArrayWriteV3,
    /// Writes the slices of `value` along its first dimension to elements of an array.
    #[op(input("indices: int32", "Where they go, a vector.", after = "handle"), shape_fn = scatter_shape)]
    TensorArrayScatterV3,
    /// Writes parts of `value`, cut along its first dimension, to the elements of an array.
    #[op(
        input("lengths: int64", "The sizes of the parts, one for each element.", after = "value"),
        shape_fn = split_shape,
    )]
    TensorArraySplitV3,
}

#[register_op(
    attr("dtype: type"),
    input("handle: resource", "The array."),
    input("flow_in: float", "Orders what is done with the array."),
    output("value: dtype"),
    stateful,
    shape_fn = read_shape,
)]
pub enum Readers {
    /// Reads an element of an array.
    #[op(input("index: int32", "Which element, a scalar from 0.", after = "handle"))]
    TensorArrayReadV3,
    /// Elements of an array stacked along a new first dimension.
    #[op(
        attr("element_shape: shape = { unknown_rank: true }", "What the shapes of the elements are compatible with."),
        input("indices: int32", "Which elements, a vector.", after = "handle"),
        shape_fn = gather_shape,
    )]
    TensorArrayGatherV3,
    /// All elements of an array joined along their first dimension.
    #[op(
        attr(
            "element_shape_except0: shape = { unknown_rank: true }",
            "What the shapes of the elements without that dimension are compatible with.",
        ),
        output("lengths: int64", "The sizes of the elements along that dimension."),
        shape_fn = concat_shape,
    )]
    TensorArrayConcatV3,
}

#[register_op(input("handle: resource", "The array."), stateful, shape_fn = size_shape)]
pub enum States {
    /// The number of elements of an array.
    #[op(input("flow_in: float", "Orders what is done with the array."), output("size: int32"))]
    TensorArraySizeV3,
    /// Forgets an array before the run ends.
    #[op(shape_fn = close_shape)]
    TensorArrayCloseV3,
}

/// What is known of the elements of the array behind input 0.
fn elements(c: &InferenceContext<'_>) -> Option<ShapeAndType> {
    c.input_handle_shapes_and_types(0).and_then(|held| held.first().copied())
}

/// Checks the handle at input 0 and the scalars.
#[track_caller]
pub(super) fn handle_and_scalars(c: &InferenceContext<'_>, scalars: &[usize]) -> Result<()> {
    reference(c)?;
    scalars.iter().try_for_each(|&index| c.with_rank(c.input(index), 0).map(drop))
}

fn array_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 0)?;
    c.set_output(0, c.vector(2));
    c.set_output(1, c.scalar());
    let shape = c.make_shape_from_partial(&c.attr("element_shape")?);
    if c.fully_defined(shape) || c.attr::<bool>("identical_element_shapes")? {
        let dtype = Some(c.attr("dtype")?);
        c.set_output_handle_shapes_and_types(0, &[ShapeAndType { shape, dtype }]);
    }
    Ok(())
}

fn grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    reference(c)?;
    c.set_output(0, c.vector(2));
    c.set_output(1, c.scalar());
    c.forward_handle_shapes_and_types(0, 0);
    Ok(())
}

fn grad_with_shape_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    reference(c)?;
    c.set_output(0, c.vector(2));
    c.set_output(1, c.scalar());
    if let Some(ShapeAndType { shape, dtype }) = elements(c) {
        let rank = c.rank(c.input(2)).filter(|&rank| rank > 0).and_then(|_| c.value(c.dim(c.input(2), 0)));
        let shape = match (c.rank(shape), rank.and_then(|rank| usize::try_from(rank).ok())) {
            (Some(_), Some(rank)) if rank <= MAX_RANK => c.concatenate(c.unknown_shape_of_rank(rank), shape)?,
            _ => c.unknown_shape(),
        };
        c.set_output_handle_shapes_and_types(0, &[ShapeAndType { shape, dtype }]);
    }
    Ok(())
}

fn write_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle_and_scalars(c, &[1, 3])?;
    if let Some(element) = elements(c) {
        c.merge(element.shape, c.input(2))?;
    }
    shapes::scalar_shape(c)
}

fn read_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle_and_scalars(c, &[1, 2])?;
    shapes::output_shape(c, elements(c).map_or_else(|| c.unknown_shape(), |element| element.shape))
}

fn gather_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle_and_scalars(c, &[2])?;
    let indices = c.with_rank(c.input(1), 1)?;
    let element = match elements(c) {
        Some(element) => element.shape,
        None => c.make_shape_from_partial(&c.attr("element_shape")?),
    };
    shapes::output_shape(c, c.concatenate(indices, element)?)
}

fn scatter_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle_and_scalars(c, &[3])?;
    let indices = c.with_rank(c.input(1), 1)?;
    let (value, _) = c.merge_prefix(c.input(2), indices)?;
    if let Some(element) = elements(c) {
        c.merge(element.shape, c.subshape(value, 1)?)?;
    }
    shapes::scalar_shape(c)
}

pub(super) fn concat_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle_and_scalars(c, &[1])?;
    c.set_output(0, c.unknown_shape());
    c.set_output(1, c.vector(-1));
    Ok(())
}

pub(super) fn split_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle_and_scalars(c, &[3])?;
    c.with_rank(c.input(2), 1)?;
    shapes::scalar_shape(c)
}

pub(super) fn size_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    reference(c)?;
    shapes::scalar_shape(c)
}

pub(super) fn close_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    reference(c)
}

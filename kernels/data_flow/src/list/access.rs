//! Elements of lists: read, set, pushed and popped.

use kernlink::dtype::DataType;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::shape::PartialShape;
use kernlink::tensor::scratch;
use kernlink::tensor::{Tensor, Variant};
use kernlink::{Error, Result, ensure};
use kernlink_geometry::integers::ensure_scalar;
use kernlink_kernels_common::tensors::slice;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::tensor_list::{TensorList, change_list, element_shape_at, known, list_at};

#[register_kernel(
    device = Cpu,
    op = ops::TensorListGetItem,
    element_dtype = [numbertype, bool, string, variant],
    cheap,
)]
fn tensor_list_get_item(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let list = list_at(ctx, 0)?;
    list.ensure_dtype(attrs.element_dtype)?;
    let index = ctx.input(O::INDEX)?;
    // Of this index TensorFlow's kernel takes any tensor of one element, of the others only scalars.
    let index = index.to_scalar::<i32>()?;
    let count = list.tensors.len();
    let tensor = usize::try_from(index).ok().and_then(|index| list.tensors.get(index)).ok_or_else(|| {
        Error::invalid_argument(format!("Trying to access element {index} in a list with {count} elements."))
    })?;
    let item = match tensor {
        Some(tensor) => tensor.clone(),
        None => {
            let mut shape = element_shape_at(ctx, list, 2)?;
            if shape.to_shape().is_none() {
                shape = list.merge_set(shape, &list.tensors)?;
            }
            Tensor::zeros(attrs.element_dtype, known(&shape, "Trying to read an uninitialized tensor")?)?
        }
    };
    ctx.set_output(O::ITEM, item)
}

#[register_kernel(device = Cpu, op = ops::TensorListSetItem, cheap)]
fn tensor_list_set_item(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let index = ctx.input(O::INDEX)?;
    ensure_scalar(index, "index")?;
    let index = index.to_scalar::<i32>()?;
    let item = ctx.input(O::ITEM)?.clone();
    change_list(ctx, |list| {
        list.ensure_dtype(attrs.element_dtype)?;
        let count = list.tensors.len();
        let at = usize::try_from(index)
            .ok()
            .filter(|&at| attrs.resize_if_index_out_of_bounds || at < count)
            .ok_or_else(|| {
                Error::invalid_argument(format!("Trying to modify element {index} in a list with {count} elements."))
            })?;
        ensure_fits(list, &item)?;
        list.extend_unset((at + 1).saturating_sub(count))?;
        list.tensors[at] = Some(item);
        Ok(())
    })
}

fn ensure_fits(list: &TensorList, item: &Tensor) -> Result<()> {
    ensure!(
        list.element_shape.accepts(item.shape()),
        InvalidArgument,
        "Tried to add a tensor with incompatible shape to a list. Item element shape: {} list shape: {}",
        item.shape(),
        list.element_shape
    );
    Ok(())
}

fn push(list: &mut TensorList, item: Tensor, element_dtype: DataType) -> Result<()> {
    ensure_fits(list, &item)?;
    list.ensure_dtype(element_dtype)?;
    let count = list.tensors.len();
    ensure!(
        list.max_num_elements.is_none_or(|max| count < max),
        InvalidArgument,
        "Tried to push item into a full list list size: {count} max_num_elements: {}",
        list.max_num_elements.unwrap_or_default()
    );
    scratch::push(&mut list.tensors, Some(item))
}

#[register_kernel(device = Cpu, op = ops::TensorListPushBack, cheap)]
fn tensor_list_push_back(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let item = ctx.input(O::TENSOR)?.clone();
    change_list(ctx, |list| push(list, item, attrs.element_dtype))
}

#[register_kernel(device = Cpu, op = ops::TensorListPushBackBatch, element_dtype = [numbertype, bool, string, variant])]
fn tensor_list_push_back_batch(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let tensor = ctx.input(O::TENSOR)?.clone();
    let handles = ctx.take_input(O::INPUT_HANDLES)?;
    ensure!(
        tensor.rank() > 0,
        InvalidArgument,
        "Expected tensor to be at least a vector, but got shape: {}",
        tensor.shape()
    );
    ensure!(
        handles.rank() == 1 && handles.shape()[0] == tensor.shape()[0],
        InvalidArgument,
        "Expected tensor.shape[0] == input_handles.size, but saw {} and {}",
        tensor.shape(),
        handles.shape()
    );
    let mut lists = scratch::room(handles.num_elements())?;
    for (row, variant) in handles.as_slice::<Variant>()?.iter().enumerate() {
        let not_a_list =
            || Error::invalid_argument(format!("Input handle[{row}] is not a list. Saw: '{}'", variant.type_name()));
        let mut list = variant.get::<TensorList>().ok_or_else(not_a_list)?.copied()?;
        push(&mut list, slice(&tensor, row)?, attrs.element_dtype)?;
        lists.push(Variant::new(list));
    }
    ctx.set_output(O::OUTPUT_HANDLES, Tensor::vector(&lists)?)
}

#[register_kernel(
    device = Cpu,
    op = ops::TensorListPopBack,
    element_dtype = [numbertype, bool, string, variant],
    cheap,
)]
fn tensor_list_pop_back(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let list = list_at(ctx, 0)?;
    list.ensure_dtype(attrs.element_dtype)?;
    let tensor = match list.tensors.last() {
        None => kernlink::bail!(InvalidArgument, "Trying to pop from an empty list."),
        Some(Some(tensor)) => tensor.clone(),
        Some(None) => {
            let mut shape = element_shape_at(ctx, list, 1)?;
            if shape.to_shape().is_none() {
                shape = list.merge_set(shape, &list.tensors)?;
            }
            Tensor::zeros(attrs.element_dtype, known(&shape, "Trying to read an uninitialized tensor")?)?
        }
    };
    change_list(ctx, |list| {
        list.tensors.pop();
        Ok(())
    })?;
    ctx.set_output(O::TENSOR, tensor)
}

#[register_kernel(device = Cpu, cheap)]
fn length(ctx: &mut KernelContext<'_, ops::TensorListLength>) -> Result<()> {
    let length = list_at(ctx, 0)?.tensors.len() as i32;
    ctx.set_output(ops::TensorListLength::LENGTH, Tensor::from(length))
}

/// The sizes of a shape, −1 for those that are not known; −1 for an unknown rank.
fn sizes(shape: &PartialShape) -> (Vec<usize>, Vec<i64>) {
    match shape.dims() {
        None => (vec![], vec![-1]),
        Some(dims) => (vec![dims.len()], dims.iter().map(|dim| dim.map_or(-1, |dim| dim as i64)).collect()),
    }
}

#[register_kernel(device = Cpu, cheap)]
fn element_shape(ctx: &mut KernelContext<'_, ops::TensorListElementShape>) -> Result<()> {
    let (shape, sizes) = sizes(&list_at(ctx, 0)?.element_shape);
    let tensor = match ctx.output_dtype_at(0)? {
        DataType::Int64 => Tensor::from_elements(shape, &sizes)?,
        _ => Tensor::from_elements(shape, &sizes.iter().map(|&size| size as i32).collect::<Vec<_>>())?,
    };
    ctx.set_output(ops::TensorListElementShape::ELEMENT_SHAPE, tensor)
}

#[register_kernel(device = Cpu)]
fn resize(ctx: &mut KernelContext<'_, ops::TensorListResize>) -> Result<()> {
    let size = ctx.input(ops::TensorListResize::SIZE)?;
    ensure!(size.rank() == 0, InvalidArgument, "size must be a scalar");
    let size = size.to_scalar::<i32>()?;
    ensure!(size >= 0, InvalidArgument, "TensorListSlice expects size to be non-negative. Got: {size}");
    change_list(ctx, |list| {
        let size = size as usize;
        list.tensors.truncate(size);
        list.extend_unset(size - list.tensors.len())
    })
}

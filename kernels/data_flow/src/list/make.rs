//! Lists made from nothing, and from tensors.

use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_geometry::integers::ensure_scalar;
use kernlink_kernels_common::tensors::slice;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::tensor_list::{TensorList, change_list, partial_shape};

#[register_kernel(device = Cpu, op = ops::EmptyTensorList)]
fn empty_tensor_list(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let max = ctx.input(O::MAX_NUM_ELEMENTS)?;
    ensure_scalar(max, "max_num_elements")?;
    let max = max.to_scalar::<i32>()?;
    let mut list = TensorList::new(attrs.element_dtype, partial_shape(ctx.input(O::ELEMENT_SHAPE)?)?);
    // Any negative number stands for no limit, as TensorFlow compares it without its sign.
    list.max_num_elements = usize::try_from(max).ok();
    ctx.set_output(O::HANDLE, list.into_tensor())
}

#[register_kernel(device = Cpu, op = ops::TensorListReserve)]
fn tensor_list_reserve(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let shape = partial_shape(ctx.input(O::ELEMENT_SHAPE)?)?;
    let count = ctx.input(O::NUM_ELEMENTS)?;
    ensure!(
        count.rank() == 0,
        InvalidArgument,
        "The num_elements argument must be a scalar, but got shape {}",
        count.shape()
    );
    let count = count.to_scalar::<i32>()?;
    ensure!(count >= 0, InvalidArgument, "The num_elements to reserve must be a non negative number, got {count}");
    let mut list = TensorList::new(attrs.element_dtype, shape);
    list.extend_unset(count as usize)?;
    ctx.set_output(O::HANDLE, list.into_tensor())
}

/// Checks that the slices of a tensor along its first dimension may be elements of a list.
fn ensure_elements(tensor: &Tensor, shape: &PartialShape) -> Result<()> {
    ensure!(tensor.rank() > 0, InvalidArgument, "Tensor must be at least a vector, but saw shape: {}", tensor.shape());
    let element = PartialShape::from_known(tensor.shape()[1..].iter().map(|&dim| Some(dim)));
    ensure!(
        shape.is_compatible(&element),
        InvalidArgument,
        "Specified a list with shape {shape} from a tensor with shape {element}"
    );
    Ok(())
}

#[register_kernel(device = Cpu, element_dtype = [numbertype, bool, string, variant])]
fn tensor_list_from_tensor(ctx: &mut KernelContext<'_, ops::TensorListFromTensor>) -> Result<()> {
    let shape = partial_shape(ctx.input(ops::TensorListFromTensor::ELEMENT_SHAPE)?)?;
    let tensor = ctx.input(ops::TensorListFromTensor::TENSOR)?;
    ensure_elements(tensor, &shape)?;
    let mut list = TensorList::new(tensor.dtype(), shape);
    list.tensors = scratch::collected_ok((0..tensor.shape()[0]).map(|row| slice(tensor, row).map(Some)))?;
    ctx.set_output(ops::TensorListFromTensor::OUTPUT_HANDLE, list.into_tensor())
}

#[register_kernel(device = Cpu, element_dtype = [numbertype, bool, string, variant])]
fn tensor_list_split(ctx: &mut KernelContext<'_, ops::TensorListSplit>) -> Result<()> {
    let shape = partial_shape(ctx.input(ops::TensorListSplit::ELEMENT_SHAPE)?)?;
    ensure!(
        shape.rank() != Some(0),
        InvalidArgument,
        "TensorListSplit requires element_shape to be at least of rank 1, but saw: {shape}"
    );
    let tensor = ctx.input(ops::TensorListSplit::TENSOR)?;
    ensure!(tensor.rank() > 0, InvalidArgument, "Tensor must be at least a vector, but saw shape: {}", tensor.shape());
    let inner = tensor.shape()[1..].iter().map(|&dim| Some(dim));
    let any_length = PartialShape::from_known(std::iter::once(None).chain(inner));
    ensure!(
        shape.is_compatible(&any_length),
        InvalidArgument,
        "tensor shape {} is not compatible with element_shape {shape}",
        tensor.shape()
    );
    let lengths = ctx.input(ops::TensorListSplit::LENGTHS)?;
    ensure!(
        lengths.rank() == 1,
        InvalidArgument,
        "Expected lengths to be a vector, received shape: {}",
        lengths.shape()
    );
    let (rows, mut start) = (tensor.shape()[0], 0);
    let mut list = TensorList::new(tensor.dtype(), shape);
    for &length in lengths.as_slice::<i64>()? {
        ensure!(length >= 0, InvalidArgument, "Invalid value in lengths: {length}");
        let length = length as usize;
        ensure!(
            length <= rows - start,
            InvalidArgument,
            "Attempting to slice {length} rows from {start} on from tensor with length {rows}"
        );
        list.tensors.push(Some(tensor.slice_rows(start, start + length)?));
        start += length;
    }
    ensure!(start == rows, InvalidArgument, "Unused values in tensor. Length of tensor: {rows} Values used: {start}");
    ctx.set_output(ops::TensorListSplit::OUTPUT_HANDLE, list.into_tensor())
}

/// Checks what is scattered, and returns where each row goes.
fn scattered(tensor: &Tensor, indices: &Tensor) -> Result<Vec<usize>> {
    ensure!(tensor.rank() > 0, InvalidArgument, "Tensor must be at least a vector, but saw shape: {}", tensor.shape());
    ensure!(
        indices.num_elements() == tensor.shape()[0],
        InvalidArgument,
        "Invalid number of rows in input tensor. Expected: {} Actual: {}",
        indices.num_elements(),
        tensor.shape()[0]
    );
    let valid = |&index: &i32| {
        ensure!(index >= 0, InvalidArgument, "Indices in TensorListScatter must all be non-negative.");
        Ok(index as usize)
    };
    scratch::collected_ok(indices.as_slice::<i32>()?.iter().map(valid))
}

fn scatter(list: &mut TensorList, tensor: &Tensor, indices: &[usize]) -> Result<()> {
    indices.iter().enumerate().try_for_each(|(row, &index)| {
        list.tensors[index] = Some(slice(tensor, row)?);
        Ok(())
    })
}

/// TensorListScatter, and TensorListScatterV2 with its fourth input.
#[register_kernel(
    device = Cpu,
    op = [ops::TensorListScatter, ops::TensorListScatterV2],
    element_dtype = [numbertype, bool, string, variant],
)]
fn scatter_list(ctx: &mut RawContext<'_>) -> Result<()> {
    let shape = partial_shape(ctx.input_at(2)?)?;
    let (tensor, indices) = (ctx.input_at(0)?, ctx.input_at(1)?);
    let indices = scattered(tensor, indices)?;
    ensure_elements(tensor, &shape)?;
    let needed = indices.iter().max().map_or(0, |&highest| highest + 1);
    let count = match ctx.num_inputs() {
        0..=3 => needed,
        _ => {
            let count = ctx.input_at(3)?;
            ensure_scalar(count, "num_elements")?;
            match count.to_scalar::<i32>()? {
                -1 => needed,
                count => {
                    ensure!(
                        count >= 0,
                        InvalidArgument,
                        "TensorListScatter expects num_elements >= -1, found: {count}"
                    );
                    ensure!(
                        needed <= count as usize,
                        InvalidArgument,
                        "TensorListScatter: Trying to scatter at index {} in list with size {count}",
                        needed.saturating_sub(1)
                    );
                    count as usize
                }
            }
        }
    };
    let mut list = TensorList::new(tensor.dtype(), shape);
    list.extend_unset(count)?;
    scatter(&mut list, tensor, &indices)?;
    ctx.set_output_at(0, list.into_tensor())
}

#[register_kernel(device = Cpu, element_dtype = [numbertype, bool, string, variant])]
fn tensor_list_scatter_into_existing_list(
    attrs: &Attrs<ops::TensorListScatterIntoExistingList>,
    ctx: &mut KernelContext<'_, ops::TensorListScatterIntoExistingList>,
) -> Result<()> {
    type Op = ops::TensorListScatterIntoExistingList;
    let (tensor, indices) = (ctx.input(Op::TENSOR)?.clone(), ctx.input(Op::INDICES)?.clone());
    ensure!(
        indices.rank() == 1,
        InvalidArgument,
        "Expected indices to be a vector, but received shape: {}",
        indices.shape()
    );
    let indices = scattered(&tensor, &indices)?;
    change_list(ctx, |list| {
        list.ensure_dtype(attrs.element_dtype)?;
        let needed = indices.iter().max().map_or(0, |&highest| highest + 1);
        list.extend_unset(needed.saturating_sub(list.tensors.len()))?;
        scatter(list, &tensor, &indices)
    })
}

//! The kernels of arrays of tensors, in all their forms.

use std::sync::Arc;

use kernlink::attr::AttrValue;
use kernlink::dtype::{DataType, TString};
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::scratch;
use kernlink::tensor::{Tensor, TensorRef};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::tensors::{copy_elements, slice};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::tensor_array::{Spec, TensorArray};

/// Sets output 0 to what names an array: a handle that owns it, or container and name of an array that goes with the
/// step.
fn set_array(ctx: &mut RawContext<'_>, array: Arc<TensorArray>) -> Result<()> {
    if ctx.output_dtype_at(0)? == DataType::Resource {
        let handle = ctx.resources()?.make_owned_handle(ctx.device_name(), array);
        return ctx.set_output_at(0, Tensor::scalar(handle));
    }
    let container = ctx.step()?.container();
    let names = Tensor::vector(&[TString::from(&*container), TString::from(&*array.name)])?;
    match ctx.resources()?.create(&container, &array.name.clone(), array) {
        Err(error) if error.code() != kernlink::error::Code::AlreadyExists => return Err(error),
        _ => {}
    }
    if !ctx.signature().outputs[0].is_ref {
        return ctx.set_output_at(0, names);
    }
    let reference = TensorRef::new(DataType::String);
    reference.set(names)?;
    ctx.set_output_reference_at(0, reference)
}

/// Sets output 1, if there is one, to a value that orders what is done with an array.
fn set_flow(ctx: &mut RawContext<'_>, flow: f32) -> Result<()> {
    if ctx.num_outputs() > 1 { ctx.set_output_at(1, Tensor::from(flow)) } else { Ok(()) }
}

#[register_kernel(
    device = Cpu,
    op = [ops::TensorArray, ops::TensorArrayV2, ops::TensorArrayV3],
    state = |ctx| {
        let attrs = ctx.attrs();
        let spec = Spec {
            dtype: attrs.dtype,
            element_shape: attrs.element_shape.clone(),
            dynamic_size: attrs.dynamic_size,
            clear_after_read: attrs.clear_after_read,
            // The first versions lack it.
            identical_shapes: matches!(ctx.attrs.get("identical_element_shapes"), Some(AttrValue::Bool(true))),
        };
        Ok((attrs.tensor_array_name.clone(), spec))
    },
    cheap,
)]
fn tensor_array((name, spec): &(String, Spec), ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let size = ctx.input_at(0)?;
    ensure!(size.rank() == 0, InvalidArgument, "TensorArray size must be scalar, but had shape: {}", size.shape());
    let size = size.to_scalar::<i32>()?;
    let name = if name.is_empty() { ctx.node() } else { name };
    let array = TensorArray::new(name, spec, size)?;
    set_array(ctx, Arc::new(array))?;
    set_flow(ctx, 0.0)
}

#[register_kernel(
    device = Cpu,
    op = [
        ops::TensorArrayGrad, ops::TensorArrayGradV2, ops::TensorArrayGradV3, ops::TensorArrayGradWithShape,
    ],
    cheap,
)]
fn grad_kernel(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let array = ctx.resource_at::<TensorArray>(0)?;
    let front = match ctx.num_inputs() {
        0..=2 => None,
        _ => {
            let sizes = ctx.input_at(2)?;
            ensure!(sizes.rank() == 1, InvalidArgument, "shape_to_prepend must be a vector: {}", sizes.shape());
            Some(Shape::from_dims(&sizes.to_i64_vec()?)?)
        }
    };
    let grad = array.gradient(&attrs.source, front.as_deref())?;
    set_array(ctx, grad)?;
    if ctx.num_outputs() > 1 {
        let flow = ctx.take_input_at(1)?;
        ctx.set_output_at(1, flow)?;
    }
    Ok(())
}

fn index_at(ctx: &RawContext<'_>, input: usize) -> Result<i32> {
    let index = ctx.input_at(input)?;
    ensure!(index.rank() == 0, InvalidArgument, "TensorArray index must be scalar, but had shape: {}", index.shape());
    index.to_scalar::<i32>()
}

/// Hands the last input, which orders what is done with an array, on.
fn pass_flow(ctx: &mut RawContext<'_>) -> Result<()> {
    let flow = ctx.take_input_at(ctx.num_inputs() - 1)?;
    ctx.set_output_at(0, flow)
}

#[register_kernel(
    device = Cpu,
    op = [ops::TensorArrayWrite, ops::TensorArrayWriteV2, ops::TensorArrayWriteV3],
    cheap,
    T = [realnumbertype, bool, complex128, complex64, resource, string, variant],
)]
fn write(ctx: &mut RawContext<'_>) -> Result<()> {
    let index = index_at(ctx, 1)?;
    let array = ctx.resource_at::<TensorArray>(0)?;
    let value = ctx.take_input_at(2)?;
    array.ensure_dtype(value.dtype(), "is trying to write")?;
    array.write([(index, value)])?;
    pass_flow(ctx)
}

#[register_kernel(
    device = Cpu,
    op = [ops::TensorArrayRead, ops::TensorArrayReadV2, ops::TensorArrayReadV3],
    cheap,
    dtype = [realnumbertype, bool, complex128, complex64, resource, string, variant],
)]
fn read(ctx: &mut RawContext<'_>) -> Result<()> {
    let index = index_at(ctx, 1)?;
    let array = ctx.resource_at::<TensorArray>(0)?;
    array.ensure_dtype(ctx.output_dtype_at(0)?, "requested")?;
    let value = array.read([index])?.pop().ok_or_else(|| Error::internal("one element was read"))?;
    ctx.set_output_at(0, value)
}

#[register_kernel(
    device = Cpu,
    op = [ops::TensorArrayScatter, ops::TensorArrayScatterV2, ops::TensorArrayScatterV3],
    cheap,
    T = [realnumbertype, bool, complex128, complex64, resource, string, variant],
)]
fn scatter(ctx: &mut RawContext<'_>) -> Result<()> {
    let array = ctx.resource_at::<TensorArray>(0)?;
    let (indices, value) = (ctx.input_at(1)?, ctx.input_at(2)?);
    ensure!(
        indices.rank() == 1,
        InvalidArgument,
        "Expected indices to be a vector, but received shape: {}",
        indices.shape()
    );
    unpack(&array, indices.as_slice::<i32>()?, value)?;
    pass_flow(ctx)
}

#[register_kernel(
    device = Cpu,
    op = ops::TensorArrayUnpack,
    cheap,
    T = [realnumbertype, bool, complex128, complex64, resource, string, variant],
)]
fn unpack_all(ctx: &mut RawContext<'_>) -> Result<()> {
    let array = ctx.resource_at::<TensorArray>(0)?;
    let value = ctx.input_at(1)?;
    let rows = value.shape().first().copied().unwrap_or(0);
    let size = array.size()?;
    ensure!(
        value.rank() == 0 || rows == size || (array.is_dynamic() && rows > size),
        InvalidArgument,
        "Input value must have first dimension equal to the array size ({rows} vs. {size})"
    );
    unpack(&array, &scratch::collected(0..rows as i32)?, value)?;
    pass_flow(ctx)
}

/// Writes the slices of `value` to the elements at `indices`.
fn unpack(array: &TensorArray, indices: &[i32], value: &Tensor) -> Result<()> {
    array.ensure_dtype(value.dtype(), "is trying to write")?;
    ensure!(
        value.rank() > 0,
        InvalidArgument,
        "Input value for unpack must be at least a vector but received shape: {}",
        value.shape()
    );
    ensure!(
        value.shape()[0] == indices.len(),
        InvalidArgument,
        "Expected len(indices) == values.shape[0], but saw: {} vs. {}",
        indices.len(),
        value.shape()[0]
    );
    let mut size = array.size()?;
    if array.is_dynamic() {
        size = size.max(indices.iter().max().map_or(0, |&highest| usize::try_from(highest).map_or(0, |at| at + 1)));
    }
    array.mark_size(size);
    let slices = scratch::collected_ok((0..indices.len()).map(|row| slice(value, row)))?;
    // Of several writes to an element the last index wins the error, as in TensorFlow.
    array.write(indices.iter().copied().zip(slices).rev())
}

#[register_kernel(
    device = Cpu,
    op = [ops::TensorArraySplit, ops::TensorArraySplitV2, ops::TensorArraySplitV3],
    cheap,
    T = [realnumbertype, bool, complex128, complex64, resource, string, variant],
)]
fn split(ctx: &mut RawContext<'_>) -> Result<()> {
    let array = ctx.resource_at::<TensorArray>(0)?;
    let (value, lengths) = (ctx.input_at(1)?, ctx.input_at(2)?);
    ensure!(
        lengths.rank() == 1,
        InvalidArgument,
        "Expected lengths to be a vector, received shape: {}",
        lengths.shape()
    );
    ensure!(
        value.rank() > 0,
        InvalidArgument,
        "Expected value to be at least a vector, but received shape: {}",
        value.shape()
    );
    array.ensure_dtype(value.dtype(), "is trying to write")?;
    let lengths = lengths.as_slice::<i64>()?;
    let mut parts = scratch::room(lengths.len())?;
    let (rows, mut start) = (value.shape()[0], 0usize);
    for (index, &length) in lengths.iter().enumerate() {
        let end = usize::try_from(length).ok().and_then(|length| start.checked_add(length));
        let Some(end) = end.filter(|&end| end <= rows) else {
            bail!(
                InvalidArgument,
                "Expected sum of lengths to be equal to values.shape[0], but length {index} is {length} and value's \
                 shape is: {}",
                value.shape()
            );
        };
        parts.push((index as i32, value.slice_rows(start, end)?));
        start = end;
    }
    ensure!(
        start == rows,
        InvalidArgument,
        "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {start} and value's shape is: {}",
        value.shape()
    );
    let size = array.size()?;
    ensure!(
        parts.len() == size || (array.is_dynamic() && parts.len() > size),
        InvalidArgument,
        "TensorArray's size is not equal to the size of lengths ({size} vs. {}), and the TensorArray is not marked as \
         dynamically resizeable",
        parts.len()
    );
    array.mark_size(parts.len());
    array.write(parts.into_iter().rev())?;
    pass_flow(ctx)
}

#[register_kernel(device = Cpu, op = [ops::TensorArraySize, ops::TensorArraySizeV2, ops::TensorArraySizeV3], cheap)]
fn size(ctx: &mut RawContext<'_>) -> Result<()> {
    let size = ctx.resource_at::<TensorArray>(0)?.size()? as i32;
    ctx.set_output_at(0, Tensor::from(size))
}

#[register_kernel(device = Cpu, op = [ops::TensorArrayClose, ops::TensorArrayCloseV2, ops::TensorArrayCloseV3], cheap)]
fn close(ctx: &mut RawContext<'_>) -> Result<()> {
    ctx.resource_at::<TensorArray>(0)?.close();
    Ok(())
}

/// Packs elements along a new first dimension.
#[register_kernel(
    device = Cpu,
    op = [ops::TensorArrayPack, ops::TensorArrayGather, ops::TensorArrayGatherV2, ops::TensorArrayGatherV3],
    dtype = [realnumbertype, bool, complex128, complex64, qint32, qint8, quint8, string, variant],
)]
fn gather(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let array = ctx.resource_at::<TensorArray>(0)?;
    let dtype = ctx.output_dtype_at(0)?;
    array.ensure_dtype(dtype, "requested")?;
    array.merge_element_shape(&attrs.element_shape)?;
    let indices: Vec<i32> = if ctx.num_inputs() > 2 {
        let indices = ctx.input_at(1)?;
        ensure!(
            indices.rank() == 1,
            InvalidArgument,
            "Expected indices to be a vector, but received shape: {}",
            indices.shape()
        );
        scratch::copied(indices.as_slice::<i32>()?)?
    } else {
        scratch::collected(0..array.packed_size()? as i32)?
    };
    let values = array.read(indices)?;
    let Some(first) = values.first() else {
        let Some(mut shape) = attrs.element_shape.to_shape() else {
            bail!(
                Unimplemented,
                "TensorArray has size zero, but element shape {} is not fully defined. Currently only static \
                 shapes are supported when packing zero-size TensorArrays.",
                attrs.element_shape
            );
        };
        shape.insert(0, 0);
        shape.check()?;
        return ctx.set_output_at(0, Tensor::zeros(dtype, shape)?);
    };
    let element = first.shape().clone();
    ensure!(
        attrs.element_shape.accepts(&element),
        InvalidArgument,
        "TensorArray was passed element_shape {} which does not match the Tensor at index 0: {element}",
        attrs.element_shape
    );
    for (index, value) in values.iter().enumerate() {
        ensure!(
            *value.shape() == element,
            InvalidArgument,
            "TensorArray has inconsistent shapes.  Index 0 has shape: {element} but index {index} has shape: {}",
            value.shape()
        );
    }
    let mut shape = element;
    shape.insert(0, values.len());
    let output = join(ctx, shape, values)?;
    ctx.set_output_at(0, output)
}

/// A tensor of this shape with the elements of all values one behind the other.
fn join(ctx: &RawContext<'_>, shape: Shape, values: Vec<Tensor>) -> Result<Tensor> {
    if let [only] = &values[..] {
        return only.clone().reshaped(shape);
    }
    let mut output = ctx.allocate_output_at(0, shape)?;
    let mut at = 0;
    for value in &values {
        copy_elements(&mut output, at, value)?;
        at += value.num_elements();
    }
    Ok(output)
}

/// Joins all elements along their first dimension.
#[register_kernel(
    device = Cpu,
    op = [ops::TensorArrayConcat, ops::TensorArrayConcatV2, ops::TensorArrayConcatV3],
    dtype = [realnumbertype, bool, complex128, complex64, qint32, qint8, quint8, string],
)]
fn concat(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let array = ctx.resource_at::<TensorArray>(0)?;
    let dtype = ctx.output_dtype_at(0)?;
    array.ensure_dtype(dtype, "requested")?;
    let count = array.packed_size()?;
    if count == 0 {
        let Some(mut shape) = attrs.element_shape_except0.to_shape() else {
            bail!(
                Unimplemented,
                "TensorArray has size zero, but element_shape_except0 {} is not fully defined. Currently only \
                 static shapes are supported when concatenating zero-size TensorArrays.",
                attrs.element_shape_except0
            );
        };
        shape.insert(0, 0);
        shape.check()?;
        ctx.set_output_at(0, Tensor::zeros(dtype, shape)?)?;
        return ctx.set_output_at(1, Tensor::zeros(DataType::Int64, [0])?);
    }
    let values = array.read(0..count as i32)?;
    let mut lengths = scratch::room(count)?;
    let mut inner: Option<Shape> = None;
    for (index, value) in values.iter().enumerate() {
        ensure!(
            value.rank() > 0,
            InvalidArgument,
            "Concat saw a scalar shape at index {index} but requires at least vectors.  Did you mean to call pack?"
        );
        lengths.push(value.shape()[0] as i64);
        let own = Shape::from(&value.shape()[1..]);
        ensure!(
            attrs.element_shape_except0.accepts(&own),
            InvalidArgument,
            "TensorArray was passed element_shape_except0 {} but index {index} has (excepting dimension 0) shape: \
             {own} which does not match.",
            attrs.element_shape_except0
        );
        let first = inner.get_or_insert_with(|| own.clone());
        ensure!(
            *first == own,
            InvalidArgument,
            "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: {first} but index \
             {index} has (excepting dimension 0) shape: {own}"
        );
    }
    let mut shape = inner.unwrap_or_else(Shape::scalar);
    shape.insert(0, lengths.iter().sum::<i64>() as usize);
    let output = join(ctx, shape, values)?;
    ctx.set_output_at(0, output)?;
    ctx.set_output_at(1, Tensor::vector(&lengths)?)
}

//! Elements of lists joined: stacked, gathered, concatenated; and lists joined.

use kernlink::dtype::DataType;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::shape::{PartialShape, Shape};
use kernlink::tensor::scratch;
use kernlink::tensor::{Tensor, Variant};
use kernlink::{Error, Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::rows::join;
use super::tensor_list::{TensorList, element_shape_at, list_at};

/// Elements stacked along a new first dimension.
fn stack(ctx: &RawContext<'_>, list: &TensorList, elements: &[&Option<Tensor>], shape: PartialShape) -> Result<Tensor> {
    ensure!(
        shape.to_shape().is_some() || !elements.is_empty(),
        InvalidArgument,
        "Tried to stack elements of an empty list with non-fully-defined element_shape: {shape}"
    );
    let shape = list.merge_set(shape, elements.iter().copied())?;
    let Some(element) = shape.to_shape() else {
        kernlink::bail!(
            InvalidArgument,
            "Tried to stack list which only contains uninitialized tensors and has a non-fully-defined element_shape: \
             {shape}"
        );
    };
    for tensor in elements.iter().copied().flatten() {
        ensure!(
            *tensor.shape() == element,
            InvalidArgument,
            "Tried to stack a tensor of shape {} where element_shape is {element}",
            tensor.shape()
        );
    }
    element.check()?;
    let count = element.num_elements();
    let mut whole = element;
    whole.insert(0, elements.len());
    join(ctx, list.element_dtype, whole, elements.iter().map(|tensor| (tensor.as_ref(), count)))
}

#[register_kernel(device = Cpu, op = ops::TensorListStack, element_dtype = [numbertype, bool, string, variant])]
fn tensor_list_stack(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let list = list_at(ctx, 0)?;
    list.ensure_dtype(attrs.element_dtype)?;
    let (count, wanted) = (list.tensors.len(), attrs.num_elements);
    ensure!(
        wanted == -1 || count as i64 == wanted,
        InvalidArgument,
        "Operation expected a list with {wanted} elements but got a list with {count} elements."
    );
    let shape = element_shape_at(ctx, list, 1)?;
    let elements: Vec<&Option<Tensor>> = scratch::collected(&list.tensors)?;
    let output = stack(ctx, list, &elements, shape)?;
    ctx.set_output(O::TENSOR, output)
}

#[register_kernel(device = Cpu, op = ops::TensorListGather, element_dtype = [numbertype, bool, string, variant])]
fn tensor_list_gather(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let list = list_at(ctx, 0)?;
    list.ensure_dtype(attrs.element_dtype)?;
    let shape = element_shape_at(ctx, list, 2)?;
    let element = |&index: &i32| {
        let tensor = usize::try_from(index).ok().and_then(|index| list.tensors.get(index));
        let count = list.tensors.len();
        tensor.ok_or_else(|| {
            Error::invalid_argument(format!("Trying to gather element {index} in a list with {count} elements."))
        })
    };
    let indices = ctx.input(O::INDICES)?.as_slice::<i32>()?;
    let elements = scratch::collected_ok(indices.iter().map(element))?;
    let output = stack(ctx, list, &elements, shape)?;
    ctx.set_output(O::VALUES, output)
}

/// Sets the outputs to the elements joined along their first dimension, and to their sizes there. `given` is what is
/// known of the elements' shapes besides what they say themselves.
fn concatenate(ctx: &mut RawContext<'_>, element_dtype: DataType, given: Option<&PartialShape>) -> Result<()> {
    let list = list_at(ctx, 0)?;
    list.ensure_dtype(element_dtype)?;
    let given = match given {
        Some(attr) => attr.clone(),
        None => element_shape_at(ctx, list, 1)?,
    };
    ensure!(
        given.rank() != Some(0),
        InvalidArgument,
        "Concat requires elements to be at least vectors, found scalars instead."
    );
    let mut first = match given.dims() {
        Some(dims) if ctx.num_inputs() > 1 => dims[0],
        _ => None,
    };
    let mut inner =
        given.dims().map_or_else(PartialShape::unknown, |dims| PartialShape::from_known(dims[1..].to_vec()));
    ensure!(
        !list.tensors.is_empty() || inner.to_shape().is_some(),
        InvalidArgument,
        "All except the first dimension must be fully defined when concating an empty tensor list. element_shape: \
         {inner}"
    );
    let mut firsts = Vec::new();
    for (index, tensor) in list.tensors.iter().enumerate() {
        let Some(tensor) = tensor else { continue };
        ensure!(
            tensor.rank() > 0,
            InvalidArgument,
            "Concat saw a scalar shape at index {index} but requires at least vectors."
        );
        inner = inner.merge(&PartialShape::from_known(tensor.shape()[1..].iter().map(|&dim| Some(dim))))?;
        let size = tensor.shape()[0];
        ensure!(
            first.is_none_or(|first| first == size),
            InvalidArgument,
            "First entry of element_shape input does not match the first dim of list element at index: {index} \
             Expected: {} Actual: {size}",
            first.unwrap_or_default()
        );
        firsts.push(size);
    }
    if first.is_none() && firsts.windows(2).all(|pair| pair[0] == pair[1]) {
        first = firsts.first().copied();
    }
    let Some(mut shape) = inner.to_shape() else {
        kernlink::bail!(
            InvalidArgument,
            "Trying to concat list with only uninitialized tensors but element_shape_except_first_dim_ is not fully \
             defined: {inner}"
        );
    };
    shape.check()?;
    let leading = if ctx.num_inputs() > 2 { ctx.input_at(2)?.as_slice::<i64>()? } else { &[] };
    let size_of = |(index, tensor): (usize, &Option<Tensor>)| {
        if let Some(tensor) = tensor {
            return Ok(tensor.shape()[0]);
        }
        if let Some(first) = first.filter(|_| index >= leading.len()) {
            return Ok(first);
        }
        ensure!(
            ctx.num_inputs() > 2,
            InvalidArgument,
            "Concating lists with uninitialized tensors is not supported in this version of TensorListConcat. \
             Consider updating your GraphDef to run the newer version."
        );
        let missing = || {
            let count = leading.len();
            Error::invalid_argument(format!(
                "List contains uninitialized tensor at index {index} but leading_dims has only {count} elements."
            ))
        };
        let size = *leading.get(index).ok_or_else(missing)?;
        usize::try_from(size).map_err(|_| Error::invalid_argument(format!("leading_dims[{index}] is {size}, below 0")))
    };
    let sizes = scratch::collected_ok(list.tensors.iter().enumerate().map(size_of))?;
    let row = shape.num_elements();
    let total = sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size));
    shape.insert(0, total.unwrap_or(usize::MAX));
    shape.check()?;
    let parts = list.tensors.iter().zip(&sizes).map(|(tensor, size)| (tensor.as_ref(), size * row));
    let output = join(ctx, element_dtype, shape, parts)?;
    let lengths: Vec<i64> = scratch::collected(sizes.iter().map(|&size| size as i64))?;
    ctx.set_output_at(0, output)?;
    ctx.set_output_at(1, Tensor::vector(&lengths)?)
}

#[register_kernel(device = Cpu, element_dtype = [numbertype, bool, string, variant])]
fn tensor_list_concat(
    attrs: &Attrs<ops::TensorListConcat>,
    ctx: &mut KernelContext<'_, ops::TensorListConcat>,
) -> Result<()> {
    concatenate(ctx, attrs.element_dtype, Some(&attrs.element_shape))
}

#[register_kernel(device = Cpu, element_dtype = [numbertype, bool, string, variant])]
fn tensor_list_concat_v2(
    attrs: &Attrs<ops::TensorListConcatV2>,
    ctx: &mut KernelContext<'_, ops::TensorListConcatV2>,
) -> Result<()> {
    concatenate(ctx, attrs.element_dtype, None)
}

#[register_kernel(device = Cpu, op = ops::TensorListConcatLists)]
fn tensor_list_concat_lists(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (first, second) = (ctx.input(O::INPUT_A)?, ctx.input(O::INPUT_B)?);
    let shape: Shape = first.shape().clone();
    ensure!(
        shape == *second.shape(),
        InvalidArgument,
        "Incompatible input TensorList tensor shapes: {shape} vs. {}",
        second.shape()
    );
    let list = |variant: &'_ Variant, name: &str, index: usize| -> Result<TensorList> {
        let list = variant.get::<TensorList>().ok_or_else(|| {
            let saw = variant.type_name();
            Error::invalid_argument(format!("{name} is not a TensorList at index {index}.  Saw: '{saw}'"))
        })?;
        ensure!(
            list.element_dtype == attrs.element_dtype,
            InvalidArgument,
            "{name}[{index}].dtype != element_dtype.  Saw: {} vs. {}",
            list.element_dtype,
            attrs.element_dtype
        );
        list.copied()
    };
    let mut joined = scratch::room(shape.num_elements())?;
    let pairs = first.as_slice::<Variant>()?.iter().zip(second.as_slice::<Variant>()?);
    for (index, (a, b)) in pairs.enumerate() {
        let (mut a, b) = (list(a, "input_a", index)?, list(b, "input_b", index)?);
        ensure!(
            a.element_shape == b.element_shape,
            InvalidArgument,
            "input_a and input_b TensorList element shapes are not identical at index {index}.  Saw {} vs. {}",
            a.element_shape,
            b.element_shape
        );
        scratch::append(&mut a.tensors, &b.tensors)?;
        joined.push(Variant::new(a));
    }
    ctx.set_output(O::OUTPUT, Tensor::from_elements(shape, &joined)?)
}

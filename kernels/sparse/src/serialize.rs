//! SerializeSparse, SerializeManySparse, DeserializeSparse and DeserializeManySparse, through strings or variants.

use std::ops::Range;

use kernlink::dtype::{DataType, TString};
use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::proto::{TensorProto, encoded, tensor_from_proto, tensor_to_proto};
use kernlink::shape::Shape;
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink::tensor::{Tensor, Variant};
use kernlink::{bail, ensure};
use kernlink_kernels_common::tensor_message::tensor_message;
use kernlink_kernels_common::tensors::{TensorValue, copy_elements};
use kernlink_kernels_common::wire::{read_varint, write_varint};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::coo::Coo;
use super::elements::{ensure_matrix, ensure_vector, scatter};
use super::reshape::{renumber, reshaped};

/// A tensor as a serialized message whose elements are bytes, those of strings too: their lengths, then they.
fn serialize(tensor: &Tensor) -> Result<TString> {
    let mut proto = tensor_to_proto(tensor)?;
    if tensor.dtype() == DataType::String {
        // A length takes 10 bytes at most.
        let mut content = scratch::room(proto.string_val.iter().map(|string| string.len() + 10).sum())?;
        for string in &proto.string_val {
            write_varint(&mut content, string.len() as u64)?;
        }
        proto.string_val.drain(..).for_each(|string| content.extend_from_slice(&string));
        proto.tensor_content = content.into();
    }
    encoded(&proto).map(TString::from)
}

fn deserialize(bytes: &TString) -> Result<Tensor> {
    let mut proto = tensor_message(bytes)?;
    if proto.dtype == DataType::String.number() && !proto.tensor_content.is_empty() {
        let content = std::mem::take(&mut proto.tensor_content);
        let mut rest = &content[..];
        let bad = || Error::invalid_argument("Could not construct tensor from proto");
        let elements = shape_of(&proto)?.num_elements();
        // Each element has a length of at least one byte.
        ensure!(elements <= content.len(), InvalidArgument, "Could not construct tensor from proto");
        let length = |_| read_varint(&mut rest).ok().and_then(|length| usize::try_from(length).ok()).ok_or_else(bad);
        let lengths: Vec<usize> = scratch::collected_ok((0..elements).map(length))?;
        proto.string_val.make_room(elements)?;
        let mut start = content.len() - rest.len();
        for length in lengths {
            let end = start.checked_add(length).filter(|&end| end <= content.len()).ok_or_else(bad)?;
            proto.string_val.push(content.slice(start..end));
            start = end;
        }
    }
    tensor_from_proto(&proto).map_err(|error| error.context("Could not construct tensor from proto"))
}

/// Tensors as elements of a tensor of strings or variants.
fn packed(dtype: DataType, parts: &[Tensor]) -> Result<Tensor> {
    match dtype {
        DataType::String => Tensor::vector(&scratch::collected_ok(parts.iter().map(serialize))?),
        _ => Tensor::vector(&scratch::collected(parts.iter().map(|part| Variant::new(TensorValue(part.clone()))))?),
    }
}

/// The tensors that some elements of such a tensor are.
fn unpacked(packed: &Tensor, elements: Range<usize>) -> Result<Vec<Tensor>> {
    if packed.dtype() == DataType::String {
        return scratch::collected_ok(packed.as_slice::<TString>()?[elements].iter().map(deserialize));
    }
    let tensor = |(index, variant): (usize, &Variant)| match variant.get::<TensorValue>() {
        Some(TensorValue(tensor)) => Ok(tensor.clone()),
        None => bail!(InvalidArgument, "Could not get a tensor from serialized_sparse[{}, {}]", index / 3, index % 3),
    };
    let first = elements.start;
    let variants = packed.as_slice::<Variant>()?[elements].iter().enumerate();
    scratch::collected_ok(variants.map(|(index, variant)| tensor((first + index, variant))))
}

/// The shape in a message.
fn shape_of(proto: &TensorProto) -> Result<Shape> {
    let sizes: Vec<i64> = proto.tensor_shape.iter().flat_map(|shape| shape.dim.iter().map(|dim| dim.size)).collect();
    Shape::from_dims(&sizes)
}

#[register_kernel(device = Cpu, op = ops::SerializeSparse, out_type = [string, variant])]
fn serialize_sparse(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let parts = [ctx.input(O::SPARSE_INDICES)?, ctx.input(O::SPARSE_VALUES)?, ctx.input(O::SPARSE_SHAPE)?];
    ensure_matrix(parts[0], "Input indices")?;
    ensure_vector(parts[1], "Input values")?;
    ensure_vector(parts[2], "Input shape")?;
    let serialized = packed(ctx.output_dtype_at(0)?, &parts.map(Tensor::clone))?;
    ctx.set_output(O::SERIALIZED_SPARSE, serialized)
}

#[register_kernel(
    device = Cpu,
    out_type = [string, variant],
    T = [realnumbertype, bool, complex128, complex64, resource, string, variant],
)]
fn serialize_many_sparse(ctx: &mut KernelContext<'_, ops::SerializeManySparse>) -> Result<()> {
    type Op = ops::SerializeManySparse;
    let values = ctx.input(Op::SPARSE_VALUES)?;
    let coo = Coo::new(ctx.input(Op::SPARSE_INDICES)?, values, ctx.input(Op::SPARSE_SHAPE)?)?;
    let rank = coo.rank();
    ensure!(rank > 1, InvalidArgument, "Rank of input SparseTensor should be > 1, but saw rank: {rank}");
    let rows = coo.shape()?[0];
    coo.ensure_valid()?;
    let mut output = ctx.allocate_output(Op::SERIALIZED_SPARSE, [rows, 3])?;
    let dtype = output.dtype();
    // Rows share the shape, and those without elements share all.
    let shape = packed(dtype, &[Tensor::vector(&coo.sizes[1..])?])?;
    let empty = packed(dtype, &[Tensor::zeros(DataType::Int64, [0, rank - 1])?, Tensor::zeros(values.dtype(), [0])?])?;
    let mut next = 0;
    for row in 0..rows {
        let first = next;
        while next < coo.len() && coo.index(next)[0] == row as i64 {
            next += 1;
        }
        copy_elements(&mut output, 3 * row + 2, &shape)?;
        if next == first {
            copy_elements(&mut output, 3 * row, &empty)?;
            continue;
        }
        let indices: Vec<i64> = scratch::collected((first..next).flat_map(|n| &coo.index(n)[1..]).copied())?;
        let indices = Tensor::from_elements([next - first, rank - 1], &indices)?;
        copy_elements(&mut output, 3 * row, &packed(dtype, &[indices, values.slice_rows(first, next)?])?)?;
    }
    ctx.set_output(Op::SERIALIZED_SPARSE, output)
}

/// One sparse tensor read from three elements.
struct Read {
    indices: Tensor,
    values: Tensor,
    shape: Tensor,
}

impl Read {
    fn new(packed: &Tensor, dtype: DataType, number: usize) -> Result<Read> {
        let parts: Result<[Tensor; 3], _> = unpacked(packed, 3 * number..3 * number + 3)?.try_into();
        let Ok([indices, values, shape]) = parts else {
            bail!(Internal, "a sparse tensor is three elements");
        };
        let read = Read { indices, values, shape };
        let wrong = |error: Error| error.context(format!("serialized_sparse[{number}]"));
        ensure!(
            read.values.dtype() == dtype,
            InvalidArgument,
            "Requested SparseTensor of type {dtype} but SparseTensor[{number}].values.dtype() == {}",
            read.values.dtype()
        );
        for part in [&read.indices, &read.shape] {
            ensure!(
                part.dtype() == DataType::Int64,
                InvalidArgument,
                "indices and shapes are int64, not {}",
                part.dtype()
            );
        }
        read.coo().map_err(wrong)?;
        Ok(read)
    }

    fn coo(&self) -> Result<Coo<'_>> {
        Coo::new(&self.indices, &self.values, &self.shape)
    }
}

#[register_kernel(
    device = Cpu,
    op = ops::DeserializeSparse,
    Tserialized = [string, variant],
    state = |ctx| ctx.attrs.required("dtype"),
)]
#[register_kernel(device = Cpu, op = ops::DeserializeManySparse)]
fn deserialize_sparse(&dtype: &DataType, ctx: &mut RawContext<'_>) -> Result<()> {
    let input = ctx.input_at(0)?;
    let Some((&3, outer)) = input.shape().split_last() else {
        bail!(InvalidArgument, "Serialized sparse should have 3 as the last dimension {}", input.shape());
    };
    if outer.is_empty() {
        let Read { indices, values, shape } = Read::new(input, dtype, 0)?;
        ctx.set_output_at(0, indices)?;
        ctx.set_output_at(1, values)?;
        return ctx.set_output_at(2, shape);
    }
    let parts = (0..input.num_elements() / 3).map(|number| Read::new(input, dtype, number));
    let parts: Vec<Read> = scratch::collected_ok(parts)?;
    let Some(first) = parts.first() else {
        bail!(
            InvalidArgument,
            "Serialized sparse should have at least 1 serialized tensor, but has a zero dimension {}",
            input.shape()
        );
    };
    let mut sizes = first.coo()?.sizes.to_vec();
    let rank = sizes.len() + 1;
    let (mut indices, mut elements) = (Vec::new(), 0);
    for (number, part) in parts.iter().enumerate() {
        let coo = part.coo()?;
        coo.shape()?;
        ensure!(
            coo.rank() + 1 == rank,
            InvalidArgument,
            "Inconsistent shape across SparseTensors: rank prior to SparseTensor[{number}] was: {} but rank of \
             SparseTensor[{number}] is: {}",
            rank - 1,
            coo.rank()
        );
        sizes.iter_mut().zip(coo.sizes).for_each(|(size, &own)| *size = (*size).max(own));
        for n in 0..coo.len() {
            scratch::push(&mut indices, number as i64)?;
            scratch::append(&mut indices, coo.index(n))?;
        }
        elements += coo.len();
    }
    let stacked = Shape::from_dims(&[&[parts.len() as i64], sizes.as_slice()].concat())?;
    let target: Vec<i64> = outer.iter().map(|&size| size as i64).chain(sizes).collect();
    let shape = reshaped(&stacked, &target)?;
    if shape != stacked && elements > 0 {
        ensure!(shape.num_elements() > 0, InvalidArgument, "{elements} elements do not fit into the shape {shape}");
        let mut renumbered = scratch::zeros(elements * shape.rank())?;
        renumber(&indices, &stacked, &mut renumbered, &shape);
        indices = renumbered;
    }
    let mut values = ctx.allocate_output_at(1, [elements])?;
    let places = scratch::collected(0..elements)?;
    let mut rest = &places[..];
    for part in &parts {
        let own;
        (own, rest) = rest.split_at(part.values.num_elements());
        scatter(&mut values, &part.values, 0, own)?;
    }
    ctx.set_output_at(0, Tensor::from_elements([elements, shape.rank()], &indices)?)?;
    ctx.set_output_at(1, values)?;
    ctx.set_output_at(2, Tensor::vector(&shape.to_i64())?)
}

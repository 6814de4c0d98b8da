//! EncodeProto.

use kernlink::dtype::{DataType, TString};
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink::{bail, ensure};
use kernlink_kernels_common::wire::write_varint;
use kernlink_macros::register_kernel;
use kernlink_ops::EncodeProto;

use super::descriptors::Types;
use super::{DELIMITED, END_GROUP, FIXED32, FIXED64, START_GROUP, Type};

/// A field that is written.
struct Field {
    name: String,
    number: u32,
    ty: Type,
    is_packed: bool,
    /// Its index among the attrs.
    index: usize,
}

/// The fields, ascending by their numbers.
struct EncodeProtoKernel(Vec<Field>);

#[register_kernel(device = Cpu)]
impl OpKernel<EncodeProto> for EncodeProtoKernel {
    fn new(ctx: &KernelConstruction<'_, EncodeProto>) -> Result<Self> {
        let attrs = ctx.attrs();
        // A serialized message is no UTF-8.
        let message = Types::of(&ctx.attrs.required("descriptor_source")?)?.message(&attrs.message_type)?;
        let mut fields = Vec::new();
        for (index, name) in attrs.field_names.iter().enumerate() {
            let Some(field) = message.get_field_by_name(name) else {
                bail!(InvalidArgument, "Unknown field: {name} in message type {}", attrs.message_type);
            };
            let ty = Type::new(&field.kind(), field.is_group());
            let field = Field {
                name: name.clone(),
                number: field.number(),
                ty,
                is_packed: field.is_packed() && !matches!(ty, Type::Bytes | Type::Group),
                index,
            };
            scratch::push(&mut fields, field)?;
        }
        fields.sort_by_key(|field| field.number);
        Ok(Self(fields))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, EncodeProto>) -> Result<()> {
        type Op = EncodeProto;
        let (sizes, values) = (ctx.input(Op::SIZES)?, ctx.input_list(Op::VALUES));
        ensure!(
            self.0.len() == values.len(),
            InvalidArgument,
            "Length of inputs list must match field_names: there are {} for {} fields",
            values.len(),
            self.0.len()
        );
        let mut prefix: Option<Shape> = None;
        for field in &self.0 {
            let (value, name) = (&values[field.index], &field.name);
            ensure!(
                field.ty.fits(value.dtype()),
                InvalidArgument,
                "Incompatible type for field {name}. Saw dtype: {} but field type is: {:?}",
                value.dtype(),
                field.ty
            );
            let mut outer = value.shape().clone();
            ensure!(
                outer.rank() >= 2,
                InvalidArgument,
                "Invalid shape for field {name}. Saw shape {outer} but it should be at least a matrix."
            );
            outer.remove(outer.rank() - 1);
            let prefix = prefix.get_or_insert_with(|| outer.clone());
            ensure!(
                *prefix == outer,
                InvalidArgument,
                "Values must match up to the last dimension: field {name} has {outer}, another {prefix}"
            );
        }
        let messages = prefix.unwrap_or_else(Shape::scalar);
        let mut expected = messages.clone();
        expected.push(self.0.len());
        ensure!(
            *sizes.shape() == expected,
            InvalidArgument,
            "sizes should be batch_size + [len(field_names)]. Saw: {} but expected: {expected}",
            sizes.shape()
        );
        let count = self.0.len();
        let columns = self.0.iter().map(|field| Column::new(&values[field.index])).collect::<Result<Vec<_>>>()?;
        let sizes = sizes.as_slice::<i32>()?;
        let mut output = ctx.allocate_output(Op::BYTES, messages)?;
        for (message, place) in output.as_mut_slice::<TString>()?.iter_mut().enumerate() {
            let mut bytes = Vec::new();
            for (field, column) in self.0.iter().zip(&columns) {
                let size = sizes[message * count + field.index];
                let most = values[field.index].shape().dims().last().copied().unwrap_or(0);
                // A negative size is one of nothing.
                let length = usize::try_from(size).unwrap_or(0);
                ensure!(
                    length <= most,
                    InvalidArgument,
                    "Size to write must not be larger than value tensor; but saw: {size} > {most} at message {message} field {}",
                    field.index
                );
                if size != 0 {
                    let first = message * most;
                    column.write(&mut bytes, field, first..first + length)?;
                }
            }
            *place = bytes.into();
        }
        ctx.set_output(Op::BYTES, output)
    }
}

/// The values of one field.
enum Column<'v> {
    Double(&'v [f64]),
    Float(&'v [f32]),
    Int32(&'v [i32]),
    Int64(&'v [i64]),
    Uint32(&'v [u32]),
    Uint64(&'v [u64]),
    Bool(&'v [bool]),
    Bytes(&'v [TString]),
}

impl<'v> Column<'v> {
    fn new(values: &'v Tensor) -> Result<Column<'v>> {
        Ok(match values.dtype() {
            DataType::Double => Column::Double(values.as_slice()?),
            DataType::Float => Column::Float(values.as_slice()?),
            DataType::Int32 => Column::Int32(values.as_slice()?),
            DataType::Int64 => Column::Int64(values.as_slice()?),
            DataType::Uint32 => Column::Uint32(values.as_slice()?),
            DataType::Uint64 => Column::Uint64(values.as_slice()?),
            DataType::Bool => Column::Bool(values.as_slice()?),
            DataType::String => Column::Bytes(values.as_slice()?),
            dtype => bail!(InvalidArgument, "fields are no {dtype}"),
        })
    }

    /// The bits that are written for a number: floats of the field's size, integers with their sign.
    fn bits(&self, at: usize, ty: Type) -> u64 {
        let integer = match self {
            Column::Double(values) if ty == Type::Float => return (values[at] as f32).to_bits().into(),
            Column::Double(values) => return values[at].to_bits(),
            Column::Float(values) => return values[at].to_bits().into(),
            Column::Int32(values) => values[at].into(),
            Column::Int64(values) => values[at],
            Column::Uint32(values) => values[at].into(),
            Column::Uint64(values) => values[at] as i64,
            Column::Bool(values) => values[at].into(),
            Column::Bytes(_) => 0,
        };
        match ty {
            Type::Int32 | Type::Enum => i64::from(integer as i32) as u64,
            Type::Uint32 | Type::Fixed32 | Type::Sfixed32 => u64::from(integer as u32),
            Type::Sint32 => u64::from(((integer as i32) << 1 ^ (integer as i32) >> 31) as u32),
            Type::Sint64 => (integer << 1 ^ integer >> 63) as u64,
            _ => integer as u64,
        }
    }

    /// Appends values of a field.
    fn write(&self, bytes: &mut Vec<u8>, field: &Field, range: std::ops::Range<usize>) -> Result<()> {
        let key = |wire_type: u64| u64::from(field.number) << 3 | wire_type;
        let wire_type = field.ty.wire_type();
        if let Column::Bytes(values) = self {
            for value in &values[range] {
                write_varint(bytes, key(wire_type))?;
                if wire_type == START_GROUP {
                    scratch::append(bytes, value)?;
                    write_varint(bytes, key(END_GROUP))?;
                } else {
                    write_varint(bytes, value.len() as u64)?;
                    scratch::append(bytes, value)?;
                }
            }
            return Ok(());
        }
        let number = |bytes: &mut Vec<u8>, at: usize| {
            let bits = self.bits(at, field.ty);
            bytes.make_room(10)?;
            match wire_type {
                FIXED64 => bytes.extend_from_slice(&bits.to_le_bytes()),
                FIXED32 => bytes.extend_from_slice(&(bits as u32).to_le_bytes()),
                _ => write_varint(bytes, bits)?,
            }
            Result::Ok(())
        };
        if field.is_packed {
            let mut packed = Vec::new();
            range.into_iter().try_for_each(|at| number(&mut packed, at))?;
            write_varint(bytes, key(DELIMITED))?;
            write_varint(bytes, packed.len() as u64)?;
            return scratch::append(bytes, &packed);
        }
        range.into_iter().try_for_each(|at| {
            write_varint(bytes, key(wire_type))?;
            number(bytes, at)
        })
    }
}

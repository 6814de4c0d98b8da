//! DecodeProtoV2: two passes over each message, which count the values and write them.

use kernlink::dtype::{DataType, TString};
use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::DecodeProtoV2;
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor, Value};

use super::descriptors::Types;
use super::sanitize::Sanitizer;
use super::{DELIMITED, FIXED32, FIXED64, START_GROUP, Type, VARINT, key, malformed, skip, take, varint};
use kernlink_kernels_common::example::wire::part_of;

/// A field that is wanted.
struct Field {
    number: u32,
    ty: Type,
    is_repeated: bool,
    dtype: DataType,
    /// A scalar.
    default: Tensor,
    /// Its index among the attrs.
    index: usize,
}

struct DecodeProtoKernel {
    /// Ascending by their numbers.
    fields: Vec<Field>,
    /// The type of messages that are parsed wholly first, which texts are.
    whole: Option<MessageDescriptor>,
    is_text: bool,
}

/// A field's properties, those of an extension too.
struct Declared {
    number: u32,
    ty: Type,
    is_repeated: bool,
    default: Value,
}

impl Declared {
    fn of(message: &MessageDescriptor, name: &str) -> Option<Declared> {
        fn default(kind: &Kind, is_repeated: bool, declared: Value) -> Value {
            if is_repeated { kind.default_value() } else { declared }
        }
        if let Some(field) = message.get_field_by_name(name) {
            let field: FieldDescriptor = field;
            let (kind, is_repeated) = (field.kind(), field.is_list() || field.is_map());
            return Some(Declared {
                number: field.number(),
                ty: Type::new(&kind, field.is_group()),
                is_repeated,
                default: default(&kind, is_repeated, field.default_value()),
            });
        }
        let extension = message.get_extension_by_full_name(name)?;
        let (kind, is_repeated) = (extension.kind(), extension.is_list() || extension.is_map());
        Some(Declared {
            number: extension.number(),
            ty: Type::new(&kind, extension.is_group()),
            is_repeated,
            default: default(&kind, is_repeated, extension.default_value()),
        })
    }

    /// The default as a scalar of a dtype that the field fits.
    fn default(&self, dtype: DataType) -> Result<Tensor> {
        let number = |value: i64| match dtype {
            DataType::Int32 => Tensor::scalar(value as i32),
            DataType::Uint32 => Tensor::scalar(value as u32),
            DataType::Uint64 => Tensor::scalar(value as u64),
            _ => Tensor::scalar(value),
        };
        Ok(match &self.default {
            Value::Bool(value) => Tensor::scalar(*value),
            Value::I32(value) | Value::EnumNumber(value) => number((*value).into()),
            Value::I64(value) => number(*value),
            Value::U32(value) => number((*value).into()),
            Value::U64(value) => number(*value as i64),
            Value::F32(value) if dtype == DataType::Double => Tensor::scalar(f64::from(*value)),
            Value::F32(value) => Tensor::scalar(*value),
            Value::F64(value) => Tensor::scalar(*value),
            Value::String(value) => Tensor::scalar(TString::from(value.as_bytes())),
            Value::Bytes(value) => Tensor::scalar(TString::from(value.clone())),
            Value::Message(_) => Tensor::scalar(TString::default()),
            Value::List(_) | Value::Map(_) => bail!(Internal, "a field has a list for its default"),
        })
    }
}

#[register_kernel(device = Cpu)]
impl OpKernel<DecodeProtoV2> for DecodeProtoKernel {
    fn new(ctx: &KernelConstruction<'_, DecodeProtoV2>) -> Result<Self> {
        let attrs = ctx.attrs();
        // A serialized message is no UTF-8.
        let types = Types::of(&ctx.attrs.required("descriptor_source")?)?;
        let message = types.message(&attrs.message_type)?;
        ensure!(
            attrs.field_names.len() == attrs.output_types.len(),
            InvalidArgument,
            "field_names and output_types attributes must have the same length, not {} and {}",
            attrs.field_names.len(),
            attrs.output_types.len()
        );
        let mut fields = Vec::new();
        for (index, (name, &dtype)) in attrs.field_names.iter().zip(&attrs.output_types).enumerate() {
            let Some(declared) = Declared::of(&message, name) else {
                bail!(InvalidArgument, "Unknown field: {name} in message type {}", attrs.message_type);
            };
            ensure!(
                declared.ty.fits(dtype),
                InvalidArgument,
                "Unexpected output type for {}.{name}: {:?} to {dtype}",
                attrs.message_type,
                declared.ty
            );
            let default = declared.default(dtype)?;
            let Declared { number, ty, is_repeated, .. } = declared;
            scratch::push(&mut fields, Field { number, ty, is_repeated, dtype, default, index })?;
        }
        fields.sort_by_key(|field| field.number);
        let is_text = match &*attrs.message_format {
            "binary" => false,
            "text" => true,
            other => bail!(InvalidArgument, "format must be one of binary or text, not '{other}'"),
        };
        let whole = if is_text || attrs.sanitize { types.lenient_message(&attrs.message_type) } else { None };
        Ok(Self { fields, whole, is_text })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, DecodeProtoV2>) -> Result<()> {
        type Op = DecodeProtoV2;
        let input = ctx.input(Op::BYTES)?;
        let given = input.as_slice::<TString>()?;
        ensure!(!given.is_empty(), InvalidArgument, "Bufs argument must contain at least one value");
        let reserialized = match &self.whole {
            Some(descriptor) => {
                let mut sanitizer = Sanitizer::default();
                let messages = given.iter().map(|message| {
                    let whole = match self.is_text {
                        true => sanitizer.text(descriptor, message),
                        false => sanitizer.binary(descriptor, message),
                    };
                    whole.map(TString::from)
                });
                scratch::collected_ok(messages)?
            }
            None => Vec::new(),
        };
        let messages = if self.whole.is_some() { &reserialized[..] } else { given };
        let with = |last: usize| {
            let mut shape: Shape = input.shape().clone();
            shape.push(last);
            shape.check().map(|()| shape)
        };
        let count = self.fields.len();
        let mut sizes = ctx.allocate_output(Op::SIZES, with(count)?)?;
        // There is room for a default at least.
        let mut most = vec![1; count];
        let mut counts = vec![0; count];
        for (index, message) in messages.iter().enumerate() {
            counts.fill(0);
            self.walk(message, |at, found| {
                let field = &self.fields[at];
                counts[at] = match found {
                    Found::Packed(bytes) => counts[at] + packed_count(field.ty, bytes)?,
                    _ => counts[at] + 1,
                };
                if !field.is_repeated {
                    counts[at] = counts[at].min(1);
                }
                Ok(())
            })?;
            let sizes = &mut sizes.as_mut_slice::<i32>()?[index * count..];
            for ((field, &found), most) in self.fields.iter().zip(&counts).zip(&mut most) {
                let size = i32::try_from(found).map_err(|_| malformed("a field has too many values"))?;
                sizes[field.index] = size;
                *most = found.max(*most);
            }
        }
        let mut outputs = Vec::new();
        for (field, &most) in self.fields.iter().zip(&most) {
            outputs.push(Tensor::alloc(field.dtype, with(most)?)?);
        }
        let mut columns = outputs.iter_mut().map(Column::new).collect::<Result<Vec<_>>>()?;
        let mut next = vec![0; count];
        for (index, message) in messages.iter().enumerate() {
            next.fill(0);
            self.walk(message, |at, found| {
                let (field, most) = (&self.fields[at], most[at]);
                let row = index * most;
                let column = &mut columns[at];
                match found {
                    Found::Packed(bytes) => {
                        // TensorFlow has no place then even for no value.
                        ensure!(
                            next[at] < most,
                            DataLoss,
                            "Tried to write more entries than allowed. Field tag: {}, Max entries allowed: {most}",
                            field.number
                        );
                        let mut rest = bytes;
                        while !rest.is_empty() {
                            let bits = scalar(&mut rest, field.ty)?;
                            column.set_number(row + next[at], field.ty, bits, true);
                            // What is packed and not repeated counts, but the default takes its place.
                            next[at] += usize::from(field.is_repeated);
                        }
                    }
                    found => {
                        let place = if field.is_repeated { next[at] } else { 0 };
                        match found {
                            Found::Bytes(bytes) => column.set_bytes(row + place, part_of(message, bytes)),
                            Found::Number(bits) => column.set_number(row + place, field.ty, bits, false),
                            Found::Packed(_) => {}
                        }
                        next[at] = place + 1;
                    }
                }
                Ok(())
            })?;
            for (((field, column), &next), &most) in self.fields.iter().zip(&mut columns).zip(&next).zip(&most) {
                if next < most {
                    column.fill(index * most + next..(index + 1) * most, &field.default)?;
                }
            }
        }
        ctx.set_output(Op::SIZES, sizes)?;
        let mut ordered: Vec<(usize, Tensor)> = self.fields.iter().map(|field| field.index).zip(outputs).collect();
        ordered.sort_by_key(|(index, _)| *index);
        ctx.set_output_list(Op::VALUES, ordered.into_iter().map(|(_, tensor)| tensor))
    }
}

/// A field that a message has.
enum Found<'m> {
    Number(u64),
    Bytes(&'m [u8]),
    /// Numbers, one behind the other.
    Packed(&'m [u8]),
}

/// The bits of a number.
pub(super) fn scalar(rest: &mut &[u8], ty: Type) -> Result<u64> {
    const CUT: &str = "a number is cut";
    match ty.wire_type() {
        FIXED64 => Ok(u64::from_le_bytes(take(rest, 8, CUT)?.try_into().unwrap_or_default())),
        FIXED32 => Ok(u32::from_le_bytes(take(rest, 4, CUT)?.try_into().unwrap_or_default()).into()),
        _ => varint(rest, CUT),
    }
}

/// How many numbers there are.
pub(super) fn packed_count(ty: Type, bytes: &[u8]) -> Result<usize> {
    let size = match ty.wire_type() {
        FIXED64 => 8,
        FIXED32 => 4,
        VARINT => {
            let is_whole = bytes.last().is_none_or(|&last| last < 0x80);
            // Each ends with a byte whose highest bit is clear, and has at most ten.
            let is_short = bytes.split(|&byte| byte < 0x80).all(|start| start.len() < 10);
            ensure!(is_whole && is_short, DataLoss, "Corrupt packed varint");
            return Ok(bytes.iter().filter(|&&byte| byte < 0x80).count());
        }
        _ if bytes.is_empty() => return Ok(0),
        _ => bail!(DataLoss, "a field that is no number is packed"),
    };
    ensure!(
        bytes.len().is_multiple_of(size),
        DataLoss,
        "Illegal data length for packed fixed-size type: {}",
        bytes.len()
    );
    Ok(bytes.len() / size)
}

impl DecodeProtoKernel {
    /// Visits the fields that are wanted: their index, and what stands there.
    fn walk<'m>(&self, message: &'m [u8], mut visit: impl FnMut(usize, Found<'m>) -> Result<()>) -> Result<()> {
        let mut rest = message;
        while !rest.is_empty() {
            let before = rest;
            let (number, wire_type) = key(&mut rest)?;
            let at = self.fields.partition_point(|field| field.number < number);
            let field = self.fields.get(at).filter(|field| field.number == number);
            let Some(field) = field else {
                skip(&mut rest, number, wire_type, 0)?;
                continue;
            };
            let expected = field.ty.wire_type();
            let found = if wire_type == DELIMITED && expected != DELIMITED {
                let length = varint(&mut rest, "a length is cut")?;
                Found::Packed(take(&mut rest, length, "a packed field is cut")?)
            } else if wire_type != expected {
                skip(&mut rest, number, wire_type, 0)?;
                continue;
            } else if wire_type == DELIMITED {
                let length = varint(&mut rest, "a length is cut")?;
                Found::Bytes(take(&mut rest, u64::from(length as u32), "a field is cut")?)
            } else if wire_type == START_GROUP {
                // A group is what stands there with its two keys.
                skip(&mut rest, number, wire_type, 0)?;
                Found::Bytes(&before[..before.len() - rest.len()])
            } else {
                Found::Number(scalar(&mut rest, field.ty)?)
            };
            visit(at, found)?;
        }
        Ok(())
    }
}

/// The values of one field.
enum Column<'o> {
    Double(&'o mut [f64]),
    Float(&'o mut [f32]),
    Int32(&'o mut [i32]),
    Int64(&'o mut [i64]),
    Uint32(&'o mut [u32]),
    Uint64(&'o mut [u64]),
    Bool(&'o mut [bool]),
    Bytes(&'o mut [TString]),
}

impl<'o> Column<'o> {
    fn new(tensor: &'o mut Tensor) -> Result<Column<'o>> {
        Ok(match tensor.dtype() {
            DataType::Double => Column::Double(tensor.as_mut_slice()?),
            DataType::Float => Column::Float(tensor.as_mut_slice()?),
            DataType::Int32 => Column::Int32(tensor.as_mut_slice()?),
            DataType::Int64 => Column::Int64(tensor.as_mut_slice()?),
            DataType::Uint32 => Column::Uint32(tensor.as_mut_slice()?),
            DataType::Uint64 => Column::Uint64(tensor.as_mut_slice()?),
            DataType::Bool => Column::Bool(tensor.as_mut_slice()?),
            DataType::String => Column::Bytes(tensor.as_mut_slice()?),
            dtype => return Err(Error::internal(format!("fields are no {dtype}"))),
        })
    }

    fn set_bytes(&mut self, at: usize, value: TString) {
        if let Column::Bytes(places) = self {
            places[at] = value;
        }
    }

    /// Sets a number from its bits. TensorFlow takes packed `int32`s for unsigned ones where they become int64.
    fn set_number(&mut self, at: usize, ty: Type, bits: u64, is_packed: bool) {
        let float = f32::from_bits(bits as u32);
        let zigzag = |bits: u64| (bits >> 1) as i64 ^ -((bits & 1) as i64);
        let integer = match ty {
            Type::Sint64 => zigzag(bits),
            Type::Sint32 => zigzag(u64::from(bits as u32)),
            Type::Int32 if is_packed => i64::from(bits as u32),
            Type::Int32 | Type::Sfixed32 | Type::Enum => i64::from(bits as i32),
            Type::Uint32 | Type::Fixed32 => i64::from(bits as u32),
            _ => bits as i64,
        };
        match self {
            Column::Double(places) if ty == Type::Float => places[at] = float.into(),
            Column::Double(places) => places[at] = f64::from_bits(bits),
            Column::Float(places) => places[at] = float,
            Column::Int32(places) => places[at] = integer as i32,
            Column::Int64(places) => places[at] = integer,
            Column::Uint32(places) => places[at] = integer as u32,
            Column::Uint64(places) => places[at] = integer as u64,
            Column::Bool(places) => places[at] = bits != 0,
            Column::Bytes(_) => {}
        }
    }

    /// Sets values to a default, a scalar.
    fn fill(&mut self, range: std::ops::Range<usize>, default: &Tensor) -> Result<()> {
        match self {
            Column::Double(places) => places[range].fill(default.to_scalar()?),
            Column::Float(places) => places[range].fill(default.to_scalar()?),
            Column::Int32(places) => places[range].fill(default.to_scalar()?),
            Column::Int64(places) => places[range].fill(default.to_scalar()?),
            Column::Uint32(places) => places[range].fill(default.to_scalar()?),
            Column::Uint64(places) => places[range].fill(default.to_scalar()?),
            Column::Bool(places) => places[range].fill(default.to_scalar()?),
            Column::Bytes(places) => places[range].fill(default.to_scalar()?),
        }
        Ok(())
    }
}

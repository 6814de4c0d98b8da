//! DecodeProtoV2, EncodeProto.

mod decode;
mod descriptors;
mod encode;
mod files;
mod maps;
mod sanitize;

#[cfg(test)]
pub(super) use descriptors::Types;
use kernlink::dtype::DataType;
use kernlink::ensure;
use kernlink::error::{Error, Result};
use kernlink_kernels_common::wire::read_varint;
use prost_reflect::Kind;
#[cfg(test)]
pub(super) use sanitize::Sanitizer;

/// The type of a field: how it is written, and what its bits mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Double,
    Float,
    Int64,
    Uint64,
    Int32,
    Fixed64,
    Fixed32,
    Bool,
    Bytes,
    Group,
    Uint32,
    Enum,
    Sfixed32,
    Sfixed64,
    Sint32,
    Sint64,
}

/// How a value stands in a message, by the number that its key has.
pub(super) const VARINT: u64 = 0;
const FIXED64: u64 = 1;
pub(super) const DELIMITED: u64 = 2;
const START_GROUP: u64 = 3;
const END_GROUP: u64 = 4;
pub(super) const FIXED32: u64 = 5;

/// The deepest nesting of groups that are passed over.
const MOST_NESTED: usize = 100;

impl Type {
    fn new(kind: &Kind, is_group: bool) -> Type {
        match kind {
            Kind::Double => Type::Double,
            Kind::Float => Type::Float,
            Kind::Int64 => Type::Int64,
            Kind::Uint64 => Type::Uint64,
            Kind::Int32 => Type::Int32,
            Kind::Fixed64 => Type::Fixed64,
            Kind::Fixed32 => Type::Fixed32,
            Kind::Bool => Type::Bool,
            Kind::Message(_) if is_group => Type::Group,
            Kind::String | Kind::Bytes | Kind::Message(_) => Type::Bytes,
            Kind::Uint32 => Type::Uint32,
            Kind::Enum(_) => Type::Enum,
            Kind::Sfixed32 => Type::Sfixed32,
            Kind::Sfixed64 => Type::Sfixed64,
            Kind::Sint32 => Type::Sint32,
            Kind::Sint64 => Type::Sint64,
        }
    }

    /// Whether tensors of the dtype hold such fields.
    fn fits(self, dtype: DataType) -> bool {
        use DataType as D;
        match self {
            Type::Double => dtype == D::Double,
            Type::Float => matches!(dtype, D::Float | D::Double),
            Type::Int64 | Type::Sfixed64 | Type::Sint64 => dtype == D::Int64,
            Type::Uint64 | Type::Fixed64 => dtype == D::Uint64,
            Type::Int32 | Type::Sfixed32 | Type::Sint32 => matches!(dtype, D::Int32 | D::Int64),
            Type::Uint32 | Type::Fixed32 => matches!(dtype, D::Uint32 | D::Uint64),
            Type::Bool => dtype == D::Bool,
            Type::Enum => dtype == D::Int32,
            Type::Bytes | Type::Group => dtype == D::String,
        }
    }

    fn wire_type(self) -> u64 {
        match self {
            Type::Double | Type::Fixed64 | Type::Sfixed64 => FIXED64,
            Type::Float | Type::Fixed32 | Type::Sfixed32 => FIXED32,
            Type::Bytes => DELIMITED,
            Type::Group => START_GROUP,
            _ => VARINT,
        }
    }
}

const UNKNOWN_WIRE_TYPE: &str = "a field has an unknown wire type, or is in groups that are nested too deeply";
const NUMBER_ZERO: &str = "a field has number 0, which none may have";

#[cold]
pub(super) fn malformed(what: &str) -> Error {
    Error::data_loss(format!("malformed message: {what}"))
}

/// So many bytes.
#[inline]
pub(super) fn take<'m>(rest: &mut &'m [u8], length: u64, what: &str) -> Result<&'m [u8]> {
    let length = usize::try_from(length).ok();
    let (taken, tail) = length.and_then(|length| rest.split_at_checked(length)).ok_or_else(|| malformed(what))?;
    *rest = tail;
    Ok(taken)
}

#[inline]
pub(super) fn varint(rest: &mut &[u8], what: &str) -> Result<u64> {
    read_varint(rest).map_err(|_| malformed(what))
}

/// A field's number and how its value stands, of a key that is no end of a group. Bits beyond 32 are dropped, as TensorFlow does.
#[inline]
pub(super) fn key(rest: &mut &[u8]) -> Result<(u32, u64)> {
    let key = varint(rest, "a key is cut")? as u32;
    match (key >> 3, u64::from(key & 7)) {
        (0, _) => Err(malformed(NUMBER_ZERO)),
        (_, END_GROUP) => Err(malformed("the end of a group stands where it does not belong")),
        key => Ok(key),
    }
}

/// [`key`] for messages that are parsed wholly: it has at most five bytes.
pub(super) fn short_key(rest: &mut &[u8]) -> Result<(u32, u64)> {
    ensure!(rest.iter().take(5).any(|&byte| byte < 0x80), DataLoss, "malformed message: a key is cut or too long");
    key(rest)
}

/// The bytes behind their length, in messages that are parsed wholly: it has at most five bytes, and is not cut to 32 bits.
fn delimited<'m>(rest: &mut &'m [u8]) -> Result<&'m [u8]> {
    ensure!(rest.iter().take(5).any(|&byte| byte < 0x80), DataLoss, "malformed message: a length is cut or too long");
    let length = varint(rest, "a length is cut")?;
    take(rest, length, "a field is cut")
}

/// Passes over the value of a field.
pub(super) fn skip(rest: &mut &[u8], number: u32, wire_type: u64, nested: usize) -> Result<()> {
    const CUT: &str = "a field is cut";
    match wire_type {
        VARINT => _ = varint(rest, CUT)?,
        FIXED64 => _ = take(rest, 8, CUT)?,
        FIXED32 => _ = take(rest, 4, CUT)?,
        DELIMITED => {
            let length = varint(rest, CUT)?;
            take(rest, u64::from(length as u32), CUT)?;
        }
        START_GROUP if nested < MOST_NESTED => loop {
            let key = varint(rest, "a group has no end")? as u32;
            let (inner, wire_type) = (key >> 3, u64::from(key & 7));
            if wire_type == END_GROUP {
                return if inner == number {
                    Ok(())
                } else {
                    Err(malformed("the end of a group has another number than its begin"))
                };
            }
            if inner == 0 {
                return Err(malformed(NUMBER_ZERO));
            }
            skip(rest, inner, wire_type, nested + 1)?;
        },
        _ => return Err(malformed(UNKNOWN_WIRE_TYPE)),
    }
    Ok(())
}

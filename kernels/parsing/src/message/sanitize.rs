//! Whole messages, parsed and serialized anew.

use std::collections::BTreeMap;

use kernlink::error::Result;
use kernlink::proto::check_text_nesting;
use kernlink::tensor::scratch;
use kernlink_kernels_common::wire::write_varint;
use prost::Message;
use prost_reflect::{Cardinality, DynamicMessage, EnumDescriptor, Kind, MessageDescriptor};

use super::decode::{packed_count, scalar};
use super::{
    DELIMITED, END_GROUP, FIXED32, FIXED64, MOST_NESTED, START_GROUP, Type, VARINT, key, malformed, skip, take, varint,
};

/// The message that bytes, or text, hold, as bytes.
///
/// # Errors
/// DATA_LOSS if they hold none, or one that lacks a required field; RESOURCE_EXHAUSTED if there is not enough memory.
pub(in super::super) fn reserialize(descriptor: &MessageDescriptor, bytes: &[u8], is_text: bool) -> Result<Vec<u8>> {
    if !is_text {
        return normalize(descriptor, bytes, 0);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| malformed("the text is no UTF-8"))?;
    check_text_nesting(text).map_err(|error| malformed(error.message()))?;
    let message =
        DynamicMessage::parse_text_format(descriptor.clone(), text).map_err(|error| malformed(&error.to_string()))?;
    normalize(descriptor, &message.encode_to_vec(), 0)
}

/// A field's properties, those of an extension too.
struct Declared {
    number: u32,
    kind: Kind,
    ty: Type,
    is_repeated: bool,
    is_required: bool,
    is_packed: bool,
    /// Whether a default is told from nothing.
    has_presence: bool,
    oneof: Option<String>,
}

impl Declared {
    fn all(message: &MessageDescriptor) -> Vec<Declared> {
        let fields = message.fields().map(|field| Declared {
            number: field.number(),
            ty: Type::new(&field.kind(), field.is_group()),
            kind: field.kind(),
            is_repeated: field.cardinality() == Cardinality::Repeated,
            is_required: field.is_required(),
            is_packed: field.is_packed(),
            has_presence: field.supports_presence() || message.is_map_entry(),
            oneof: field.containing_oneof().map(|oneof| oneof.name().to_owned()),
        });
        let extensions = message.extensions().map(|field| Declared {
            number: field.number(),
            ty: Type::new(&field.kind(), field.is_group()),
            kind: field.kind(),
            is_repeated: field.cardinality() == Cardinality::Repeated,
            is_required: false,
            is_packed: field.is_packed(),
            has_presence: true,
            oneof: None,
        });
        fields.chain(extensions).collect()
    }

    /// Whether a number is one that the field may have: of enums of `proto2` those that are declared.
    fn allows(&self, bits: u64) -> bool {
        let is_closed = |kind: &EnumDescriptor| matches!(kind.parent_file().syntax(), prost_reflect::Syntax::Proto2);
        match &self.kind {
            Kind::Enum(kind) if is_closed(kind) => kind.get_value(bits as i32).is_some(),
            _ => true,
        }
    }

    /// A number's bits as they are written: those that do not belong to the type are dropped.
    fn canonical(&self, bits: u64) -> u64 {
        match self.ty {
            Type::Int32 | Type::Enum => i64::from(bits as i32) as u64,
            Type::Uint32 | Type::Sint32 => u64::from(bits as u32),
            Type::Bool => u64::from(bits != 0),
            _ => bits,
        }
    }
}

/// What a message has of one field.
#[derive(Default)]
struct Values {
    numbers: Vec<u64>,
    /// Strings, or messages, of which those of a field that is not repeated are merged by standing one behind the other.
    parts: Vec<Vec<u8>>,
}

fn put_number(out: &mut Vec<u8>, ty: Type, bits: u64) -> Result<()> {
    match ty.wire_type() {
        FIXED64 => scratch::append(out, &bits.to_le_bytes()),
        FIXED32 => scratch::append(out, &(bits as u32).to_le_bytes()),
        _ => write_varint(out, bits),
    }
}

/// The bytes of a message in the order of the fields' numbers, each as its declaration says; unknown fields stand last.
fn normalize(descriptor: &MessageDescriptor, bytes: &[u8], nested: usize) -> Result<Vec<u8>> {
    if nested > MOST_NESTED {
        return Err(malformed("messages are nested too deeply"));
    }
    let declared = Declared::all(descriptor);
    let by_number: BTreeMap<u32, usize> =
        declared.iter().enumerate().map(|(index, field)| (field.number, index)).collect();
    let mut found: Vec<Option<Values>> = declared.iter().map(|_| None).collect();
    let mut unknown = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let start = rest;
        let (number, wire_type) = key(&mut rest)?;
        let index = by_number.get(&number).copied();
        let packs = |field: &Declared| {
            wire_type == DELIMITED && field.is_repeated && !matches!(field.ty.wire_type(), DELIMITED | START_GROUP)
        };
        let Some(index) = index.filter(|&index| wire_type == declared[index].ty.wire_type() || packs(&declared[index]))
        else {
            skip(&mut rest, number, wire_type, nested)?;
            scratch::append(&mut unknown, &start[..start.len() - rest.len()])?;
            continue;
        };
        let field = &declared[index];
        if let Some(oneof) = &field.oneof {
            // The last member counts.
            let others = declared.iter().zip(&mut found).filter(|(other, _)| other.number != number);
            others.filter(|(other, _)| other.oneof.as_ref() == Some(oneof)).for_each(|(_, values)| *values = None);
        }
        let mut numbers = |bits: u64, values: &mut Values| {
            let bits = field.canonical(bits);
            if !field.allows(bits) {
                write_varint(&mut unknown, u64::from(number) << 3 | VARINT)?;
                return write_varint(&mut unknown, bits);
            }
            if !field.is_repeated {
                values.numbers.clear();
            }
            scratch::push(&mut values.numbers, bits)
        };
        let mut values = found[index].take().unwrap_or_default();
        if packs(field) {
            let length = varint(&mut rest, "a length is cut")?;
            let mut packed = take(&mut rest, length, "a packed field is cut")?;
            packed_count(field.ty, packed)?;
            while !packed.is_empty() {
                numbers(scalar(&mut packed, field.ty)?, &mut values)?;
            }
        } else if matches!(wire_type, DELIMITED | START_GROUP) {
            let part = if wire_type == DELIMITED {
                let length = varint(&mut rest, "a length is cut")?;
                take(&mut rest, length, "a field is cut")?
            } else {
                let inner = rest;
                skip(&mut rest, number, wire_type, nested)?;
                // Without the key of its end.
                let mut end = Vec::new();
                write_varint(&mut end, u64::from(number) << 3 | END_GROUP)?;
                let length = (inner.len() - rest.len()).saturating_sub(end.len());
                &inner[..length]
            };
            if matches!(field.kind, Kind::String) && std::str::from_utf8(part).is_err() {
                return Err(malformed("a string is no UTF-8"));
            }
            match values.parts.last_mut() {
                Some(last) if !field.is_repeated && matches!(field.kind, Kind::Message(_)) => {
                    scratch::append(last, part)?
                }
                Some(last) if !field.is_repeated => *last = scratch::copied(part)?,
                _ => scratch::push(&mut values.parts, scratch::copied(part)?)?,
            }
        } else {
            numbers(scalar(&mut rest, field.ty)?, &mut values)?;
        }
        found[index] = (!values.numbers.is_empty() || !values.parts.is_empty()).then_some(values);
    }
    let mut out = Vec::new();
    for &index in by_number.values() {
        let field = &declared[index];
        match &found[index] {
            None if field.is_required => return Err(malformed("a required field is missing")),
            None => {}
            Some(values) => put(&mut out, field, values, nested)?,
        }
    }
    scratch::append(&mut out, &unknown)?;
    Ok(out)
}

/// Appends the values of a field.
fn put(out: &mut Vec<u8>, field: &Declared, values: &Values, nested: usize) -> Result<()> {
    let key = |wire_type: u64| u64::from(field.number) << 3 | wire_type;
    let wire_type = field.ty.wire_type();
    if field.is_packed && !values.numbers.is_empty() {
        let mut packed = Vec::new();
        values.numbers.iter().try_for_each(|&bits| put_number(&mut packed, field.ty, bits))?;
        write_varint(out, key(DELIMITED))?;
        write_varint(out, packed.len() as u64)?;
        return scratch::append(out, &packed);
    }
    let is_written = |is_default: bool| field.is_repeated || field.has_presence || !is_default;
    for &bits in values.numbers.iter().filter(|&&bits| is_written(bits == 0)) {
        write_varint(out, key(wire_type))?;
        put_number(out, field.ty, bits)?;
    }
    for part in values.parts.iter().filter(|part| is_written(part.is_empty())) {
        let part = match &field.kind {
            Kind::Message(descriptor) => &normalize(descriptor, part, nested + 1)?,
            _ => part,
        };
        write_varint(out, key(wire_type))?;
        if wire_type == START_GROUP {
            scratch::append(out, part)?;
            write_varint(out, key(END_GROUP))?;
        } else {
            write_varint(out, part.len() as u64)?;
            scratch::append(out, part)?;
        }
    }
    Ok(())
}

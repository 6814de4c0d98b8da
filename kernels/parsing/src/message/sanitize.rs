//! Whole messages, parsed and serialized anew.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::proto::check_text_nesting;
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink_kernels_common::wire::write_varint;
use prost::Message;
use prost_reflect::{Cardinality, DynamicMessage, EnumDescriptor, Kind, MessageDescriptor};

use super::decode::{packed_count, scalar};
use super::{
    DELIMITED, END_GROUP, FIXED32, FIXED64, MOST_NESTED, START_GROUP, Type, VARINT, malformed, short_key, skip, take,
    varint,
};

/// Parses whole messages and serializes them anew: fields in the order of their numbers, each as its declaration says, unknown ones
/// last. What types declare is kept, as a message may hold a million of one type.
///
/// # Errors
/// Of all functions DATA_LOSS if there is no message, or one that lacks a required field; RESOURCE_EXHAUSTED if there is not
/// enough memory.
#[derive(Default)]
pub(in super::super) struct Sanitizer {
    types: HashMap<String, Rc<Declarations>>,
    /// Whether enums may have no number but those that are declared, as in text; in bytes others are unknown fields.
    is_strict: bool,
}

impl Sanitizer {
    /// The bytes of the message that bytes hold.
    pub(in super::super) fn binary(&mut self, descriptor: &MessageDescriptor, bytes: &[u8]) -> Result<Vec<u8>> {
        self.is_strict = false;
        self.normalize(descriptor, bytes, 0)
    }

    /// The bytes of the message that text holds.
    pub(in super::super) fn text(&mut self, descriptor: &MessageDescriptor, text: &[u8]) -> Result<Vec<u8>> {
        let text = escaped(text)?;
        check_text_nesting(&text).map_err(|error| malformed(error.message()))?;
        let message = DynamicMessage::parse_text_format(descriptor.clone(), &text)
            .map_err(|error| malformed(&error.to_string()))?;
        self.is_strict = true;
        self.normalize(descriptor, &message.encode_to_vec(), 0)
    }
}

/// Text whose bytes that are no UTF-8 are escaped: TensorFlow takes any within quotes, and nowhere else is an escape taken.
fn escaped(text: &[u8]) -> Result<Cow<'_, str>> {
    if let Ok(text) = std::str::from_utf8(text) {
        return Ok(text.into());
    }
    let mut escaped = String::new();
    for chunk in text.utf8_chunks() {
        escaped.make_room(chunk.valid().len() + 4 * chunk.invalid().len())?;
        escaped.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let backslashes = escaped.bytes().rev().take_while(|&byte| byte == b'\\').count();
            ensure!(
                backslashes.is_multiple_of(2),
                DataLoss,
                "malformed message: a backslash stands before byte {byte}"
            );
            escaped.extend(['\\', digit(byte >> 6), digit(byte >> 3), digit(*byte)]);
        }
    }
    Ok(escaped.into())
}

/// The last octal digit of a number.
fn digit(number: u8) -> char {
    char::from(b'0' + (number & 7))
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
    /// The index of the oneof that it is a member of.
    oneof: Option<usize>,
}

/// The fields of a type, ascending by their numbers.
struct Declarations {
    fields: Vec<Declared>,
    /// The indices of those that are required.
    required: Vec<usize>,
}

impl Declarations {
    fn new(message: &MessageDescriptor) -> Declarations {
        let mut fields = Declared::all(message);
        fields.sort_by_key(|field| field.number);
        let required = fields.iter().enumerate().filter(|(_, field)| field.is_required).map(|(index, _)| index);
        Declarations { required: required.collect(), fields }
    }

    fn find(&self, number: u32) -> Option<usize> {
        self.fields.binary_search_by_key(&number, |field| field.number).ok()
    }
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
            oneof: field.containing_oneof().and_then(|oneof| message.oneofs().position(|other| other == oneof)),
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

impl Sanitizer {
    fn declarations(&mut self, descriptor: &MessageDescriptor) -> Rc<Declarations> {
        if let Some(declarations) = self.types.get(descriptor.full_name()) {
            return declarations.clone();
        }
        let declarations = Rc::new(Declarations::new(descriptor));
        self.types.insert(descriptor.full_name().to_owned(), declarations.clone());
        declarations
    }

    fn normalize(&mut self, descriptor: &MessageDescriptor, bytes: &[u8], nested: usize) -> Result<Vec<u8>> {
        if nested > MOST_NESTED {
            return Err(malformed("messages are nested too deeply"));
        }
        let declarations = self.declarations(descriptor);
        let declared = &declarations.fields;
        // Only what is there, so that the time for a message depends on its bytes, not on how many fields its type has.
        let (mut found, mut members) = (BTreeMap::<usize, Values>::new(), BTreeMap::new());
        let mut unknown = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let start = rest;
            let (number, wire_type) = short_key(&mut rest)?;
            let index = declarations.find(number);
            let packs = |field: &Declared| {
                wire_type == DELIMITED && field.is_repeated && !matches!(field.ty.wire_type(), DELIMITED | START_GROUP)
            };
            let Some(index) =
                index.filter(|&index| wire_type == declared[index].ty.wire_type() || packs(&declared[index]))
            else {
                skip(&mut rest, number, wire_type, nested)?;
                scratch::append(&mut unknown, &start[..start.len() - rest.len()])?;
                continue;
            };
            let field = &declared[index];
            // The last member of a oneof counts.
            if let Some(other) = field.oneof.and_then(|oneof| members.insert(oneof, index))
                && other != index
            {
                found.remove(&other);
            }
            let mut numbers = |bits: u64, values: &mut Values| {
                let bits = field.canonical(bits);
                if !field.allows(bits) {
                    ensure!(!self.is_strict, DataLoss, "malformed message: an enum has no number {}", bits as i64);
                    write_varint(&mut unknown, u64::from(number) << 3 | VARINT)?;
                    return write_varint(&mut unknown, bits);
                }
                if !field.is_repeated {
                    values.numbers.clear();
                }
                scratch::push(&mut values.numbers, bits)
            };
            let mut values = found.remove(&index).unwrap_or_default();
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
            if !values.numbers.is_empty() || !values.parts.is_empty() {
                found.insert(index, values);
            }
        }
        if !declarations.required.iter().all(|index| found.contains_key(index)) {
            return Err(malformed("a required field is missing"));
        }
        let mut out = Vec::new();
        for (&index, values) in &found {
            self.put(&mut out, &declared[index], values, nested)?;
        }
        scratch::append(&mut out, &unknown)?;
        Ok(out)
    }

    /// Appends the values of a field.
    fn put(&mut self, out: &mut Vec<u8>, field: &Declared, values: &Values, nested: usize) -> Result<()> {
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
                Kind::Message(descriptor) => &self.normalize(descriptor, part, nested + 1)?,
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
}

#[cfg(test)]
mod tests {
    use super::super::Types;
    use super::*;
    use kernlink::Code;

    #[test]
    fn messages_of_one_type_are_described_once() {
        let types = Types::of(&"local://".into()).unwrap();
        let descriptor = types.lenient_message("tensorflow.TensorShapeProto").unwrap();
        let mut sanitizer = Sanitizer::default();
        // `dim { size: 2 }`, and the same with what is not written where it is nothing.
        let (given, expected) = (b"\x12\x04\x08\x02\x12\0".repeat(1000), b"\x12\x02\x08\x02".repeat(1000));
        assert_eq!(sanitizer.binary(&descriptor, &given).unwrap(), expected);
        assert_eq!(sanitizer.types.len(), 2);
    }

    #[test]
    fn the_last_member_of_a_oneof_counts() {
        let types = Types::of(&"local://".into()).unwrap();
        let descriptor = types.lenient_message("tensorflow.Feature").unwrap();
        let mut sanitizer = Sanitizer::default();
        for (given, expected) in [
            (&b"\x0a\0\x12\0\x1a\0"[..], &b"\x1a\0"[..]),
            (b"\x1a\0\x12\0\x0a\0", b"\x0a\0"),
            (b"\x1a\x03\x0a\x01\x05\x1a\x03\x0a\x01\x06", b"\x1a\x04\x0a\x02\x05\x06"),
        ] {
            assert_eq!(sanitizer.binary(&descriptor, given).unwrap(), expected, "{given:?}");
        }
    }

    #[test]
    fn text_may_hold_any_bytes_within_quotes() {
        let types = Types::of(&"local://".into()).unwrap();
        let descriptor = types.lenient_message("tensorflow.BytesList").unwrap();
        let mut sanitizer = Sanitizer::default();
        let bytes = sanitizer.text(&descriptor, b"value: \"a\xff\\\\\xfe\" # \xfd").unwrap();
        assert_eq!(bytes, b"\x0a\x04a\xff\\\xfe");
        for text in [&b"value: \"\\\xff\""[..], b"value\xff: \"a\"", b"\xff"] {
            assert_eq!(sanitizer.text(&descriptor, text).unwrap_err().code(), Code::DataLoss, "{text:?}");
        }
    }
}

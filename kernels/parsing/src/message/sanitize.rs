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
    DELIMITED, END_GROUP, FIXED32, FIXED64, MOST_NESTED, START_GROUP, Type, UNKNOWN_WIRE_TYPE, VARINT, delimited,
    malformed, short_key, skip, take, varint,
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
pub(super) fn digit(number: u8) -> char {
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

    /// The next field, by its index, and what it has. What is not declared goes to `unknown`.
    fn read<'m>(
        &self,
        rest: &mut &'m [u8],
        unknown: &mut Vec<u8>,
        nested: usize,
    ) -> Result<Option<(usize, Content<'m>)>> {
        let (number, wire_type) = short_key(rest)?;
        let declared = self.find(number).map(|index| (index, &self.fields[index]));
        let declared = declared.and_then(|(index, field)| Some((index, field, field.form(wire_type)?)));
        let Some((index, field, form)) = declared else {
            copy_unknown(unknown, rest, number, wire_type, nested)?;
            return Ok(None);
        };
        let content = match form {
            Form::Number => Content::Number(scalar(rest, field.ty)?),
            Form::Packed => {
                let packed = delimited(rest)?;
                packed_count(field.ty, packed)?;
                Content::Packed(packed)
            }
            Form::Part => {
                let part = delimited(rest)?;
                if matches!(field.kind, Kind::String) && std::str::from_utf8(part).is_err() {
                    return Err(malformed("a string is no UTF-8"));
                }
                Content::Part(part)
            }
            Form::Group => {
                ensure!(nested < MOST_NESTED, DataLoss, "malformed message: groups are nested too deeply");
                let inner = *rest;
                loop {
                    let end = inner.len() - rest.len();
                    if is_end(rest, number)? {
                        break Content::Part(&inner[..end]);
                    }
                    let (number, wire_type) = short_key(rest)?;
                    skip(rest, number, wire_type, nested + 1)?;
                }
            }
        };
        Ok(Some((index, content)))
    }
}

/// How a value is written.
enum Form {
    Number,
    Packed,
    Part,
    Group,
}

/// What a message has of a field.
enum Content<'m> {
    Number(u64),
    /// Numbers, one behind the other.
    Packed(&'m [u8]),
    /// A string or a message.
    Part(&'m [u8]),
}

/// Whether the end of the group comes next, over which it then passes. Its key may be longer than need be.
fn is_end(rest: &mut &[u8], number: u32) -> Result<bool> {
    let mut behind = *rest;
    let key = varint(&mut behind, "a group has no end")? as u32;
    let is_end = key == number << 3 | END_GROUP as u32 && rest.len() - behind.len() <= 5;
    if is_end {
        *rest = behind;
    }
    Ok(is_end)
}

/// Appends a field that is not declared: numbers, lengths and keys that are longer than need be are written as short as they can be.
fn copy_unknown(out: &mut Vec<u8>, rest: &mut &[u8], number: u32, wire_type: u64, nested: usize) -> Result<()> {
    const CUT: &str = "a field is cut";
    write_varint(out, u64::from(number) << 3 | wire_type)?;
    match wire_type {
        VARINT => write_varint(out, varint(rest, CUT)?),
        FIXED64 => scratch::append(out, take(rest, 8, CUT)?),
        FIXED32 => scratch::append(out, take(rest, 4, CUT)?),
        DELIMITED => {
            let part = delimited(rest)?;
            write_varint(out, part.len() as u64)?;
            scratch::append(out, part)
        }
        START_GROUP if nested < MOST_NESTED => loop {
            if is_end(rest, number)? {
                return write_varint(out, u64::from(number) << 3 | END_GROUP);
            }
            let (inner, wire_type) = short_key(rest)?;
            copy_unknown(out, rest, inner, wire_type, nested + 1)?;
        },
        _ => Err(malformed(UNKNOWN_WIRE_TYPE)),
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
            oneof: field.field_descriptor_proto().oneof_index.map(|index| index as usize),
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

    /// How its values are written with this wire type; `None` if they are not.
    fn form(&self, wire_type: u64) -> Option<Form> {
        match (self.ty.wire_type(), wire_type) {
            (DELIMITED, DELIMITED) => Some(Form::Part),
            (START_GROUP, START_GROUP) => Some(Form::Group),
            (DELIMITED | START_GROUP, _) => None,
            (_, DELIMITED) => Some(Form::Packed).filter(|_| self.is_repeated),
            (own, _) => Some(Form::Number).filter(|_| own == wire_type),
        }
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
    /// Whether the parts that were merged are known to be messages each.
    is_checked: bool,
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
        let is_strict = self.is_strict;
        let mut rest = bytes;
        while !rest.is_empty() {
            let Some((index, content)) = declarations.read(&mut rest, &mut unknown, nested)? else { continue };
            let field = &declared[index];
            // The last member of a oneof counts.
            if let Some(other) = field.oneof.and_then(|oneof| members.insert(oneof, index))
                && other != index
                && let Some(mut values) = found.remove(&other)
            {
                self.check_merged(&declared[other], &mut values, nested)?;
            }
            let mut numbers = |bits: u64, values: &mut Values| {
                let bits = field.canonical(bits);
                if !field.allows(bits) {
                    ensure!(!is_strict, DataLoss, "malformed message: an enum has no number {}", bits as i64);
                    write_varint(&mut unknown, u64::from(field.number) << 3 | VARINT)?;
                    return write_varint(&mut unknown, bits);
                }
                if !field.is_repeated {
                    values.numbers.clear();
                }
                scratch::push(&mut values.numbers, bits)
            };
            let mut values = found.remove(&index).unwrap_or_default();
            match content {
                Content::Number(bits) => numbers(bits, &mut values)?,
                Content::Packed(mut packed) => {
                    while !packed.is_empty() {
                        numbers(scalar(&mut packed, field.ty)?, &mut values)?;
                    }
                }
                Content::Part(part) if field.is_repeated || values.parts.is_empty() => {
                    scratch::push(&mut values.parts, scratch::copied(part)?)?
                }
                Content::Part(part) => {
                    self.check_merged(field, &mut values, nested)?;
                    if let Some(last) = values.parts.last_mut() {
                        if let Kind::Message(descriptor) = &field.kind {
                            self.check(descriptor, part, nested + 1)?;
                        } else {
                            last.clear();
                        }
                        scratch::append(last, part)?;
                    }
                }
            }
            if !values.numbers.is_empty() || !values.parts.is_empty() {
                found.insert(index, values);
            }
        }
        if descriptor.is_map_entry() {
            // It is a pair, whatever it lacks, and nothing else.
            unknown.clear();
            for (index, field) in declared.iter().enumerate() {
                found.entry(index).or_insert_with(|| match field.ty.wire_type() {
                    DELIMITED | START_GROUP => Values { parts: vec![Vec::new()], ..Values::default() },
                    _ => Values { numbers: vec![0], ..Values::default() },
                });
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

    /// Fails unless what the field has are messages, if it is a message: what is merged or replaced is not looked at again by itself.
    fn check_merged(&mut self, field: &Declared, values: &mut Values, nested: usize) -> Result<()> {
        if let Kind::Message(descriptor) = &field.kind
            && !std::mem::replace(&mut values.is_checked, true)
        {
            return values.parts.iter().try_for_each(|part| self.check(descriptor, part, nested + 1));
        }
        Ok(())
    }

    /// Fails unless the bytes are a message, which may lack what is required.
    fn check(&mut self, descriptor: &MessageDescriptor, bytes: &[u8], nested: usize) -> Result<()> {
        if nested > MOST_NESTED {
            return Err(malformed("messages are nested too deeply"));
        }
        let declarations = self.declarations(descriptor);
        let mut unknown = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            if let Some((index, Content::Part(part))) = declarations.read(&mut rest, &mut unknown, nested)?
                && let Kind::Message(inner) = &declarations.fields[index].kind
            {
                self.check(inner, part, nested + 1)?;
            }
            unknown.clear();
        }
        Ok(())
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
    use kernlink::dtype::TString;
    use prost_reflect::prost_types::field_descriptor_proto::{self, Label};
    use prost_reflect::prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};

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

    /// Bytes as a whole message of the type.
    fn whole(name: &str, bytes: &[u8]) -> Result<Vec<u8>> {
        let types = Types::of(&"local://".into())?;
        Sanitizer::default().binary(&types.lenient_message(name).expect("it is declared"), bytes)
    }

    #[test]
    fn what_is_merged_or_replaced_is_a_message() {
        for given in [
            // A `Feature` of bytes, whose length is cut, and one of floats.
            &b"\x0a\x01\x0a\x12\0"[..],
            // Two parts of bytes that are a message only together.
            b"\x0a\x01\x0a\x0a\x02\x01a",
            b"\x0a\0\x0a\x01\x0a",
        ] {
            assert_eq!(whole("tensorflow.Feature", given).unwrap_err().code(), Code::DataLoss, "{given:?}");
        }
        // Types within types, 90 levels of which each has two parts.
        let mut nested = Vec::new();
        for _ in 0..90 {
            let mut outer = Vec::new();
            for part in [&nested[..], b""] {
                outer.push(0x1a);
                write_varint(&mut outer, part.len() as u64).unwrap();
                outer.extend_from_slice(part);
            }
            nested = outer;
        }
        assert!(whole("google.protobuf.DescriptorProto", &nested).is_ok());
    }

    #[test]
    fn unknown_fields_are_written_anew() {
        for (given, expected) in [
            (&b"\xf8\xf0\x84\0\x85\0"[..], &b"\xf8\xf0\x04\x05"[..]),
            (b"\x7a\x82\0ab", b"\x7a\x02ab"),
            (b"\x7b\x20\x85\0\xfc\x80\0", b"\x7b\x20\x05\x7c"),
        ] {
            assert_eq!(whole("tensorflow.Feature", given).unwrap(), expected, "{given:?}");
        }
        for given in [
            // Lengths of 2^32 and of six bytes, of an unknown field and of one that is declared.
            &b"\x7a\x80\x80\x80\x80\x10"[..],
            b"\x7a\x80\x80\x80\x80\x80\0",
            b"\x0a\x80\x80\x80\x80\x10",
            b"\x0a\x80\x80\x80\x80\x80\0",
            // A group that has another's end, and none.
            b"\x7b\x74",
            b"\x7b\x20\x05",
        ] {
            assert_eq!(whole("tensorflow.Feature", given).unwrap_err().code(), Code::DataLoss, "{given:?}");
        }
    }

    #[test]
    fn ends_of_groups_may_be_longer_than_need_be() {
        // `message M { optional group G = 1 { optional int32 x = 1; } }`
        let mut group = FieldDescriptorProto { name: Some("g".into()), number: Some(1), ..Default::default() };
        group.type_name = Some(".M.G".into());
        group.set_type(field_descriptor_proto::Type::Group);
        group.set_label(Label::Optional);
        let mut x = FieldDescriptorProto { name: Some("x".into()), number: Some(1), ..Default::default() };
        x.set_type(field_descriptor_proto::Type::Int32);
        x.set_label(Label::Optional);
        let inner = DescriptorProto { name: Some("G".into()), field: vec![x], ..Default::default() };
        let message = DescriptorProto {
            name: Some("M".into()),
            field: vec![group],
            nested_type: vec![inner],
            ..Default::default()
        };
        let file = FileDescriptorProto { name: Some("f".into()), message_type: vec![message], ..Default::default() };
        let mut source = b"bytes://".to_vec();
        FileDescriptorSet { file: vec![file] }.encode(&mut source).unwrap();
        let types = Types::of(&TString::from(&source[..])).unwrap();
        let descriptor = types.lenient_message("M").unwrap();
        let whole = |bytes: &[u8]| Sanitizer::default().binary(&descriptor, bytes).map_err(|error| error.code());
        let expected = b"\x0b\x08\x07\x0c";
        for given in [&expected[..], b"\x0b\x08\x07\x8c\0", b"\x8b\x80\0\x08\x07\x8c\x80\x80\x80\0"] {
            assert_eq!(whole(given).unwrap(), expected, "{given:?}");
        }
        // An unknown group within it.
        assert_eq!(whole(b"\x0b\x13\x94\0\x8c\0").unwrap(), b"\x0b\x13\x14\x0c");
        for given in [&b"\x0b\x08\x07\x8c\x80\x80\x80\x80\0"[..], b"\x0b\x14", b"\x0b\x08\x07", b"\x0b\x04"] {
            assert_eq!(whole(given), Err(Code::DataLoss), "{given:?}");
        }
    }

    #[test]
    fn entries_of_maps_are_pairs() {
        // `Features` with one that has neither name nor value, and one that has a field more.
        assert_eq!(whole("tensorflow.Features", b"\x0a\0").unwrap(), b"\x0a\x04\x0a\0\x12\0");
        let expected = b"\x0a\x05\x0a\x01k\x12\0";
        assert_eq!(whole("tensorflow.Features", b"\x0a\x05\x0a\x01k\x18\x01").unwrap(), expected);
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

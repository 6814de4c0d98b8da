//! Defaults of bytes, as `prost-reflect` takes them.

use kernlink::error::{Error, Result, shortened};
use kernlink::tensor::scratch::{self, MakeRoom};
use prost_reflect::prost_types::field_descriptor_proto::Type;
use prost_reflect::prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto};

use super::super::sanitize::digit;

/// Writes the defaults of a file's fields with escapes of three octal digits.
///
/// # Errors
/// INVALID_ARGUMENT if one has a wrong escape.
pub(super) fn escape(file: &mut FileDescriptorProto) -> Result<()> {
    file.extension.iter_mut().try_for_each(escape_default)?;
    file.message_type.iter_mut().try_for_each(escape_defaults)
}

fn escape_defaults(message: &mut DescriptorProto) -> Result<()> {
    message.field.iter_mut().chain(&mut message.extension).try_for_each(escape_default)?;
    message.nested_type.iter_mut().try_for_each(escape_defaults)
}

/// Writes the default of bytes with escapes of three octal digits: `prost-reflect` panics at some others.
fn escape_default(field: &mut FieldDescriptorProto) -> Result<()> {
    if field.r#type() != Type::Bytes {
        return Ok(());
    }
    let Some(value) = &field.default_value else { return Ok(()) };
    let value = unescaped(value.as_bytes())?.ok_or_else(|| {
        Error::invalid_argument(format!("the default of {} has a wrong escape", shortened(field.name())))
    })?;
    let mut escaped = String::new();
    escaped.make_room(4 * value.len())?;
    for byte in value {
        escaped.extend(['\\', digit(byte >> 6), digit(byte >> 3), digit(byte)]);
    }
    field.default_value = Some(escaped);
    Ok(())
}

/// The bytes that a literal of C stands for; `None` if it has a wrong escape.
pub(super) fn unescaped(mut text: &[u8]) -> Result<Option<Vec<u8>>> {
    // No escape stands for more bytes than it has.
    let mut bytes = scratch::room(text.len())?;
    while let Some((&first, rest)) = text.split_first() {
        text = rest;
        if first != b'\\' {
            bytes.push(first);
        } else if let Some(rest) = unescape(text, &mut bytes) {
            text = rest;
        } else {
            return Ok(None);
        }
    }
    Ok(Some(bytes))
}

/// Appends what an escape stands for, of which the backslash has been read, and returns the text behind it.
fn unescape<'t>(text: &'t [u8], bytes: &mut Vec<u8>) -> Option<&'t [u8]> {
    let (&escape, rest) = text.split_first()?;
    let digits = |text: &[u8], most: usize, radix: u32| {
        text.iter().take(most).take_while(|&&byte| char::from(byte).is_digit(radix)).count()
    };
    let (radix, digits, skipped) = match escape {
        b'0'..=b'7' => (8, digits(text, 3, 8), 0),
        b'x' | b'X' => (16, digits(rest, usize::MAX, 16), 1),
        b'u' | b'U' => {
            let count = if escape == b'u' { 4 } else { 8 };
            let (number, rest) =
                rest.split_at_checked(digits(rest, count, 16)).filter(|(number, _)| number.len() == count)?;
            let number = u32::from_str_radix(std::str::from_utf8(number).ok()?, 16).ok()?;
            // No surrogate, and at most U+10FFFF.
            bytes.extend_from_slice(char::from_u32(number)?.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(rest);
        }
        _ => {
            let at = br#"abfnrtv\?'""#.iter().position(|&known| known == escape)?;
            bytes.push(b"\x07\x08\x0c\n\r\t\x0b\\?'\""[at]);
            return Some(rest);
        }
    };
    let (number, rest) = text[skipped..].split_at(digits);
    let number = std::str::from_utf8(number).ok()?;
    bytes.push(u8::from_str_radix(number, radix).ok()?);
    Some(rest)
}

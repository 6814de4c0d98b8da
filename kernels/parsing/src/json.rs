//! DecodeJSONExample.
//!
//! It takes what the parser of protocol buffers takes that TensorFlow uses, which is more than JSON: single quotes, names
//! without quotes, a comma behind the last element, lists within lists, one value in place of a list.

use kernlink::dtype::TString;
use kernlink::error::{Result, shortened_bytes};
use kernlink::kernel::KernelContext;
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink::{bail, ensure};
use kernlink_kernels_common::parsed::parse_number;
use kernlink_kernels_common::wire::Message;
use kernlink_macros::register_kernel;
use kernlink_ops::DecodeJSONExample;

/// The deepest nesting of objects and lists.
const MOST_NESTED: usize = 100;

/// Doubles up to here stand for integers.
const EXACT: f64 = (1u64 << 53) as f64;

#[register_kernel(device = Cpu)]
fn decode(ctx: &mut KernelContext<'_, DecodeJSONExample>) -> Result<()> {
    type Op = DecodeJSONExample;
    let input = ctx.input(Op::JSON_EXAMPLES)?;
    let texts = input.as_slice::<TString>()?;
    let mut output = ctx.allocate_output(Op::BINARY_EXAMPLES, input.shape())?;
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let cost = 200 + bytes.saturating_mul(10) / texts.len().max(1);
    ctx.try_parallel_chunks(output.as_mut_slice::<TString>()?, 1, cost, |first, piece| {
        for (place, text) in piece.iter_mut().zip(&texts[first..]) {
            *place = example(text)?.into();
        }
        Ok(())
    })?;
    ctx.set_output(Op::BINARY_EXAMPLES, output)
}

/// The serialized Example.
pub(super) fn example(text: &[u8]) -> Result<Vec<u8>> {
    let mut parser = Parser { text, at: 0, nested: 0 };
    let mut example = Message::default();
    parser.object(|parser, name| match name {
        "features" => parser.optional(|parser| example.bytes(1, &parser.features()?)),
        _ => parser.no_field(name),
    })?;
    parser.skip_space();
    ensure!(
        parser.at == text.len(),
        InvalidArgument,
        "Error while parsing JSON: extraneous characters after end of JSON object, at byte {}",
        parser.at
    );
    Ok(example.finish())
}

/// Reads an element of a list, and appends it.
type Element<'t> = fn(&mut Parser<'t>, &mut Message) -> Result<()>;

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    /// In how many objects and lists the parser is.
    nested: usize,
}

impl<'t> Parser<'t> {
    fn features(&mut self) -> Result<Vec<u8>> {
        let mut features = Message::default();
        self.object(|parser, name| match name {
            "feature" => parser.optional(|parser| {
                // A name stands once in an object.
                let mut names = std::collections::HashSet::new();
                parser.object(|parser, name| {
                    names.make_room(1)?;
                    if !names.insert(scratch::copied_text(name)?) {
                        return parser.wrong("a key that stands twice");
                    }
                    let mut entry = Message::default();
                    entry.bytes(1, name.as_bytes())?;
                    parser.optional(|parser| entry.bytes(2, &parser.feature()?))?;
                    features.bytes(1, &entry.finish())
                })
            }),
            _ => parser.no_field(name),
        })?;
        Ok(features.finish())
    }

    fn feature(&mut self) -> Result<Vec<u8>> {
        let mut feature = Message::default();
        let mut has_list = false;
        self.object(|parser, name| {
            let (field, element): (u32, Element<'t>) = match name {
                "bytesList" | "bytes_list" => (1, Self::bytes),
                "floatList" | "float_list" => (2, Self::float),
                "int64List" | "int64_list" => (3, Self::integer),
                _ => return parser.no_field(name),
            };
            parser.optional(|parser| {
                if std::mem::replace(&mut has_list, true) {
                    return parser.wrong("a second list of one feature");
                }
                let mut list = Message::default();
                parser.object(|parser, name| match name {
                    "value" => parser.optional(|parser| parser.elements(&mut list, element)),
                    _ => parser.no_field(name),
                })?;
                feature.bytes(field, &list.finish())
            })
        })?;
        Ok(feature.finish())
    }

    /// Elements of a list, in lists of any depth.
    fn elements(&mut self, list: &mut Message, element: Element<'t>) -> Result<()> {
        if self.peek() != Some(b'[') {
            return element(self, list);
        }
        self.delimited(b']', |parser| parser.elements(list, element))
    }

    fn integer(&mut self, list: &mut Message) -> Result<()> {
        let value = match self.peek() {
            Some(b'n') => self.null().map(|()| Some(0)),
            Some(b'"' | b'\'') => {
                let text = self.string()?;
                // No white space, and no names of floats: all else is a number as C reads it.
                let is_plain = !text.bytes().any(|byte| byte.is_ascii_whitespace());
                Ok(is_plain.then(|| integer(&text)).flatten())
            }
            _ => self.number().map(integer),
        };
        match value? {
            // It is written also where it is 0.
            Some(value) => list.varint(1, value as u64),
            None => self.wrong("no int64"),
        }
    }

    fn float(&mut self, list: &mut Message) -> Result<()> {
        let (value, may_be_infinite) = match self.peek() {
            Some(b'n') => (self.null().map(|()| Some(0.0))?, false),
            Some(b'"' | b'\'') => (parse_number::<f64>(self.string()?.as_bytes()), true),
            _ => (parse_number::<f64>(self.number()?.as_bytes()), false),
        };
        let Some(value) = value.filter(|value| may_be_infinite || value.is_finite()) else {
            return self.wrong("no float");
        };
        if (value as f32).is_infinite() && value.is_finite() {
            return self.wrong("a number that is too great for a float");
        }
        list.float(1, value as f32)
    }

    fn bytes(&mut self, list: &mut Message) -> Result<()> {
        if self.peek() == Some(b'n') {
            self.null()?;
            return list.bytes(1, &[]);
        }
        let text = self.string()?;
        match base64(text.as_bytes())? {
            Some(bytes) => list.bytes(1, &bytes),
            None => self.wrong("no base64"),
        }
    }

    #[cold]
    fn wrong<T>(&self, what: &str) -> Result<T> {
        let rest = shortened_bytes(&self.text[self.at.min(self.text.len())..]);
        bail!(InvalidArgument, "Error while parsing JSON: {what} at byte {}, before '{rest}'", self.at)
    }

    #[cold]
    fn no_field<T>(&self, name: &str) -> Result<T> {
        self.wrong(&format!("no such field: '{}'", shortened_bytes(name.as_bytes())))
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.iter().position(|byte| !b" \n\r\t".contains(byte)).unwrap_or(rest.len());
    }

    /// The first byte of the next token.
    fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.text.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.peek() != Some(byte) {
            return self.wrong(&format!("no '{}'", char::from(byte)));
        }
        self.at += 1;
        Ok(())
    }

    fn null(&mut self) -> Result<()> {
        if !self.text[self.at..].starts_with(b"null") {
            return self.wrong("no value");
        }
        self.at += 4;
        Ok(())
    }

    /// A value, or `null` for none.
    fn optional(&mut self, value: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if self.peek() == Some(b'n') { self.null() } else { value(self) }
    }

    /// What stands between a bracket, which is the next byte, and the one that closes it, separated by commas.
    fn delimited(&mut self, close: u8, mut part: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.at += 1;
        self.nested += 1;
        if self.nested > MOST_NESTED {
            return self.wrong("nesting that is too deep");
        }
        while self.peek() != Some(close) {
            part(self)?;
            if self.peek() != Some(close) {
                self.expect(b',')?;
            }
        }
        self.at += 1;
        self.nested -= 1;
        Ok(())
    }

    /// An object, member by member: `member` is called with the name, before the value.
    fn object(&mut self, mut member: impl FnMut(&mut Self, &str) -> Result<()>) -> Result<()> {
        if self.peek() != Some(b'{') {
            return self.wrong("no object");
        }
        self.delimited(b'}', |parser| {
            let name = match parser.peek() {
                Some(b'"' | b'\'') => parser.string()?,
                _ => parser.bare_word()?,
            };
            parser.expect(b':')?;
            member(parser, &name)
        })
    }

    /// A name without quotes.
    fn bare_word(&mut self) -> Result<String> {
        let rest = &self.text[self.at..];
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let length = rest.iter().position(|&byte| !is_part(byte)).unwrap_or(rest.len());
        let word = &rest[..length];
        if word.first().is_none_or(u8::is_ascii_digit) || [&b"null"[..], b"true", b"false"].contains(&word) {
            return self.wrong("no name");
        }
        self.at += length;
        scratch::copied(word).map(|word| String::from_utf8(word).unwrap_or_default())
    }

    /// The text of a number.
    fn number(&mut self) -> Result<&'t str> {
        let rest = &self.text[self.at..];
        let digits = |from: usize| rest[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let start = usize::from(rest.first() == Some(&b'-'));
        let whole = digits(start);
        let mut end = start + whole;
        let mut is_number = whole == 1 || (whole > 1 && rest[start] != b'0');
        if rest.get(end) == Some(&b'.') {
            let fraction = digits(end + 1);
            is_number &= fraction > 0;
            end += 1 + fraction;
        }
        if matches!(rest.get(end), Some(b'e' | b'E')) {
            end += 1 + usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end);
            is_number &= exponent > 0;
            end += exponent;
        }
        match std::str::from_utf8(&rest[..end]) {
            Ok(text) if is_number => {
                self.at += end;
                Ok(text)
            }
            _ => self.wrong("no number"),
        }
    }

    /// A string, which begins with its quote.
    fn string(&mut self) -> Result<String> {
        let quote = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => quote,
            _ => return self.wrong("no string"),
        };
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(length) = rest.iter().position(|&byte| byte == quote || byte == b'\\') else {
                return self.wrong("a string without an end");
            };
            scratch::append(&mut bytes, &rest[..length])?;
            self.at += length + 1;
            if rest[length] == quote {
                break;
            }
            let mut buffer = [0; 4];
            scratch::append(&mut bytes, self.escaped()?.encode_utf8(&mut buffer).as_bytes())?;
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(_) => self.wrong("a string that is no UTF-8"),
        }
    }

    /// The character that stands behind a backslash.
    fn escaped(&mut self) -> Result<char> {
        let Some(&byte) = self.text.get(self.at) else { return self.wrong("a string without an end") };
        self.at += 1;
        Ok(match byte {
            b'"' | b'\'' | b'\\' | b'/' => byte.into(),
            b'b' => '\u{8}',
            b'f' => '\u{C}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' | b'U' => {
                let mut units = [self.unit()?, 0];
                let is_pair = matches!(units[0], 0xD800..0xDC00) && self.text[self.at..].starts_with(b"\\u");
                if is_pair {
                    self.at += 2;
                    units[1] = self.unit()?;
                }
                let units = &units[..1 + usize::from(is_pair)];
                match char::decode_utf16(units.iter().copied()).next() {
                    Some(Ok(character)) if character.len_utf16() == units.len() => character,
                    _ => return self.wrong("a half of a pair of surrogates"),
                }
            }
            _ => return self.wrong("an escape that JSON has not"),
        })
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Result<u16> {
        let digits = self.text.get(self.at..self.at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
        let unit = digits
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u16::from_str_radix(digits, 16).ok());
        match unit {
            Some(unit) => {
                self.at += 4;
                Ok(unit)
            }
            None => self.wrong("an escape that is too short"),
        }
    }
}

/// The integer in a text, which may be written as a float that stands for one.
fn integer(text: &str) -> Option<i64> {
    parse_number::<i64>(text.as_bytes()).or_else(|| {
        let value = parse_number::<f64>(text.as_bytes())?;
        (value.abs() <= EXACT && value.fract() == 0.0).then_some(value as i64)
    })
}

/// The bytes in base64, of either alphabet; `=` may fill it up to a multiple of four, or not stand there at all.
fn base64(text: &[u8]) -> Result<Option<Vec<u8>>> {
    let digits = text.iter().position(|&byte| byte == b'=').unwrap_or(text.len());
    let (digits, padding) = text.split_at(digits);
    let is_padded = padding.iter().all(|&byte| byte == b'=') && text.len().is_multiple_of(4) && padding.len() < 3;
    if digits.len() % 4 == 1 || !(padding.is_empty() || is_padded) {
        return Ok(None);
    }
    let mut bytes = scratch::room(digits.len() / 4 * 3 + 2)?;
    for group in digits.chunks(4) {
        let mut bits = 0u32;
        for &digit in group {
            let value = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                _ => return Ok(None),
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * (4 - group.len());
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_text_is_refused() {
        let deep = format!("{{\"features\":{{\"feature\":{{\"a\":{{\"int64List\":{{\"value\":{}", "[".repeat(100_000));
        for text in [
            "",
            "{",
            "{\"",
            "{\"a",
            "{\"features\"",
            "{\"features\":",
            "{a:1}",
            "{\"\\",
            "{\"\\u",
            "{\"\\ud83d\\u",
            &deep,
        ] {
            assert!(example(text.as_bytes()).is_err(), "{text:.40}");
        }
        let whole = br#"{"features":{"feature":{"a":{"int64List":{"value":[1,"2",-3e0]}},"b\u00e9":{"bytesList":{"value":["YQ=="]}}}}}"#;
        example(whole).unwrap();
        for end in 0..whole.len() {
            assert!(example(&whole[..end]).is_err());
        }
    }
}

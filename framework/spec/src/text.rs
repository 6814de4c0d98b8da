//! Protobuf text format, in which defaults are written, as a tree without types.

use crate::cursor::Cursor;
use crate::error::{Span, SpecError};

/// How deep messages may nest.
const MAX_DEPTH: usize = 99;

/// A value in protobuf text format.
#[derive(Clone, Debug, PartialEq)]
pub struct TextValue {
    /// What it is.
    pub kind: TextKind,
    /// Where it stands.
    pub span: Span,
}

/// What a [`TextValue`] is.
#[derive(Clone, Debug, PartialEq)]
pub enum TextKind {
    /// A number or the name of an enum value, as written.
    Word(String),
    /// A string.
    Bytes(Vec<u8>),
    /// A message: fields in braces or angle brackets.
    Message(Vec<TextField>),
    /// A list in square brackets.
    List(Vec<TextValue>),
}

/// A field of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct TextField {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// Its value.
    pub value: TextValue,
}

impl TextValue {
    /// What kind of value it is, to say in errors.
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            TextKind::Word(word) => format!("`{word}`"),
            TextKind::Bytes(_) => "a string".to_owned(),
            TextKind::Message(_) => "a message in braces".to_owned(),
            TextKind::List(_) => "a list in brackets".to_owned(),
        }
    }
}

/// Reads one value.
pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<TextValue, SpecError> {
    value(cursor, 0)
}

/// Reads the fields of a whole message, as a file holds them: strings in a row are one, and `,` or `;` may end a field.
///
/// # Errors
/// If the text is malformed.
pub fn parse_message(text: &str) -> Result<Vec<TextField>, SpecError> {
    fields(&mut Cursor::new(text), None, 0)
}

fn skip(cursor: &mut Cursor<'_>) {
    cursor.skip_blanks();
    while cursor.peek() == Some('#') {
        cursor.take_while(|c| c != '\n');
        cursor.skip_blanks();
    }
}

fn value(cursor: &mut Cursor<'_>, depth: usize) -> Result<TextValue, SpecError> {
    let start = cursor.at();
    if depth >= MAX_DEPTH && matches!(cursor.peek(), Some('{' | '<' | '[')) {
        return Err(SpecError::new(start..start, format!("messages nest more than {MAX_DEPTH} deep")));
    }
    let kind = match cursor.peek() {
        Some('\'' | '"') => TextKind::Bytes(cursor.quoted()?),
        Some('{') => {
            cursor.bump();
            TextKind::Message(fields(cursor, Some('}'), depth)?)
        }
        Some('<') => {
            cursor.bump();
            TextKind::Message(fields(cursor, Some('>'), depth)?)
        }
        Some('[') => {
            cursor.bump();
            TextKind::List(elements(cursor, depth)?)
        }
        _ => {
            let word = cursor.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.'));
            if word.is_empty() {
                return Err(cursor.expected("a value"));
            }
            TextKind::Word(word.to_owned())
        }
    };
    Ok(TextValue { kind, span: start..cursor.at() })
}

fn elements(cursor: &mut Cursor<'_>, depth: usize) -> Result<Vec<TextValue>, SpecError> {
    let mut elements = Vec::new();
    skip(cursor);
    if cursor.eat("]") {
        return Ok(elements);
    }
    loop {
        skip(cursor);
        if cursor.peek() == Some(']') {
            return Err(cursor.expected("a value after the last `,` of the list"));
        }
        elements.push(value(cursor, depth + 1)?);
        skip(cursor);
        if cursor.eat("]") {
            return Ok(elements);
        }
        if !cursor.eat(",") {
            return Err(cursor.expected("`,` or `]` in the list"));
        }
    }
}

/// The fields up to `close`, or to the end of a whole message.
fn fields(cursor: &mut Cursor<'_>, close: Option<char>, depth: usize) -> Result<Vec<TextField>, SpecError> {
    let end = close.map_or("the end".to_owned(), |close| format!("`{close}`"));
    let mut fields = Vec::new();
    loop {
        skip(cursor);
        if cursor.peek() == close {
            cursor.bump();
            return Ok(fields);
        }
        let start = cursor.at();
        let name = cursor.word().to_owned();
        let name_span = start..cursor.at();
        if name.is_empty() {
            return Err(cursor.expected(format_args!("a field or {end}")));
        }
        skip(cursor);
        let colon = cursor.eat(":");
        skip(cursor);
        if !colon && !matches!(cursor.peek(), Some('{' | '<')) {
            return Err(cursor.expected(format_args!("`:` after the field `{name}`")));
        }
        let mut value = value(cursor, depth + 1)?;
        skip(cursor);
        if let (TextKind::Bytes(bytes), None) = (&mut value.kind, close) {
            while matches!(cursor.peek(), Some('\'' | '"')) {
                bytes.extend(cursor.quoted()?);
                skip(cursor);
            }
        }
        if matches!(&value.kind, TextKind::List(elements) if elements.is_empty()) {
            let message = format!("the field `{name}` has an empty list: leave the field out");
            return Err(SpecError::new(value.span, message));
        }
        fields.push(TextField { name, name_span, value });
        match cursor.peek() {
            Some(',' | ';') if close.is_none() => drop(cursor.bump()),
            Some(',' | ';') => {
                return Err(cursor.expected(format_args!("the next field or {end} (a blank divides fields)")));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<TextValue, SpecError> {
        let mut cursor = Cursor::new(text);
        let value = parse(&mut cursor)?;
        cursor.finish("nothing")?;
        Ok(value)
    }

    #[test]
    fn all_kinds() {
        let TextKind::Message(fields) =
            read("{ a: 1 b: -1.5e3 c { d: 'x' } e < f: [1, 2] > g: {} # note\n h: DT_FLOAT }").unwrap().kind
        else {
            panic!("not a message")
        };
        let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "e", "g", "h"]);
        assert_eq!(fields[1].value.kind, TextKind::Word("-1.5e3".into()));
        let TextKind::Message(inner) = &fields[2].value.kind else { panic!("not a message") };
        assert_eq!(inner[0].value.kind, TextKind::Bytes(b"x".to_vec()));
        assert_eq!(read("[]").unwrap().kind, TextKind::List(vec![]));
    }

    #[test]
    fn whole_messages() {
        let fields = parse_message("# of a file\na: 'x' \"y\"; b: 1, c: [2] a: ''").unwrap();
        let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "a"]);
        assert_eq!(fields[0].value.kind, TextKind::Bytes(b"xy".to_vec()));
        assert_eq!(parse_message(" # nothing"), Ok(Vec::new()));
        for (text, message) in [("}", "a field or the end, found `}`"), ("a", "`:` after"), ("a: 'x", "no closing '")] {
            let error = parse_message(text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {}", error.message);
        }
    }

    #[test]
    fn errors() {
        for (text, message) in [
            ("", "expected a value, found the end"),
            ("[1,]", "after the last `,`"),
            ("[1 2]", "`,` or `]`"),
            ("[1", "`,` or `]` in the list, found the end"),
            ("{ a }", "`:` after the field `a`, found `}`"),
            ("{ a: }", "expected a value, found `}`"),
            ("{ a: 1", "a field or `}`, found the end"),
            ("{ 'a': 1 }", "a field or `}`"),
            ("{ a: 1 > }", "a field or `}`, found `>`"),
            ("'a", "no closing '"),
            ("{ a: 1, b: 2 }", "the next field or `}` (a blank divides fields), found `,`"),
            ("{ a: 1; }", "the next field or `}`"),
            ("{ a: [] }", "the field `a` has an empty list"),
            ("'a' 'b'", "extra `'b'`"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {}", error.message);
        }
        let nested = |depth: usize| format!("{}{{a: 1}}{}", "{a".repeat(depth - 1), "}".repeat(depth - 1));
        assert!(read(&nested(99)).is_ok());
        let deep = nested(100);
        assert!(read(&deep).unwrap_err().message.contains("nest more than 99 deep"));
    }
}

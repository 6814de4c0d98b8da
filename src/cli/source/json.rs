//! JSON with the words that Python writes, and what is wrong with a text that is none.

use serde_json::Value;

use super::literal::word;
use crate::dtype::DataType;

/// JSON, for floating dtypes with the words that Python writes for numbers that JSON lacks; or what is wrong with the text.
pub(super) fn parse(text: &str, dtype: DataType) -> std::result::Result<Value, String> {
    let error = match serde_json::from_str(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let Some(quoted) = takes_words(dtype).then(|| Quoted::of(text)).flatten() else {
        return Err(explained(text, &error, (error.line(), error.column()), dtype));
    };
    serde_json::from_str(&quoted.text)
        .map_err(|error| explained(text, &error, quoted.place(error.line(), error.column()), dtype))
}

/// Whether the dtype has the numbers that JSON lacks.
fn takes_words(dtype: DataType) -> bool {
    dtype.is_floating() || dtype.is_complex()
}

/// A text with quotes around the words for numbers that JSON lacks.
struct Quoted {
    text: String,
    /// The places in it of the quotes that were added.
    quotes: Vec<usize>,
}

impl Quoted {
    /// The text with quotes around `NaN`, `Infinity` and `-Infinity` where they have none; nothing if there are no such words.
    fn of(text: &str) -> Option<Quoted> {
        let mut quoted = Quoted { text: String::new(), quotes: Vec::new() };
        let (mut kept, mut at, mut in_string) = (0, 0, false);
        let bytes = text.as_bytes();
        while at < bytes.len() {
            match bytes[at] {
                b'\\' if in_string => at += 1,
                b'"' => in_string = !in_string,
                b'N' | b'I' | b'-' if !in_string => {
                    let word = ["NaN", "Infinity", "-Infinity"].into_iter().find(|word| text[at..].starts_with(word));
                    if let Some(word) = word {
                        quoted.text.push_str(&text[kept..at]);
                        quoted.quotes.extend([quoted.text.len(), quoted.text.len() + 1 + word.len()]);
                        quoted.text.extend(["\"", word, "\""]);
                        at += word.len();
                        kept = at;
                        continue;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        quoted.text.push_str(&text[kept..]);
        (kept > 0).then_some(quoted)
    }

    /// The line and column, from 1, at which what stands there in the quoted text stands in the text as it was.
    fn place(&self, line: usize, column: usize) -> (usize, usize) {
        let before = self.text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum::<usize>();
        let added = self.quotes.iter().filter(|quote| (before..before + column).contains(quote)).count();
        (line, column.saturating_sub(added))
    }
}

/// What is wrong with a text that is no JSON, in words of what to write where it is known. The place is the error's line and
/// column, from 1.
fn explained(text: &str, error: &serde_json::Error, place: (usize, usize), dtype: DataType) -> String {
    let (line, column) = place;
    let known = text.lines().nth(line.saturating_sub(1)).and_then(|text| {
        let (start, found) = word_at(text, column.checked_sub(1)?)?;
        let instead = word(found);
        let place = format!("line {line}, column {}", start + 1);
        match &*instead {
            "NaN" | "Infinity" | "-Infinity" if !takes_words(dtype) => {
                Some(format!("{place}: `{found}` is no {dtype}"))
            }
            _ if instead != found => Some(format!("{place}: `{found}` is no JSON: write `{instead}`")),
            _ => None,
        }
    });
    known.unwrap_or_else(|| {
        // The parser ends its sentence by the place in what it was given.
        let what = error.to_string();
        let what = what.rsplit_once(" at line ").map_or(&*what, |(what, _)| what);
        format!("line {line}, column {column}: {what}")
    })
}

/// What stands around a byte of a line, up to blanks and JSON's own signs, and the byte at which it begins.
fn word_at(line: &str, byte: usize) -> Option<(usize, &str)> {
    let divides =
        |byte: u8| matches!(byte, b',' | b':' | b'[' | b']' | b'{' | b'}' | b'"') || byte.is_ascii_whitespace();
    let (before, after) = line.as_bytes().split_at(byte.min(line.len()));
    let start = before.iter().rposition(|&byte| divides(byte)).map_or(0, |at| at + 1);
    let end = after.iter().position(|&byte| divides(byte)).map_or(line.len(), |at| byte + at);
    Some((start, line.get(start..end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_json_lacks_are_explained_where_they_stand() {
        for (text, dtype, said) in [
            ("[1, nan]", DataType::Float, "line 1, column 5: `nan` is no JSON: write `NaN`"),
            ("[[1],\n [-inf]]", DataType::Double, "line 2, column 3: `-inf` is no JSON: write `-Infinity`"),
            ("True", DataType::Bool, "line 1, column 1: `True` is no JSON: write `true`"),
            ("[1., 2]", DataType::Float, "line 1, column 2: `1.` is no JSON: write `1.0`"),
            ("[+1]", DataType::Int32, "line 1, column 2: `+1` is no JSON: write `1`"),
            ("[NaN, nan]", DataType::Float, "line 1, column 7: `nan` is no JSON: write `NaN`"),
            ("[NaN,\n -Infinity, nan, NaN]", DataType::Float, "line 2, column 13: `nan` is no JSON: write `NaN`"),
            ("[1, NaN]", DataType::Int32, "line 1, column 5: `NaN` is no int32"),
            ("[1, é", DataType::Int32, "line 1, column 5: expected value"),
            ("", DataType::Int32, "line 1, column 0: EOF while parsing a value"),
            ("[1,", DataType::Int32, "line 1, column 3: EOF while parsing a value"),
        ] {
            assert_eq!(parse(text, dtype).unwrap_err(), said, "{text}");
        }
    }

    #[test]
    fn words_in_strings_are_left() {
        assert!(Quoted::of(r#"["NaN", "\"Infinity", é, -2]"#).is_none());
    }
}

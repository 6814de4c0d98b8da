//! What to write in the place of a literal that is no JSON, such as what Python prints.

use crate::dtype::DataType;
use crate::error::Error;

/// No longer text is looked at.
const LONGEST: usize = 200;

/// The JSON that a text probably stands for, if that is a value of `dtype`.
pub(super) fn instead(text: &str, dtype: DataType) -> Option<String> {
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    let json = match dtype {
        DataType::String => match text.strip_prefix('[') {
            Some(list) => quoted(list.strip_suffix(']')?)?,
            None => serde_json::Value::from(text).to_string(),
        },
        _ => json(text),
    };
    let value = super::json::parse(&json, dtype).ok()?;
    super::from_json(&value, dtype).is_ok().then_some(json)
}

/// A list of words, as a shell leaves them or Python prints them, as JSON has it; `None` where it is not clear which they are.
fn quoted(list: &str) -> Option<String> {
    let word = |part: &str| {
        let part = part.trim();
        let bare = ['\'', '"'].iter().find_map(|&quote| part.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(part);
        let is_word = !bare.is_empty() && !bare.contains(['\'', '"', '\\', '[', ']', '{', '}']);
        is_word.then(|| serde_json::Value::from(bare).to_string())
    };
    let words = list.split(',').map(word).collect::<Option<Vec<_>>>()?;
    Some(format!("[{}]", words.join(", ")))
}

/// The text with brackets around lists, commas between elements, and the words of JSON and of NumPy's files.
fn json(text: &str) -> String {
    let mut json = String::new();
    let (mut depth, mut is_list, mut values) = (0usize, true, 0usize);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '[' | '(' | ']' | ')' | ',' => 1,
            c if c.is_whitespace() => c.len_utf8(),
            _ => {
                rest.find(|c: char| matches!(c, '[' | '(' | ']' | ')' | ',') || c.is_whitespace()).unwrap_or(rest.len())
            }
        };
        let (piece, after) = rest.split_at(length);
        rest = after;
        if matches!(first, ']' | ')') {
            json.push(']');
            depth = depth.saturating_sub(1);
            continue;
        }
        if first == ',' || first.is_whitespace() {
            continue;
        }
        if !json.is_empty() && !json.ends_with('[') {
            json.push_str(", ");
        }
        values += usize::from(depth == 0);
        match first {
            '[' | '(' => {
                json.push('[');
                depth += 1;
            }
            _ => {
                is_list &= depth > 0;
                json.push_str(&word(piece));
            }
        }
    }
    if values > 1 || (!is_list && text.contains(',')) { format!("[{json}]") } else { json }
}

/// A number or truth value as JSON has it.
pub(super) fn word(word: &str) -> String {
    match &*word.to_ascii_lowercase() {
        "nan" => "NaN".to_owned(),
        "inf" | "+inf" | "infinity" => "Infinity".to_owned(),
        "-inf" | "-infinity" => "-Infinity".to_owned(),
        "true" => "true".to_owned(),
        "false" => "false".to_owned(),
        _ if word.ends_with('.') => format!("{word}0"),
        _ => word.strip_prefix('+').unwrap_or(word).to_owned(),
    }
}

/// The error of an array in a file that has another dtype than the input.
pub(super) fn other_dtype(found: DataType, dtype: DataType) -> Error {
    let name = match dtype {
        DataType::Half => "float16".to_owned(),
        DataType::Float => "float32".to_owned(),
        DataType::Double => "float64".to_owned(),
        DataType::Bool => "bool_".to_owned(),
        DataType::String => "bytes_".to_owned(),
        dtype => dtype.to_string(),
    };
    let advice = match dtype {
        DataType::Resource | DataType::Variant => String::new(),
        _ => format!(": save it as `array.astype(np.{name})`"),
    };
    Error::invalid_argument(format!("the array is {found}, and the input is {dtype}{advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_python_prints_is_written_as_json() {
        for (text, dtype, json) in [
            ("nan", DataType::Float, "NaN"),
            ("[-inf, 1.]", DataType::Float, "[-Infinity, 1.0]"),
            ("True", DataType::Bool, "true"),
            ("[True False]", DataType::Bool, "[true, false]"),
            ("1,2,3", DataType::Int32, "[1, 2, 3]"),
            ("1 2", DataType::Int32, "[1, 2]"),
            ("(1,)", DataType::Int32, "[1]"),
            ("[[1 2]\n [3 4]]", DataType::Int32, "[[1, 2], [3, 4]]"),
            ("[1], [2]", DataType::Int32, "[[1], [2]]"),
            ("s=hello", DataType::String, "\"s=hello\""),
            ("[one, 'two words']", DataType::String, r#"["one", "two words"]"#),
        ] {
            assert_eq!(instead(text, dtype).as_deref(), Some(json), "{text}");
        }
        for (text, dtype) in [
            ("hello", DataType::Float),
            ("[1", DataType::Float),
            ("1.5 x", DataType::Int32),
            ("[a, it's]", DataType::String),
            ("[[a], [b]]", DataType::String),
            ("[a", DataType::String),
        ] {
            assert_eq!(instead(text, dtype), None, "{text}");
        }
    }
}

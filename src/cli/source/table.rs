//! Numbers in a text file.

use serde_json::Value;

use super::{element, from_json, unsuitable};
use crate::dispatch_pod;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// A line of the file that has values.
struct Row {
    /// The line's number, counted from 1.
    line: usize,
    values: Vec<Value>,
}

/// A line a row, blanks or commas between values; a single line is a vector, and so is a single column if `is_vector`. Lines without values do not count, nor what
/// stands behind a `#`, as in files that NumPy's `savetxt` writes.
///
/// # Errors
/// INVALID_ARGUMENT, with the line, for values that are missing between commas or no elements of the dtype, and lines of
/// different lengths; also for a file without values.
pub(super) fn read(text: &str, dtype: DataType, is_vector: bool) -> Result<Tensor> {
    let mut rows: Vec<Row> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let values = values(text).map_err(|error| error.context(format!("line {line}")))?;
        if !values.is_empty() {
            rows.push(Row { line, values });
        }
    }
    let Some(first) = rows.first() else {
        let message = "there are no values in the file: expected a line for each row, with blanks or commas between values; \
                       an empty tensor is given as `[]`";
        return Err(Error::invalid_argument(message));
    };
    if let Some(ragged) = rows.iter().find(|row| row.values.len() != first.values.len()) {
        return Err(Error::invalid_argument(format!(
            "line {} has {} values, where line {} has {}: all lines must have as many",
            ragged.line,
            ragged.values.len(),
            first.line,
            first.values.len()
        )));
    }
    if let Some(fault) = fault(&rows, dtype) {
        return Err(fault);
    }
    if is_vector && first.values.len() == 1 {
        return from_json(&Value::Array(rows.into_iter().flat_map(|row| row.values).collect()), dtype);
    }
    let mut rows: Vec<Value> = rows.into_iter().map(|row| Value::Array(row.values)).collect();
    let value = if rows.len() == 1 { rows.swap_remove(0) } else { Value::Array(rows) };
    from_json(&value, dtype)
}

/// The values in a line.
fn values(line: &str) -> Result<Vec<Value>> {
    let line = line.split_once('#').map_or(line, |(values, _)| values);
    if line.trim().is_empty() {
        return Ok(Vec::new());
    }
    let word = |word: &str| match word {
        "true" | "True" => Value::Bool(true),
        "false" | "False" => Value::Bool(false),
        _ => number(word).map_or_else(|| Value::from(word), Value::Number),
    };
    let mut values = Vec::new();
    for part in line.split(',') {
        let before = values.len();
        values.extend(part.split_whitespace().map(word));
        if values.len() == before {
            let message = format!(
                "no value stands where value {} is expected: a comma divides two values, and none ends a line",
                before + 1
            );
            return Err(Error::invalid_argument(message));
        }
    }
    Ok(values)
}

/// A number, also one that JSON would write otherwise, such as `+1`, `.5` and `1.`.
fn number(word: &str) -> Option<serde_json::Number> {
    let as_json = || word.parse().ok();
    let as_integer = || word.parse::<i64>().ok().map(Into::into);
    as_json().or_else(as_integer).or_else(|| serde_json::Number::from_f64(word.parse().ok()?))
}

/// What is wrong with the first value that is no element of the dtype, and where it stands. Complex numbers take two.
fn fault(rows: &[Row], dtype: DataType) -> Option<Error> {
    let check = |value: &Value| {
        let part = match dtype {
            DataType::Complex64 => DataType::Float,
            DataType::Complex128 => DataType::Double,
            dtype => dtype,
        };
        match dispatch_pod!(part, T => element::<T>(value).map(drop)) {
            Some(Err(_)) if part != dtype => Err(unsuitable(value, dtype)),
            Some(checked) => checked,
            None => Err(unsuitable(value, dtype)),
        }
    };
    rows.iter().find_map(|row| {
        let mut checks = row.values.iter().map(check).enumerate();
        let (index, error) = checks.find_map(|(index, result)| result.err().map(|error| (index, error)))?;
        Some(error.context(format!("line {}, value {}", row.line, index + 1)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_rows() {
        let text = |text, dtype| read(text, dtype, false).map(|tensor| tensor.values_text().to_string());
        assert_eq!(text("1 2,3\t4", DataType::Int32).unwrap(), "[1 2 3 4]");
        assert_eq!(
            text("# a header, as NumPy writes\n1, 2 # two\n\n 3 ,4\n", DataType::Float).unwrap(),
            "[[1.0 2.0], [3.0 4.0]]"
        );
        assert_eq!(text("nan -inf", DataType::Double).unwrap(), "[NaN -inf]");
        assert_eq!(text(".5 1. +2 -.25e1", DataType::Float).unwrap(), "[0.5 1.0 2.0 -2.5]");
        assert_eq!(text("+2", DataType::Int32).unwrap(), "[2]");
        assert_eq!(text("1\n2\n", DataType::Int32).unwrap(), "[[1], [2]]");
        assert_eq!(read("1\n2\n", DataType::Int32, true).unwrap().shape().dims(), [2]);
        assert_eq!(text("True false", DataType::Bool).unwrap(), "[true false]");
        assert_eq!(read("1 2\n3 4", DataType::Complex64, true).unwrap().shape().dims(), [2]);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, dtype, said) in [
            ("1,,3", DataType::Int32, "line 1: no value stands where value 2 is expected"),
            ("1 2\n3,\n", DataType::Int32, "line 2: no value stands where value 2 is expected"),
            (",1", DataType::Int32, "line 1: no value stands where value 1 is expected"),
            ("1 2\n3, ,4", DataType::Int32, "line 2: no value stands where value 2 is expected"),
            ("", DataType::Int32, "there are no values in the file"),
            ("\n # nothing\n", DataType::Float, "there are no values in the file"),
            ("1 2 3\n\n4 5\n", DataType::Int32, "line 3 has 2 values, where line 1 has 3"),
            ("1 2\n3 x", DataType::Float, "line 2, value 2: `\"x\"` is no float"),
            ("1\n2\n300", DataType::Uint8, "line 3, value 1: `300` is no uint8"),
            ("1\n2.5", DataType::Int32, "line 2, value 1: `2.5` is no int32"),
            ("1 1e300", DataType::Float, "line 1, value 2: `1e+300` is no float; the dtype has no number so large"),
            ("1 2\n3 y", DataType::Complex64, "line 2, value 2: `\"y\"` is no complex64"),
            ("1 2 3", DataType::Complex64, "pairs"),
        ] {
            let error = read(text, dtype, false).unwrap_err();
            assert!(error.message().contains(said), "{text:?}: {error}");
        }
    }
}

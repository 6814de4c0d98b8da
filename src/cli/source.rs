//! Sources of an input's value: `@file.npy`, `@file.json`, `@file.txt` or a JSON literal; for strings also bytes of files.

mod json;
mod literal;
mod strings;
mod table;

use std::path::Path;

use crate::cli::shell;
use crate::dispatch_pod;
use crate::dtype::{Complex64, DataType, Pod, Scalar, TString};
use crate::error::{Error, Result, shortened};
use crate::shape::{PartialShape, Shape};
use crate::tensor::{FileBytes, Tensor, may_request};
use serde_json::Value;

use self::json::parse;
use self::strings::Strings;

/// The tensor that `source` describes, as `dtype`. Its shape is what it has, whatever `expected` says; only what a column of
/// numbers is, a vector or a matrix, goes by that.
pub(crate) fn read(source: &str, dtype: DataType, expected: &PartialShape) -> Result<Tensor> {
    if let Some(strings) = Strings::of(source) {
        return match dtype {
            DataType::String => strings.read(),
            dtype => {
                Err(Error::invalid_argument(format!("bytes and lines of files are strings, and the input is {dtype}")))
            }
        };
    }
    let Some(path) = source.strip_prefix('@').map(Path::new) else {
        let value = parse(source, dtype).map_err(|error| {
            if source.is_empty() {
                return Error::invalid_argument("no value stands behind the `=`: expected JSON, or @ and a file");
            }
            let is_file = kind(Path::new(source)).is_some() || Path::new(source).is_file();
            let hint = match literal::instead(source, dtype) {
                _ if is_file => format!("; for what is in that file, write @{}", shortened(source)),
                _ if dtype == DataType::String && strings::mixes(source) => strings::ALL_FILES_OR_JSON.to_owned(),
                Some(json) => format!("; write {}", shell::word(&json)),
                None => String::new(),
            };
            let source = shortened(source);
            Error::invalid_argument(format!(
                "`{source}` is neither @file.npy, @file.json, @file.txt nor JSON: {error}{hint}"
            ))
        })?;
        return from_json(&value, dtype);
    };
    match kind(path) {
        Some("npy") => array(path, dtype),
        Some(kind) => {
            let file = FileBytes::open(path)?;
            let tensor = match kind {
                "txt" if dtype == DataType::String => Ok(Tensor::scalar(TString::from(&file[..]))),
                "txt" => text(&file).and_then(|text| {
                    let is_vector = expected.dims().is_some_and(|dims| dims.len() == 1);
                    table::read(text, dtype, is_vector)
                }),
                _ => text(&file).and_then(|text| {
                    let value = parse(text, dtype).map_err(Error::invalid_argument)?;
                    from_json(&value, dtype)
                }),
            };
            tensor.map_err(|error| error.context(path.display()))
        }
        _ if dtype == DataType::String => Strings::Bytes(path).read(),
        _ if !path.as_os_str().is_empty() && !path.exists() => {
            Err(Error::not_found(format!("cannot read {}: there is no such file", path.display())))
        }
        // A file may have any name, such as that of a stream; what is in it tells.
        _ if is_npy(path)? => array(path, dtype),
        _ => Err(Error::invalid_argument(format!(
            "{}: the name must end in .npy, .txt or .json, or the file must be a NumPy array",
            path.display()
        ))),
    }
}

/// The array in a file of NumPy's, which must have the dtype.
fn array(path: &Path, dtype: DataType) -> Result<Tensor> {
    match crate::npy::read_as(path, dtype)? {
        tensor if tensor.dtype() == dtype => Ok(tensor),
        tensor => Err(literal::other_dtype(tensor.dtype(), dtype).context(path.display())),
    }
}

/// Whether a file begins as NumPy's do.
fn is_npy(path: &Path) -> Result<bool> {
    Ok(FileBytes::open(path)?.starts_with(b"\x93NUMPY"))
}

/// What to do where a value of the source, a tensor of `dtype`, has another shape than `shape`, if its form is the reason.
pub(crate) fn advice(source: &str, dtype: DataType, shape: &PartialShape) -> &'static str {
    let rank = shape.dims().map(<[_]>::len);
    let file = source.strip_prefix('@').map(|path| kind(Path::new(path)));
    if dtype == DataType::String {
        let is_one = file.is_some_and(|kind| matches!(kind, None | Some("txt"))) || source.starts_with("@bytes:");
        return match rank {
            Some(1) if is_one && !source.starts_with("@lines:") => {
                " (a file is one string: for a vector write `[@photo.jpg]`, or `@lines:FILE` for the lines of a text)"
            }
            _ => "",
        };
    }
    let is_table = file == Some(Some("txt"));
    match rank {
        Some(0 | 3..) if is_table => " (a .txt holds a vector or rows: give other ranks as .npy or .json)",
        Some(2) if is_table => " (a single line in a .txt is a vector: give a single row as .npy or .json)",
        _ => "",
    }
}

/// How a file is read, as the end of its name says in upper or lower case.
fn kind(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?;
    ["npy", "json", "txt"].into_iter().find(|kind| extension.eq_ignore_ascii_case(kind))
}

/// The text in a file, without the mark that some programs put before UTF-8.
fn text(bytes: &[u8]) -> Result<&str> {
    if matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) {
        return Err(Error::invalid_argument("the text is UTF-16: save it as UTF-8"));
    }
    // Each value takes more memory than its text.
    let enough = may_request(bytes.len()) && {
        let divides = |byte: u8| byte == b',' || byte.is_ascii_whitespace();
        let values = bytes.windows(2).filter(|pair| !divides(pair[0]) && divides(pair[1])).count();
        may_request(values.saturating_mul(2 * size_of::<Value>()))
    };
    if !enough {
        let message = format!("there is not enough memory for the values of {} bytes of text", bytes.len());
        return Err(Error::resource_exhausted(message));
    }
    let text = std::str::from_utf8(bytes);
    let text = text.map_err(|error| Error::invalid_argument(format!("the text is not UTF-8: {error}")))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Nested lists of numbers, bools or strings; complex numbers are pairs, and `{"b64": "..."}` is a string of bytes.
fn from_json(value: &Value, dtype: DataType) -> Result<Tensor> {
    let mut dims = Vec::new();
    let mut next = value;
    while let Value::Array(items) = next {
        dims.push(items.len());
        match items.first() {
            Some(first) => next = first,
            None => break,
        }
    }
    // A list without elements has no pairs either.
    if dtype.is_complex() && dims.last() != Some(&0) && dims.pop() != Some(2) {
        return Err(Error::invalid_argument("complex numbers are written as pairs [re, im]"));
    }
    let mut leaves = Vec::new();
    flatten(value, &dims, &mut leaves)?;
    let shape = Shape::from(dims);
    if dtype == DataType::String {
        let texts = leaves.iter().map(|leaf| strings::of_json(leaf).unwrap_or_else(|| Err(unsuitable(leaf, dtype))));
        return Tensor::from_elements(shape, &texts.collect::<Result<Vec<_>>>()?);
    }
    dispatch_pod!(dtype, T => convert::<T>(shape, &leaves))
        .unwrap_or_else(|| Err(Error::invalid_argument(format!("{dtype} values cannot be given here"))))
}

fn flatten<'v>(value: &'v Value, dims: &[usize], leaves: &mut Vec<&'v Value>) -> Result<()> {
    match (value, dims) {
        (Value::Array(items), [dim, rest @ ..]) if items.len() == *dim => {
            items.iter().try_for_each(|item| flatten(item, rest, leaves))
        }
        (Value::Array(items), [dim, ..]) => Err(Error::invalid_argument(format!(
            "the lists are ragged: one has {} elements where another has {dim}",
            items.len()
        ))),
        (_, [_, ..]) => Err(Error::invalid_argument("the lists are ragged: a value stands where others have a list")),
        (value, []) => {
            leaves.push(value);
            Ok(())
        }
    }
}

#[inline(never)]
fn unsuitable(value: &Value, dtype: DataType) -> Error {
    if value.is_array() && !dtype.is_complex() {
        return Error::invalid_argument("the lists are ragged: a list stands where others have a value");
    }
    // A long list is cut before it is written out.
    let text = match value {
        Value::Array(_) => "a list".to_owned(),
        // Bytes are written so.
        Value::Object(object) if object.contains_key("b64") => "a string".to_owned(),
        Value::Object(_) => "an object in braces".to_owned(),
        value => format!("`{}`", shortened(&value.to_string())),
    };
    let expected = match (value, dtype) {
        (Value::String(_), DataType::Bool) => ": it is a string, and true or false is expected",
        (Value::String(_), dtype) if dtype.is_pod() => ": it is a string, and a number is expected",
        _ => "",
    };
    Error::invalid_argument(format!("{text} is no {dtype}{expected}"))
}

fn convert<T: Pod>(shape: Shape, leaves: &[&Value]) -> Result<Tensor> {
    let elements = leaves.iter().map(|leaf| element::<T>(leaf));
    Tensor::from_elements(shape, &elements.collect::<Result<Vec<_>>>()?)
}

/// A JSON value as an element. A number that has no finite neighbour in the dtype is refused: whoever means infinity
/// writes so.
fn element<T: Pod>(value: &Value) -> Result<T> {
    let unsuitable = || unsuitable(value, T::DTYPE);
    let scalar = scalar(value, T::DTYPE).ok_or_else(unsuitable)?;
    let element = T::from_scalar(scalar).ok_or_else(unsuitable)?;
    if is_finite(scalar) && !is_finite(element.to_scalar()) {
        let message = "; the dtype has no number so large: give a smaller one, or infinity as `Infinity`";
        return Err(unsuitable().append(message));
    }
    Ok(element)
}

fn is_finite(scalar: Scalar) -> bool {
    match scalar {
        Scalar::Float(value) => value.is_finite(),
        Scalar::Complex(value) => value.is_finite(),
        _ => true,
    }
}

/// What a JSON value stands for as an element of a dtype.
#[inline(never)]
fn scalar(value: &Value, dtype: DataType) -> Option<Scalar> {
    if dtype.is_complex() {
        let [re, im] = value.as_array()?.as_slice() else { return None };
        return Some(Scalar::Complex(Complex64::new(float(re)?, float(im)?)));
    }
    if dtype.is_floating() {
        return float(value).map(Scalar::Float);
    }
    let integer = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    value.as_bool().map(Scalar::Bool).or(integer.map(Scalar::Integer))
}

/// A number, or the words that JSON lacks.
fn float(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some("nan" | "NaN") => Some(f64::NAN),
        Some("inf" | "Infinity") => Some(f64::INFINITY),
        Some("-inf" | "-Infinity") => Some(f64::NEG_INFINITY),
        Some(_) => None,
        None => value.as_f64(),
    }
}

/// A generated tensor for an input of known dtype and shape, and a description of its values.
pub(crate) fn fill(dtype: DataType, shape: Shape) -> Result<(Tensor, &'static str)> {
    if matches!(dtype, DataType::Resource | DataType::Variant) {
        return Err(Error::invalid_argument(format!("{dtype} values cannot be made up")));
    }
    let mut tensor = Tensor::zeros(dtype, shape)?;
    if !dtype.is_floating() {
        // Zeros are valid as indices.
        return Ok((tensor, if dtype == DataType::String { "empty strings" } else { "zeros" }));
    }
    dispatch_pod!(dtype, T => random::<T>(&mut tensor)).unwrap_or(Ok(()))?;
    Ok((tensor, "random numbers from 0 to 1"))
}

/// The same numbers each time. Marsaglia's xorshift64*.
fn random<T: Pod>(tensor: &mut Tensor) -> Result<()> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for element in tensor.as_mut_slice::<T>()? {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        let number = (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as f64 / (1 << 24) as f64;
        if let Some(number) = T::from_scalar(Scalar::Float(number)) {
            *element = number;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str, dtype: DataType) -> Result<Tensor> {
        super::read(source, dtype, &PartialShape::unknown())
    }

    #[test]
    fn literals() {
        let tensor = read("[[1, 2.5], [\"nan\", \"-inf\"]]", DataType::Float).unwrap();
        assert_eq!(tensor.shape().dims(), [2, 2]);
        assert_eq!(tensor.as_slice::<f32>().unwrap()[1], 2.5);
        assert_eq!(read("[[1, 2], [3, 4]]", DataType::Complex64).unwrap().shape().dims(), [2]);
        assert_eq!(
            read("[65519, \"inf\", 1e-300]", DataType::Half).unwrap().values_text().to_string(),
            "[65504.0 inf 0.0]"
        );
        assert!(read("1e300", DataType::Double).is_ok());
        assert_eq!(read("[]", DataType::Int32).unwrap().shape().dims(), [0]);
        assert_eq!(read("[[], []]", DataType::Complex64).unwrap().shape().dims(), [2, 0]);
        assert_eq!(read("\"x\"", DataType::String).unwrap().rank(), 0);
        let bytes = read("[{\"b64\": \"/wA=\"}, \"a\"]", DataType::String).unwrap();
        assert_eq!(bytes.as_slice::<TString>().unwrap(), [TString::from(&b"\xff\0"[..]), TString::from("a")]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (source, dtype) in [
            ("[1, [2]]", DataType::Int32),
            ("[[1, 2], [3]]", DataType::Int32),
            ("300", DataType::Uint8),
            ("-9", DataType::Int4),
            ("1.5", DataType::Int64),
            ("true", DataType::Float),
            ("1e300", DataType::Float),
            ("[1, -1e39]", DataType::Bfloat16),
            ("65520", DataType::Half),
            ("[1, 1e39]", DataType::Complex64),
            ("1", DataType::Resource),
            ("[1, 2, 3]", DataType::Complex64),
            ("{", DataType::Int32),
            ("@nowhere.npy", DataType::Int32),
            ("@nowhere.dat", DataType::Int32),
            ("@nowhere.jpg", DataType::String),
            ("@bytes:Cargo.toml", DataType::Int32),
            ("{\"b64\": \"/wA\"}", DataType::String),
            ("{\"b64\": 1}", DataType::String),
            ("{\"b64\": \"\", \"x\": 1}", DataType::String),
            ("{\"b64\": \"/wA=\"}", DataType::Uint8),
        ] {
            assert!(read(source, dtype).is_err(), "{source} as {dtype}");
        }
    }

    #[test]
    fn words_of_python_are_read() {
        let read = |text, dtype| read(text, dtype).map(|tensor| tensor.values_text().to_string());
        assert_eq!(read("[NaN, Infinity, -Infinity, -1]", DataType::Float).unwrap(), "[NaN inf -inf -1.0]");
        assert_eq!(
            read("[[NaN, 1]]", DataType::Complex64).unwrap(),
            read("[[\"NaN\", 1]]", DataType::Complex64).unwrap()
        );
        for (text, dtype) in [("[NaN]", DataType::Int32), ("[NaN]", DataType::String), ("[NaN", DataType::Float)] {
            assert!(read(text, dtype).is_err(), "{text}");
        }
    }

    #[test]
    fn texts_are_utf_8() {
        assert_eq!(text(b"\xef\xbb\xbf[1]").unwrap(), "[1]");
        for (bytes, why) in [(&b"\xff\xfe[\0"[..], "UTF-16"), (b"\xfe\xff\0[", "UTF-16"), (b"[\xff]", "not UTF-8")] {
            let error = text(bytes).unwrap_err();
            assert!(error.code() == crate::error::Code::InvalidArgument && error.message().contains(why), "{error}");
        }
    }

    #[test]
    fn errors_quote_the_head_of_what_is_long() {
        let long = "x".repeat(1 << 20);
        for source in [long.clone(), format!("[{long}"), format!("\"{long}\"")] {
            let error = read(&source, DataType::Int32).unwrap_err();
            assert!(error.message().len() < 600, "{error}");
        }
    }

    #[test]
    fn what_is_not_given_is_filled() {
        let (numbers, with) = fill(DataType::Float, Shape::from(vec![2, 3])).unwrap();
        let numbers = numbers.as_slice::<f32>().unwrap();
        assert!(with.starts_with("random") && numbers.iter().all(|number| (0.0..1.0).contains(number)));
        assert!(numbers.windows(2).all(|pair| pair[0] != pair[1]), "{numbers:?}");
        assert!(fill(DataType::Bfloat16, Shape::from(vec![4])).unwrap().0.as_slice::<crate::dtype::bf16>().is_ok());
        assert_eq!(fill(DataType::Int64, Shape::from(vec![2])).unwrap().0.as_slice::<i64>().unwrap(), [0, 0]);
        assert_eq!(fill(DataType::String, Shape::scalar()).unwrap().1, "empty strings");
        assert!(fill(DataType::Resource, Shape::scalar()).is_err());
        assert!(fill(DataType::Float, Shape::from(vec![1 << 40, 1 << 20])).is_err());
    }
}

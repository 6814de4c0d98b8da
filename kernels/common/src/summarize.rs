//! The values of a tensor as TensorFlow prints them in assertions, in Print and in StringFormat.

use std::fmt::Write;

use kernlink::dispatch_pod;
use kernlink::dtype::{DataType, Scalar, ScalarElement as _, TString};
use kernlink::error::Result;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::{self, MakeRoom};

/// How a tensor is shortened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// The first elements, as Assert and Print show them.
    First,
    /// The first and the last elements of each dimension, as StringFormat and `tf.print` show them.
    Edges,
}

/// The values of a tensor: `limit` of them, or of each end of a dimension; all if it is negative.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub fn summarize(tensor: &Tensor, limit: i64, style: Style) -> Result<Vec<u8>> {
    let count = tensor.num_elements();
    let limit = usize::try_from(limit).map_or(count, |limit| limit.min(count));
    let mut text = Vec::new();
    if limit == 0 && tensor.dtype() == DataType::Bool {
        return Ok(text);
    }
    let printer = Printer { tensor, limit, style };
    if tensor.rank() == 0 {
        if limit > 0 {
            printer.element(0, &mut text)?;
        }
    } else if !prints_shape(tensor.dtype()) {
        if style == Style::Edges {
            scratch::push(&mut text, b'[')?;
        }
        for index in 0..limit {
            if index > 0 {
                scratch::push(&mut text, b' ')?;
            }
            printer.element(index, &mut text)?;
        }
    } else if style == Style::Edges {
        printer.edges(0, 0, &mut text)?;
        return Ok(text);
    } else {
        printer.first(0, &mut 0, &mut text)?;
    }
    if count > limit {
        scratch::append(&mut text, b"...")?;
    }
    if !prints_shape(tensor.dtype()) && style == Style::Edges && tensor.rank() > 0 {
        scratch::push(&mut text, b']')?;
    }
    Ok(text)
}

/// Whether brackets show the shape. Of other dtypes TensorFlow shows nothing but how many elements there are.
fn prints_shape(dtype: DataType) -> bool {
    !matches!(
        dtype,
        DataType::Complex64
            | DataType::Complex128
            | DataType::Qint32
            | DataType::Resource
            | DataType::Variant
            | DataType::Float8E4m3fnuz
            | DataType::Float8E5m2fnuz
    )
}

struct Printer<'a> {
    tensor: &'a Tensor,
    limit: usize,
    style: Style,
}

impl Printer<'_> {
    fn first(&self, axis: usize, next: &mut usize, text: &mut Vec<u8>) -> Result<()> {
        let shape = self.tensor.shape();
        if *next >= self.limit {
            return Ok(());
        }
        for index in 0..shape[axis] {
            if axis + 1 == shape.rank() {
                if *next >= self.limit {
                    if axis != 0 {
                        scratch::append(text, b"...")?;
                    }
                    return Ok(());
                }
                if index > 0 {
                    scratch::push(text, b' ')?;
                }
                self.element(*next, text)?;
                *next += 1;
            } else if *next < self.limit {
                scratch::push(text, b'[')?;
                self.first(axis + 1, next, text)?;
                scratch::push(text, b']')?;
            } else {
                return Ok(());
            }
        }
        Ok(())
    }

    fn edges(&self, axis: usize, first: usize, text: &mut Vec<u8>) -> Result<()> {
        let shape = self.tensor.shape();
        let Some(&size) = shape.get(axis) else { return self.element(first, text) };
        let step: usize = shape[axis + 1..].iter().product();
        scratch::push(text, b'[')?;
        let head = size.min(self.limit);
        let tail = size.saturating_sub(self.limit).max(self.limit);
        let elided = size > 2 * self.limit;
        for index in (0..head).chain(tail..size) {
            if index > 0 && !(elided && index == tail) {
                self.spacing(axis, text)?;
            }
            if elided && index == tail {
                self.ellipsis(axis, text)?;
                self.spacing(axis, text)?;
            }
            self.edges(axis + 1, first + index * step, text)?;
        }
        if elided && tail >= size {
            self.ellipsis(axis, text)?;
        }
        scratch::push(text, b']')
    }

    fn ellipsis(&self, axis: usize, text: &mut Vec<u8>) -> Result<()> {
        self.spacing(axis, text)?;
        scratch::append(text, b"...")
    }

    /// What stands between two parts of a dimension.
    fn spacing(&self, axis: usize, text: &mut Vec<u8>) -> Result<()> {
        let inner = self.tensor.rank() - axis - 1;
        if inner == 0 {
            return scratch::push(text, b' ');
        }
        text.make_room(inner + axis + 1)?;
        text.extend(std::iter::repeat_n(b'\n', inner));
        text.extend(std::iter::repeat_n(b' ', axis + 1));
        Ok(())
    }

    fn element(&self, index: usize, text: &mut Vec<u8>) -> Result<()> {
        let tensor = self.tensor;
        match tensor.dtype() {
            DataType::String => {
                let quote: &[u8] = if self.style == Style::Edges { b"\"" } else { b"" };
                let string = tensor.as_slice::<TString>().ok().and_then(|strings| strings.get(index));
                scratch::append(text, quote)?;
                escape(string.map_or(&[], |string| string.as_bytes()), text)?;
                scratch::append(text, quote)?;
            }
            DataType::Resource => scratch::append(text, b"<Resource>")?,
            DataType::Variant => scratch::append(text, b"<Variant>")?,
            dtype if !prints_shape(dtype) => scratch::push(text, b'?')?,
            dtype => {
                let element = dispatch_pod!(dtype, T => {
                    tensor.as_slice::<T>().ok().and_then(|elements| elements.get(index)).map(|element| element.to_scalar())
                });
                let number = match element.flatten() {
                    Some(Scalar::Bool(value)) => u8::from(value).to_string(),
                    Some(Scalar::Integer(value)) => value.to_string(),
                    Some(Scalar::Float(value)) if dtype == DataType::Double => double(value),
                    Some(Scalar::Float(value)) => float(value as f32),
                    Some(Scalar::Complex(_)) | None => return Ok(()),
                };
                scratch::append(text, number.as_bytes())?;
            }
        }
        Ok(())
    }
}

/// C's escapes, quotes too; what is not ASCII stays.
fn escape(string: &[u8], text: &mut Vec<u8>) -> Result<()> {
    for &byte in string {
        match byte {
            b'\n' => scratch::append(text, b"\\n")?,
            b'\r' => scratch::append(text, b"\\r")?,
            b'\t' => scratch::append(text, b"\\t")?,
            b'"' | b'\'' | b'\\' => scratch::append(text, &[b'\\', byte])?,
            0x20..=0x7E | 0x80.. => scratch::push(text, byte)?,
            _ => scratch::append(text, format!("\\{byte:03o}").as_bytes())?,
        }
    }
    Ok(())
}

/// The shortest of C's `%.6g` and `%.9g` that is the same number again.
fn float(value: f32) -> String {
    let short = general(value.into(), 6);
    if short.parse() == Ok(value) || value.is_nan() { short } else { general(value.into(), 9) }
}

/// The shortest of C's `%.15g` and `%.17g` that is the same number again.
fn double(value: f64) -> String {
    let short = general(value, 15);
    if short.parse() == Ok(value) || value.is_nan() { short } else { general(value, 17) }
}

/// C's `%.*g`.
pub fn general(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let digits = digits.max(1);
    let scientific = format!("{value:.*e}", digits - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if exponent < -4 || exponent >= digits as i32 {
        let mut text = trim(mantissa);
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(text, "e{sign}{:02}", exponent.unsigned_abs());
        return text;
    }
    trim(&format!("{value:.*}", (digits as i32 - 1 - exponent).max(0) as usize))
}

#[cfg(test)]
mod tests {
    use kernlink::dtype::{Float4E2M1Fn, Int4};

    use super::*;

    fn text(tensor: &Tensor, limit: i64, style: Style) -> String {
        String::from_utf8(summarize(tensor, limit, style).unwrap()).unwrap()
    }

    #[test]
    fn as_assert_and_as_string_format_show_it() {
        let tensor = Tensor::from_elements([2, 3, 4], &(0..24).collect::<Vec<i32>>()).unwrap();
        assert_eq!(text(&tensor, 5, Style::First), "[[0 1 2 3][4...]]...");
        assert_eq!(text(&tensor, 4, Style::First), "[[0 1 2 3]]...");
        assert_eq!(
            text(&tensor, 1, Style::Edges),
            "[[[0 ... 3]\n  ...\n  [8 ... 11]]\n\n [[12 ... 15]\n  ...\n  [20 ... 23]]]"
        );
        assert_eq!(text(&tensor, 0, Style::First), "...");
        assert_eq!(text(&Tensor::vector(&[1.5f32, 1e10, 0.1]).unwrap(), -1, Style::First), "1.5 1e+10 0.1");
        let small: Vec<_> = [0.5, 1.0, -6.0].map(Float4E2M1Fn::from_f32).into();
        assert_eq!(text(&Tensor::vector(&small).unwrap(), -1, Style::First), "0.5 1 -6");
        let small: Vec<_> = [3, -8].map(Int4).into();
        assert_eq!(text(&Tensor::vector(&small).unwrap(), -1, Style::First), "3 -8");
        assert_eq!(text(&Tensor::from("a\n\"\u{e9}"), 3, Style::Edges), "\"a\\n\\\"\u{e9}\"");
    }

    #[test]
    fn numbers_as_c_prints_them() {
        for (value, digits, expected) in [
            (0.0, 6, "0"),
            (-0.0, 6, "-0"),
            (100_000.0, 6, "100000"),
            (1e6, 6, "1e+06"),
            (123_456_789.0, 6, "1.23457e+08"),
            (0.0001, 6, "0.0001"),
            (0.00001, 6, "1e-05"),
            (999_999.5, 6, "1e+06"),
            (1e100, 15, "1e+100"),
        ] {
            assert_eq!(general(value, digits), expected);
        }
        assert_eq!(float(1.0 / 3.0), "0.333333343");
        assert_eq!(double(1.0 / 3.0), "0.33333333333333331");
    }
}

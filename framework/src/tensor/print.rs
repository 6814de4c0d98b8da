//! How tensors print: dtype, shape, and the first and last elements of each dimension.

use std::fmt;

use super::{ResourceHandle, Tensor};
use crate::dispatch_pod;
use crate::dtype::{DataType, Scalar, ScalarElement as _, TString};

/// Elements that are shown at each end of a dimension.
const EDGE: usize = 3;
/// The most elements that are shown.
const MAX_SHOWN: usize = 1000;
/// The most bytes of a string that are shown.
const MAX_STRING: usize = 1000;

impl Tensor {
    /// Element `index` in row-major order, as text; out of range it is empty. Of a string longer than 1,000 bytes it shows
    /// the first, and how many there are.
    pub fn element_text(&self, index: usize) -> String {
        let text = dispatch_pod!(self.dtype(), T => {
            self.as_slice::<T>().ok().and_then(|s| s.get(index)).map(|value| match value.to_scalar() {
                // Without the names of the types that hold quantized and small integers.
                Scalar::Integer(number) => number.to_string(),
                Scalar::Complex(number) if self.dtype() == DataType::Complex64 => {
                    complex(number.re as f32, number.im as f32)
                }
                Scalar::Complex(number) => complex(number.re, number.im),
                _ => format!("{value:?}"),
            })
        });
        match self.dtype() {
            DataType::String => self.as_slice::<TString>().ok().and_then(|s| s.get(index)).map(string),
            DataType::Resource => {
                self.as_slice::<ResourceHandle>().ok().and_then(|s| s.get(index)).map(ToString::to_string)
            }
            DataType::Variant => Some("<variant>".to_owned()),
            _ => text.flatten(),
        }
        .unwrap_or_default()
    }

    /// The values in brackets, with `...` in place of the middle of long dimensions, and in place of the rest of long strings.
    pub fn values_text(&self) -> String {
        let mut text = String::new();
        if let Some(memory) = self.device_memory() {
            return format!("(in the memory of {})", memory.device());
        }
        if self.num_elements() == 0 {
            return "[]".to_owned();
        }
        self.write_values(&mut text, 0, 0, &mut { MAX_SHOWN });
        text
    }

    fn write_values(&self, text: &mut String, axis: usize, offset: usize, left: &mut usize) {
        if *left == 0 {
            text.push_str("...");
            return;
        }
        let Some(&size) = self.shape().get(axis) else {
            *left -= 1;
            text.push_str(&self.element_text(offset));
            return;
        };
        let step: usize = self.shape()[axis + 1..].iter().product();
        text.push('[');
        let mut index = 0;
        while index < size {
            if index > 0 {
                text.push_str(if axis + 1 == self.rank() { " " } else { ", " });
            }
            if size > 2 * EDGE && index == EDGE {
                text.push_str("...");
                index = size - EDGE;
                continue;
            }
            self.write_values(text, axis + 1, offset + index * step, left);
            if *left == 0 {
                break;
            }
            index += 1;
        }
        text.push(']');
    }
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.dtype(), self.shape(), self.values_text())
    }
}

/// A string in quotes. The rest of a long one is left out: its text would take up to four times its memory, which
/// nobody asked whether there is.
fn string(value: &TString) -> String {
    match value.get(..MAX_STRING) {
        Some(head) if value.len() > MAX_STRING => format!("\"{}\"... ({} bytes)", head.escape_ascii(), value.len()),
        _ => format!("{value:?}"),
    }
}

/// A complex number as NumPy prints it: `(1+2j)`.
fn complex(re: impl fmt::Debug, im: impl fmt::Debug) -> String {
    let [re, im] = [format!("{re:?}"), format!("{im:?}")];
    let part = |text: &str| text.strip_suffix(".0").unwrap_or(text).to_owned();
    let sign = if im.starts_with('-') { "" } else { "+" };
    format!("({}{sign}{}j)", part(&re), part(&im))
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use crate::dtype::{Complex32, Complex64, Int4, TString};
    use crate::tensor::Tensor;

    #[test]
    fn long_dimensions_are_shortened() {
        let tensor = Tensor::from_elements([2, 8], &(0..16).collect::<Vec<i32>>()).unwrap();
        assert_eq!(tensor.to_string(), "int32 [2,8] [[0 1 2 ... 5 6 7], [8 9 10 ... 13 14 15]]");
        assert_eq!(Tensor::vector(&[Int4(-8), Int4(7)]).unwrap().to_string(), "int4 [2] [-8 7]");
        assert_eq!(Tensor::scalar(1.5f32).to_string(), "float [] 1.5");
        let complex =
            [Complex32::new(1.0, 2.0), Complex32::new(0.1, -0.0), Complex32::new(f32::NAN, f32::NEG_INFINITY)];
        assert_eq!(Tensor::vector(&complex).unwrap().to_string(), "complex64 [3] [(1+2j) (0.1-0j) (NaN-infj)]");
        assert_eq!(Tensor::scalar(Complex64::new(0.1, 1e30)).to_string(), "complex128 [] (0.1+1e30j)");
        assert_eq!(Tensor::zeros(crate::dtype::DataType::Float, [0]).unwrap().to_string(), "float [0] []");
    }

    #[test]
    fn long_strings_are_shortened() {
        let text = |length: usize| Tensor::scalar(TString::from(vec![0xFF; length])).values_text();
        assert_eq!(text(1000), format!("\"{}\"", "\\xff".repeat(1000)));
        assert_eq!(text(1001), format!("\"{}\"... (1001 bytes)", "\\xff".repeat(1000)));
        let strings = Tensor::vector(&[TString::from("a"), TString::from(vec![b'b'; 2000])]).unwrap();
        assert_eq!(strings.values_text(), format!("[\"a\" \"{}\"... (2000 bytes)]", "b".repeat(1000)));
    }
}

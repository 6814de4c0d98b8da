//! How tensors print: dtype, shape, and the first and last elements of each dimension.

use std::fmt;

use super::{ResourceHandle, Tensor};
use crate::dispatch_pod;
use crate::dtype::{Complex64, DataType, Scalar, ScalarElement as _, TString};

/// Elements that are shown at each end of a dimension.
const EDGE: usize = 3;
/// The most elements that are shown.
const MAX_SHOWN: usize = 1000;

impl Tensor {
    /// Element `index` in row-major order, as text; out of range it is empty.
    pub fn element_text(&self, index: usize) -> String {
        let text = dispatch_pod!(self.dtype(), T => {
            self.as_slice::<T>().ok().and_then(|s| s.get(index)).map(|value| match value.to_scalar() {
                // Without the names of the types that hold quantized and small integers.
                Scalar::Integer(number) => number.to_string(),
                Scalar::Complex(_) => match self.dtype() {
                    // With no more digits than its parts have.
                    DataType::Complex64 => complex_text(value.to_scalar(), |part| format!("{:?}", part as f32)),
                    _ => complex_text(value.to_scalar(), |part| format!("{part:?}")),
                },
                _ => format!("{value:?}"),
            })
        });
        match self.dtype() {
            DataType::String => {
                self.as_slice::<TString>().ok().and_then(|s| s.get(index)).map(|value| format!("{value:?}"))
            }
            DataType::Resource => {
                self.as_slice::<ResourceHandle>().ok().and_then(|s| s.get(index)).map(ToString::to_string)
            }
            DataType::Variant => Some("<variant>".to_owned()),
            _ => text.flatten(),
        }
        .unwrap_or_default()
    }

    /// The values in brackets, with `...` in place of the middle of long dimensions.
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

/// `1.0+2.0j`, as Python writes a complex number.
fn complex_text(value: Scalar, part: impl Fn(f64) -> String) -> String {
    let Scalar::Complex(Complex64 { re, im }) = value else { return String::new() };
    let sign = if im.is_sign_negative() && !im.is_nan() { '-' } else { '+' };
    format!("{}{sign}{}j", part(re), part(im.abs()))
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.dtype(), self.shape(), self.values_text())
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use crate::dtype::{Complex32, Complex64, Int4};
    use crate::tensor::Tensor;

    #[test]
    fn complex_numbers_print_as_in_python() {
        let tensor = Tensor::vector(&[Complex32::new(1.0, 2.0), Complex32::new(0.1, -0.0)]).unwrap();
        assert_eq!(tensor.to_string(), "complex64 [2] [1.0+2.0j 0.1-0.0j]");
        let edges = [Complex64::new(-1e300, f64::NEG_INFINITY), Complex64::new(f64::NAN, -f64::NAN)];
        assert_eq!(Tensor::vector(&edges).unwrap().values_text(), "[-1e300-infj NaN+NaNj]");
    }

    #[test]
    fn long_dimensions_are_shortened() {
        let tensor = Tensor::from_elements([2, 8], &(0..16).collect::<Vec<i32>>()).unwrap();
        assert_eq!(tensor.to_string(), "int32 [2,8] [[0 1 2 ... 5 6 7], [8 9 10 ... 13 14 15]]");
        assert_eq!(Tensor::vector(&[Int4(-8), Int4(7)]).unwrap().to_string(), "int4 [2] [-8 7]");
        assert_eq!(Tensor::scalar(1.5f32).to_string(), "float [] 1.5");
        assert_eq!(Tensor::zeros(crate::dtype::DataType::Float, [0]).unwrap().to_string(), "float [0] []");
    }
}

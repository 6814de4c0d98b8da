//! Sliding windows as convolutions and poolings describe them: padding, strides, dilations, data format.

use std::ops::Range;

use kernlink::error::Result;
use kernlink::shape::Shape;
use kernlink::{bail, ensure};

/// What surrounds the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Padding {
    /// As many zeros as make the output `ceil(input / stride)` long, the odd one at the end.
    Same,
    /// None.
    Valid,
    /// As many as `explicit_paddings` says.
    Explicit,
}

impl Padding {
    /// The padding that attr `padding` names.
    ///
    /// # Errors
    /// NOT_FOUND if it names none.
    pub fn from_attr(value: &str) -> Result<Padding> {
        Ok(match value {
            "SAME" => Padding::Same,
            "VALID" => Padding::Valid,
            "EXPLICIT" => Padding::Explicit,
            _ => bail!(NotFound, "`{value}` is not an allowed padding type"),
        })
    }
}

/// Where height, width and channels stand in a 4-dimensional shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Channels last.
    Nhwc,
    /// Channels before height and width.
    Nchw,
}

impl Format {
    /// The format that attr `data_format` names.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for formats that only devices of certain makers have.
    pub fn from_attr(value: &str) -> Result<Format> {
        Ok(match value {
            "NHWC" => Format::Nhwc,
            "NCHW" => Format::Nchw,
            _ => bail!(InvalidArgument, "data_format `{value}` is not supported"),
        })
    }

    /// The dimension of channels.
    pub fn channels(self) -> usize {
        if self == Format::Nhwc { 3 } else { 1 }
    }

    /// The dimension of rows.
    pub fn height(self) -> usize {
        if self == Format::Nhwc { 1 } else { 2 }
    }

    /// The dimension of columns.
    pub fn width(self) -> usize {
        self.height() + 1
    }

    /// The shape with these sizes.
    pub fn shape(self, batch: usize, height: usize, width: usize, channels: usize) -> Shape {
        match self {
            Format::Nhwc => Shape::from([batch, height, width, channels]),
            Format::Nchw => Shape::from([batch, channels, height, width]),
        }
    }
}

/// The four values of an attr that has one for each dimension.
///
/// # Errors
/// INVALID_ARGUMENT for another number of values, or values that 32 bits do not hold.
pub fn four(name: &str, values: &[i64]) -> Result<[i64; 4]> {
    let Ok(values) = <[i64; 4]>::try_from(values) else {
        bail!(InvalidArgument, "{name} must have 4 values, one for each dimension, not {values:?}");
    };
    for value in values {
        ensure!(i32::try_from(value).is_ok(), InvalidArgument, "{name} has value {value} out of range for an int32");
    }
    Ok(values)
}

/// The paddings before and after each dimension, 0 unless `padding` is explicit.
///
/// # Errors
/// INVALID_ARGUMENT if there are values where there should be none or another number of them, or values that are negative
/// or pad the batch or the channels.
pub fn explicit_paddings(padding: Padding, values: &[i64], format: Format) -> Result<[(i64, i64); 4]> {
    if padding != Padding::Explicit {
        ensure!(values.is_empty(), InvalidArgument, "explicit_paddings must be empty unless padding is EXPLICIT");
        return Ok([(0, 0); 4]);
    }
    ensure!(values.len() == 8, InvalidArgument, "explicit_paddings must have 8 values, not {}", values.len());
    ensure!(
        values.iter().all(|&value| value >= 0),
        InvalidArgument,
        "explicit_paddings {values:?} has negative values"
    );
    let pair = |axis: usize| (values[2 * axis], values[2 * axis + 1]);
    ensure!(
        pair(0) == (0, 0) && pair(format.channels()) == (0, 0),
        InvalidArgument,
        "explicit_paddings {values:?} must be 0 in the batch and depth dimensions"
    );
    Ok([pair(0), pair(1), pair(2), pair(3)])
}

/// One spatial dimension of a sliding window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Axis {
    /// Size of the input.
    pub input: usize,
    /// Size of the window, before dilation.
    pub window: usize,
    /// Input elements between neighbouring windows.
    pub stride: usize,
    /// Input elements between neighbours within a window.
    pub dilation: usize,
    /// Padding before the input.
    pub before: usize,
    /// Size of the output.
    pub output: usize,
}

impl Axis {
    /// Works out padding and output as TensorFlow's `GetWindowedOutputSizeVerbose` does.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if a stride or dilation is not positive, or a size too large or negative.
    pub fn new(
        input: usize,
        window: usize,
        stride: i64,
        dilation: i64,
        padding: Padding,
        explicit: (i64, i64),
    ) -> Result<Axis> {
        ensure!(stride > 0, InvalidArgument, "Stride must be > 0, but got {stride}");
        ensure!(dilation > 0, InvalidArgument, "Dilation rate must be >= 1, but got {dilation}");
        let too_large = |size: usize| i32::try_from(size).is_err();
        ensure!(!too_large(input), InvalidArgument, "an input size of {input} is too large");
        ensure!(!too_large(window), InvalidArgument, "a window size of {window} is too large");
        let (size, step) = (input as i128, i128::from(stride));
        let reach = (window as i128 - 1) * i128::from(dilation) + 1;
        let (output, before) = match padding {
            Padding::Valid => ((size - reach + step) / step, 0),
            Padding::Explicit => {
                let (before, after) = (i128::from(explicit.0), i128::from(explicit.1));
                ((size + before + after - reach + step) / step, before)
            }
            Padding::Same => {
                let output = (size + step - 1) / step;
                (output, ((output - 1) * step + reach - size).max(0) / 2)
            }
        };
        ensure!(
            output >= 0,
            InvalidArgument,
            "Computed output size would be negative: {output} [input_size: {input}, effective_filter_size: {reach}, \
             stride: {stride}]"
        );
        ensure!(
            output.max(before) < 1 << 62,
            InvalidArgument,
            "padding {explicit:?} makes an output of {output} elements"
        );
        Ok(Axis {
            input,
            window,
            stride: stride as usize,
            dilation: dilation as usize,
            before: before as usize,
            output: output as usize,
        })
    }

    /// The input index of the window's first element at output `index`; negative inside the padding.
    #[inline]
    pub fn start(&self, index: usize) -> i64 {
        (index as i64).wrapping_mul(self.stride as i64) - self.before as i64
    }

    /// The input index of window element `tap` at output `index`, if it is not padding.
    #[inline]
    pub fn at(&self, index: usize, tap: usize) -> Option<usize> {
        let position = self.start(index) + (tap * self.dilation) as i64;
        usize::try_from(position).ok().filter(|&position| position < self.input)
    }

    /// The window elements that lie within the input at output `index`.
    #[inline]
    pub fn taps(&self, index: usize) -> Range<usize> {
        let (start, dilation) = (self.start(index), self.dilation as i64);
        let first = if start < 0 { (-start + dilation - 1) / dilation } else { 0 };
        let end = (self.input as i64 - start + dilation - 1).max(0) / dilation;
        let end = end.min(self.window as i64);
        first.min(end) as usize..end as usize
    }

    /// The outputs whose windows lie within the input as a whole.
    pub fn interior(&self) -> Range<usize> {
        let first = self.before.div_ceil(self.stride).min(self.output);
        let reach = self.window.saturating_sub(1).saturating_mul(self.dilation).saturating_add(1);
        let end = match (self.input + self.before).checked_sub(reach) {
            Some(room) => (room / self.stride + 1).min(self.output),
            None => 0,
        };
        first..end.max(first)
    }

    /// Whether the window is one element that visits each input element once: nothing is skipped or padded.
    pub fn is_trivial(&self) -> bool {
        self.window == 1 && self.stride == 1 && self.before == 0 && self.output == self.input
    }

    /// Whether the one window covers the input exactly.
    pub fn is_whole(&self) -> bool {
        self.window == self.input && self.dilation == 1 && self.before == 0 && self.output == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_agree_with_each_tap() {
        for (input, window, stride, dilation, explicit) in [
            (7, 3, 2, 1, (1, 2)),
            (5, 3, 1, 2, (4, 4)),
            (4, 2, 3, 1, (0, 5)),
            (1, 5, 1, 1, (9, 9)),
            (3, 1, 5, 1, (0, 0)),
        ] {
            for padding in [Padding::Same, Padding::Valid, Padding::Explicit] {
                let Ok(axis) = Axis::new(input, window, stride, dilation, padding, explicit) else { continue };
                for index in 0..axis.output {
                    let taps: Vec<usize> = (0..window).filter(|&tap| axis.at(index, tap).is_some()).collect();
                    assert_eq!(axis.taps(index).collect::<Vec<_>>(), taps, "{axis:?} at {index}");
                    assert_eq!(axis.interior().contains(&index), taps.len() == window, "{axis:?} at {index}");
                }
            }
        }
    }

    #[test]
    fn sizes_are_tensorflows() {
        let same = Axis::new(224, 3, 2, 1, Padding::Same, (0, 0)).unwrap();
        assert_eq!((same.output, same.before), (112, 0));
        assert!(Axis::new(1, 3, 1, 1, Padding::Valid, (0, 0)).is_err());
        assert_eq!(Axis::new(2, 3, 1, 1, Padding::Valid, (0, 0)).unwrap().output, 0);
        assert!(Axis::new(2, 3, 1, 1, Padding::Explicit, (i64::MAX, i64::MAX)).is_err());
    }
}

//! One dimension of a sliding window with known sizes, as kernels go through it.

use std::ops::Range;

use super::Padding;
use kernlink::error::Result;
use kernlink::{bail, ensure};

/// The four values of an attr that has one for each dimension.
///
/// # Errors
/// INVALID_ARGUMENT for another number of values, or values that 32 bits do not hold.
pub fn four(name: &str, values: &[i64]) -> Result<[i64; 4]> {
    let Ok(values) = <[i64; 4]>::try_from(values) else {
        bail!(InvalidArgument, "{name} must have 4 values, one for each dimension, not {}", values.len());
    };
    for value in values {
        ensure!(i32::try_from(value).is_ok(), InvalidArgument, "{name} has value {value} out of range for an int32");
    }
    Ok(values)
}

/// Checks a stride and a dilation.
///
/// # Errors
/// INVALID_ARGUMENT if one is not positive.
#[track_caller]
pub(super) fn ensure_steps(stride: i64, dilation: i64) -> Result<()> {
    ensure!(stride > 0, InvalidArgument, "Stride must be > 0, but got {stride}");
    ensure!(dilation > 0, InvalidArgument, "Dilation rate must be >= 1, but got {dilation}");
    Ok(())
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
    pub fn new(input: usize, window: usize, stride: i64, dilation: i64, padding: Padding<(i64, i64)>) -> Result<Axis> {
        ensure_steps(stride, dilation)?;
        let too_large = |size: usize| i32::try_from(size).is_err();
        ensure!(!too_large(input), InvalidArgument, "an input size of {input} is too large");
        ensure!(!too_large(window), InvalidArgument, "a window size of {window} is too large");
        let (size, step) = (input as i128, i128::from(stride));
        let reach = (window as i128 - 1) * i128::from(dilation) + 1;
        let (output, before) = match padding {
            Padding::Valid => ((size - reach + step) / step, 0),
            Padding::Explicit((before, after)) => {
                let (before, after) = (i128::from(before), i128::from(after));
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
            "padding {padding:?} makes an output of {output} elements"
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

    /// The outputs at which window element `tap` lies within the input.
    pub fn outputs(&self, tap: usize) -> Range<usize> {
        let offset = (tap * self.dilation) as i64 - self.before as i64;
        // Positive numbers, of which no sum overflows.
        let steps = |distance: i64| distance.max(0).unsigned_abs().div_ceil(self.stride as u64) as usize;
        let end = steps(self.input as i64 - offset).min(self.output);
        steps(-offset).min(end)..end
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
            for padding in [Padding::Same, Padding::Valid, Padding::Explicit(explicit)] {
                let Ok(axis) = Axis::new(input, window, stride, dilation, padding) else { continue };
                for tap in 0..window {
                    let outputs: Vec<usize> = (0..axis.output).filter(|&index| axis.at(index, tap).is_some()).collect();
                    assert_eq!(axis.outputs(tap).collect::<Vec<_>>(), outputs, "{axis:?} at {tap}");
                }
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
        let same = Axis::new(224, 3, 2, 1, Padding::Same).unwrap();
        assert_eq!((same.output, same.before), (112, 0));
        assert!(Axis::new(1, 3, 1, 1, Padding::Valid).is_err());
        assert_eq!(Axis::new(2, 3, 1, 1, Padding::Valid).unwrap().output, 0);
        assert!(Axis::new(2, 3, 1, 1, Padding::Explicit((i64::MAX, i64::MAX))).is_err());
    }
}

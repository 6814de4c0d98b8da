//! Windows over depth, rows and columns of volumes: `[batch, depth, height, width, channels]`.

use kernlink::attr::AttrMap;
use kernlink::error::{Code, Error, Result};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use kernlink_ops::shapes::{Axis, Padding, TensorFormat};

use super::integers::vector;

/// How windows move, as the attrs of an op on volumes say.
#[derive(Clone, Debug)]
pub struct Volumes {
    /// The window in the three dimensions of space, of ops that have it as an attr.
    windows: Option<[usize; 3]>,
    strides: [i64; 3],
    padding: Padding,
}

/// The five values of an attr.
fn five(attrs: &AttrMap, name: &str) -> Result<[i64; 5]> {
    let values: Vec<i64> = attrs.required(name)?;
    let Ok(five) = <[i64; 5]>::try_from(values) else {
        let values: Vec<i64> = attrs.required(name)?;
        bail!(InvalidArgument, "{name} must have 5 values, one for each dimension, not {}", values.len());
    };
    Ok(five)
}

/// The three in the middle, after checking that the others are 1.
fn spatial(name: &str, values: [i64; 5], code: Code) -> Result<[i64; 3]> {
    let [batch, depth, height, width, channels] = values;
    if batch != 1 || channels != 1 {
        return Err(Error::new(code, format!("{name} {values:?} must be 1 in the batch and channel dimensions")));
    }
    Ok([depth, height, width])
}

impl Volumes {
    /// Of the attrs of a convolution.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for values that no convolution has, and for those that TensorFlow's CPU has none for: channels
    /// first, and dilations.
    pub fn of_convolution(attrs: &AttrMap) -> Result<Volumes> {
        let dilations = spatial("dilations", five(attrs, "dilations")?, Code::InvalidArgument)?;
        ensure!(
            dilations == [1; 3],
            InvalidArgument,
            "convolutions of volumes have dilations of 1 on a CPU, not {dilations:?}"
        );
        Volumes::new(attrs, None, Code::InvalidArgument)
    }

    /// Of the attrs of a pooling.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for values that no pooling has, and for channels first; UNIMPLEMENTED for windows that reach over
    /// several volumes or channels.
    pub fn of_pooling(attrs: &AttrMap) -> Result<Volumes> {
        Volumes::new(attrs, Some("ksize"), Code::Unimplemented)
    }

    /// Of the attrs of `ExtractVolumePatches`.
    ///
    /// # Errors
    /// As [`Volumes::of_pooling`]; OUT_OF_RANGE for sizes and strides that are not positive.
    pub fn of_patches(attrs: &AttrMap) -> Result<Volumes> {
        for name in ["ksizes", "strides"] {
            let values = spatial(name, five(attrs, name)?, Code::Unimplemented)?;
            ensure!(values.iter().all(|&value| value > 0), OutOfRange, "{name} {values:?} must be positive");
        }
        Volumes::new(attrs, Some("ksizes"), Code::Unimplemented)
    }

    fn new(attrs: &AttrMap, window: Option<&str>, code: Code) -> Result<Volumes> {
        if attrs.get("data_format").is_some() {
            let format: String = attrs.required("data_format")?;
            ensure!(
                format == "NDHWC",
                InvalidArgument,
                "volumes have their channels last (NDHWC) on a CPU, not {format}: transpose them first"
            );
        }
        let windows = match window {
            None => None,
            Some(name) => {
                let sizes = spatial(name, five(attrs, name)?, code)?;
                ensure!(sizes.iter().all(|&size| size > 0), InvalidArgument, "{name} {sizes:?} must be positive");
                Some(sizes.map(|size| size as usize))
            }
        };
        let strides = spatial("strides", five(attrs, "strides")?, code)?;
        ensure!(strides.iter().all(|&stride| stride > 0), InvalidArgument, "strides {strides:?} must be positive");
        ensure!(
            strides.iter().all(|&stride| i32::try_from(stride).is_ok()),
            InvalidArgument,
            "strides {strides:?} are out of range for an int32"
        );
        let padding: String = attrs.required("padding")?;
        Ok(Volumes { windows, strides, padding: Padding::new(&padding, &[], TensorFormat::Nhwc, 5)? })
    }

    /// The attr's window over volumes of this shape.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it does not fit.
    pub fn pool(&self, input: &Shape) -> Result<Windows> {
        ensure!(input.rank() == 5, InvalidArgument, "the input must be 5-dimensional, not {input}");
        self.over(input, self.windows.unwrap_or([1; 3]))
    }

    /// The windows of a filter over volumes of this shape, and the number of its output channels.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they do not fit.
    pub fn convolve(&self, input: &Shape, filter: &Shape) -> Result<(Windows, usize)> {
        ensure!(input.rank() == 5, InvalidArgument, "the input must be 5-dimensional, not {input}");
        ensure!(filter.rank() == 5, InvalidArgument, "the filter must be 5-dimensional, not {filter}");
        ensure!(filter.num_elements() > 0, InvalidArgument, "the filter must have elements, but its shape is {filter}");
        ensure!(
            input[4] == filter[3],
            InvalidArgument,
            "the filter is for {} input channels, but the input has {}",
            filter[3],
            input[4]
        );
        Ok((self.over(input, [filter[0], filter[1], filter[2]])?, filter[4]))
    }

    /// How many pixels later than [`Windows`] says each window begins in TensorFlow's kernels of patches, pools and convolutions,
    /// though not in gradients: where padding `SAME` leaves elements out at both ends, they centre what they take.
    pub fn centring(&self, windows: &Windows) -> usize {
        if self.padding != Padding::Same {
            return 0;
        }
        windows.axes.iter().fold(0, |pixels, axis| {
            let reach = axis.output.saturating_sub(1).saturating_mul(axis.stride).saturating_add(axis.window);
            pixels * axis.input + axis.input.saturating_sub(reach) / 2
        })
    }

    fn over(&self, input: &Shape, windows: [usize; 3]) -> Result<Windows> {
        let axis = |k: usize| Axis::new(input[k + 1], windows[k], self.strides[k], 1, self.padding.along(k + 1));
        Ok(Windows { batch: input[0], axes: [axis(0)?, axis(1)?, axis(2)?], channels: input[4] })
    }
}

/// Fails unless a tensor has the expected shape.
///
/// # Errors
/// INVALID_ARGUMENT if it has another.
pub fn ensure_shape(name: &str, found: &Shape, expected: &Shape) -> Result<()> {
    ensure!(found == expected, InvalidArgument, "{name} must have shape {expected}, not {found}");
    Ok(())
}

/// The shape of volumes that a vector of integers holds.
///
/// # Errors
/// INVALID_ARGUMENT if it holds none.
pub fn shape_of(sizes: &Tensor, name: &str) -> Result<Shape> {
    let sizes = vector(sizes, name)?;
    ensure!(sizes.len() == 5, InvalidArgument, "{name} must have 5 elements, not {}", sizes.len());
    Shape::from_dims(&sizes)
}

/// Where windows lie in volumes.
#[derive(Clone, Debug)]
pub struct Windows {
    /// How many volumes there are.
    pub batch: usize,
    /// The three dimensions of space.
    pub axes: [Axis; 3],
    /// The channels of the volumes.
    pub channels: usize,
}

impl Windows {
    /// How many windows there are in a volume.
    pub fn per_volume(&self) -> usize {
        self.axes.iter().map(|axis| axis.output).product()
    }

    /// The elements of a window, of all channels; the greatest number there is for more than that.
    pub fn patch(&self) -> usize {
        self.axes.iter().fold(self.channels, |elements, axis| elements.saturating_mul(axis.window))
    }

    /// The shape of an output with as many elements a window.
    pub fn output(&self, channels: usize) -> Result<Shape> {
        let [depth, height, width] = self.axes.map(|axis| axis.output as i64);
        let channels = i64::try_from(channels).unwrap_or(i64::MAX);
        Shape::from_dims(&[self.batch as i64, depth, height, width, channels])
    }

    /// The volume and the place in it of a window, counted over all volumes.
    pub fn place(&self, window: usize) -> (usize, [usize; 3]) {
        let [_, height, width] = self.axes.map(|axis| axis.output);
        let (rest, column) = (window / width, window % width);
        let (rest, row) = (rest / height, rest % height);
        (rest / self.axes[0].output, [rest % self.axes[0].output, row, column])
    }

    /// The pixel, counted over all volumes, that a tap of a window sees, if it is not padding.
    pub fn pixel(&self, volume: usize, place: [usize; 3], tap: [usize; 3]) -> Option<usize> {
        let [depth, rows, columns] = &self.axes;
        let plane = volume * depth.input + depth.at(place[0], tap[0])?;
        Some((plane * rows.input + rows.at(place[1], tap[1])?) * columns.input + columns.at(place[2], tap[2])?)
    }
}

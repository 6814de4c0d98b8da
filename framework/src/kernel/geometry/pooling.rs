//! Pooling over rows and columns, or over depth, and its gradients.

use super::super::window::{Axis, Format, Padding, explicit_paddings, four};
use super::convolution::ensure_channels_last;
use super::integers::shape_from;
use crate::attr::AttrMap;
use crate::device::DeviceType;
use crate::ensure;
use crate::error::Result;
use crate::kernel::RawContext;
use crate::shape::Shape;
use crate::tensor::Tensor;

/// The attrs of a pooling's op.
struct Attrs<'a> {
    format: &'a str,
    windows: Vec<i64>,
    strides: Vec<i64>,
    padding: &'a str,
    explicit: Vec<i64>,
}

/// What the attrs say.
#[derive(Clone, Debug)]
pub struct Pooling {
    /// The size of the window in each dimension.
    pub windows: [i64; 4],
    /// How far it moves in each dimension.
    pub strides: [i64; 4],
    padding: Padding,
    explicit: Vec<i64>,
}

impl Pooling {
    /// Of the attrs of a pooling for maxima, for a kernel for a device.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for values that no pooling has, UNIMPLEMENTED for pooling over the batch.
    pub fn of_maxima(attrs: &AttrMap, device: DeviceType) -> Result<Pooling> {
        Pooling::of_attrs(attrs, device, false)
    }

    /// Of the attrs of any other pooling: these look at the batch first.
    ///
    /// # Errors
    /// As [`Pooling::of_maxima`].
    pub fn new(attrs: &AttrMap, device: DeviceType) -> Result<Pooling> {
        Pooling::of_attrs(attrs, device, true)
    }

    fn of_attrs(attrs: &AttrMap, device: DeviceType, batch_first: bool) -> Result<Pooling> {
        let has = |name: &str| attrs.get(name).is_some();
        let padding: String = attrs.required("padding")?;
        let format = if has("data_format") { attrs.required("data_format")? } else { "NHWC".to_owned() };
        let attrs = Attrs {
            format: &format,
            windows: attrs.required("ksize")?,
            strides: attrs.required("strides")?,
            padding: &padding,
            explicit: if has("explicit_paddings") { attrs.required("explicit_paddings")? } else { Vec::new() },
        };
        Pooling::of(attrs, device, batch_first)
    }

    fn of(attrs: Attrs<'_>, device: DeviceType, batch_first: bool) -> Result<Pooling> {
        let padding = Padding::from_attr(attrs.padding)?;
        ensure_channels_last(attrs.format, device)?;
        let (windows, strides) = (four("ksize", &attrs.windows)?, four("strides", &attrs.strides)?);
        let spatial = windows[0] == 1 && strides[0] == 1;
        if spatial || !batch_first {
            ensure!(windows.iter().all(|&size| size > 0), InvalidArgument, "ksize {windows:?} must be positive");
        }
        ensure!(
            spatial,
            Unimplemented,
            "pooling over the batch is not supported: ksize {windows:?}, strides {strides:?}"
        );
        Ok(Pooling { windows, strides, padding, explicit: attrs.explicit })
    }

    /// The pooling whose window and stride are inputs `first` and `first + 1`; channels are last.
    ///
    /// # Errors
    /// As [`Pooling::new`].
    pub fn from_inputs(ctx: &RawContext<'_>, first: usize, padding: &str, device: DeviceType) -> Result<Pooling> {
        let values = |index: usize| ctx.input_at(index)?.to_i64_vec();
        let (windows, strides) = (values(first)?, values(first + 1)?);
        Pooling::of(Attrs { format: "NHWC", windows, strides, padding, explicit: Vec::new() }, device, true)
    }

    /// The window over an input of `shape`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it does not fit, UNIMPLEMENTED for windows that TensorFlow has no kernel for.
    pub fn geometry(&self, shape: &Shape) -> Result<Geometry> {
        ensure!(shape.rank() == 4, InvalidArgument, "the input must be 4-dimensional, not {shape}");
        let [_, height, width, depth] = self.windows;
        ensure!(
            depth == 1 || (height == 1 && width == 1),
            Unimplemented,
            "pooling is over depth or over rows and columns, not both: ksize {:?}",
            self.windows
        );
        let explicit = if self.padding == Padding::Explicit { &self.explicit[..] } else { &[] };
        let paddings = explicit_paddings(self.padding, explicit, Format::Nhwc)?;
        for axis in [1, 2] {
            let (before, after) = paddings[axis];
            ensure!(
                before.max(after) < self.windows[axis],
                InvalidArgument,
                "padding {:?} must be smaller than the window, {}",
                paddings[axis],
                self.windows[axis]
            );
        }
        let axis = |axis: usize| {
            let window = self.windows[axis] as usize;
            Axis::new(shape[axis], window, self.strides[axis], 1, self.padding, paddings[axis])
        };
        if depth > 1 {
            ensure!(
                shape[3].is_multiple_of(depth as usize),
                Unimplemented,
                "depthwise pooling needs a window that divides the depth: {depth} does not divide {}",
                shape[3]
            );
            ensure!(
                self.strides[3] == depth,
                Unimplemented,
                "depthwise pooling needs a stride equal to its window: {} is not {depth}",
                self.strides[3]
            );
        }
        Ok(Geometry { batch: shape[0], rows: axis(1)?, columns: axis(2)?, depth: shape[3] })
    }

    /// The window over an input of `shape` if it is one over depth: its size, and the output's shape.
    ///
    /// # Errors
    /// UNIMPLEMENTED for explicit paddings. The shape is one for which there is a [`Pooling::geometry`].
    pub fn over_depth(&self, shape: &Shape) -> Result<Option<(usize, Shape)>> {
        let window = self.windows[3] as usize;
        if window == 1 {
            return Ok(None);
        }
        ensure!(
            self.padding != Padding::Explicit,
            Unimplemented,
            "depthwise pooling does not support explicit padding"
        );
        Ok(Some((window, Shape::from([shape[0], shape[1], shape[2], shape[3] / window]))))
    }

    /// The window over `input`; it moves over rows and columns alone.
    ///
    /// # Errors
    /// As [`Pooling::geometry`]; UNIMPLEMENTED if it moves over depth.
    pub fn spatial(&self, input: &Shape) -> Result<Geometry> {
        ensure!(
            self.windows[3] == 1 && self.strides[3] == 1,
            Unimplemented,
            "pooling over the depth has no gradient: ksize {:?}, strides {:?}",
            self.windows,
            self.strides
        );
        self.geometry(input)
    }

    fn ensure_not_over_depth(&self) -> Result<()> {
        ensure!(self.windows[3] == 1, Unimplemented, "averages over depth are not supported");
        Ok(())
    }

    /// The window over an input of `shape` whose elements are averaged.
    ///
    /// # Errors
    /// As [`Pooling::geometry`]; UNIMPLEMENTED if it is over depth.
    pub fn averaged(&self, shape: &Shape) -> Result<Geometry> {
        let geometry = self.geometry(shape)?;
        self.ensure_not_over_depth()?;
        Ok(geometry)
    }

    /// The shape that `sizes` describe, of an input whose averages have a gradient `grad`, and the window over it.
    ///
    /// # Errors
    /// As [`Pooling::averaged`]; INVALID_ARGUMENT if the gradient's shape is not that of the averages.
    pub fn averaged_back(&self, sizes: &Tensor, grad: &Shape) -> Result<(Shape, Geometry)> {
        let shape = shape_from(sizes, "orig_input_shape")?;
        ensure!(shape.rank() == 4, InvalidArgument, "orig_input_shape must have 4 elements, not {}", shape.rank());
        ensure!(grad.rank() == 4, InvalidArgument, "grad must be 4-dimensional, not {grad}");
        self.ensure_not_over_depth()?;
        let geometry = self.geometry(&shape)?;
        ensure_shape("grad", grad, &geometry.output())?;
        Ok((shape, geometry))
    }
}

/// A window over rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    /// Images.
    pub batch: usize,
    /// How the window moves over rows.
    pub rows: Axis,
    /// How the window moves over columns.
    pub columns: Axis,
    /// Channels.
    pub depth: usize,
}

impl Geometry {
    /// The shape of the output.
    pub fn output(&self) -> Shape {
        Shape::from([self.batch, self.rows.output, self.columns.output, self.depth])
    }
}

/// Fails unless a tensor has the shape that the pooling gives.
///
/// # Errors
/// INVALID_ARGUMENT for another.
pub fn ensure_shape(name: &str, found: &Shape, expected: &Shape) -> Result<()> {
    ensure!(found == expected, InvalidArgument, "{name} must have shape {expected}, not {found}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;
    use crate::device::CPU;

    /// The attrs of a pooling of squares of 2 by 2, but for these.
    fn attrs(others: &[(&str, &[i64])]) -> AttrMap {
        let mut attrs = AttrMap::new();
        attrs.insert("padding", "VALID");
        for (name, values) in [("ksize", &[1, 2, 2, 1][..]), ("strides", &[1, 2, 2, 1])].iter().chain(others) {
            attrs.insert(*name, *values);
        }
        attrs
    }

    #[test]
    fn windows_are_over_space_or_depth() {
        let shape = Shape::from([2, 6, 8, 4]);
        let pooling = Pooling::new(&attrs(&[]), CPU).unwrap();
        assert_eq!(pooling.averaged(&shape).unwrap().output(), Shape::from([2, 3, 4, 4]));
        assert_eq!(pooling.over_depth(&shape).unwrap(), None);
        let deep = attrs(&[("ksize", &[1, 1, 1, 2]), ("strides", &[1, 1, 1, 2])]);
        let deep = Pooling::of_maxima(&deep, CPU).unwrap();
        assert!(deep.geometry(&shape).is_ok());
        assert_eq!(deep.over_depth(&shape).unwrap(), Some((2, Shape::from([2, 6, 8, 2]))));
        assert!(deep.spatial(&shape).is_err());
        assert!(deep.averaged(&shape).is_err());
        let both = attrs(&[("ksize", &[1, 2, 1, 2])]);
        assert_eq!(Pooling::new(&both, CPU).unwrap().geometry(&shape).unwrap_err().code(), Code::Unimplemented);
    }

    #[test]
    fn the_first_of_two_errors_is_tensorflows() {
        let batches = attrs(&[("ksize", &[2, 0, 2, 1])]);
        assert_eq!(Pooling::of_maxima(&batches, CPU).unwrap_err().code(), Code::InvalidArgument);
        assert_eq!(Pooling::new(&batches, CPU).unwrap_err().code(), Code::Unimplemented);
        let mut channels_first = attrs(&[]);
        channels_first.insert("data_format", "NCHW");
        let error = Pooling::new(&channels_first, CPU).unwrap_err();
        assert_eq!(error.message(), "data_format must be NHWC on the CPU, not NCHW");
    }

    #[test]
    fn gradients_have_the_averages_shape() {
        let pooling = Pooling::new(&attrs(&[]), CPU).unwrap();
        let sizes = Tensor::vector(&[2i32, 6, 8, 4]).unwrap();
        assert!(pooling.averaged_back(&sizes, &Shape::from([2, 3, 4, 4])).is_ok());
        assert!(pooling.averaged_back(&sizes, &Shape::from([2, 3, 3, 4])).is_err());
    }
}

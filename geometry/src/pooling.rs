//! Pooling over rows and columns, or over depth, and its gradients.

use super::images::{as_written, last, place, shape_as_written, shape_last};
use super::integers::shape_from;
use kernlink::attr::AttrMap;
use kernlink::device::DeviceType;
use kernlink::dtype::DataType;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_ops::shapes::{Axis, Padding, TensorFormat, four};

/// The attrs of a pooling's op.
struct Attrs<'a> {
    format: &'a str,
    windows: Vec<i64>,
    strides: Vec<i64>,
    padding: &'a str,
    explicit: Vec<i64>,
}

/// The pixel of an image that is none, where a window sees nothing.
pub const NOWHERE: u32 = u32::MAX;

/// What the attrs say. Wherever the channels are, kernels compute with channels last.
#[derive(Clone, Debug)]
pub struct Pooling {
    /// Where the channels are.
    pub format: TensorFormat,
    /// The size of the window in each dimension.
    pub windows: [i64; 4],
    /// How far it moves in each dimension.
    pub strides: [i64; 4],
    padding: String,
    /// In the order of the format.
    explicit: Vec<i64>,
}

impl Pooling {
    /// Of the attrs of a pooling for maxima.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for values that no pooling has, UNIMPLEMENTED for pooling over the batch.
    pub fn of_maxima(attrs: &AttrMap) -> Result<Pooling> {
        Pooling::of_attrs(attrs, false)
    }

    /// Of the attrs of any other pooling: these look at the batch first.
    ///
    /// # Errors
    /// As [`Pooling::of_maxima`].
    pub fn new(attrs: &AttrMap) -> Result<Pooling> {
        Pooling::of_attrs(attrs, true)
    }

    /// Of the attrs of a pooling that TensorFlow knows with channels last alone, for a kernel for a device.
    ///
    /// # Errors
    /// As [`Pooling::new`]; INVALID_ARGUMENT if channels are not last.
    pub fn channels_last(attrs: &AttrMap, device: DeviceType) -> Result<Pooling> {
        ensure_channels_last(&attrs.required::<String>("data_format")?, device)?;
        Pooling::new(attrs)
    }

    fn of_attrs(attrs: &AttrMap, batch_first: bool) -> Result<Pooling> {
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
        Pooling::of(attrs, batch_first)
    }

    fn of(attrs: Attrs<'_>, batch_first: bool) -> Result<Pooling> {
        let format = TensorFormat::of_images(attrs.format)?;
        let windows = last(format, four("ksize", &attrs.windows)?);
        let strides = last(format, four("strides", &attrs.strides)?);
        let spatial = windows[0] == 1 && strides[0] == 1;
        if spatial || !batch_first {
            ensure!(
                windows.iter().all(|&size| size > 0),
                InvalidArgument,
                "ksize {:?} must be positive",
                attrs.windows
            );
        }
        ensure!(
            spatial,
            Unimplemented,
            "pooling over the batch is not supported: ksize {:?}, strides {:?}",
            attrs.windows,
            attrs.strides
        );
        Ok(Pooling { format, windows, strides, padding: attrs.padding.to_owned(), explicit: attrs.explicit })
    }

    /// The pooling whose window and stride are inputs `first` and `first + 1`; channels are last.
    ///
    /// # Errors
    /// As [`Pooling::new`].
    pub fn from_inputs(ctx: &RawContext<'_>, first: usize, padding: &str) -> Result<Pooling> {
        let values = |index: usize| ctx.input_at(index)?.to_i64_vec();
        let (windows, strides) = (values(first)?, values(first + 1)?);
        Pooling::of(Attrs { format: "NHWC", windows, strides, padding, explicit: Vec::new() }, true)
    }

    /// The window over an input of `shape`, with channels last, as all shapes below.
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
            as_written(self.format, self.windows)
        );
        let explicit = if self.is_explicit() { &self.explicit[..] } else { &[] };
        let padding = Padding::new(&self.padding, explicit, self.format, 4)?;
        let along = |axis: usize| padding.along(place(self.format, axis));
        for axis in [1, 2] {
            if let Padding::Explicit((before, after)) = along(axis) {
                ensure!(
                    before.max(after) < self.windows[axis],
                    InvalidArgument,
                    "padding {:?} must be smaller than the window, {}",
                    (before, after),
                    self.windows[axis]
                );
            }
        }
        let axis = |axis: usize| {
            let window = self.windows[axis] as usize;
            Axis::new(shape[axis], window, self.strides[axis], 1, along(axis))
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
        ensure!(!self.is_explicit(), Unimplemented, "depthwise pooling does not support explicit padding");
        Ok(Some((window, Shape::from([shape[0], shape[1], shape[2], shape[3] / window]))))
    }

    /// The window over `input` whose maxima have a gradient `grad`.
    ///
    /// # Errors
    /// As [`Pooling::geometry`]; INVALID_ARGUMENT if maxima or gradient have not the output's shape; UNIMPLEMENTED if the
    /// window moves over depth.
    pub fn maxima_back(&self, input: &Shape, maxima: &Shape, grad: &Shape) -> Result<Geometry> {
        let geometry = self.spatial(input)?;
        let pooled = geometry.output();
        self.ensure_shape("orig_output", maxima, &pooled)?;
        self.ensure_shape("grad", grad, &pooled)?;
        Ok(geometry)
    }

    /// The window over `input` if the gradient of its maxima has a gradient `grad`.
    ///
    /// # Errors
    /// As [`Pooling::maxima_back`], but that the gradient must have the input's shape.
    pub fn maxima_back_back(&self, input: &Shape, maxima: &Shape, grad: &Shape) -> Result<Geometry> {
        let geometry = self.spatial(input)?;
        self.ensure_shape("orig_output", maxima, &geometry.output())?;
        self.ensure_shape("grad", grad, input)?;
        Ok(geometry)
    }

    /// The window over `input`; it moves over rows and columns alone.
    fn spatial(&self, input: &Shape) -> Result<Geometry> {
        ensure!(
            self.windows[3] == 1 && self.strides[3] == 1,
            Unimplemented,
            "pooling over the depth has no gradient: ksize {:?}, strides {:?}",
            as_written(self.format, self.windows),
            as_written(self.format, self.strides)
        );
        let geometry = self.geometry(input)?;
        // Pixels of an image are counted in 32 bits.
        ensure!(
            geometry.rows.input.saturating_mul(geometry.columns.input) < NOWHERE as usize,
            InvalidArgument,
            "images of {} are too large",
            shape_as_written(self.format, input)
        );
        Ok(geometry)
    }

    /// The window over `input` of which it is said where its greatest element is: by an index into the image, or into all
    /// images if it goes `across` them. TensorFlow takes a window over depth for one over nothing: each element is the
    /// greatest of its own.
    ///
    /// # Errors
    /// As [`Pooling::geometry`]; INVALID_ARGUMENT if there is no element, or an index may not fit.
    pub fn with_argmax(&self, input: &Shape, index_type: DataType, across: bool) -> Result<Geometry> {
        let geometry = self.geometry(input)?;
        let total = input.num_elements();
        ensure!(
            total > 0,
            InvalidArgument,
            "the input must not be empty, but is {}",
            shape_as_written(self.format, input)
        );
        let most = if index_type == DataType::Int32 { i32::MAX as usize } else { i64::MAX as usize };
        let indexed = if across { total } else { total / geometry.batch };
        // Pixels of an image are counted in 32 bits.
        ensure!(
            indexed <= most && geometry.rows.input * geometry.columns.input < NOWHERE as usize,
            InvalidArgument,
            "an index into {} does not fit {index_type}",
            shape_as_written(self.format, input)
        );
        Ok(geometry)
    }

    /// The window over `input` whose gradient flows back to the elements that `argmax` names. If it is over depth, gradient
    /// and indices are one for each window.
    ///
    /// # Errors
    /// As [`Pooling::geometry`]; INVALID_ARGUMENT if gradient and indices have not the output's shape.
    pub fn argmax_back(&self, input: &Shape, grad: &Shape, argmax: &Shape) -> Result<Geometry> {
        let geometry = self.geometry(input)?;
        let pooled = Geometry { depth: geometry.depth / self.windows[3] as usize, ..geometry }.output();
        self.ensure_shape("grad", grad, &pooled)?;
        self.ensure_shape("argmax", argmax, &pooled)?;
        Ok(geometry)
    }

    /// Fails unless a tensor has the shape that the pooling gives.
    fn ensure_shape(&self, name: &str, found: &Shape, expected: &Shape) -> Result<()> {
        let written = |shape: &Shape| shape_as_written(self.format, shape);
        ensure!(
            found == expected,
            InvalidArgument,
            "{name} must have shape {}, not {}",
            written(expected),
            written(found)
        );
        Ok(())
    }

    /// Whether the op gives the paddings one by one.
    fn is_explicit(&self) -> bool {
        self.padding == "EXPLICIT"
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

    /// The shape that `sizes` describe, with channels last, of an input whose averages have a gradient `grad`, and the window
    /// over it.
    ///
    /// # Errors
    /// As [`Pooling::averaged`]; INVALID_ARGUMENT if the gradient's shape is not that of the averages.
    pub fn averaged_back(&self, sizes: &Tensor, grad: &Shape) -> Result<(Shape, Geometry)> {
        let shape = shape_last(self.format, shape_from(sizes, "orig_input_shape")?);
        ensure!(shape.rank() == 4, InvalidArgument, "orig_input_shape must have 4 elements, not {}", shape.rank());
        ensure!(grad.rank() == 4, InvalidArgument, "grad must be 4-dimensional, not {grad}");
        self.ensure_not_over_depth()?;
        let geometry = self.geometry(&shape)?;
        self.ensure_shape("grad", grad, &geometry.output())?;
        Ok((shape, geometry))
    }
}

/// Fails unless channels are last, for a kernel for a device.
///
/// # Errors
/// INVALID_ARGUMENT if they are not.
pub fn ensure_channels_last(format: &str, device: DeviceType) -> Result<()> {
    ensure!(format == "NHWC", InvalidArgument, "data_format must be NHWC on the {device}, not {format}");
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::Code;
    use kernlink::device::CPU;

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
        let pooling = Pooling::new(&attrs(&[])).unwrap();
        assert_eq!(pooling.averaged(&shape).unwrap().output(), Shape::from([2, 3, 4, 4]));
        assert_eq!(pooling.over_depth(&shape).unwrap(), None);
        let deep = attrs(&[("ksize", &[1, 1, 1, 2]), ("strides", &[1, 1, 1, 2])]);
        let deep = Pooling::of_maxima(&deep).unwrap();
        assert!(deep.geometry(&shape).is_ok());
        assert_eq!(deep.over_depth(&shape).unwrap(), Some((2, Shape::from([2, 6, 8, 2]))));
        assert!(deep.spatial(&shape).is_err());
        assert!(pooling.spatial(&Shape::from([1, 65536, 65536, 1])).is_err());
        assert!(deep.averaged(&shape).is_err());
        let both = attrs(&[("ksize", &[1, 2, 1, 2])]);
        assert_eq!(Pooling::new(&both).unwrap().geometry(&shape).unwrap_err().code(), Code::Unimplemented);
    }

    #[test]
    fn the_first_of_two_errors_is_tensorflows() {
        let batches = attrs(&[("ksize", &[2, 0, 2, 1])]);
        assert_eq!(Pooling::of_maxima(&batches).unwrap_err().code(), Code::InvalidArgument);
        assert_eq!(Pooling::new(&batches).unwrap_err().code(), Code::Unimplemented);
        let mut channels_first = attrs(&[]);
        channels_first.insert("data_format", "NCHW");
        let error = Pooling::channels_last(&channels_first, CPU).unwrap_err();
        assert_eq!(error.message(), "data_format must be NHWC on the CPU, not NCHW");
    }

    #[test]
    fn channels_may_be_first() {
        let mut channels_first = attrs(&[("ksize", &[1, 1, 3, 2]), ("strides", &[1, 1, 2, 1])]);
        channels_first.insert("data_format", "NCHW");
        let pooling = Pooling::new(&channels_first).unwrap();
        assert_eq!((pooling.windows, pooling.strides), ([1, 3, 2, 1], [1, 2, 1, 1]));
        let sizes = Tensor::vector(&[2i32, 4, 7, 8]).unwrap();
        let (shape, _) = pooling.averaged_back(&sizes, &Shape::from([2, 3, 7, 4])).unwrap();
        assert_eq!(shape, Shape::from([2, 7, 8, 4]));
    }

    #[test]
    fn errors_speak_of_what_was_written() {
        let nchw = |others: &[(&str, &[i64])]| {
            let mut attrs = attrs(others);
            attrs.insert("data_format", "NCHW");
            attrs
        };
        let error = Pooling::new(&nchw(&[("ksize", &[1, 2, 0, 3])])).unwrap_err();
        assert!(error.message().contains("[1, 2, 0, 3]"), "{error}");
        let error = Pooling::new(&nchw(&[("ksize", &[2, 2, 1, 3]), ("strides", &[1, 2, 3, 4])])).unwrap_err();
        assert!(error.message().contains("ksize [2, 2, 1, 3], strides [1, 2, 3, 4]"), "{error}");
        let both = Pooling::new(&nchw(&[("ksize", &[1, 2, 1, 3])])).unwrap();
        let error = both.geometry(&Shape::from([1, 6, 6, 4])).unwrap_err();
        assert!(error.message().contains("[1, 2, 1, 3]"), "{error}");
        let space = nchw(&[("ksize", &[1, 1, 2, 2]), ("strides", &[1, 1, 2, 2])]);
        let space = Pooling::new(&space).unwrap();
        let (input, pooled) = (Shape::from([2, 6, 8, 4]), Shape::from([2, 3, 4, 4]));
        let error = space.maxima_back(&input, &pooled, &Shape::from([2, 3, 4, 5])).unwrap_err();
        assert!(error.message().contains("shape [2,4,3,4], not [2,5,3,4]"), "{error}");
        let windows: [(&str, &[i64]); 2] = [("ksize", &[1, 1, 2, 2]), ("strides", &[1, 1, 2, 2])];
        let mut padded = nchw(&[&windows[..], &[("explicit_paddings", &[0, 0, 0, 0, 1, -2, 0, 1])]].concat());
        padded.insert("padding", "EXPLICIT");
        let error = Pooling::new(&padded).unwrap().geometry(&input).unwrap_err();
        assert!(error.message().contains("[0, 0, 0, 0, 1, -2, 0, 1]"), "{error}");
    }

    #[test]
    fn places_have_indices() {
        let pooling = Pooling::new(&attrs(&[])).unwrap();
        let of = |input: &[usize], across| pooling.with_argmax(&Shape::from(input), DataType::Int32, across);
        assert_eq!(of(&[2, 6, 8, 4], false).unwrap().output(), Shape::from([2, 3, 4, 4]));
        assert_eq!(of(&[0, 6, 8, 4], false).unwrap_err().code(), Code::InvalidArgument);
        let large = [2, 32768, 32768, 1];
        assert!(of(&large, false).is_ok());
        assert!(of(&large, true).is_err());
        assert!(pooling.with_argmax(&Shape::from(large), DataType::Int64, true).is_ok());
        assert!(pooling.with_argmax(&Shape::from([1, 65536, 65536, 1]), DataType::Int64, false).is_err());
        let deep = attrs(&[("ksize", &[1, 1, 1, 2]), ("strides", &[1, 1, 1, 2])]);
        let deep = Pooling::new(&deep).unwrap();
        let (input, pooled) = (Shape::from([2, 6, 8, 4]), Shape::from([2, 3, 4, 4]));
        assert_eq!(deep.with_argmax(&input, DataType::Int64, false).unwrap().output(), input);
        let halves = Shape::from([2, 6, 8, 2]);
        assert!(deep.argmax_back(&input, &halves, &halves).is_ok());
        assert!(deep.argmax_back(&input, &input, &input).is_err());
        assert!(pooling.argmax_back(&input, &pooled, &pooled).is_ok());
        assert!(pooling.argmax_back(&input, &pooled, &input).unwrap_err().message().starts_with("argmax"));
    }

    #[test]
    fn gradients_of_maxima_fit() {
        let pooling = Pooling::new(&attrs(&[])).unwrap();
        let (input, pooled) = (Shape::from([2, 6, 8, 4]), Shape::from([2, 3, 4, 4]));
        assert!(pooling.maxima_back(&input, &pooled, &pooled).is_ok());
        assert!(pooling.maxima_back(&input, &input, &pooled).unwrap_err().message().starts_with("orig_output"));
        assert!(pooling.maxima_back(&input, &pooled, &input).unwrap_err().message().starts_with("grad"));
        assert!(pooling.maxima_back_back(&input, &pooled, &input).is_ok());
        assert!(pooling.maxima_back_back(&input, &pooled, &pooled).is_err());
    }

    #[test]
    fn gradients_have_the_averages_shape() {
        let pooling = Pooling::new(&attrs(&[])).unwrap();
        let sizes = Tensor::vector(&[2i32, 6, 8, 4]).unwrap();
        assert!(pooling.averaged_back(&sizes, &Shape::from([2, 3, 4, 4])).is_ok());
        assert!(pooling.averaged_back(&sizes, &Shape::from([2, 3, 3, 4])).is_err());
    }
}

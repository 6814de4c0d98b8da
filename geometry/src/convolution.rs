//! Convolutions over rows and columns, and their gradients.

use super::images::{last, place, shape_last};
use super::integers::shape_from;
use kernlink::attr::AttrMap;
use kernlink::ensure;
use kernlink::error::{Code, Error, Result};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_ops::shapes::{Axis, Padding, TensorFormat, four};

/// The attrs of a convolution's op.
pub(crate) struct Attrs {
    pub(crate) format: String,
    pub(crate) strides: Vec<i64>,
    pub(crate) dilations: Vec<i64>,
    pub(crate) padding: String,
    pub(crate) explicit: Vec<i64>,
}

impl Attrs {
    pub(crate) fn new(attrs: &AttrMap) -> Result<Attrs> {
        Ok(Attrs {
            format: attrs.required("data_format")?,
            strides: attrs.required("strides")?,
            dilations: attrs.required("dilations")?,
            padding: attrs.required("padding")?,
            // An op that has no explicit padding has no such attr.
            explicit: attrs.get("explicit_paddings").map_or(Ok(Vec::new()), |_| attrs.required("explicit_paddings"))?,
        })
    }
}

/// What the attrs say. Wherever the channels are, kernels compute with channels last.
#[derive(Clone, Copy, Debug)]
pub struct Convolution {
    strides: [i64; 4],
    dilations: [i64; 4],
    /// In the order of the format.
    padding: Padding,
    /// Where the channels are.
    pub format: TensorFormat,
}

impl Convolution {
    /// Of the attrs of a convolution or a gradient. `moves` is the error's code if a stride or dilation moves through batch
    /// or channels, for which TensorFlow's ops have different ones.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for values that no convolution has, and the one with code `moves`.
    pub fn new(attrs: &AttrMap, moves: Code) -> Result<Convolution> {
        let attrs = Attrs::new(attrs)?;
        let format = TensorFormat::of_images(&attrs.format)?;
        let dilations = last(format, four("dilations", &attrs.dilations)?);
        let strides = last(format, four("strides", &attrs.strides)?);
        for (name, values, given) in [("strides", strides, &attrs.strides), ("dilations", dilations, &attrs.dilations)]
        {
            if values[0] != 1 || values[3] != 1 {
                return Err(Error::new(moves, format!("{name} {given:?} must be 1 in the batch and depth dimensions")));
            }
            ensure!(
                values.iter().all(|&value| value > 0),
                InvalidArgument,
                "{name} {given:?} must be larger than 0 in rows and columns"
            );
        }
        let padding = Padding::new(&attrs.padding, &attrs.explicit, format, 4)?;
        Ok(Convolution { strides, dilations, padding, format })
    }

    fn axis(&self, axis: usize, size: usize, window: usize) -> Result<Axis> {
        let padding = self.padding.along(place(self.format, axis));
        Axis::new(size, window, self.strides[axis], self.dilations[axis], padding)
    }

    /// The convolution of an input with channels last and a filter of these shapes.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they do not fit.
    pub fn forward(&self, input: &Shape, filter: &Shape) -> Result<Geometry> {
        ensure!(input.rank() == 4, InvalidArgument, "input must be 4-dimensional, not {input}");
        ensure!(filter.rank() == 4, InvalidArgument, "filter must be 4-dimensional, not {filter}");
        let (in_depth, patch_depth) = (input[3], filter[2]);
        ensure!(patch_depth > 0, InvalidArgument, "filter depth must be positive, filter is {filter}");
        ensure!(
            in_depth.is_multiple_of(patch_depth),
            InvalidArgument,
            "input depth {in_depth} must be evenly divisible by filter depth {patch_depth}"
        );
        Ok(Geometry {
            batch: input[0],
            rows: self.axis(1, input[1], filter[0])?,
            columns: self.axis(2, input[2], filter[1])?,
            in_depth,
            patch_depth,
            out_depth: filter[3],
        })
    }

    /// The convolution whose input, filter and output have these shapes; channels are last.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they do not fit.
    fn backward(&self, input: &Shape, filter: &Shape, gradient: &Shape) -> Result<Geometry> {
        ensure_gradient(input, filter, gradient)?;
        ensure!(
            filter[3] == gradient[3],
            InvalidArgument,
            "filter and out_backprop must have the same output depth, not {} and {}",
            filter[3],
            gradient[3]
        );
        let geometry = self.forward(input, filter)?;
        ensure_output(&geometry.rows, gradient, 1, self.format)?;
        ensure_output(&geometry.columns, gradient, 2, self.format)?;
        if input.num_elements() > 0 {
            geometry.ensure_groups()?;
        }
        Ok(geometry)
    }

    /// The shape of the input that `sizes` describe, as a whole or by rows and columns alone, with channels last, and the
    /// convolution of it; the gradient's channels are last.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they describe none, or filter or gradient do not fit.
    pub fn backward_to_input(&self, sizes: &Tensor, filter: &Shape, gradient: &Shape) -> Result<(Shape, Geometry)> {
        let shape = self.input_shape(sizes, filter, gradient)?;
        let geometry = self.backward(&shape, filter, gradient)?;
        Ok((shape, geometry))
    }

    /// The shape of the filter that `sizes` describe, and the convolution with it; channels are last.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they describe none, or input or gradient do not fit.
    pub fn backward_to_filter(&self, input: &Shape, sizes: &Tensor, gradient: &Shape) -> Result<(Shape, Geometry)> {
        let shape = shape_from(sizes, "filter_sizes")?;
        let geometry = self.backward(input, &shape, gradient)?;
        Ok((shape, geometry))
    }

    fn input_shape(&self, sizes: &Tensor, filter: &Shape, gradient: &Shape) -> Result<Shape> {
        let shape = shape_from(sizes, "input_sizes")?;
        let rank = shape.rank();
        ensure!(matches!(rank, 2 | 4), InvalidArgument, "input_sizes must have 4 or 2 values, not {rank}");
        if rank == 4 {
            return Ok(shape_last(self.format, shape));
        }
        ensure!(gradient.rank() == 4, InvalidArgument, "out_backprop must be 4-dimensional, not {gradient}");
        ensure!(filter.rank() == 4, InvalidArgument, "filter must be 4-dimensional, not {filter}");
        Ok(Shape::from([gradient[0], shape[0], shape[1], filter[2]]))
    }
}

/// Fails unless all have 4 dimensions, and input and gradient the same batch.
pub(crate) fn ensure_gradient(input: &Shape, filter: &Shape, gradient: &Shape) -> Result<()> {
    for (name, shape) in [("input", input), ("filter", filter), ("out_backprop", gradient)] {
        ensure!(shape.rank() == 4, InvalidArgument, "{name} must be 4-dimensional, not {shape}");
    }
    ensure!(
        input[0] == gradient[0],
        InvalidArgument,
        "input and out_backprop must have the same batch size, not {} and {}",
        input[0],
        gradient[0]
    );
    Ok(())
}

/// Fails unless the gradient is as large as the output in a dimension; channels are last, but for those who wrote it.
pub(crate) fn ensure_output(axis: &Axis, gradient: &Shape, dimension: usize, format: TensorFormat) -> Result<()> {
    ensure!(
        axis.output == gradient[dimension],
        InvalidArgument,
        "out_backprop has size {} in dimension {}; an input of {} and a filter of {} make {}",
        gradient[dimension],
        place(format, dimension),
        axis.input,
        axis.window,
        axis.output
    );
    Ok(())
}

/// The sizes of a convolution.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    /// Images.
    pub batch: usize,
    /// How the window moves over rows.
    pub rows: Axis,
    /// How the window moves over columns.
    pub columns: Axis,
    /// Channels of the input.
    pub in_depth: usize,
    /// Channels of the input that one filter sees; divides `in_depth`.
    pub patch_depth: usize,
    /// Channels of the output; a multiple of the number of groups.
    pub out_depth: usize,
}

impl Geometry {
    /// Groups of channels that are convolved each by itself.
    #[inline]
    pub fn groups(&self) -> usize {
        self.in_depth / self.patch_depth.max(1)
    }

    /// Fails unless filters can be applied to an input that is not empty.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there are none, or groups are of different sizes.
    pub fn ensure_computable(&self, filter: &Shape) -> Result<()> {
        ensure!(filter.num_elements() > 0, InvalidArgument, "filter {filter} must not be empty");
        self.ensure_groups()
    }

    fn ensure_groups(&self) -> Result<()> {
        let groups = self.groups();
        ensure!(
            groups > 0 && self.out_depth.is_multiple_of(groups),
            InvalidArgument,
            "output depth {} must be evenly divisible by the number of groups, {groups}",
            self.out_depth
        );
        Ok(())
    }

    /// The output's shape, with channels last.
    pub fn output(&self) -> Shape {
        Shape::from([self.batch, self.rows.output, self.columns.output, self.out_depth])
    }

    /// Output pixels.
    #[inline]
    pub fn pixels(&self) -> usize {
        self.batch * self.rows.output * self.columns.output
    }

    /// Elements of a patch: what one filter multiplies.
    #[inline]
    pub fn patch(&self) -> usize {
        self.rows.window * self.columns.window * self.patch_depth
    }

    /// Whether each output pixel's patch is a row of the input as it lies in memory.
    pub fn is_product(&self) -> bool {
        let trivial = self.rows.is_trivial() && self.columns.is_trivial();
        let whole = self.rows.is_whole() && self.columns.is_whole();
        self.groups() == 1 && (trivial || whole)
    }

    /// Image, row and column of an output pixel.
    #[inline]
    pub fn pixel(&self, index: usize) -> (usize, usize, usize) {
        let (line, column) = (index / self.columns.output, index % self.columns.output);
        (line / self.rows.output, line % self.rows.output, column)
    }

    /// The first element of an input pixel.
    #[inline]
    pub fn input_at(&self, image: usize, row: usize, column: usize) -> usize {
        ((image * self.rows.input + row) * self.columns.input + column) * self.in_depth
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use kernlink::attr::AttrValue;

    /// The attrs of a convolution with strides of 2, but for these.
    pub(crate) fn attrs(others: &[(&str, AttrValue)]) -> AttrMap {
        let usual: [(&str, AttrValue); 5] = [
            ("data_format", "NHWC".into()),
            ("strides", vec![1, 2, 2, 1].into()),
            ("dilations", vec![1; 4].into()),
            ("padding", "SAME".into()),
            ("explicit_paddings", Vec::<i64>::new().into()),
        ];
        usual.iter().chain(others).map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    #[test]
    fn groups_divide_channels() {
        let convolution = Convolution::new(&attrs(&[]), Code::Unimplemented).unwrap();
        let (input, filter) = (Shape::from([2, 8, 8, 6]), Shape::from([3, 3, 3, 4]));
        let geometry = convolution.forward(&input, &filter).unwrap();
        assert_eq!((geometry.groups(), geometry.pixels(), geometry.patch()), (2, 32, 27));
        assert_eq!(geometry.output(), Shape::from([2, 4, 4, 4]));
        assert!(geometry.ensure_computable(&filter).is_ok());
        let odd = Shape::from([3, 3, 3, 5]);
        assert!(convolution.forward(&input, &odd).unwrap().ensure_computable(&odd).is_err());
        assert!(convolution.backward(&input, &filter, &Shape::from([2, 4, 4, 4])).is_ok());
        assert!(convolution.backward(&input, &odd, &Shape::from([2, 4, 4, 5])).is_err());
        assert!(convolution.forward(&input, &Shape::from([3, 3, 4, 4])).is_err());
    }

    #[test]
    fn gradients_fit_the_output() {
        let convolution = Convolution::new(&attrs(&[]), Code::InvalidArgument).unwrap();
        let (input, filter) = (Shape::from([2, 8, 8, 3]), Shape::from([3, 3, 3, 4]));
        let backward = |flow: [usize; 4]| convolution.backward(&input, &filter, &Shape::from(flow));
        assert!(backward([2, 4, 4, 4]).unwrap().rows.before == 0);
        assert!(backward([2, 4, 5, 4]).unwrap_err().message().contains("dimension 2"));
        assert!(backward([1, 4, 4, 4]).is_err());
        assert!(backward([2, 4, 4, 3]).is_err());
        let flow = Shape::from([2, 4, 4, 4]);
        let to_input = |sizes: &[i32]| {
            convolution.backward_to_input(&Tensor::vector(sizes).unwrap(), &filter, &flow).map(|(shape, _)| shape)
        };
        assert_eq!(to_input(&[8, 8]).unwrap(), input);
        assert_eq!(to_input(&[2, 8, 8, 3]).unwrap(), input);
        assert!(to_input(&[8]).is_err());
        assert!(to_input(&[2, 8, 8, 4]).is_err());
        let sizes = Tensor::vector(&[3i32, 3, 3, 4]).unwrap();
        assert_eq!(convolution.backward_to_filter(&input, &sizes, &flow).unwrap().0, filter);
        assert!(convolution.backward_to_filter(&input, &Tensor::scalar(3i32), &flow).is_err());
    }

    #[test]
    fn errors_speak_of_what_was_written() {
        let nchw = |others: &[(&str, AttrValue)]| {
            attrs(&[&[("data_format", "NCHW".into()), ("strides", vec![1, 1, 2, 3].into())][..], others].concat())
        };
        let error = Convolution::new(&nchw(&[("strides", vec![1, 2, 3, 4].into())]), Code::Unimplemented).unwrap_err();
        assert!(error.message().contains("strides [1, 2, 3, 4]"), "{error}");
        let error =
            Convolution::new(&nchw(&[("dilations", vec![1, 1, 0, 2].into())]), Code::Unimplemented).unwrap_err();
        assert!(error.message().contains("dilations [1, 1, 0, 2]"), "{error}");
        let paddings = [("padding", "EXPLICIT".into()), ("explicit_paddings", vec![0, 0, 0, 0, 1, -2, 3, 4].into())];
        let error = Convolution::new(&nchw(&paddings), Code::Unimplemented).unwrap_err();
        assert!(error.message().contains("[0, 0, 0, 0, 1, -2, 3, 4]"), "{error}");
        // Rows are dimension 2 there, and columns dimension 3.
        let convolution = Convolution::new(&nchw(&[]), Code::Unimplemented).unwrap();
        let backward = |flow: [usize; 4]| {
            convolution.backward(&Shape::from([2, 8, 9, 3]), &Shape::from([3, 3, 3, 4]), &Shape::from(flow))
        };
        assert!(backward([2, 4, 3, 4]).is_ok());
        assert!(backward([2, 5, 3, 4]).unwrap_err().message().contains("dimension 2"));
        assert!(backward([2, 4, 4, 4]).unwrap_err().message().contains("dimension 3"));
        // Each dimension has its own paddings.
        let paddings = [("padding", "EXPLICIT".into()), ("explicit_paddings", vec![0, 0, 0, 0, 1, 2, 3, 4].into())];
        let padded = Convolution::new(&nchw(&paddings), Code::Unimplemented).unwrap();
        let geometry = padded.forward(&Shape::from([2, 8, 9, 3]), &Shape::from([3, 3, 3, 4])).unwrap();
        assert_eq!((geometry.rows.before, geometry.columns.before), (1, 3));
    }

    #[test]
    fn the_batch_is_not_strided() {
        let batches = attrs(&[("strides", vec![2, 1, 1, 1].into())]);
        assert_eq!(Convolution::new(&batches, Code::Unimplemented).unwrap_err().code(), Code::Unimplemented);
        let error = Convolution::new(&batches, Code::InvalidArgument).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
    }

    #[test]
    fn channels_may_be_first() {
        let convolution = |strides: [i64; 4], explicit: [i64; 8]| {
            Convolution::new(
                &attrs(&[
                    ("data_format", "NCHW".into()),
                    ("strides", strides.to_vec().into()),
                    ("padding", "EXPLICIT".into()),
                    ("explicit_paddings", explicit.to_vec().into()),
                ]),
                Code::Unimplemented,
            )
        };
        let padded = convolution([1, 1, 2, 3], [0, 0, 0, 0, 1, 2, 3, 4]).unwrap();
        let geometry = padded.forward(&Shape::from([2, 8, 9, 3]), &Shape::from([3, 2, 3, 4])).unwrap();
        assert_eq!((geometry.rows.stride, geometry.columns.stride), (2, 3));
        assert_eq!((geometry.rows.before, geometry.columns.before), (1, 3));
        assert_eq!(geometry.output(), Shape::from([2, 5, 5, 4]));
        let sizes = Tensor::vector(&[2i32, 3, 8, 9]).unwrap();
        let (filter, flow) = (Shape::from([3, 2, 3, 4]), Shape::from([2, 5, 5, 4]));
        assert_eq!(padded.backward_to_input(&sizes, &filter, &flow).unwrap().0, Shape::from([2, 8, 9, 3]));
        assert_eq!(convolution([1, 2, 2, 1], [0; 8]).unwrap_err().code(), Code::Unimplemented);
        assert!(convolution([1; 4], [0, 0, 1, 1, 0, 0, 0, 0]).is_err());
        assert!(Convolution::new(&attrs(&[("data_format", "NCHW_VECT_C".into())]), Code::Unimplemented).is_err());
    }
}

//! Convolutions in which each input channel has filters of its own, and their gradients.

use super::convolution::{Attrs, ensure_gradient, ensure_output};
use super::images::{last, place, shape_last};
use super::integers::shape_from;
use kernlink::attr::AttrMap;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_ops::shapes::{Axis, Padding, TensorFormat, four};

/// What the attrs say. Wherever the channels are, kernels compute with channels last.
#[derive(Clone, Copy, Debug)]
pub struct Depthwise {
    strides: [i64; 4],
    dilations: [i64; 4],
    /// In the order of the format.
    padding: Padding,
    /// Where the channels are.
    pub format: TensorFormat,
}

impl Depthwise {
    /// Of the attrs of a convolution, or of a gradient.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for values that no convolution has, UNIMPLEMENTED for dilations in batch or channels.
    pub fn new(attrs: &AttrMap) -> Result<Depthwise> {
        let attrs = Attrs::new(attrs)?;
        let format = TensorFormat::of_images(&attrs.format)?;
        let strides = last(format, four("strides", &attrs.strides)?);
        ensure!(
            strides[0] == 1 && strides[3] == 1,
            InvalidArgument,
            "strides {:?} must be 1 in the batch and depth dimensions",
            attrs.strides
        );
        let padding = Padding::new(&attrs.padding, &attrs.explicit, format, 4)?;
        for value in &attrs.dilations {
            ensure!(i32::try_from(*value).is_ok(), InvalidArgument, "dilations has {value} out of range for an int32");
        }
        // Nobody counts dilations that are none.
        let dilations = match attrs.dilations.iter().all(|&dilation| dilation == 1) {
            true => [1; 4],
            false => last(format, four("dilations", &attrs.dilations)?),
        };
        ensure!(
            dilations[0] == 1 && dilations[3] == 1,
            Unimplemented,
            "dilations {:?} must be 1 in the batch and depth dimensions",
            attrs.dilations
        );
        Ok(Depthwise { strides, dilations, padding, format })
    }

    /// The convolution of an input with channels last and a filter of these shapes.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they do not fit.
    pub fn forward(&self, input: &Shape, filter: &Shape) -> Result<Geometry> {
        ensure!(input.rank() == 4, InvalidArgument, "input must be 4-dimensional, not {input}");
        ensure!(filter.rank() == 4, InvalidArgument, "filter must be 4-dimensional, not {filter}");
        let in_depth = input[3];
        ensure!(
            in_depth == filter[2],
            InvalidArgument,
            "input and filter must have the same depth, not {in_depth} and {}",
            filter[2]
        );
        let axis = |axis: usize, window: usize| {
            let padding = self.padding.along(place(self.format, axis));
            Axis::new(input[axis], window, self.strides[axis], self.dilations[axis], padding)
        };
        let (rows, columns) = (axis(1, filter[0])?, axis(2, filter[1])?);
        Ok(Geometry { batch: input[0], rows, columns, in_depth, multiplier: filter[3] })
    }

    /// The convolution whose input, filter and output have these shapes; channels are last.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they do not fit.
    fn backward(&self, input: &Shape, filter: &Shape, gradient: &Shape) -> Result<Geometry> {
        ensure_gradient(input, filter, gradient)?;
        let geometry = self.forward(input, filter)?;
        ensure!(
            geometry.out_depth() == gradient[3],
            InvalidArgument,
            "out_backprop must have {} times {} channels, not {}",
            filter[2],
            filter[3],
            gradient[3]
        );
        ensure_output(&geometry.rows, gradient, 1, self.format)?;
        ensure_output(&geometry.columns, gradient, 2, self.format)?;
        Ok(geometry)
    }

    /// The shape of the input that `sizes` describe, with channels last, and the convolution of it; the gradient's channels
    /// are last.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they describe none, or filter or gradient do not fit.
    pub fn backward_to_input(&self, sizes: &Tensor, filter: &Shape, gradient: &Shape) -> Result<(Shape, Geometry)> {
        let shape = shape_last(self.format, shape_from(sizes, "input_sizes")?);
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
}

/// The sizes of a depthwise convolution.
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
    /// Output channels for each input channel.
    pub multiplier: usize,
}

impl Geometry {
    /// The output's shape, with channels last.
    pub fn output(&self) -> Shape {
        Shape::from([self.batch, self.rows.output, self.columns.output, self.out_depth()])
    }

    /// Channels of the output.
    #[inline]
    pub fn out_depth(&self) -> usize {
        self.in_depth.saturating_mul(self.multiplier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convolution::tests::attrs;
    use kernlink::attr::AttrValue;
    use kernlink::{Code, Error};

    #[test]
    fn channels_are_multiplied() {
        let convolution = Depthwise::new(&attrs(&[("padding", "VALID".into())])).unwrap();
        let (input, filter) = (Shape::from([2, 7, 9, 6]), Shape::from([3, 3, 6, 2]));
        let geometry = convolution.forward(&input, &filter).unwrap();
        assert_eq!(geometry.output(), Shape::from([2, 3, 4, 12]));
        assert!(convolution.backward(&input, &filter, &Shape::from([2, 3, 4, 12])).is_ok());
        assert!(convolution.backward(&input, &filter, &Shape::from([2, 3, 4, 6])).is_err());
        assert!(convolution.backward(&input, &filter, &Shape::from([2, 4, 4, 12])).is_err());
        assert!(convolution.forward(&input, &Shape::from([3, 3, 5, 2])).is_err());
        let (flow, sizes) = (Shape::from([2, 3, 4, 12]), |sizes: [i32; 4]| Tensor::vector(&sizes).unwrap());
        assert_eq!(convolution.backward_to_input(&sizes([2, 7, 9, 6]), &filter, &flow).unwrap().0, input);
        assert_eq!(convolution.backward_to_filter(&input, &sizes([3, 3, 6, 2]), &flow).unwrap().0, filter);
        assert!(convolution.backward_to_input(&sizes([2, 7, 9, 5]), &filter, &flow).is_err());
    }

    #[test]
    fn rows_and_columns_have_steps_of_their_own() {
        let steps = |format: &str, strides: [i64; 4], dilations: [i64; 4]| {
            let strides = ("strides", strides.to_vec().into());
            let dilations = ("dilations", dilations.to_vec().into());
            let others: [(&str, AttrValue); 3] = [("data_format", format.into()), strides, dilations];
            let convolution = Depthwise::new(&attrs(&others))?;
            let geometry = convolution.forward(&Shape::from([2, 7, 9, 6]), &Shape::from([3, 3, 6, 1]))?;
            Ok::<_, Error>([geometry.rows, geometry.columns].map(|axis| (axis.stride, axis.dilation)))
        };
        assert_eq!(steps("NHWC", [1, 2, 1, 1], [1, 1, 3, 1]).unwrap(), [(2, 1), (1, 3)]);
        assert_eq!(steps("NCHW", [1, 1, 2, 1], [1, 1, 1, 3]).unwrap(), [(2, 1), (1, 3)]);
        assert_eq!(steps("NHWC", [1; 4], [1, 1, 1, 2]).unwrap_err().code(), Code::Unimplemented);
        assert_eq!(steps("NHWC", [2, 1, 1, 1], [1; 4]).unwrap_err().code(), Code::InvalidArgument);
        assert_eq!(steps("NHWC", [1, 0, 0, 1], [1; 4]).unwrap_err().code(), Code::InvalidArgument);
    }
}

//! Convolutions in which each input channel has filters of its own, and their gradients.

use super::convolution::{Attrs, ensure_gradient, ensure_output};
use super::integers::shape_from;
use kernlink::attr::AttrMap;
use kernlink::device::DeviceType;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_ops::shapes::{Axis, Padding, TensorFormat, four};

/// What the attrs say.
#[derive(Clone, Copy, Debug)]
pub struct Depthwise {
    stride: i64,
    padding: Padding,
    /// Where the channels are.
    pub format: TensorFormat,
}

impl Depthwise {
    /// Of the attrs of a convolution.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for values that no convolution has, UNIMPLEMENTED for dilations.
    pub fn new(attrs: &AttrMap) -> Result<Depthwise> {
        let attrs = Attrs::new(attrs)?;
        let format = TensorFormat::of_images(&attrs.format)?;
        let strides = four("strides", &attrs.strides)?;
        let stride = strides[format.first_spatial()];
        ensure!(
            stride == strides[format.first_spatial() + 1],
            InvalidArgument,
            "strides {strides:?} must be equal in rows and columns"
        );
        ensure!(
            strides[0] == 1 && strides[format.channel(2)] == 1,
            InvalidArgument,
            "strides {strides:?} must be 1 in the batch and depth dimensions"
        );
        let padding = Padding::new(&attrs.padding, &attrs.explicit, format, 4)?;
        let dilations = attrs.dilations;
        for value in &dilations {
            ensure!(i32::try_from(*value).is_ok(), InvalidArgument, "dilations has {value} out of range for an int32");
        }
        ensure!(
            dilations.iter().all(|&dilation| dilation == 1),
            Unimplemented,
            "dilations {dilations:?} must be 1: tf.nn.depthwise_conv2d brings dilation by SpaceToBatchND"
        );
        Ok(Depthwise { stride, padding, format })
    }

    /// Of the attrs of a gradient, for a kernel for a device.
    ///
    /// # Errors
    /// As [`Depthwise::new`]; UNIMPLEMENTED if channels are not last.
    pub fn of_gradient(attrs: &AttrMap, device: DeviceType) -> Result<Depthwise> {
        let convolution = Depthwise::new(attrs)?;
        ensure!(convolution.format == TensorFormat::Nhwc, Unimplemented, "data_format must be NHWC on the {device}");
        Ok(convolution)
    }

    /// The convolution of tensors of these shapes.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they do not fit.
    pub fn forward(&self, input: &Shape, filter: &Shape) -> Result<Geometry> {
        ensure!(input.rank() == 4, InvalidArgument, "input must be 4-dimensional, not {input}");
        ensure!(filter.rank() == 4, InvalidArgument, "filter must be 4-dimensional, not {filter}");
        let (in_depth, format) = (input[self.format.channel(2)], self.format);
        ensure!(
            in_depth == filter[2],
            InvalidArgument,
            "input and filter must have the same depth, not {in_depth} and {}",
            filter[2]
        );
        let axis =
            |axis: usize, window: usize| Axis::new(input[axis], window, self.stride, 1, self.padding.along(axis));
        let (rows, columns) = (axis(format.first_spatial(), filter[0])?, axis(format.first_spatial() + 1, filter[1])?);
        Ok(Geometry { batch: input[0], rows, columns, in_depth, multiplier: filter[3] })
    }

    /// The shape of the output.
    pub fn output(&self, geometry: &Geometry) -> Shape {
        self.format.image_shape(geometry.batch, geometry.rows.output, geometry.columns.output, geometry.out_depth())
    }

    /// Fails unless a kernel for a device can make an output that is not empty.
    ///
    /// # Errors
    /// UNIMPLEMENTED if channels are not last.
    pub fn ensure_computable(&self, device: DeviceType) -> Result<()> {
        ensure!(
            self.format == TensorFormat::Nhwc,
            Unimplemented,
            "DepthwiseConv2dNative on the {device} supports data_format NHWC only, not NCHW"
        );
        Ok(())
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
        ensure_output(&geometry.rows, gradient, 1)?;
        ensure_output(&geometry.columns, gradient, 2)?;
        Ok(geometry)
    }

    /// The shape of the input that `sizes` describe, and the convolution of it; channels are last.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they describe none, or filter or gradient do not fit.
    pub fn backward_to_input(&self, sizes: &Tensor, filter: &Shape, gradient: &Shape) -> Result<(Shape, Geometry)> {
        let shape = shape_from(sizes, "input_sizes")?;
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
    use kernlink::Code;
    use kernlink::attr::AttrValue;
    use kernlink::device::CPU;

    #[test]
    fn channels_are_multiplied() {
        let convolution = Depthwise::of_gradient(&attrs(&[("padding", "VALID".into())]), CPU).unwrap();
        let (input, filter) = (Shape::from([2, 7, 9, 6]), Shape::from([3, 3, 6, 2]));
        let geometry = convolution.forward(&input, &filter).unwrap();
        assert_eq!(convolution.output(&geometry), Shape::from([2, 3, 4, 12]));
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
    fn what_tensorflow_has_no_kernel_for_is_refused() {
        let code = |others: &[(&str, AttrValue)]| Depthwise::of_gradient(&attrs(others), CPU).unwrap_err().code();
        assert_eq!(code(&[("dilations", vec![1, 2, 2, 1].into())]), Code::Unimplemented);
        assert_eq!(code(&[("strides", vec![1, 2, 1, 1].into())]), Code::InvalidArgument);
        assert_eq!(code(&[("data_format", "NCHW".into()), ("strides", vec![1, 1, 2, 2].into())]), Code::Unimplemented);
    }
}

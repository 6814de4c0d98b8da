//! Convolutions of images. Each of an image, a filter and what comes out is a function of the other two that is linear in each,
//! so that gradients of gradients are convolutions as well.

use kernlink::Result;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink_macros::register_gradient;

use super::shape_of;
use crate::*;

/// The attrs that all of them have.
struct Windows {
    strides: Vec<i64>,
    padding: String,
    explicit_paddings: Vec<i64>,
    data_format: String,
    dilations: Vec<i64>,
}

impl Windows {
    /// Those of the node whose gradient this is.
    fn of(g: &GradientScope<'_>) -> Result<Windows> {
        let attrs = g.attrs();
        Ok(Windows {
            strides: attrs.required("strides")?,
            padding: attrs.required("padding")?,
            // Convolutions of volumes have no such attr.
            explicit_paddings: match attrs.get("explicit_paddings") {
                Some(_) => attrs.required("explicit_paddings")?,
                None => Vec::new(),
            },
            data_format: attrs.required("data_format")?,
            dilations: attrs.required("dilations")?,
        })
    }
}

/// A convolution with the windows of the node whose gradient this is.
macro_rules! convolve {
    ($g:ident, $op:ident, $a:expr, $b:expr $(, $c:expr)?) => {{
        let windows = Windows::of($g)?;
        let convolved = $op($g, $a, $b, $($c,)? &windows.strides[..], &windows.padding);
        let convolved = convolved.explicit_paddings(&windows.explicit_paddings[..]).data_format(&windows.data_format);
        convolved.dilations(&windows.dilations[..]).build()
    }};
}

/// As [`convolve`], of volumes.
macro_rules! convolve_volumes {
    ($g:ident, $op:ident, $a:expr, $b:expr $(, $c:expr)?) => {{
        let windows = Windows::of($g)?;
        let convolved = $op($g, $a, $b, $($c,)? &windows.strides[..], &windows.padding);
        convolved.data_format(&windows.data_format).dilations(&windows.dilations[..]).build()
    }};
}

/// The gradients of a kind of convolution, and of its gradients.
macro_rules! convolutions {
    ($($convolve:ident: $forward:ident $of_forward:ident $forward_op:ident, $image:ident $of_image:ident $image_op:ident,
       $filter:ident $of_filter:ident $filter_op:ident;)*) => {$(
        #[register_gradient(op = $forward_op)]
        fn $of_forward(
            g: &mut GradientScope<'_>,
            input: Value,
            filter: Value,
            d_output: Value,
        ) -> Result<(Option<Value>, Option<Value>)> {
            let mut found = [None, None];
            if g.is_wanted(0) {
                let dims = dims_of(g, input)?;
                found[0] = Some($convolve!(g, $image, dims, filter, d_output)?);
            }
            if g.is_wanted(1) {
                let dims = dims_of(g, filter)?;
                found[1] = Some($convolve!(g, $filter, input, dims, d_output)?);
            }
            let [of_input, of_filter] = found;
            Ok((of_input, of_filter))
        }

        #[register_gradient(op = $image_op)]
        fn $of_image(
            g: &mut GradientScope<'_>,
            filter: Value,
            out_backprop: Value,
            d_output: Value,
        ) -> Result<(NoGradient, Option<Value>, Option<Value>)> {
            let mut found = [None, None];
            if g.is_wanted(1) {
                let dims = dims_of(g, filter)?;
                found[0] = Some($convolve!(g, $filter, d_output, dims, out_backprop)?);
            }
            if g.is_wanted(2) {
                found[1] = Some($convolve!(g, $forward, d_output, filter)?);
            }
            let [of_filter, of_flow] = found;
            Ok((NoGradient, of_filter, of_flow))
        }

        #[register_gradient(op = $filter_op)]
        fn $of_filter(
            g: &mut GradientScope<'_>,
            input: Value,
            out_backprop: Value,
            d_output: Value,
        ) -> Result<(Option<Value>, NoGradient, Option<Value>)> {
            let mut found = [None, None];
            if g.is_wanted(0) {
                let dims = dims_of(g, input)?;
                found[0] = Some($convolve!(g, $image, dims, d_output, out_backprop)?);
            }
            if g.is_wanted(2) {
                found[1] = Some($convolve!(g, $forward, input, d_output)?);
            }
            let [of_input, of_flow] = found;
            Ok((of_input, NoGradient, of_flow))
        }
    )*

        /// How many gradients the macro registers.
        pub(super) const BY_MACROS: usize =
            [$(stringify!($forward_op), stringify!($image_op), stringify!($filter_op)),*].len();
    };
}

convolutions! {
    convolve: conv2d of_conv2d Conv2D, conv2d_backprop_input of_conv2d_input Conv2DBackpropInput,
    conv2d_backprop_filter of_conv2d_filter Conv2DBackpropFilter;
    convolve: depthwise_conv2d_native of_depthwise DepthwiseConv2dNative,
    depthwise_conv2d_native_backprop_input of_depthwise_input DepthwiseConv2dNativeBackpropInput,
    depthwise_conv2d_native_backprop_filter of_depthwise_filter DepthwiseConv2dNativeBackpropFilter;
    convolve_volumes: conv3d of_conv3d Conv3D, conv3d_backprop_input_v2 of_conv3d_input Conv3DBackpropInputV2,
    conv3d_backprop_filter_v2 of_conv3d_filter Conv3DBackpropFilterV2;
}

/// The dimensions of an operand.
fn dims_of(g: &mut GradientScope<'_>, operand: Value) -> Result<Value> {
    let shape: ShapeOf = shape_of(g, operand);
    g.dims(&shape)
}

#[register_gradient(op = Dilation2D)]
fn dilation2d_gradient(
    g: &mut GradientScope<'_>,
    strides: Vec<i64>,
    rates: Vec<i64>,
    padding: String,
    input: Value,
    filter: Value,
    d_output: Value,
) -> Result<(Value, Value)> {
    let required = Dilation2DBackpropInputRequired { strides: &strides, rates: &rates, padding: &padding };
    let of_input = dilation2d_backprop_input(g, input, filter, d_output, required).build()?;
    let required = Dilation2DBackpropFilterRequired { strides: &strides, rates: &rates, padding: &padding };
    Ok((of_input, dilation2d_backprop_filter(g, input, filter, d_output, required).build()?))
}

//! Convolutions.

use super::window::{check_inner, make_shape_from_format, shape_with_inner, sizes_attr};
use super::{FilterFormat, Padding, TensorFormat, get_windowed_output_size_from_dims_v2};
use kernlink::shape_inference::common::{attr_or, output_shape};
use kernlink::shape_inference::{DimHandle, InferenceContext, ShapeHandle};
use kernlink::{Error, Result, bail, ensure};

/// How the window of a convolution moves.
struct Steps {
    format: TensorFormat,
    strides: Vec<i64>,
    dilations: Vec<i64>,
}

impl Steps {
    /// From attrs with a value for each dimension. The last two arguments begin the errors about each of them.
    #[track_caller]
    fn from_attrs(
        c: &InferenceContext<'_>,
        format: TensorFormat,
        spatial: usize,
        dilations: &str,
        strides: &str,
    ) -> Result<Steps> {
        let dilations = sizes_attr(c, "dilations", dilations, spatial + 2, Some(1))?;
        let strides = sizes_attr(c, "strides", strides, spatial + 2, None)?;
        Ok(Steps { format, strides, dilations })
    }

    /// The sizes of the spatial dimensions of the output.
    fn output_sizes(
        &self,
        c: &InferenceContext<'_>,
        input: ShapeHandle,
        windows: &[DimHandle],
        padding: &Padding,
    ) -> Result<Vec<DimHandle>> {
        let axes = windows.iter().zip(self.format.first_spatial()..);
        axes.map(|(&window, axis)| {
            let size = c.dim(input, axis as i64);
            let (dilation, stride) = (self.dilations[axis], self.strides[axis]);
            get_windowed_output_size_from_dims_v2(c, size, window, dilation, stride, padding, axis)
        })
        .collect()
    }
}

/// How an op says its padding.
#[derive(Clone, Copy)]
enum Explicit {
    /// Attrs `padding` and `explicit_paddings`.
    Supported,
    /// Attr `padding`.
    Unsupported,
}

impl Explicit {
    fn padding(self, c: &InferenceContext<'_>, format: TensorFormat, rank: usize) -> Result<Padding> {
        match self {
            Explicit::Supported => Padding::from_attrs(c, format, rank),
            Explicit::Unsupported => Padding::from_attrs_without_explicit(c, format, rank),
        }
    }
}

/// As [`conv2d_shape_with_explicit_padding`], for ops without attr `explicit_paddings`. Those that were fused may have
/// an attr `padding_list` in its place.
///
/// # Errors
/// INVALID_ARGUMENT for ranks, channels, attrs or sizes that do not fit.
pub fn conv2d_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    conv2d(c, Explicit::Unsupported)
}

/// Output 0 of `Conv2D`: input 0 in attr `data_format` (NHWC by default), filters 1 in attr `filter_format` (HWIO by
/// default), attrs `strides`, `dilations`, `padding`, `explicit_paddings`. The input's channels may be a multiple of
/// those of the filter: then there are groups.
///
/// # Errors
/// INVALID_ARGUMENT for ranks, channels, attrs or sizes that do not fit.
pub fn conv2d_shape_with_explicit_padding(c: &mut InferenceContext<'_>) -> Result<()> {
    conv2d(c, Explicit::Supported)
}

fn conv2d(c: &InferenceContext<'_>, explicit: Explicit) -> Result<()> {
    let format_name = attr_or(c, "data_format", "NHWC".to_owned())?;
    let format = TensorFormat::from_name(&format_name)?;
    let default = if format == TensorFormat::NchwVectC { "OIHW_VECT_I" } else { "HWIO" };
    let filter_format = FilterFormat::from_name(&attr_or(c, "filter_format", default.to_owned())?)?;
    let rank = format.rank(2);
    let input = c.with_rank(c.input(0), rank)?;
    check_inner(c, format, input)?;
    let filter = c.with_rank(c.input(1), rank)?;
    check_inner(c, format, filter)?;
    let steps = {
        let strides = format!("Conv2D on data format {format_name} requires the stride");
        Steps::from_attrs(c, format, 2, "Conv2D requires the dilation", &strides)?
    };

    let filter_dim = |axis: usize| c.dim(filter, axis as i64);
    let mut filter_depth = filter_dim(filter_format.input());
    if filter_format == FilterFormat::OihwVectI {
        filter_depth = c.multiply(filter_depth, c.dim(filter, -1))?;
    }
    let mut depth = c.dim(input, format.channel(2) as i64);
    if format == TensorFormat::NchwVectC {
        depth = c.multiply(depth, c.dim(input, -1))?;
    }
    let mut output_depth = filter_dim(filter_format.output());
    check_groups(c, depth, filter_depth, output_depth)?;
    let windows = [filter_dim(filter_format.height()), filter_dim(filter_format.height() + 1)];
    let sizes = steps.output_sizes(c, input, &windows, &explicit.padding(c, format, 4)?)?;
    let mut inner = output_depth;
    if format == TensorFormat::NchwVectC {
        inner = c.dim(input, -1);
        output_depth = c.divide(output_depth, inner, true)?;
    }
    let batch = c.dim(input, format.batch(2) as i64);
    output_shape(c, shape_with_inner(c, format, batch, &sizes, output_depth, inner))
}

/// Output 0 of `Conv3D`: input 0 in attr `data_format` (NDHWC or NCDHW), filters 1 as depth, height, width, input
/// channels, output channels.
///
/// # Errors
/// INVALID_ARGUMENT for ranks, channels, attrs or sizes that do not fit.
pub fn conv3d_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank(c.input(0), 5)?;
    let filter = c.with_rank(c.input(1), 5)?;
    let format = volume_format(c)?;
    let steps = Steps::from_attrs(c, format, 3, "Conv3D requires the dilation", "Conv3D requires the stride")?;
    let output_depth = c.dim(filter, 4);
    check_groups(c, c.dim(input, format.channel(3) as i64), c.dim(filter, 3), output_depth)?;
    let windows = [c.dim(filter, 0), c.dim(filter, 1), c.dim(filter, 2)];
    let sizes = steps.output_sizes(c, input, &windows, &Padding::from_attrs(c, format, 5)?)?;
    output_shape(c, make_shape_from_format(c, format, c.dim(input, 0), &sizes, output_depth))
}

/// The format of an op on volumes: NCDHW, or else NDHWC.
pub(super) fn volume_format(c: &InferenceContext<'_>) -> Result<TensorFormat> {
    let name = attr_or(c, "data_format", String::new())?;
    Ok(if name == "NCDHW" { TensorFormat::Nchw } else { TensorFormat::Nhwc })
}

/// As [`depthwise_conv2d_native_shape_with_explicit_padding`], for ops without attr `explicit_paddings`.
///
/// # Errors
/// INVALID_ARGUMENT for ranks, channels, attrs or sizes that do not fit.
pub fn depthwise_conv2d_native_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    depthwise(c, Explicit::Unsupported)
}

/// Output 0 of `DepthwiseConv2dNative`: input 0 in attr `data_format` (NHWC or NCHW), filters 1 as height, width,
/// channels, multiplier.
///
/// # Errors
/// INVALID_ARGUMENT for ranks, channels, attrs or sizes that do not fit.
pub fn depthwise_conv2d_native_shape_with_explicit_padding(c: &mut InferenceContext<'_>) -> Result<()> {
    depthwise(c, Explicit::Supported)
}

fn depthwise(c: &InferenceContext<'_>, explicit: Explicit) -> Result<()> {
    let input = c.with_rank(c.input(0), 4)?;
    let filter = c.with_rank(c.input(1), 4)?;
    let format = match attr_or(c, "data_format", String::new())?.as_str() {
        "NCHW" => TensorFormat::Nchw,
        _ => TensorFormat::Nhwc,
    };
    let steps = {
        let dilations = "DepthwiseConv2D requires the dilations";
        Steps::from_attrs(c, format, 2, dilations, "DepthwiseConv2D requires the stride")?
    };
    let depth = c.merge_dim(c.dim(input, format.channel(2) as i64), c.dim(filter, 2))?;
    let output_depth = c.multiply(depth, c.dim(filter, 3))?;
    let windows = [c.dim(filter, 0), c.dim(filter, 1)];
    let sizes = steps.output_sizes(c, input, &windows, &explicit.padding(c, format, 4)?)?;
    output_shape(c, make_shape_from_format(c, format, c.dim(input, 0), &sizes, output_depth))
}

/// Output 0 of `Conv2DBackpropInput`, whose shape input 0 holds: all of it, or only the spatial sizes.
///
/// # Errors
/// INVALID_ARGUMENT for ranks or sizes that do not fit.
pub fn conv2d_backprop_input_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let format = TensorFormat::from_name(&attr_or(c, "data_format", "NHWC".to_owned())?)?;
    let gradient = c.with_rank(c.input(2), 4)?;
    let filter = c.with_rank(c.input(1), 4)?;
    let axis = |axis: usize| axis as i64;
    c.merge_dim(c.dim(gradient, axis(format.channel(2))), c.dim(filter, 3))?;
    let batch = c.dim(gradient, axis(format.batch(2)));

    let mut sizes = c.make_shape_from_shape_tensor(0)?;
    if !c.rank_known(sizes) {
        sizes = c.with_rank(sizes, 4)?;
    }
    let first = axis(format.first_spatial());
    let (spatial, depth) = match c.rank(sizes) {
        Some(4) => {
            c.merge_dim(c.dim(sizes, axis(format.batch(2))), batch)?;
            ([c.dim(sizes, first), c.dim(sizes, first + 1)], c.dim(sizes, axis(format.channel(2))))
        }
        Some(2) => ([c.dim(sizes, 0), c.dim(sizes, 1)], c.dim(filter, 2)),
        rank => {
            bail!(
                InvalidArgument,
                "Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: {}",
                rank.unwrap_or(0)
            );
        }
    };
    output_shape(c, make_shape_from_format(c, format, batch, &spatial, depth))
}

/// Checks that the input's channels are a multiple of the filter's, and the output's of the number of groups.
fn check_groups(c: &InferenceContext<'_>, input: DimHandle, filter: DimHandle, output: DimHandle) -> Result<()> {
    let (Some(input), Some(filter)) = (c.value(input), c.value(filter)) else { return Ok(()) };
    ensure!(filter != 0, InvalidArgument, "Depth of filter must not be 0");
    ensure!(
        input % filter == 0,
        InvalidArgument,
        "Depth of input ({input}) is not a multiple of input depth of filter ({filter})"
    );
    match (input / filter, c.value(output)) {
        (0, Some(_)) => Err(Error::invalid_argument("Number of groups must not be 0")),
        (groups, Some(output)) if output % groups != 0 => Err(Error::invalid_argument(format!(
            "Depth of output ({output}) is not a multiple of the number of groups ({groups})"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::attr::AttrValue;
    use kernlink::op::{AttrBase, AttrType};
    use kernlink::shape_inference::ShapeFn;
    use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};
    use kernlink::tensor::Tensor;

    fn test(shape_fn: ShapeFn, inputs: usize, attrs: &[(&str, AttrValue)]) -> ShapeTest {
        attrs.iter().fold(ShapeTest::anonymous(inputs, 1, shape_fn), |test, (name, value)| {
            test.declare_attr(name, value.ty().unwrap_or(AttrType { base: AttrBase::Int, list: true }))
                .attr(name, value.clone())
        })
    }

    fn conv2d(
        format: &str,
        filter: &str,
        stride: &[i64],
        dilation: &[i64],
        padding: &str,
        explicit: &[i64],
    ) -> ShapeTest {
        let attrs = [
            ("data_format", AttrValue::from(format)),
            ("filter_format", AttrValue::from(filter)),
            ("strides", AttrValue::from(stride)),
            ("dilations", AttrValue::from(dilation)),
            ("padding", AttrValue::from(padding)),
            ("explicit_paddings", AttrValue::from(explicit)),
        ];
        test(conv2d_shape_with_explicit_padding, 2, &attrs)
    }

    #[test]
    fn conv2d_sizes() {
        let conv = |stride: &[i64], padding| conv2d("NHWC", "HWIO", stride, &[1; 4], padding, &[]);
        let valid = conv(&[1; 4], "VALID");
        infer_ok(&valid, "?;?", "[?,?,?,?]");
        infer_ok(&valid, "[1,2,2,1];[1,1,1,1]", "[d0_0,2,2,d1_3]");
        infer_ok(&valid, "[1,2,2,1];[2,1,1,1]", "[d0_0,1,2,d1_3]");
        infer_ok(&valid, "[1,?,2,1];[1,1,1,1]", "[d0_0,?,2,d1_3]");
        infer_ok(&valid, "[1,2,2,?];[1,1,1,1]", "[d0_0,2,2,d1_3]");
        infer_ok(&conv(&[1, 2, 2, 1], "VALID"), "[1,4,4,1];[2,1,1,1]", "[d0_0,2,2,d1_3]");
        infer_ok(&conv(&[1; 4], "SAME"), "[1,4,4,1];[?,?,1,1]", "[d0_0,d0_1,d0_2,d1_3]");
        infer_ok(&conv(&[1, 2, 3, 1], "SAME"), "[1,5,5,1];[2,2,1,1]", "[d0_0,3,2,d1_3]");
        infer_error("Shape must be rank 4 but is rank 3", &valid, "[1,1,1];?");
        infer_error("Shape must be rank 4 but is rank 2", &valid, "?;[1,4]");
        infer_error("Negative dimension size", &valid, "[1,2,2,1];[3,1,1,1]");
        infer_error(
            "Conv2D on data format NHWC requires the stride attribute to contain 4 values, but got: 3",
            &conv(&[1; 3], "VALID"),
            "?;?",
        );
        infer_error("Stride must be > 0, but got 0", &conv(&[1, 1, 0, 1], "VALID"), "[1,4,4,1];[1,1,1,1]");
    }

    #[test]
    fn conv2d_groups() {
        let conv = conv2d("NHWC", "HWIO", &[1; 4], &[1; 4], "VALID", &[]);
        infer_ok(&conv, "[1,2,2,6];[1,1,3,4]", "[d0_0,2,2,d1_3]");
        infer_error("Depth of input (5) is not a multiple of input depth of filter (3)", &conv, "[1,2,2,5];[1,1,3,4]");
        infer_error("Depth of output (5) is not a multiple of the number of groups (2)", &conv, "[1,2,2,6];[1,1,3,5]");
        infer_error("Depth of filter must not be 0", &conv, "[1,2,2,6];[1,1,0,5]");
        infer_error("Number of groups must not be 0", &conv, "[1,2,2,0];[1,1,3,5]");
        infer_ok(&conv, "[1,2,2,0];[1,1,3,?]", "[d0_0,2,2,d1_3]");
    }

    #[test]
    fn conv2d_formats() {
        let conv = |format, filter| conv2d(format, filter, &[1; 4], &[1; 4], "VALID", &[]);
        infer_ok(&conv("NCHW", "HWIO"), "[1,3,5,6];[2,2,3,7]", "[d0_0,d1_3,4,5]");
        infer_ok(&conv("HWNC", "HWIO"), "[5,6,1,3];[2,2,3,7]", "[4,5,d0_2,d1_3]");
        infer_ok(&conv("NHWC", "OHWI"), "[1,5,6,3];[7,2,2,3]", "[d0_0,4,5,d1_0]");
        infer_ok(&conv("NCHW", "OIHW"), "[1,3,5,6];[7,3,2,2]", "[d0_0,d1_0,4,5]");
        infer_ok(&conv("NCHW_VECT_C", "OIHW_VECT_I"), "[1,2,5,6,4];[8,2,2,2,4]", "[d0_0,2,4,5,d0_4]");
        infer_error("must be 4 or 32, but is 3", &conv("NCHW_VECT_C", "OIHW_VECT_I"), "[1,2,5,6,3];?");
        infer_error("evenly divisible by 4 but is 7", &conv("NCHW_VECT_C", "OIHW_VECT_I"), "[1,2,5,6,4];[7,2,2,2,4]");
        infer_error("Invalid data format string: NWHC", &conv("NWHC", "HWIO"), "?;?");
        infer_error("Invalid filter format string: IOHW", &conv("NHWC", "IOHW"), "?;?");
    }

    #[test]
    fn conv2d_steps() {
        let dilated = conv2d("NHWC", "HWIO", &[1; 4], &[1, 2, 3, 1], "VALID", &[]);
        infer_ok(&dilated, "[1,9,9,1];[3,3,1,1]", "[d0_0,5,3,d1_3]");
        let explicit = conv2d("NCHW", "HWIO", &[1, 1, 2, 1], &[1; 4], "EXPLICIT", &[0, 0, 0, 0, 1, 2, 3, 4]);
        infer_ok(&explicit, "[1,1,5,5];[3,3,1,1]", "[d0_0,d1_3,3,10]");
        let wrong = conv2d("NHWC", "HWIO", &[1; 4], &[1; 4], "EXPLICIT", &[0, 0]);
        infer_error("8 values, but got: 2", &wrong, "?;?");
        let dilations = conv2d("NHWC", "HWIO", &[1; 4], &[1; 2], "VALID", &[]);
        infer_error("Conv2D requires the dilation attribute to contain 4 values, but got: 2", &dilations, "?;?");
    }

    #[test]
    fn conv3d() {
        let conv = |format: &str, strides: &[i64], padding: &str| {
            let attrs = [
                ("data_format", AttrValue::from(format)),
                ("strides", AttrValue::from(strides)),
                ("dilations", AttrValue::from(&[1i64; 5][..])),
                ("padding", AttrValue::from(padding)),
            ];
            test(conv3d_shape, 2, &attrs)
        };
        infer_ok(&conv("NDHWC", &[1; 5], "VALID"), "[1,4,5,6,2];[2,2,2,2,7]", "[d0_0,3,4,5,d1_4]");
        infer_ok(&conv("NCDHW", &[1, 1, 1, 2, 3], "SAME"), "[1,2,4,5,7];[2,2,2,2,7]", "[d0_0,d1_4,d0_2,3,3]");
        infer_ok(&conv("NDHWC", &[1; 5], "VALID"), "?;?", "[?,?,?,?,?]");
        infer_error("Shape must be rank 5 but is rank 4", &conv("NDHWC", &[1; 5], "VALID"), "[1,2,3,4];?");
        infer_error("Conv3D requires the stride attribute to contain 5", &conv("NDHWC", &[1; 4], "VALID"), "?;?");
        infer_error("Depth of input", &conv("NDHWC", &[1; 5], "VALID"), "[1,4,5,6,3];[2,2,2,2,7]");
    }

    #[test]
    fn depthwise() {
        let conv = |format: &str, strides: &[i64]| {
            let attrs = [
                ("data_format", AttrValue::from(format)),
                ("strides", AttrValue::from(strides)),
                ("padding", AttrValue::from("VALID")),
            ];
            test(depthwise_conv2d_native_shape_with_explicit_padding, 2, &attrs)
        };
        infer_ok(&conv("NHWC", &[1; 4]), "[1,2,2,3];[1,1,3,4]", "[d0_0,2,2,12]");
        infer_ok(&conv("NHWC", &[1; 4]), "[1,2,2,?];[1,1,?,?]", "[d0_0,2,2,?]");
        infer_ok(&conv("NHWC", &[1; 4]), "[1,2,2,?];[1,1,3,1]", "[d0_0,2,2,d1_2]");
        infer_ok(&conv("NCHW", &[1, 1, 2, 3]), "[1,3,7,7];[3,3,3,4]", "[d0_0,12,3,2]");
        infer_error("Dimensions must be equal, but are 3 and 12", &conv("NHWC", &[1; 4]), "[1,2,2,3];[1,1,12,4]");
        infer_error("DepthwiseConv2D requires the stride attribute to contain 4", &conv("NHWC", &[1; 2]), "?;?");
    }

    #[test]
    fn backprop_input() {
        let gradient = test(conv2d_backprop_input_shape, 3, &[("data_format", AttrValue::from("NHWC"))]);
        infer_ok(&gradient, "?;?;?", "[?,?,?,?]");
        infer_ok(&gradient, "[4];[2,2,3,7];[1,4,4,7]", "[d2_0,?,?,?]");
        let sized = |sizes: &[i32]| gradient.clone().input_tensor(0, Tensor::vector(sizes).unwrap());
        infer_ok(&sized(&[1, 5, 5, 3]), "[4];[2,2,3,7];[1,4,4,7]", "[d2_0,5,5,3]");
        infer_ok(&sized(&[5, 5]), "[2];[2,2,3,7];[?,4,4,7]", "[d2_0,5,5,d1_2]");
        infer_error("4 values or 2 values, but got: 3", &sized(&[5, 5, 3]), "[3];[2,2,3,7];[?,4,4,7]");
        infer_error("Dimensions must be equal, but are 8 and 7", &sized(&[5, 5]), "[2];[2,2,3,7];[?,4,4,8]");
        infer_error("Dimensions must be equal, but are 2 and 1", &sized(&[2, 5, 5, 3]), "[4];?;[1,4,4,7]");
    }
}

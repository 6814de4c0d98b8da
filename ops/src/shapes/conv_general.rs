//! Convolutions of any number of dimensions, and gradients of filters.

use super::window::sizes_attr;
use super::{Padding, TensorFormat, get_windowed_output_size_from_dims_v2};
use kernlink::shape_inference::InferenceContext;
use kernlink::shape_inference::common::{attr_or, output_shape};
use kernlink::{Result, bail, ensure};

/// Output 0 of `Conv`, over two or three spatial dimensions: input 0, with attr `batch_dims` dimensions of batch and in
/// attr `data_format`; filters 1, whose last two dimensions are the input's and the output's channels; attrs `strides`,
/// `dilations`, `padding`, `explicit_paddings` and `groups`. Unknown if the rank of an input is.
///
/// # Errors
/// INVALID_ARGUMENT for ranks, channels, attrs or sizes that do not fit.
pub fn conv_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (input, filter) = (c.input(0), c.input(1));
    let (Some(input_dims), Some(filter_dims)) = (c.dims(input), c.dims(filter)) else {
        return output_shape(c, c.unknown_shape());
    };
    let batch_dims: i64 = c.attr("batch_dims")?;
    ensure!(batch_dims >= 0, InvalidArgument, "Batch dims must be non-negative.");
    let rank = input_dims.len() as i64 - batch_dims.saturating_sub(1);
    let filter_rank = filter_dims.len() as i64;
    ensure!(
        matches!(rank, 4 | 5),
        InvalidArgument,
        "Input tensor must be rank 4 or 5, excluding extra batch dimensions, but got: {rank}"
    );
    ensure!(matches!(filter_rank, 4 | 5), InvalidArgument, "Filter tensor must be rank 4 or 5, but got: {filter_rank}");
    ensure!(filter_rank == rank, InvalidArgument, "Input tensor rank must be the same as filter rank.");
    let rank = rank as usize;
    let format = match c.attr::<String>("data_format")?.as_str() {
        "CHANNELS_LAST" => TensorFormat::Nhwc,
        "CHANNELS_FIRST" => TensorFormat::Nchw,
        other => bail!(InvalidArgument, "Invalid data format: {other}"),
    };
    let spatial = rank - 2;
    let mut dilations = attr_or(c, "dilations", Vec::new())?;
    if dilations.is_empty() {
        dilations = vec![1i64; rank];
    }
    ensure!(
        dilations.len() == rank,
        InvalidArgument,
        "Conv requires the dilation attribute to contain {rank} values, but got: {}",
        dilations.len()
    );
    let strides = sizes_attr(c, "strides", "Conv requires the stride", rank, None)?;

    // Without any batch, the dimension before the first one is asked for, as in TensorFlow, where that is the last.
    let at = |axis: usize| c.dim(input, batch_dims - 1 + axis as i64);
    let (depth, filter_depth) = (at(format.channel(spatial)), filter_dims[spatial]);
    let output_depth = filter_dims[spatial + 1];
    let groups: i64 = c.attr("groups")?;
    ensure!(groups >= 1, InvalidArgument, "Groups attribute should be a positive integer");
    for (what, dim) in [("input", depth), ("output", output_depth)] {
        let divides = c.value(dim).is_none_or(|size| size % groups == 0);
        ensure!(divides, InvalidArgument, "Number of groups should divide {what} depth");
    }
    match (c.value(depth), c.value(filter_depth)) {
        (Some(_), Some(0)) => bail!(InvalidArgument, "Depth of filter must not be 0"),
        (Some(depth), Some(filter)) if depth % filter != 0 => {
            bail!(InvalidArgument, "Depth of input ({depth}) is not a multiple of input depth of filter ({filter})")
        }
        (Some(depth), Some(filter)) if depth / filter != groups => bail!(
            InvalidArgument,
            "Input depth divided by filter input depth does not match with groups parameter ({groups})"
        ),
        _ => {}
    }
    let word: String = c.attr("padding")?;
    let is_supported = spatial != 3 || word != "EXPLICIT";
    ensure!(is_supported, InvalidArgument, "Explicit padding not supported for 3D Convolution");
    let padding = Padding::new(&word, &attr_or(c, "explicit_paddings", Vec::new())?, format, 4)?;
    let mut sizes = Vec::with_capacity(spatial);
    for (index, &window) in filter_dims[..spatial].iter().enumerate() {
        let axis = format.first_spatial() + index;
        let (dilation, stride) = (dilations[axis], strides[axis]);
        sizes.push(get_windowed_output_size_from_dims_v2(c, at(axis), window, dilation, stride, &padding, axis)?);
    }
    let mut dims = input_dims[..batch_dims as usize].to_vec();
    match format {
        TensorFormat::Nhwc => {
            dims.extend(sizes);
            dims.push(output_depth);
        }
        _ => {
            dims.push(output_depth);
            dims.extend(sizes);
        }
    }
    output_shape(c, c.make_shape(dims))
}

/// The outputs of `Conv2DBackpropFilterWithBias`: output 0 has the shape that input 1 holds, output 1 is a vector as
/// long as image 0 has channels.
///
/// # Errors
/// INVALID_ARGUMENT for ranks that do not fit.
pub fn conv2d_backprop_filter_with_bias_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank(c.input(0), 4)?;
    let axis = if attr_or(c, "data_format", String::new())? == "NCHW" { -3 } else { -1 };
    c.set_output(1, c.vector(c.dim(input, axis)));
    output_shape(c, c.with_rank(c.make_shape_from_shape_tensor(1)?, 4)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::attr::AttrValue;
    use kernlink::op::{AttrBase, AttrType};
    use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};
    use kernlink::tensor::Tensor;

    fn conv(format: &str, batch_dims: i64, groups: i64, strides: &[i64]) -> ShapeTest {
        let attrs = [
            ("data_format", AttrValue::from(format)),
            ("batch_dims", AttrValue::Int(batch_dims)),
            ("groups", AttrValue::Int(groups)),
            ("strides", AttrValue::from(strides)),
            ("padding", AttrValue::from("VALID")),
        ];
        attrs.into_iter().fold(ShapeTest::anonymous(2, 1, conv_shape), |test, (name, value)| {
            test.declare_attr(name, value.ty().expect("a value with a type")).attr(name, value)
        })
    }

    #[test]
    fn convolutions() {
        let plain = conv("CHANNELS_LAST", 1, 1, &[1; 4]);
        infer_ok(&plain, "?;?", "?");
        infer_ok(&plain, "[1,5,5,2];[3,3,2,4]", "[d0_0,3,3,d1_3]");
        infer_ok(&conv("CHANNELS_FIRST", 1, 1, &[1; 4]), "[1,2,5,5];[3,3,2,4]", "[d0_0,d1_3,3,3]");
        infer_ok(&conv("CHANNELS_LAST", 2, 1, &[1; 4]), "[7,1,5,5,2];[3,3,2,4]", "[d0_0,d0_1,3,3,d1_3]");
        infer_ok(&conv("CHANNELS_LAST", 1, 1, &[1; 5]), "[1,5,5,5,2];[3,3,1,2,4]", "[d0_0,3,3,5,d1_4]");
        infer_ok(&conv("CHANNELS_LAST", 1, 2, &[1; 4]), "[1,5,5,4];[3,3,2,4]", "[d0_0,3,3,d1_3]");
        infer_error("must be rank 4 or 5", &plain, "[1,5,5];[3,3,2,4]");
        infer_error("Batch dims must be non-negative", &conv("CHANNELS_LAST", -1, 1, &[1; 4]), "[1];[1]");
        infer_error("same as filter rank", &plain, "[1,5,5,2];[3,3,3,2,4]");
        infer_error("Invalid data format: NHWC", &conv("NHWC", 1, 1, &[1; 4]), "[1,5,5,2];[3,3,2,4]");
        infer_error("should divide input depth", &conv("CHANNELS_LAST", 1, 3, &[1; 4]), "[1,5,5,4];[3,3,2,6]");
        infer_error("does not match with groups", &plain, "[1,5,5,4];[3,3,2,4]");
    }

    #[test]
    fn gradients_of_filters() {
        let test = ShapeTest::anonymous(3, 2, conv2d_backprop_filter_with_bias_shape)
            .declare_attr("data_format", AttrType { base: AttrBase::String, list: false })
            .attr("data_format", "NHWC");
        infer_ok(&test, "[1,?,5,2];[4];?", "[?,?,?,?];[d0_3]");
        let known = test.attr("data_format", "NCHW").input_tensor(1, Tensor::vector(&[3i32, 3, 2, 4]).unwrap());
        infer_ok(&known, "[1,2,5,5];[4];?", "[3,3,2,4];[d0_1]");
    }
}

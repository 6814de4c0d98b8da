//! Pooling.

use super::conv::volume_format;
use super::window::{check_inner, make_shape_from_format, sizes_attr};
use super::{Padding, TensorFormat, get_windowed_output_size_from_dims_v2};
use kernlink::shape_inference::common::{attr_or, output_shape, unchanged_shape_with_rank};
use kernlink::shape_inference::{DimHandle, InferenceContext, ShapeHandle};
use kernlink::{Result, bail, ensure};

/// Output 0 of `AvgPool`: input 0 in attr `data_format` (NHWC by default), attrs `ksize`, `strides`, `padding`.
///
/// # Errors
/// INVALID_ARGUMENT for ranks, attrs or sizes that do not fit.
pub fn avg_pool_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (format, input) = input(c)?;
    let strides = sizes_attr(c, "strides", "AvgPool requires the stride", 4, None)?;
    let windows = sizes_attr(c, "ksize", "AvgPool requires the ksize", 4, None)?;
    let padding = Padding::from_attrs(c, format, 4)?;
    let sizes = spatial_sizes(c, format, input, 2, &windows, &strides, &padding)?;
    let channel = c.dim(input, format.channel(2) as i64);
    let batch = c.dim(input, format.batch(2) as i64);
    output_shape(c, make_shape_from_format(c, format, batch, &sizes, channel))
}

/// As [`max_pool_shape_with_explicit_padding`], for ops without attr `explicit_paddings`.
///
/// # Errors
/// INVALID_ARGUMENT for ranks, attrs or sizes that do not fit.
pub fn max_pool_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    max_pool_shape_with_explicit_padding(c)
}

/// Output 0 of `MaxPool`, which may also pool channels: input 0 in attr `data_format` (NHWC by default), attrs `ksize`,
/// `strides`, `padding`, `explicit_paddings`.
///
/// # Errors
/// INVALID_ARGUMENT for ranks, attrs or sizes that do not fit.
pub fn max_pool_shape_with_explicit_padding(c: &mut InferenceContext<'_>) -> Result<()> {
    let (format, input) = input(c)?;
    let strides = sizes_attr(c, "strides", "MaxPool requires the stride", 4, None)?;
    let windows = sizes_attr(c, "ksize", "MaxPool requires the ksize", 4, None)?;
    set_max_pool_output(c, format, input, &windows, &strides)
}

/// Output 0 of `MaxPoolV2`, which takes window and strides from its last two inputs.
///
/// # Errors
/// INVALID_ARGUMENT for ranks, attrs or sizes that do not fit.
pub fn max_pool_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (format, input) = input(c)?;
    let Some(first) = c.num_inputs().checked_sub(2) else {
        bail!(InvalidArgument, "MaxPoolV2 takes ksize and strides as its last two inputs");
    };
    for index in [first, first + 1] {
        let sizes = c.with_rank(c.input(index), 1)?;
        c.with_value(c.dim(sizes, 0), 4)?;
    }
    let (Some(windows), Some(strides)) = (c.input_i64s(first)?, c.input_i64s(first + 1)?) else {
        return output_shape(c, c.unknown_shape());
    };
    for (word, sizes) in [("stride", &strides), ("ksize", &windows)] {
        ensure!(
            sizes.len() == 4,
            InvalidArgument,
            "MaxPool requires the {word} attribute to contain 4 values, but got: {}",
            sizes.len()
        );
    }
    set_max_pool_output(c, format, input, &windows, &strides)
}

/// Output 0 of the poolings of volumes: input 0 in attr `data_format` (NDHWC or NCDHW), attrs `ksize`, `strides`,
/// `padding`.
///
/// # Errors
/// INVALID_ARGUMENT for ranks, attrs or sizes that do not fit.
pub fn pool3d_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank(c.input(0), 5)?;
    let format = volume_format(c)?;
    let strides = sizes_attr(c, "strides", "Pool3D requires the stride", 5, None)?;
    let windows = sizes_attr(c, "ksize", "Pool3D requires the ksize", 5, None)?;
    let padding = Padding::from_attrs(c, format, 5)?;
    let sizes = spatial_sizes(c, format, input, 3, &windows, &strides, &padding)?;
    let channel = c.dim(input, format.channel(3) as i64);
    output_shape(c, make_shape_from_format(c, format, c.dim(input, 0), &sizes, channel))
}

/// Output 0 of `MaxPoolGrad` and its kin: as input 0, which is an image.
///
/// # Errors
/// INVALID_ARGUMENT if input 0 has another rank than 4.
pub fn max_pool_grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    unchanged_shape_with_rank::<4>(c)
}

/// Output 0 of `MaxPool3DGrad` and its kin: as input 0, which is a volume.
///
/// # Errors
/// INVALID_ARGUMENT if input 0 has another rank than 5.
pub fn max_pool3d_grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    unchanged_shape_with_rank::<5>(c)
}

/// Output 0 of `AvgPoolGrad`: the image whose shape input 0 holds.
///
/// # Errors
/// INVALID_ARGUMENT if input 0 holds no shape of rank 4.
pub fn avg_pool_grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    output_shape(c, c.with_rank(c.make_shape_from_shape_tensor(0)?, 4)?)
}

/// Output 0 of `AvgPool3DGrad`: the volume whose shape input 0 holds.
///
/// # Errors
/// INVALID_ARGUMENT if input 0 holds no shape of rank 5.
pub fn avg_pool3d_grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    output_shape(c, c.with_rank(c.make_shape_from_shape_tensor(0)?, 5)?)
}

/// The format and the input of two-dimensional pooling.
fn input(c: &InferenceContext<'_>) -> Result<(TensorFormat, ShapeHandle)> {
    let format = TensorFormat::from_name(&attr_or(c, "data_format", "NHWC".to_owned())?)?;
    let input = c.with_rank(c.input(0), format.rank(2))?;
    check_inner(c, format, input)?;
    Ok((format, input))
}

fn set_max_pool_output(
    c: &InferenceContext<'_>,
    format: TensorFormat,
    input: ShapeHandle,
    windows: &[i64],
    strides: &[i64],
) -> Result<()> {
    let padding = Padding::from_attrs(c, format, 4)?;
    let sizes = spatial_sizes(c, format, input, 2, windows, strides, &padding)?;
    let axis = format.channel(2);
    let channel = c.dim(input, axis as i64);
    let channel = get_windowed_output_size_from_dims_v2(c, channel, windows[axis], 1, strides[axis], &padding, axis)?;
    let batch = c.dim(input, format.batch(2) as i64);
    output_shape(c, make_shape_from_format(c, format, batch, &sizes, channel))
}

fn spatial_sizes(
    c: &InferenceContext<'_>,
    format: TensorFormat,
    input: ShapeHandle,
    spatial: usize,
    windows: &[i64],
    strides: &[i64],
    padding: &Padding,
) -> Result<Vec<DimHandle>> {
    (format.first_spatial()..)
        .take(spatial)
        .map(|axis| {
            let size = c.dim(input, axis as i64);
            get_windowed_output_size_from_dims_v2(c, size, windows[axis], 1, strides[axis], padding, axis)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::attr::AttrValue;
    use kernlink::op::{AttrBase, AttrType};
    use kernlink::shape_inference::ShapeFn;
    use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};
    use kernlink::tensor::Tensor;

    fn pool(shape_fn: ShapeFn, format: &str, strides: &[i64], ksize: &[i64], padding: &str) -> ShapeTest {
        let text = AttrType { base: AttrBase::String, list: false };
        let ints = AttrType { base: AttrBase::Int, list: true };
        ShapeTest::anonymous(1, 1, shape_fn)
            .declare_attr("data_format", text)
            .declare_attr("padding", text)
            .declare_attr("strides", ints)
            .declare_attr("ksize", ints)
            .declare_attr("explicit_paddings", ints)
            .attr("data_format", format)
            .attr("padding", padding)
            .attr("strides", strides)
            .attr("ksize", ksize)
            .attr("explicit_paddings", AttrValue::EmptyList)
    }

    #[test]
    fn both_kinds() {
        for shape_fn in [avg_pool_shape as ShapeFn, max_pool_shape] {
            let one = pool(shape_fn, "NHWC", &[1, 1, 1, 1], &[1, 2, 1, 1], "VALID");
            infer_ok(&one, "?", "[?,?,?,?]");
            infer_ok(&one, "[1,2,2,3]", "[d0_0,1,2,3|d0_3]");
            infer_ok(&pool(shape_fn, "NHWC", &[1, 2, 1, 1], &[1, 3, 2, 1], "SAME"), "[1,5,7,?]", "[d0_0,3,d0_2,d0_3]");
            infer_ok(&pool(shape_fn, "NCHW", &[1, 1, 2, 3], &[1, 1, 2, 2], "VALID"), "[1,?,7,8]", "[d0_0,?|d0_1,3,3]");
            let vect = pool(shape_fn, "NCHW_VECT_C", &[1, 1, 1, 1], &[1, 1, 2, 1], "VALID");
            infer_ok(&vect, "[2,3,5,7,4]", "[d0_0,3|d0_1,4,7,4]");
            infer_ok(&vect, "[5,7,?,?,4]", "[d0_0,7|d0_1,?,?,4]");
            infer_error("VECT_C dimension must be 4 or 32, but is 8", &vect, "[2,5,7,11,8]");
            infer_error("Shape must be rank 4 but is rank 3", &one, "[4,4,1]");
            infer_error(
                "requires the stride attribute to contain 4",
                &pool(shape_fn, "NHWC", &[1], &[1; 4], "SAME"),
                "?",
            );
            infer_error(
                "requires the ksize attribute to contain 4",
                &pool(shape_fn, "NHWC", &[1; 4], &[1], "SAME"),
                "?",
            );
            infer_error(
                "Negative dimension size",
                &pool(shape_fn, "NHWC", &[1; 4], &[1, 2, 1, 1], "VALID"),
                "[1,1,1,1]",
            );
            // A window that no kernel has is subtracted as it is.
            infer_ok(&pool(shape_fn, "NHWC", &[1; 4], &[1, -2, -1, 1], "VALID"), "[1,3,3,1]", "[d0_0,6,?,1|d0_3]");
            infer_ok(
                &pool(shape_fn, "NHWC", &[1; 4], &[1, -2, -1, 1], "SAME"),
                "[1,3,3,1]",
                "[d0_0,3|d0_1,3|d0_2,1|d0_3]",
            );
            let least = &pool(shape_fn, "NHWC", &[1; 4], &[1, i64::MIN, 1, 1], "VALID");
            infer_error("overflow", least, "[1,3,3,1]");
        }
    }

    #[test]
    fn max_pool_pools_channels_and_pads() {
        let depth = pool(max_pool_shape, "NHWC", &[1, 1, 1, 4], &[1, 1, 1, 4], "SAME");
        infer_ok(&depth, "[1,2,3,8]", "[d0_0,d0_1,d0_2,2]");
        let explicit = pool(max_pool_shape, "NHWC", &[1; 4], &[1, 2, 2, 1], "EXPLICIT")
            .attr("explicit_paddings", vec![0i64, 0, 1, 1, 0, 2, 0, 0]);
        infer_ok(&explicit, "[1,4,4,3]", "[d0_0,5,5,3|d0_3]");
    }

    #[test]
    fn max_pool_v2_takes_inputs() {
        let text = AttrType { base: AttrBase::String, list: false };
        let test = ShapeTest::anonymous(3, 1, max_pool_v2_shape)
            .declare_attr("data_format", text)
            .declare_attr("padding", text)
            .attr("data_format", "NHWC")
            .attr("padding", "VALID");
        infer_ok(&test, "[1,5,5,3];[4];[4]", "?");
        let ints = |values: &[i32]| Tensor::vector(values).unwrap();
        let known = test.clone().input_tensor(1, ints(&[1, 2, 3, 1])).input_tensor(2, ints(&[1; 4]));
        infer_ok(&known, "[?,5,5,3];[4];[4]", "[d0_0,4,3,3|d0_3]");
        infer_error("Dimension must be 4 but is 3", &test, "?;[3];[4]");
        let wrong = test.input_tensor(1, ints(&[1, 2])).input_tensor(2, ints(&[1; 4]));
        infer_error("requires the ksize attribute to contain 4", &wrong, "?;?;?");
    }

    #[test]
    fn volumes() {
        let pool = |format, strides: &[i64]| pool(pool3d_shape, format, strides, &[1, 2, 3, 4, 1], "VALID");
        infer_ok(&pool("NDHWC", &[1, 1, 2, 3, 1]), "[1,5,6,7,2]", "[d0_0,4,2,2,d0_4]");
        infer_ok(&pool("NCDHW", &[1, 1, 1, 1, 1]), "[1,2,5,6,7]", "[d0_0,d0_1,3,3,7]");
        infer_error("Pool3D requires the stride attribute to contain 5", &pool("NDHWC", &[1; 4]), "?");
    }
}

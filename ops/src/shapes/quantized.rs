//! Quantized tensors, which come with the least and the greatest value that they stand for.

use super::{
    avg_pool_shape, conv2d_shape, conv2d_shape_with_explicit_padding,
    depthwise_conv2d_native_shape_with_explicit_padding,
};
use kernlink::shape_inference::InferenceContext;
use kernlink::shape_inference::common::{attr_or, unchanged_shape};
use kernlink::{Result, ensure};

/// The outputs of `QuantizedConv2D`: as [`conv2d_shape`], and two scalars. Inputs 2 to 5 are scalars.
///
/// # Errors
/// INVALID_ARGUMENT for ranks, channels, attrs or sizes that do not fit.
pub fn quantized_conv2d_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    conv2d_shape(c)?;
    with_ranges(c, 2..6)
}

/// The outputs of `QuantizedAvgPool`: as [`avg_pool_shape`], and two scalars. Inputs 1 and 2 are scalars.
///
/// # Errors
/// INVALID_ARGUMENT for ranks, attrs or sizes that do not fit.
pub fn quantized_avg_pool_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    avg_pool_shape(c)?;
    with_ranges(c, 1..3)
}

/// Output 0 is as input 0, outputs 1 and 2 are scalars, and so are `RANGES` inputs after the first.
///
/// # Errors
/// INVALID_ARGUMENT if one of them is no scalar.
pub fn quantized_unchanged<const RANGES: usize>(c: &mut InferenceContext<'_>) -> Result<()> {
    unchanged_shape(c)?;
    with_ranges(c, 1..1 + RANGES)
}

/// Outputs 1 and 2 are scalars, and so are some inputs.
///
/// # Errors
/// INVALID_ARGUMENT if one of them is no scalar.
pub fn with_ranges(c: &InferenceContext<'_>, mut inputs: std::ops::Range<usize>) -> Result<()> {
    inputs.try_for_each(|index| c.with_rank(c.input(index), 0).map(drop))?;
    (1..3).for_each(|index| c.set_output(index, c.scalar()));
    Ok(())
}

/// The outputs of `QuantizeV2`: output 0 is as input 0; inputs and outputs 1 and 2 are scalars or, with an attr `axis`
/// other than −1, vectors as long as that dimension.
///
/// # Errors
/// INVALID_ARGUMENT for ranks or sizes that do not fit.
pub fn quantize_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let axis = attr_or(c, "axis", -1i64)?;
    ensure!(axis >= -1, InvalidArgument, "axis should be at least -1, got {axis}");
    unchanged_shape(c)?;
    let rank = usize::from(axis != -1);
    c.with_rank(c.input(1), rank)?;
    let range = c.with_rank(c.input(2), rank)?;
    if axis != -1 {
        let least = usize::try_from(axis.saturating_add(1)).unwrap_or(usize::MAX);
        let input = c.with_rank_at_least(c.input(0), least)?;
        c.merge_dim(c.dim(range, 0), c.dim(input, axis))?;
    }
    c.set_output(1, range);
    c.set_output(2, range);
    Ok(())
}

/// The outputs of a quantized `Conv2D` that was fused with the ops in attr `fused_ops`: the inputs after the filter are
/// a bias and a summand, if those ops say so, then the ranges of input and filter.
///
/// # Errors
/// INVALID_ARGUMENT for ranks, channels, attrs or sizes that do not fit.
pub fn fused_quantized_conv2d_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    check_inputs(c, 2)?;
    conv2d_shape_with_explicit_padding(c)?;
    fused_ranges(c)
}

/// As [`fused_quantized_conv2d_shape`], for a convolution of each channel by itself.
///
/// # Errors
/// INVALID_ARGUMENT for ranks, channels, attrs or sizes that do not fit.
pub fn fused_quantized_depthwise_conv2d(c: &mut InferenceContext<'_>) -> Result<()> {
    check_inputs(c, 2)?;
    depthwise_conv2d_native_shape_with_explicit_padding(c)?;
    fused_ranges(c)
}

/// The inputs of a fused op are lists, which may be too short.
fn check_inputs(c: &InferenceContext<'_>, least: usize) -> Result<()> {
    ensure!(
        c.num_inputs() >= least,
        InvalidArgument,
        "{} inputs are given but the fused ops take {least}",
        c.num_inputs()
    );
    Ok(())
}

fn fused_ranges(c: &InferenceContext<'_>) -> Result<()> {
    let fused: Vec<String> = c.attr("fused_ops")?;
    let has = |op: &str| fused.iter().any(|fused| fused == op);
    check_inputs(c, 6 + usize::from(has("BiasAdd")) + usize::from(has("Sum")))?;
    let mut next = 2;
    if has("BiasAdd") {
        c.with_rank(c.input(next), 1)?;
        next += 1;
    }
    if has("Sum") {
        c.with_rank(c.input(next), 4)?;
        next += 1;
    }
    c.with_rank(c.input(next), 0)?;
    c.with_rank(c.input(next + 1), 0)?;
    c.with_rank_at_most(c.input(next + 2), 1)?;
    let channels = c.with_rank_at_most(c.input(next + 3), 1)?;
    for index in 1..3 {
        c.set_output(index, if has("Requantize") { c.scalar() } else { channels });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::attr::AttrValue;
    use kernlink::shape_inference::ShapeFn;
    use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};

    fn test(shape_fn: ShapeFn, inputs: usize, attrs: &[(&str, AttrValue)]) -> ShapeTest {
        attrs.iter().fold(ShapeTest::anonymous(inputs, 3, shape_fn), |test, (name, value)| {
            test.declare_attr(name, value.ty().expect("a value with a type")).attr(name, value.clone())
        })
    }

    fn windows() -> Vec<(&'static str, AttrValue)> {
        vec![
            ("strides", AttrValue::from(&[1i64; 4][..])),
            ("dilations", AttrValue::from(&[1i64; 4][..])),
            ("padding", AttrValue::from("VALID")),
        ]
    }

    #[test]
    fn convolutions() {
        let conv = test(quantized_conv2d_shape, 6, &windows());
        infer_ok(&conv, "[1,4,4,2];[3,3,2,8];[];[];[];[]", "[d0_0,2,2,d1_3];[];[]");
        infer_error("Shape must be rank 0", &conv, "[1,4,4,2];[3,3,2,8];[];[];[];[1]");
        let fused = |ops: &[&str], inputs| {
            let mut attrs = windows();
            attrs.push(("fused_ops", AttrValue::ListString(ops.iter().map(|&op| op.into()).collect())));
            test(fused_quantized_conv2d_shape, inputs, &attrs)
        };
        infer_ok(&fused(&["BiasAdd"], 7), "[1,4,4,2];[3,3,2,8];[8];[];[];[8];[8]", "[d0_0,2,2,d1_3];in6;in6");
        infer_ok(
            &fused(&["BiasAdd", "Sum", "Requantize"], 8),
            "[1,4,4,2];[3,3,2,8];[8];[1,2,2,8];[];[];[8];[8]",
            "[d0_0,2,2,d1_3];[];[]",
        );
        infer_error("6 inputs are given but the fused ops take 7", &fused(&["Sum"], 6), "?;?;[];[];[];[]");
        infer_error("Shape must be rank 1", &fused(&["BiasAdd"], 7), "[1,4,4,2];[3,3,2,8];[];[];[];[];[]");
        let mut attrs = windows();
        attrs.push(("fused_ops", AttrValue::ListString(vec!["Sum".into()])));
        let depthwise = test(fused_quantized_depthwise_conv2d, 7, &attrs);
        infer_ok(&depthwise, "[1,4,4,2];[3,3,2,3];?;[];[];[];[]", "[d0_0,2,2,6];in6;in6");
    }

    #[test]
    fn ranges() {
        let quantize = |axis: i64| test(quantize_v2_shape, 3, &[("axis", AttrValue::Int(axis))]);
        infer_ok(&quantize(-1), "[1,?];[];[]", "in0;in2;in2");
        infer_ok(&quantize(1), "[1,?];[7];[7]", "in0;in2;in2");
        infer_error("axis should be at least -1", &quantize(-2), "[1];[];[]");
        infer_error("must be equal, but are 7 and 3", &quantize(1), "[1,3];[7];[7]");
        infer_error("at least rank 3", &quantize(2), "[1,3];[7];[7]");
        infer_error("Shape must be rank 1", &quantize(1), "[1,3];[];[]");
    }
}

//! Biases and batch norms: a vector for the channels of an input.

use super::TensorFormat;
use kernlink::shape_inference::common::{attr_or, output_shape};
use kernlink::shape_inference::{DimHandle, InferenceContext, ShapeHandle};
use kernlink::{Error, Result};

/// Where `BiasAdd` and its gradient find the channels: the least rank of the input, and the dimension.
fn bias_axis(c: &InferenceContext<'_>) -> Result<(usize, i64)> {
    let format = attr_or(c, "data_format", String::new())?;
    Ok(if format == "NCHW" { (3, 1) } else { (2, -1) })
}

/// Output 0 is input 0, whose channels are as many as vector 1 is long. With attr `data_format` NCHW the channels are
/// dimension 1, else the last one.
///
/// # Errors
/// INVALID_ARGUMENT for ranks or sizes that do not fit.
pub fn bias_add_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (least_rank, axis) = bias_axis(c)?;
    let input = c.with_rank_at_least(c.input(0), least_rank)?;
    let bias = c.with_rank(c.input(1), 1)?;
    let output = match c.rank(input) {
        None => c.unknown_shape(),
        Some(_) => c.replace_dim(input, axis, c.merge_dim(c.dim(input, axis), c.dim(bias, 0))?)?,
    };
    output_shape(c, output)
}

/// Output 0 is a vector as long as input 0 has channels.
///
/// # Errors
/// INVALID_ARGUMENT if the rank of input 0 is too low.
pub fn bias_add_grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (least_rank, axis) = bias_axis(c)?;
    let input = c.with_rank_at_least(c.input(0), least_rank)?;
    output_shape(c, c.vector(c.dim(input, axis)))
}

/// The dimension of the channels, and the rank, that attr `data_format` gives a batch norm.
fn channel_axis(c: &InferenceContext<'_>) -> Result<(usize, usize)> {
    let name: String = c.attr("data_format")?;
    let format = TensorFormat::from_name(&name)?;
    let spatial = if name.contains('D') { 3 } else { 2 };
    Ok((format.channel(spatial), spatial + 2))
}

/// Merges `channel` with the lengths of the vectors among the inputs.
fn merge_vectors(c: &InferenceContext<'_>, indices: std::ops::Range<usize>, channel: DimHandle) -> Result<DimHandle> {
    indices.into_iter().try_fold(channel, |channel, index| {
        let vector = c.with_rank(c.input(index), 1)?;
        c.merge_dim(channel, c.dim(vector, 0))
    })
}

/// The outputs of `FusedBatchNorm` and `FusedBatchNormV2`: output 0 is input 0, outputs 1 to 4 are vectors as long as
/// it has channels. Mean and variance, inputs 3 and 4, count only where they are read: not in training, unless attr
/// `exponential_avg_factor` is other than 1.
///
/// # Errors
/// INVALID_ARGUMENT for ranks or sizes that do not fit.
pub fn fused_batch_norm_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (axis, rank) = channel_axis(c)?;
    let x = c.with_rank(c.input(0), rank)?;
    let reads_statistics = !c.attr::<bool>("is_training")? || attr_or(c, "exponential_avg_factor", 1f32)? != 1.0;
    let inputs = if reads_statistics { 5 } else { 3 };
    let channel = merge_vectors(c, 1..inputs, c.dim(x, axis as i64))?;
    c.set_output(0, c.replace_dim(x, axis as i64, channel)?);
    let vector = c.vector(channel);
    (1..5).for_each(|index| c.set_output(index, vector));
    Ok(())
}

/// As [`fused_batch_norm_shape`]; nothing is known of output 5.
///
/// # Errors
/// INVALID_ARGUMENT for ranks or sizes that do not fit.
pub fn fused_batch_norm_v3_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    fused_batch_norm_shape(c)?;
    c.set_output(5, c.unknown_shape());
    Ok(())
}

/// As [`fused_batch_norm_v3_shape`], for `_FusedBatchNormEx`, which takes images whose channels are a multiple of 4.
///
/// # Errors
/// INVALID_ARGUMENT for ranks or sizes that do not fit.
pub fn fused_batch_norm_ex_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    fused_batch_norm_v3_shape(c)?;
    let format = TensorFormat::from_name(&c.attr::<String>("data_format")?)?;
    let x = c.with_rank(c.input(0), 4)?;
    match c.value(c.dim(x, format.channel(2) as i64)) {
        Some(channels) if channels % 4 != 0 => {
            Err(Error::invalid_argument("_FusedBatchNormEx channel dimension must be divisible by 4."))
        }
        _ => Ok(()),
    }
}

/// As [`fused_batch_norm_grad_shape`], for `_FusedBatchNormGradEx`: with attr `num_side_inputs` other than 0, output 5
/// is as output 0.
///
/// # Errors
/// INVALID_ARGUMENT for ranks or sizes that do not fit.
pub fn fused_batch_norm_grad_ex_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    fused_batch_norm_grad_shape(c)?;
    if c.attr::<i64>("num_side_inputs")? == 0 {
        return Ok(());
    }
    let (axis, rank) = channel_axis(c)?;
    let gradient = c.with_rank(c.input(0), rank)?;
    let x = c.with_rank(c.input(1), rank)?;
    let channel = c.merge_dim(c.dim(gradient, axis as i64), c.dim(x, axis as i64))?;
    c.set_output(5, c.replace_dim(gradient, axis as i64, channel)?);
    Ok(())
}

/// The outputs of `FusedBatchNormGrad` and its later versions: output 0 is input 0, outputs 1 and 2 are vectors as long
/// as it has channels, outputs 3 and 4 are empty vectors.
///
/// # Errors
/// INVALID_ARGUMENT for ranks or sizes that do not fit.
pub fn fused_batch_norm_grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (axis, rank) = channel_axis(c)?;
    let gradient = c.with_rank(c.input(0), rank)?;
    let x = c.with_rank(c.input(1), rank)?;
    let dim = |shape: ShapeHandle| c.dim(shape, axis as i64);
    let channel = merge_vectors(c, 2..5, c.merge_dim(dim(gradient), dim(x))?)?;
    c.set_output(0, c.replace_dim(gradient, axis as i64, channel)?);
    c.set_output(1, c.vector(channel));
    c.set_output(2, c.vector(channel));
    c.set_output(3, c.vector(0));
    c.set_output(4, c.vector(0));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::op::{AttrBase, AttrType};
    use kernlink::shape_inference::ShapeFn;
    use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};

    const TEXT: AttrType = AttrType { base: AttrBase::String, list: false };
    const BOOL: AttrType = AttrType { base: AttrBase::Bool, list: false };
    const FLOAT: AttrType = AttrType { base: AttrBase::Float, list: false };

    #[test]
    fn biases() {
        let bias = |format| {
            ShapeTest::anonymous(2, 1, bias_add_shape).declare_attr("data_format", TEXT).attr("data_format", format)
        };
        infer_ok(&bias("NHWC"), "?;?", "?");
        infer_ok(&bias("NHWC"), "[2,3];[3]", "[d0_0,d0_1|d1_0]");
        infer_ok(&bias("NHWC"), "[2,?];[3]", "[d0_0,d1_0]");
        infer_ok(&bias("NHWC"), "[2,3,4,?];?", "[d0_0,d0_1,d0_2,d0_3]");
        infer_ok(&bias("NCHW"), "[2,?,5];[3]", "[d0_0,d1_0,d0_2]");
        infer_ok(&ShapeTest::anonymous(2, 1, bias_add_shape), "[2,?];[3]", "[d0_0,d1_0]");
        infer_error("Shape must be at least rank 2 but is rank 1", &bias("NHWC"), "[3];[3]");
        infer_error("Shape must be at least rank 3 but is rank 2", &bias("NCHW"), "[2,3];[3]");
        infer_error("Dimensions must be equal, but are 4 and 3", &bias("NHWC"), "[2,4];[3]");
        infer_error("Shape must be rank 1 but is rank 2", &bias("NHWC"), "[2,4];[3,4]");
    }

    #[test]
    fn bias_gradients() {
        let bias = |format| {
            ShapeTest::anonymous(1, 1, bias_add_grad_shape)
                .declare_attr("data_format", TEXT)
                .attr("data_format", format)
        };
        infer_ok(&bias("NHWC"), "?", "[?]");
        infer_ok(&bias("NHWC"), "[1,2,3]", "[d0_2]");
        infer_ok(&bias("NCHW"), "[1,2,3]", "[d0_1]");
        infer_error("at least rank 3", &bias("NCHW"), "[1,2]");
    }

    fn norm(shape_fn: ShapeFn, outputs: usize, format: &str, training: bool, factor: f32) -> ShapeTest {
        ShapeTest::anonymous(5, outputs, shape_fn)
            .declare_attr("data_format", TEXT)
            .declare_attr("is_training", BOOL)
            .declare_attr("exponential_avg_factor", FLOAT)
            .attr("data_format", format)
            .attr("is_training", training)
            .attr("exponential_avg_factor", factor)
    }

    #[test]
    fn batch_norms() {
        let training = norm(fused_batch_norm_shape, 5, "NHWC", true, 1.0);
        infer_ok(&training, "?;?;?;?;?", "[?,?,?,?];[?];[?];[?];[?]");
        let same = "[d0_0,d0_1,d0_2,d1_0];[d1_0];[d1_0];[d1_0];[d1_0]";
        infer_ok(&training, "[1,2,3,?];[4];[4];[0];[0]", same);
        infer_error("Dimensions must be equal, but are 3 and 4", &training, "[1,2,3,3];[4];?;?;?");

        let inference = norm(fused_batch_norm_shape, 5, "NCHW", false, 1.0);
        let last = "[d0_0,d4_0,d0_2,d0_3];[d4_0];[d4_0];[d4_0];[d4_0]";
        infer_ok(&inference, "[1,?,3,4];?;?;?;[2]", last);
        infer_error("Dimensions must be equal, but are 2 and 0", &inference, "[1,2,3,4];?;?;[0];?");
        let moving = norm(fused_batch_norm_shape, 5, "NHWC", true, 0.5);
        infer_error("Dimensions must be equal, but are 4 and 0", &moving, "[1,2,3,4];?;?;[0];?");
        infer_error("Shape must be rank 4 but is rank 3", &moving, "[1,2,3];?;?;?;?");
        infer_error("Invalid data format string: X", &norm(fused_batch_norm_shape, 5, "X", true, 1.0), "?;?;?;?;?");
    }

    #[test]
    fn third_version() {
        let three = norm(fused_batch_norm_v3_shape, 6, "NDHWC", true, 1.0);
        let same = "[d0_0,d0_1,d0_2,d0_3,d0_4];[d0_4];[d0_4];[d0_4];[d0_4];?";
        infer_ok(&three, "[1,2,3,4,5];?;?;?;?", same);
    }

    #[test]
    fn batch_norm_gradients() {
        let gradient = norm(fused_batch_norm_grad_shape, 5, "NCHW", true, 1.0);
        let same = "[d0_0,d2_0,d0_2,d0_3];[d2_0];[d2_0];[0];[0]";
        infer_ok(&gradient, "[1,?,3,4];?;[2];?;?", same);
        infer_error("Dimensions must be equal, but are 2 and 3", &gradient, "[1,2,3,4];[1,3,3,4];?;?;?");
    }
}

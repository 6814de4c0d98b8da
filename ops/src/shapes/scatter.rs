//! Sums of segments, and updates at indices.

use kernlink::shape_inference::common::output_shape;
use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink::{Result, ensure};

/// Output 0 of `UnsortedSegmentSum` and its kin: input 0, whose first dimensions are those of the segment numbers 1,
/// with the number of segments, scalar 2, in their place.
///
/// # Errors
/// INVALID_ARGUMENT for ranks or sizes that do not fit.
pub fn segment_reduction_with_num_segments_shape_fn(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(2), 0)?;
    let output = match c.rank(c.input(1)) {
        None => c.unknown_shape(),
        Some(rank) => {
            let (data, _) = c.merge_prefix(c.input(0), c.input(1))?;
            let segments = c.make_dim_for_scalar_input(2)?;
            c.concatenate(c.vector(segments), c.subshape(data, rank as i64)?)?
        }
    };
    output_shape(c, output)
}

/// Checks the shapes of updates of a tensor of shape `input` at indices, and makes output 0, if there is one and input
/// 0 is no variable, of that shape.
///
/// # Errors
/// INVALID_ARGUMENT if the shapes do not fit.
#[track_caller]
pub fn scatter_nd_shape_helper(
    c: &InferenceContext<'_>,
    indices: ShapeHandle,
    updates: ShapeHandle,
    input: ShapeHandle,
) -> Result<()> {
    let count = |shape: ShapeHandle| c.value(c.num_elements(shape));
    ensure!(
        count(input) != Some(0) || [indices, updates].iter().all(|&shape| count(shape) <= Some(0)),
        InvalidArgument,
        "Indices and updates specified for empty input"
    );
    if let (Some(indices_rank), Some(updates_rank)) = (c.rank(indices), c.rank(updates))
        && updates_rank != 0
    {
        ensure!(indices_rank != 0, InvalidArgument, "indices must have at least rank 1 but is rank 0");
        let outer = indices_rank as i64 - 1;
        if let Some(depth) = c.value(c.dim(indices, -1)) {
            let text = |shape| c.debug_string(shape);
            let (of_indices, of_updates) = (c.subshape_range(indices, 0, outer)?, c.subshape_range(updates, 0, outer)?);
            c.merge(of_indices, of_updates).map_err(|error| {
                error.context(format!(
                    "Dimensions [0,{outer}) of indices[shape={}] = {} must match dimensions [0,{outer}) of \
                     updates[shape={}] = {}",
                    text(indices),
                    text(of_indices),
                    text(updates),
                    text(of_updates)
                ))
            })?;
            let (of_input, of_updates) = (c.subshape(input, depth)?, c.subshape(updates, outer)?);
            c.merge(of_input, of_updates).map_err(|error| {
                error.context(format!(
                    "Dimensions [{depth},{}) of input[shape={}] = {} must match dimensions [{outer},{updates_rank}) of \
                     updates[shape={}] = {}",
                    c.rank(input).map_or(-1, |rank| rank as i64),
                    text(input),
                    text(of_input),
                    text(updates),
                    text(of_updates)
                ))
            })?;
        }
    }
    if c.input_handle_shapes_and_types(0).is_none() && c.num_outputs() > 0 {
        c.set_output(0, input);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};
    use kernlink::tensor::Tensor;

    #[test]
    fn segments() {
        let test = ShapeTest::anonymous(3, 1, segment_reduction_with_num_segments_shape_fn);
        infer_ok(&test, "?;?;[]", "?");
        infer_ok(&test, "[4,5,?];[4,5];[]", "[?,d0_2]");
        infer_ok(&test.clone().input_tensor(2, Tensor::scalar(7i32)), "[4,5];[4];[]", "[7,d0_1]");
        infer_error("must be non-negative", &test.clone().input_tensor(2, Tensor::scalar(-1i32)), "[4];[4];[]");
        infer_error("must be equal, but are 4 and 5", &test, "[4];[5];[]");
        infer_error("Shape must be rank 0", &test, "[4];[4];[1]");
    }

    #[test]
    fn updates() {
        let test = ShapeTest::anonymous(3, 1, |c| scatter_nd_shape_helper(c, c.input(1), c.input(2), c.input(0)));
        infer_ok(&test, "[8,3];[5,1];[5,3]", "in0");
        infer_ok(&test, "[8,3];?;[5,3]", "in0");
        infer_ok(&test, "?;[5,1];?", "in0");
        infer_error("Dimensions [0,1) of indices[shape=[5,1]] = [5] must match", &test, "[8,3];[5,1];[4,3]");
        infer_error("Dimensions [1,2) of input[shape=[8,3]] = [3] must match", &test, "[8,3];[5,1];[5,4]");
        infer_error("specified for empty input", &test, "[0];[1,1];[1]");
        infer_error("at least rank 1", &test, "[1];[];[1]");
    }
}

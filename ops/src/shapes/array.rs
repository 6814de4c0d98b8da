//! Putting tensors together and taking them apart.

use super::validate_variable_resource_handle;
use kernlink::shape::check_rank;
use kernlink::shape_inference::common::output_shape;
use kernlink::shape_inference::strided_slice::{self, Masks};
use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink::{Result, bail, ensure};

/// Output 0 of `Concat`: all inputs but the first, joined along the axis that input 0 holds.
///
/// # Errors
/// INVALID_ARGUMENT if the axis is outside the rank, or other sizes differ.
pub fn concat_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    concat(c, 1, c.num_inputs(), 0)
}

/// As [`concat_shape`], for ops that join only the `count` inputs after input 0.
///
/// # Errors
/// As there.
pub fn concat_shape_of(c: &mut InferenceContext<'_>, count: usize) -> Result<()> {
    concat(c, 1, count.saturating_add(1), 0)
}

/// Output 0 of `ConcatV2`: all inputs but the last, joined along the axis that the last one holds.
///
/// # Errors
/// INVALID_ARGUMENT if the axis is outside the rank, or other sizes differ.
pub fn concat_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let last = c.num_inputs().saturating_sub(1);
    concat(c, 0, last, last)
}

/// Output 0 of `QuantizedConcatV2`: the first `count` inputs, joined along the axis that the next one holds.
///
/// # Errors
/// INVALID_ARGUMENT if the axis is outside the rank, or other sizes differ.
pub fn quantized_concat_v2_shape(c: &mut InferenceContext<'_>, count: usize) -> Result<()> {
    concat(c, 0, count, count)
}

/// Output 0 of `QuantizedConcat`: `count` inputs after the first, joined along the axis that the first holds.
///
/// # Errors
/// INVALID_ARGUMENT if the axis is outside the rank, or other sizes differ.
pub fn quantized_concat_shape(c: &mut InferenceContext<'_>, count: usize) -> Result<()> {
    concat(c, 1, count + 1, 0)
}

fn concat(c: &InferenceContext<'_>, start: usize, end: usize, axis_input: usize) -> Result<()> {
    c.with_rank(c.input(axis_input), 0)?;
    ensure!(start < end, InvalidArgument, "there is nothing to concatenate");
    let inputs: Vec<ShapeHandle> = (start..end).map(|index| c.input(index)).collect();
    let axis = match c.input_tensor(axis_input) {
        Some(tensor) => Some(c.get_scalar_from_tensor(tensor)?),
        None => None,
    };
    let rank = inputs.iter().find_map(|&input| c.rank(input));
    ensure!(rank != Some(0), InvalidArgument, "Can't concatenate scalars (use tf.stack instead)");
    let Some(axis) = axis else {
        let output = match rank {
            None => c.unknown_shape(),
            Some(rank) => {
                inputs.iter().try_for_each(|&input| c.with_rank(input, rank).map(drop))?;
                c.unknown_shape_of_rank(rank)
            }
        };
        return output_shape(c, output);
    };

    let least_rank = if axis < 0 { axis.unsigned_abs() } else { axis as u64 + 1 };
    let least_rank = usize::try_from(least_rank).unwrap_or(usize::MAX);
    let mut joined = None;
    // The last input comes first, as in TensorFlow: it decides which of two equal dimensions is the result's.
    for &input in inputs.iter().rev() {
        let input = c.with_rank_at_least(input, least_rank)?;
        let before = c.subshape_range(input, 0, axis)?;
        let middle = c.dim(input, axis);
        let after = if axis == -1 { c.scalar() } else { c.subshape(input, axis + 1)? };
        joined = Some(match joined {
            None => (before, middle, after),
            Some((joined_before, joined_middle, joined_after)) => {
                (c.merge(before, joined_before)?, c.add(joined_middle, middle)?, c.merge(after, joined_after)?)
            }
        });
    }
    if let Some((before, middle, after)) = joined {
        c.set_output(0, c.concatenate(c.concatenate(before, c.vector(middle))?, after)?);
    }
    Ok(())
}

/// Output 0 of `Slice`: as many elements of input 0 from vector 1 on as vector 2 says, −1 for all that are left.
///
/// # Errors
/// INVALID_ARGUMENT for ranks or sizes that do not fit.
pub fn slice_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let begin = c.with_rank(c.input(1), 1)?;
    let sizes = c.with_rank(c.input(2), 1)?;
    let count = c.dim(c.merge(begin, sizes)?, 0);
    let mut input = c.input(0);
    if let Some(rank) = c.value(count).and_then(|rank| usize::try_from(rank).ok()) {
        input = c.with_rank(input, rank)?;
    }
    let begin = c.make_shape_from_shape_tensor(1)?;
    let output = if let Some(sizes) = c.input_i64s(2)? {
        check_rank(sizes.len())?;
        let begin = c.with_rank(begin, sizes.len())?;
        input = c.with_rank(input, sizes.len())?;
        let mut dims = Vec::with_capacity(sizes.len());
        for (axis, &size) in sizes.iter().enumerate() {
            let dim = c.dim(input, axis as i64);
            dims.push(match size {
                0.. => c.make_dim(size),
                -1 => c.subtract(dim, c.dim(begin, axis as i64))?,
                _ => {
                    let length = c.value(dim).unwrap_or(-1);
                    bail!(
                        InvalidArgument,
                        "Out of bounds slicing on dimension {axis} of length {length}: sizes vector cannot be < -1, \
                         but was {size}"
                    );
                }
            });
        }
        c.make_shape(dims)
    } else {
        // A size of −1 reads as an unknown dimension here, which it is.
        let sizes = c.make_shape_from_shape_tensor(2)?;
        match (c.dims(sizes), c.rank(input)) {
            (Some(dims), _) => {
                c.with_rank(begin, dims.len())?;
                c.make_shape(dims)
            }
            (None, Some(rank)) => c.unknown_shape_of_rank(rank),
            (None, None) => c.unknown_shape(),
        }
    };
    output_shape(c, output)
}

/// Output 0 of `StridedSlice`: input 0 from 1 to 2 in steps of 3, with masks as attrs.
///
/// # Errors
/// INVALID_ARGUMENT for ranks, indices or strides that do not fit.
pub fn strided_slice_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let begin = c.with_rank(c.input(1), 1)?;
    let end = c.with_rank(c.input(2), 1)?;
    let strides = c.with_rank(c.input(3), 1)?;
    let count = c.dim(c.merge(c.merge(begin, end)?, strides)?, 0);
    let (Some(strides), true, Some(dims)) = (c.input_i64s(3)?, c.value_known(count), c.dims(c.input(0))) else {
        return output_shape(c, c.unknown_shape());
    };
    let masks = Masks::new(
        c.attr("begin_mask")?,
        c.attr("end_mask")?,
        c.attr("ellipsis_mask")?,
        c.attr("new_axis_mask")?,
        c.attr("shrink_axis_mask")?,
    )?;
    let sizes: Vec<Option<usize>> =
        dims.into_iter().map(|dim| c.value(dim).and_then(|size| usize::try_from(size).ok())).collect();
    let (begin, end) = (c.input_i64s(1)?, c.input_i64s(2)?);
    let slice = strided_slice::resolve_partial(begin.as_deref(), end.as_deref(), &strides, masks, &sizes)?;
    output_shape(c, c.make_shape_from_partial(&slice.final_shape()))
}

/// Output 0 of `GatherNd`: the slices of input 0, or of the variable that it is, at the places that the last dimension
/// of input 1 holds.
///
/// # Errors
/// INVALID_ARGUMENT if input 1 is a scalar, or its last dimension is longer than the rank of input 0.
pub fn gather_nd_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let params = match c.input_handle_shapes_and_types(0) {
        Some(_) => validate_variable_resource_handle(c)?.first().map_or_else(|| c.unknown_shape(), |held| held.shape),
        None => c.input(0),
    };
    let indices = c.with_rank_at_least(c.input(1), 1)?;
    let (Some(rank), Some(depth)) = (c.rank(params), c.value(c.dim(indices, -1))) else {
        return output_shape(c, c.unknown_shape());
    };
    ensure!(
        depth <= rank as i64,
        InvalidArgument,
        "indices.shape[-1] must be <= params.rank, but saw indices shape: {} and params shape: {}",
        c.debug_string(indices),
        c.debug_string(params)
    );
    output_shape(c, c.concatenate(c.subshape_range(indices, 0, -1)?, c.subshape(params, depth)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::op::{AttrBase, AttrType};
    use kernlink::shape::PartialShape;
    use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};
    use kernlink::tensor::Tensor;

    fn ints(values: &[i32]) -> Tensor {
        Tensor::vector(values).unwrap()
    }

    #[test]
    fn concat_along_an_unknown_axis() {
        let test = ShapeTest::anonymous(3, 1, concat_v2_shape);
        infer_ok(&test, "?;?;?", "?");
        infer_ok(&test, "?;[1,2];[]", "[?,?]");
        infer_error("Can't concatenate scalars (use tf.stack instead)", &test, "?;[];[]");
        infer_error("Shape must be rank 2 but is rank 3", &test, "[1,2];[1,2,3];[]");
        infer_error("Shape must be rank 0 but is rank 1", &test, "[1];[1];[1]");
    }

    #[test]
    fn concat_along_a_known_axis() {
        let test = |axis: i32| ShapeTest::anonymous(3, 1, concat_v2_shape).input_tensor(2, Tensor::scalar(axis));
        infer_ok(&test(0), "[3,?];[?,5];?", "[?,d1_1]");
        infer_ok(&test(0), "[3,5];[4,?];?", "[7,d0_1]");
        infer_ok(&test(-1), "[2,3];[2,4];?", "[d0_0|d1_0,7]");
        infer_ok(&test(1), "[2,3,4];[2,5,4];?", "[d0_0|d1_0,8,d0_2|d1_2]");
        infer_ok(&test(-2), "[2,3,4];[2,5,?];?", "[d0_0|d1_0,8,d0_2]");
        infer_ok(&test(-3), "[2,3,4];[?,3,4];?", "[?,d0_1|d1_1,d0_2|d1_2]");
        infer_ok(&test(0), "?;[2,3];?", "[?,d1_1]");
        infer_error("Shape must be at least rank 3 but is rank 2", &test(2), "[1,2];?;[]");
        infer_error("Shape must be at least rank 3 but is rank 2", &test(-3), "[1,2];?;[]");
        infer_error("Dimension 0 in both shapes must be equal, but are 3 and 2", &test(1), "[3,1];[2,1];?");
        infer_error("Can't concatenate scalars", &test(0), "?;[];?");
        infer_error("at least rank 2147483648", &test(i32::MIN), "[1];[1];[]");
        let old = ShapeTest::anonymous(3, 1, concat_shape).input_tensor(0, Tensor::scalar(0i32));
        infer_ok(&old, "?;[3];[4]", "[7]");
        infer_error("nothing to concatenate", &ShapeTest::anonymous(1, 1, concat_v2_shape), "[]");
        let huge = Tensor::scalar(i64::MAX);
        infer_error("at least rank", &ShapeTest::anonymous(3, 1, concat_v2_shape).input_tensor(2, huge), "[1];[1];[]");
    }

    #[test]
    fn slices() {
        let test = ShapeTest::anonymous(3, 1, slice_shape);
        infer_ok(&test, "?;?;?", "?");
        infer_ok(&test, "[2,3,4,5];[4];[4]", "[?,?,?,?]");
        infer_ok(&test, "[2,3,4,5];[?];[?]", "[?,?,?,?]");
        infer_error("Shape must be rank 3 but is rank 2", &test, "[1,2];[3];[3]");
        infer_error("Dimension 0 in both shapes must be equal, but are 2 and 3", &test, "?;[2];[3]");
        infer_error("Shape must be rank 1 but is rank 2", &test, "?;[2,1];?");

        let sized =
            |begin: &[i32], sizes: &[i32]| test.clone().input_tensor(1, ints(begin)).input_tensor(2, ints(sizes));
        infer_ok(&sized(&[0, 1, 2, 1], &[1, 2, 1, 3]), "[2,3,4,5];[4];[4]", "[1,2,1,3]");
        infer_ok(&sized(&[0, 1, 2, 1], &[-1, -1, 1, -1]), "[2,3,4,?];[4];[4]", "[d0_0,2,1,?]");
        infer_ok(&sized(&[0, 1], &[-1, -1]), "[?,?];[2];[2]", "[d0_0,?]");
        infer_ok(&sized(&[1, 0], &[-1, -1]), "[?,4];[2];[2]", "[?,d0_1]");
        infer_ok(&sized(&[0, 1], &[-1, 2]), "?;[2];[2]", "[?,2]");
        infer_error("sizes vector cannot be < -1, but was -2", &sized(&[0, 0], &[-1, -2]), "[2,3];[2];[2]");
        infer_error(
            "Negative dimension size caused by subtracting 4 from 3",
            &sized(&[0, 4], &[1, -1]),
            "[2,3];[2];[2]",
        );
        infer_error("Shape must be rank 2 but is rank 3", &sized(&[0, 0], &[1, 1]), "[2,3,4];?;?");
        let partly = test.clone().input_tensor_as_shape(2, PartialShape::from_dims(&[1, -1]).unwrap());
        infer_ok(&partly, "[2,3];[2];[2]", "[1,?]");
    }

    fn strided(masks: [i64; 5]) -> ShapeTest {
        let names = ["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"];
        names.into_iter().zip(masks).fold(ShapeTest::anonymous(4, 1, strided_slice_shape), |test, (name, mask)| {
            test.declare_attr(name, AttrType { base: AttrBase::Int, list: false }).attr(name, mask)
        })
    }

    #[test]
    fn strided_slices() {
        let plain = strided([0; 5]);
        infer_ok(&plain, "?;?;?;?", "?");
        infer_ok(&plain, "[3,4,5];[1];[1];[1]", "?");
        infer_error("Shape must be rank 1 but is rank 2", &plain, "?;[1,1];?;?");
        infer_error("must be equal, but are 1 and 2", &plain, "?;[1];[2];?");
        let known = plain.input_tensor(1, ints(&[1])).input_tensor(2, ints(&[3])).input_tensor(3, ints(&[1]));
        infer_ok(&known, "[3,4,5];[1];[1];[1]", "[2,4,5]");
        infer_ok(&known, "[?,4];[1];[1];[1]", "[?,4]");
        infer_ok(&known, "[?];[1];[1];[1]", "[?]");
        infer_ok(&known, "?;[1];[1];[1]", "?");
        infer_error("Attempting to slice scalar input.", &known, "[];[1];[1];[1]");
        let shrink = strided([0, 0, 0, 0, 1]).input_tensor(3, ints(&[1]));
        infer_ok(&shrink, "[3,4];[1];[1];[1]", "[4]");
        infer_ok(&shrink, "[?,?];[1];[1];[1]", "[?]");
        infer_error(
            "does not fit 32 bits",
            &strided([1 << 40, 0, 0, 0, 0]).input_tensor(3, ints(&[1])),
            "[3];[1];[1];[1]",
        );
    }

    #[test]
    fn gather_nd() {
        let test = ShapeTest::anonymous(2, 1, gather_nd_shape);
        infer_ok(&test, "[2,3,4,5];[?]", "?");
        infer_ok(&test, "?;[5,1]", "?");
        infer_ok(&test, "[1,?,3,?];[?,0]", "[d1_0,d0_0,d0_1,d0_2,d0_3]");
        infer_ok(&test, "[1,?,3,?];[?,4]", "[d1_0]");
        infer_ok(&test, "[1,?];[2]", "[]");
        infer_error("indices.shape[-1] must be <= params.rank", &test, "[1,2,3];[4]");
        infer_error("Shape must be at least rank 1 but is rank 0", &test, "?;[]");
    }
}

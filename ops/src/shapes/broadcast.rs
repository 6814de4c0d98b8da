//! Element-wise ops on two inputs that broadcast to each other.

use kernlink::shape_inference::common::{attr_or, output_shape};
use kernlink::shape_inference::{DimHandle, InferenceContext, ShapeHandle};
use kernlink::{Result, bail};

/// Output 0 has the shape to which inputs 0 and 1 broadcast. With attr `incompatible_shape_error` false, inputs that
/// do not broadcast make it a scalar.
///
/// # Errors
/// INVALID_ARGUMENT if they do not broadcast.
pub fn broadcast_binary_op(c: &mut InferenceContext<'_>) -> Result<()> {
    let strict = attr_or(c, "incompatible_shape_error", true)?;
    output_shape(c, broadcast_binary_op_output_shape(c, c.input(0), c.input(1), strict)?)
}

/// Output 0 has the shape of input 0, or that to which inputs 0 and 1 broadcast if attr `num_masks` is 1; its rank is at
/// least 1.
///
/// # Errors
/// INVALID_ARGUMENT if they do not broadcast, for scalars, and for more than one mask.
pub fn scaled_masked_softmax_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = match c.attr::<i64>("num_masks")? {
        0 => c.input(0),
        1 => broadcast_binary_op_output_shape(c, c.input(0), c.input(1), true)?,
        count => bail!(InvalidArgument, "there may be one mask, not {count}"),
    };
    let shape = c.with_rank_at_least(shape, 1)?;
    c.set_output(0, shape);
    Ok(())
}

/// Output `index` has the shape to which inputs 0 and 1 broadcast.
///
/// # Errors
/// INVALID_ARGUMENT if they do not broadcast.
pub fn broadcast_binary_op_output_shape_fn(c: &mut InferenceContext<'_>, index: usize) -> Result<()> {
    c.set_output(index, broadcast_binary_op_output_shape(c, c.input(0), c.input(1), true)?);
    Ok(())
}

/// The shape to which two shapes broadcast. Without `incompatible_shape_error`, a scalar if they do not, and an unknown
/// shape if that cannot be told.
///
/// # Errors
/// INVALID_ARGUMENT if they do not broadcast and `incompatible_shape_error` is set.
pub fn broadcast_binary_op_output_shape(
    c: &InferenceContext<'_>,
    x: ShapeHandle,
    y: ShapeHandle,
    incompatible_shape_error: bool,
) -> Result<ShapeHandle> {
    let (Some(x), Some(y)) = (c.dims(x), c.dims(y)) else { return Ok(c.unknown_shape()) };
    let rank = x.len().max(y.len());
    let at = |dims: &[DimHandle], axis: usize| (axis + dims.len()).checked_sub(rank).map(|axis| dims[axis]);
    let mut dims = Vec::with_capacity(rank);
    for axis in 0..rank {
        let (x, y) = match (at(&x, axis), at(&y, axis)) {
            (Some(x), Some(y)) => (x, y),
            (Some(dim), None) | (None, Some(dim)) => {
                dims.push(dim);
                continue;
            }
            (None, None) => continue,
        };
        dims.push(match (c.value(x), c.value(y)) {
            _ if x == y => x,
            (Some(1), _) => y,
            (_, Some(1)) => x,
            (Some(a), Some(b)) if a == b => x,
            (Some(_), Some(_)) if !incompatible_shape_error => return Ok(c.scalar()),
            (Some(a), Some(b)) => {
                bail!(InvalidArgument, "Dimensions must be equal, but are {a} and {b}");
            }
            (None, None) => c.unknown_dim(),
            (Some(_), None) | (None, Some(_)) if !incompatible_shape_error => return Ok(c.unknown_shape()),
            // The unknown size must be 1 or this one. 0 aside, which TensorFlow leaves open.
            (Some(0), None) | (None, Some(0)) => c.unknown_dim(),
            (Some(_), None) => x,
            (None, Some(_)) => y,
        });
    }
    Ok(c.make_shape(dims))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::op::{AttrBase, AttrType};
    use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};

    #[test]
    fn sizes_broadcast() {
        let test = ShapeTest::anonymous(2, 1, broadcast_binary_op);
        infer_ok(&test, "?;?", "?");
        infer_ok(&test, "[1,2];?", "?");
        infer_ok(&test, "[];[]", "[]");
        infer_ok(&test, "[1,2];[1,2]", "[d0_0|d1_0,d0_1|d1_1]");
        infer_ok(&test, "[1,2,3];[1]", "[d0_0,d0_1,d0_2]");
        infer_ok(&test, "[];[4]", "[d1_0]");
        infer_ok(&test, "[1];[4]", "[d1_0]");
        infer_ok(&test, "[4];[1]", "[d0_0]");
        infer_ok(&test, "[0];[1]", "[d0_0]");
        infer_ok(&test, "[3,1];[2,1,4]", "[d1_0,d0_0,d1_2]");
        infer_error("Dimensions must be equal, but are 2 and 3", &test, "[2];[3]");
        infer_error("Dimensions must be equal, but are 0 and 3", &test, "[0];[3]");
    }

    #[test]
    fn unknown_sizes_are_assumed_to_fit() {
        let test = ShapeTest::anonymous(2, 1, broadcast_binary_op);
        infer_ok(&test, "[?];[1]", "[d0_0]");
        infer_ok(&test, "[1];[?]", "[d1_0]");
        infer_ok(&test, "[?];[5]", "[d1_0]");
        infer_ok(&test, "[5];[?]", "[d0_0]");
        infer_ok(&test, "[?];[?]", "[?]");
        infer_ok(&test, "[?];[0]", "[?]");
        infer_ok(&test, "[?,3];[]", "[d0_0,d0_1]");
    }

    #[test]
    fn equal_may_be_given_shapes_that_do_not_fit() {
        let test = ShapeTest::anonymous(2, 1, broadcast_binary_op)
            .declare_attr("incompatible_shape_error", AttrType { base: AttrBase::Bool, list: false })
            .attr("incompatible_shape_error", false);
        infer_ok(&test, "[2];[3]", "[]");
        infer_ok(&test, "[?];[3]", "?");
        infer_ok(&test, "[?];[1]", "[d0_0]");
    }
}

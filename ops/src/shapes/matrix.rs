//! Products of matrices.

use super::broadcast_binary_op_output_shape;
use kernlink::Result;
use kernlink::shape_inference::common::output_shape;
use kernlink::shape_inference::{InferenceContext, ShapeHandle};

/// Output 0 is the product of the matrices 0 and 1, transposed as attrs `transpose_a` and `transpose_b` say.
///
/// # Errors
/// INVALID_ARGUMENT if an input is no matrix or the inner sizes differ.
pub fn mat_mul_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let a = c.with_rank(c.input(0), 2)?;
    let b = c.with_rank(c.input(1), 2)?;
    let output = product(c, a, b, c.attr("transpose_a")?, c.attr("transpose_b")?)?;
    output_shape(c, output)
}

/// Output 0 is the product of the matrices in the last two dimensions, adjoined as attrs `adj_x` and `adj_y` say. The
/// other dimensions are the same in both inputs.
///
/// # Errors
/// INVALID_ARGUMENT if the rank of an input is below 2, or the inner or the other sizes differ.
pub fn batch_mat_mul_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (a, b) = batches(c)?;
    let batch = c.merge(c.subshape_range(a, 0, -2)?, c.subshape_range(b, 0, -2)?)?;
    let matrix = product(c, a, b, c.attr("adj_x")?, c.attr("adj_y")?)?;
    output_shape(c, c.concatenate(batch, matrix)?)
}

/// As [`batch_mat_mul_shape`], but the other dimensions broadcast to each other.
///
/// # Errors
/// INVALID_ARGUMENT if the rank of an input is below 2, the inner sizes differ, or the others do not broadcast.
pub fn batch_mat_mul_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (a, b) = batches(c)?;
    let matrix = product(c, a, b, c.attr("adj_x")?, c.attr("adj_y")?)?;
    let (a, b) = (c.subshape_range(a, 0, -2)?, c.subshape_range(b, 0, -2)?);
    let batch = broadcast_binary_op_output_shape(c, a, b, true)?;
    output_shape(c, c.concatenate(batch, matrix)?)
}

/// Both inputs, which are matrices at least.
fn batches(c: &InferenceContext<'_>) -> Result<(ShapeHandle, ShapeHandle)> {
    Ok((c.with_rank_at_least(c.input(0), 2)?, c.with_rank_at_least(c.input(1), 2)?))
}

/// The product of the matrices in the last two dimensions.
fn product(
    c: &InferenceContext<'_>,
    a: ShapeHandle,
    b: ShapeHandle,
    transpose_a: bool,
    transpose_b: bool,
) -> Result<ShapeHandle> {
    let (rows, inner_a) = if transpose_a { (-1, -2) } else { (-2, -1) };
    let (inner_b, columns) = if transpose_b { (-1, -2) } else { (-2, -1) };
    c.merge_dim(c.dim(a, inner_a), c.dim(b, inner_b))?;
    Ok(c.matrix(c.dim(a, rows), c.dim(b, columns)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::op::{AttrBase, AttrType};
    use kernlink::shape_inference::ShapeFn;
    use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};

    fn test(shape_fn: ShapeFn, names: [&str; 2], values: [bool; 2]) -> ShapeTest {
        let bool_type = AttrType { base: AttrBase::Bool, list: false };
        ShapeTest::anonymous(2, 1, shape_fn)
            .declare_attr(names[0], bool_type)
            .declare_attr(names[1], bool_type)
            .attr(names[0], values[0])
            .attr(names[1], values[1])
    }

    #[test]
    fn matrices() {
        let product = |a, b| test(mat_mul_shape, ["transpose_a", "transpose_b"], [a, b]);
        infer_ok(&product(false, false), "?;?", "[?,?]");
        infer_ok(&product(false, false), "[3,4];[4,?]", "[d0_0,d1_1]");
        infer_ok(&product(false, false), "[?,4];[?,2]", "[d0_0,d1_1]");
        infer_ok(&product(true, false), "[4,3];[4,5]", "[d0_1,d1_1]");
        infer_ok(&product(false, true), "[3,4];[5,4]", "[d0_0,d1_0]");
        infer_ok(&product(true, true), "[4,3];[5,4]", "[d0_1,d1_0]");
        infer_error("Dimensions must be equal, but are 4 and 5", &product(false, false), "[3,4];[5,6]");
        infer_error("Dimensions must be equal, but are 3 and 6", &product(true, true), "[3,4];[5,6]");
        infer_error("Shape must be rank 2 but is rank 1", &product(false, false), "[4];[4,1]");
        infer_error("Shape must be rank 2 but is rank 3", &product(false, false), "[4,1];[1,2,3]");
    }

    #[test]
    fn batches_of_matrices() {
        let product = |a, b| test(batch_mat_mul_shape, ["adj_x", "adj_y"], [a, b]);
        infer_ok(&product(false, false), "?;?", "?");
        infer_ok(&product(false, false), "[?,3,4];[7,4,5]", "[d1_0,d0_1,d1_2]");
        infer_ok(&product(true, true), "[4,3];[5,4]", "[d0_1,d1_0]");
        infer_error("at least rank 2", &product(false, false), "[4];[4,5]");
        infer_error(
            "Dimension 0 in both shapes must be equal, but are 1 and 2",
            &product(false, false),
            "[1,3,4];[2,4,5]",
        );
        infer_error("are 4 and 5", &product(false, false), "[1,3,4];[1,5,5]");
    }

    #[test]
    fn batches_that_broadcast() {
        let product = |a, b| test(batch_mat_mul_v2_shape, ["adj_x", "adj_y"], [a, b]);
        infer_ok(&product(false, false), "?;[2,3]", "?");
        infer_ok(&product(false, false), "[1,3,4];[2,4,5]", "[d1_0,d0_1,d1_2]");
        infer_ok(&product(false, true), "[3,4];[6,2,5,4]", "[d1_0,d1_1,d0_0,d1_2]");
        infer_ok(&product(true, false), "[?,4,3];[2,4,5]", "[d1_0,d0_2,d1_2]");
        infer_error("are 2 and 3", &product(false, false), "[2,3,4];[3,4,5]");
    }
}

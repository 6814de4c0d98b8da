//! Reductions over axes that input 1 holds.

use kernlink::shape_inference::InferenceContext;
use kernlink::shape_inference::common::output_shape;
use kernlink::{Result, ensure};

/// Output 0 is input 0 without the axes that input 1 holds or, with attr `keep_dims`, with 1 in their place.
///
/// # Errors
/// INVALID_ARGUMENT if input 1 is of rank 2 or more, or an axis is outside the rank of input 0.
pub fn reduction_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank_at_most(c.input(1), 1)?;
    let keep_dims: bool = c.attr("keep_dims")?;
    let output = match (c.dims(c.input(0)), c.input_i64s(1)?) {
        (Some(dims), Some(axes)) => {
            let rank = dims.len() as i64;
            let mut reduced = vec![false; dims.len()];
            for axis in axes {
                ensure!(
                    (-rank..rank).contains(&axis),
                    InvalidArgument,
                    "Invalid reduction dimension {axis} for input with {rank} dimensions."
                );
                reduced[axis.rem_euclid(rank) as usize] = true;
            }
            let kept = dims.into_iter().zip(reduced).filter_map(|(dim, reduced)| match (reduced, keep_dims) {
                (false, _) => Some(dim),
                (true, true) => Some(c.make_dim(1)),
                (true, false) => None,
            });
            c.make_shape(kept.collect::<Vec<_>>())
        }
        (Some(dims), None) if keep_dims => c.unknown_shape_of_rank(dims.len()),
        _ => c.unknown_shape(),
    };
    output_shape(c, output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::op::{AttrBase, AttrType};
    use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};
    use kernlink::tensor::Tensor;

    fn test(keep_dims: bool, axes: Option<Tensor>) -> ShapeTest {
        let test = ShapeTest::anonymous(2, 1, reduction_shape)
            .declare_attr("keep_dims", AttrType { base: AttrBase::Bool, list: false })
            .attr("keep_dims", keep_dims);
        match axes {
            Some(axes) => test.input_tensor(1, axes),
            None => test,
        }
    }

    #[test]
    fn axes_are_taken_out() {
        let axes = |axes: &[i32]| Some(Tensor::vector(axes).unwrap());
        infer_ok(&test(false, None), "[2,4,5];[2]", "?");
        infer_ok(&test(false, axes(&[0, 2])), "[2,4,5];[2]", "[d0_1]");
        infer_ok(&test(false, axes(&[-1, -2])), "[?,4,5];[2]", "[d0_0]");
        infer_ok(&test(false, axes(&[-3])), "[2,4,5];[1]", "[d0_1,d0_2]");
        infer_ok(&test(false, axes(&[1, -2])), "[2,4,5];[2]", "[d0_0,d0_2]");
        infer_ok(&test(false, axes(&[])), "[2,?];[0]", "[d0_0,d0_1]");
        infer_ok(&test(false, axes(&[0])), "?;[1]", "?");
        infer_ok(&test(false, Some(Tensor::scalar(1i64))), "[2,4];[]", "[d0_0]");
    }

    #[test]
    fn axes_are_kept_as_one() {
        infer_ok(&test(true, None), "[2,4,5];[2]", "[?,?,?]");
        infer_ok(&test(true, None), "?;?", "?");
        infer_ok(&test(true, Some(Tensor::vector(&[1i64]).unwrap())), "[2,4,5];[1]", "[d0_0,1,d0_2]");
    }

    #[test]
    fn axes_are_checked() {
        let axis = |axis: i64| test(false, Some(Tensor::scalar(axis)));
        infer_error("Invalid reduction dimension 2 for input with 2 dimensions.", &axis(2), "[1,2];[]");
        infer_error("Invalid reduction dimension -3 for input with 2 dimensions.", &axis(-3), "[1,2];[]");
        infer_error("Invalid reduction dimension 0 for input with 0 dimensions.", &axis(0), "[];[]");
        infer_error("Invalid reduction dimension", &axis(i64::MIN), "[1];[]");
        infer_error("Shape must be at most rank 1 but is rank 2", &axis(0), "[1];[1,1]");
        infer_error("integers are expected", &test(false, Some(Tensor::scalar(0f32))), "[1];[]");
    }
}

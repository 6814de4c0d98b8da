//! Reductions over several devices.

use kernlink::shape_inference::InferenceContext;
use kernlink::shape_inference::common::output_shape;
use kernlink::{Result, ensure};

/// Output 0 of a reduction over the groups of devices in the rows of matrix 1: input 0, of which each device of a group
/// gets an equal part along the axis that scalar 2 holds.
///
/// # Errors
/// INVALID_ARGUMENT if input 1 is no matrix, or the axis cannot be parted.
pub fn reduce_scatter_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.input(0);
    let Some(mut dims) = c.dims(input) else {
        return output_shape(c, input);
    };
    let groups = c.input(1);
    ensure!(c.rank(groups) == Some(2), InvalidArgument, "ReduceScatter group_assignment should be rank 2");
    let Some(axis) = c.input_tensor(2) else {
        return output_shape(c, c.unknown_shape());
    };
    let axis = c.get_scalar_from_tensor(axis)?;
    if let Some(dim) = usize::try_from(axis).ok().and_then(|axis| dims.get_mut(axis)) {
        *dim = c.divide(*dim, c.dim(groups, 1), true)?;
    }
    output_shape(c, c.make_shape(dims))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};
    use kernlink::tensor::Tensor;

    #[test]
    fn parts() {
        let test = ShapeTest::anonymous(3, 1, reduce_scatter_shape);
        infer_ok(&test, "?;?;?", "in0");
        infer_ok(&test, "[8,?];[2,4];[]", "?");
        let axis = |axis: i32| test.clone().input_tensor(2, Tensor::scalar(axis));
        infer_ok(&axis(0), "[8,?];[2,4];[]", "[2,d0_1]");
        infer_ok(&axis(1), "[8,?];[2,4];[]", "[d0_0,?]");
        infer_error("evenly divisible by 4 but is 6", &axis(0), "[6];[2,4];[]");
        infer_error("should be rank 2", &axis(0), "[6];?;[]");
    }
}

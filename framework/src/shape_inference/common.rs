//! Shape functions to be named in `#[register_op(shape_fn = ...)]`: outputs that are as an input is, as an attr says, or
//! always the same. Those of families of ops stand with the ops, in `kernlink::ops::shapes`, which has all of these, too.

use crate::error::{Error, Result};
use crate::op::FromAttrValue;
use crate::shape::PartialShape;
use crate::shape_inference::{InferenceContext, ShapeHandle};

/// Output 0 has the shape of input 0, and holds what input 0 holds if it is a resource or variant.
///
/// # Errors
/// None.
pub fn unchanged_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.set_output(0, c.input(0));
    c.forward_handle_shapes_and_types(0, 0);
    Ok(())
}

/// Output 0 has the shape of input 0, which has rank `RANK`.
///
/// # Errors
/// INVALID_ARGUMENT if it has another rank.
pub fn unchanged_shape_with_rank<const RANK: usize>(c: &mut InferenceContext<'_>) -> Result<()> {
    output_shape(c, c.with_rank(c.input(0), RANK)?)
}

/// Output 0 has the shape of input 0, whose rank is at least `RANK`.
///
/// # Errors
/// INVALID_ARGUMENT if it is lower.
pub fn unchanged_shape_with_rank_at_least<const RANK: usize>(c: &mut InferenceContext<'_>) -> Result<()> {
    output_shape(c, c.with_rank_at_least(c.input(0), RANK)?)
}

/// Output 0 has the shape of input 0, whose rank is at most `RANK`.
///
/// # Errors
/// INVALID_ARGUMENT if it is higher.
pub fn unchanged_shape_with_rank_at_most<const RANK: usize>(c: &mut InferenceContext<'_>) -> Result<()> {
    output_shape(c, c.with_rank_at_most(c.input(0), RANK)?)
}

/// Output 0 has the shape of input `INDEX`.
///
/// # Errors
/// None.
pub fn shape_of_input<const INDEX: usize>(c: &mut InferenceContext<'_>) -> Result<()> {
    output_shape(c, c.input(INDEX))
}

/// Output 0 has the shape that input `INDEX` holds.
///
/// # Errors
/// INVALID_ARGUMENT if that input is no vector of sizes.
pub fn shape_in_input<const INDEX: usize>(c: &mut InferenceContext<'_>) -> Result<()> {
    output_shape(c, c.make_shape_from_shape_tensor(INDEX)?)
}

/// Output 0 has this shape: `shape_fn = |c| output_shape(c, c.vector(3))`.
///
/// # Errors
/// None.
pub fn output_shape(c: &InferenceContext<'_>, shape: ShapeHandle) -> Result<()> {
    c.set_output(0, shape);
    Ok(())
}

/// Output 0 has the shape that inputs 0 and 1 both have.
///
/// # Errors
/// INVALID_ARGUMENT if their shapes differ.
pub fn merge_both_inputs_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    output_shape(c, c.merge(c.input(0), c.input(1))?)
}

/// There are no outputs.
///
/// # Errors
/// None.
pub fn no_outputs(_: &mut InferenceContext<'_>) -> Result<()> {
    Ok(())
}

/// Output 0 is a scalar.
///
/// # Errors
/// None.
pub fn scalar_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    output_shape(c, c.scalar())
}

/// Nothing is known of any output.
///
/// # Errors
/// None.
pub fn unknown_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    for index in 0..c.num_outputs() {
        c.set_output(index, c.unknown_shape());
    }
    Ok(())
}

/// Output 0 has the shape that attr `shape` holds.
///
/// # Errors
/// INVALID_ARGUMENT if there is no such attr.
pub fn explicit_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape: PartialShape = c.attr("shape")?;
    output_shape(c, c.make_shape_from_partial(&shape))
}

/// Every output has the shape that attr `shapes` holds for it.
///
/// # Errors
/// INVALID_ARGUMENT if there is no such attr, or it has another length.
pub fn explicit_shapes(c: &mut InferenceContext<'_>) -> Result<()> {
    let shapes: Vec<PartialShape> = c.attr("shapes")?;
    if shapes.len() != c.num_outputs() {
        let message = format!("attr `shapes` holds {} shapes for {} outputs", shapes.len(), c.num_outputs());
        return Err(Error::invalid_argument(message));
    }
    for (index, shape) in shapes.iter().enumerate() {
        c.set_output(index, c.make_shape_from_partial(shape));
    }
    Ok(())
}

/// Output 0 has the shape that input 0 holds.
///
/// # Errors
/// INVALID_ARGUMENT if input 0 is no vector of sizes.
pub fn random_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    shape_in_input::<0>(c)
}

/// The outputs of an iterator, which is a scalar: as attr `output_shapes` says.
///
/// # Errors
/// INVALID_ARGUMENT if the iterator is no scalar, or the attr has another number of shapes than there are outputs.
pub fn dataset_iterator_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 0)?;
    let shapes: Vec<PartialShape> = c.attr("output_shapes")?;
    if shapes.len() != c.num_outputs() {
        return Err(Error::invalid_argument(format!(
            "`output_shapes` must be the same length as `output_types` ({} vs. {})",
            shapes.len(),
            c.num_outputs()
        )));
    }
    for (index, shape) in shapes.iter().enumerate() {
        c.set_output(index, c.make_shape_from_partial(shape));
    }
    Ok(())
}

/// The attr with this name; `default` if the op has none.
///
/// # Errors
/// INVALID_ARGUMENT if the attr has another type.
#[track_caller]
pub fn attr_or<T: FromAttrValue>(c: &InferenceContext<'_>, name: &str, default: T) -> Result<T> {
    if c.attrs().get(name).is_some() { c.attr(name) } else { Ok(default) }
}

pub use self::{
    merge_both_inputs_shape as merge_both_inputs_shape_fn, scalar_shape as scalar, unchanged_shape as unchanged,
    unchanged_shape_with_rank as unchanged_with_rank, unknown_shape as unknown,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::{AttrBase, AttrType};
    use crate::shape_inference::testing::{ShapeTest, infer_error, infer_ok};
    use crate::tensor::Tensor;

    #[test]
    fn as_the_input() {
        let test = ShapeTest::anonymous(1, 1, unchanged_shape);
        infer_ok(&test, "?", "in0");
        infer_ok(&test, "[1,?]", "in0");
        let test = ShapeTest::anonymous(1, 1, unchanged_shape_with_rank::<2>);
        infer_ok(&test, "?", "[?,?]");
        infer_ok(&test, "[1,?]", "in0");
        infer_error("Shape must be rank 2 but is rank 1", &test, "[1]");
        let test = ShapeTest::anonymous(1, 1, unchanged_shape_with_rank_at_least::<1>);
        infer_ok(&test, "?", "in0");
        infer_ok(&test, "[1,?]", "in0");
        infer_error("Shape must be at least rank 1 but is rank 0", &test, "[]");
        let test = ShapeTest::anonymous(1, 1, unchanged_shape_with_rank_at_most::<1>);
        infer_ok(&test, "?", "in0");
        infer_error("Shape must be at most rank 1 but is rank 2", &test, "[1,2]");
    }

    #[test]
    fn as_another_input() {
        infer_ok(&ShapeTest::anonymous(2, 1, shape_of_input::<1>), "[1];[?,2]", "in1");
        let test = ShapeTest::anonymous(2, 1, shape_in_input::<1>);
        infer_ok(&test, "?;[2]", "[?,?]");
        infer_error("Shape must be rank 1 but is rank 0", &test, "?;[]");
        infer_ok(&ShapeTest::anonymous(0, 1, |c| output_shape(c, c.vector(3))), "", "[3]");
    }

    #[test]
    fn as_both_inputs() {
        let test = ShapeTest::anonymous(2, 1, merge_both_inputs_shape);
        infer_ok(&test, "?;[1,?]", "in1");
        infer_ok(&test, "[?,2];[1,?]", "[d1_0,d0_1]");
        infer_error("Shapes must be equal rank, but are 1 and 2", &test, "[1];[1,1]");
        infer_error(
            "Dimension 0 in both shapes must be equal, but are 1 and 2. Shapes are [1,3] and [2,3].",
            &test,
            "[1,3];[2,3]",
        );
    }

    #[test]
    fn always_the_same() {
        infer_ok(&ShapeTest::anonymous(1, 0, no_outputs), "?", "");
        infer_ok(&ShapeTest::anonymous(0, 1, scalar_shape), "", "[]");
        infer_ok(&ShapeTest::anonymous(1, 3, unknown_shape), "[1]", "?;?;?");
    }

    #[test]
    fn as_an_attr_says() {
        let shape = AttrType { base: AttrBase::Shape, list: false };
        let test = ShapeTest::anonymous(0, 1, explicit_shape).declare_attr("shape", shape);
        infer_ok(&test.clone().attr("shape", PartialShape::from_dims(&[2, -1]).unwrap()), "", "[2,?]");
        infer_ok(&test.clone().attr("shape", PartialShape::unknown()), "", "?");
        infer_error("attr `shape` is missing", &test, "");

        let test = ShapeTest::anonymous(0, 2, explicit_shapes)
            .declare_attr("shapes", AttrType { base: AttrBase::Shape, list: true });
        let shapes = vec![PartialShape::unknown(), PartialShape::of_rank(0)];
        infer_ok(&test.clone().attr("shapes", shapes), "", "?;[]");
        infer_error("1 shapes for 2 outputs", &test.attr("shapes", vec![PartialShape::unknown()]), "");
    }

    #[test]
    fn as_an_input_says() {
        let test = ShapeTest::anonymous(1, 1, random_shape);
        infer_ok(&test, "[2]", "[?,?]");
        infer_ok(&test, "?", "?");
        infer_error("Shape must be rank 1 but is rank 2", &test, "[1,2]");
        infer_ok(&test.input_tensor(0, Tensor::vector(&[1i64, 2, 3]).unwrap()), "[3]", "[1,2,3]");
    }
}

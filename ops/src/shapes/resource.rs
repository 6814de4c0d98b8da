//! Variables behind resource handles.

use kernlink::shape_inference::{InferenceContext, ShapeAndType};
use kernlink::{Result, bail};

/// What is known of the variable that input 0 is a handle of: an unknown shape if nothing is.
///
/// # Errors
/// INVALID_ARGUMENT if its dtype is known and not that of attr `dtype`.
#[track_caller]
pub fn validate_variable_resource_handle(c: &InferenceContext<'_>) -> Result<Vec<ShapeAndType>> {
    let Some(held) = c.input_handle_shapes_and_types(0).filter(|held| !held.is_empty()) else {
        return Ok(vec![ShapeAndType { shape: c.unknown_shape(), dtype: None }]);
    };
    let dtype = c.attr("dtype")?;
    if held[0].dtype != Some(dtype) {
        let known = held[0].dtype.map_or_else(|| "unknown".to_owned(), |dtype| dtype.to_string());
        bail!(InvalidArgument, "Trying to read variable with wrong dtype. Expected {known} got {dtype}");
    }
    Ok(held.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::dtype::DataType;
    use kernlink::op::{AttrBase, AttrType};
    use kernlink::shape::PartialShape;
    use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};

    #[test]
    fn variables() {
        let test = ShapeTest::anonymous(1, 1, |c| {
            c.set_output(0, validate_variable_resource_handle(c)?[0].shape);
            Ok(())
        });
        let test = test.declare_attr("dtype", AttrType { base: AttrBase::Type, list: false });
        let test = test.attr("dtype", DataType::Float);
        infer_ok(&test, "[]", "?");
        let shape = PartialShape::from_dims(&[2, -1]).unwrap();
        infer_ok(&test.clone().input_handle(0, &[(shape.clone(), Some(DataType::Float))]), "[]", "[2,?]");
        infer_ok(&test.clone().input_handle(0, &[]), "[]", "?");
        let other = test.input_handle(0, &[(shape, Some(DataType::Int32))]);
        infer_error("Trying to read variable with wrong dtype. Expected int32 got float", &other, "[]");
    }
}

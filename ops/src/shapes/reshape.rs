//! Other shapes for the same elements.

use kernlink::shape_inference::common::output_shape;
use kernlink::shape_inference::{DimHandle, InferenceContext, ShapeHandle};
use kernlink::{Result, ensure};

/// Output 0 of `Reshape`: input 0 in the shape that input 1 holds, of which one dimension may be -1.
///
/// # Errors
/// INVALID_ARGUMENT if input 1 is no shape, or one of another number of elements.
pub fn reshape_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.input(0);
    let mut output = c.make_shape_from_shape_tensor(1)?;
    if let (Some(in_dims), Some(out_dims)) = (c.dims(input), c.dims(output)) {
        let known_in = known_elements(c, input, &in_dims)?;
        let known_out = known_elements(c, output, &out_dims)?;
        match (known_in, known_out) {
            (Some((elements, None)), Some((wanted, None))) => ensure!(
                elements == wanted,
                InvalidArgument,
                "Cannot reshape a tensor with {elements} elements to shape {} ({wanted} elements)",
                c.debug_string(output)
            ),
            (Some((elements, None)), Some((known, Some(missing)))) if known > 0 => {
                let inferred = c.divide(elements, known, true)?;
                output = c.replace_dim(output, missing, inferred)?;
            }
            (Some((known, Some(missing))), Some((elements, None))) if known != 0 => {
                let inferred = c.divide(elements, known, true)?;
                c.merge_dim(c.dim(input, missing), inferred)?;
            }
            // One dimension is unknown on either side: they are equal if all others are.
            (Some((known_in, Some(from))), Some((known_out, Some(to)))) if known_in == known_out => {
                output = c.replace_dim(output, to, c.dim(input, from))?;
            }
            _ => {}
        }
    }
    output_shape(c, output)
}

/// The product of the known dimensions and the index of the unknown one; `None` if several are unknown. A dimension
/// of zero makes the product known whatever the others are.
fn known_elements(
    c: &InferenceContext<'_>,
    shape: ShapeHandle,
    dims: &[DimHandle],
) -> Result<Option<(i64, Option<i64>)>> {
    if let Some(elements) = c.value(c.num_elements(shape)) {
        return Ok(Some((elements, None)));
    }
    let mut product = c.make_dim(1);
    let mut unknown = None;
    for (i, &dim) in dims.iter().enumerate() {
        if c.value_known(dim) {
            product = c.multiply(product, dim)?;
        } else if unknown.replace(i as i64).is_some() {
            return Ok(None);
        }
    }
    Ok(c.value(product).map(|product| (product, unknown)))
}

//! Sobol sequences.

use kernlink::Result;
use kernlink::shape_inference::{DimHandle, InferenceContext};
use kernlink_macros::register_op;

use crate::shapes;

/// Points of a Sobol sequence, which fill the unit cube evenly.
#[register_op(
    attr("dtype: {float, double} = DT_FLOAT"),
    input("dim: int32", "The number of dimensions, a scalar."),
    input("num_results: int32", "The number of points, a scalar."),
    input("skip: int32", "How many points are left out at the beginning, a scalar."),
    output("samples: dtype", "One row a point."),
    shape_fn = sobol_sample_shape,
)]
pub struct SobolSample;

fn sobol_sample_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    for input in 0..3 {
        c.with_rank(c.input(input), 0)?;
    }
    c.request_input_tensor(0);
    c.request_input_tensor(1);
    let size = |input: usize| -> Result<DimHandle> {
        Ok(match c.input_i64s(input)?.as_deref() {
            Some(&[size]) => c.make_dim(size.max(-1)),
            _ => c.unknown_dim(),
        })
    };
    let shape = c.matrix(size(1)?, size(0)?);
    shapes::output_shape(c, shape)
}

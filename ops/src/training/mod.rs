//! Steps of optimisers.
//!
//! Each takes variables by reference, or (`Resource...`) by handle, and changes them in place. The sparse ones change
//! some rows only.

mod adagrad;
mod adam;
mod ftrl;
mod gradient_descent;
mod momentum;
mod rms_prop;
mod sign;

pub use adagrad::*;
pub use adam::*;
pub use ftrl::*;
pub use gradient_descent::*;
pub use momentum::*;
pub use rms_prop::*;
pub use sign::*;

use kernlink::dtype::DataType;
use kernlink::op::ArgType;
use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink::{Result, ensure};

/// The variables and the gradient have one shape, which is that of the output; everything else is a scalar. Of ops on
/// resources TensorFlow does not look at the gradient.
fn apply_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    step_shape(c, |c, _| c.unknown_shape(), false)
}

/// As `apply_shape`, but the gradient counts for resources, too: what TensorFlow does for one op.
fn apply_with_gradient_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    step_shape(c, |c, _| c.unknown_shape(), true)
}

/// As `apply_with_gradient_shape`, and a handle that says nothing of its variable stands for one of its own shape: what
/// TensorFlow does for another one.
fn apply_to_handles_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    step_shape(c, |c, handle| c.input(handle), true)
}

fn step_shape(
    c: &mut InferenceContext<'_>,
    unknown: fn(&InferenceContext<'_>, usize) -> ShapeHandle,
    counts_gradient: bool,
) -> Result<()> {
    let inputs = &c.op().inputs;
    let is_sparse = inputs.iter().any(|input| input.name == "indices");
    let on_resources = matches!(inputs.first().map(|input| &input.ty), Some(ArgType::Fixed(DataType::Resource)));
    let mut shape = None;
    for (index, input) in inputs.iter().enumerate() {
        let is_handle = matches!(input.ty, ArgType::Fixed(DataType::Resource));
        let is_gradient = matches!(&*input.name, "grad" | "delta");
        let given = if is_gradient && on_resources && !counts_gradient { c.unknown_shape() } else { c.input(index) };
        let own = match &*input.name {
            _ if is_handle || input.is_ref => {
                let held = c.input_handle_shapes_and_types(index).and_then(|held| held.first());
                match held.filter(|held| held.dtype.is_some()) {
                    Some(held) => held.shape,
                    None if is_handle => unknown(c, index),
                    None => given,
                }
            }
            _ if is_gradient && is_sparse => {
                let indices = c.with_rank(c.input(index + 1), 1)?;
                let scalar = c.rank(given) == Some(0);
                ensure!(!scalar, InvalidArgument, "Argument grad must not be a scalar. Got grad with rank 0");
                c.merge_dim(c.dim(indices, 0), c.dim(given, 0))?;
                c.replace_dim(given, 0, c.unknown_dim())?
            }
            _ if is_gradient => given,
            "indices" => continue,
            // TensorFlow has one check too few for the ops with shrinkage.
            "lr_power" if inputs.iter().any(|input| input.name == "l2_shrinkage") => continue,
            _ => {
                c.with_rank(given, 0)?;
                continue;
            }
        };
        shape = Some(match shape {
            Some(shape) => c.merge(shape, own)?,
            None => own,
        });
    }
    if let Some(shape) = shape.filter(|_| c.num_outputs() > 0) {
        c.set_output(0, shape);
    }
    Ok(())
}

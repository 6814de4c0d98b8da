//! Functions of the rows of tensors.

use kernlink::shape::PartialShape;
use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_op;

/// What a function makes of the rows of tensors, stacked.
#[register_op(
    attr("Targuments: list(type) >= 1"),
    attr("Tcaptured: list(type) >= 0 = []"),
    attr("output_types: list(type) >= 1", "The dtypes of what it makes."),
    attr("output_shapes: list(shape) >= 1", "The shapes of what it makes of one row, as far as they are known."),
    attr("f: func", "The function."),
    attr("max_intra_op_parallelism: int = 1", "Of no effect."),
    input("arguments: Targuments", "As many rows each."),
    input("captured_inputs: Tcaptured", "What the function takes behind the rows, the same for all."),
    output("output: output_types", "As many rows as the arguments have."),
    shape_fn = map_defun_shape,
)]
pub struct MapDefun;

fn map_defun_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let arguments: Vec<kernlink::dtype::DataType> = c.attr("Targuments")?;
    let shapes: Vec<PartialShape> = c.attr("output_shapes")?;
    ensure!(
        shapes.len() == c.num_outputs(),
        InvalidArgument,
        "`output_shapes` must be the same length as `output_types` ({} vs. {})",
        shapes.len(),
        c.num_outputs()
    );
    let mut rows = None;
    for index in 0..arguments.len() {
        let argument = c.input(index);
        if c.rank(argument) == Some(0) {
            bail!(InvalidArgument, "Arguments must have rank at least 1. Input {index} has rank of 0.");
        }
        if let Some(count) = c.value(c.dim(argument, 0)) {
            ensure!(*rows.get_or_insert(count) == count, InvalidArgument, "Arguments must have the same dimension 0.");
        }
    }
    let first = c.vector(rows.map_or(-1, |rows| rows));
    for (index, shape) in shapes.iter().enumerate() {
        let row = c.make_shape_from_partial(shape);
        let output = c.concatenate(first, row)?;
        c.set_output(index, output);
    }
    Ok(())
}

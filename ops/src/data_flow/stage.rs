//! Staging areas: tensors that wait for a later run.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("capacity: int >= 0 = 0", "How many elements fit; 0 for any number."),
    attr("memory_limit: int >= 0 = 0", "How many bytes fit; 0 for any number."),
    attr("dtypes: list(type) >= 1"),
    attr("container: string = ''", "Where the area is kept; empty for the default container."),
    attr("shared_name: string = ''", "The name under which nodes share the area; empty for that of the node."),
    stateful,
    shape_fn = shapes::unknown_shape,
)]
pub enum Stages {
    /// Puts tensors into a staging area, in order; waits while it is full.
    #[op(input("values: dtypes"))]
    Stage,
    /// The tensors at `index` of a staging area, which stay there; waits until it has as many.
    #[op(input("index: int32"), output("values: dtypes"))]
    StagePeek,
    /// Takes the tensors that came first out of a staging area; waits while there are none.
    #[op(output("values: dtypes"))]
    Unstage,
    /// The number of elements in a staging area.
    #[op(attr("dtypes: list(type)"), output("size: int32"), shape_fn = shapes::scalar_shape)]
    StageSize,
    /// Takes everything out of a staging area.
    #[op(attr("dtypes: list(type)"))]
    StageClear,
}

//! Staging areas with keys.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("capacity: int >= 0 = 0", "How many elements fit; 0 for any number."),
    attr("memory_limit: int >= 0 = 0", "How many bytes fit; 0 for any number."),
    attr("dtypes: list(type)"),
    attr("container: string = ''", "Where the area is kept; empty for the default container."),
    attr("shared_name: string = ''", "The name under which nodes share the area; empty for that of the node."),
    stateful,
    shape_fn = shapes::unknown_shape,
)]
pub enum MapStages {
    /// Puts tensors into a staging area with keys; waits while it is full.
    #[op(
        attr("fake_dtypes: list(type) >= 1", after = "dtypes"),
        input("key: int64", "The key, a scalar."),
        input("indices: int32", "Which components of the element they are."),
        input("values: fake_dtypes", "The tensors."),
        shape_fn = shapes::no_outputs,
    )]
    MapStage,
    /// Puts tensors into a staging area ordered by keys; waits while it is full.
    #[op(like = MapStage)]
    OrderedMapStage,
    /// The tensors under a key of a staging area with keys, which stay there; waits until they are complete.
    #[op(
        attr("dtypes: list(type) >= 1"),
        input("key: int64", "The key, a scalar."),
        input("indices: int32", "Which components."),
        output("values: dtypes")
    )]
    MapPeek,
    /// The tensors under a key of a staging area ordered by keys, which stay there; waits until they are complete.
    #[op(like = MapPeek)]
    OrderedMapPeek,
    /// Takes the tensors under a key out of a staging area with keys; waits until they are complete.
    #[op(like = MapPeek)]
    MapUnstage,
    /// Takes the tensors under a key out of a staging area ordered by keys; waits until they are complete.
    #[op(like = MapPeek)]
    OrderedMapUnstage,
    /// Takes the tensors under any key out of a staging area with keys; waits until there are some.
    #[op(
        attr("dtypes: list(type) >= 1"),
        input("indices: int32", "Which components."),
        output("key: int64"),
        output("values: dtypes")
    )]
    MapUnstageNoKey,
    /// Takes the tensors under the lowest key out of a staging area ordered by keys; waits until there are some.
    #[op(like = MapUnstageNoKey)]
    OrderedMapUnstageNoKey,
    /// The number of complete elements in a staging area with keys.
    #[op(output("size: int32"), shape_fn = shapes::scalar_shape)]
    MapSize,
    /// The number of complete elements in a staging area ordered by keys.
    #[op(output("size: int32"), shape_fn = shapes::scalar_shape)]
    OrderedMapSize,
    /// The number of elements in a staging area with keys that lack components.
    #[op(output("size: int32"), shape_fn = shapes::scalar_shape)]
    MapIncompleteSize,
    /// The number of elements in a staging area ordered by keys that lack components.
    #[op(output("size: int32"), shape_fn = shapes::scalar_shape)]
    OrderedMapIncompleteSize,
    /// Takes everything out of a staging area with keys.
    #[op(shape_fn = shapes::no_outputs)]
    MapClear,
    /// Takes everything out of a staging area ordered by keys.
    #[op(shape_fn = shapes::no_outputs)]
    OrderedMapClear,
}

//! Datasets as the graphs of which they were made.

use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    input("input_dataset: variant", "The dataset."),
    output("graph: string", "A scalar: a `GraphDef` with a `_Retval` that takes the dataset."),
    shape_fn = shapes::scalar_shape,
)]
pub enum GraphsOfDatasets {
    /// The graph of the nodes that a dataset was made of.
    #[op(
        attr("stateful_whitelist: list(string) >= 0 = []", "Of no effect."),
        attr(
            "allow_stateful: bool = false",
            "Whether a dataset that depends on a state is written, without the state."
        ),
        attr("strip_device_assignment: bool = false", "Whether devices in functions lose what names their machine.")
    )]
    DatasetToGraph,
    /// The graph of the nodes that a dataset was made of.
    #[op(
        attr(
            "external_state_policy: int = 0",
            "Whether a dataset that depends on a state is written, without the state: 0 and 1 if so, 2 if not."
        ),
        attr("strip_device_assignment: bool = false", "Whether devices in functions lose what names their machine.")
    )]
    DatasetToGraphV2,
}

/// The dataset that a graph makes.
#[register_op(
    input("graph_def: string", "A scalar: a `GraphDef` with a `_Retval` that takes the dataset."),
    output("handle: variant", "The dataset."),
    shape_fn = shapes::scalar_shape,
)]
pub struct DatasetFromGraph;

/// A number that tells the graphs of datasets apart: equal for those that differ in names and seeds only.
#[register_op(
    input("input_dataset: variant", "The dataset."),
    output("fingerprint: uint64", "A scalar."),
    shape_fn = shapes::scalar_shape,
)]
pub struct DatasetFingerprint;

/// How many elements a dataset batches, as far as the nodes tell that it was made of.
#[register_op(
    input("input_dataset: variant", "The dataset."),
    output("batch_size: int64", "A scalar: −1 if it is not known."),
    shape_fn = shapes::scalar_shape,
)]
pub struct ComputeBatchSize;

//! Datasets of what files and messages say, and what is made of datasets: files, tables.

use kernlink::Result;
use kernlink::bail;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use super::shape::{Rank, with_ranks};
use crate::shapes;

#[register_op(
    attr("sparse_keys: list(string) >= 0", "The names of the features that become sparse tensors."),
    attr("dense_keys: list(string) >= 0", "The names of the features that become tensors of one shape."),
    attr("sparse_types: list({float, int64, string}) >= 0", "Their dtypes."),
    attr("Tdense: list({float, int64, string}) >= 0"),
    attr("dense_shapes: list(shape) >= 0", "Their shapes, of one Example; the first size may be unknown."),
    attr("output_types: list(type) >= 1", "The dtypes of the components of an element."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("input_dataset: variant", "Vectors of serialized Examples."),
    input("num_parallel_calls: int64", "How many calls may be under way, or −1 for as many as there are threads."),
    input("dense_defaults: Tdense", "What stands for a dense feature that is not there; empty if it must be there."),
    output("handle: variant", "The dataset."),
    shape_fn = shapes::scalar_shape,
)]
pub enum ExampleDatasets {
    /// Examples parsed to tensors, which are in the order of the features' names; sparse and ragged ones are variants.
    #[op(
        attr("sloppy: bool = false", "Whether the order may be another. It never is."),
        attr("ragged_keys: list(string) >= 0 = []", "The names of the features that become ragged tensors."),
        attr("ragged_value_types: list({float, int64, string}) >= 0 = []", "Their dtypes."),
        attr("ragged_split_types: list({int32, int64}) >= 0 = []", "The dtypes of their row splits.")
    )]
    ParseExampleDataset,
    /// Examples parsed to tensors, which are in the order of the features' names; sparse and ragged ones are variants.
    #[op(
        attr(
            "deterministic: string = 'default'",
            "Whether the order is that without parallel calls: `\"true\"`, `\"false\"` or `\"default\"`. It is, always."
        ),
        attr("ragged_keys: list(string) >= 0 = []", "The names of the features that become ragged tensors."),
        attr("ragged_value_types: list({float, int64, string}) >= 0 = []", "Their dtypes."),
        attr("ragged_split_types: list({int32, int64}) >= 0 = []", "The dtypes of their row splits.")
    )]
    ParseExampleDatasetV2,
    /// Examples parsed to tensors, which are in the order of the features' names; sparse ones are variants.
    #[op(attr("sloppy: bool = false", "Whether the order may be another. It never is."))]
    ExperimentalParseExampleDataset,
}

#[register_op(
    attr("output_types: list({float, double, int32, int64, string}) >= 1", "The dtypes of the columns."),
    attr("output_shapes: list(shape) >= 1", "The shapes of the components, as far as they are known."),
    input("filenames: string", "The files, one after the other."),
    input("compression_type: string", "`\"\"`, `\"ZLIB\"` or `\"GZIP\"`."),
    input("buffer_size: int64", "Above zero; of no other effect."),
    input("header: bool", "Whether the first line of each file is passed over."),
    input("field_delim: string", "What stands between fields, one byte."),
    input("use_quote_delim: bool", "Whether fields may be in quotes."),
    input("na_value: string", "A field that stands for none."),
    input("select_cols: int64", "The columns that are taken, ascending; all if there are none."),
    input("record_defaults: output_types", "What stands for a field that is empty; empty if it must not be."),
    output("handle: variant", "The dataset."),
    stateful,
    shape_fn = |c| csv_shape(c, 0),
)]
pub enum CsvDatasets {
    /// The records of files of comma-separated values, a scalar for each column.
    CSVDataset,
    /// The records of files of comma-separated values, a scalar for each column.
    ExperimentalCSVDataset,
    /// The records of files of comma-separated values, a scalar for each column.
    #[op(
        input("exclude_cols: int64", "The columns that are left out, ascending, unless some are selected."),
        shape_fn = |c| csv_shape(c, 1),
    )]
    CSVDatasetV2,
}

/// `after` inputs follow the defaults.
fn csv_shape(c: &mut InferenceContext<'_>, after: usize) -> Result<()> {
    let scalars = (1..7).map(|input| (input, Rank::Is(0)));
    let ranks: Vec<_> = std::iter::once((0, Rank::AtMost(1))).chain(scalars).chain([(7, Rank::Is(1))]).collect();
    with_ranks(c, &ranks)?;
    if after > 0 {
        with_ranks(c, &[(-1, Rank::Is(1))])?;
    }
    for input in 8..c.num_inputs() - after {
        let default = c.with_rank_at_most(c.input(input), 1)?;
        if c.rank(default) == Some(1) && c.value(c.dim(default, 0)).is_some_and(|size| size > 1) {
            bail!(InvalidArgument, "Shape of a default must be a length-0 or length-1 vector, or a scalar.");
        }
    }
    Ok(())
}

#[register_op(
    input("input_dataset: variant", "A dataset of strings."),
    input("filename: string", "The file."),
    input("compression_type: string", "`\"\"`, `\"ZLIB\"` or `\"GZIP\"`."),
    stateful,
    shape_fn = shapes::no_outputs,
)]
pub enum ToRecords {
    /// Writes the elements of a dataset to a file of TFRecords.
    DatasetToTFRecord,
    /// Writes the elements of a dataset to a file of TFRecords.
    ExperimentalDatasetToTFRecord,
}

/// Fills a lookup table with the elements of a dataset, pairs of a key and its value, unless it was filled before.
#[register_op(
    input("table_handle: resource", "The table."),
    input("dataset: variant", "The dataset."),
    stateful,
    shape_fn = |c| with_ranks(c, &[(0, Rank::Is(0)), (1, Rank::Is(0))]),
)]
pub struct InitializeTableFromDataset;

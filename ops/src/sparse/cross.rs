//! Crosses of features: all combinations of what several columns hold in one row.

use kernlink::dtype::DataType;
use kernlink::shape_inference::InferenceContext;
use kernlink::{Error, Result, ensure};
use kernlink_macros::register_op;

fn sparse_cross_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.set_output(0, c.matrix(-1, 2));
    c.set_output(1, c.vector(-1));
    c.set_output(2, c.vector(2));
    Ok(())
}

#[register_op(
    attr("N: int >= 0", "How many columns are sparse."),
    attr("sparse_types: list({int64, string}) >= 0"),
    attr("dense_types: list({int64, string}) >= 0"),
    input("indices: N * int64", "One row an element of a sparse column, sorted."),
    input("values: sparse_types", "The elements of the sparse columns."),
    input("shapes: N * int64", "The shapes of the sparse columns, which have two dimensions."),
    input("dense_inputs: dense_types", "The dense columns, matrices with as many rows."),
    output("output_indices: int64"),
    output("output_values: string"),
    output("output_shape: int64"),
    shape_fn = sparse_cross_shape,
)]
pub enum SparseCrosses {
    /// All combinations of the features that stand in one row of several columns, joined with `_X_` or as fingerprints.
    ///
    /// A column is a sparse or a dense matrix; a row in which a column has no feature has no cross. The sparse columns come
    /// first.
    #[op(
        attr(
            "hashed_output: bool",
            "Whether fingerprints are asked for, which `out_type` says, too.",
            before = "sparse_types"
        ),
        attr(
            "num_buckets: int >= 0",
            "Fingerprints are taken modulo this number unless it is 0.",
            before = "sparse_types"
        ),
        attr("hash_key: int", "What the fingerprints begin with.", before = "sparse_types"),
        attr("out_type: {int64, string}"),
        attr("internal_type: {int64, string}", "`string` refuses columns of integers."),
        output("output_values: out_type")
    )]
    SparseCross,
    /// All combinations of the features that stand in one row of several columns, joined with a text.
    ///
    /// A column is a sparse or a dense matrix; a row in which a column has no feature has no cross. The sparse columns come
    /// first.
    #[op(input("sep: string", "What stands between the parts of a cross, a scalar."))]
    SparseCrossV2,
    /// The fingerprints of all combinations of the features that stand in one row of several columns.
    ///
    /// A column is a sparse or a dense matrix; a row in which a column has no feature has no cross. The sparse columns come
    /// first.
    #[op(
        input("num_buckets: int64", "Fingerprints are taken modulo this number unless it is 0."),
        input("strong_hash: bool", "Whether features are hashed with a key that nobody can guess."),
        input("salt: int64", "That key, two numbers."),
        output("output_values: int64")
    )]
    SparseCrossHashed,
}

/// All combinations of the features that stand in one row of several columns, as a ragged matrix.
///
/// A column is a ragged, a sparse or a dense matrix; a row in which a column has no feature has no cross.
#[register_op(
    attr("Nsparse: int >= 0", "How many columns are sparse."),
    attr("input_order: string", "The kinds of the columns in order, a letter each: `R`, `S` or `D`."),
    attr("hashed_output: bool", "Whether fingerprints are asked for, which `out_values_type` says, too."),
    attr("num_buckets: int >= 0", "Fingerprints are taken modulo this number unless it is 0."),
    attr("hash_key: int", "What the fingerprints begin with."),
    attr("ragged_values_types: list({int64, string}) >= 0"),
    attr("ragged_splits_types: list({int32, int64}) >= 0"),
    attr("sparse_values_types: list({int64, string}) >= 0"),
    attr("dense_types: list({int64, string}) >= 0"),
    attr("out_values_type: {int64, string}"),
    attr("out_row_splits_type: {int32, int64}"),
    input("ragged_values: ragged_values_types"),
    input("ragged_row_splits: ragged_splits_types", "Where the rows of each ragged column begin and end."),
    input("sparse_indices: Nsparse * int64", "One row an element, sorted."),
    input("sparse_values: sparse_values_types"),
    input("sparse_shape: Nsparse * int64"),
    input("dense_inputs: dense_types"),
    output("output_values: out_values_type"),
    output("output_row_splits: out_row_splits_type"),
    shape_fn = ragged_cross_shape,
)]
pub struct RaggedCross;

fn ragged_cross_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let ragged = c.attr::<Vec<DataType>>("ragged_values_types")?.len();
    let splits = c.attr::<Vec<DataType>>("ragged_splits_types")?.len();
    ensure!(ragged == splits, InvalidArgument, "Parameters `values` and `row_splits` must be the same length");
    let differ = |_| Error::invalid_argument("inputs must all have the same batch dimension size.");
    let mut rows = c.unknown_shape_of_rank(1);
    for input in ragged..2 * ragged {
        rows = c.merge(rows, c.input(input)).map_err(differ)?;
    }
    let dense = c.attr::<Vec<DataType>>("dense_types")?.len();
    let sparse: i64 = c.attr("Nsparse")?;
    let first = 2 * ragged + 3 * usize::try_from(sparse).unwrap_or(0);
    ensure!(
        first + dense == c.num_inputs() || dense == 0 && first < c.num_inputs(),
        InvalidArgument,
        "Parameters `sparse_indices`, `sparse_values` and `sparse_shape` must be the same length"
    );
    for input in first..first + dense {
        let ranked = c.with_rank(c.input(input), 2);
        let input = ranked.map_err(|_| Error::invalid_argument("tf.ragged.cross only supports inputs with rank=2"))?;
        if let Some(count) = c.value(c.dim(input, 0)) {
            rows = c.merge(rows, c.vector(count.saturating_add(1))).map_err(differ)?;
        }
    }
    c.set_output(0, c.unknown_shape_of_rank(1));
    c.set_output(1, rows);
    Ok(())
}

//! Diagonals and bands of matrices. A tensor of more dimensions is a stack of matrices, in its last two.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"), shape_fn = diag_shape)]
pub enum Diagonals {
    /// Zeros with `diagonal` on the diagonal: of shape `[i, …, k]` it becomes `[i, …, k, i, …, k]`.
    #[op(input("diagonal: T"), output("output: T"))]
    Diag,
    /// The diagonal of a tensor of shape `[i, …, k, i, …, k]`, of shape `[i, …, k]`.
    #[op(input("input: T"), output("diagonal: T"), shape_fn = diag_part_shape)]
    DiagPart,
}

fn diag_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let diagonal = c.with_rank_at_least(c.input(0), 1)?;
    shapes::output_shape(c, c.concatenate(diagonal, diagonal)?)
}

fn diag_part_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.input(0);
    let Some(rank) = c.rank(input) else { return shapes::unknown_shape(c) };
    ensure!(rank > 0 && rank % 2 == 0, InvalidArgument, "Input must have even and non-zero rank, input rank is {rank}");
    let half = rank as i64 / 2;
    let dims = (0..half).map(|i| c.merge_dim(c.dim(input, i), c.dim(input, i + half))).collect::<Result<Vec<_>>>()?;
    shapes::output_shape(c, c.make_shape(dims))
}

#[register_op(attr("T: type"), shape_fn = matrix_diag_shape)]
pub enum MatrixDiagonals {
    /// Square matrices of zeros with the rows of `diagonal` on their diagonals.
    #[op(input("diagonal: T"), output("output: T"))]
    MatrixDiag,
    /// The diagonals of matrices.
    #[op(input("input: T"), output("diagonal: T"), shape_fn = matrix_diag_part_shape)]
    MatrixDiagPart,
    /// The matrices of `input` with the rows of `diagonal` on their diagonals.
    #[op(input("input: T"), input("diagonal: T"), output("output: T"), shape_fn = matrix_set_diag_shape)]
    MatrixSetDiag,
    /// [`MatrixDiag`] of old graphs.
    #[op(like = MatrixDiag, deprecated(14, "Use MatrixDiag"), shape_fn = shapes::unknown_shape)]
    BatchMatrixDiag,
    /// [`MatrixDiagPart`] of old graphs.
    #[op(like = MatrixDiagPart, deprecated(14, "Use MatrixDiagPart"), shape_fn = shapes::unknown_shape)]
    BatchMatrixDiagPart,
    /// [`MatrixSetDiag`] of old graphs.
    #[op(like = MatrixSetDiag, deprecated(14, "Use MatrixSetDiag"), shape_fn = shapes::unknown_shape)]
    BatchMatrixSetDiag,
}

fn matrix_diag_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let diagonal = c.with_rank_at_least(c.input(0), 1)?;
    if !c.rank_known(diagonal) {
        return shapes::unknown_shape(c);
    }
    shapes::output_shape(c, c.concatenate(diagonal, c.vector(c.dim(diagonal, -1)))?)
}

fn matrix_diag_part_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank_at_least(c.input(0), 2)?;
    let Some(mut dims) = c.dims(input) else { return shapes::unknown_shape(c) };
    let least = c.min(c.dim(input, -2), c.dim(input, -1))?;
    dims.truncate(dims.len() - 2);
    dims.push(least);
    shapes::output_shape(c, c.make_shape(dims))
}

fn matrix_set_diag_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank_at_least(c.input(0), 2)?;
    let mut diagonal = c.with_rank_at_least(c.input(1), 1)?;
    if let Some(rank) = c.rank(input) {
        diagonal = c.with_rank(c.input(1), rank - 1)?;
    }
    let least = c.min(c.dim(input, -2), c.dim(input, -1))?;
    c.merge_dim(least, c.dim(diagonal, -1))?;
    let mut output = input;
    if c.rank_known(diagonal) && !c.fully_defined(input) {
        let prefix = c.subshape_range(diagonal, 0, -1)?;
        output = c.merge(input, c.concatenate(prefix, c.unknown_shape_of_rank(2))?)?;
    }
    shapes::output_shape(c, output)
}

#[register_op(
    attr("T: type"),
    input("k: int32", "Which diagonal, or the lowest and the highest: 0 is the main one, positive ones lie above."),
    shape_fn = shapes::matrix_diag_v2_shape,
)]
pub enum BandDiagonals {
    /// Matrices of `padding_value` with given diagonals; each is stored from the left, padded on the right.
    #[op(
        input(
            "diagonal: T",
            "A row for each diagonal, the highest first; a single one has no dimension of its own.",
            before = "k",
        ),
        input("num_rows: int32", "How many rows, a scalar; −1 for as many as are needed."),
        input("num_cols: int32", "How many columns, a scalar; −1 for as many as are needed."),
        input("padding_value: T", "A scalar."),
        output("output: T")
    )]
    MatrixDiagV2,
    /// Matrices of `padding_value` with given diagonals.
    #[op(
        like = MatrixDiagV2,
        attr(
            "align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'",
            "Where short diagonals stand in their rows: first those above the main one, then those below.",
        ),
    )]
    MatrixDiagV3,
    /// Some diagonals of matrices; each stands from the left, padded on the right.
    #[op(
        input("input: T", before = "k"),
        input("padding_value: T", "A scalar."),
        output("diagonal: T", "A row for each diagonal, the highest first; a single one has no dimension of its own."),
        shape_fn = shapes::matrix_diag_part_v2_shape,
    )]
    MatrixDiagPartV2,
    /// Some diagonals of matrices.
    #[op(
        like = MatrixDiagPartV2,
        attr(
            "align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'",
            "Where short diagonals stand in their rows: first those above the main one, then those below.",
        ),
    )]
    MatrixDiagPartV3,
    /// The matrices of `input` with some diagonals replaced; each is stored from the left.
    #[op(
        input("input: T", before = "k"),
        input(
            "diagonal: T",
            "A row for each diagonal, the highest first; a single one has no dimension of its own.",
            after = "input",
        ),
        output("output: T"),
        shape_fn = shapes::matrix_set_diag_v2_shape,
    )]
    MatrixSetDiagV2,
    /// The matrices of `input` with some diagonals replaced.
    #[op(
        like = MatrixSetDiagV2,
        attr(
            "align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'",
            "Where short diagonals stand in their rows: first those above the main one, then those below.",
        ),
    )]
    MatrixSetDiagV3,
}

/// Matrices with everything outside a band around the main diagonal set to zero.
#[register_op(
    attr("T: type"),
    attr("Tindex: {int32, int64} = DT_INT64"),
    input("input: T"),
    input("num_lower: Tindex", "How many diagonals below the main one to keep, a scalar; all if negative."),
    input("num_upper: Tindex", "How many diagonals above the main one to keep, a scalar; all if negative."),
    output("band: T"),
    shape_fn = shapes::unchanged_shape,
)]
pub struct MatrixBandPart;

/// [`MatrixBandPart`] of old graphs.
#[register_op(
    attr("T: type"),
    input("input: T"),
    input("num_lower: int64", "How many diagonals below the main one to keep, a scalar; all if negative."),
    input("num_upper: int64", "How many diagonals above the main one to keep, a scalar; all if negative."),
    output("band: T"),
    deprecated(14, "Use MatrixBandPart"),
    shape_fn = shapes::unknown_shape,
)]
pub struct BatchMatrixBandPart;

#[cfg(test)]
mod tests {
    use crate::testing::infer;
    use kernlink::dtype::DataType;

    use super::*;

    #[test]
    fn diagonals() {
        infer::<Diag>().attr("T", DataType::Float).ok("[2,3]", "[d0_0,d0_1,d0_0,d0_1]");
        infer::<DiagPart>().attr("T", DataType::Float).ok("[2,?,?,3]", "[d0_0,d0_3]");
        infer::<DiagPart>().attr("T", DataType::Float).error("even and non-zero rank", "[2,3,2]");
        infer::<MatrixDiag>().attr("T", DataType::Float).ok("[2,3]", "[d0_0,d0_1,d0_1]");
        infer::<MatrixDiagPart>().attr("T", DataType::Float).ok("[2,3,4]", "[d0_0,d0_1]");
        infer::<MatrixSetDiag>().attr("T", DataType::Float).ok("[?,3,4];[2,3]", "[d1_0,d0_1,d0_2]");
        infer::<MatrixSetDiag>().attr("T", DataType::Float).error("must be equal", "[2,3,4];[2,4]");
    }
}

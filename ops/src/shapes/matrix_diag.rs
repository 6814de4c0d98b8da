//! Diagonals of the matrices in the last two dimensions. Diagonal 0 is the main one, those above it count up, those
//! below it count down.

use std::ops::RangeInclusive;

use kernlink::dtype::DataType;
use kernlink::shape_inference::common::output_shape;
use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink::tensor::Tensor;
use kernlink::{Result, bail, ensure};

/// The diagonals that a tensor of one or two `int32` names.
#[track_caller]
fn read_diagonals(tensor: &Tensor) -> Result<RangeInclusive<i64>> {
    ensure!(tensor.dtype() == DataType::Int32, InvalidArgument, "diag_index must be int32, not {}", tensor.dtype());
    let (lower, upper) = match tensor.to_i64_vec()?[..] {
        [only] => (only, only),
        [lower, upper] => (lower, upper),
        ref other => {
            bail!(
                InvalidArgument,
                "diag_index must be a vector with one or two elements. It has {} elements.",
                other.len()
            );
        }
    };
    ensure!(lower <= upper, InvalidArgument, "lower_diag_index is greater than upper_diag_index");
    Ok(lower..=upper)
}

/// The value of input `index`, which names diagonals, if it is known.
fn diagonals(c: &InferenceContext<'_>, index: usize) -> Result<Option<RangeInclusive<i64>>> {
    let shape = c.with_rank_at_most(c.input(index), 1)?;
    match c.input_tensor(index) {
        Some(tensor) if c.fully_defined(shape) => read_diagonals(tensor).map(Some),
        _ => Ok(None),
    }
}

/// The sizes of the last two dimensions, if both are known.
fn matrix_sizes(c: &InferenceContext<'_>, shape: ShapeHandle) -> Option<(i64, i64)> {
    Some((c.value(c.dim(shape, -2))?, c.value(c.dim(shape, -1))?))
}

/// Checks that a matrix of this size has these diagonals; the main one even if it is empty.
#[track_caller]
fn check_bounds((rows, columns): (i64, i64), diagonals: &RangeInclusive<i64>) -> Result<()> {
    for (what, index) in [("lower", *diagonals.start()), ("upper", *diagonals.end())] {
        ensure!(
            index == 0 || (-rows < index && index < columns),
            InvalidArgument,
            "{what}_diag_index is out of bound."
        );
    }
    Ok(())
}

/// Output 0 of `MatrixDiagPartV2` and `V3`: the diagonals of the matrices 0 that input 1 names, padded with scalar 2 to
/// the length of the longest; in the place of the last two dimensions stand that of the diagonals, if there are
/// several, and that of their elements.
///
/// # Errors
/// INVALID_ARGUMENT for ranks that do not fit, or diagonals that the matrices do not have.
pub fn matrix_diag_part_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank_at_least(c.input(0), 2)?;
    c.with_rank_at_most(c.input(1), 1)?;
    c.with_rank(c.input(2), 0)?;
    let named = c.input_tensor(1).filter(|_| c.rank_known(input) && c.fully_defined(c.input(1)));
    let (Some(named), Some(mut dims)) = (named, c.dims(input)) else {
        return output_shape(c, c.unknown_shape());
    };
    let named = read_diagonals(named)?;
    let (lower, upper) = (*named.start(), *named.end());
    let mut longest = -1;
    if let Some(sizes) = matrix_sizes(c, input) {
        check_bounds(sizes, &named)?;
        longest = (sizes.0 + upper.min(0)).min(sizes.1 - lower.max(0));
    }
    dims.truncate(dims.len() - 2);
    if lower < upper {
        dims.push(c.make_dim(upper - lower + 1));
    }
    dims.push(c.make_dim(longest));
    output_shape(c, c.make_shape(dims))
}

/// Output 0 of `MatrixDiagV2` and `V3`: matrices whose diagonals 1 are those in the last dimension, or the last two, of
/// input 0, with as many rows and columns as scalars 2 and 3 say or are needed.
///
/// # Errors
/// INVALID_ARGUMENT for ranks or sizes that do not fit.
pub fn matrix_diag_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank_at_least(c.input(0), 1)?;
    c.with_rank_at_most(c.input(1), 1)?;
    (2..5).try_for_each(|index| c.with_rank(c.input(index), 0).map(drop))?;
    let named = c.input_tensor(1).filter(|_| c.rank_known(input) && c.fully_defined(c.input(1)));
    let (Some(named), Some(dims)) = (named, c.dims(input)) else {
        return output_shape(c, c.unknown_shape());
    };
    let named = read_diagonals(named)?;
    let (lower, upper) = (*named.start(), *named.end());
    let count = upper - lower + 1;
    if count > 1 {
        // TensorFlow takes the one dimension of a vector for both, until the kernel refuses it.
        let given = c.value(c.dim(input, if dims.len() < 2 { -1 } else { -2 }));
        ensure!(
            given == Some(count),
            InvalidArgument,
            "The number of rows of `diagonal` doesn't match the number of diagonals implied from `d_lower` and \
                 `d_upper`: num_diags = {}, d_lower = {lower}, d_upper = {upper}",
            given.unwrap_or(-1)
        );
    }
    let size = |index: usize| match c.input_tensor(index) {
        Some(tensor) => c.get_scalar_from_tensor(tensor),
        None => Ok(-1),
    };
    let (rows, columns) = (size(2)?, size(3)?);
    let longest = c.value(c.dim(input, -1)).unwrap_or(-1);
    let (least_rows, least_columns) = (longest.saturating_sub(upper.min(0)), longest.saturating_add(lower.max(0)));
    let (rows, columns) = match (rows, columns) {
        (-1, -1) => (least_rows.max(least_columns), least_rows.max(least_columns)),
        (rows, columns) => {
            (if rows == -1 { least_rows } else { rows }, if columns == -1 { least_columns } else { columns })
        }
    };
    ensure!(rows >= least_rows, InvalidArgument, "num_rows is too small");
    ensure!(columns >= least_columns, InvalidArgument, "num_cols is too small.");
    ensure!(
        rows == least_rows || columns == least_columns,
        InvalidArgument,
        "num_rows and num_cols are not consistent with lower_diag_index, upper_diag_index, and the length of the \
             given diagonals: num_rows = {rows} != min_num_rows = {least_rows}, num_cols = {columns} != min_num_cols = \
             {least_columns}"
    );
    if count > 1 && dims.len() < 2 {
        return output_shape(c, c.vector(columns));
    }
    let prefix = c.subshape_range(input, 0, if count > 1 { -2 } else { -1 })?;
    output_shape(c, c.concatenate(prefix, c.matrix(rows, columns))?)
}

/// Output 0 of `MatrixSetDiagV2` and `V3`: the matrices 0, with their diagonals 2 replaced by input 1.
///
/// # Errors
/// INVALID_ARGUMENT for ranks or sizes that do not fit, or diagonals that the matrices do not have.
pub fn matrix_set_diag_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank_at_least(c.input(0), 2)?;
    let mut replaced = c.with_rank_at_least(c.input(1), 1)?;
    let named = diagonals(c, 2)?;
    let is_single = named.as_ref().is_none_or(|named| named.start() == named.end());
    if let Some(rank) = c.rank(input) {
        replaced = match named {
            Some(_) if is_single => c.with_rank(c.input(1), rank - 1)?,
            Some(_) => c.with_rank(c.input(1), rank)?,
            None => {
                c.with_rank_at_least(c.input(1), rank - 1)?;
                c.with_rank_at_most(c.input(1), rank)?
            }
        };
        if let (Some(sizes), Some(named)) = (matrix_sizes(c, input), &named) {
            check_bounds(sizes, named)?;
        }
    }
    let mut output = input;
    if c.rank_known(replaced) && !c.fully_defined(input) {
        let prefix = c.subshape_range(replaced, 0, if is_single { -1 } else { -2 })?;
        output = c.merge(input, c.concatenate(prefix, c.unknown_shape_of_rank(2))?)?;
    }
    output_shape(c, output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::shape_inference::ShapeFn;
    use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};

    fn test(shape_fn: ShapeFn, inputs: usize, at: usize, named: &[i32]) -> ShapeTest {
        ShapeTest::anonymous(inputs, 1, shape_fn).input_tensor(at, Tensor::vector(named).unwrap())
    }

    #[test]
    fn parts() {
        let part = |named: &[i32]| test(matrix_diag_part_v2_shape, 3, 1, named);
        infer_ok(&part(&[0]), "[?,4,5];[1];[]", "[d0_0,4]");
        infer_ok(&part(&[-1, 1]), "[4,5];[2];[]", "[3,4]");
        infer_ok(&part(&[2]), "[4,?];[1];[]", "[?]");
        infer_ok(&part(&[2]), "?;[1];[]", "?");
        infer_error("lower_diag_index is out of bound", &part(&[-4]), "[4,5];[1];[]");
        infer_error("upper_diag_index is out of bound", &part(&[0, 5]), "[4,5];[2];[]");
        infer_error("greater than", &part(&[1, 0]), "[4,5];[2];[]");
        infer_error("It has 3 elements", &part(&[1, 0, 1]), "[4,5];[3];[]");
        infer_ok(&ShapeTest::anonymous(3, 1, matrix_diag_part_v2_shape), "[4,5];[2];[]", "?");
    }

    #[test]
    fn whole() {
        let whole = |named: &[i32]| test(matrix_diag_v2_shape, 5, 1, named);
        infer_ok(&whole(&[0]), "[?,3];[1];[];[];[]", "[d0_0,3,3]");
        infer_ok(&whole(&[1]), "[3];[1];[];[];[]", "[4,4]");
        infer_ok(&whole(&[-1, 1]), "[3,3];[2];[];[];[]", "[3,3]");
        let sized = |rows: i32, columns: i32| {
            whole(&[1]).input_tensor(2, Tensor::scalar(rows)).input_tensor(3, Tensor::scalar(columns))
        };
        infer_ok(&sized(3, 6), "[3];[1];[];[];[]", "[3,6]");
        infer_error("num_rows is too small", &sized(2, 4), "[3];[1];[];[];[]");
        infer_error("num_cols is too small", &sized(3, 3), "[3];[1];[];[];[]");
        infer_error("are not consistent", &sized(4, 5), "[3];[1];[];[];[]");
        infer_error("doesn't match the number of diagonals", &whole(&[0, 1]), "[3,3];[2];[];[];[]");
        infer_error("doesn't match the number of diagonals", &whole(&[0, 1]), "[3];[2];[];[];[]");
    }

    #[test]
    fn replaced() {
        let set = |named: &[i32]| test(matrix_set_diag_v2_shape, 3, 2, named);
        infer_ok(&set(&[0]), "[2,3,4];[2,3];[1]", "in0");
        infer_ok(&set(&[0]), "[?,3,4];[2,3];[1]", "[d1_0,d0_1,d0_2]");
        infer_ok(&set(&[0, 1]), "?;[2,2,3];[2]", "[d1_0,?,?]");
        infer_error("Shape must be rank 2 but is rank 3", &set(&[0]), "[2,3,4];[2,3,4];[1]");
        infer_error("out of bound", &set(&[7]), "[3,4];[1];[1]");
        infer_ok(&ShapeTest::anonymous(3, 1, matrix_set_diag_v2_shape), "[3,4];?;?", "in0");
    }
}

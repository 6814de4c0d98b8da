//! Tensors with something around them, and tensors whose ends meet.

use super::integers::{checked_shape, pairs, vector_or_scalar};
use kernlink::error::Result;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

/// How many elements come before and after those of a dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Padding {
    /// Before them.
    pub before: usize,
    /// After them.
    pub after: usize,
}

/// The rows of `paddings`; `between` stands in the error for a negative one.
fn rows(input: &Shape, paddings: &Tensor, max_rank: usize, between: &str) -> Result<Vec<Padding>> {
    let rank = input.rank();
    ensure!(rank <= max_rank, Unimplemented, "inputs rank not in [0,{max_rank}]: {rank}");
    let row = |[before, after]: [i64; 2]| match (usize::try_from(before), usize::try_from(after)) {
        (Ok(before), Ok(after)) => Ok(Padding { before, after }),
        _ => bail!(InvalidArgument, "Paddings must be non-negative: {before}{between}{after}"),
    };
    pairs(paddings, rank, "paddings")?.into_iter().map(row).collect()
}

/// The paddings of a tensor of at most `max_rank` dimensions, and its shape with them around it.
///
/// # Errors
/// INVALID_ARGUMENT if there are not as many as dimensions, or for a negative one; UNIMPLEMENTED for more dimensions.
pub fn padded(input: &Shape, paddings: &Tensor, max_rank: usize) -> Result<(Vec<Padding>, Shape)> {
    let paddings = rows(input, paddings, max_rank, " ")?;
    let padded = |(&dim, padding): (&usize, &Padding)| dim.checked_add(padding.before)?.checked_add(padding.after);
    let shape = checked_shape(input.iter().zip(&paddings).map(padded))?;
    Ok((paddings, shape))
}

/// The attr `mode` of mirror images: whether the edge itself is not repeated.
///
/// # Errors
/// INVALID_ARGUMENT if it says neither.
pub fn is_reflection(mode: &str) -> Result<bool> {
    match mode {
        "REFLECT" => Ok(true),
        "SYMMETRIC" => Ok(false),
        other => bail!(InvalidArgument, "mode must be either REFLECT or SYMMETRIC, not {other}"),
    }
}

/// [`padded`] with mirror images of the tensor, which are no larger than it is.
///
/// # Errors
/// As [`padded`]; INVALID_ARGUMENT for larger images.
pub fn mirrored(input: &Shape, paddings: &Tensor, reflect: bool) -> Result<(Vec<Padding>, Shape)> {
    let (paddings, shape) = padded(input, paddings, 5)?;
    for (&dim, &Padding { before, after }) in input.iter().zip(&paddings) {
        let limit = dim.saturating_sub(usize::from(reflect));
        ensure!(
            before <= limit && after <= limit && (dim > 0 || !reflect),
            InvalidArgument,
            "paddings must be {} the dimension size: {before}, {after} for {dim}",
            if reflect { "less than" } else { "no greater than" }
        );
    }
    Ok((paddings, shape))
}

/// One dimension that is cut to the `size` elements after the first `before`; what is cut off is added to what it
/// mirrors, `offset` from the edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fold {
    /// The dimension.
    pub axis: usize,
    /// The elements that are cut off before what is kept.
    pub before: usize,
    /// Those after it.
    pub after: usize,
    /// Those that are kept.
    pub size: usize,
    /// 1 if the edge itself was not repeated, or else 0.
    pub offset: usize,
}

/// The gradient of [`mirrored`]: what is folded of a tensor of this shape, and what shape it then has.
///
/// # Errors
/// As [`mirrored`].
pub fn folded(input: &Shape, paddings: &Tensor, reflect: bool) -> Result<(Vec<Fold>, Shape)> {
    let mut shape = input.clone();
    let mut folds = Vec::new();
    let offset = usize::from(reflect);
    for (axis, Padding { before, after }) in rows(input, paddings, 5, ", ")?.into_iter().enumerate() {
        let size = before.checked_add(after).and_then(|padding| input[axis].checked_sub(padding));
        let Some(size) = size.filter(|&size| size > 0) else {
            bail!(
                InvalidArgument,
                "Total paddings must be less than the input dimension size: {before} and {after} were not less than {}",
                input[axis]
            );
        };
        ensure!(
            before + offset <= size && after + offset <= size,
            InvalidArgument,
            "paddings must be {} the output dimension size: {before}, {after} for {size}",
            if reflect { "less than" } else { "no greater than" }
        );
        shape.dims_mut()[axis] = size;
        if before + after > 0 {
            folds.push(Fold { axis, before, after, size, offset });
        }
    }
    Ok((folds, shape))
}

/// For each dimension by how much its elements move on, those at the end to the beginning.
///
/// # Errors
/// INVALID_ARGUMENT for a scalar, for an axis out of range, and unless there are as many shifts as axes.
pub fn rolled(input: &Shape, shift: &Tensor, axis: &Tensor) -> Result<Vec<usize>> {
    ensure!(input.rank() > 0, InvalidArgument, "input must be 1-D or higher");
    let (shifts, axes) = (vector_or_scalar(shift, "shift")?, vector_or_scalar(axis, "axis")?);
    ensure!(shift.shape() == axis.shape(), InvalidArgument, "shift and axis must have the same size");
    let mut turns = vec![0usize; input.rank()];
    for (&shift, &given) in shifts.iter().zip(&axes) {
        let rank = input.rank() as i64;
        ensure!((-rank..rank).contains(&given), InvalidArgument, "axis {given} is out of range");
        let axis = given.rem_euclid(rank) as usize;
        if let Some(size) = i64::try_from(input[axis]).ok().filter(|&size| size > 0) {
            turns[axis] = (turns[axis] + shift.rem_euclid(size) as usize) % size as usize;
        }
    }
    Ok(turns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows_of(rows: &[[i32; 2]]) -> Tensor {
        Tensor::from_elements([rows.len(), 2], rows.as_flattened()).unwrap()
    }

    #[test]
    fn paddings_are_around() {
        let input = Shape::from([2, 3]);
        let (paddings, shape) = padded(&input, &rows_of(&[[1, 0], [2, 3]]), 8).unwrap();
        assert_eq!((paddings[1], shape), (Padding { before: 2, after: 3 }, Shape::from([3, 8])));
        assert!(padded(&input, &rows_of(&[[1, 0]]), 8).is_err());
        assert!(padded(&input, &rows_of(&[[1, 0], [0, -1]]), 8).unwrap_err().message().ends_with("0 -1"));
        assert!(mirrored(&input, &rows_of(&[[2, 0], [0, 3]]), false).is_ok());
        assert!(mirrored(&input, &rows_of(&[[2, 0], [0, 0]]), true).is_err());
    }

    #[test]
    fn what_was_mirrored_is_folded() {
        let input = Shape::from([4, 3]);
        let (folds, shape) = folded(&input, &rows_of(&[[1, 1], [0, 0]]), false).unwrap();
        assert_eq!(shape, Shape::from([2, 3]));
        assert_eq!(folds, [Fold { axis: 0, before: 1, after: 1, size: 2, offset: 0 }]);
        assert!(folded(&input, &rows_of(&[[2, 2], [0, 0]]), false).is_err());
        assert!(folded(&input, &rows_of(&[[3, 0], [0, 0]]), false).is_err());
        assert!(folded(&input, &rows_of(&[[-1, 0], [0, 0]]), false).unwrap_err().message().ends_with("-1, 0"));
    }

    #[test]
    fn turns_add_up() {
        let (shift, axis) = (Tensor::vector(&[5, -1, 1]).unwrap(), Tensor::vector(&[1, 0, -1]).unwrap());
        assert_eq!(rolled(&Shape::from([4, 3]), &shift, &axis).unwrap(), [3, 0]);
        assert!(rolled(&Shape::from([4]), &shift, &axis).is_err());
        assert!(rolled(&Shape::scalar(), &shift, &axis).is_err());
    }
}

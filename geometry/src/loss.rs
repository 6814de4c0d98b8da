//! The shapes of logits and of losses.

use kernlink::error::Result;
use kernlink::shape::Shape;
use kernlink::{bail, ensure};

use super::broadcast::Broadcast;

/// Fails unless logits have classes.
///
/// # Errors
/// INVALID_ARGUMENT if they are a scalar.
pub fn ensure_classes(logits: &Shape) -> Result<()> {
    ensure!(logits.rank() >= 1, InvalidArgument, "logits must have at least 1 dimension");
    Ok(())
}

/// Fails unless there is at most one mask of logits.
///
/// # Errors
/// INVALID_ARGUMENT for several.
pub fn ensure_one_mask(masks: usize) -> Result<()> {
    ensure!(masks <= 1, InvalidArgument, "there may be one mask, not {masks}");
    Ok(())
}

/// The shape that logits and the mask that is added to them broadcast to.
///
/// # Errors
/// INVALID_ARGUMENT if they do not, or have no classes; UNIMPLEMENTED if they broadcast along more groups of dimensions
/// than a sum does.
pub fn masked(logits: &Shape, mask: Option<&Shape>) -> Result<Shape> {
    const LIMIT: usize = 5;
    let shape = match mask {
        Some(mask) => Broadcast::new([logits, mask], LIMIT)?.shape,
        None => logits.clone(),
    };
    ensure_classes(&shape)?;
    Ok(shape)
}

/// The rows and columns of the matrix that logits and labels broadcast to.
///
/// # Errors
/// INVALID_ARGUMENT if they do not broadcast to one.
pub fn cross_entropy(logits: &Shape, labels: &Shape) -> Result<[usize; 2]> {
    let rank = logits.rank().max(labels.rank());
    let size = |shape: &Shape, axis: usize| (axis + shape.rank()).checked_sub(rank).map_or(1, |axis| shape[axis]);
    let mut sizes = Vec::with_capacity(rank);
    for axis in 0..rank {
        let (a, b) = (size(logits, axis), size(labels, axis));
        ensure!(
            a == b || a == 1 || b == 1,
            InvalidArgument,
            "logits and labels must be broadcastable, not {logits} and {labels}"
        );
        sizes.push(if a == 1 { b } else { a });
    }
    let Ok(sizes) = <[usize; 2]>::try_from(sizes) else {
        bail!(InvalidArgument, "logits and labels must be matrices, or broadcast to one, not {logits} and {labels}");
    };
    Ok(sizes)
}

/// The rows and columns of logits; labels name a column of each row.
///
/// # Errors
/// INVALID_ARGUMENT if there is not a label for each row, or there are no columns.
pub fn sparse_cross_entropy(logits: &Shape, labels: &Shape) -> Result<[usize; 2]> {
    ensure!(logits.rank() == 2, InvalidArgument, "logits must be 2-dimensional, not {logits}");
    ensure!(labels.rank() == 1, InvalidArgument, "labels must be 1-dimensional, not {labels}");
    ensure!(
        logits[0] == labels[0],
        InvalidArgument,
        "logits and labels must have the same first dimension, not {logits} and {labels}"
    );
    ensure!(logits[1] > 0, InvalidArgument, "there must be at least one class: logits are {logits}");
    Ok([logits[0], logits[1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_fit_logits() {
        let dense = |a: &[usize], b: &[usize]| cross_entropy(&Shape::from(a), &Shape::from(b));
        assert_eq!(dense(&[4, 1], &[3]).unwrap(), [4, 3]);
        assert!(dense(&[4, 2], &[3]).is_err());
        assert!(dense(&[3], &[3]).is_err());
        let sparse = |a: &[usize], b: &[usize]| sparse_cross_entropy(&Shape::from(a), &Shape::from(b));
        assert_eq!(sparse(&[4, 3], &[4]).unwrap(), [4, 3]);
        assert!(sparse(&[4, 3], &[3]).is_err());
        assert!(sparse(&[4, 0], &[4]).is_err());
    }
}

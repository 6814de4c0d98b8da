//! Segments: rows that belong together because they have the same number.

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;

/// Segments whose numbers come in any order, `count` of them. Returns the output's shape, which has a row for each, and the
/// elements of a row.
///
/// # Errors
/// INVALID_ARGUMENT if `ids` does not have the first dimensions of `data`, or `count` is no scalar or negative.
pub fn unsorted(data: &Shape, ids: &Shape, count: &Tensor) -> Result<(Shape, usize)> {
    ensure!(count.rank() == 0, InvalidArgument, "num_segments should be a scalar, not shape {}", count.shape());
    ensure!(
        data.starts_with(ids),
        InvalidArgument,
        "data.shape = {data} does not start with segment_ids.shape = {ids}"
    );
    let count = count.to_i64_vec()?[0];
    ensure!(count >= 0, InvalidArgument, "Input num_segments == {count} must not be negative.");
    let row = &data[ids.rank()..];
    Ok((std::iter::once(count as usize).chain(row.iter().copied()).collect(), row.iter().product()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_for_rows() {
        let data = Shape::from([4, 5, 6]);
        let of = |ids: &[usize], count: i32| unsorted(&data, &Shape::from(ids), &Tensor::scalar(count));
        assert_eq!(of(&[4], 7).unwrap(), (Shape::from([7, 5, 6]), 30));
        assert_eq!(of(&[4, 5, 6], 0).unwrap(), (Shape::from([0]), 1));
        assert_eq!(of(&[], 1).unwrap(), (Shape::from([1, 4, 5, 6]), 120));
        assert!(of(&[5], 7).is_err());
        assert!(of(&[4, 5, 6, 1], 7).is_err());
        assert!(of(&[4], -1).is_err());
        assert!(unsorted(&data, &Shape::from([4]), &Tensor::vector(&[7i32]).unwrap()).is_err());
    }
}

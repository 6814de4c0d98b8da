//! One tensor cut into several.

use super::integers::{axis, ensure_scalar, listed, single};
use super::rearranged::{Elements, Rearranged};
use super::strided::StridedCopy;
use kernlink::error::Result;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};

/// How a tensor is cut.
#[derive(Clone, Debug)]
pub struct Split {
    axis: usize,
    sizes: Vec<usize>,
    /// Whether the parts, all of size 1, lose the axis.
    removes_axis: bool,
}

impl Split {
    /// Cut into so many parts of one size.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such axis, or it has not that many parts.
    pub fn evenly(input: &Shape, split_dim: &Tensor, ways: usize) -> Result<Split> {
        ensure_scalar(split_dim, "split_dim")?;
        let axis = split_axis(single(split_dim, "split_dim")?, input)?;
        let size = input[axis];
        ensure!(
            ways > 0 && size.is_multiple_of(ways),
            InvalidArgument,
            "Number of ways to split should evenly divide the split dimension, but got split_dim {axis} (size = \
             {size}) and num_split {ways}"
        );
        Ok(Split { axis, sizes: scratch::filled(size / ways, ways)?, removes_axis: false })
    }

    /// Cut into `ways` parts of these sizes.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such axis, or the sizes do not add up to it.
    pub fn by_sizes(input: &Shape, sizes: &Tensor, split_dim: &Tensor, ways: usize) -> Result<Split> {
        let given = single(split_dim, "split_dim")?;
        ensure!(
            sizes.rank() == 1 && sizes.num_elements() == ways,
            InvalidArgument,
            "size_splits must be a vector with one element an output ({ways}), not of shape {}",
            sizes.shape()
        );
        let sizes = sizes.to_i64_vec()?;
        let axis = split_axis(given, input)?;
        let total = input[axis];
        if let [only] = sizes[..]
            && only != total as i64
        {
            bail!(
                InvalidArgument,
                "If there is only one output, it must have the same size as the input. Input size: {total} output \
                 size: {only}"
            );
        }
        Ok(Split { axis, sizes: split_sizes(&sizes, total)?, removes_axis: false })
    }

    /// Cut into its slices along an axis, of which there are so many.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there are not, or no such axis.
    pub fn unpacked(input: &Shape, given: i64, count: usize) -> Result<Split> {
        let axis = axis(given, input.rank(), "axis")?;
        ensure!(input[axis] == count, InvalidArgument, "Input shape axis {axis} must equal {count}, got shape {input}");
        Ok(Split { axis, sizes: scratch::filled(1, count)?, removes_axis: true })
    }

    /// The parts of a tensor of this shape.
    pub fn parts(&self, input: &Shape) -> impl Iterator<Item = Rearranged> {
        let Split { axis, ref sizes, removes_axis } = *self;
        let rows: usize = input[..axis].iter().product();
        let below: usize = input[axis + 1..].iter().product();
        let row = input[axis] * below;
        let mut start = 0;
        sizes.iter().map(move |&size| {
            let first = start;
            start += size;
            let mut shape = input.clone();
            if removes_axis {
                shape.remove(axis);
            } else {
                shape.dims_mut()[axis] = size;
            }
            let elements = if sizes.len() == 1 {
                Elements::Same
            } else if axis == 0 {
                Elements::Rows(first..start)
            } else {
                let copy = StridedCopy::new(0, first * below).step(rows, size * below, row as isize);
                Elements::Copied(copy.step(size * below, 1, 1))
            };
            Rearranged { shape, elements }
        })
    }
}

/// The axis along which a tensor is split.
fn split_axis(given: i64, input: &Shape) -> Result<usize> {
    let rank = input.rank() as i64;
    ensure!(
        (-rank..rank).contains(&given),
        InvalidArgument,
        "-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {given}"
    );
    Ok(given.rem_euclid(rank) as usize)
}

/// The sizes of the parts, one of which may be given as −1.
fn split_sizes(sizes: &[i64], total: usize) -> Result<Vec<usize>> {
    let mut rest = total as i64;
    let mut unknown = None;
    for (index, &size) in sizes.iter().enumerate() {
        if size == -1 {
            ensure!(unknown.is_none(), InvalidArgument, "There can only be one -1 in the input.");
            unknown = Some(index);
            continue;
        }
        ensure!(size >= 0, InvalidArgument, "Split size at index {index} must be >= 0. Got: {size}");
        rest = rest.saturating_sub(size);
    }
    ensure!(
        if unknown.is_some() { rest >= 0 } else { rest == 0 },
        InvalidArgument,
        "Determined shape must either match input shape along split_dim exactly if fully specified, or be less than \
         the size of the input along split_dim if not fully specified. Got sizes {} for {total}",
        listed(sizes)
    );
    scratch::collected(sizes.iter().map(|&size| if size == -1 { rest as usize } else { size as usize }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_size_may_be_left_to_find() {
        assert_eq!(split_sizes(&[2, -1, 1], 7).unwrap(), [2, 4, 1]);
        assert_eq!(split_sizes(&[-1, 7], 7).unwrap(), [0, 7]);
        assert!(split_sizes(&[-1, 8], 7).is_err());
        assert!(split_sizes(&[-1, -1], 7).is_err());
        assert!(split_sizes(&[3, 3], 7).is_err());
        assert!(split_sizes(&[-2, 9], 7).is_err());
        assert!(split_sizes(&[i64::MAX, i64::MAX], 7).is_err());
    }

    #[test]
    fn parts_follow_each_other() {
        let input = Shape::from([2, 3, 4]);
        let unpacked = Split::unpacked(&input, 1, 3).unwrap();
        let parts: Vec<Rearranged> = unpacked.parts(&input).collect();
        assert!(parts.iter().all(|part| part.shape == Shape::from([2, 4])));
        let Elements::Copied(copy) = &parts[2].elements else { panic!("a copy") };
        assert_eq!((copy.target, copy.source), (0, 8));
        let rows = Split::evenly(&input, &Tensor::scalar(0i32), 2).unwrap();
        assert!(matches!(rows.parts(&input).last().unwrap().elements, Elements::Rows(rows) if rows == (1..2)));
        assert!(Split::evenly(&input, &Tensor::scalar(1i32), 2).is_err());
        assert!(Split::unpacked(&input, 3, 3).is_err());
    }
}

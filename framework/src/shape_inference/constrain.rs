//! Constraints: what a shape function demands of its inputs; merging and relaxing shapes.

use super::context::Dims;
use super::{DimHandle, InferenceContext, ShapeHandle};
use crate::error::{Error, Result};
use crate::shape::MAX_RANK;

impl InferenceContext<'_> {
    /// `shape` with this rank.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it has another one.
    #[track_caller]
    pub fn with_rank(&self, shape: ShapeHandle, rank: usize) -> Result<ShapeHandle> {
        match self.rank(shape) {
            Some(known) if known == rank => Ok(shape),
            Some(known) => Err(Error::invalid_argument(format!("Shape must be rank {rank} but is rank {known}"))),
            None if rank > MAX_RANK => Err(Error::invalid_argument(format!("Rank cannot exceed {MAX_RANK}"))),
            None => self.merge(shape, self.unknown_shape_of_rank(rank)),
        }
    }

    /// `shape`, if its rank is at least this or unknown.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it is lower.
    #[track_caller]
    pub fn with_rank_at_least(&self, shape: ShapeHandle, rank: usize) -> Result<ShapeHandle> {
        match self.rank(shape) {
            Some(known) if known < rank => {
                Err(Error::invalid_argument(format!("Shape must be at least rank {rank} but is rank {known}")))
            }
            _ => Ok(shape),
        }
    }

    /// `shape`, if its rank is at most this or unknown.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it is higher.
    #[track_caller]
    pub fn with_rank_at_most(&self, shape: ShapeHandle, rank: usize) -> Result<ShapeHandle> {
        match self.rank(shape) {
            Some(known) if known > rank => {
                Err(Error::invalid_argument(format!("Shape must be at most rank {rank} but is rank {known}")))
            }
            _ => Ok(shape),
        }
    }

    /// `dim` with this size.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it has another one.
    #[track_caller]
    pub fn with_value(&self, dim: DimHandle, value: i64) -> Result<DimHandle> {
        match self.value(dim) {
            Some(known) if known == value => Ok(dim),
            Some(known) => Err(Error::invalid_argument(format!("Dimension must be {value} but is {known}"))),
            None => self.merge_dim(dim, self.make_dim(value)),
        }
    }

    /// The dimension that both are: the one that is known, the first if both or neither are.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if their sizes differ.
    #[track_caller]
    pub fn merge_dim(&self, first: DimHandle, second: DimHandle) -> Result<DimHandle> {
        if first == second {
            return Ok(first);
        }
        let merged = match (self.value(first), self.value(second)) {
            (Some(a), Some(b)) if a == b => return Ok(first),
            (Some(a), Some(b)) => {
                return Err(Error::invalid_argument(format!("Dimensions must be equal, but are {a} and {b}")));
            }
            (_, None) => first,
            (None, Some(_)) => second,
        };
        self.arena.borrow_mut().merged_dims.push((first, second));
        Ok(merged)
    }

    /// The shape that both are: `first` or `second` itself where one knows all that the other does, else a new one.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if ranks or sizes differ.
    #[track_caller]
    pub fn merge(&self, first: ShapeHandle, second: ShapeHandle) -> Result<ShapeHandle> {
        if first == second {
            return Ok(first);
        }
        let note = |merged| {
            self.arena.borrow_mut().merged_shapes.push((first, second));
            Ok(merged)
        };
        let (Some(a), Some(b)) = (self.dims(first), self.dims(second)) else {
            return note(if self.rank_known(second) { second } else { first });
        };
        if a.len() != b.len() {
            let message = format!("Shapes must be equal rank, but are {} and {}", a.len(), b.len());
            return Err(Error::invalid_argument(message));
        }
        let (mut first_knows_all, mut second_knows_all) = (true, true);
        for (axis, (&a, &b)) in a.iter().zip(&b).enumerate() {
            if a == b {
                continue;
            }
            match (self.value(a), self.value(b)) {
                (None, Some(_)) => first_knows_all = false,
                (Some(_), None) => second_knows_all = false,
                (Some(x), Some(y)) if x != y => {
                    let (first, second) = (self.debug_string(first), self.debug_string(second));
                    return Err(Error::invalid_argument(format!(
                        "Dimension {axis} in both shapes must be equal, but are {x} and {y}. Shapes are {first} and \
                         {second}."
                    )));
                }
                _ => {}
            }
        }
        if first_knows_all || second_knows_all {
            return note(if first_knows_all { first } else { second });
        }
        let dims = a.iter().zip(&b).map(|(&a, &b)| self.merge_dim(a, b)).collect::<Result<Dims>>()?;
        let merged = self.make_shape(dims);
        self.arena.borrow_mut().merged_shapes.extend([(first, second), (first, merged)]);
        Ok(merged)
    }

    /// What is known of a dimension that may be `old` or `new`: `old` if they have the same size, or else unknown.
    /// Forgets merges when something is no longer known.
    pub fn relax_dim(&self, old: DimHandle, new: DimHandle) -> DimHandle {
        if old == new {
            return old;
        }
        match (self.value(old), self.value(new)) {
            (Some(a), Some(b)) if a == b => old,
            (Some(_), Some(_)) => {
                self.forget_merges();
                self.unknown_dim()
            }
            (None, Some(_)) => {
                self.forget_merges();
                self.unknown_dim()
            }
            (_, None) => {
                self.forget_merges();
                new
            }
        }
    }

    /// What is known of a shape that may be `old` or `new`: `old` itself if both are known to be the same. Forgets
    /// merges when something is no longer known.
    pub fn relax(&self, old: ShapeHandle, new: ShapeHandle) -> ShapeHandle {
        if old == new {
            return old;
        }
        let (a, b) = match (self.dims(old), self.dims(new)) {
            (Some(a), Some(b)) if a.len() == b.len() => (a, b),
            (_, None) => {
                self.forget_merges();
                return new;
            }
            _ => {
                self.forget_merges();
                return self.unknown_shape();
            }
        };
        if a.iter().zip(&b).all(|(&a, &b)| a == b || (self.value_known(a) && self.value(a) == self.value(b))) {
            return old;
        }
        let dims: Dims = a.iter().zip(&b).map(|(&a, &b)| self.relax_dim(a, b)).collect();
        self.forget_merges();
        self.make_shape(dims)
    }

    /// Merges `shape` into that of input `index`. Returns whether they fit; nothing changes if they do not.
    pub fn merge_input(&mut self, index: usize, shape: ShapeHandle) -> bool {
        let merged = self.inputs.get(index).and_then(|&input| self.merge(input, shape).ok());
        merged.is_some_and(|merged| {
            self.set_input(index, merged);
            true
        })
    }

    /// Relaxes the shape of input `index` to what it and `shape` have in common. Returns whether that changed it.
    pub fn relax_input(&mut self, index: usize, shape: ShapeHandle) -> bool {
        let Some(&input) = self.inputs.get(index) else { return false };
        let relaxed = self.relax(input, shape);
        self.set_input(index, relaxed);
        relaxed != input
    }

    /// Merges `prefix` with the first dimensions of `shape`; returns both as they then are.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if `shape` has fewer dimensions, or sizes differ.
    #[track_caller]
    pub fn merge_prefix(&self, shape: ShapeHandle, prefix: ShapeHandle) -> Result<(ShapeHandle, ShapeHandle)> {
        let (Some(dims), Some(prefix_dims)) = (self.dims(shape), self.dims(prefix)) else {
            return Ok((shape, prefix));
        };
        self.with_rank_at_least(shape, prefix_dims.len())?;
        let mut merged =
            dims.iter().zip(&prefix_dims).map(|(&a, &b)| self.merge_dim(a, b)).collect::<Result<Dims>>()?;
        let prefix = self.make_shape(merged.clone());
        merged.extend_from_slice(&dims[prefix_dims.len()..]);
        Ok((self.make_shape(merged), prefix))
    }

    /// The dimensions from `start` on, which counts from the end if negative.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if `start` is before the first dimension.
    #[track_caller]
    pub fn subshape(&self, shape: ShapeHandle, start: i64) -> Result<ShapeHandle> {
        self.subshape_stride(shape, start, i64::MAX, 1)
    }

    /// The dimensions from `start` to `end`, which count from the end if negative.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if one is before the first dimension, or `end` before `start`.
    #[track_caller]
    pub fn subshape_range(&self, shape: ShapeHandle, start: i64, end: i64) -> Result<ShapeHandle> {
        self.subshape_stride(shape, start, end, 1)
    }

    /// Every `stride`-th dimension from `start` to `end`, which count from the end if negative. What lies beyond the
    /// last dimension is cut off. A stride below zero goes backwards.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if `start` or `end` is before the first dimension, they are in the wrong order, or the stride
    /// is zero.
    #[track_caller]
    pub fn subshape_stride(&self, shape: ShapeHandle, start: i64, end: i64, stride: i64) -> Result<ShapeHandle> {
        let dims = self.dims(shape);
        if start == 0 && stride == 1 && dims.as_ref().map_or(end == i64::MAX, |dims| end >= dims.len() as i64) {
            return Ok(shape);
        }
        let Some(dims) = dims else { return Ok(self.unknown_shape()) };
        let picked = subshape_indices(dims.len(), start, end, stride)?;
        Ok(self.make_shape(picked.into_iter().map(|index| dims[index])))
    }

    /// The dimensions of `first`, then those of `second`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there are more than a shape may have.
    #[track_caller]
    pub fn concatenate(&self, first: ShapeHandle, second: ShapeHandle) -> Result<ShapeHandle> {
        let (Some(mut dims), Some(more)) = (self.dims(first), self.dims(second)) else {
            return Ok(self.unknown_shape());
        };
        dims.extend(more);
        if dims.len() > MAX_RANK {
            return Err(Error::invalid_argument(format!("Rank cannot exceed {MAX_RANK}")));
        }
        Ok(self.make_shape(dims))
    }

    /// `shape` with `dim` at `index`, which counts from the end if negative.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such dimension.
    #[track_caller]
    pub fn replace_dim(&self, shape: ShapeHandle, index: i64, dim: DimHandle) -> Result<ShapeHandle> {
        let Some(mut dims) = self.dims(shape) else { return Ok(self.unknown_shape()) };
        let rank = dims.len() as i64;
        if index < -rank || index >= rank {
            let message = format!("Out of range dim_index {index} for shape with {rank} dimensions");
            return Err(Error::invalid_argument(message));
        }
        dims[index.rem_euclid(rank) as usize] = dim;
        Ok(self.make_shape(dims))
    }
}

/// Which of `rank` dimensions a slice takes.
#[track_caller]
pub(crate) fn subshape_indices(rank: usize, start: i64, end: i64, stride: i64) -> Result<Vec<usize>> {
    if stride == 0 {
        return Err(Error::invalid_argument("Subshape stride must not be 0"));
    }
    let rank = rank as i64;
    let resolve = |index: i64, what: &str| {
        let resolved = if index < 0 { index.saturating_add(rank) } else { index.min(rank) };
        if resolved < 0 {
            let message = format!("Subshape {what} out of bounds: {index}, for shape with rank {rank}");
            return Err(Error::invalid_argument(message));
        }
        Ok(resolved)
    };
    let mut from = resolve(start, "start")?;
    if stride < 0 && from == rank {
        from -= 1;
    }
    let to = resolve(end, "end")?;
    if (stride > 0 && from > to) || (stride < 0 && from < to) {
        let order = if stride > 0 { "<=" } else { ">=" };
        return Err(Error::invalid_argument(format!(
            "Subshape must have computed start {order} end, but is {from} and {to} (computed from start {start} \
             and end {end} over shape with rank {rank})"
        )));
    }
    let mut picked = Vec::new();
    let mut index = from;
    while (stride > 0 && index < to) || (stride < 0 && index > to) {
        picked.push(index as usize);
        index = index.saturating_add(stride);
    }
    Ok(picked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape_inference::testing::context;

    #[track_caller]
    fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
        let error = result.unwrap_err();
        assert_eq!(error.code(), crate::Code::InvalidArgument);
        error.message().to_owned()
    }

    #[test]
    fn ranks() {
        context("?;[1,?,3]", |c| {
            let (unknown, known) = (c.input(0), c.input(1));
            let two = c.with_rank(unknown, 2).unwrap();
            assert_ne!(two, unknown);
            assert_eq!(c.debug_string(two), "[?,?]");
            assert_eq!(c.merged_shapes(), [(unknown, two)]);
            assert_eq!(c.with_rank(known, 3).unwrap(), known);
            assert_eq!(message(c.with_rank(known, 4)), "Shape must be rank 4 but is rank 3");
            assert_eq!(message(c.with_rank(unknown, 255)), "Rank cannot exceed 254");

            assert_eq!(c.with_rank_at_least(unknown, 9).unwrap(), unknown);
            assert_eq!(c.with_rank_at_least(known, 3).unwrap(), known);
            assert_eq!(message(c.with_rank_at_least(known, 4)), "Shape must be at least rank 4 but is rank 3");
            assert_eq!(c.with_rank_at_most(unknown, 0).unwrap(), unknown);
            assert_eq!(c.with_rank_at_most(known, 3).unwrap(), known);
            assert_eq!(message(c.with_rank_at_most(known, 2)), "Shape must be at most rank 2 but is rank 3");
        });
    }

    #[test]
    fn values() {
        context("[1,?]", |c| {
            let (one, unknown) = (c.dim(c.input(0), 0), c.dim(c.input(0), 1));
            assert_eq!(c.with_value(one, 1).unwrap(), one);
            assert_eq!(message(c.with_value(one, 0)), "Dimension must be 0 but is 1");
            let twelve = c.with_value(unknown, 12).unwrap();
            assert_eq!(c.value(twelve), Some(12));
            assert_eq!(c.merged_dims(), [(unknown, twelve)]);
        });
    }

    #[test]
    fn merged_dimensions_are_noted() {
        context("[2,?,2,1,?]", |c| {
            let dims: [_; 5] = c.dims(c.input(0)).unwrap().try_into().unwrap();
            let [two, unknown, other_two, one, other_unknown] = dims;
            for dim in dims {
                assert_eq!(c.merge_dim(dim, dim).unwrap(), dim);
            }
            assert_eq!(c.merge_dim(two, other_two).unwrap(), two);
            assert_eq!(c.merge_dim(other_two, two).unwrap(), other_two);
            assert!(c.merged_dims().is_empty());
            assert_eq!(c.merge_dim(two, unknown).unwrap(), two);
            assert_eq!(c.merge_dim(unknown, two).unwrap(), two);
            assert_eq!(c.merge_dim(unknown, other_unknown).unwrap(), unknown);
            assert_eq!(c.merged_dims(), [(two, unknown), (unknown, two), (unknown, other_unknown)]);
            assert_eq!(message(c.merge_dim(two, one)), "Dimensions must be equal, but are 2 and 1");
        });
    }

    #[test]
    fn merged_shapes() {
        context("?;?;[1,2];[?,2];[1,?];[1,3];[1];[]", |c| {
            let input = |index| c.input(index);
            assert_eq!(c.merge(input(0), input(1)).unwrap(), input(0));
            assert_eq!(c.merge(input(0), input(2)).unwrap(), input(2));
            assert_eq!(c.merge(input(2), input(0)).unwrap(), input(2));
            assert_eq!(c.merge(input(2), input(3)).unwrap(), input(2));
            assert_eq!(c.merge(input(3), input(2)).unwrap(), input(2));
            assert_eq!(c.merge(input(7), input(7)).unwrap(), input(7));
            let both = c.merge(input(3), input(4)).unwrap();
            assert_eq!(c.debug_string(both), "[1,2]");
            assert_eq!(c.dims(both).unwrap(), [c.dim(input(4), 0), c.dim(input(3), 1)]);
            assert_eq!(
                message(c.merge(input(2), input(5))),
                "Dimension 1 in both shapes must be equal, but are 2 and 3. Shapes are [1,2] and [1,3]."
            );
            assert_eq!(message(c.merge(input(2), input(6))), "Shapes must be equal rank, but are 2 and 1");
        });
    }

    #[test]
    fn merged_prefixes() {
        context("?;[?,2];[1,?,3];[2,4]", |c| {
            let input = |index| c.input(index);
            assert_eq!(c.merge_prefix(input(0), input(1)).unwrap(), (input(0), input(1)));
            assert_eq!(c.merge_prefix(input(2), input(0)).unwrap(), (input(2), input(0)));
            let (shape, prefix) = c.merge_prefix(input(2), input(1)).unwrap();
            assert_eq!(c.debug_string(shape), "[1,2,3]");
            assert_eq!(c.debug_string(prefix), "[1,2]");
            assert_eq!(c.dim(shape, 2), c.dim(input(2), 2));
            assert_eq!(message(c.merge_prefix(input(2), input(3))), "Dimensions must be equal, but are 1 and 2");
            assert_eq!(message(c.merge_prefix(input(1), input(2))), "Shape must be at least rank 3 but is rank 2");
        });
    }

    #[test]
    fn subshapes() {
        context("[10,11,12,13,14];?;[]", |c| {
            let (shape, unknown, scalar) = (c.input(0), c.input(1), c.input(2));
            let cut = |start, end, stride| {
                let part = c.subshape_stride(shape, start, end, stride).unwrap();
                c.dims(part).unwrap().iter().map(|&dim| c.value(dim).unwrap()).collect::<Vec<_>>()
            };
            assert_eq!(c.subshape(shape, 0).unwrap(), shape);
            assert_eq!(c.subshape_range(shape, 0, 5).unwrap(), shape);
            assert_eq!(c.subshape_range(shape, 0, 500).unwrap(), shape);
            assert!(!c.rank_known(c.subshape(unknown, 1).unwrap()));
            assert_ne!(c.subshape(unknown, 1).unwrap(), unknown);
            assert_eq!(cut(1, i64::MAX, 1), [11, 12, 13, 14]);
            assert_eq!(cut(1, -1, 1), [11, 12, 13]);
            assert_eq!(cut(-2, 9, 1), [13, 14]);
            assert_eq!(cut(5, 9, 1), [0i64; 0]);
            assert_eq!(cut(0, 5, 2), [10, 12, 14]);
            assert_eq!(cut(4, 0, -2), [14, 12]);
            assert_eq!(cut(9, 1, -1), [14, 13, 12]);
            assert_eq!(cut(0, 9, i64::MAX), [10]);
            assert_eq!(message(c.subshape(shape, -6)), "Subshape start out of bounds: -6, for shape with rank 5");
            assert_eq!(
                message(c.subshape_range(shape, 0, -6)),
                "Subshape end out of bounds: -6, for shape with rank 5"
            );
            assert_eq!(
                message(c.subshape_range(shape, 3, -3)),
                "Subshape must have computed start <= end, but is 3 and 2 (computed from start 3 and end -3 over \
                 shape with rank 5)"
            );
            assert!(message(c.subshape_stride(shape, 1, 3, -1)).contains("start >= end"));
            assert!(c.subshape_stride(shape, 0, 5, 0).is_err());
            assert!(c.subshape(scalar, i64::MIN).is_err());
            assert_eq!(c.rank(c.subshape(scalar, 3).unwrap()), Some(0));
            // Nothing to go back over, and nothing to panic about.
            let _ = c.subshape_stride(scalar, 0, 0, -1);
        });
    }

    #[test]
    fn concatenated_and_replaced() {
        context("[1,?,3];[4];?", |c| {
            let (long, short, unknown) = (c.input(0), c.input(1), c.input(2));
            let joined = c.concatenate(long, short).unwrap();
            assert_eq!(c.debug_string(joined), "[1,?,3,4]");
            assert_eq!(c.dim(joined, 1), c.dim(long, 1));
            assert!(!c.rank_known(c.concatenate(long, unknown).unwrap()));
            assert!(!c.rank_known(c.concatenate(unknown, long).unwrap()));
            let huge = c.unknown_shape_of_rank(254);
            assert_eq!(message(c.concatenate(huge, short)), "Rank cannot exceed 254");

            let dim = c.dim(short, 0);
            assert_eq!(c.debug_string(c.replace_dim(long, 1, dim).unwrap()), "[1,4,3]");
            assert_eq!(c.debug_string(c.replace_dim(long, -1, dim).unwrap()), "[1,?,4]");
            assert_eq!(c.debug_string(c.replace_dim(long, -3, dim).unwrap()), "[4,?,3]");
            assert!(c.replace_dim(long, -4, dim).is_err());
            assert!(!c.rank_known(c.replace_dim(unknown, 7, dim).unwrap()));
            let text = "Out of range dim_index 3 for shape with 3 dimensions";
            assert_eq!(message(c.replace_dim(long, 3, dim)), text);
            assert!(c.replace_dim(long, i64::MIN, dim).is_err());
        });
    }
}

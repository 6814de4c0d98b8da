//! Several tensors made into one.

use std::ops::Range;

use smallvec::SmallVec;

use super::integers::{axis, ensure_single, single};
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::{MAX_RANK, Shape};

/// Inputs that stand side by side in the rows of the output.
#[derive(Clone, Debug)]
pub struct Joined {
    /// The output's shape.
    pub shape: Shape,
    /// The inputs that have elements.
    pub filled: SmallVec<[usize; 8]>,
    /// The rows to each of which each of these brings the same number of elements.
    pub rows: usize,
}

/// The inputs `values` joined along the axis that input `axis` names.
///
/// # Errors
/// INVALID_ARGUMENT if there is no such axis, or the shapes differ in another.
pub fn concatenated(ctx: &RawContext<'_>, values: Range<usize>, axis: usize, name: &str) -> Result<Joined> {
    let axis_tensor = ctx.input_at(axis)?;
    ensure_single(axis_tensor, name)?;
    let given = single(axis_tensor, name)?;
    let first = ctx.input_at(values.start)?.shape();
    let rank = first.rank();
    ensure!(rank > 0, InvalidArgument, "ConcatOp : Can't concatenate scalars (use Pack instead)");
    ensure!(
        (-(rank as i64)..rank as i64).contains(&given),
        InvalidArgument,
        "ConcatOp : Expected concatenating dimensions in the range [-{rank}, {rank}), but got {given}"
    );
    let axis = given.rem_euclid(rank as i64) as usize;
    let mut shape = first.clone();
    shape.dims_mut()[axis] = 0;
    let mut filled = SmallVec::new();
    for index in values.clone() {
        let other = ctx.input_at(index)?.shape();
        ensure!(
            other.rank() == rank,
            InvalidArgument,
            "ConcatOp : Ranks of all input tensors should match: shape[0] = {first} vs. shape[{}] = {other}",
            index - values.start
        );
        for d in (0..rank).filter(|&d| d != axis) {
            ensure!(
                other[d] == first[d],
                InvalidArgument,
                "ConcatOp : Dimension {d} in both shapes must be equal: shape[0] = {first} vs. shape[{}] = {other}",
                index - values.start
            );
        }
        shape.dims_mut()[axis] = shape[axis].saturating_add(other[axis]);
        if other.num_elements() > 0 {
            filled.push(index);
        }
    }
    Ok(Joined { rows: first[..axis].iter().product(), shape, filled })
}

/// All inputs, which have one shape, along a new axis.
///
/// # Errors
/// INVALID_ARGUMENT if they have not, or the output has no such axis.
pub fn packed(ctx: &RawContext<'_>, given: i64) -> Result<Joined> {
    let count = ctx.num_inputs();
    let first = ctx.input_at(0)?.shape();
    ensure!(first.rank() < MAX_RANK, InvalidArgument, "tensors of rank {} cannot be packed", first.rank());
    let axis = axis(given, first.rank() + 1, "axis")?;
    for index in 1..count {
        let other = ctx.input_at(index)?.shape();
        ensure!(
            other == first,
            InvalidArgument,
            "Shapes of all inputs must match: values[0].shape = {first} != values[{index}].shape = {other}"
        );
    }
    let filled = if first.num_elements() > 0 { 0..count } else { 0..0 };
    let mut shape = first.clone();
    shape.insert(axis, count);
    Ok(Joined { rows: first[..axis].iter().product(), shape, filled: filled.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::dtype::DataType;
    use kernlink::op::{InOutType, OpDef, Signature};
    use kernlink::tensor::Tensor;

    /// What `join` makes of tensors of these shapes and an axis.
    fn joined(shapes: &[&[usize]], axis: i32, join: impl Fn(&RawContext<'_>) -> Result<Joined>) -> Result<Joined> {
        let values = shapes.iter().map(|&shape| Some(Tensor::zeros(DataType::Float, shape).unwrap()));
        let mut inputs: Vec<_> = values.chain([Some(Tensor::scalar(axis))]).collect();
        let input = InOutType { dtype: DataType::Float, is_ref: false };
        let signature = Signature { inputs: vec![input; inputs.len()], ..Signature::default() };
        join(&RawContext::new("node", &OpDef::EMPTY, &signature, &mut inputs, &mut [], None))
    }

    #[test]
    fn shapes_are_joined_along_the_axis() {
        let concat = |shapes: &[&[usize]], axis| {
            let count = shapes.len();
            joined(shapes, axis, |ctx| concatenated(ctx, 0..count, count, "axis"))
        };
        let some = concat(&[&[2, 3], &[2, 0], &[2, 4]], -1).unwrap();
        assert_eq!((some.shape, &some.filled[..], some.rows), (Shape::from([2, 7]), &[0, 2][..], 2));
        assert!(concat(&[&[2, 3], &[3, 3]], 1).unwrap_err().message().contains("Dimension 0"));
        assert!(concat(&[&[2, 3], &[2]], 0).unwrap_err().message().contains("Ranks"));
        assert!(concat(&[&[2, 3]], 2).unwrap_err().message().contains("in the range [-2, 2)"));
        assert!(concat(&[&[], &[]], 0).is_err());
    }

    #[test]
    fn equal_shapes_are_packed() {
        // The axis' tensor, a scalar, is packed, too.
        let all = joined(&[&[], &[]], 0, |ctx| packed(ctx, -1)).unwrap();
        assert_eq!((all.shape, all.filled.len(), all.rows), (Shape::from([3]), 3, 1));
        assert!(joined(&[&[2]], 0, |ctx| packed(ctx, 0)).is_err());
        assert!(joined(&[&[]], 0, |ctx| packed(ctx, 1)).is_err());
    }
}

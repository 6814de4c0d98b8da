//! Sparse tensors: indices, values, and a shape.

use kernlink::shape::check_rank;
use kernlink::shape_inference::common::{output_shape, unknown_shape};
use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink::tensor::scratch;
use kernlink::{Result, bail, ensure};

/// Checks that indices, values and shape can be those of one sparse tensor.
///
/// # Errors
/// INVALID_ARGUMENT for ranks or sizes that do not fit.
#[track_caller]
pub fn validate_sparse_tensor(
    c: &InferenceContext<'_>,
    indices: ShapeHandle,
    values: ShapeHandle,
    shape: ShapeHandle,
) -> Result<()> {
    c.with_rank(indices, 2)?;
    c.with_rank(values, 1)?;
    c.with_rank(shape, 1)?;
    let size = |shape: ShapeHandle, axis: i64| c.value(c.dim(shape, axis));
    if let (Some(a), Some(b)) = (size(indices, 0), size(values, 0))
        && a != b
    {
        bail!(InvalidArgument, "Number of elements in index ({a}) and values ({b}) do not match.");
    }
    match (size(indices, 1), size(shape, 0)) {
        (Some(a), Some(b)) if a != b => {
            bail!(InvalidArgument, "Index rank ({a}) and shape rank ({b}) do not match.")
        }
        _ => Ok(()),
    }
}

/// Output 0 of `SparseReduceSum` and its kin: the sparse tensor of indices 0, values 1 and shape 2 without the axes 3
/// or, with attr `keep_dims`, with 1 in their place. Axes are taken modulo the rank.
///
/// # Errors
/// INVALID_ARGUMENT if the sparse tensor has no dimensions.
pub fn sparse_reduce_shape_fn(c: &mut InferenceContext<'_>) -> Result<()> {
    let keep_dims: bool = c.attr("keep_dims")?;
    let (shape, axes) = (c.input_i64s(2)?, c.input_i64s(3)?);
    let (Some(shape), Some(axes)) = (shape, axes) else { return unknown_shape(c) };
    ensure!(!shape.is_empty(), InvalidArgument, "Number of dims in shape tensor must not be 0");
    let rank = shape.len() as i64;
    // As C++ divides: an axis that is too far below zero names no dimension.
    check_rank(shape.len())?;
    let reduced = scratch::collected(axes.iter().map(|axis| axis.saturating_add(rank) % rank))?;
    let dims = (0..rank).zip(&shape).filter_map(|(axis, &size)| match (reduced.contains(&axis), keep_dims) {
        (false, _) => Some(c.make_dim(size)),
        (true, true) => Some(c.make_dim(1)),
        (true, false) => None,
    });
    output_shape(c, c.make_shape(dims.collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::op::{AttrBase, AttrType};
    use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};
    use kernlink::tensor::Tensor;

    #[test]
    fn sparse_tensors() {
        let test = ShapeTest::anonymous(3, 0, |c| validate_sparse_tensor(c, c.input(0), c.input(1), c.input(2)));
        infer_ok(&test, "?;?;?", "");
        infer_ok(&test, "[5,2];[5];[2]", "");
        infer_error("index (5) and values (4)", &test, "[5,2];[4];[2]");
        infer_error("Index rank (2) and shape rank (3)", &test, "[5,2];[5];[3]");
        infer_error("Shape must be rank 2", &test, "[5];[5];[3]");
    }

    #[test]
    fn reductions() {
        let test = |keep_dims: bool| {
            ShapeTest::anonymous(4, 1, sparse_reduce_shape_fn)
                .declare_attr("keep_dims", AttrType { base: AttrBase::Bool, list: false })
                .attr("keep_dims", keep_dims)
        };
        infer_ok(&test(false), "[5,2];[5];[2];[1]", "?");
        let known = |keep_dims, axes: &[i32]| {
            let test = test(keep_dims).input_tensor(2, Tensor::vector(&[4i64, 6, 8]).unwrap());
            test.input_tensor(3, Tensor::vector(axes).unwrap())
        };
        infer_ok(&known(false, &[1]), "?;?;[3];[1]", "[4,8]");
        infer_ok(&known(true, &[-1, 0]), "?;?;[3];[2]", "[1,6,1]");
        let empty = test(true).input_tensor(2, Tensor::vector::<i64>(&[]).unwrap());
        infer_error("must not be 0", &empty.input_tensor(3, Tensor::vector(&[0i32]).unwrap()), "?;?;[0];[1]");
    }
}

//! Indices: the shapes of what they pick, of what they put somewhere, and of what stands for them.

use super::integers::{axis, checked_shape, ensure_scalar, scalar};
use kernlink::error::Result;
use kernlink::shape::{MAX_RANK, Shape};
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

/// What indices pick along an axis, batch by batch over the first dimensions.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// The output's shape.
    pub shape: Shape,
    /// The dimensions that are batches.
    pub batch_dims: usize,
    /// The elements of `params` between the batches and the axis.
    pub outer: usize,
    /// The size of the axis.
    pub size: usize,
    /// The elements behind the axis.
    pub inner: usize,
    /// The indices of a batch.
    pub picked: usize,
}

/// What `indices` pick from `params` along an axis, or along the first behind the batches.
///
/// # Errors
/// INVALID_ARGUMENT if there is no such axis, or the batches differ.
pub fn gathered(params: &Shape, indices: &Shape, given: Option<i64>, batch_dims: i64) -> Result<Gathered> {
    let (rank, indices_rank) = (params.rank() as i64, indices.rank() as i64);
    ensure!(rank > 0, InvalidArgument, "params must be at least 1 dimensional");
    ensure!(
        batch_dims == 0 || (-indices_rank..=indices_rank).contains(&batch_dims),
        InvalidArgument,
        "Expected batch_dims in the range [-{indices_rank}, {indices_rank}], but got {batch_dims}"
    );
    let batch_dims = if batch_dims < 0 { batch_dims + indices_rank } else { batch_dims };
    ensure!(batch_dims < rank, InvalidArgument, "batch_dims ({batch_dims}) must be less than rank(params) ({rank}).");
    let axis = axis(given.unwrap_or(batch_dims), params.rank(), "axis")?;
    let batch_dims = batch_dims as usize;
    ensure!(
        axis >= batch_dims,
        InvalidArgument,
        "batch_dims ({batch_dims}) must be less than or equal to axis ({axis})."
    );
    ensure!(
        params[..batch_dims] == indices[..batch_dims],
        InvalidArgument,
        "the first {batch_dims} dimensions of params {params} and of indices {indices} should be equal"
    );
    let product = |dims: &[usize]| dims.iter().product::<usize>();
    let dims = params[..axis].iter().chain(&indices[batch_dims..]).chain(&params[axis + 1..]);
    Ok(Gathered {
        shape: checked_shape(dims.map(|&dim| Some(dim)))?,
        batch_dims,
        outer: product(&params[batch_dims..axis]),
        size: params[axis],
        inner: product(&params[axis + 1..]),
        picked: product(&indices[batch_dims..]),
    })
}

/// The attr `batch_dims` of gathering from a variable.
///
/// # Errors
/// INVALID_ARGUMENT if it is negative.
pub fn positive_batch_dims(batch_dims: i64) -> Result<i64> {
    ensure!(batch_dims >= 0, InvalidArgument, "batch_dims is negative ({batch_dims})");
    Ok(batch_dims)
}

/// What the vectors in `indices` pick from `params`: the output's shape, and of how many entries a vector is.
///
/// # Errors
/// INVALID_ARGUMENT if they have more entries than `params` dimensions, or pick something where there is nothing.
pub fn gathered_nd(params: &Shape, indices: &Shape) -> Result<(Shape, usize)> {
    ensure!(params.rank() > 0, InvalidArgument, "params must be at least a vector");
    let Some((&depth, outer)) = indices.split_last() else {
        bail!(InvalidArgument, "indices must be at least a vector");
    };
    ensure!(
        depth <= params.rank(),
        InvalidArgument,
        "index innermost dimension length must be <= params rank; saw: {depth} vs. {}",
        params.rank()
    );
    let shape = checked_shape(outer.iter().chain(&params[depth..]).map(|&dim| Some(dim)))?;
    ensure!(
        outer.contains(&0) || params.num_elements() > 0,
        InvalidArgument,
        "Requested more than 0 entries, but params is empty.  Params shape: {params}"
    );
    Ok((shape, depth))
}

/// The attr `bad_indices_policy`: whether indices out of range are passed over, and not refused.
///
/// # Errors
/// INVALID_ARGUMENT if it names no policy.
pub fn ignores_bad_indices(policy: &str) -> Result<bool> {
    match policy {
        "" | "DEFAULT" | "ERROR" => Ok(false),
        "IGNORE" => Ok(true),
        other => bail!(InvalidArgument, "Unknown bad indices handling attribute: {other}"),
    }
}

/// Checks the shapes of updates at vectors of indices. Returns the dimensions of the output that these name, and the
/// elements at one of them.
///
/// # Errors
/// INVALID_ARGUMENT if they do not fit.
pub fn scattered_nd<'s>(indices: &Shape, updates: &Shape, output: &'s Shape) -> Result<(&'s [usize], usize)> {
    ensure!(output.rank() > 0, InvalidArgument, "Output must be at least 1-D, got shape: {output}");
    let Some((&depth, batch)) = indices.split_last() else {
        bail!(InvalidArgument, "Indices shape must have rank at least one. Found:{indices}");
    };
    ensure!(updates.rank() > 0, InvalidArgument, "Updates shape must have rank at least one. Found:{updates}");
    let (some_indices, some_updates) = (indices.num_elements() > 0, updates.num_elements() > 0);
    ensure!(
        some_indices == some_updates && (!some_updates || output.num_elements() > 0),
        InvalidArgument,
        "Indices and updates specified for empty output shape: indices {indices}, updates {updates}, output {output}"
    );
    ensure!(
        depth <= output.rank() && updates.rank() >= batch.len() && updates[..batch.len()] == *batch,
        InvalidArgument,
        "the first dimensions of updates {updates} must be those of indices {indices} but the last, which has no more \
         entries than the output {output} has dimensions"
    );
    let (indexed, row) = output.split_at(depth);
    ensure!(
        updates[batch.len()..] == *row,
        InvalidArgument,
        "Inner dimensions of output shape must match inner dimensions of updates shape. Output: {output} updates: \
         {updates}"
    );
    // TensorFlow takes a vector for as many indices of one entry each, whose updates do not fit unless there are none.
    ensure!(
        indices.rank() > 1 || (depth == 0 && updates[0] == 0),
        InvalidArgument,
        "Dimensions [0,1) of indices[shape={indices}] must match dimensions [0,1) of updates[shape={updates}]: a single \
         vector of indices is given as a matrix with one row"
    );
    Ok((indexed, row.iter().product()))
}

/// Checks the shapes of updates of rows of a variable. Returns how many rows there are, and their elements.
///
/// # Errors
/// INVALID_ARGUMENT if they do not fit.
pub fn scattered_rows(variable: &Shape, indices: &Shape, updates: &Shape, is_resource: bool) -> Result<(usize, usize)> {
    let Some((&count, row)) = variable.split_first() else {
        bail!(InvalidArgument, "params must be at least 1-D, got shape {variable}");
    };
    let fits = updates.iter().eq(indices.iter().chain(row));
    // TensorFlow looks no closer at updates of a resource that there are none of.
    let is_nothing =
        is_resource && indices.num_elements() == 0 && updates.rank() + 1 == indices.rank() + variable.rank();
    ensure!(
        updates.rank() == 0 || fits || is_nothing,
        InvalidArgument,
        "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape \
         {updates}, indices.shape {indices}, params.shape {variable}"
    );
    Ok((count, row.iter().product()))
}

/// Indices that become vectors with one element set.
#[derive(Clone, Debug)]
pub struct OneHot {
    /// The output's shape.
    pub shape: Shape,
    /// The length of a vector.
    pub depth: usize,
    /// The distance between neighbours in a vector.
    pub suffix: usize,
}

/// Vectors along a new axis in the place of indices.
///
/// # Errors
/// INVALID_ARGUMENT if there can be no such axis, the depth is negative, or it or a value is no scalar.
pub fn one_hot(indices: &Shape, given: i64, depth: &Tensor, values: [&Tensor; 2]) -> Result<OneHot> {
    let rank = indices.rank();
    ensure!(rank < MAX_RANK, InvalidArgument, "indices cannot have rank {rank}");
    ensure!(
        (-1..=rank as i64).contains(&given),
        InvalidArgument,
        "Expected axis to be -1 or between [0, {}).  But received: {given}",
        rank + 1
    );
    let depth = scalar(depth, "depth")?;
    ensure!(depth >= 0, InvalidArgument, "depth must be non-negative, got: {depth}");
    let depth = depth as usize;
    ensure_scalar(values[0], "on_value")?;
    ensure_scalar(values[1], "off_value")?;
    let axis = if given == -1 { rank } else { given as usize };
    let mut shape = indices.clone();
    shape.insert(axis, depth);
    Ok(OneHot { shape, depth, suffix: indices[axis..].iter().product() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_and_axes_make_the_shape() {
        let (params, indices) = (Shape::from([2, 3, 4, 5]), Shape::from([2, 7]));
        let all = gathered(&params, &indices, Some(2), 1).unwrap();
        assert_eq!(all.shape, Shape::from([2, 3, 7, 5]));
        assert_eq!((all.outer, all.size, all.inner, all.picked), (3, 4, 5, 7));
        assert_eq!(gathered(&params, &indices, None, 0).unwrap().shape, Shape::from([2, 7, 3, 4, 5]));
        assert!(gathered(&params, &Shape::from([3, 7]), Some(2), 1).is_err());
        assert!(gathered(&params, &indices, Some(0), 1).is_err());
        assert!(gathered(&params, &indices, Some(4), 0).is_err());
        assert!(gathered(&Shape::scalar(), &indices, None, 0).is_err());
    }

    #[test]
    fn vectors_pick_rows() {
        let (shape, depth) = gathered_nd(&Shape::from([4, 5, 6]), &Shape::from([7, 2])).unwrap();
        assert_eq!((shape, depth), (Shape::from([7, 6]), 2));
        assert!(gathered_nd(&Shape::from([4]), &Shape::from([7, 2])).is_err());
        assert!(gathered_nd(&Shape::from([0]), &Shape::from([7, 1])).is_err());
        assert!(gathered_nd(&Shape::from([0]), &Shape::from([0, 1])).is_ok());
    }

    #[test]
    fn updates_have_the_shape_of_what_they_change() {
        let output = Shape::from([4, 5, 6]);
        let (indexed, row) = scattered_nd(&Shape::from([7, 2]), &Shape::from([7, 6]), &output).unwrap();
        assert_eq!((indexed, row), (&[4, 5][..], 6));
        assert!(scattered_nd(&Shape::from([7, 2]), &Shape::from([7, 5]), &output).is_err());
        assert!(scattered_nd(&Shape::from([7, 4]), &Shape::from([7]), &output).is_err());
        assert!(scattered_nd(&Shape::from([7, 2]), &Shape::from([0, 6]), &output).is_err());
        assert!(scattered_nd(&Shape::from([2]), &Shape::from([6]), &output).is_err());
        let empty = Shape::from([0, 3]);
        assert_eq!(scattered_nd(&Shape::from([0]), &empty, &empty).unwrap(), (&[][..], 0));
        let rows = |updates: &[usize]| scattered_rows(&output, &Shape::from([3]), &Shape::from(updates), true);
        assert_eq!(rows(&[3, 5, 6]).unwrap(), (4, 30));
        assert_eq!(rows(&[]).unwrap(), (4, 30));
        assert!(rows(&[3, 5]).is_err());
    }
}

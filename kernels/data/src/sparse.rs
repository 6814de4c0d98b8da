//! Elements that are sparse tensors: indices, values, and a dense shape.

use std::collections::HashMap;

use kernlink::dtype::DataType;
use kernlink::kernel::KernelContext;
use kernlink::shape::PartialShape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::dataset::{Element, Spec, set_dataset};
use crate::sources::{Placed, Places};

/// The rows of a sparse tensor.
struct SparseRows {
    indices: Tensor,
    values: Tensor,
    dense_shape: Vec<i64>,
    /// Where each row begins that has values, and where it ends.
    rows: HashMap<i64, (usize, usize)>,
}

impl Places for SparseRows {
    fn count(&self) -> i64 {
        self.dense_shape.first().copied().unwrap_or(0)
    }

    fn element(&self, place: i64) -> Result<Element> {
        let (start, end) = self.rows.get(&place).copied().unwrap_or((0, 0));
        let rank = self.dense_shape.len();
        let all = self.indices.as_slice::<i64>()?;
        let mut indices = scratch::room((end - start) * rank.saturating_sub(1))?;
        for row in all[start * rank..end * rank].chunks_exact(rank) {
            indices.extend_from_slice(&row[1..]);
        }
        Ok(vec![
            Tensor::from_elements([end - start, rank.saturating_sub(1)], &indices)?,
            self.values.slice_rows(start, end)?,
            Tensor::vector(self.dense_shape.get(1..).unwrap_or_default())?,
        ])
    }
}

#[register_kernel(device = Cpu)]
fn sparse_tensor_slice(ctx: &mut KernelContext<'_, ops::SparseTensorSliceDataset>) -> Result<()> {
    let indices = ctx.input(ops::SparseTensorSliceDataset::INDICES)?.clone();
    let values = ctx.input(ops::SparseTensorSliceDataset::VALUES)?.clone();
    let shape = ctx.input(ops::SparseTensorSliceDataset::DENSE_SHAPE)?.clone();
    ensure!(indices.rank() == 2, InvalidArgument, "Input indices must be a matrix. Got: {}", indices.shape());
    ensure!(values.rank() == 1, InvalidArgument, "Input values must be a vector. Got: {}", values.shape());
    ensure!(shape.rank() == 1, InvalidArgument, "Input shape must be a vector. Got: {}", shape.shape());
    let (count, rank) = (indices.shape()[0], indices.shape()[1]);
    ensure!(
        values.shape()[0] == count,
        InvalidArgument,
        "Number of values must match first dimension of indices. Got {} values, indices shape: {}",
        values.shape()[0],
        indices.shape()
    );
    ensure!(
        shape.shape()[0] == rank,
        InvalidArgument,
        "Number of dimensions must match second dimension of indices. Got {} dimensions, indices shape: {}",
        shape.shape()[0],
        indices.shape()
    );
    ensure!(rank > 0, InvalidArgument, "The shape argument requires at least one element.");
    let dense_shape = scratch::copied(shape.as_slice::<i64>()?)?;
    ensure!(dense_shape.iter().all(|dim| *dim >= 0), InvalidArgument, "dimensions must not be negative");
    let mut rows = HashMap::new();
    let mut last = -1;
    for (place, row) in indices.as_slice::<i64>()?.chunks_exact(rank).enumerate() {
        ensure!(
            row[0] >= last,
            Unimplemented,
            "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered input is not currently \
             supported."
        );
        last = row[0];
        rows.entry(row[0]).or_insert((place, place)).1 = place + 1;
    }
    let dims = PartialShape::from_known([None, Some(rank - 1)]);
    let dtypes = vec![DataType::Int64, values.dtype(), DataType::Int64];
    let spec = Spec::new(dtypes, vec![dims, PartialShape::of_rank(1), PartialShape::from_known([Some(rank - 1)])]);
    set_dataset(ctx, Placed::new(&spec, SparseRows { indices, values, dense_shape, rows }))
}

//! Elements that are sparse tensors: indices, values, and a dense shape.

use kernlink::dtype::{DataType, Element as TensorElement, TString};
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::shape::PartialShape;
use kernlink::tensor::{ResourceHandle, Tensor, Variant, scratch};
use kernlink::{Error, Result, bail, dispatch_pod, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::batch::gathered;
use crate::context::Cx;
use crate::dataset::{Element, INFINITE, Spec, UNKNOWN, input_dataset, scalar, set_dataset};
use crate::sources::{Placed, Places};
use crate::transform::{Input, Transform, set_transformed};

/// The rows of a sparse tensor.
struct SparseRows {
    indices: Tensor,
    values: Tensor,
    dense_shape: Vec<i64>,
    /// Where each row begins that has values, and where it ends.
    rows: std::collections::HashMap<i64, (usize, usize)>,
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
    let mut rows = std::collections::HashMap::new();
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
    let spec = Spec {
        dtypes: vec![DataType::Int64, values.dtype(), DataType::Int64],
        shapes: vec![dims, PartialShape::of_rank(1), PartialShape::from_known([Some(rank - 1)])],
    };
    set_dataset(ctx, Placed::new(&spec, SparseRows { indices, values, dense_shape, rows }))
}

/// Stacks elements as a sparse tensor.
struct DenseToSparseBatch {
    size: i64,
    /// The shape of a row; `None` stands for the largest of the batch.
    row_shape: Vec<Option<i64>>,
}

/// The values of tensors, one after the other.
fn values_of(components: &[&Tensor], dtype: DataType) -> Result<Tensor> {
    fn all<T: TensorElement>(components: &[&Tensor]) -> Result<Tensor> {
        let mut values = Vec::new();
        for component in components {
            scratch::append(&mut values, component.as_slice::<T>()?)?;
        }
        Tensor::vector(&values)
    }
    match dtype {
        DataType::String => all::<TString>(components),
        DataType::Resource => all::<ResourceHandle>(components),
        DataType::Variant => all::<Variant>(components),
        DataType::Bool => all::<bool>(components),
        _ => {
            let pod = dispatch_pod!(dtype, T => all::<T>(components));
            pod.ok_or_else(|| Error::internal("what is no object is plain bytes"))?
        }
    }
}

impl DenseToSparseBatch {
    fn batch(&self, elements: &[Element], dtype: DataType) -> Result<Element> {
        let rank = self.row_shape.len();
        let mut dense_shape: Vec<i64> = vec![elements.len() as i64];
        dense_shape.extend(self.row_shape.iter().map(|dim| dim.unwrap_or(0)));
        let mut components = Vec::new();
        let mut count = 0;
        for element in elements {
            let [component] = element.as_slice() else {
                bail!(InvalidArgument, "DenseToSparseBatchDataset only supports inputs with a single component.");
            };
            ensure!(
                component.rank() == rank,
                InvalidArgument,
                "Input element had shape ({}) that is incompatible with the row shape, of rank {rank}",
                component.shape()
            );
            for (axis, &dim) in component.shape().dims().iter().enumerate() {
                let dim = dim as i64;
                match self.row_shape[axis] {
                    None => dense_shape[axis + 1] = dense_shape[axis + 1].max(dim),
                    Some(most) => ensure!(
                        dim <= most,
                        DataLoss,
                        "Input element had shape ({}) that is larger than the row shape",
                        component.shape()
                    ),
                }
            }
            count += component.num_elements();
            components.push(component);
        }
        let mut indices = scratch::room(count * (rank + 1))?;
        for (row, component) in components.iter().enumerate() {
            let dims = component.shape().dims();
            let mut place = vec![0i64; rank];
            for _ in 0..component.num_elements() {
                indices.push(row as i64);
                indices.extend_from_slice(&place);
                for axis in (0..rank).rev() {
                    place[axis] += 1;
                    if place[axis] < dims[axis] as i64 {
                        break;
                    }
                    place[axis] = 0;
                }
            }
        }
        Ok(vec![
            Tensor::from_elements([count, rank + 1], &indices)?,
            values_of(&components, dtype)?,
            Tensor::vector(&dense_shape)?,
        ])
    }
}

impl Transform for DenseToSparseBatch {
    type State = ();

    fn begin(&self, _: &Cx) -> Result<()> {
        Ok(())
    }

    async fn next<'a>(&'a self, _: &'a mut (), input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        let elements = gathered(input, self.size, cx).await?;
        match elements.first().and_then(|element| element.first()) {
            Some(first) => self.batch(&elements, first.dtype()).map(Some),
            None => Ok(None),
        }
    }

    fn cardinality(&self, input: i64) -> i64 {
        match input {
            INFINITE | UNKNOWN => input,
            known => known / self.size + i64::from(known % self.size != 0),
        }
    }
}

#[register_kernel(device = Cpu, cheap, op = [
    ops::DenseToSparseBatchDataset, ops::ExperimentalDenseToSparseBatchDataset,
])]
fn dense_to_sparse_batch(ctx: &mut RawContext<'_>) -> Result<()> {
    let input = input_dataset(ctx, 0)?;
    let dtype = match input.head().spec.dtypes.as_slice() {
        [dtype] => *dtype,
        _ => bail!(InvalidArgument, "DenseToSparseDataset only supports inputs with a single component."),
    };
    let size = scalar(ctx, "batch_size")?;
    ensure!(size > 0, InvalidArgument, "Batch size must be greater than zero.");
    let row_shape = ctx.input_named("row_shape")?;
    ensure!(row_shape.rank() == 1, InvalidArgument, "row_shape must be a vector");
    let dim = |&dim: &i64| {
        ensure!(dim >= -1, InvalidArgument, "Dimension {dim} of row_shape must be >= -1");
        Ok((dim >= 0).then_some(dim))
    };
    let row_shape = row_shape.as_slice::<i64>()?.iter().map(dim).collect::<Result<Vec<_>>>()?;
    let shapes = vec![
        PartialShape::from_known([None, Some(row_shape.len() + 1)]),
        PartialShape::of_rank(1),
        PartialShape::from_known([Some(row_shape.len() + 1)]),
    ];
    let spec = Spec { dtypes: vec![DataType::Int64, dtype, DataType::Int64], shapes };
    set_transformed(ctx, &spec, DenseToSparseBatch { size, row_shape })
}

//! RaggedCross.

use std::ops::Range;

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::crossing::{Crosses, Features, features, rows};
use super::elements::i64s;
use super::ragged::{ensure_exact_splits, splits_output};

type Op = ops::RaggedCross;

struct RaggedCrossKernel {
    order: Vec<u8>,
    buckets: i64,
    key: u64,
}

#[register_kernel(device = Cpu, out_row_splits_type = [int32, int64])]
impl OpKernel<Op> for RaggedCrossKernel {
    fn new(ctx: &KernelConstruction<'_, Op>) -> Result<Self> {
        let attrs = ctx.attrs();
        ensure!(
            attrs.ragged_values_types.len() == attrs.ragged_splits_types.len(),
            InvalidArgument,
            "ragged values and splits must have the same length"
        );
        ensure!(
            attrs.Nsparse == attrs.sparse_values_types.len() as i64,
            InvalidArgument,
            "sparse indices and values must have the same length"
        );
        let columns = attrs.ragged_values_types.len() + attrs.sparse_values_types.len() + attrs.dense_types.len();
        let order = attrs.input_order.clone().into_bytes();
        ensure!(columns == order.len(), InvalidArgument, "Invalid length for input_order");
        Ok(RaggedCrossKernel { order, buckets: attrs.num_buckets, key: attrs.hash_key as u64 })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, Op>) -> Result<()> {
        let (tensors, columns, count) = self.columns(ctx)?;
        let mut crosses = Crosses::default();
        // A dense column without elements may have any number of rows, none of which has a cross.
        if !columns.is_empty() && !columns.iter().any(|column| matches!(column, Column::Width(0))) {
            for row in 0..count {
                crosses.push(row, columns.iter().map(|column| column.row(row)))?;
            }
        }
        let mut values = ctx.allocate_output(Op::OUTPUT_VALUES, [crosses.total])?;
        let features = features(tensors.into_iter())?;
        if values.dtype() == DataType::String {
            crosses.join(ctx, &mut values, &features, b"_X_")?;
        } else {
            let hashes = features.iter().map(Features::fingerprints).collect::<Result<Vec<_>>>()?;
            crosses.hash(ctx, &mut values, &hashes, Some(self.key), self.buckets)?;
        }
        let splits = splits_output(ctx, 1, count + 1, crosses.splits(count))?;
        ctx.set_output(Op::OUTPUT_ROW_SPLITS, splits)?;
        ctx.set_output(Op::OUTPUT_VALUES, values)
    }
}

/// Where the rows of a column are among its features.
enum Column<'a> {
    Splits(std::borrow::Cow<'a, [i64]>),
    Width(usize),
}

impl Column<'_> {
    fn row(&self, row: usize) -> Range<usize> {
        match self {
            Column::Splits(splits) => splits[row] as usize..splits[row + 1] as usize,
            Column::Width(width) => row * width..(row + 1) * width,
        }
    }
}

impl RaggedCrossKernel {
    /// The columns in order, and the number of rows.
    fn columns<'a>(&self, ctx: &'a KernelContext<'_, Op>) -> Result<(Vec<&'a Tensor>, Vec<Column<'a>>, usize)> {
        let (values, splits) = (ctx.input_list(Op::RAGGED_VALUES), ctx.input_list(Op::RAGGED_ROW_SPLITS));
        let (indices, sparse) = (ctx.input_list(Op::SPARSE_INDICES), ctx.input_list(Op::SPARSE_VALUES));
        let (shapes, dense) = (ctx.input_list(Op::SPARSE_SHAPE), ctx.input_list(Op::DENSE_INPUTS));
        let is_matrix = |is: bool| -> Result<()> {
            ensure!(is, InvalidArgument, "tf.ragged.cross only supports inputs with rank=2.");
            Ok(())
        };
        for (values, splits) in values.iter().zip(splits.iter()) {
            is_matrix(values.rank() == 1 && splits.rank() == 1)?;
            ensure_exact_splits(splits, values.num_elements())?;
        }
        for (n, ((indices, values), shape)) in indices.iter().zip(sparse.iter()).zip(shapes.iter()).enumerate() {
            let fits = indices.rank() == 2
                && values.rank() == 1
                && shape.rank() == 1
                && indices.shape()[0] == values.num_elements()
                && indices.shape()[1] >= 1;
            ensure!(fits, InvalidArgument, "Invalid SparseTensor {n}");
            is_matrix(shape.num_elements() == 2)?;
        }
        dense.iter().try_for_each(|dense| is_matrix(dense.rank() == 2))?;

        let ragged_rows = splits.iter().map(|splits| Ok(splits.num_elements() as i64 - 1));
        let dense_rows = dense.iter().map(|dense| Ok(dense.shape()[0] as i64));
        let sparse_rows = shapes.iter().map(|shape| Ok(shape.as_slice::<i64>()?[0]));
        let mut counts = ragged_rows.chain(dense_rows).chain(sparse_rows);
        let count: i64 = counts.next().unwrap_or(Ok(0))?;
        for other in counts {
            ensure!(other? == count, InvalidArgument, "inputs must all have the same batch dimension size.");
        }
        let count = rows(count)?;

        let (mut ragged_parts, mut dense_parts) = (values.iter().zip(splits.iter()), dense.iter());
        let mut sparse_parts = indices.iter().zip(sparse.iter());
        let (mut tensors, mut columns) = (Vec::new(), Vec::new());
        for &kind in &self.order {
            let (tensor, column) = match kind {
                b'R' => ragged_parts.next().map(|(values, splits)| Ok((values, Column::Splits(i64s(splits)?)))),
                b'S' => sparse_parts.next().map(|(indices, values)| Ok((values, sparse_splits(indices, count)?))),
                b'D' => dense_parts.next().map(|dense| Ok((dense, Column::Width(dense.shape()[1])))),
                _ => bail!(InvalidArgument, "Unexpected input_order value."),
            }
            .unwrap_or_else(|| {
                bail!(InvalidArgument, "input_order has more {:?} than there are inputs", char::from(kind))
            })?;
            tensors.push(tensor);
            columns.push(column);
        }
        Ok((tensors, columns, count))
    }
}

/// Where the rows of a sparse column begin. Elements that are out of order count for the row before.
fn sparse_splits(indices: &Tensor, count: usize) -> Result<Column<'static>> {
    let (width, indices) = (indices.shape()[1], indices.as_slice::<i64>()?);
    let elements = indices.len() / width;
    let mut next = 0;
    let ends = (0..count as i64).map(|row| {
        while next < elements && indices[next * width] <= row {
            next += 1;
        }
        next as i64
    });
    Ok(Column::Splits(scratch::collected(std::iter::once(0).chain(ends))?.into()))
}

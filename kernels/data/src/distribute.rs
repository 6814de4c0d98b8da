//! Datasets that say how work is dealt out: sparse batches, batches cut for replicas, pools of threads.

use kernlink::dtype::DataType;
use kernlink::kernel::{KernelState, NamedResource, RawConstruction, RawContext};
use kernlink::resource::Resource;
use kernlink::shape::{PartialShape, Shape};
use kernlink::tensor::{Tensor, Variant, scratch};
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::tensors::{TensorValue, copy_elements};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Element, INFINITE, Spec, UNKNOWN, input_dataset, scalar};
use crate::order::set_same;
use crate::saved::Saved;
use crate::transform::{Input, Transform, set_transformed};

/// Tensors of one rank as the rows of a sparse tensor.
struct SparseBatch {
    size: i64,
    /// −1 stands for the largest of a batch.
    row_shape: Vec<i64>,
    dtype: DataType,
}

impl SparseBatch {
    fn row_shape(&self) -> PartialShape {
        PartialShape::from_known(self.row_shape.iter().map(|&size| usize::try_from(size).ok()))
    }

    /// Makes room for a row.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it has another rank, DATA_LOSS if it is too large.
    fn ensure_fits(&self, row: &Tensor, dense: &mut [i64]) -> Result<()> {
        let shape = row.shape();
        ensure!(
            shape.rank() == self.row_shape.len(),
            InvalidArgument,
            "Input element had shape ({shape}) that is incompatible with the row shape ({}).",
            self.row_shape()
        );
        for ((&size, &most), dense) in shape.dims().iter().zip(&self.row_shape).zip(dense) {
            let size = size as i64;
            ensure!(
                most == -1 || size <= most,
                DataLoss,
                "Input element had shape ({shape}) that is larger than the row shape ({}).",
                self.row_shape()
            );
            *dense = size.max(*dense);
        }
        Ok(())
    }

    /// The sparse tensor whose rows are the tensors, all of whose elements are there.
    fn joined(&self, rows: &[Tensor], dense: &[i64]) -> Result<Element> {
        let rank = self.row_shape.len();
        let count = rows.iter().map(Tensor::num_elements).sum();
        let mut indices = Tensor::zeros(DataType::Int64, [count, rank + 1])?;
        let mut values = Tensor::zeros(self.dtype, [count])?;
        let (places, mut at) = (indices.as_mut_slice::<i64>()?, 0);
        for (number, row) in rows.iter().enumerate() {
            copy_elements(&mut values, at, row)?;
            let shape = row.shape();
            for flat in 0..shape.num_elements() {
                let place = &mut places[at * (rank + 1)..(at + 1) * (rank + 1)];
                place[0] = number as i64;
                let mut rest = flat;
                for (place, &size) in place[1..].iter_mut().zip(shape.dims()).rev() {
                    *place = (rest % size) as i64;
                    rest /= size;
                }
                at += 1;
            }
        }
        let mut shape = scratch::room(rank + 1)?;
        shape.push(rows.len() as i64);
        shape.extend_from_slice(dense);
        let parts = [indices, values, Tensor::vector(&shape)?].map(|part| Variant::new(TensorValue(part)));
        Ok(vec![Tensor::vector(&parts)?])
    }
}

impl Transform for SparseBatch {
    type State = ();

    fn begin(&self, _: &Cx) -> Result<()> {
        Ok(())
    }

    async fn next<'a>(&'a self, _: &'a mut (), input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        let mut rows = Vec::new();
        let mut dense: Vec<i64> = scratch::collected(self.row_shape.iter().map(|&size| size.max(0)))?;
        while (rows.len() as u64) < self.size as u64 {
            cx.go_on().await?;
            let Some(mut element) = input.next(cx).await? else { break };
            let (Some(row), true) = (element.pop(), element.is_empty()) else {
                bail!(InvalidArgument, "DenseToSparseBatchDataset only supports inputs with a single component.");
            };
            ensure!(row.dtype() == self.dtype, InvalidArgument, "an element is {}, not {}", row.dtype(), self.dtype);
            self.ensure_fits(&row, &mut dense)?;
            scratch::push(&mut rows, row)?;
        }
        if rows.is_empty() { Ok(None) } else { self.joined(&rows, &dense).map(Some) }
    }

    fn cardinality(&self, input: i64) -> i64 {
        match input {
            INFINITE | UNKNOWN => input,
            known => known / self.size + i64::from(known % self.size != 0),
        }
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::DenseToSparseBatchDataset, ops::ExperimentalDenseToSparseBatchDataset])]
fn dense_to_sparse_batch(ctx: &mut RawContext<'_>) -> Result<()> {
    let input = input_dataset(ctx, 0)?;
    let &[dtype] = input.head().spec.dtypes.as_slice() else {
        bail!(InvalidArgument, "DenseToSparseBatchDataset only supports inputs with a single component.");
    };
    let size: i64 = scalar(ctx, "batch_size")?;
    ensure!(size > 0, InvalidArgument, "Batch size must be greater than zero.");
    let row_shape = ctx.input_named("row_shape")?;
    ensure!(row_shape.rank() == 1, InvalidArgument, "row_shape must be a vector");
    let row_shape = scratch::copied(row_shape.as_slice::<i64>()?)?;
    // Refuses sizes below −1, and more elements than a shape may have.
    let known: Vec<i64> = scratch::collected(row_shape.iter().map(|&size| if size == -1 { 1 } else { size }))?;
    Shape::from_dims(&known)?;
    let rows = std::iter::once(None).chain(row_shape.iter().map(|&size| usize::try_from(size).ok()));
    let spec = Spec::new(vec![DataType::Variant], vec![PartialShape::from_known(rows)]);
    set_transformed(ctx, &spec, SparseBatch { size, row_shape, dtype })
}

/// Batches cut to others, as many of each.
struct Replicas(i64);

/// A batch, of which some parts were given out.
#[derive(Default)]
struct Cut {
    batch: Element,
    given: i64,
}

impl Transform for Replicas {
    type State = Cut;

    fn begin(&self, _: &Cx) -> Result<Cut> {
        Ok(Cut::default())
    }

    async fn next<'a>(&'a self, cut: &'a mut Cut, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        if cut.given == 0 {
            let Some(batch) = input.next(cx).await? else { return Ok(None) };
            if let Some(index) = batch.iter().position(|component| component.rank() == 0) {
                bail!(
                    InvalidArgument,
                    "Cannot rebatch dataset: All components must have at least one dimension. Perhaps your input dataset is \
                     not batched? Component {index} is scalar."
                );
            }
            cut.batch = batch;
        }
        let part = |component: &Tensor| {
            // Components may have batches of different sizes.
            let rows = component.shape()[0];
            let size = (rows as u64).div_ceil(self.0 as u64);
            let start = size.saturating_mul(cut.given as u64).min(rows as u64) as usize;
            component.slice_rows(start, rows.min(start + size as usize))
        };
        let element = cut.batch.iter().map(part).collect::<Result<Element>>()?;
        cut.given = (cut.given + 1) % self.0;
        if cut.given == 0 {
            cut.batch = Vec::new();
        }
        Ok(Some(element))
    }

    fn cardinality(&self, _: i64) -> i64 {
        UNKNOWN
    }

    async fn save<'a>(&'a self, cut: &'a mut Cut, saved: &'a mut Saved) -> Result<()> {
        saved.set("given", cut.given);
        saved.set_elements("batch", vec![cut.batch.clone()]);
        Ok(())
    }

    async fn restore<'a>(&'a self, cut: &'a mut Cut, _: &'a mut Input, saved: &'a Saved, _: &'a Cx) -> Result<()> {
        *cut = Cut { given: saved.get("given")?, batch: saved.element("batch")? };
        Ok(())
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::RebatchDataset, ops::ExperimentalRebatchDataset])]
fn rebatch(spec: &Spec, ctx: &mut RawContext<'_>) -> Result<()> {
    let replicas: i64 = scalar(ctx, "num_replicas")?;
    ensure!(replicas > 0, InvalidArgument, "num_replicas must be greater than zero.");
    set_transformed(ctx, spec, Replicas(replicas))
}

/// What stands for a pool of threads: datasets work on those of the session.
struct Pool;

impl Resource for Pool {
    fn type_name() -> &'static str {
        "tensorflow::data::experimental::ThreadPoolResource"
    }
}

struct PoolHandle(NamedResource<Pool>);

impl KernelState for PoolHandle {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let threads: i64 = ctx.attrs.required("num_threads")?;
        ensure!(threads >= 0, InvalidArgument, "`num_threads` must be >= 0");
        Ok(Self(NamedResource::new(ctx)?))
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::ThreadPoolHandle, ops::ExperimentalThreadPoolHandle])]
fn thread_pool_handle(state: &PoolHandle, ctx: &mut RawContext<'_>) -> Result<()> {
    state.0.get(|| Ok(Pool))?;
    state.0.set_handle(ctx)
}

#[register_kernel(device = Cpu, cheap, op = [ops::ThreadPoolDataset, ops::ExperimentalThreadPoolDataset])]
fn thread_pool(spec: &Spec, ctx: &mut RawContext<'_>) -> Result<()> {
    let input = input_dataset(ctx, 0)?;
    ctx.resource_at::<Pool>(1)?;
    set_same(ctx, spec, input)
}

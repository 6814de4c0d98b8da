//! AddSparseToTensorsMap, AddManySparseToTensorsMap, TakeManySparseFromTensorsMap.

use std::sync::{Mutex, PoisonError};

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelState, NamedResource, RawConstruction, RawContext};
use kernlink::resource::Resource;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink::{bail, ensure};
use kernlink_kernels_common::hash::Map;
use kernlink_kernels_common::tensors::copy_elements;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::coo::Coo;

/// A sparse tensor that waits.
#[derive(Clone)]
struct Waiting {
    indices: Tensor,
    values: Tensor,
    shape: Shape,
}

/// The sparse tensors that wait, by number.
#[derive(Default)]
struct SparseTensorsMap(Mutex<(i64, Map<i64, Waiting>)>);

impl SparseTensorsMap {
    /// Adds some; calls `number` with the place of each and the number that it gets.
    fn add(
        &self,
        tensors: impl ExactSizeIterator<Item = (usize, Waiting)>,
        mut number: impl FnMut(usize, i64),
    ) -> Result<()> {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (next, waiting) = &mut *guard;
        waiting.make_room(tensors.len())?;
        for (place, tensor) in tensors {
            waiting.insert(*next, tensor);
            number(place, *next);
            *next += 1;
        }
        Ok(())
    }

    /// Takes out those with these numbers.
    fn take(&self, numbers: &[i64], name: &str) -> Result<Vec<Waiting>> {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let take = |number| match guard.1.remove(number) {
            Some(waiting) => Ok(waiting),
            None => bail!(InvalidArgument, "Unable to find SparseTensor: {number} in map: {name}"),
        };
        scratch::collected_ok(numbers.iter().map(take))
    }
}

impl Resource for SparseTensorsMap {
    fn type_name() -> &'static str {
        "tensorflow::SparseTensorsMap"
    }

    fn debug_string(&self) -> String {
        "A SparseTensorsMap".into()
    }
}

/// The map of a node that adds to it, which may name it.
struct Adding(NamedResource<SparseTensorsMap>);

impl KernelState for Adding {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        NamedResource::with_node_name(ctx).map(Adding)
    }
}

#[register_kernel(device = Cpu, op = ops::AddSparseToTensorsMap)]
fn add_sparse(map: &Adding, ctx: &mut RawContext<'_>) -> Result<()> {
    let (indices, values) = (ctx.input_at(0)?, ctx.input_at(1)?);
    let shape = Coo::new(indices, values, ctx.input_at(2)?)?.shape()?;
    let waiting = Waiting { indices: indices.clone(), values: values.clone(), shape };
    let mut handle = 0;
    map.0.get(|| Ok(SparseTensorsMap::default()))?.add([(0, waiting)].into_iter(), |_, number| handle = number)?;
    ctx.set_output_at(0, Tensor::scalar(handle))
}

#[register_kernel(
    device = Cpu,
    op = ops::AddManySparseToTensorsMap,
    T = [realnumbertype, bool, complex128, complex64, resource, string, variant],
)]
fn add_many_sparse(map: &Adding, ctx: &mut RawContext<'_>) -> Result<()> {
    let (indices, values) = (ctx.input_at(0)?, ctx.input_at(1)?);
    let coo = Coo::new(indices, values, ctx.input_at(2)?)?;
    let rank = coo.rank();
    ensure!(rank > 1, InvalidArgument, "Rank of input SparseTensor should be > 1, but saw rank: {rank}");
    let rows = coo.shape()?[0];
    let mut handles = ctx.allocate_output_at(0, [rows])?;
    coo.ensure_valid()?;
    let shape = Shape::from_dims(&coo.sizes[1..])?;
    // Rows with elements are numbered before those without, which share their tensors.
    let (mut full, mut is_full) = (Vec::new(), scratch::zeros::<bool>(rows)?);
    let mut next = 0;
    while next < coo.len() {
        let (first, row) = (next, coo.index(next)[0]);
        while next < coo.len() && coo.index(next)[0] == row {
            next += 1;
        }
        let own: Vec<i64> = scratch::collected((first..next).flat_map(|n| &coo.index(n)[1..]).copied())?;
        let indices = Tensor::from_elements([next - first, rank - 1], &own)?;
        let waiting = Waiting { indices, values: values.slice_rows(first, next)?, shape: shape.clone() };
        scratch::push(&mut full, (row as usize, waiting))?;
        is_full[row as usize] = true;
    }
    let slots = handles.as_mut_slice::<i64>()?;
    let map = map.0.get(|| Ok(SparseTensorsMap::default()))?;
    map.add(full.into_iter(), |row, number| slots[row] = number)?;
    let indices = Tensor::zeros(DataType::Int64, [0, rank - 1])?;
    let empty = Waiting { indices, values: Tensor::zeros(values.dtype(), [0])?, shape };
    let rest: Vec<usize> = scratch::collected((0..rows).filter(|&row| !is_full[row]))?;
    map.add(rest.iter().map(|&row| (row, empty.clone())), |row, number| slots[row] = number)?;
    ctx.set_output_at(0, handles)
}

/// The map of a node that takes from it, and the dtype of what it takes.
struct Taking {
    map: NamedResource<SparseTensorsMap>,
    dtype: DataType,
}

impl KernelState for Taking {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Taking { map: NamedResource::new(ctx)?, dtype: ctx.attrs.required("dtype")? })
    }
}

#[register_kernel(
    device = Cpu,
    op = ops::TakeManySparseFromTensorsMap,
    dtype = [realnumbertype, bool, complex128, complex64, resource, string, variant],
)]
fn take_many_sparse(taking: &Taking, ctx: &mut RawContext<'_>) -> Result<()> {
    let map = taking.map.get(|| Ok(SparseTensorsMap::default()))?;
    let handles = ctx.input_at(0)?;
    ensure!(
        handles.rank() == 1,
        InvalidArgument,
        "sparse_handles should be a vector but received shape {}",
        handles.shape()
    );
    ensure!(
        handles.num_elements() > 0,
        InvalidArgument,
        "Must have at least 1 serialized SparseTensor, but input matrix has 0 rows"
    );
    let parts = map.take(handles.as_slice()?, taking.map.name())?;
    let rank = parts[0].shape.rank();
    let mut sizes = vec![0; rank + 1];
    sizes[0] = parts.len() as i64;
    let mut elements = 0usize;
    for (n, part) in parts.iter().enumerate() {
        ensure!(
            part.values.dtype() == taking.dtype,
            InvalidArgument,
            "Requested SparseTensor of type {} but SparseTensor[{n}].values.dtype() == {}",
            taking.dtype,
            part.values.dtype()
        );
        ensure!(
            part.shape.rank() == rank,
            InvalidArgument,
            "Inconsistent rank across SparseTensors: rank prior to SparseTensor[{n}] was: {} but rank of \
             SparseTensor[{n}] is: {}",
            rank + 1,
            part.shape.rank() + 1
        );
        elements += part.values.num_elements();
        sizes[1..].iter_mut().zip(part.shape.iter()).for_each(|(size, &own)| *size = (*size).max(own as i64));
    }
    let mut indices = ctx.allocate_output_at(0, [elements, rank + 1])?;
    let mut values = ctx.allocate_output_at(1, [elements])?;
    let mut slots = indices.as_mut_slice::<i64>()?.chunks_exact_mut(rank + 1);
    let mut at = 0;
    for (n, part) in parts.iter().enumerate() {
        let own = part.indices.as_slice::<i64>()?;
        let count = part.values.num_elements();
        for (e, slot) in (0..count).zip(&mut slots) {
            slot[0] = n as i64;
            slot[1..].copy_from_slice(&own[e * rank..][..rank]);
        }
        copy_elements(&mut values, at, &part.values)?;
        at += count;
    }
    ctx.set_output_at(0, indices)?;
    ctx.set_output_at(1, values)?;
    ctx.set_output_at(2, Tensor::vector(&sizes)?)
}

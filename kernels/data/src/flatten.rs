//! Datasets whose elements lie in others, in places that are computed.

use std::sync::Arc;

use kernlink::dtype::DataType;
use kernlink::kernel::{KernelContext, KernelState, RawConstruction};
use kernlink::step::BoxFuture;
use kernlink::tensor::Tensor;
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::tensors::{listed, slice};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{
    Dataset, DatasetIterator, Element, Head, INFINITE, Spec, UNKNOWN, dataset_of, scalar, set_dataset, tensors,
};
use crate::function::{Captured, Closure};
use crate::saved::Saved;
use crate::transform::{Input, Transform, set_transformed};

/// The rows of what `map` makes of elements, in the order that `index_map` says.
struct IndexFlatMap {
    map: Closure,
    index_map: Closure,
    count: i64,
}

/// What was made of an element of the input.
#[derive(Default)]
struct Rows {
    /// How many rows were given out.
    given: i64,
    /// Which element of the input it was made of.
    element: i64,
    tensors: Option<Element>,
}

/// One row of tensors; scalars are whole.
fn row(tensors: &Element, at: i64) -> Result<Element> {
    let row = |tensor: &Tensor| match tensor.shape().dims().first() {
        None => Ok(tensor.clone()),
        Some(&rows) => match usize::try_from(at).ok().filter(|&at| at < rows) {
            Some(at) => slice(tensor, at),
            None => bail!(
                InvalidArgument,
                "`index_map_func` asks for row {at} of a tensor of {rows} rows, which `map_func` made: the first is row 0"
            ),
        },
    };
    tensors.iter().map(row).collect()
}

impl IndexFlatMap {
    /// In which element of the input a row is, and where in it.
    async fn place(&self, index: i64, cx: &Cx) -> Result<(i64, i64)> {
        let wrong = |what: String| {
            Error::invalid_argument(format!(
                "The `index_map_fn` for `index_flat_map` is expected to return two int32/int64 values representing the element \
                 index and an offset within the element. Got: {what}"
            ))
        };
        let result = self.index_map.call(vec![Tensor::scalar(index)], cx).await?;
        let [element, offset] = result.as_slice() else { return Err(wrong(format!("{} tensors", result.len()))) };
        let number = |tensor: &Tensor| match tensor.dtype() {
            _ if tensor.rank() != 0 => Err(wrong(format!("a tensor of shape {}", tensor.shape()))),
            DataType::Int32 => Ok(i64::from(tensor.to_scalar::<i32>()?)),
            DataType::Uint32 => Ok(i64::from(tensor.to_scalar::<u32>()?)),
            DataType::Int64 => tensor.to_scalar::<i64>(),
            DataType::Uint64 => Ok(tensor.to_scalar::<u64>()? as i64),
            dtype => Err(wrong(format!("a tensor of dtype {dtype}"))),
        };
        Ok((number(element)?, number(offset)?))
    }
}

impl Transform for IndexFlatMap {
    type State = Rows;

    fn begin(&self, _: &Cx) -> Result<Rows> {
        Ok(Rows::default())
    }

    async fn next<'a>(&'a self, rows: &'a mut Rows, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        let (element, offset) = self.place(rows.given, cx).await?;
        // Places are unsigned numbers.
        if element as u64 > rows.element as u64 || rows.tensors.is_none() {
            rows.tensors = None;
            let Some(next) = input.next(cx).await? else { return Ok(None) };
            rows.tensors = Some(self.map.call(next, cx).await?);
            rows.element = element;
        }
        let Some(tensors) = &rows.tensors else { return Ok(None) };
        let row = row(tensors, offset)?;
        rows.given += 1;
        Ok(Some(row))
    }

    fn cardinality(&self, _: i64) -> i64 {
        self.count
    }

    fn has_random_access(&self) -> bool {
        true
    }

    fn get<'a>(
        &'a self,
        input: &'a Arc<dyn Dataset>,
        index: i64,
        cx: &'a Cx,
    ) -> Option<BoxFuture<'a, Result<Element>>> {
        // Whether there are elements by place is asked here.
        drop(input.get(0, cx)?);
        Some(Box::pin(async move {
            let (element, offset) = self.place(index, cx).await?;
            let count = input.cardinality();
            ensure!(
                (0..count).contains(&element),
                InvalidArgument,
                "`index_map_func` asks for element {element} of {count}"
            );
            let Some(element) = input.get(element, cx) else { bail!(Internal, "there is no element {element}") };
            row(&self.map.call(element.await?, cx).await?, offset)
        }))
    }

    async fn save<'a>(&'a self, rows: &'a mut Rows, saved: &'a mut Saved) -> Result<()> {
        saved.set("given", rows.given);
        saved.set("element", rows.element);
        saved.set_elements("tensors", rows.tensors.iter().cloned().collect());
        Ok(())
    }

    async fn restore<'a>(&'a self, rows: &'a mut Rows, _: &'a mut Input, saved: &'a Saved, _: &'a Cx) -> Result<()> {
        *rows = Rows {
            given: saved.get("given")?,
            element: saved.get("element")?,
            tensors: saved.elements("tensors")?.first().cloned(),
        };
        Ok(())
    }
}

struct IndexFlatMapKernel {
    spec: Spec,
    map: Arc<Captured>,
    index_map: Arc<Captured>,
}

impl KernelState for IndexFlatMapKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let function = |attr| Captured::new(ctx, attr);
        Ok(Self { spec: Spec::of(ctx)?, map: function("map_func")?, index_map: function("index_map_func")? })
    }
}

#[register_kernel(device = Cpu, cheap)]
fn index_flat_map(state: &IndexFlatMapKernel, ctx: &mut KernelContext<'_, ops::IndexFlatMapDataset>) -> Result<()> {
    let count: i64 = scalar(ctx, "output_cardinality")?;
    let map = Closure::new(&state.map, ctx, "map_func_other_args")?;
    let index_map = Closure::new(&state.index_map, ctx, "index_map_func_other_args")?;
    set_transformed(ctx, &state.spec, IndexFlatMap { map, index_map, count })
}

/// The first elements of several datasets.
struct Weighted {
    head: Head,
    inputs: Vec<Arc<dyn Dataset>>,
    /// Where the elements of each end.
    ends: Vec<i64>,
}

impl Weighted {
    /// Whose element is in some place; `None` behind the last.
    fn input(&self, place: i64) -> Option<usize> {
        let index = self.ends.partition_point(|&end| end <= place);
        (index < self.ends.len()).then_some(index)
    }
}

struct WeightedIterator {
    dataset: Arc<Weighted>,
    inputs: Vec<Input>,
    at: i64,
}

impl Dataset for Weighted {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        self.ends.last().copied().unwrap_or(0)
    }

    fn iterator(self: Arc<Self>, cx: &Cx) -> Result<Box<dyn DatasetIterator>> {
        let inputs = self.inputs.iter().map(|input| Input::new(input, cx)).collect::<Result<_>>()?;
        Ok(Box::new(WeightedIterator { dataset: self, inputs, at: 0 }))
    }

    fn inputs(&self) -> Vec<Arc<dyn Dataset>> {
        self.inputs.clone()
    }

    fn get<'a>(&'a self, index: i64, cx: &'a Cx) -> Option<BoxFuture<'a, Result<Element>>> {
        // All of them, so that none is found out later.
        for input in self.inputs.iter().filter(|input| input.cardinality() > 0) {
            drop(input.get(0, cx)?);
        }
        let input = self.input(index)?;
        let start = input.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.inputs[input].get(index - start, cx)
    }
}

impl DatasetIterator for WeightedIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(async move {
            let Some(input) = self.dataset.input(self.at) else { return Ok(None) };
            let element = self.inputs[input].next(cx).await?;
            self.at += 1;
            Ok(element)
        })
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            saved.set("at", self.at);
            for (index, input) in self.inputs.iter_mut().enumerate() {
                input.save(saved.part("of", index)).await?;
            }
            Ok(())
        })
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, cx: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.at = saved.get("at")?.max(0);
            for (index, input) in self.inputs.iter_mut().enumerate() {
                input.restore(saved.required_part("of", index)?, cx).await?;
            }
            Ok(())
        })
    }
}

/// The datasets of a list input, all of which give what `spec` says, which is made more precise by what they give.
///
/// # Errors
/// INVALID_ARGUMENT if one gives something else.
pub(crate) fn equal_datasets(datasets: &[Tensor], spec: &Spec, op: &str) -> Result<(Vec<Arc<dyn Dataset>>, Spec)> {
    let datasets: Vec<Arc<dyn Dataset>> = datasets.iter().map(dataset_of).collect::<Result<_>>()?;
    let mut spec = spec.clone();
    for (index, dataset) in datasets.iter().enumerate().skip(1) {
        let given = &dataset.head().spec;
        ensure!(
            given.dtypes == spec.dtypes,
            InvalidArgument,
            "All inputs to {op} must have the same output types. Input {index} has output types: {}. Expected: {}.",
            listed(&given.dtypes),
            listed(&spec.dtypes)
        );
        ensure!(
            given.shapes.len() == spec.shapes.len(),
            InvalidArgument,
            "All inputs to {op} must have compatible outputs. Input {index} has {} components. Expected to have {} components.",
            given.shapes.len(),
            spec.shapes.len()
        );
        for (component, (own, given)) in spec.shapes.iter_mut().zip(&given.shapes).enumerate() {
            ensure!(
                own.is_compatible(given),
                InvalidArgument,
                "All inputs to {op} must have compatible output shapes. Component {component} of input {index} has shape: \
                 {given}. Expected to be compatible with shape: {own}."
            );
            *own = own.merge(given)?;
        }
    }
    Ok((datasets, spec))
}

/// Of how many elements of each dataset there are with these weights, so that one of them is used up.
fn weighted(counts: &[i64], weights: &[f64]) -> Result<Vec<i64>> {
    let most = weights.iter().copied().fold(0.0, f64::max);
    let (mut least, mut least_index) = (f64::MAX, 0);
    for (index, (&count, &weight)) in counts.iter().zip(weights).enumerate() {
        let share = count as f64 * weight / most;
        if share < least {
            (least, least_index) = (share, index);
        }
    }
    let mut shares = Vec::with_capacity(counts.len());
    for (index, (&count, &weight)) in counts.iter().zip(weights).enumerate() {
        let share = (least * weight / weights[least_index]) as i64;
        ensure!(
            share <= count,
            InvalidArgument,
            "Input {index} needs to have at least {share} elements. It only has {count} elements."
        );
        shares.push(share);
    }
    Ok(shares)
}

#[register_kernel(device = Cpu, cheap)]
fn weighted_flat_map(spec: &Spec, ctx: &mut KernelContext<'_, ops::WeightedFlatMapDataset>) -> Result<()> {
    let (datasets, weights) = (tensors(ctx, "input_datasets")?, tensors(ctx, "weights")?);
    ensure!(
        datasets.len() == weights.len(),
        InvalidArgument,
        "`input_datasets` and `weights` of the WeightedFlatMap must have the same size. Got {} datasets and {} weights.",
        datasets.len(),
        weights.len()
    );
    let (inputs, elements) = equal_datasets(&datasets, spec, "WeightedFlatMap")?;
    let mut counts = Vec::with_capacity(inputs.len());
    for (index, input) in inputs.iter().enumerate() {
        let count = input.cardinality();
        ensure!(
            count != INFINITE && count != UNKNOWN,
            InvalidArgument,
            "Cardinalities of the inputs must be known. Input {index} has {} cardinality.",
            if count == INFINITE { "INFINITE" } else { "UNKNOWN" }
        );
        counts.push(count);
    }
    let mut numbers = Vec::with_capacity(weights.len());
    for (index, weight) in weights.iter().enumerate() {
        ensure!(
            weight.rank() == 0,
            InvalidArgument,
            "weight {index} must be a scalar, not of shape {}",
            weight.shape()
        );
        let weight: f64 = weight.to_scalar()?;
        ensure!(
            weight > 0.0,
            InvalidArgument,
            "`weights` must be greater than 0.0. Input {index} has a weight of {weight}"
        );
        numbers.push(weight);
    }
    let mut end = 0i64;
    let ends = weighted(&counts, &numbers)?.into_iter().map(|share| {
        end = end.saturating_add(share);
        end
    });
    let ends = ends.collect();
    set_dataset(ctx, Weighted { head: Head::above(&spec.with(elements), &inputs)?, inputs, ends })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_dataset_is_used_up() {
        assert_eq!(weighted(&[100, 100, 10], &[0.2, 0.3, 0.5]).unwrap(), [4, 6, 10]);
        assert_eq!(weighted(&[3, 7], &[1.0, 1.0]).unwrap(), [3, 3]);
        assert_eq!(weighted(&[0, 7], &[1.0, 2.0]).unwrap(), [0, 0]);
        assert_eq!(weighted(&[5, 5], &[f64::INFINITY, 1.0]).unwrap(), [0, 0]);
    }
}

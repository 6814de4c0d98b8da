//! Datasets that are made of tensors and numbers.

use std::sync::Arc;

use kernlink::dtype::DataType;
use kernlink::kernel::KernelContext;
use kernlink::step::BoxFuture;
use kernlink::tensor::Tensor;
use kernlink::{Result, ensure};
use kernlink_kernels_common::tensors::slice;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, Head, INFINITE, Spec, scalar, set_dataset, tensors};
use crate::saved::Saved;

/// What gives an element by its place.
pub(crate) trait Places: Send + Sync + 'static {
    /// How many there are, or [`INFINITE`].
    fn count(&self) -> i64;

    /// The element in a place below that.
    fn element(&self, place: i64) -> Result<Element>;
}

/// A dataset of elements that are made of their places.
pub(crate) struct Placed<P> {
    head: Head,
    places: P,
}

impl<P: Places> Placed<P> {
    pub(crate) fn new(spec: &Spec, places: P) -> Placed<P> {
        Placed { head: Head::source(spec), places }
    }
}

struct PlacedIterator<P> {
    dataset: Arc<Placed<P>>,
    at: i64,
}

impl<P: Places> Dataset for Placed<P> {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        self.places.count()
    }

    fn iterator(self: Arc<Self>, _: &Cx) -> Result<Box<dyn DatasetIterator>> {
        Ok(Box::new(PlacedIterator { dataset: self, at: 0 }))
    }

    fn get<'a>(&'a self, index: i64, _: &'a Cx) -> Option<BoxFuture<'a, Result<Element>>> {
        Some(Box::pin(std::future::ready(self.places.element(index))))
    }
}

impl<P: Places> DatasetIterator for PlacedIterator<P> {
    fn next<'a>(&'a mut self, _: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        let places = &self.dataset.places;
        let is_over = places.count() != INFINITE && self.at >= places.count();
        let element = if is_over { Ok(None) } else { places.element(self.at).map(Some) };
        self.at += i64::from(!is_over);
        Box::pin(std::future::ready(element))
    }

    fn pass(&mut self, count: i64) -> i64 {
        let end = match self.dataset.places.count() {
            INFINITE => i64::MAX,
            end => end,
        };
        let passed = count.min(end.saturating_sub(self.at)).max(0);
        self.at += passed;
        passed
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        saved.set("at", self.at);
        Box::pin(std::future::ready(Ok(())))
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, _: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.at = saved.get("at")?.max(0);
            Ok(())
        })
    }
}

/// One element.
struct Single(Element);

impl Places for Single {
    fn count(&self) -> i64 {
        1
    }

    fn element(&self, _: i64) -> Result<Element> {
        Ok(self.0.clone())
    }
}

/// The spec of tensors.
fn spec_of(components: &[Tensor], is_of_rows: bool) -> Spec {
    let shape = |component: &Tensor| {
        let mut shape = component.shape().clone();
        if is_of_rows && shape.rank() > 0 {
            shape.remove(0);
        }
        shape.into()
    };
    Spec::new(components.iter().map(Tensor::dtype).collect(), components.iter().map(shape).collect())
}

#[register_kernel(device = Cpu, cheap)]
fn tensor(spec: &Spec, ctx: &mut KernelContext<'_, ops::TensorDataset>) -> Result<()> {
    let components = tensors(ctx, "components")?;
    let elements = spec_of(&components, false);
    spec.ensure_accepts(&elements)?;
    set_dataset(ctx, Placed::new(&spec.with(elements), Single(components)))
}

/// The rows of tensors.
struct Rows {
    components: Vec<Tensor>,
    count: i64,
}

impl Places for Rows {
    fn count(&self) -> i64 {
        self.count
    }

    fn element(&self, place: i64) -> Result<Element> {
        self.components.iter().map(|component| slice(component, place as usize)).collect()
    }
}

#[register_kernel(device = Cpu, cheap)]
fn tensor_slice(spec: &Spec, ctx: &mut KernelContext<'_, ops::TensorSliceDataset>) -> Result<()> {
    let components = tensors(ctx, "components")?;
    let rows = |component: &Tensor| component.shape().dims().first().copied();
    ensure!(
        components.iter().all(|component| rows(component).is_some()),
        InvalidArgument,
        "All components must be at least 1-dimensional"
    );
    let count = components.first().and_then(rows).unwrap_or(0);
    ensure!(
        components.iter().all(|component| rows(component) == Some(count)),
        InvalidArgument,
        "All components must have the same size in the 0th dimension"
    );
    let elements = spec_of(&components, true);
    spec.ensure_accepts(&elements)?;
    set_dataset(ctx, Placed::new(&spec.with(elements), Rows { components, count: count as i64 }))
}

/// Numbers of equal distance.
struct Range {
    start: i64,
    stop: i64,
    step: i64,
    dtype: DataType,
}

impl Places for Range {
    fn count(&self) -> i64 {
        let (start, stop, step) = (i128::from(self.start), i128::from(self.stop), i128::from(self.step));
        let distance = if step > 0 { stop - start } else { start - stop };
        let step = step.abs();
        // More than this nobody will see.
        i64::try_from((distance.max(0) + step - 1) / step).unwrap_or(i64::MAX)
    }

    fn element(&self, place: i64) -> Result<Element> {
        let number = self.start.wrapping_add(place.wrapping_mul(self.step));
        Ok(vec![number_tensor(number, self.dtype)?])
    }
}

/// A number as a scalar of some dtype.
fn number_tensor(number: i64, dtype: DataType) -> Result<Tensor> {
    use kernlink::dtype::{bf16, f16};
    Ok(match dtype {
        DataType::Int64 => Tensor::scalar(number),
        DataType::Int32 => Tensor::scalar(number as i32),
        DataType::Int16 => Tensor::scalar(number as i16),
        DataType::Int8 => Tensor::scalar(number as i8),
        DataType::Uint8 => Tensor::scalar(number as u8),
        DataType::Uint16 => Tensor::scalar(number as u16),
        DataType::Uint32 => Tensor::scalar(number as u32),
        DataType::Uint64 => Tensor::scalar(number as u64),
        DataType::Float => Tensor::scalar(number as f32),
        DataType::Double => Tensor::scalar(number as f64),
        DataType::Half => Tensor::scalar(f16::from_f32(number as f32)),
        DataType::Bfloat16 => Tensor::scalar(bf16::from_f32(number as f32)),
        other => kernlink::bail!(InvalidArgument, "Unsupported data type: {other}: a range is of numbers"),
    })
}

#[register_kernel(device = Cpu, cheap)]
fn range(spec: &Spec, ctx: &mut KernelContext<'_, ops::RangeDataset>) -> Result<()> {
    let (start, stop, step) = (scalar(ctx, "start")?, scalar(ctx, "stop")?, scalar(ctx, "step")?);
    ensure!(step != 0, InvalidArgument, "step must be a non-zero integer.");
    let dtype = spec.dtypes.first().copied().unwrap_or(DataType::Int64);
    set_dataset(ctx, Placed::new(spec, Range { start, stop, step, dtype }))
}

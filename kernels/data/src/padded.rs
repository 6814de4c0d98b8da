//! Elements of several shapes stacked, padded to one.

use kernlink::dtype::{DataType, Element as TensorElement, TString};
use kernlink::kernel::RawContext;
use kernlink::shape::{PartialShape, Shape};
use kernlink::tensor::{Tensor, Variant, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::batch::{Batch, of_batch};
use crate::context::Cx;
use crate::dataset::{Element, Spec, input_dataset, tensors};
use crate::transform::{Input, Transform, set_transformed};

struct PaddedBatch {
    batch: Batch,
    /// Those to which the components are padded.
    shapes: Vec<PartialShape>,
    /// What they are padded with, scalars.
    values: Vec<Tensor>,
}

/// A tensor of a shape, full of one value.
fn filled(value: &Tensor, shape: Shape) -> Result<Tensor> {
    fn objects<T: TensorElement>(tensor: &mut Tensor, value: &Tensor) -> Result<()> {
        let value = &value.as_slice::<T>()?[0];
        tensor.as_mut_slice::<T>()?.fill(value.clone());
        Ok(())
    }
    shape.check()?;
    let mut tensor = Tensor::zeros(value.dtype(), shape)?;
    match value.dtype() {
        DataType::String => objects::<TString>(&mut tensor, value)?,
        DataType::Variant => objects::<Variant>(&mut tensor, value)?,
        DataType::Bool => objects::<bool>(&mut tensor, value)?,
        _ => {
            let value = value.bytes()?;
            tensor.bytes_mut()?.chunks_exact_mut(value.len().max(1)).for_each(|element| element.copy_from_slice(value));
        }
    }
    Ok(tensor)
}

/// Copies a tensor into the corner of one that is as large in each dimension, or larger, from element `at` on.
fn copy_into_corner(target: &mut Tensor, at: usize, dims: &[usize], source: &Tensor) -> Result<()> {
    fn rows<E>(dims: &[usize], from: &[usize], mut copy: impl FnMut(usize, usize, usize) -> Result<E>) -> Result<()> {
        let rank = dims.len();
        let row = from.last().copied().unwrap_or(1);
        let count: usize = from[..rank.saturating_sub(1)].iter().product();
        for index in 0..count {
            let (mut rest, mut place, mut stride) = (index, 0, dims.last().copied().unwrap_or(1));
            for axis in (0..rank.saturating_sub(1)).rev() {
                place += rest % from[axis] * stride;
                rest /= from[axis];
                stride *= dims[axis];
            }
            copy(place, index * row, row)?;
        }
        Ok(())
    }
    fn objects<T: TensorElement>(target: &mut Tensor, at: usize, dims: &[usize], source: &Tensor) -> Result<()> {
        let (from, elements) = (source.shape().dims(), source.as_slice::<T>()?);
        let target = target.as_mut_slice::<T>()?;
        rows(dims, from, |place, start, row| {
            target[at + place..][..row].clone_from_slice(&elements[start..][..row]);
            Ok(())
        })
    }
    if source.num_elements() == 0 {
        return Ok(());
    }
    match source.dtype() {
        DataType::String => objects::<TString>(target, at, dims, source),
        DataType::Variant => objects::<Variant>(target, at, dims, source),
        DataType::Bool => objects::<bool>(target, at, dims, source),
        dtype => {
            let (size, from, bytes) = (dtype.size(), source.shape().dims(), source.bytes()?);
            let target = target.bytes_mut()?;
            rows(dims, from, |place, start, row| {
                target[(at + place) * size..][..row * size].copy_from_slice(&bytes[start * size..][..row * size]);
                Ok(())
            })
        }
    }
}

impl PaddedBatch {
    /// The shape to which component `index` of elements is padded.
    fn padded_shape(&self, index: usize, elements: &[Element]) -> Result<Vec<usize>> {
        let padded = self.shapes[index].dims().unwrap_or_default();
        let mut dims: Vec<usize> = padded.iter().map(|dim| dim.unwrap_or(0)).collect();
        for element in elements {
            let Some(component) = element.get(index) else {
                bail!(InvalidArgument, "an element has {} components, but more are padded", element.len());
            };
            ensure!(
                component.rank() == dims.len(),
                InvalidArgument,
                "All elements in a batch must have the same rank as the padded shape for component{index}: expected rank {} \
                 but got element with rank {}",
                dims.len(),
                component.rank()
            );
            for ((dim, known), &there) in dims.iter_mut().zip(padded).zip(component.shape().dims()) {
                match known {
                    Some(known) => {
                        ensure!(there <= *known, DataLoss, "Attempted to pad to a smaller size than the input element.")
                    }
                    None => *dim = (*dim).max(there),
                }
            }
        }
        Ok(dims)
    }

    fn stacked(&self, elements: &[Element]) -> Result<Element> {
        let mut batch = Vec::with_capacity(self.values.len());
        for (index, value) in self.values.iter().enumerate() {
            let dims = self.padded_shape(index, elements)?;
            let mut shape: Shape = dims.iter().copied().collect();
            shape.check()?;
            let size = shape.num_elements();
            shape.insert(0, elements.len());
            let mut stack = filled(value, shape)?;
            for (place, element) in elements.iter().enumerate() {
                let component = &element[index];
                ensure!(
                    component.dtype() == value.dtype(),
                    InvalidArgument,
                    "Component {index} is {}, but its padding value {}",
                    component.dtype(),
                    value.dtype()
                );
                copy_into_corner(&mut stack, place * size, &dims, component)?;
            }
            batch.push(stack);
        }
        Ok(batch)
    }
}

impl Transform for PaddedBatch {
    type State = ();

    fn begin(&self, _: &Cx) -> Result<()> {
        Ok(())
    }

    async fn next<'a>(&'a self, _: &'a mut (), input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        match self.batch.gather(input, cx).await? {
            Some(elements) => self.stacked(&elements).map_err(|error| of_batch(error, input)).map(Some),
            None => Ok(None),
        }
    }

    fn cardinality(&self, input: i64) -> i64 {
        self.batch.batches(input)
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::PaddedBatchDataset, ops::PaddedBatchDatasetV2])]
fn padded_batch(spec: &Spec, ctx: &mut RawContext<'_>) -> Result<()> {
    let batch = Batch::of(ctx)?;
    let input = input_dataset(ctx, 0)?;
    let inputs = &input.head().spec;
    let (padded, values) = (tensors(ctx, "padded_shapes")?, tensors(ctx, "padding_values")?);
    let components = inputs.dtypes.len();
    ensure!(
        padded.len() == components,
        InvalidArgument,
        "Number of padded shapes ({}) must match the number of components in the input dataset's elements ({components})",
        padded.len()
    );
    ensure!(
        values.len() == components,
        InvalidArgument,
        "Number of padding values ({}) must match the number of components in the input dataset's elements ({components})",
        values.len()
    );
    let shape = |tensor: &Tensor| {
        ensure!(tensor.rank() == 1, InvalidArgument, "All padded shapes must be vectors");
        PartialShape::from_dims(tensor.as_slice::<i64>()?)
    };
    let shapes = scratch::collected_ok(padded.iter().map(shape))?;
    for (index, (value, dtype)) in values.iter().zip(&inputs.dtypes).enumerate() {
        ensure!(value.rank() == 0, InvalidArgument, "All padding values must be scalars");
        if value.dtype() != *dtype {
            return Err(Error::invalid_argument(format!(
                "Mismatched type between padding value {index} and input dataset's component {index}: {} vs. {dtype}",
                value.dtype()
            )));
        }
    }
    set_transformed(ctx, spec, PaddedBatch { batch, shapes, values })
}

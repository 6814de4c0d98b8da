//! CompressElement and UncompressElement: the components of an element in one block of Snappy's.

use kernlink::dtype::{DataType, TString};
use kernlink::kernel::{KernelContext, KernelState, RawConstruction};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, Variant, VariantValue, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::snappy;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::dataset::tensors;

/// Where the elements of a component are.
enum Elements {
    /// So many bytes of the block.
    Bytes(usize),
    /// Strings of so many bytes each.
    Strings(Vec<usize>),
    /// Here: resources and variants are no bytes.
    Here(Tensor),
}

struct Component {
    dtype: DataType,
    shape: Shape,
    elements: Elements,
}

/// The components of an element.
struct Compressed {
    /// The elements of those that are bytes, one after the other, compressed.
    block: Vec<u8>,
    size: usize,
    components: Vec<Component>,
}

impl VariantValue for Compressed {
    fn type_name(&self) -> &'static str {
        "tensorflow.data.CompressedElement"
    }
}

impl Compressed {
    fn new(components: &[Tensor]) -> Result<Compressed> {
        let mut bytes = Vec::new();
        let mut parts = scratch::room(components.len())?;
        for component in components {
            let elements = match component.dtype() {
                DataType::String => {
                    let strings = component.as_slice::<TString>()?;
                    for string in strings {
                        scratch::append(&mut bytes, string.as_bytes())?;
                    }
                    Elements::Strings(scratch::collected(strings.iter().map(|string| string.len()))?)
                }
                DataType::Resource | DataType::Variant => Elements::Here(component.clone()),
                _ => {
                    scratch::append(&mut bytes, component.bytes()?)?;
                    Elements::Bytes(component.num_bytes())
                }
            };
            parts.push(Component { dtype: component.dtype(), shape: component.shape().clone(), elements });
        }
        Ok(Compressed { block: snappy::compress(&bytes)?, size: bytes.len(), components: parts })
    }

    fn components(&self) -> Result<Vec<Tensor>> {
        let mut bytes = scratch::zeros(self.size)?;
        let failed = |error: snap::Error| Error::internal(format!("Failed to perform snappy decompression: {error}"));
        snap::raw::Decoder::new().decompress(&self.block, &mut bytes).map_err(failed)?;
        let mut rest = bytes.as_slice();
        let mut take = |count: usize| {
            let taken;
            (taken, rest) = rest.split_at(count);
            taken
        };
        let mut components = scratch::room(self.components.len())?;
        for Component { dtype, shape, elements } in &self.components {
            components.push(match elements {
                Elements::Bytes(count) => Tensor::from_bytes(*dtype, shape.clone(), take(*count))?,
                Elements::Strings(lengths) => {
                    let mut strings = Tensor::zeros(DataType::String, shape.clone())?;
                    for (string, &length) in strings.as_mut_slice::<TString>()?.iter_mut().zip(lengths) {
                        *string = TString::from(scratch::copied(take(length))?);
                    }
                    strings
                }
                Elements::Here(tensor) => tensor.clone(),
            });
        }
        Ok(components)
    }
}

#[register_kernel(device = Cpu)]
fn compress(ctx: &mut KernelContext<'_, ops::CompressElement>) -> Result<()> {
    let compressed = Compressed::new(&tensors(ctx, "components")?)?;
    ctx.set_output_at(0, Tensor::scalar(Variant::new(compressed)))
}

/// The dtypes of what is expected.
struct Expected(Vec<DataType>);

impl KernelState for Expected {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self(ctx.attrs.required("output_types")?))
    }
}

#[register_kernel(device = Cpu)]
fn uncompress(expected: &Expected, ctx: &mut KernelContext<'_, ops::UncompressElement>) -> Result<()> {
    let tensor = ctx.input_at(0)?;
    ensure!(
        tensor.rank() == 0,
        InvalidArgument,
        "UncompressElement requires its input to be a scalar, but encountered an input with {} dimensions.",
        tensor.rank()
    );
    let variant = &tensor.as_slice::<Variant>()?[0];
    let Some(compressed) = variant.get::<Compressed>() else {
        bail!(
            InvalidArgument,
            "Input does not contain a compressed element. Instead got a variant of type '{}'",
            variant.type_name()
        );
    };
    let components = compressed.components()?;
    ensure!(
        components.len() == expected.0.len(),
        FailedPrecondition,
        "Expected {} outputs from uncompress, but got {}",
        expected.0.len(),
        components.len()
    );
    for (component, expected) in components.iter().zip(&expected.0) {
        ensure!(
            component.dtype() == *expected,
            FailedPrecondition,
            "Expected a tensor of type {expected} but got a tensor of type {}",
            component.dtype()
        );
    }
    for (index, component) in components.into_iter().enumerate() {
        ctx.set_output_at(index, component)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_back() {
        let components = [
            Tensor::from_elements([2, 3], &[1.5f32; 6]).unwrap(),
            Tensor::vector(&["", "a", "long enough to be on the heap"].map(TString::from)).unwrap(),
            Tensor::zeros(DataType::Int64, [0, 4]).unwrap(),
            Tensor::scalar(Variant::default()),
        ];
        let compressed = Compressed::new(&components).unwrap();
        let back = compressed.components().unwrap();
        assert_eq!(back.len(), components.len());
        for (one, other) in components.iter().zip(&back).take(3) {
            assert_eq!((one.dtype(), one.shape()), (other.dtype(), other.shape()));
        }
        assert_eq!(back[0].as_slice::<f32>().unwrap(), [1.5; 6]);
        assert_eq!(back[1].as_slice::<TString>().unwrap(), components[1].as_slice::<TString>().unwrap());
        // What is damaged is an error.
        let damaged = Compressed { block: compressed.block[1..].to_vec(), ..compressed };
        assert!(damaged.components().is_err());
        assert!(Compressed::new(&[]).unwrap().components().unwrap().is_empty());
    }
}

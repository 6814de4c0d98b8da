//! Whole tensors whatever their dtype: copied into one another, made zero, added.

use kernlink::dtype::{Complex32, Complex64, DataType, Element, Number, TString, bf16, f16};
use kernlink::tensor::{ResourceHandle, Tensor, Variant, VariantValue};
use kernlink::{Result, bail, ensure};

/// A tensor in a variant.
pub struct TensorValue(pub Tensor);

impl VariantValue for TensorValue {
    fn type_name(&self) -> &'static str {
        "tensorflow::Tensor"
    }

    fn parts(&self) -> Result<Option<(Vec<u8>, Vec<Tensor>)>> {
        Ok(Some((Vec::new(), vec![self.0.clone()])))
    }

    fn from_parts(type_name: &str, _: &[u8], tensors: &[Tensor]) -> Option<Self> {
        let [tensor] = tensors else { return None };
        (type_name == "tensorflow::Tensor").then(|| TensorValue(tensor.clone()))
    }
}

/// The value in a variant, whose type has this name.
///
/// # Errors
/// INVALID_ARGUMENT with the text of `other` for another one; of what came from a message it says that the message is wrong.
pub fn value_in<'v, T: VariantValue>(
    variant: &'v Variant,
    name: &str,
    other: impl FnOnce() -> String,
) -> Result<&'v T> {
    if let Some(value) = variant.get() {
        return Ok(value);
    }
    ensure!(
        variant.type_name() != name,
        InvalidArgument,
        "a message says of a '{name}' what holds of none: its tensors, or its metadata, do not suit each other"
    );
    bail!(InvalidArgument, "{}", other())
}

/// Copies the elements of `source` over those of `target` from element `at` on. Both have the same dtype.
pub fn copy_elements(target: &mut Tensor, at: usize, source: &Tensor) -> Result<()> {
    fn objects<T: Element>(target: &mut Tensor, at: usize, source: &Tensor) -> Result<()> {
        let source = source.as_slice::<T>()?;
        target.as_mut_slice::<T>()?[at..at + source.len()].clone_from_slice(source);
        Ok(())
    }
    ensure!(target.dtype() == source.dtype(), Internal, "{} elements among {}", source.dtype(), target.dtype());
    if source.num_elements() == 0 {
        return Ok(());
    }
    match target.dtype() {
        DataType::String => objects::<TString>(target, at, source),
        DataType::Resource => objects::<ResourceHandle>(target, at, source),
        DataType::Variant => objects::<Variant>(target, at, source),
        DataType::Bool => objects::<bool>(target, at, source),
        dtype => {
            let source = source.bytes()?;
            target.bytes_mut()?[at * dtype.size()..][..source.len()].copy_from_slice(source);
            Ok(())
        }
    }
}

/// Tensors one after the other along their first dimension. One by itself is shared.
///
/// # Errors
/// INVALID_ARGUMENT if there are none, for scalars, and for dtypes or other dimensions that differ; RESOURCE_EXHAUSTED if there
/// is not enough memory.
pub fn joined_rows(parts: &[&Tensor]) -> Result<Tensor> {
    let Some((first, others)) = parts.split_first() else { bail!(InvalidArgument, "no tensors are joined") };
    ensure!(first.rank() > 0, InvalidArgument, "scalars cannot be joined along their first dimension");
    let row = &first.shape()[1..];
    for other in others {
        ensure!(
            other.dtype() == first.dtype() && other.rank() == first.rank() && other.shape()[1..] == *row,
            InvalidArgument,
            "Dimensions of inputs should match: a {} tensor of shape {} cannot be joined to a {} tensor of shape {} along the \
             first dimension",
            other.dtype(),
            other.shape(),
            first.dtype(),
            first.shape()
        );
    }
    if others.is_empty() {
        return Ok((*first).clone());
    }
    let rows = parts.iter().fold(0_usize, |rows, part| rows.saturating_add(part.shape()[0]));
    let mut shape = first.shape().clone();
    shape.dims_mut()[0] = rows;
    shape.check()?;
    let mut joined = Tensor::zeros(first.dtype(), shape)?;
    let mut at = 0;
    for part in parts {
        copy_elements(&mut joined, at, part)?;
        at += part.num_elements();
    }
    Ok(joined)
}

/// The tensor without its first dimension, which is 1.
pub fn without_first(tensor: Tensor) -> Result<Tensor> {
    let shape = tensor.shape()[1..].to_vec();
    tensor.reshaped(shape)
}

/// Slice `index` of a tensor along its first dimension, without that dimension.
pub fn slice(tensor: &Tensor, index: usize) -> Result<Tensor> {
    without_first(tensor.slice_rows(index, index + 1)?)
}

/// A tensor of zeros, or of empty strings, like another; variants say themselves what is like them.
pub fn zeros_like(tensor: &Tensor) -> Result<Tensor> {
    let mut zeros = Tensor::zeros(tensor.dtype(), tensor.shape())?;
    if tensor.dtype() == DataType::Variant {
        for (zero, variant) in zeros.as_mut_slice::<Variant>()?.iter_mut().zip(tensor.as_slice::<Variant>()?) {
            *zero = zeros_like_variant(variant)?;
        }
    }
    Ok(zeros)
}

/// What is like a variant and zero.
pub fn zeros_like_variant(variant: &Variant) -> Result<Variant> {
    match variant.value() {
        Some(value) => value.zeros_like(),
        None => bail!(InvalidArgument, "there is no ZerosLike of an empty variant"),
    }
}

/// The sum of two variants.
pub fn add_variants(a: &Variant, b: &Variant) -> Result<Variant> {
    match a.value() {
        Some(value) => value.add(b),
        None => bail!(InvalidArgument, "an empty variant cannot be added"),
    }
}

/// Adds `other` to `sum`, element by element. Both have the same shape.
pub fn add_to(sum: &mut Tensor, other: &Tensor) -> Result<()> {
    fn numbers<T: Number>(sum: &mut Tensor, other: &Tensor) -> Result<()> {
        for (sum, &x) in sum.as_mut_slice::<T>()?.iter_mut().zip(other.as_slice::<T>()?) {
            *sum = sum.wrapping_add(x);
        }
        Ok(())
    }
    ensure!(
        sum.dtype() == other.dtype() && sum.shape() == other.shape(),
        InvalidArgument,
        "a {} tensor of shape {} cannot be added to a {} tensor of shape {}",
        other.dtype(),
        other.shape(),
        sum.dtype(),
        sum.shape()
    );
    sum.make_unique()?;
    match sum.dtype() {
        DataType::Float => numbers::<f32>(sum, other),
        DataType::Double => numbers::<f64>(sum, other),
        DataType::Half => numbers::<f16>(sum, other),
        DataType::Bfloat16 => numbers::<bf16>(sum, other),
        DataType::Int8 => numbers::<i8>(sum, other),
        DataType::Int16 => numbers::<i16>(sum, other),
        DataType::Int32 => numbers::<i32>(sum, other),
        DataType::Int64 => numbers::<i64>(sum, other),
        DataType::Uint8 => numbers::<u8>(sum, other),
        DataType::Uint16 => numbers::<u16>(sum, other),
        DataType::Uint32 => numbers::<u32>(sum, other),
        DataType::Uint64 => numbers::<u64>(sum, other),
        DataType::Complex64 => numbers::<Complex32>(sum, other),
        DataType::Complex128 => numbers::<Complex64>(sum, other),
        DataType::Variant => {
            for (sum, x) in sum.as_mut_slice::<Variant>()?.iter_mut().zip(other.as_slice::<Variant>()?) {
                *sum = add_variants(sum, x)?;
            }
            Ok(())
        }
        dtype => bail!(InvalidArgument, "{dtype} tensors cannot be added"),
    }
}

/// Dtypes as a user writes them.
pub fn listed(dtypes: &[DataType]) -> String {
    let names: Vec<&str> = dtypes.iter().map(|dtype| dtype.name()).collect();
    format!("[{}]", names.join(", "))
}

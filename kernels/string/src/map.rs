//! What a kernel does to each string by itself.

use std::sync::{Mutex, PoisonError};

use kernlink::dtype::{DataType, Element, TString};
use kernlink::error::{Error, Result};
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;

/// About how many nanoseconds a string costs, of which each byte takes `per_byte`.
fn cost(strings: &[TString], per_byte: usize) -> usize {
    if per_byte == 0 {
        return 4;
    }
    let bytes: usize = strings.iter().map(|text| text.len()).sum();
    40 + bytes.saturating_mul(per_byte) / strings.len().max(1)
}

/// Sets output 0 to `f` of each string of input 0. A byte takes about `per_byte` nanoseconds.
///
/// # Errors
/// The first that `f` gives, by the string's index.
pub(super) fn map<U: Element>(
    ctx: &mut RawContext<'_>,
    per_byte: usize,
    f: impl Fn(&TString) -> Result<U> + Sync,
) -> Result<()> {
    each(ctx, |strings| cost(strings, per_byte), f)
}

/// Sets output 0 to `f` of each element of input 0; `cost` says about how many nanoseconds one takes.
///
/// # Errors
/// The first that `f` gives, by the element's index.
pub(super) fn each<T: Element, U: Element>(
    ctx: &mut RawContext<'_>,
    cost: impl Fn(&[T]) -> usize,
    f: impl Fn(&T) -> Result<U> + Sync,
) -> Result<()> {
    let input = ctx.input_at(0)?;
    let mut output = ctx.allocate_output_at(0, input.shape())?;
    let elements = input.as_slice::<T>()?;
    fill(ctx, output.as_mut_slice::<U>()?, cost(elements), |index| f(&elements[index]))?;
    ctx.set_output_at(0, output)
}

/// Sets each element to what `f` gives for its index, which takes about `cost` nanoseconds.
///
/// # Errors
/// The first that `f` gives, by the index.
pub(super) fn fill<U: Element>(
    ctx: &RawContext<'_>,
    out: &mut [U],
    cost: usize,
    f: impl Fn(usize) -> Result<U> + Sync,
) -> Result<()> {
    let failed: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    ctx.parallel_chunks(out, 1, cost, |first, piece| {
        for (index, slot) in (first..).zip(piece) {
            match f(index) {
                Ok(value) => *slot = value,
                Err(error) => {
                    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                    if failed.as_ref().is_none_or(|(other, _)| index < *other) {
                        *failed = Some((index, error));
                    }
                    return;
                }
            }
        }
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

/// A vector of integers as a tensor of `dtype`, which is `int32` or `int64`.
///
/// # Errors
/// INVALID_ARGUMENT if one does not fit.
pub(super) fn integers(values: &[i64], dtype: DataType) -> Result<Tensor> {
    if dtype == DataType::Int64 {
        return Tensor::vector(values);
    }
    let mut tensor = Tensor::alloc(DataType::Int32, Shape::from([values.len()]))?;
    for (slot, &value) in tensor.as_mut_slice::<i32>()?.iter_mut().zip(values) {
        *slot = i32::try_from(value).map_err(|_| Error::invalid_argument(format!("{value} does not fit int32")))?;
    }
    Ok(tensor)
}

/// The one string of a scalar.
///
/// # Errors
/// INVALID_ARGUMENT for another shape.
pub(super) fn scalar<'a>(tensor: &'a Tensor, name: &str) -> Result<&'a TString> {
    kernlink::ensure!(tensor.rank() == 0, InvalidArgument, "{name} must be a scalar, got shape: {}", tensor.shape());
    tensor.as_slice::<TString>()?.first().ok_or_else(|| Error::internal("a scalar has an element"))
}

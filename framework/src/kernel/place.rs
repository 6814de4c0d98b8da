//! Variables of both kinds, by handle or by reference: how kernels read and update them.

use std::sync::{Arc, MutexGuard};

use super::RawContext;
use crate::device::Device;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::resource::Variable;
use crate::tensor::{PlaceGuard, Tensor, TensorRef, lock_order};
use crate::{bail, ensure};

/// A variable.
enum Place {
    Resource(Arc<Variable>),
    Reference(TensorRef),
}

/// A variable, locked.
enum Locked<'a> {
    Resource(MutexGuard<'a, Option<Tensor>>),
    Reference(PlaceGuard<'a>),
}

impl Locked<'_> {
    /// The value, if there is one.
    fn value(&mut self) -> Option<&mut Tensor> {
        match self {
            Locked::Resource(value) => value.as_mut(),
            Locked::Reference(value) => value.value_mut(),
        }
    }
}

impl Place {
    /// The variable whose handle or reference input `input` holds.
    ///
    /// # Errors
    /// NOT_FOUND if the handle names no variable.
    fn of(ctx: &RawContext<'_>, input: usize) -> Result<Place> {
        match ctx.signature().inputs.get(input) {
            Some(slot) if slot.is_ref => Ok(Place::Reference(ctx.reference_at(input)?.clone())),
            _ => Ok(Place::Resource(ctx.resource_at::<Variable>(input)?)),
        }
    }

    /// [`Place::of`] a variable that is read.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it is of another dtype.
    fn of_dtype(ctx: &RawContext<'_>, input: usize, dtype: DataType) -> Result<Place> {
        let place = Place::of(ctx, input)?;
        ensure!(
            place.dtype() == dtype,
            InvalidArgument,
            "Trying to read variable with wrong dtype. Expected {dtype} got {}",
            place.dtype()
        );
        Ok(place)
    }

    /// The dtype of its values.
    fn dtype(&self) -> DataType {
        match self {
            Place::Resource(variable) => variable.dtype(),
            Place::Reference(reference) => reference.dtype(),
        }
    }

    /// The variable, locked.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it is a reference, and this thread holds it already.
    fn lock(&self) -> Result<Locked<'_>> {
        Ok(match self {
            Place::Resource(variable) => Locked::Resource(variable.lock()),
            Place::Reference(reference) => Locked::Reference(reference.lock()?),
        })
    }

    /// Its address: locks are taken in this order.
    fn address(&self) -> usize {
        match self {
            Place::Resource(variable) => Arc::as_ptr(variable).addr(),
            Place::Reference(reference) => reference.address(),
        }
    }

    /// The error if it has no value.
    #[cold]
    fn uninitialized(&self, ctx: &RawContext<'_>, input: usize) -> Error {
        match self {
            Place::Reference(reference) => reference.uninitialized(),
            Place::Resource(_) => match ctx.handle_at(input) {
                Ok(handle) => Error::failed_precondition(format!(
                    "Attempting to use uninitialized variable {} in container {}",
                    handle.name, handle.container
                )),
                Err(error) => error,
            },
        }
    }
}

/// The value of the variable at input `input`.
///
/// # Errors
/// NOT_FOUND if there is no such variable, FAILED_PRECONDITION if it has no value, INVALID_ARGUMENT if its dtype is not
/// `dtype`.
pub fn read(ctx: &RawContext<'_>, input: usize, dtype: DataType) -> Result<Tensor> {
    let place = Place::of_dtype(ctx, input, dtype)?;
    let value = match &place {
        Place::Resource(variable) => variable.read().ok(),
        Place::Reference(reference) => reference.lock()?.clone(),
    };
    value.ok_or_else(|| place.uninitialized(ctx, input))
}

/// [`read`], in a device's memory.
///
/// # Errors
/// As [`read`]; those of [`Device::to_device`].
pub fn read_on(device: &dyn Device, ctx: &RawContext<'_>, input: usize, dtype: DataType) -> Result<Tensor> {
    let place = Place::of_dtype(ctx, input, dtype)?;
    let value = match &place {
        Place::Resource(variable) => variable.read_on(device)?,
        Place::Reference(reference) => reference.lock()?.as_ref().map(|value| device.to_device(value)).transpose()?,
    };
    value.ok_or_else(|| place.uninitialized(ctx, input))
}

/// Updates the variables at the first `N` inputs under their locks. `change` validates first; then it copies those tensors
/// that are shared before it writes to them.
///
/// # Errors
/// As [`read`], for each of them; those of `change`. INVALID_ARGUMENT if two of them are the same variable.
pub fn update<const N: usize, R>(
    ctx: &mut RawContext<'_>,
    dtype: DataType,
    change: impl FnOnce(&RawContext<'_>, [&mut Tensor; N]) -> Result<R>,
) -> Result<R> {
    let (mut change, mut result) = (Some(change), None);
    with_locked(ctx, dtype, &mut |ctx, tensors| {
        if let Some(change) = change.take() {
            result = Some(change(ctx, tensors)?);
        }
        Ok(())
    })?;
    Ok(result.expect("made above"))
}

/// What locked variables are changed by.
type Change<'c, const N: usize> = &'c mut dyn FnMut(&RawContext<'_>, [&mut Tensor; N]) -> Result<()>;

/// Apart, because the function above is compiled for every kernel that changes variables.
fn with_locked<const N: usize>(ctx: &mut RawContext<'_>, dtype: DataType, change: Change<'_, N>) -> Result<()> {
    let mut places = [const { None }; N];
    for (input, place) in places.iter_mut().enumerate() {
        *place = Some(Place::of(ctx, input)?);
    }
    let places: [Place; N] = places.map(|place| place.expect("filled above"));
    if let Some(other) = places.iter().map(Place::dtype).find(|&other| other != dtype) {
        bail!(InvalidArgument, "Trying to update variable with wrong dtype. Expected {other} got {dtype}");
    }
    let order = lock_order(places.each_ref().map(Place::address), "inputs")?;
    let mut guards = [const { None }; N];
    for input in order {
        guards[input] = Some(places[input].lock()?);
    }
    let tensors = guards.each_mut().map(|guard| guard.as_mut().and_then(Locked::value));
    if let Some(input) = tensors.iter().position(Option::is_none) {
        return Err(places[input].uninitialized(ctx, input));
    }
    change(ctx, tensors.map(|tensor| tensor.expect("checked above")))
}

/// Forwards the reference at input 0 to output 0, if the op has outputs.
///
/// # Errors
/// As [`RawContext::forward_reference_at`].
pub fn forward(ctx: &mut RawContext<'_>) -> Result<()> {
    if ctx.num_outputs() > 0 { ctx.forward_reference_at(0, 0) } else { Ok(()) }
}

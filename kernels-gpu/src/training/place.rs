//! Where a variable's value is, whichever kind of variable it is, and how kernels change it on the device.

use std::sync::{Arc, MutexGuard};

use kernlink::device::Device as _;
use kernlink::dtype::DataType;
use kernlink::error::{Error, Result};
use kernlink::kernel::RawContext;
use kernlink::resource::Variable;
use kernlink::tensor::{Tensor, TensorRef};
use kernlink::{bail, ensure};
use smallvec::SmallVec;

use crate::device::GpuDevice;

/// The place of a variable's value.
enum Place {
    Resource(Arc<Variable>),
    Reference(TensorRef),
}

impl Place {
    /// What the handle or the reference at input `input` stands for.
    ///
    /// # Errors
    /// NOT_FOUND if the handle names no variable.
    fn of(ctx: &RawContext<'_>, input: usize) -> Result<Place> {
        match ctx.signature().inputs.get(input) {
            Some(slot) if slot.is_ref => Ok(Place::Reference(ctx.reference_at(input)?.clone())),
            _ => Ok(Place::Resource(ctx.resource_at::<Variable>(input)?)),
        }
    }

    /// The dtype of its values.
    fn dtype(&self) -> DataType {
        match self {
            Place::Resource(variable) => variable.dtype(),
            Place::Reference(reference) => reference.dtype(),
        }
    }

    /// The value, locked.
    fn lock(&self) -> MutexGuard<'_, Option<Tensor>> {
        match self {
            Place::Resource(variable) => variable.lock(),
            Place::Reference(reference) => reference.lock(),
        }
    }

    /// A number that tells it from all others, in whose order locks are taken.
    fn address(&self) -> usize {
        match self {
            Place::Resource(variable) => Arc::as_ptr(variable).addr(),
            Place::Reference(reference) => reference.address(),
        }
    }

    /// The error if it is without a value.
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

/// The value of the variable at input `input`, in the device's memory.
///
/// # Errors
/// NOT_FOUND if there is no such variable, FAILED_PRECONDITION if it has no value, INVALID_ARGUMENT if its dtype is not
/// `dtype`.
pub(crate) fn read(gpu: &GpuDevice, ctx: &RawContext<'_>, input: usize, dtype: DataType) -> Result<Tensor> {
    let place = Place::of(ctx, input)?;
    ensure!(
        place.dtype() == dtype,
        InvalidArgument,
        "Trying to read variable with wrong dtype. Expected {dtype} got {}",
        place.dtype()
    );
    let value = match &place {
        Place::Resource(variable) => variable.read_on(gpu)?,
        Place::Reference(reference) => reference.lock().as_ref().map(|value| gpu.to_device(value)).transpose()?,
    };
    value.ok_or_else(|| place.uninitialized(ctx, input))
}

/// Changes the variables at the first `count` inputs, all locked meanwhile. `change` makes those that it changes
/// [`writable`] when it has nothing more to complain of.
///
/// # Errors
/// As [`read`], for each of them; those of `change`. INVALID_ARGUMENT if two of them are the same variable.
pub(crate) fn update(
    ctx: &mut RawContext<'_>,
    count: usize,
    dtype: DataType,
    change: impl FnOnce(&RawContext<'_>, &mut [&mut Tensor]) -> Result<()>,
) -> Result<()> {
    let places: SmallVec<[Place; 4]> = (0..count).map(|input| Place::of(ctx, input)).collect::<Result<_>>()?;
    if let Some(other) = places.iter().map(Place::dtype).find(|&other| other != dtype) {
        bail!(InvalidArgument, "Trying to update variable with wrong dtype. Expected {other} got {dtype}");
    }
    let mut order: SmallVec<[usize; 4]> = (0..count).collect();
    order.sort_unstable_by_key(|&input| places[input].address());
    if let Some(pair) = order.windows(2).find(|pair| places[pair[0]].address() == places[pair[1]].address()) {
        bail!(InvalidArgument, "inputs {} and {} are the same variable", pair[0].min(pair[1]), pair[0].max(pair[1]));
    }
    ctx.hold_lock();
    let mut guards: SmallVec<[Option<MutexGuard<'_, Option<Tensor>>>; 4]> = places.iter().map(|_| None).collect();
    for input in order {
        guards[input] = Some(places[input].lock());
    }
    let mut tensors: SmallVec<[&mut Tensor; 4]> = SmallVec::new();
    for (input, guard) in guards.iter_mut().enumerate() {
        match guard.as_mut().and_then(|guard| guard.as_mut()) {
            Some(tensor) => tensors.push(tensor),
            None => return Err(places[input].uninitialized(ctx, input)),
        }
    }
    change(ctx, &mut tensors)
}

/// Makes a variable's elements its own, and brings them to the device: copies them if they are shared.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(crate) fn writable(gpu: &GpuDevice, tensor: &mut Tensor) -> Result<()> {
    if tensor.device_memory().is_none() {
        *tensor = gpu.to_device(tensor)?;
    } else if !tensor.is_unique() {
        *tensor = gpu.copy(tensor)?;
    }
    Ok(())
}

/// Hands the reference at input 0 on as output 0, if the op has outputs.
///
/// # Errors
/// As [`RawContext::forward_reference_at`].
pub(crate) fn forward(ctx: &mut RawContext<'_>) -> Result<()> {
    if ctx.num_outputs() > 0 { ctx.forward_reference_at(0, 0) } else { Ok(()) }
}

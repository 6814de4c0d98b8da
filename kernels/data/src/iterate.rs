//! The kernels of iterators.

use std::sync::Arc;

use kernlink::dtype::{DataType, TString};
use kernlink::kernel::{KernelContext, KernelState, NamedResource, RawConstruction, RawContext};
use kernlink::proto::{Message as _, ResourceHandleProto};
use kernlink::resource::Resource;
use kernlink::shape::PartialShape;
use kernlink::tensor::{ResourceHandle, Tensor, Variant};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::optional::OptionalValue;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::dataset::{Spec, dataset_of, input_dataset, set_components};
use crate::function::Captured;
use crate::resource::IteratorResource;
use crate::saved::{saved_of, to_tensor};
use crate::turn::Turn;

/// The state of a node that makes an iterator.
struct Named {
    spec: Spec,
    iterator: NamedResource<IteratorResource>,
}

impl Named {
    fn get(&self) -> Result<Arc<IteratorResource>> {
        let iterator = self.iterator.get(|| Ok(IteratorResource::new(&self.spec)))?;
        iterator.spec.ensure_accepts(&self.spec)?;
        Ok(iterator)
    }
}

impl KernelState for Named {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self { spec: Spec::of(ctx)?, iterator: NamedResource::new(ctx)? })
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::OldIterator, ops::IteratorV2])]
fn iterator(state: &Named, ctx: &mut RawContext<'_>) -> Result<()> {
    state.get()?;
    state.iterator.set_handle(ctx)
}

#[register_kernel(device = Cpu, cheap, op = [ops::AnonymousIterator, ops::AnonymousIteratorV2, ops::AnonymousIteratorV3])]
fn anonymous_iterator(spec: &Spec, ctx: &mut RawContext<'_>) -> Result<()> {
    let iterator = Arc::new(IteratorResource::new(spec));
    let resources = ctx.resources()?;
    let name = &*ctx.op().name;
    let handle = if name == "AnonymousIterator" {
        // Kept until somebody destroys it: its name, as a string, may be all that is left of it.
        let number = resources.unique_number();
        let handle = resources.make_handle::<IteratorResource>(ctx.device_name(), name, &format!("{name}{number}"));
        resources.create_handle(&handle, iterator.clone())?;
        handle
    } else {
        resources.make_owned_handle(ctx.device_name(), iterator.clone())
    };
    if name == "AnonymousIteratorV2" {
        // Its name can be told as a string.
        resources.create_unowned(&handle.container, &handle.name, &iterator)?;
    }
    ctx.set_output_at(0, Tensor::scalar(handle))?;
    if ctx.num_outputs() > 1 {
        ctx.set_output_at(1, Tensor::scalar(Variant::default()))?;
    }
    Ok(())
}

/// An iterator over the dataset that a function makes once.
struct OneShot {
    named: Named,
    factory: Arc<Captured>,
    is_made: Turn<bool>,
}

impl KernelState for OneShot {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self { named: Named::new(ctx)?, factory: Captured::new(ctx, "dataset_factory")?, is_made: Turn::new(false) })
    }
}

#[register_kernel(device = Cpu, op = [ops::OneShotIterator])]
async fn one_shot_iterator(state: &OneShot, ctx: &mut RawContext<'_>) -> Result<()> {
    {
        let mut is_made = state.is_made.take().await;
        if !*is_made {
            let iterator = state.named.get()?;
            // Another node of the same name may have made it.
            if iterator.running().is_err() {
                let factory = state.factory.instantiate()?;
                let result = ctx.call(&factory, Vec::new()).await?;
                let [dataset] = result.as_slice() else {
                    bail!(InvalidArgument, "The `dataset_factory` function must return a single dataset tensor.");
                };
                iterator.set(dataset_of(dataset)?, ctx)?;
            }
            *is_made = true;
        }
    }
    state.named.iterator.set_handle(ctx)
}

#[register_kernel(device = Cpu)]
fn make_iterator(ctx: &mut KernelContext<'_, ops::MakeIterator>) -> Result<()> {
    let dataset = input_dataset(ctx, 0)?;
    ctx.resource_at::<IteratorResource>(1)?.set(dataset, ctx)
}

#[register_kernel(device = Cpu, op = [ops::IteratorGetNext, ops::IteratorGetNextSync])]
async fn get_next(ctx: &mut RawContext<'_>) -> Result<()> {
    let iterator = ctx.resource_at::<IteratorResource>(0)?;
    match iterator.next(ctx).await? {
        Some(element) => set_components(ctx, element),
        None => Err(Error::out_of_range("End of sequence")),
    }
}

#[register_kernel(device = Cpu)]
async fn get_next_as_optional(ctx: &mut KernelContext<'_, ops::IteratorGetNextAsOptional>) -> Result<()> {
    let iterator = ctx.resource_at::<IteratorResource>(0)?;
    let element = iterator.next(ctx).await?;
    ctx.set_output_at(0, Tensor::scalar(Variant::new(OptionalValue(element))))
}

/// Deletes what a handle names. What handles own goes with the last of them.
#[register_kernel(device = Cpu, cheap, op = [
    ops::DeleteIterator, ops::DeleteMemoryCache, ops::DeleteMultiDeviceIterator, ops::DeleteRandomSeedGenerator,
    ops::DeleteSeedGenerator,
])]
fn delete(ctx: &mut RawContext<'_>) -> Result<()> {
    let handle = ctx.handle_at(0)?;
    match handle.owned {
        Some(_) => Ok(()),
        None => ctx.resources()?.delete_handle(handle),
    }
}

/// Sets the output to the name of the iterator that input 0 is a handle of.
pub(crate) fn set_string_handle<R: Resource>(ctx: &mut RawContext<'_>) -> Result<()> {
    ctx.resource_at::<R>(0)?;
    let handle = ctx.handle_at(0)?;
    let name = ResourceHandleProto {
        device: handle.device.clone(),
        container: handle.container.clone(),
        name: handle.name.clone(),
        maybe_type_name: handle.type_name.clone(),
        ..ResourceHandleProto::default()
    };
    ctx.set_output_at(0, Tensor::scalar(TString::from(name.encode_to_vec())))
}

#[register_kernel(device = Cpu, cheap)]
fn to_string_handle(ctx: &mut KernelContext<'_, ops::IteratorToStringHandle>) -> Result<()> {
    set_string_handle::<IteratorResource>(ctx)
}

/// What an iterator must give that is found by its name; empty for anything.
pub(crate) struct Expected {
    dtypes: Vec<DataType>,
    shapes: Vec<PartialShape>,
}

impl KernelState for Expected {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let (dtypes, shapes): (Vec<_>, Vec<_>) =
            (ctx.attrs.required("output_types")?, ctx.attrs.required("output_shapes")?);
        ensure!(
            dtypes.is_empty() || shapes.is_empty() || dtypes.len() == shapes.len(),
            InvalidArgument,
            "If both 'output_types' and 'output_shapes' are set, they must have the same length."
        );
        Ok(Self { dtypes, shapes })
    }
}

impl Expected {
    /// Sets the output to a handle of the iterator that input 0 names, which gives what `spec` says.
    pub(crate) fn set_handle<R: Resource>(&self, ctx: &mut RawContext<'_>, spec: impl Fn(&R) -> &Spec) -> Result<()> {
        let text = ctx.input_at(0)?;
        ensure!(text.rank() == 0, InvalidArgument, "string_handle must be a scalar");
        let text: TString = text.to_scalar()?;
        let Ok(name) = ResourceHandleProto::decode(text.as_bytes()) else {
            bail!(InvalidArgument, "Could not parse string_handle as a valid ResourceHandle");
        };
        ensure!(
            name.device == ctx.device_name(),
            InvalidArgument,
            "Attempted create an iterator on device \"{}\" from handle defined on device \"{}\"",
            ctx.device_name(),
            name.device
        );
        let handle = ResourceHandle {
            device: name.device,
            container: name.container,
            name: name.name,
            type_name: name.maybe_type_name,
            ..ResourceHandle::default()
        };
        let iterator = ctx.resources()?.lookup_handle::<R>(&handle)?;
        let spec = spec(&iterator);
        if !self.dtypes.is_empty() {
            Spec::new(self.dtypes.clone(), Vec::new()).ensure_dtypes(&spec.dtypes)?;
        }
        if !self.shapes.is_empty() {
            let expected = Spec::new(spec.dtypes.clone(), self.shapes.clone());
            expected.ensure_accepts(spec)?;
        }
        ctx.set_output_at(0, Tensor::scalar(handle))
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::IteratorFromStringHandle, ops::IteratorFromStringHandleV2])]
fn from_string_handle(state: &Expected, ctx: &mut RawContext<'_>) -> Result<()> {
    state.set_handle(ctx, |iterator: &IteratorResource| &iterator.spec)
}

#[register_kernel(device = Cpu, cheap, op = [ops::IteratorGetDevice, ops::ExperimentalIteratorGetDevice])]
fn get_device(ctx: &mut RawContext<'_>) -> Result<()> {
    let device = TString::from(ctx.device_name());
    ctx.set_output_at(0, Tensor::scalar(device))
}

#[register_kernel(device = Cpu)]
async fn serialize_iterator(ctx: &mut KernelContext<'_, ops::SerializeIterator>) -> Result<()> {
    let iterator = ctx.resource_at::<IteratorResource>(0)?;
    let saved = iterator.save().await?;
    ctx.set_output_at(0, to_tensor(saved)?)
}

#[register_kernel(device = Cpu)]
async fn deserialize_iterator(ctx: &mut KernelContext<'_, ops::DeserializeIterator>) -> Result<()> {
    let iterator = ctx.resource_at::<IteratorResource>(0)?;
    let serialized = ctx.input_at(1)?.clone();
    iterator.restore(saved_of(&serialized)?, ctx).await
}

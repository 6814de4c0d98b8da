//! Resources that nodes make and name: by handles of dtype `resource`, and by references to two strings.

use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use kernlink::dtype::{DataType, TString};
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::resource::{ContainerInfo, Resource, ResourceManager};
use kernlink::tensor::{Tensor, TensorRef};
use kernlink::{Result, ensure};

/// The resource of a node, made when the node first runs and forgotten with the node unless others can name it.
pub(crate) struct Named<R: Resource> {
    resources: Arc<ResourceManager>,
    info: ContainerInfo,
    reference: OnceLock<TensorRef>,
    resource: PhantomData<fn() -> R>,
}

impl<R: Resource> Named<R> {
    /// What the attrs `container` and `shared_name` say.
    pub(crate) fn new(ctx: &RawConstruction<'_>, use_node_name: bool) -> Result<Named<R>> {
        Ok(Named {
            resources: ctx.resources()?.clone(),
            info: ctx.container_info(use_node_name)?,
            reference: OnceLock::new(),
            resource: PhantomData,
        })
    }

    /// The name, for errors.
    pub(crate) fn name(&self) -> &str {
        &self.info.name
    }

    /// The resource, which `make` makes if there is none.
    pub(crate) fn get(&self, make: impl FnOnce() -> Result<R>) -> Result<Arc<R>> {
        self.resources.lookup_or_create(&self.info.container, &self.info.name, make)
    }

    /// Sets output 0 to what names the resource.
    pub(crate) fn set_handle(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        if ctx.output_dtype_at(0)? == DataType::Resource {
            let handle = self.resources.make_handle::<R>(ctx.device_name(), &self.info.container, &self.info.name);
            return ctx.set_output_at(0, Tensor::scalar(handle));
        }
        let reference = match self.reference.get() {
            Some(reference) => reference.clone(),
            None => {
                let reference = TensorRef::new(DataType::String);
                let names = [TString::from(&*self.info.container), TString::from(&*self.info.name)];
                reference.set(Tensor::vector(&names)?)?;
                self.reference.get_or_init(|| reference).clone()
            }
        };
        ctx.set_output_reference_at(0, reference)
    }
}

impl<R: Resource> Drop for Named<R> {
    fn drop(&mut self) {
        if self.info.is_private {
            // Nobody may have made it yet.
            let _ = self.resources.delete::<R>(&self.info.container, &self.info.name);
        }
    }
}

/// The resource that input `index` names: by a handle, or by two strings, the container and the name.
pub(crate) fn resource_at<R: Resource>(ctx: &RawContext<'_>, index: usize) -> Result<Arc<R>> {
    let input = ctx.input_at(index)?;
    if input.dtype() == DataType::Resource {
        return ctx.resource_at(index);
    }
    let names = match input.reference() {
        Some(_) => ctx.referred_at(index)?,
        None => input.clone(),
    };
    let [container, name] = names.as_slice::<TString>()? else {
        kernlink::bail!(InvalidArgument, "Resource handle must have 2 elements, but had shape: {}", names.shape());
    };
    ctx.resources()?.lookup(&container.to_string_lossy(), &name.to_string_lossy())
}

/// Checks that an input is a scalar.
pub(crate) fn ensure_scalar(tensor: &Tensor, name: &str) -> Result<()> {
    ensure!(tensor.rank() == 0, InvalidArgument, "{name} must be a scalar, but got shape {}", tensor.shape());
    Ok(())
}

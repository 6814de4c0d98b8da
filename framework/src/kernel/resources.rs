//! Kernels that make, name and ask for resources: what ops with resources of their own have in common.

use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use super::{KernelConstruction, KernelContext, OpKernel, RawConstruction, RawContext};
use crate::dtype::{DataType, TString};
use crate::ensure;
use crate::error::Result;
use crate::op::Op;
use crate::resource::{ContainerInfo, Resource, ResourceManager};
use crate::tensor::{ResourceHandle, Tensor, TensorRef};

/// The resource that a node makes when it first runs, under the name that its attrs `container` and `shared_name` say:
/// what TensorFlow has in `ResourceOpKernel`. A resource that no other node can name goes with the kernel.
///
/// ```
/// # use kernlink_framework as kernlink;
/// use kernlink::Result;
/// use kernlink::kernel::{NamedResource, RawContext};
/// use kernlink::resource::Resource;
///
/// #[derive(Default)]
/// struct Counter(std::sync::atomic::AtomicU64);
///
/// impl Resource for Counter {
///     fn type_name() -> &'static str {
///         "my::Counter"
///     }
/// }
///
/// // The state of the kernel is made by `NamedResource::new(ctx)`.
/// fn counter(named: &NamedResource<Counter>, ctx: &mut RawContext<'_>) -> Result<()> {
///     named.get(|| Ok(Counter::default()))?;
///     named.set_handle(ctx)
/// }
/// ```
pub struct NamedResource<R: Resource> {
    resources: Arc<ResourceManager>,
    info: ContainerInfo,
    /// What an output of type `Ref(string)` hands out.
    reference: OnceLock<TensorRef>,
    resource: PhantomData<fn() -> R>,
}

impl<R: Resource> NamedResource<R> {
    /// The resource of a node. A node without `shared_name` has one of its own.
    ///
    /// # Errors
    /// As [`RawConstruction::container_info`].
    #[track_caller]
    pub fn new(ctx: &RawConstruction<'_>) -> Result<NamedResource<R>> {
        NamedResource::of(ctx, ctx.container_info(false)?)
    }

    /// The resource of a node. A node without `shared_name` names it after itself, so that nodes of the same name in several
    /// sessions share it.
    ///
    /// # Errors
    /// As [`RawConstruction::container_info`].
    #[track_caller]
    pub fn with_node_name(ctx: &RawConstruction<'_>) -> Result<NamedResource<R>> {
        NamedResource::of(ctx, ctx.container_info(true)?)
    }

    #[track_caller]
    fn of(ctx: &RawConstruction<'_>, info: ContainerInfo) -> Result<NamedResource<R>> {
        let resources = ctx.resources()?.clone();
        Ok(NamedResource { resources, info, reference: OnceLock::new(), resource: PhantomData })
    }

    /// The container.
    pub fn container(&self) -> &str {
        &self.info.container
    }

    /// The name in it.
    pub fn name(&self) -> &str {
        &self.info.name
    }

    /// The resource, which `make` makes if there is none. What another node made under this name may be configured in
    /// another way: compare.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get(&self, make: impl FnOnce() -> Result<R>) -> Result<Arc<R>> {
        self.resources.lookup_or_create(&self.info.container, &self.info.name, make)
    }

    /// Sets output 0 to what names the resource: a handle, or for an output of type `Ref(string)` a reference to the
    /// container and the name.
    ///
    /// # Errors
    /// As [`RawContext::set_output_at`].
    pub fn set_handle(&self, ctx: &mut RawContext<'_>) -> Result<()> {
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

impl<R: Resource> Drop for NamedResource<R> {
    fn drop(&mut self) {
        if self.info.is_private {
            // Nobody may have made it yet.
            let _ = self.resources.delete::<R>(&self.info.container, &self.info.name);
        }
    }
}

/// A kernel that outputs a handle of a resource of type `R`, which something else makes.
///
/// The attrs `container` and `shared_name` are taken as they are: nodes with an empty `shared_name` share one resource. With
/// [`ResourceHandle::ANONYMOUS_NAME`] each run's handle has a name of its own.
///
/// ```ignore
/// // `Vocabulary` is a `Resource`, `VocabularyHandle` an op with the two attrs and one output.
/// #[register_kernel(device = Cpu, op = VocabularyHandle)]
/// type Handle = ResourceHandleOp<Vocabulary>;
/// ```
pub struct ResourceHandleOp<R: Resource> {
    resources: Arc<ResourceManager>,
    container: String,
    name: String,
    /// The handle of every run, unless it has a name of its own.
    handle: Option<Tensor>,
    resource: PhantomData<fn() -> R>,
}

impl<O: Op, R: Resource> OpKernel<O> for ResourceHandleOp<R> {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let container: String = ctx.attrs.required("container")?;
        let name: String = ctx.attrs.required("shared_name")?;
        let resources = ctx.resources()?.clone();
        let make = || Tensor::scalar(resources.make_handle::<R>(ctx.device_name(), &container, &name));
        let handle = (name != ResourceHandle::ANONYMOUS_NAME).then(make);
        Ok(Self { resources, container, name, handle, resource: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let make = || Tensor::scalar(self.resources.make_handle::<R>(ctx.device_name(), &self.container, &self.name));
        let handle = self.handle.clone().unwrap_or_else(make);
        ctx.set_output_at(0, handle)
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

/// A kernel that outputs a list of handles of resources of type `R`, by the attrs `containers` and `shared_names`, lists of
/// one string an output. Every run hands out the same handles.
pub struct ResourceHandlesOp<R: Resource> {
    handles: Vec<Tensor>,
    resource: PhantomData<fn() -> R>,
}

impl<O: Op, R: Resource> OpKernel<O> for ResourceHandlesOp<R> {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let containers: Vec<String> = ctx.attrs.required("containers")?;
        let names: Vec<String> = ctx.attrs.required("shared_names")?;
        let count = ctx.signature.outputs.len();
        for (what, list) in [("containers", &containers), ("names", &names)] {
            ensure!(
                list.len() == count,
                InvalidArgument,
                "Number of {what} ({}) must be equal to N ({count})",
                list.len()
            );
        }
        let resources = ctx.resources()?;
        let handle = |(container, name): (&String, &String)| {
            Tensor::scalar(resources.make_handle::<R>(ctx.device_name(), container, name))
        };
        Ok(Self { handles: containers.iter().zip(&names).map(handle).collect(), resource: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        self.handles.iter().enumerate().try_for_each(|(index, handle)| ctx.set_output_at(index, handle.clone()))
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

/// A kernel that outputs whether input 0 names a resource of type `R` that exists.
pub struct IsResourceInitialized<R: Resource>(PhantomData<fn() -> R>);

impl<O: Op, R: Resource> OpKernel<O> for IsResourceInitialized<R> {
    fn new(_: &KernelConstruction<'_, O>) -> Result<Self> {
        Ok(Self(PhantomData))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let exists = ctx.resources()?.lookup_handle::<R>(ctx.handle_at(0)?).is_ok();
        ctx.set_output_at(0, Tensor::scalar(exists))
    }

    fn is_expensive(&self) -> bool {
        false
    }

    fn asks_for_values(&self) -> bool {
        false
    }
}

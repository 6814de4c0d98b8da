//! Barriers: the components of an element meet by key, and complete elements wait in a queue.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kernlink::dtype::{DataType, TString};
use kernlink::error::shortened_bytes;
use kernlink::kernel::{AsyncOpKernel, Attrs, KernelConstruction, KernelContext, NamedResource, OpKernel, RawContext};
use kernlink::resource::Resource;
use kernlink::shape::{PartialShape, Shape};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink::{Error, Result, bail, ensure};
use kernlink_geometry::integers::ensure_scalar;
use kernlink_kernels_common::tensors::listed;
use kernlink_kernels_common::tensors::slice;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::queue::{Queue, Spec};
use super::queue_ops::stack_elements;
use super::queue_store::{Element, Store};

struct Barrier {
    name: String,
    dtypes: Vec<DataType>,
    /// Complete elements: when they were begun, the key, the components.
    ready: Queue,
    state: Mutex<State>,
}

struct State {
    is_closed: bool,
    cancels_pending: bool,
    /// When elements that are begun now were begun.
    now: i64,
    incomplete: HashMap<TString, (i64, Vec<Option<Tensor>>)>,
}

impl Barrier {
    fn new(name: &str, dtypes: &[DataType], shapes: &[PartialShape]) -> Barrier {
        let spec = Spec {
            kind: "PriorityQueue",
            dtypes: [&[DataType::Int64, DataType::String], dtypes].concat(),
            shapes: [&[PartialShape::from(Shape::scalar()), PartialShape::from(Shape::scalar())], shapes].concat(),
            capacity: usize::MAX,
            pads: false,
        };
        let store = Store::ByPriority { elements: Default::default(), next: 0 };
        let state = State { is_closed: false, cancels_pending: false, now: i64::MIN, incomplete: HashMap::new() };
        Barrier {
            name: name.to_owned(),
            dtypes: dtypes.to_vec(),
            ready: Queue::new(&format!("{name}_queue"), spec, store),
            state: Mutex::new(state),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives elements a component; returns those that are complete, and whether no more will come.
    fn insert(&self, keys: &[TString], component: usize, values: &Tensor) -> Result<(VecDeque<Element>, bool)> {
        let name = &self.name;
        let mut state = self.lock();
        let state = &mut *state;
        ensure!(
            !state.is_closed || (!state.cancels_pending && (keys.is_empty() || !state.incomplete.is_empty())),
            Cancelled,
            "Barrier {name} is closed.  Pending enqueues cancelled: {}.  Number of new insertions: {}.  Number of \
             incomplete keys: {}.",
            state.cancels_pending,
            keys.len(),
            state.incomplete.len()
        );
        let (mut complete, mut has_new) = (VecDeque::new(), false);
        complete.make_room(keys.len())?;
        for (row, key) in keys.iter().enumerate() {
            // All memory is asked for before anything changes: an element is whole, or as it was.
            let value = slice(values, row)?;
            let begun = state.incomplete.get(key).map(|(_, components)| components);
            let has = |other: usize| begun.is_some_and(|components| components[other].is_some());
            let completes = (0..self.dtypes.len()).all(|other| other == component || has(other));
            let mut element: Element = scratch::room(if completes { 2 + self.dtypes.len() } else { 0 })?;
            if begun.is_none() {
                ensure!(
                    !state.is_closed,
                    Cancelled,
                    "Barrier {name} is closed, but attempted to insert a brand new key: \"{}\".  Insertion index: {row}.",
                    shortened_bytes(key)
                );
                has_new = true;
                state.incomplete.make_room(1)?;
                let components = scratch::filled(None, self.dtypes.len())?;
                state.incomplete.insert(key.clone(), (state.now, components));
            }
            let Some((begun, components)) = state.incomplete.get_mut(key) else { continue };
            ensure!(
                components[component].is_none(),
                InvalidArgument,
                "Key \"{}\" already has a value for component {component} in barrier {name}",
                shortened_bytes(key)
            );
            components[component] = Some(value);
            if completes {
                element.extend([Tensor::from(*begun), Tensor::scalar(key.clone())]);
                element.extend(components.drain(..).flatten());
                state.incomplete.remove(key);
                self.ready.ensure_components(&element, None)?;
                complete.push_back(element);
            }
        }
        if has_new {
            state.now = state.now.saturating_add(1);
        }
        Ok((complete, state.is_closed && state.incomplete.is_empty()))
    }

    /// Closes the barrier; returns whether its queue is to be closed, too.
    fn close(&self, cancel: bool) -> Result<bool> {
        let mut state = self.lock();
        // A second closing may cancel what the first one waited for.
        ensure!(
            !state.is_closed || (cancel && !state.cancels_pending),
            Cancelled,
            "Barrier '{}' is already closed.",
            self.name
        );
        state.is_closed = true;
        state.cancels_pending = cancel;
        if cancel {
            state.incomplete.clear();
        }
        Ok(state.incomplete.is_empty())
    }

    async fn close_queue(&self) -> Result<()> {
        if self.ready.is_closed() { Ok(()) } else { self.ready.close(false).await }
    }

    /// How many elements are to be waited for.
    fn to_deliver(&self, wanted: usize, takes_fewer: bool) -> Result<usize> {
        let state = self.lock();
        if !state.is_closed {
            return Ok(wanted);
        }
        let ready = self.ready.size();
        let (deliver, available) =
            if takes_fewer { (wanted.min(ready), ready) } else { (wanted, ready + state.incomplete.len()) };
        ensure!(
            available >= deliver.max(1),
            OutOfRange,
            "Barrier '{}' is closed and has insufficient elements (requested {deliver}, total size {available})",
            self.name
        );
        Ok(deliver)
    }
}

impl Resource for Barrier {
    fn type_name() -> &'static str {
        "tensorflow::barrier::Barrier"
    }

    fn debug_string(&self) -> String {
        "A barrier".to_owned()
    }
}

struct BarrierKernel {
    barrier: NamedResource<Barrier>,
    dtypes: Vec<DataType>,
    shapes: Vec<PartialShape>,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ops::Barrier> for BarrierKernel {
    fn new(ctx: &KernelConstruction<'_, ops::Barrier>) -> Result<Self> {
        let attrs = ctx.attrs();
        ensure!(
            attrs.component_types.len() == attrs.shapes.len(),
            InvalidArgument,
            "All of the component shapes must be specified"
        );
        for shape in &attrs.shapes {
            let Some(known) = shape.to_shape() else {
                bail!(InvalidArgument, "the shapes of the components of a barrier must be known, not {shape}");
            };
            ensure!(known.num_elements() > 0, InvalidArgument, "Empty tensors are not supported, but received {shape}");
        }
        ensure!(
            attrs.capacity < 0,
            InvalidArgument,
            "Barrier only accepts capacity=-1.  Feed the inputs to your Barrier through a queue to enforce a limited \
             capacity."
        );
        Ok(Self {
            barrier: NamedResource::new(ctx)?,
            dtypes: attrs.component_types.clone(),
            shapes: attrs.shapes.clone(),
        })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::Barrier>) -> Result<()> {
        let make = || Ok(Barrier::new(self.barrier.name(), &self.dtypes, &self.shapes));
        let barrier = self.barrier.get(make)?;
        ensure!(
            barrier.dtypes == self.dtypes,
            InvalidArgument,
            "Shared barrier '{}' has component types {} but requested component types were {}",
            barrier.name,
            listed(&barrier.dtypes),
            listed(&self.dtypes)
        );
        self.barrier.set_handle(ctx)
    }
}

#[register_kernel(device = Cpu, T = [realnumbertype, bool, complex128, complex64, resource, string, variant])]
async fn barrier_insert_many(
    attrs: &Attrs<ops::BarrierInsertMany>,
    ctx: &mut KernelContext<'_, ops::BarrierInsertMany>,
) -> Result<()> {
    let barrier = ctx.resource_at::<Barrier>(0)?;
    let count = barrier.dtypes.len();
    let Some(component) = usize::try_from(attrs.component_index).ok().filter(|&component| component < count) else {
        bail!(InvalidArgument, "The component ID is out of range: {} of {count} components", attrs.component_index);
    };
    let (keys, values) = (ctx.input_at(1)?, ctx.input_at(2)?);
    ensure!(
        values.dtype() == barrier.dtypes[component],
        InvalidArgument,
        "component {component} of the barrier is {}, not {}",
        barrier.dtypes[component],
        values.dtype()
    );
    ensure!(
        values.rank() > 0 && values.shape()[0] == keys.num_elements(),
        InvalidArgument,
        "Shape mismatch: {} keys for values of shape {}",
        keys.num_elements(),
        values.shape()
    );
    ensure!(
        keys.num_elements() == 0 || values.num_elements() > 0,
        InvalidArgument,
        "Tensors with no elements are not supported {}: received shape {}",
        barrier.name,
        values.shape()
    );
    let (complete, is_over) = barrier.insert(keys.as_slice::<TString>()?, component, values)?;
    barrier.ready.enqueue(complete).await?;
    if is_over { barrier.close_queue().await } else { Ok(()) }
}

struct TakeKernel {
    takes_fewer: bool,
}

#[register_kernel(device = Cpu)]
impl AsyncOpKernel<ops::BarrierTakeMany> for TakeKernel {
    fn new(ctx: &KernelConstruction<'_, ops::BarrierTakeMany>) -> Result<Self> {
        ensure!(ctx.attrs().timeout_ms == -1, InvalidArgument, "Timeout not supported yet.");
        Ok(Self { takes_fewer: ctx.attrs().allow_small_batch })
    }

    async fn compute(&self, ctx: &mut KernelContext<'_, ops::BarrierTakeMany>) -> Result<()> {
        let barrier = ctx.resource_at::<Barrier>(0)?;
        let count = ctx.input_at(1)?;
        ensure_scalar(count, "num_elements")?;
        let count = count.to_scalar::<i32>()?;
        let Ok(count) = usize::try_from(count) else {
            bail!(InvalidArgument, "num_elements must not be negative, but is {count}");
        };
        let dtypes: Vec<DataType> = ctx.signature().outputs[2..].iter().map(|slot| slot.dtype).collect();
        ensure!(
            dtypes == barrier.dtypes,
            InvalidArgument,
            "the components of the barrier are {}, not {}",
            listed(&barrier.dtypes),
            listed(&dtypes)
        );
        let deliver = barrier.to_deliver(count, self.takes_fewer)?;
        let elements = if deliver == 0 { Vec::new() } else { barrier.ready.dequeue(deliver, self.takes_fewer).await? };
        stack_elements(ctx, &barrier.ready, &elements)
    }
}

#[register_kernel(device = Cpu)]
async fn barrier_close(attrs: &Attrs<ops::BarrierClose>, ctx: &mut KernelContext<'_, ops::BarrierClose>) -> Result<()> {
    let barrier = ctx.resource_at::<Barrier>(0)?;
    if barrier.close(attrs.cancel_pending_enqueues)? { barrier.close_queue().await } else { Ok(()) }
}

fn set_size(ctx: &mut RawContext<'_>, size: usize) -> Result<()> {
    let size = i32::try_from(size).map_err(|_| Error::internal("there are too many elements to count"))?;
    ctx.set_output_at(0, Tensor::from(size))
}

#[register_kernel(device = Cpu, op = ops::BarrierReadySize)]
fn ready_size(ctx: &mut RawContext<'_>) -> Result<()> {
    let size = ctx.resource_at::<Barrier>(0)?.ready.size();
    set_size(ctx, size)
}

#[register_kernel(device = Cpu, op = ops::BarrierIncompleteSize)]
fn incomplete_size(ctx: &mut RawContext<'_>) -> Result<()> {
    let size = ctx.resource_at::<Barrier>(0)?.lock().incomplete.len();
    set_size(ctx, size)
}

//! The kernels of queues.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};

use kernlink::dtype::DataType;
use kernlink::kernel::{Attrs, KernelContext, KernelState, NamedResource, RawConstruction, RawContext};
use kernlink::shape::{PartialShape, Shape};
use kernlink::tensor::scratch;
use kernlink::tensor::{Tensor, TensorRef};
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::tensors::listed;
use kernlink_kernels_common::tensors::{copy_elements, slice};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::queue::{Queue, Spec};
use super::queue_store::{Element, Philox, Store};

/// How a queue keeps its elements.
enum Order {
    Fifo,
    Shuffle { seeds: (i64, i64), keep: usize },
    Priority,
}

/// Makes a queue.
struct QueueKernel {
    queue: NamedResource<Queue>,
    spec: Spec,
    order: Order,
}

/// Checks what the attrs say of a queue.
fn spec(kind: &'static str, dtypes: &[DataType], shapes: &[PartialShape], capacity: i64, pads: bool) -> Result<Spec> {
    ensure!(
        shapes.is_empty() || shapes.len() == dtypes.len(),
        InvalidArgument,
        "Mismatch between component_types and shapes: {} types, {} shapes",
        dtypes.len(),
        shapes.len()
    );
    if pads {
        ensure!(
            shapes.len() == dtypes.len(),
            InvalidArgument,
            "Shapes must be provided for all components, but received {} shapes and {} components.",
            shapes.len(),
            dtypes.len()
        );
    } else if let Some(shape) = shapes.iter().find(|shape| shape.to_shape().is_none()) {
        bail!(InvalidArgument, "the shapes of the components of a {kind} must be known, not {shape}");
    }
    let capacity = usize::try_from(capacity).unwrap_or(usize::MAX);
    Ok(Spec { kind, dtypes: dtypes.to_vec(), shapes: shapes.to_vec(), capacity, pads })
}

/// The same for a queue by priority, whose elements begin with the priority.
fn priority_spec(dtypes: &[DataType], shapes: &[PartialShape], capacity: i64) -> Result<Spec> {
    ensure!(
        dtypes.len() == shapes.len(),
        InvalidArgument,
        "Mismatch between component_types and shapes: {} types, {} shapes",
        dtypes.len(),
        shapes.len()
    );
    let dtypes = [&[DataType::Int64], dtypes].concat();
    let shapes = [&[PartialShape::from(Shape::scalar())], shapes].concat();
    spec("PriorityQueue", &dtypes, &shapes, capacity, false)
}

fn keep(min_after_dequeue: i64, capacity: i64) -> Result<usize> {
    let Ok(keep) = usize::try_from(min_after_dequeue) else {
        bail!(InvalidArgument, "min_after_dequeue {min_after_dequeue} must be >= 0");
    };
    // Without a capacity it is as large as an int32 can be.
    let capacity = if capacity < 0 { i64::from(i32::MAX) } else { capacity };
    ensure!(
        min_after_dequeue < capacity,
        InvalidArgument,
        "min_after_dequeue {min_after_dequeue} must be < capacity {capacity}"
    );
    Ok(keep)
}

impl KernelState for QueueKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let dtypes: Vec<DataType> = ctx.attrs.required("component_types")?;
        let shapes: Vec<PartialShape> = ctx.attrs.required("shapes")?;
        // TensorFlow's queues count with 32 bits.
        let count = |name: &str| -> Result<i64> {
            let value: i64 = ctx.attrs.required(name)?;
            ensure!(
                i32::try_from(value).is_ok(),
                InvalidArgument,
                "Attr {name} has value {value} out of range for an int32"
            );
            Ok(value)
        };
        let capacity = count("capacity")?;
        let (spec, order) = match ctx.op.name.trim_end_matches("V2") {
            "PaddingFIFOQueue" => (spec("PaddingFIFOQueue", &dtypes, &shapes, capacity, true)?, Order::Fifo),
            "PriorityQueue" => (priority_spec(&dtypes, &shapes, capacity)?, Order::Priority),
            "RandomShuffleQueue" => {
                let seeds = (ctx.attrs.required("seed")?, ctx.attrs.required("seed2")?);
                let keep = keep(count("min_after_dequeue")?, capacity)?;
                (spec("RandomShuffleQueue", &dtypes, &shapes, capacity, false)?, Order::Shuffle { seeds, keep })
            }
            _ => (spec("FIFOQueue", &dtypes, &shapes, capacity, false)?, Order::Fifo),
        };
        Ok(Self { queue: NamedResource::new(ctx)?, spec, order })
    }
}

#[register_kernel(device = Cpu, cheap, op = [
    ops::FIFOQueue, ops::FIFOQueueV2, ops::PaddingFIFOQueue, ops::PaddingFIFOQueueV2, ops::PriorityQueue,
    ops::PriorityQueueV2, ops::RandomShuffleQueue, ops::RandomShuffleQueueV2,
])]
fn queue(kernel: &QueueKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let make = || {
        let store = match kernel.order {
            Order::Fifo => Store::Ordered(VecDeque::new()),
            Order::Priority => Store::ByPriority { elements: Default::default(), next: 0 },
            Order::Shuffle { seeds: (0, 0), keep } => {
                let random = || RandomState::new().hash_one(0);
                Store::Shuffled { elements: Vec::new(), random: Philox::new(random(), random()), keep }
            }
            Order::Shuffle { seeds: (seed, seed2), keep } => {
                let random = Philox::new(seed as u64, seed2 as u64);
                Store::Shuffled { elements: Vec::new(), random, keep }
            }
        };
        Ok(Queue::new(kernel.queue.name(), kernel.spec.clone(), store))
    };
    let queue = kernel.queue.get(make)?;
    queue.ensure_spec(&kernel.spec, ctx.node())?;
    kernel.queue.set_handle(ctx)
}

/// A queue's handle as a reference to its name.
#[register_kernel(device = Cpu)]
fn fake_queue(ctx: &mut KernelContext<'_, ops::FakeQueue>) -> Result<()> {
    let handle = ctx.handle(ops::FakeQueue::RESOURCE)?;
    let names = [handle.container.as_str().into(), handle.name.as_str().into()];
    let reference = TensorRef::new(DataType::String);
    reference.set(Tensor::vector::<kernlink::dtype::TString>(&names)?)?;
    ctx.set_output_reference_at(0, reference)
}

/// What kernels that wait for their queue need to know: that they are to wait for any time.
struct NoTimeout;

impl KernelState for NoTimeout {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let timeout_ms: i64 = ctx.attrs.required("timeout_ms")?;
        ensure!(timeout_ms == -1, InvalidArgument, "Timeout not supported yet.");
        Ok(Self)
    }
}

/// The inputs behind the handle.
fn components(ctx: &RawContext<'_>) -> Result<Vec<Tensor>> {
    (1..ctx.num_inputs()).map(|index| ctx.input_at(index).cloned()).collect()
}

#[register_kernel(device = Cpu, op = [ops::QueueEnqueue, ops::QueueEnqueueV2])]
async fn enqueue(_: &NoTimeout, ctx: &RawContext<'_>) -> Result<()> {
    let queue = ctx.resource_at::<Queue>(0)?;
    let element = components(ctx)?;
    queue.ensure_components(&element, None)?;
    queue.enqueue(VecDeque::from([element])).await
}

#[register_kernel(device = Cpu, op = [ops::QueueEnqueueMany, ops::QueueEnqueueManyV2])]
async fn enqueue_many(_: &NoTimeout, ctx: &RawContext<'_>) -> Result<()> {
    let queue = ctx.resource_at::<Queue>(0)?;
    let batch = components(ctx)?;
    for (index, component) in batch.iter().enumerate() {
        ensure!(
            component.rank() > 0,
            InvalidArgument,
            "All input tensors must have at least one dimension: component {index} is a scalar"
        );
    }
    let count = batch.first().map_or(0, |first| first.shape()[0]);
    queue.ensure_components(&batch, Some(count))?;
    for (index, component) in batch.iter().enumerate() {
        ensure!(
            component.shape()[0] == count,
            InvalidArgument,
            "All input tensors must have the same size in the 0th dimension. Component {index} has {}, and should have \
             {count}",
            component.shape()[0]
        );
    }
    let element =
        |row: usize| -> Result<Element> { scratch::collected_ok(batch.iter().map(|component| slice(component, row))) };
    let elements = VecDeque::from(scratch::collected_ok((0..count).map(element))?);
    queue.enqueue(elements).await
}

/// Checks that the outputs are what a queue gives.
fn ensure_outputs(ctx: &RawContext<'_>, queue: &Queue) -> Result<()> {
    let dtypes: Vec<DataType> = ctx.signature().outputs.iter().map(|slot| slot.dtype).collect();
    let own = &queue.spec.dtypes;
    ensure!(dtypes == *own, InvalidArgument, "Signature mismatch, have: {} expected: {}", listed(&dtypes), listed(own));
    Ok(())
}

#[register_kernel(device = Cpu, op = [ops::QueueDequeue, ops::QueueDequeueV2])]
async fn dequeue(_: &NoTimeout, ctx: &mut RawContext<'_>) -> Result<()> {
    let queue = ctx.resource_at::<Queue>(0)?;
    ensure_outputs(ctx, &queue)?;
    let element = queue.dequeue(1, false).await?.pop().unwrap_or_default();
    element.into_iter().enumerate().try_for_each(|(index, component)| ctx.set_output_at(index, component))
}

async fn dequeue_several(ctx: &mut RawContext<'_>, takes_fewer: bool) -> Result<()> {
    let queue = ctx.resource_at::<Queue>(0)?;
    let count = ctx.input_at(1)?;
    // TensorFlow's kernel takes any tensor of one element.
    let count = count.to_scalar::<i32>()?;
    let Ok(count) = usize::try_from(count) else {
        bail!(InvalidArgument, "DequeueManyOp requested {count} < 0 elements");
    };
    ensure_outputs(ctx, &queue)?;
    queue.ensure_shapes()?;
    let elements = if count == 0 { Vec::new() } else { queue.dequeue(count, takes_fewer).await? };
    stack_elements(ctx, &queue, &elements)
}

/// Sets the outputs to the components of elements, stacked along a new first dimension.
pub(super) fn stack_elements(ctx: &mut RawContext<'_>, queue: &Queue, elements: &[Element]) -> Result<()> {
    for (index, shape) in queue.spec.shapes.iter().enumerate() {
        let parts: Vec<&Tensor> = scratch::collected(elements.iter().map(|element| &element[index]))?;
        let joined = match shape.to_shape() {
            Some(shape) => stack(ctx, index, shape, &parts)?,
            None => stack_padded(index, shape, &parts, ctx)?,
        };
        ctx.set_output_at(index, joined)?;
    }
    Ok(())
}

fn stack(ctx: &RawContext<'_>, index: usize, mut shape: Shape, parts: &[&Tensor]) -> Result<Tensor> {
    let count = shape.num_elements();
    shape.insert(0, parts.len());
    let mut output = ctx.allocate_output_at(index, shape)?;
    parts.iter().enumerate().try_for_each(|(row, part)| copy_elements(&mut output, row * count, part))?;
    Ok(output)
}

/// Stacks tensors of several shapes, all padded with zeros to the greatest sizes.
fn stack_padded(index: usize, shape: &PartialShape, parts: &[&Tensor], ctx: &RawContext<'_>) -> Result<Tensor> {
    let Some(dims) = shape.dims() else {
        bail!(InvalidArgument, "components of unknown rank cannot be padded to one shape");
    };
    let greatest = |axis: usize| parts.iter().map(|part| part.shape()[axis]).max().unwrap_or(0);
    let whole: Vec<usize> = dims.iter().enumerate().map(|(axis, dim)| dim.unwrap_or_else(|| greatest(axis))).collect();
    let mut batch = Shape::from(&whole[..]);
    batch.insert(0, parts.len());
    batch.check()?;
    let count: usize = whole.iter().product();
    let mut output = Tensor::zeros(ctx.output_dtype_at(index)?, batch)?;
    for (row, part) in parts.iter().enumerate() {
        if part.num_elements() == 0 {
            continue;
        }
        // Runs along the last dimension lie side by side in both.
        let run = part.shape().last().copied().unwrap_or(1);
        let flat = (*part).clone().reshaped([part.num_elements() / run, run])?;
        let mut position = vec![0; part.rank().saturating_sub(1)];
        for line in 0..flat.shape()[0] {
            let start = position.iter().zip(&whole).fold(0, |at, (index, dim)| at * dim + index);
            let at = row * count + start * whole.last().copied().unwrap_or(1);
            copy_elements(&mut output, at, &flat.slice_rows(line, line + 1)?)?;
            for (index, dim) in position.iter_mut().zip(part.shape().iter()).rev() {
                *index += 1;
                if *index < *dim {
                    break;
                }
                *index = 0;
            }
        }
    }
    Ok(output)
}

#[register_kernel(device = Cpu, op = [ops::QueueDequeueMany, ops::QueueDequeueManyV2])]
async fn dequeue_many(_: &NoTimeout, ctx: &mut RawContext<'_>) -> Result<()> {
    dequeue_several(ctx, false).await
}

#[register_kernel(device = Cpu, op = [ops::QueueDequeueUpTo, ops::QueueDequeueUpToV2])]
async fn dequeue_up_to(_: &NoTimeout, ctx: &mut RawContext<'_>) -> Result<()> {
    dequeue_several(ctx, true).await
}

/// Closes a queue.
#[register_kernel(device = Cpu, op = [ops::QueueClose, ops::QueueCloseV2])]
async fn close(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let queue = ctx.resource_at::<Queue>(0)?;
    queue.close(attrs.cancel_pending_enqueues).await
}

#[register_kernel(device = Cpu, op = [ops::QueueIsClosed, ops::QueueIsClosedV2], cheap)]
fn is_closed(ctx: &mut RawContext<'_>) -> Result<()> {
    let is_closed = ctx.resource_at::<Queue>(0)?.is_closed();
    ctx.set_output_at(0, Tensor::from(is_closed))
}

#[register_kernel(device = Cpu, op = [ops::QueueSize, ops::QueueSizeV2], cheap)]
fn size(ctx: &mut RawContext<'_>) -> Result<()> {
    let size = ctx.resource_at::<Queue>(0)?.size() as i32;
    ctx.set_output_at(0, Tensor::from(size))
}

//! The kernels of queues.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};

use kernlink::dtype::DataType;
use kernlink::kernel::{AsyncOpKernel, KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::shape::{PartialShape, Shape};
use kernlink::tensor::{Tensor, TensorRef};
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::tensors::listed;
use kernlink_kernels_common::tensors::{copy_elements, slice};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::queue::{Queue, Spec};
use super::queue_store::{Element, Philox, Store};
use crate::named::{Named, ensure_scalar, resource_at};

/// How a queue keeps its elements.
enum Order {
    Fifo,
    Shuffle { seeds: (i64, i64), keep: usize },
    Priority,
}

/// Makes a queue.
struct QueueKernel {
    queue: Named<Queue>,
    spec: Spec,
    order: Order,
}

impl QueueKernel {
    fn run(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let make = || {
            let store = match self.order {
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
            Ok(Queue::new(self.queue.name(), self.spec.clone(), store))
        };
        let queue = self.queue.get(make)?;
        queue.ensure_spec(&self.spec, ctx.node())?;
        self.queue.set_handle(ctx)
    }
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

macro_rules! queues {
    ($($op:ident |$a:ident| $spec:expr, $order:expr;)*) => {$(
        #[register_kernel(device = Cpu)]
        impl OpKernel<ops::$op> for QueueKernel {
            fn new(ctx: &KernelConstruction<'_, ops::$op>) -> Result<Self> {
                let $a = ctx.attrs();
                Ok(Self { queue: Named::new(ctx, false)?, spec: $spec?, order: $order })
            }

            fn compute(&self, ctx: &mut KernelContext<'_, ops::$op>) -> Result<()> {
                self.run(ctx)
            }

            fn is_expensive(&self) -> bool {
                false
            }
        }
    )*};
}

macro_rules! shuffle {
    ($a:ident) => {
        Order::Shuffle { seeds: ($a.seed, $a.seed2), keep: keep($a.min_after_dequeue, $a.capacity)? }
    };
}

fn keep(min_after_dequeue: i64, capacity: i64) -> Result<usize> {
    let Ok(keep) = usize::try_from(min_after_dequeue) else {
        bail!(InvalidArgument, "min_after_dequeue {min_after_dequeue} must be >= 0");
    };
    ensure!(
        capacity < 0 || min_after_dequeue < capacity,
        InvalidArgument,
        "min_after_dequeue {min_after_dequeue} must be < capacity {capacity}"
    );
    Ok(keep)
}

queues! {
    FIFOQueue |a| spec("FIFOQueue", &a.component_types, &a.shapes, a.capacity, false), Order::Fifo;
    FIFOQueueV2 |a| spec("FIFOQueue", &a.component_types, &a.shapes, a.capacity, false), Order::Fifo;
    PaddingFIFOQueue |a| spec("PaddingFIFOQueue", &a.component_types, &a.shapes, a.capacity, true), Order::Fifo;
    PaddingFIFOQueueV2 |a| spec("PaddingFIFOQueue", &a.component_types, &a.shapes, a.capacity, true), Order::Fifo;
    PriorityQueue |a| priority_spec(&a.component_types, &a.shapes, a.capacity), Order::Priority;
    PriorityQueueV2 |a| priority_spec(&a.component_types, &a.shapes, a.capacity), Order::Priority;
    RandomShuffleQueue |a| spec("RandomShuffleQueue", &a.component_types, &a.shapes, a.capacity, false), shuffle!(a);
    RandomShuffleQueueV2 |a| spec("RandomShuffleQueue", &a.component_types, &a.shapes, a.capacity, false), shuffle!(a);
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

fn ensure_no_timeout(timeout_ms: i64) -> Result<()> {
    ensure!(timeout_ms == -1, InvalidArgument, "Timeout not supported yet.");
    Ok(())
}

/// The inputs behind the handle.
fn components(ctx: &RawContext<'_>) -> Result<Vec<Tensor>> {
    (1..ctx.num_inputs()).map(|index| ctx.input_at(index).cloned()).collect()
}

async fn enqueue(ctx: &RawContext<'_>) -> Result<()> {
    let queue = resource_at::<Queue>(ctx, 0)?;
    let element = components(ctx)?;
    queue.ensure_components(&element, None)?;
    queue.enqueue(VecDeque::from([element])).await
}

async fn enqueue_many(ctx: &RawContext<'_>) -> Result<()> {
    let queue = resource_at::<Queue>(ctx, 0)?;
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
    let element = |row: usize| batch.iter().map(|component| slice(component, row)).collect::<Result<Element>>();
    let elements = (0..count).map(element).collect::<Result<VecDeque<_>>>()?;
    queue.enqueue(elements).await
}

/// Checks that the outputs are what a queue gives.
fn ensure_outputs(ctx: &RawContext<'_>, queue: &Queue) -> Result<()> {
    let dtypes: Vec<DataType> = ctx.signature().outputs.iter().map(|slot| slot.dtype).collect();
    let own = &queue.spec.dtypes;
    ensure!(dtypes == *own, InvalidArgument, "Signature mismatch, have: {} expected: {}", listed(&dtypes), listed(own));
    Ok(())
}

async fn dequeue(ctx: &mut RawContext<'_>) -> Result<()> {
    let queue = resource_at::<Queue>(ctx, 0)?;
    ensure_outputs(ctx, &queue)?;
    let element = queue.dequeue(1, false).await?.pop().unwrap_or_default();
    element.into_iter().enumerate().try_for_each(|(index, component)| ctx.set_output_at(index, component))
}

async fn dequeue_several(ctx: &mut RawContext<'_>, takes_fewer: bool) -> Result<()> {
    let queue = resource_at::<Queue>(ctx, 0)?;
    let count = ctx.input_at(1)?;
    ensure_scalar(count, "n")?;
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
        let parts: Vec<&Tensor> = elements.iter().map(|element| &element[index]).collect();
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

/// Kernels that wait for their queue.
struct WaitingKernel;

macro_rules! waiting {
    ($($op:ident |$ctx:ident| $body:expr;)*) => {$(
        #[register_kernel(device = Cpu)]
        impl AsyncOpKernel<ops::$op> for WaitingKernel {
            fn new(ctx: &KernelConstruction<'_, ops::$op>) -> Result<Self> {
                ensure_no_timeout(ctx.attrs().timeout_ms)?;
                Ok(Self)
            }

            async fn compute(&self, $ctx: &mut KernelContext<'_, ops::$op>) -> Result<()> {
                $body.await
            }
        }
    )*};
}
waiting! {
    QueueEnqueue |ctx| enqueue(ctx);
    QueueEnqueueV2 |ctx| enqueue(ctx);
    QueueEnqueueMany |ctx| enqueue_many(ctx);
    QueueEnqueueManyV2 |ctx| enqueue_many(ctx);
    QueueDequeue |ctx| dequeue(ctx);
    QueueDequeueV2 |ctx| dequeue(ctx);
    QueueDequeueMany |ctx| dequeue_several(ctx, false);
    QueueDequeueManyV2 |ctx| dequeue_several(ctx, false);
    QueueDequeueUpTo |ctx| dequeue_several(ctx, true);
    QueueDequeueUpToV2 |ctx| dequeue_several(ctx, true);
}

/// Closes a queue.
struct CloseKernel {
    cancel_pending: bool,
}

macro_rules! closing {
    ($($op:ident)*) => {$(
        #[register_kernel(device = Cpu)]
        impl AsyncOpKernel<ops::$op> for CloseKernel {
            fn new(ctx: &KernelConstruction<'_, ops::$op>) -> Result<Self> {
                Ok(Self { cancel_pending: ctx.attrs().cancel_pending_enqueues })
            }

            async fn compute(&self, ctx: &mut KernelContext<'_, ops::$op>) -> Result<()> {
                let queue = resource_at::<Queue>(ctx, 0)?;
                queue.close(self.cancel_pending).await
            }
        }
    )*};
}
closing!(QueueClose QueueCloseV2);

/// Says something of a queue.
struct AskKernel;

macro_rules! asking {
    ($($op:ident |$queue:ident| $answer:expr;)*) => {$(
        #[register_kernel(device = Cpu)]
        impl OpKernel<ops::$op> for AskKernel {
            fn new(_: &KernelConstruction<'_, ops::$op>) -> Result<Self> {
                Ok(Self)
            }

            fn compute(&self, ctx: &mut KernelContext<'_, ops::$op>) -> Result<()> {
                let $queue = resource_at::<Queue>(ctx, 0)?;
                ctx.set_output_at(0, Tensor::from($answer))
            }

            fn is_expensive(&self) -> bool {
                false
            }
        }
    )*};
}
asking! {
    QueueIsClosed |queue| queue.is_closed();
    QueueIsClosedV2 |queue| queue.is_closed();
    QueueSize |queue| queue.size() as i32;
    QueueSizeV2 |queue| queue.size() as i32;
}

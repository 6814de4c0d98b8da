//! Staging areas: tensors that wait for a later run.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use kernlink::kernel::{KernelState, NamedResource, RawConstruction, RawContext};
use kernlink::resource::Resource;
use kernlink::step::Waiters;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::MakeRoom;
use kernlink::{Result, bail, ensure};
use kernlink_geometry::integers::ensure_scalar;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// How much an area holds; 0 stands for any number.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) elements: usize,
    pub(super) bytes: usize,
}

impl Limits {
    /// The limits that the attrs of a node state.
    pub(super) fn new(ctx: &RawConstruction<'_>) -> Result<Limits> {
        let limit = |name: &str| Ok(usize::try_from(ctx.attrs.required::<i64>(name)?).unwrap_or(0));
        Ok(Limits { elements: limit("capacity")?, bytes: limit("memory_limit")? })
    }

    /// Whether `more` bytes fit beside what is there.
    pub(super) fn have_room(self, elements: usize, bytes: usize, more: usize) -> bool {
        (self.elements == 0 || elements < self.elements)
            && (self.bytes == 0 || bytes.saturating_add(more) <= self.bytes)
    }

    /// Checks that tensors fit at all, so that nobody waits for ever.
    pub(super) fn ensure_fits(self, bytes: usize) -> Result<()> {
        ensure!(
            self.bytes == 0 || bytes <= self.bytes,
            ResourceExhausted,
            "Attempted to insert tensors with combined size of '{bytes}' bytes into Staging Area with a memory limit of \
             '{}'.",
            self.bytes
        );
        Ok(())
    }
}

pub(super) fn bytes_of(tensors: &[Tensor]) -> usize {
    tensors.iter().map(Tensor::num_bytes).sum()
}

/// Sets the outputs from `first` on.
pub(super) fn set_outputs(ctx: &mut RawContext<'_>, first: usize, tensors: Vec<Tensor>) -> Result<()> {
    let wanted = ctx.num_outputs() - first;
    ensure!(tensors.len() == wanted, InvalidArgument, "Mismatch stage/unstage: {} vs. {wanted}", tensors.len());
    for (index, tensor) in tensors.into_iter().enumerate() {
        let dtype = ctx.output_dtype_at(first + index)?;
        ensure!(
            tensor.dtype() == dtype,
            InvalidArgument,
            "what was staged as {} cannot be unstaged as {dtype}",
            tensor.dtype()
        );
        ctx.set_output_at(first + index, tensor)?;
    }
    Ok(())
}

struct Area {
    limits: Limits,
    state: Mutex<State>,
    changed: Waiters,
}

#[derive(Default)]
struct State {
    elements: VecDeque<Vec<Tensor>>,
    bytes: usize,
}

impl Area {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn put(&self, tensors: Vec<Tensor>) -> Result<()> {
        let bytes = bytes_of(&tensors);
        self.limits.ensure_fits(bytes)?;
        let mut tensors = Some(tensors);
        let attempt = || {
            let mut state = self.lock();
            if !self.limits.have_room(state.elements.len(), state.bytes, bytes) {
                return None;
            }
            let tensors = tensors.take()?;
            if let Err(error) = state.elements.make_room(1) {
                return Some(Err(error));
            }
            state.bytes += bytes;
            state.elements.push_back(tensors);
            Some(Ok(()))
        };
        self.changed.until(attempt).await?;
        self.changed.wake_all();
        Ok(())
    }

    async fn take(&self) -> Vec<Tensor> {
        let attempt = || {
            let mut state = self.lock();
            let tensors = state.elements.pop_front()?;
            state.bytes -= bytes_of(&tensors);
            Some(tensors)
        };
        let tensors = self.changed.until(attempt).await;
        self.changed.wake_all();
        tensors
    }

    async fn peek(&self, index: usize) -> Vec<Tensor> {
        self.changed.until(|| self.lock().elements.get(index).cloned()).await
    }

    fn clear(&self) {
        let elements = std::mem::take(&mut *self.lock());
        drop(elements);
        self.changed.wake_all();
    }
}

impl Resource for Area {
    fn type_name() -> &'static str {
        "tensorflow::Buffer"
    }

    fn debug_string(&self) -> String {
        format!("Staging size: {}", self.lock().elements.len())
    }

    fn memory_used(&self) -> usize {
        self.lock().bytes
    }
}

struct StageKernel {
    area: NamedResource<Area>,
    limits: Limits,
}

impl StageKernel {
    fn area(&self) -> Result<std::sync::Arc<Area>> {
        self.area.get(|| Ok(Area { limits: self.limits, state: Mutex::default(), changed: Waiters::new() }))
    }
}

impl KernelState for StageKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self { area: NamedResource::with_node_name(ctx)?, limits: Limits::new(ctx)? })
    }
}

#[register_kernel(device = Cpu, op = ops::Stage)]
async fn stage(kernel: &StageKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let tensors = (0..ctx.num_inputs()).map(|index| ctx.take_input_at(index)).collect::<Result<Vec<_>>>()?;
    kernel.area()?.put(tensors).await
}

#[register_kernel(device = Cpu, op = ops::Unstage)]
async fn unstage(kernel: &StageKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let tensors = kernel.area()?.take().await;
    set_outputs(ctx, 0, tensors)
}

#[register_kernel(device = Cpu, op = ops::StagePeek)]
async fn peek(kernel: &StageKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let area = kernel.area()?;
    let index = ctx.input_at(0)?;
    ensure_scalar(index, "index")?;
    let index = index.to_scalar::<i32>()?;
    let Ok(index) = usize::try_from(index) else {
        bail!(InvalidArgument, "index must not be negative, but is {index}");
    };
    let tensors = area.peek(index).await;
    set_outputs(ctx, 0, tensors)
}

#[register_kernel(device = Cpu, op = ops::StageSize)]
fn size(kernel: &StageKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let size = kernel.area()?.lock().elements.len() as i32;
    ctx.set_output_at(0, Tensor::from(size))
}

#[register_kernel(device = Cpu, op = ops::StageClear)]
fn clear(kernel: &StageKernel, _: &mut RawContext<'_>) -> Result<()> {
    kernel.area()?.clear();
    Ok(())
}

//! Locks, and tensors that stay in the session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kernlink::dtype::TString;
use kernlink::kernel::{KernelContext, RawContext, ResourceHandleOp};
use kernlink::resource::Resource;
use kernlink::step::Waiters;
use kernlink::tensor::{ResourceHandle, Tensor, Variant, VariantValue, scratch};
use kernlink::{Error, Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// A lock that one run holds at a time.
#[derive(Default)]
struct Mutex {
    is_held: AtomicBool,
    waiters: Waiters,
}

impl Resource for Mutex {
    fn type_name() -> &'static str {
        "tensorflow::Mutex"
    }
}

/// Holds a lock until it is dropped.
struct Held(Arc<Mutex>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.is_held.store(false, Ordering::Release);
        self.0.waiters.wake_all();
    }
}

impl VariantValue for Held {
    fn type_name(&self) -> &'static str {
        "tensorflow::Mutex::SharedLockReleaser"
    }
}

#[register_kernel(device = Cpu, op = ops::MutexV2)]
type MutexHandle = ResourceHandleOp<Mutex>;

#[register_kernel(device = Cpu)]
async fn lock(ctx: &mut KernelContext<'_, ops::MutexLock>) -> Result<()> {
    let handle = ctx.handle(ops::MutexLock::MUTEX)?;
    let mutex = ctx.resources()?.lookup_or_create_handle(handle, || Ok(Mutex::default()))?;
    let take = || {
        let free = mutex.is_held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        free.is_ok().then(|| Held(mutex.clone()))
    };
    let held = mutex.waiters.until(take).await;
    ctx.set_output(ops::MutexLock::MUTEX_LOCK, Tensor::scalar(Variant::new(held)))
}

#[register_kernel(device = Cpu, cheap)]
fn consume(ctx: &mut KernelContext<'_, ops::ConsumeMutexLock>) -> Result<()> {
    let lock = ctx.take_input(ops::ConsumeMutexLock::MUTEX_LOCK)?;
    let found = lock.as_slice::<Variant>()?.first().map(|variant| (variant.get::<Held>().is_some(), variant));
    ensure!(
        matches!(found, Some((true, _))),
        InvalidArgument,
        "Expected input to contain a MutexLock, but saw variant of type: '{}'",
        found.map_or("", |(_, variant)| variant.type_name())
    );
    Ok(())
}

/// Keeps input 0 in the session, if the step ends well; returns its name.
fn keep(ctx: &RawContext<'_>) -> Result<String> {
    let (step, node) = (ctx.step()?, ctx.node());
    let id = step.session().next_tensor_id();
    let handle = format!("{node};{id};{}", ctx.device_name());
    step.store_tensor(node, ctx.input_at(0)?.clone(), &handle);
    Ok(handle)
}

#[register_kernel(device = Cpu)]
fn get_handle(ctx: &mut KernelContext<'_, ops::GetSessionHandle>) -> Result<()> {
    let handle = keep(ctx)?;
    ctx.set_output(ops::GetSessionHandle::HANDLE, Tensor::scalar(TString::from(handle)))
}

#[register_kernel(device = Cpu)]
fn get_handle_v2(ctx: &mut KernelContext<'_, ops::GetSessionHandleV2>) -> Result<()> {
    let handle = ResourceHandle {
        device: ctx.device_name().to_owned(),
        name: keep(ctx)?,
        type_name: "tensorflow::SessionState".to_owned(),
        ..ResourceHandle::default()
    };
    ctx.set_output(ops::GetSessionHandleV2::HANDLE, Tensor::scalar(handle))
}

/// The name that input 0 holds.
fn name(ctx: &RawContext<'_>) -> Result<String> {
    let name = ctx.input_at(0)?.to_scalar::<TString>()?;
    String::from_utf8(scratch::copied(&name)?)
        .map_err(|_| Error::invalid_argument("the name of a session tensor is UTF-8"))
}

#[register_kernel(device = Cpu)]
fn get_tensor(ctx: &mut KernelContext<'_, ops::GetSessionTensor>) -> Result<()> {
    let tensor = ctx.session()?.tensor(&name(ctx)?)?;
    let dtype = ctx.output_dtype_at(0)?;
    ensure!(tensor.dtype() == dtype, InvalidArgument, "the tensor in the session is {}, not {dtype}", tensor.dtype());
    ctx.set_output(ops::GetSessionTensor::VALUE, tensor)
}

#[register_kernel(device = Cpu)]
fn delete_tensor(ctx: &mut KernelContext<'_, ops::DeleteSessionTensor>) -> Result<()> {
    ctx.session()?.delete_tensor(&name(ctx)?)
}

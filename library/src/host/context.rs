//! `TF_OpKernelContext`: one call of a library's kernel.

use std::ffi::{c_char, c_int, c_void};
use std::future::Future;
use std::pin::Pin;
use std::ptr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use kernlink_framework::dtype::DataType;
use kernlink_framework::kernel::{MemoryType, RawContext};
use kernlink_framework::proto::{Message as _, tensor_to_proto};
use kernlink_framework::shape::Shape;
use kernlink_framework::tensor::Tensor;
use kernlink_framework::{Error, Result};

use super::construction::view;
use super::tensor::{dtype_of, shape_of};
use super::{CTensor, Status, fill, guarded, report, text};
use crate::abi::{
    TF_AllocatorAttributes, TF_AsyncOpKernelDoneCallback, TF_Buffer, TF_DataType, TF_InputRange_Args,
    TF_OpKernelContext, TF_Status, TF_StringView, TF_Tensor,
};

/// Elements of at most so many bytes go on in a tensor that stores them itself.
const INLINE_BYTES: usize = 16;

/// What is behind a `TF_OpKernelContext`. A kernel that calls back may use it from several threads.
pub(super) struct Call<'c, 'r> {
    state: Mutex<State<'c, 'r>>,
    graph_def_version: i32,
}

pub(super) struct State<'c, 'r> {
    pub(super) raw: &'c mut RawContext<'r>,
    /// The outputs, as C sees them.
    outputs: Vec<Option<CTensor>>,
    /// Inputs that became outputs.
    forwarded: Vec<(usize, usize)>,
    failure: Option<Error>,
}

impl<'c, 'r> Call<'c, 'r> {
    pub(super) fn new(raw: &'c mut RawContext<'r>, graph_def_version: i32) -> Call<'c, 'r> {
        let outputs = (0..raw.num_outputs()).map(|_| None).collect();
        let state = State { raw, outputs, forwarded: Vec::new(), failure: None };
        Call { state: Mutex::new(state), graph_def_version }
    }

    /// The pointer for C, which lives as long as this value.
    pub(super) fn to_c(&self) -> *mut TF_OpKernelContext {
        ptr::from_ref(self).cast_mut().cast()
    }

    /// # Safety
    /// The pointer is null or one of [`Call::to_c`] whose value is still there.
    #[track_caller]
    unsafe fn from_c(ctx: *mut TF_OpKernelContext) -> Result<&'c Call<'c, 'r>> {
        // SAFETY: as the caller says.
        unsafe { ctx.cast::<Call<'c, 'r>>().as_ref() }
            .ok_or_else(|| Error::invalid_argument("the kernel's context is a null pointer"))
    }

    fn lock(&self) -> MutexGuard<'_, State<'c, 'r>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands the outputs on.
    pub(super) fn finish(&self) -> Result<()> {
        let mut state = self.lock();
        if let Some(failure) = state.failure.take() {
            return Err(failure);
        }
        for index in 0..state.outputs.len() {
            let Some(output) = state.outputs[index].take() else { continue };
            let tensor = output.to_tensor()?;
            drop(output);
            let is_small = tensor.dtype().is_pod() && tensor.num_bytes() <= INLINE_BYTES;
            let tensor = match is_small {
                true => Tensor::from_bytes(tensor.dtype(), tensor.shape().clone(), tensor.bytes()?)?,
                false => tensor,
            };
            state.raw.set_output_at(index, tensor)?;
        }
        Ok(())
    }
}

impl State<'_, '_> {
    #[track_caller]
    fn output(&self, index: c_int) -> Result<usize> {
        let found = usize::try_from(index).ok().filter(|index| *index < self.outputs.len());
        found.ok_or_else(|| Error::out_of_range("output index out of range"))
    }

    #[track_caller]
    fn input(&self, index: c_int) -> Result<usize> {
        let found = usize::try_from(index).ok().filter(|index| *index < self.raw.num_inputs());
        found.ok_or_else(|| Error::out_of_range("input index out of range"))
    }

    /// Keeps a tensor as an output, and returns another handle of it.
    fn keep(&mut self, index: usize, tensor: CTensor) -> *mut TF_Tensor {
        let shared = tensor.share();
        self.outputs[index] = Some(tensor);
        shared.into_c()
    }
}

/// What is behind a `TF_AsyncOpKernelDoneCallback`.
pub(super) struct Done(Arc<Signal>);

#[derive(Default)]
struct Signal {
    state: Mutex<(bool, Option<Waker>)>,
    changed: Condvar,
}

/// Is ready once the kernel has called back. Dropped before, it waits for that: until then the kernel uses the context.
pub(super) struct Ended(Arc<Signal>);

impl Done {
    pub(super) fn callback() -> (*mut TF_AsyncOpKernelDoneCallback, Ended) {
        let signal = Arc::<Signal>::default();
        (Box::into_raw(Box::new(Done(signal.clone()))).cast(), Ended(signal))
    }
}

impl Signal {
    fn lock(&self) -> MutexGuard<'_, (bool, Option<Waker>)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Future for Ended {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock();
        if state.0 {
            return Poll::Ready(());
        }
        state.1 = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        while !state.0 {
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Says that the kernel is done: once for each call, on any thread.
pub unsafe extern "C" fn TF_RunAsyncOpKernelDoneCallback(done: *mut TF_AsyncOpKernelDoneCallback) {
    if done.is_null() {
        return;
    }
    guarded((), || {
        // SAFETY: it came from `Done::callback`, and is used once.
        let done = unsafe { Box::from_raw(done.cast::<Done>()) };
        let mut state = done.0.lock();
        state.0 = true;
        let waker = state.1.take();
        drop(state);
        done.0.changed.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    });
}

/// Runs `body` on the call.
///
/// # Safety
/// The pointers are null or what the C API asks for.
unsafe fn with<R>(
    ctx: *mut TF_OpKernelContext,
    status: *mut TF_Status,
    otherwise: R,
    body: impl FnOnce(&mut State<'_, '_>) -> Result<R>,
) -> R {
    // SAFETY: as the caller says.
    unsafe { report(status, otherwise, || body(&mut Call::from_c(ctx)?.lock())) }
}

/// The same of a question that has no status.
///
/// # Safety
/// As [`with`].
pub(super) unsafe fn ask<R>(
    ctx: *mut TF_OpKernelContext,
    otherwise: R,
    body: impl FnOnce(&mut State<'_, '_>) -> Result<R>,
) -> R {
    // SAFETY: as the caller says.
    unsafe { with(ctx, ptr::null_mut(), otherwise, body) }
}

/// The number of inputs.
pub unsafe extern "C" fn TF_NumInputs(ctx: *mut TF_OpKernelContext) -> c_int {
    // SAFETY: as said in `host`.
    unsafe { ask(ctx, 0, |call| Ok(call.raw.num_inputs() as c_int)) }
}

/// The number of outputs.
pub unsafe extern "C" fn TF_NumOutputs(ctx: *mut TF_OpKernelContext) -> c_int {
    // SAFETY: as said in `host`.
    unsafe { ask(ctx, 0, |call| Ok(call.outputs.len() as c_int)) }
}

/// An input, in a handle that the caller deletes. As long as it is there, the input is not forwarded.
pub unsafe extern "C" fn TF_GetInput(
    ctx: *mut TF_OpKernelContext,
    index: c_int,
    tensor: *mut *mut TF_Tensor,
    status: *mut TF_Status,
) {
    let get = |call: &mut State<'_, '_>| {
        // SAFETY: as said in `host`.
        let place = unsafe { tensor.as_mut() };
        let place = place.ok_or_else(|| Error::invalid_argument("the place of the tensor is a null pointer"))?;
        let index = call.input(index)?;
        let output = call.forwarded.iter().find(|(input, _)| *input == index).map(|(_, output)| *output);
        let input = match output.and_then(|output| call.outputs[output].as_ref()) {
            Some(output) => output.share(),
            None => CTensor::read_only(call.raw.input_at(index)?.clone())?,
        };
        *place = input.into_c();
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { with(ctx, status, (), get) };
}

/// Which inputs belong to the argument of this name.
pub unsafe extern "C" fn TF_InputRange(
    ctx: *mut TF_OpKernelContext,
    name: *const c_char,
    range: *mut TF_InputRange_Args,
) {
    // SAFETY: as said in `host`.
    let Some(range) = (unsafe { range.as_mut() }) else { return };
    (range.start, range.stop) = (0, 0);
    let status = range.status;
    let find = |call: &mut State<'_, '_>| {
        // SAFETY: as said in `host`.
        let found = call.raw.input_range_of(unsafe { text("the input's name", name) }?)?;
        (range.start, range.stop) = (found.start as c_int, found.end as c_int);
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { with(ctx, status, (), find) };
}

/// The number of an input's dtype; 0 if there is none.
pub unsafe extern "C" fn TF_InputDatatype(ctx: *mut TF_OpKernelContext, index: c_int) -> TF_DataType {
    // SAFETY: as said in `host`.
    unsafe { ask(ctx, 0, |call| Ok(call.raw.input_dtype_at(call.input(index)?)?.number())) }
}

/// Sets an output; the tensor stays the caller's.
pub unsafe extern "C" fn TF_SetOutput(
    ctx: *mut TF_OpKernelContext,
    index: c_int,
    tensor: *const TF_Tensor,
    status: *mut TF_Status,
) {
    let set = |call: &mut State<'_, '_>| {
        // SAFETY: as said in `host`.
        let (index, tensor) = (call.output(index)?, unsafe { CTensor::from_c(tensor) }?);
        expect_dtype(call, index, tensor.dtype())?;
        call.outputs[index] = Some(tensor.share());
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { with(ctx, status, (), set) };
}

#[track_caller]
fn expect_dtype(call: &State<'_, '_>, index: usize, dtype: DataType) -> Result<()> {
    let expected = call.raw.output_dtype_at(index)?;
    if dtype == expected {
        return Ok(());
    }
    let message = format!("output {index} of {} must be {expected}, not {dtype}", call.raw.op().name);
    Err(Error::invalid_argument(message))
}

/// An output that was allocated or set, in a handle that the caller deletes; null if it was not.
pub unsafe extern "C" fn TF_GetMutableOutput(
    ctx: *mut TF_OpKernelContext,
    index: c_int,
    status: *mut TF_Status,
) -> *mut TF_Tensor {
    let get = |call: &mut State<'_, '_>| {
        let index = call.output(index)?;
        Ok(call.outputs[index].as_ref().map_or(ptr::null_mut(), |output| output.share().into_c()))
    };
    // SAFETY: as said in `host`.
    unsafe { with(ctx, status, ptr::null_mut(), get) }
}

/// The kernel failed.
pub unsafe extern "C" fn TF_OpKernelContext_Failure(ctx: *mut TF_OpKernelContext, status: *mut TF_Status) {
    // SAFETY: as said in `host`.
    let outcome = unsafe { Status::outcome_of(status) };
    let note = |call: &mut State<'_, '_>| {
        if let Err(error) = outcome {
            call.failure.get_or_insert(error);
        }
        Ok(())
    };
    // SAFETY: as said in `host`.
    unsafe { ask(ctx, (), note) };
}

/// The number of an output's dtype; 0 if there is none.
pub unsafe extern "C" fn TF_ExpectedOutputDataType(ctx: *mut TF_OpKernelContext, index: c_int) -> TF_DataType {
    // SAFETY: as said in `host`.
    unsafe { ask(ctx, 0, |call| Ok(call.raw.output_dtype_at(call.output(index)?)?.number())) }
}

/// Whether an input is in the host's memory though the kernel runs elsewhere.
pub unsafe extern "C" fn TF_IsHostMemoryInput(
    ctx: *mut TF_OpKernelContext,
    index: c_int,
    status: *mut TF_Status,
) -> bool {
    // SAFETY: as said in `host`.
    unsafe { with(ctx, status, false, |call| Ok(call.raw.input_memory_type(call.input(index)?) == MemoryType::Host)) }
}

/// Whether an output is in the host's memory though the kernel runs elsewhere.
pub unsafe extern "C" fn TF_IsHostMemoryOutput(
    ctx: *mut TF_OpKernelContext,
    index: c_int,
    status: *mut TF_Status,
) -> bool {
    // SAFETY: as said in `host`.
    unsafe { with(ctx, status, false, |call| Ok(call.raw.output_memory_type(call.output(index)?) == MemoryType::Host)) }
}

/// The step's number.
pub unsafe extern "C" fn TF_StepId(ctx: *mut TF_OpKernelContext) -> i64 {
    // SAFETY: as said in `host`.
    unsafe { ask(ctx, 0, |call| Ok(call.raw.run().step.map_or(0, |step| step.id()))) }
}

/// The step's number.
pub unsafe extern "C" fn TF_GetStepId(ctx: *mut TF_OpKernelContext) -> i64 {
    // SAFETY: the same pointer.
    unsafe { TF_StepId(ctx) }
}

/// The number of the loop's execution that the call is in.
pub unsafe extern "C" fn TF_GetFrameId(ctx: *mut TF_OpKernelContext) -> u64 {
    // SAFETY: as said in `host`.
    unsafe { ask(ctx, 0, |call| Ok(call.raw.run().frame)) }
}

/// The number of the loop's iteration.
pub unsafe extern "C" fn TF_GetIterId(ctx: *mut TF_OpKernelContext) -> i64 {
    // SAFETY: as said in `host`.
    unsafe { ask(ctx, 0, |call| Ok(call.raw.run().iteration as i64)) }
}

/// The number of the device among those of its type.
pub unsafe extern "C" fn TF_GetDeviceId(ctx: *mut TF_OpKernelContext) -> c_int {
    let number = |call: &mut State<'_, '_>| {
        let last = call.raw.device_name().rsplit(':').next();
        Ok(last.and_then(|number| number.parse().ok()).unwrap_or(0))
    };
    // SAFETY: as said in `host`.
    unsafe { ask(ctx, 0, number) }
}

/// The device's full name, which stays as long as the call.
pub unsafe extern "C" fn TF_GetDeviceName(ctx: *mut TF_OpKernelContext) -> TF_StringView {
    // SAFETY: as said in `host`.
    unsafe { ask(ctx, view(""), |call| Ok(view(call.raw.device_name()))) }
}

/// The version of GraphDef that the graph's producer had.
pub unsafe extern "C" fn TF_GetGraphDefVersion(ctx: *mut TF_OpKernelContext) -> c_int {
    // SAFETY: as said in `host`.
    guarded(0, || unsafe { Call::from_c(ctx) }.map_or(0, |call| call.graph_def_version))
}

/// The node's name, which stays as long as the call.
pub unsafe extern "C" fn TF_GetOpKernelName(ctx: *mut TF_OpKernelContext) -> TF_StringView {
    // SAFETY: as said in `host`.
    unsafe { ask(ctx, view(""), |call| Ok(view(call.raw.node()))) }
}

/// The container of resources that name none.
pub unsafe extern "C" fn TF_GetResourceMgrDefaultContainerName(_: *mut TF_OpKernelContext) -> TF_StringView {
    view("localhost")
}

/// Where an input comes from; empty, since a kernel's call does not know.
pub unsafe extern "C" fn TF_GetOpKernelRequestedInput(_: *mut TF_OpKernelContext, _: usize) -> TF_StringView {
    view("")
}

/// A tensor for an output, in a handle that the caller deletes: what is written there is the output. `length` is not asked for:
/// the shape says how many bytes there are.
pub unsafe extern "C" fn TF_AllocateOutput(
    ctx: *mut TF_OpKernelContext,
    index: c_int,
    dtype: TF_DataType,
    dims: *const i64,
    rank: c_int,
    _: usize,
    status: *mut TF_Status,
) -> *mut TF_Tensor {
    let allocate = |call: &mut State<'_, '_>| {
        // SAFETY: as said in `host`.
        let (index, dtype, shape) = (call.output(index)?, dtype_of(dtype)?, unsafe { shape_of(dims, rank) }?);
        expect_dtype(call, index, dtype)?;
        let tensor = CTensor::new(Tensor::alloc(dtype, shape)?.to_shareable()?)?;
        Ok(call.keep(index, tensor))
    };
    // SAFETY: as said in `host`.
    unsafe { with(ctx, status, ptr::null_mut(), allocate) }
}

/// The first of the inputs that the output can take the place of, whose number is written; else a new tensor, and -1.
pub unsafe extern "C" fn TF_ForwardInputOrAllocateOutput(
    ctx: *mut TF_OpKernelContext,
    candidates: *const c_int,
    count: c_int,
    index: c_int,
    dims: *const i64,
    rank: c_int,
    forwarded: *mut c_int,
    status: *mut TF_Status,
) -> *mut TF_Tensor {
    let forward = |call: &mut State<'_, '_>| {
        // SAFETY: as said in `host`.
        let (index, shape): (usize, Shape) = (call.output(index)?, unsafe { shape_of(dims, rank) }?);
        let candidates = match usize::try_from(count) {
            Ok(count) if count > 0 && !candidates.is_null() => {
                // SAFETY: as said in `host`.
                unsafe { std::slice::from_raw_parts(candidates, count) }
            }
            _ => &[],
        };
        let mut found = -1;
        let mut tensor = None;
        for &candidate in candidates {
            let input = call.input(candidate)?;
            if let Some(input_tensor) = call.raw.forward_input_at(input, index, &shape) {
                (found, tensor) = (candidate, Some(input_tensor));
                call.forwarded.push((input, index));
                break;
            }
        }
        let tensor = match tensor {
            Some(tensor) => tensor,
            None => Tensor::alloc(call.raw.output_dtype_at(index)?, shape)?,
        };
        if !forwarded.is_null() {
            // SAFETY: as said in `host`.
            unsafe { forwarded.write(found) };
        }
        let tensor = CTensor::new(tensor.to_shareable()?)?;
        Ok(call.keep(index, tensor))
    };
    // SAFETY: as said in `host`.
    unsafe { with(ctx, status, ptr::null_mut(), forward) }
}

/// A tensor for the kernel's own use, in a handle that the caller deletes.
pub unsafe extern "C" fn TF_AllocateTemp(
    ctx: *mut TF_OpKernelContext,
    dtype: TF_DataType,
    dims: *const i64,
    rank: c_int,
    _: *mut TF_AllocatorAttributes,
    status: *mut TF_Status,
) -> *mut TF_Tensor {
    let allocate = |call: &mut State<'_, '_>| {
        // SAFETY: as said in `host`.
        let shape = unsafe { shape_of(dims, rank) }?;
        Ok(CTensor::new(call.raw.allocate_temp(dtype_of(dtype)?, shape)?.to_shareable()?)?.into_c())
    };
    // SAFETY: as said in `host`.
    unsafe { with(ctx, status, ptr::null_mut(), allocate) }
}

/// The handle that an input of dtype `resource` holds, as a serialized `ResourceHandleProto`.
pub unsafe extern "C" fn TF_GetSerializedResourceHandleProto(
    ctx: *mut TF_OpKernelContext,
    index: c_int,
    buffer: *mut TF_Buffer,
    status: *mut TF_Status,
) {
    let write = |call: &mut State<'_, '_>| {
        let proto = tensor_to_proto(call.raw.input_at(call.input(index)?)?)?;
        let [handle] = &proto.resource_handle_val[..] else {
            return Err(Error::invalid_argument(format!("input {index} holds no resource handle")));
        };
        // SAFETY: as said in `host`.
        unsafe { fill(buffer, handle.encode_to_vec()) }
    };
    // SAFETY: as said in `host`.
    unsafe { with(ctx, status, (), write) };
}

macro_rules! missing {
    ($($(#[$doc:meta])* $name:ident($($argument:ty),*) $(-> $result:ty = $otherwise:expr)?;)*) => {
        $(
            $(#[$doc])*
            pub unsafe extern "C" fn $name($(_: $argument,)* status: *mut TF_Status) $(-> $result)? {
                let refuse = || Err(Error::unimplemented(concat!(stringify!($name), " is not offered by this host")));
                // SAFETY: as said in `host`.
                unsafe { report(status, missing!(@ $($otherwise)?), refuse) }
            }
        )*
    };
    (@) => { () };
    (@ $otherwise:expr) => { $otherwise };
}

missing! {
    /// UNIMPLEMENTED: there is no stream on the host's devices.
    TF_GetStream(*mut TF_OpKernelContext) -> *mut c_void = ptr::null_mut();
    /// UNIMPLEMENTED: a kernel does not see the graph's functions.
    TF_GetSerializedFunctionDefLibrary(*mut TF_OpKernelContext, *mut TF_Buffer);
    /// UNIMPLEMENTED: there is no ConfigProto.
    TF_GetSerializedConfigProto(*mut TF_OpKernelContext, *mut TF_Buffer);
}

//! Stacks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use kernlink::dtype::{DataType, TString};
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::resource::Resource;
use kernlink::tensor::{Tensor, TensorRef, scratch};
use kernlink::{Result, bail, ensure};
use kernlink_geometry::integers::ensure_scalar;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// A stack; `None` once it is closed.
struct Stack {
    name: String,
    dtype: DataType,
    max_size: Option<usize>,
    tensors: Mutex<Option<Vec<Tensor>>>,
}

impl Stack {
    /// Does something with the tensors.
    fn with<T>(&self, work: impl FnOnce(&mut Vec<Tensor>) -> Result<T>) -> Result<T> {
        let mut tensors = self.tensors.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *tensors {
            Some(tensors) => work(tensors),
            None => bail!(InvalidArgument, "Stack[{}] has already been closed.", self.name),
        }
    }
}

impl Resource for Stack {
    fn type_name() -> &'static str {
        "tensorflow::Stack"
    }

    fn debug_string(&self) -> String {
        format!("Stack[{}]", self.name)
    }
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

#[register_kernel(device = Cpu, op = [ops::Stack, ops::StackV2], cheap)]
fn stack_kernel(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let mut max_size = None;
    if ctx.num_inputs() > 0 {
        let size = ctx.input_at(0)?;
        ensure_scalar(size, "Stack size")?;
        max_size = usize::try_from(size.to_scalar::<i32>()?).ok();
    }
    let base = if attrs.stack_name.is_empty() { ctx.node() } else { &attrs.stack_name };
    let name = format!("{base}_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let tensors = Mutex::new(Some(Vec::new()));
    let stack = Arc::new(Stack { name, dtype: attrs.elem_type, max_size, tensors });
    if ctx.output_dtype_at(0)? == DataType::Resource {
        let handle = ctx.resources()?.make_owned_handle(ctx.device_name(), stack);
        return ctx.set_output_at(0, Tensor::scalar(handle));
    }
    let container = ctx.step()?.container();
    let reference = TensorRef::new(DataType::String);
    reference.set(Tensor::vector(&[TString::from(&*container), TString::from(&*stack.name)])?)?;
    ctx.resources()?.create(&container, &stack.name.clone(), stack)?;
    ctx.set_output_reference_at(0, reference)
}

#[register_kernel(device = Cpu, op = [ops::StackPush, ops::StackPushV2], cheap)]
fn push(ctx: &mut RawContext<'_>) -> Result<()> {
    let stack = ctx.resource_at::<Stack>(0)?;
    let tensor = ctx.take_input_at(1)?;
    ensure!(
        tensor.dtype() == stack.dtype,
        InvalidArgument,
        "Must have type {} but got {}",
        stack.dtype,
        tensor.dtype()
    );
    stack.with(|tensors| {
        if let Some(max) = stack.max_size.filter(|&max| tensors.len() >= max) {
            bail!(InvalidArgument, "Stack[{}] overflowed its max_size ({max})", stack.name);
        }
        scratch::push(tensors, tensor.clone())
    })?;
    ctx.set_output_at(0, tensor)
}

#[register_kernel(device = Cpu, op = [ops::StackPop, ops::StackPopV2], cheap)]
fn pop(ctx: &mut RawContext<'_>) -> Result<()> {
    let stack = ctx.resource_at::<Stack>(0)?;
    let dtype = ctx.output_dtype_at(0)?;
    ensure!(stack.dtype == dtype, InvalidArgument, "Must have type {} but got {dtype}", stack.dtype);
    let tensor = stack.with(|tensors| match tensors.pop() {
        Some(tensor) => Ok(tensor),
        None => bail!(InvalidArgument, "Stack[{}] is empty when calling Pop().", stack.name),
    })?;
    ctx.set_output_at(0, tensor)
}

#[register_kernel(device = Cpu, op = [ops::StackClose, ops::StackCloseV2], cheap)]
fn close(ctx: &mut RawContext<'_>) -> Result<()> {
    let stack = ctx.resource_at::<Stack>(0)?;
    let tensors = stack.tensors.lock().unwrap_or_else(PoisonError::into_inner).take();
    drop(tensors);
    Ok(())
}

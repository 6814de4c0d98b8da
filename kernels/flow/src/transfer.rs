//! Tensors from one device to another.

use kernlink::error::Result;
use kernlink::kernel::{AsyncOpKernel, KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::tensor::{Tensor, TensorRef};
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// The two ends' name for what is handed on. The run of the loop and the iteration tell one tensor from the next.
struct Key(String);

impl Key {
    fn of(&self, ctx: &RawContext<'_>) -> String {
        let run = ctx.run();
        format!("{};{}:{}:{}", self.0, run.depth, run.frame, run.iteration)
    }
}

macro_rules! key {
    ($ctx:expr) => {{
        let attrs = $ctx.attrs();
        ensure!(attrs.send_device_incarnation >= 0, InvalidArgument, "an incarnation is not negative");
        let incarnation = attrs.send_device_incarnation;
        Key(format!("{};{incarnation:016x};{};{}", attrs.send_device, attrs.recv_device, attrs.tensor_name))
    }};
}

struct Send(Key);

#[register_kernel(device = Cpu, system)]
impl OpKernel<ops::_Send> for Send {
    fn new(ctx: &KernelConstruction<'_, ops::_Send>) -> Result<Self> {
        Ok(Self(key!(ctx)))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::_Send>) -> Result<()> {
        let tensor = ctx.take_input(ops::_Send::TENSOR)?;
        ctx.step()?.rendezvous().send(&self.0.of(ctx), Some(tensor))
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

/// Sends what is in a device's memory, by way of the host.
struct SendFromDevice(Key);

#[register_kernel(device = Default, system)]
impl AsyncOpKernel<ops::_Send> for SendFromDevice {
    fn new(ctx: &KernelConstruction<'_, ops::_Send>) -> Result<Self> {
        Ok(Self(key!(ctx)))
    }

    async fn compute(&self, ctx: &mut KernelContext<'_, ops::_Send>) -> Result<()> {
        let mut tensor = referred(ctx.take_input(ops::_Send::TENSOR)?);
        if let (Some(device), Some(_)) = (ctx.run().device, tensor.device_memory()) {
            tensor = device.to_host(&tensor).await?;
        }
        ctx.step()?.rendezvous().send(&self.0.of(ctx), Some(tensor))
    }
}

/// What a reference stands for now. One that stands for nothing remains: whether that is a fault its reader decides.
fn referred(tensor: Tensor) -> Tensor {
    match tensor.reference().and_then(TensorRef::get) {
        Some(value) => value,
        None => tensor,
    }
}

struct Receive(Key);

#[register_kernel(device = Cpu, system)]
#[register_kernel(device = Default, system)]
impl AsyncOpKernel<ops::_Recv> for Receive {
    fn new(ctx: &KernelConstruction<'_, ops::_Recv>) -> Result<Self> {
        Ok(Self(key!(ctx)))
    }

    async fn compute(&self, ctx: &mut KernelContext<'_, ops::_Recv>) -> Result<()> {
        let key = self.0.of(ctx);
        let Some(mut tensor) = ctx.step()?.rendezvous().receive(&key).await? else {
            bail!(InvalidArgument, "what `{key}` hands on was not computed")
        };
        if let Some(device) = ctx.run().device.filter(|device| device.has_own_memory()) {
            tensor = referred(tensor);
            if tensor.reference().is_none() {
                tensor = device.to_device(&tensor)?;
            }
        }
        ctx.set_output(ops::_Recv::TENSOR, tensor)
    }
}

//! Tensors from one device to another.

use kernlink::error::Result;
use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
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

impl KernelState for Key {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let text = |name| ctx.attrs.required::<String>(name);
        let incarnation: i64 = ctx.attrs.required("send_device_incarnation")?;
        ensure!(incarnation >= 0, InvalidArgument, "an incarnation is not negative");
        let (from, to) = (text("send_device")?, text("recv_device")?);
        Ok(Key(format!("{from};{incarnation:016x};{to};{}", text("tensor_name")?)))
    }
}

#[register_kernel(device = Cpu, system, cheap)]
fn send(key: &Key, ctx: &mut KernelContext<'_, ops::_Send>) -> Result<()> {
    let tensor = ctx.take_input(ops::_Send::TENSOR)?;
    ctx.step()?.rendezvous().send(&key.of(ctx), Some(tensor))
}

/// Sends what is in a device's memory, by way of the host.
#[register_kernel(device = Default, system)]
async fn send_from_device(key: &Key, ctx: &mut KernelContext<'_, ops::_Send>) -> Result<()> {
    let mut tensor = referred(ctx.take_input(ops::_Send::TENSOR)?)?;
    if let (Some(device), Some(_)) = (ctx.run().device, tensor.device_memory()) {
        tensor = device.to_host(&tensor).await?;
    }
    ctx.step()?.rendezvous().send(&key.of(ctx), Some(tensor))
}

/// What a reference stands for now. One that stands for nothing remains: whether that is a fault its reader decides.
fn referred(tensor: Tensor) -> Result<Tensor> {
    let value = tensor.reference().map(TensorRef::get).transpose()?.flatten();
    Ok(value.unwrap_or(tensor))
}

#[register_kernel(device = Cpu, system)]
#[register_kernel(device = Default, system)]
async fn receive(key: &Key, ctx: &mut KernelContext<'_, ops::_Recv>) -> Result<()> {
    let key = key.of(ctx);
    let Some(mut tensor) = ctx.step()?.rendezvous().receive(&key).await? else {
        bail!(InvalidArgument, "what `{key}` hands on was not computed")
    };
    if let Some(device) = ctx.run().device.filter(|device| device.has_own_memory()) {
        tensor = referred(tensor)?;
        if tensor.reference().is_none() {
            tensor = device.to_device(&tensor)?;
        }
    }
    ctx.set_output(ops::_Recv::TENSOR, tensor)
}

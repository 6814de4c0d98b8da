//! Values and flow: constants, placeholders, identities. No element is copied.

use kernlink::device::DeviceName;
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelConstruction, KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

#[register_kernel(device = Cpu, cheap)]
#[register_kernel(device = Default, cheap)]
fn placeholder_kernel(attrs: &Attrs<ops::Placeholder>, ctx: &mut KernelContext<'_, ops::Placeholder>) -> Result<()> {
    let (name, dtype) = (ctx.node(), ctx.output_dtype_at(0)?);
    match attrs.shape.rank() {
        None | Some(0) => {
            bail!(InvalidArgument, "You must feed a value for placeholder tensor '{name}' with dtype {dtype}")
        }
        Some(_) => bail!(
            InvalidArgument,
            "You must feed a value for placeholder tensor '{name}' with dtype {dtype} and shape {}",
            attrs.shape
        ),
    }
}

/// The value, if its dtype is that of the node.
fn of_dtype(value: &Tensor, dtype: DataType) -> Result<Tensor> {
    ensure!(
        value.dtype() == dtype,
        InvalidArgument,
        "Type mismatch between value ({}) and dtype ({dtype})",
        value.dtype()
    );
    Ok(value.clone())
}

fn value(ctx: &KernelConstruction<'_, ops::Const>) -> Result<Tensor> {
    of_dtype(&ctx.attrs().value, ctx.attrs().dtype)
}

#[register_kernel(device = Cpu, system, cheap, state = value)]
#[register_kernel(device = Default, system, cheap)]
fn constant(value: &Tensor, ctx: &mut KernelContext<'_, ops::Const>) -> Result<()> {
    ctx.set_output(ops::Const::OUTPUT, value.clone())
}

/// Hands every input on as the output at the same place. On devices small integers stay in host memory, where TensorFlow
/// has them: they count and index.
#[register_kernel(device = Cpu, cheap, op = [
    ops::GuaranteeConst, ops::Identity, ops::IdentityN, ops::PlaceholderWithDefault, ops::PreventGradient, ops::Snapshot, ops::StopGradient,
])]
#[register_kernel(device = Default, cheap, op = ops::IdentityN)]
#[register_kernel(
    device = Default, cheap, op = [ops::Identity, ops::PreventGradient, ops::Snapshot, ops::StopGradient], T = [
        bfloat16, bool, complex128, complex64, double, float, half, int16, int64, int8, resource, string, uint16, uint32,
        uint64, uint8, variant,
    ]
)]
#[register_kernel(
    device = Default, cheap, op = [ops::Identity, ops::PreventGradient, ops::Snapshot, ops::StopGradient], T = [int32],
    host_memory = ["input", "output"]
)]
#[register_kernel(device = Default, cheap, op = ops::PlaceholderWithDefault, dtype = [
    bfloat16, bool, complex128, complex64, double, float, half, int16, int64, int8, resource, string, uint16, uint32, uint64,
    uint8, variant,
])]
#[register_kernel(
    device = Default, cheap, op = ops::PlaceholderWithDefault, dtype = [int32], host_memory = ["input", "output"]
)]
fn hand_on(ctx: &mut RawContext<'_>) -> Result<()> {
    for index in 0..ctx.num_inputs() {
        let tensor = ctx.take_input_at(index)?;
        ctx.set_output_at(index, tensor)?;
    }
    Ok(())
}

#[register_kernel(device = Cpu, system, cheap)]
#[register_kernel(device = Default, system, cheap)]
fn no_op(_: &mut KernelContext<'_, ops::NoOp>) -> Result<()> {
    Ok(())
}

/// Hands its reference on.
#[register_kernel(device = Cpu, cheap)]
#[register_kernel(device = Default, T = [
    bfloat16, bool, complex128, complex64, double, float, half, int16, int64, int8, uint16, uint32, uint64, uint8, variant,
], cheap)]
#[register_kernel(device = Default, T = [int32, resource, string], host_memory = ["input", "output"], cheap)]
fn ref_identity(ctx: &mut KernelContext<'_, ops::RefIdentity>) -> Result<()> {
    ctx.forward_reference(ops::RefIdentity::INPUT, ops::RefIdentity::OUTPUT)
}

fn host_value(ctx: &KernelConstruction<'_, ops::HostConst>) -> Result<Tensor> {
    of_dtype(&ctx.attrs().value, ctx.attrs().dtype)
}

#[register_kernel(device = Cpu, cheap, state = host_value)]
#[register_kernel(device = Default, cheap, host_memory = ["output"])]
fn host_constant(value: &Tensor, ctx: &mut KernelContext<'_, ops::HostConst>) -> Result<()> {
    ctx.set_output(ops::HostConst::OUTPUT, value.clone())
}

#[register_kernel(device = Cpu, cheap)]
#[register_kernel(device = Default, cheap, host_memory = ["fact"])]
fn fact(ctx: &mut KernelContext<'_, ops::Fact>) -> Result<()> {
    ctx.set_output(ops::Fact::FACT, Tensor::from("0! == 1"))
}

#[register_kernel(device = Cpu, cheap)]
#[register_kernel(device = Default, cheap, host_memory = ["index"])]
fn device_index(attrs: &Attrs<ops::DeviceIndex>, ctx: &mut KernelContext<'_, ops::DeviceIndex>) -> Result<()> {
    let own = DeviceName::parse(ctx.device_name())?.device_type;
    let place =
        attrs.device_names.iter().position(|name| own.as_deref().is_some_and(|own| name.as_bytes() == own.as_bytes()));
    let index = place.unwrap_or(attrs.device_names.len()) as i32;
    ctx.set_output(ops::DeviceIndex::INDEX, Tensor::from(index))
}

/// Tensors as they are, whose dtypes the attrs say twice.
#[register_kernel(device = Cpu, cheap, op = [ops::_ListToArray, ops::_ArrayToList])]
#[register_kernel(device = Default, cheap, op = [ops::_ListToArray, ops::_ArrayToList], T = [double, float, half])]
#[register_kernel(
    device = Default, cheap, op = [ops::_ListToArray, ops::_ArrayToList], T = [int32], host_memory = ["input", "output"]
)]
fn hand_on_all(ctx: &mut RawContext<'_>) -> Result<()> {
    ensure!(
        ctx.num_inputs() == ctx.num_outputs(),
        InvalidArgument,
        "{} tensors cannot become {}",
        ctx.num_inputs(),
        ctx.num_outputs()
    );
    for index in 0..ctx.num_inputs() {
        let (given, wanted) = (ctx.input_at(index)?.dtype(), ctx.output_dtype_at(index)?);
        ensure!(given == wanted, InvalidArgument, "tensor {index} is {given} and cannot be {wanted}");
    }
    hand_on(ctx)
}

//! Control flow of TensorFlow 1. The runtime itself decides what runs; here it finds that it can.

use kernlink::bail;
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

// Stands for what the runtime does without a kernel. On other devices than the host, data of some dtypes stays in host
// memory, and what decides always does.
#[register_kernel(device = Cpu, system, cheap, op = [
    ops::Switch, ops::RefSwitch, ops::_SwitchN, ops::Merge, ops::RefMerge, ops::Enter, ops::RefEnter, ops::Exit,
    ops::RefExit, ops::NextIteration, ops::RefNextIteration, ops::LoopCond, ops::ControlTrigger,
])]
#[register_kernel(
    device = Default,
    system,
    cheap,
    op = [ops::Switch, ops::RefSwitch],
    T = [
        bfloat16, bool, complex128, complex64, double, float, half, int16, int64, int8, qint32, qint8, quint8, uint16,
        uint32, uint64, uint8, variant,
    ],
    host_memory = ["pred"],
)]
#[register_kernel(
    device = Default,
    system,
    cheap,
    op = [ops::Switch, ops::RefSwitch],
    T = [int32, resource, string],
    host_memory = ["pred", "data", "output_false", "output_true"],
)]
#[register_kernel(
    device = Default,
    system,
    cheap,
    op = ops::_SwitchN,
    T = [
        bfloat16, bool, complex128, complex64, double, float, half, int16, int64, int8, qint32, qint8, quint8, uint16,
        uint32, uint64, uint8, variant,
    ],
    host_memory = ["output_index"],
)]
#[register_kernel(
    device = Default,
    system,
    cheap,
    op = ops::_SwitchN,
    T = [int32, resource, string],
    host_memory = ["output_index", "data", "outputs"],
)]
#[register_kernel(
    device = Default,
    system,
    cheap,
    op = [ops::Merge, ops::RefMerge],
    T = [
        bfloat16, bool, complex128, complex64, double, float, half, int16, int64, int8, qint32, qint8, quint8, uint16,
        uint32, uint64, uint8, variant,
    ],
    host_memory = ["value_index"],
)]
#[register_kernel(
    device = Default,
    system,
    cheap,
    op = [ops::Merge, ops::RefMerge],
    T = [int32, resource, string],
    host_memory = ["value_index", "inputs", "output"],
)]
#[register_kernel(
    device = Default,
    system,
    cheap,
    op = [ops::Enter, ops::RefEnter, ops::Exit, ops::RefExit, ops::NextIteration, ops::RefNextIteration],
    T = [
        bfloat16, bool, complex128, complex64, double, float, half, int16, int64, int8, qint32, qint8, quint8, uint16,
        uint32, uint64, uint8, variant,
    ],
)]
#[register_kernel(
    device = Default,
    system,
    cheap,
    op = [ops::Enter, ops::RefEnter, ops::Exit, ops::RefExit, ops::NextIteration, ops::RefNextIteration],
    T = [int32, resource, string],
    host_memory = ["data", "output"],
)]
#[register_kernel(device = Default, system, cheap, op = ops::LoopCond, host_memory = ["input", "output"])]
#[register_kernel(device = Default, system, cheap, op = ops::ControlTrigger)]
fn of_the_runtime(ctx: &mut RawContext<'_>) -> Result<()> {
    bail!(Unimplemented, "op {} has a meaning in graphs only", ctx.op().name)
}

/// Hands on the reference that `index` names.
#[register_kernel(device = Cpu, system, cheap)]
fn ref_select(ctx: &mut KernelContext<'_, ops::RefSelect>) -> Result<()> {
    let index: i32 = ctx.input(ops::RefSelect::INDEX)?.to_scalar()?;
    let count = ctx.num_inputs() - 1;
    match usize::try_from(index).ok().filter(|&index| index < count) {
        Some(index) => ctx.forward_reference_at(index + 1, 0),
        None => bail!(InvalidArgument, "Index must be in the range [0, {count}) but got {index}"),
    }
}

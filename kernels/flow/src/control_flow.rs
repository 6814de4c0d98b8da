//! Control flow of TensorFlow 1. The runtime itself decides what runs; here it finds that it can.

use kernlink::bail;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// Stands for what the runtime does without a kernel.
struct OfTheRuntime;

/// An op with what it has in host memory on other devices than the host: always, and of data that is kept there.
macro_rules! of_the_runtime {
    ($($op:ident [$($always:literal),*] $([$($kept:literal),*])?),* $(,)?) => {$(
        #[register_kernel(device = Cpu, system)]
        impl OpKernel<ops::$op> for OfTheRuntime {
            fn new(_: &KernelConstruction<'_, ops::$op>) -> Result<Self> {
                Ok(Self)
            }

            fn compute(&self, _: &mut KernelContext<'_, ops::$op>) -> Result<()> {
                bail!(Unimplemented, "op {} has a meaning in graphs only", stringify!($op))
            }

            fn is_expensive(&self) -> bool {
                false
            }
        }

        anywhere!($op [$($always),*] $([$($kept),*])?);
    )*};
}

macro_rules! anywhere {
    ($op:ident []) => {
        const _: () = {
            #[register_kernel(device = Default, system, op = ops::$op)]
            type AnywhereKernel = OfTheRuntime;
        };
    };
    ($op:ident [$($always:literal),*]) => {
        const _: () = {
            #[register_kernel(device = Default, system, op = ops::$op, host_memory = [$($always),*])]
            type AnywhereKernel = OfTheRuntime;
        };
    };
    ($op:ident [] [$($kept:literal),*]) => {
        const _: () = {
            #[register_kernel(device = Default, system, op = ops::$op, T = [
                bfloat16, bool, complex128, complex64, double, float, half, int16, int64, int8, qint32, qint8, quint8,
                uint16, uint32, uint64, uint8, variant,
            ])]
            #[register_kernel(device = Default, system, op = ops::$op, T = [int32, resource, string],
                host_memory = [$($kept),*])]
            type AnywhereKernel = OfTheRuntime;
        };
    };
    ($op:ident [$($always:literal),*] [$($kept:literal),*]) => {
        const _: () = {
            #[register_kernel(device = Default, system, op = ops::$op, T = [
                bfloat16, bool, complex128, complex64, double, float, half, int16, int64, int8, qint32, qint8, quint8,
                uint16, uint32, uint64, uint8, variant,
            ], host_memory = [$($always),*])]
            #[register_kernel(device = Default, system, op = ops::$op, T = [int32, resource, string],
                host_memory = [$($always),*, $($kept),*])]
            type AnywhereKernel = OfTheRuntime;
        };
    };
}

of_the_runtime!(
    Switch["pred"]["data", "output_false", "output_true"],
    RefSwitch["pred"]["data", "output_false", "output_true"],
    _SwitchN["output_index"]["data", "outputs"],
    Merge["value_index"]["inputs", "output"],
    RefMerge["value_index"]["inputs", "output"],
    Enter[]["data", "output"],
    RefEnter[]["data", "output"],
    Exit[]["data", "output"],
    RefExit[]["data", "output"],
    NextIteration[]["data", "output"],
    RefNextIteration[]["data", "output"],
    LoopCond["input", "output"],
    ControlTrigger[],
);

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

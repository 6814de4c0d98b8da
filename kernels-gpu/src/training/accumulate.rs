//! Adding to whole variables and subtracting from them: AssignAdd, AssignSub, AssignAddVariableOp, AssignSubVariableOp.

use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::kernel::place::{forward, update};
use kernlink::op::Op as _;
use kernlink_geometry::training::ensure_addend;
use kernlink_macros::register_kernel;
use kernlink_ops::{AssignAdd, AssignAddVariableOp, AssignSub, AssignSubVariableOp};

use super::place::writable;
use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program, Scalar, scalar_of};
use crate::windows::{read, written};

/// Adds to a variable, or subtracts from it.
fn program((scalar, subtracts): (Scalar, bool)) -> Program {
    let (label, sign) = if subtracts { ("AssignSub", '-') } else { ("AssignAdd", '+') };
    let program = Program::trusted(label).read_vectors("x", scalar, 4).write_vectors("variable", scalar, 4);
    program.build(Entry::Elements, &format!("fn element(i: u32) {{ variable[i] = variable[i] {sign} x[i]; }}\n"))
}

/// Whether an op subtracts.
fn subtracts(op: &str) -> bool {
    op.starts_with("AssignSub")
}

#[register_kernel(
    device = Gpu, op = [AssignAdd, AssignSub], T = [f32, u32, f16 if "f16", i64 if "i64"],
    programs = |T| Ok(vec![program((scalar_of(T)?, subtracts(&O::DEF.name)))])
)]
#[register_kernel(
    device = Gpu, op = [AssignAddVariableOp, AssignSubVariableOp], dtype = [f32, u32, f16 if "f16", i64 if "i64"],
    programs = |dtype| Ok(vec![program((scalar_of(dtype)?, subtracts(&O::DEF.name)))])
)]
fn accumulate(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let (value, dtype) = (ctx.input_position(O::VALUE), ctx.input(O::VALUE)?.dtype());
    let shader = gpu.shader(program, (scalar_of(dtype)?, subtracts(&O::DEF.name)));
    update(ctx, dtype, |ctx, [variable]| {
        let value = ctx.input_at(value)?;
        ensure_addend(variable.shape(), value.shape())?;
        writable(gpu, variable)?;
        gpu.in_windows(variable.num_elements(), &[read(value), written(variable)], |range, tensors| {
            // Buffers hold whole vectors: what the last one has beyond the elements is nobody's.
            gpu.dispatch(&shader, tensors, &[], Groups::Elements(range.len().div_ceil(4)))
        })
    })?;
    forward(ctx)
}

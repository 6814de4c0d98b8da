//! Adding to whole variables and subtracting from them: AssignAdd, AssignSub, AssignAddVariableOp, AssignSubVariableOp.

use kernlink::error::Result;
use kernlink::kernel::place::{forward, update};
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink_geometry::training::ensure_addend;

use super::place::writable;
use crate::device::{GpuDevice, Groups};
use crate::family::scalar_of;
use crate::shader::{Entry, Program, Scalar, Shader};
use crate::windows::{read, written};

pub(super) const SCALARS: [Scalar; 4] = [Scalar::F32, Scalar::U32, Scalar::F16, Scalar::I64];

/// Adds input 1 to the variable at input 0, or subtracts it.
pub(super) struct Accumulate {
    shader: Shader,
}

pub(super) fn program(scalar: Scalar, subtract: bool) -> Program {
    let (label, sign) = if subtract { ("AssignSub", '-') } else { ("AssignAdd", '+') };
    Program::trusted(label)
        .read_vectors("x", scalar, 4)
        .write_vectors("variable", scalar, 4)
        .build(Entry::Elements, &format!("fn element(i: u32) {{\n    variable[i] = variable[i] {sign} x[i];\n}}\n"))
}

impl Accumulate {
    pub(super) fn new(ctx: &RawConstruction<'_>, subtract: bool) -> Result<Accumulate> {
        Ok(Accumulate { shader: Shader::new(program(scalar_of(ctx.input_dtype_at(1)?)?, subtract)) })
    }

    pub(super) fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let dtype = ctx.input_at(1)?.dtype();
        update(ctx, dtype, |ctx, [variable]| {
            let value = ctx.input_at(1)?;
            ensure_addend(variable.shape(), value.shape())?;
            writable(gpu, variable)?;
            gpu.in_windows(variable.num_elements(), &[read(value), written(variable)], |range, tensors| {
                // Buffers hold whole vectors: what the last one has beyond the elements is nobody's.
                gpu.dispatch(&self.shader, tensors, &[], Groups::Elements(range.len().div_ceil(4)))
            })
        })?;
        forward(ctx)
    }
}

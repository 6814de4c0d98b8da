//! Adding to whole variables and subtracting from them: AssignAdd, AssignSub, AssignAddVariableOp, AssignSubVariableOp.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::kernel::place::{forward, update};
use kernlink_geometry::training::ensure_addend;

use super::place::writable;
use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program, Scalar, Shader, scalar_of};
use crate::windows::{read, written};

/// Adds input 1 to the variable at input 0, or subtracts it.
pub(super) struct Accumulate {
    shader: Shader,
}

fn program(scalar: Scalar, subtract: bool) -> Program {
    let (label, sign) = if subtract { ("AssignSub", '-') } else { ("AssignAdd", '+') };
    Program::trusted(label)
        .read_vectors("x", scalar, 4)
        .write_vectors("variable", scalar, 4)
        .build(Entry::Elements, &format!("fn element(i: u32) {{\n    variable[i] = variable[i] {sign} x[i];\n}}\n"))
}

impl Accumulate {
    pub(super) fn new(dtype: DataType, subtract: bool) -> Result<Accumulate> {
        Ok(Accumulate { shader: Shader::new(program(scalar_of(dtype)?, subtract)) })
    }

    pub(super) fn run(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let dtype = ctx.input_named("value")?.dtype();
        update(ctx, dtype, |ctx, [variable]| {
            let value = ctx.input_named("value")?;
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

pub(super) fn programs(dtype: DataType, subtract: bool) -> Result<Vec<Program>> {
    Ok(vec![program(scalar_of(dtype)?, subtract)])
}

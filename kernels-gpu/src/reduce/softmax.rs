//! Softmax and LogSoftmax: a workgroup for each row, or a thread where rows are short.

use std::sync::OnceLock;

use kernlink::error::Result;
use kernlink::kernel::geometry::loss::ensure_classes;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink_ops as ops;

use crate::device::{GpuDevice, Groups};
use crate::element_wise::for_text;
use crate::family::{gpu_kernels, scalar, scalar_of};
use crate::shader::{Entry, Program, Scalar, Shader};

/// Classes up to which a thread does a row.
pub(super) const FEW: usize = 32;

fn program(scalar: Scalar, log: bool, few: bool) -> Program {
    let text = if few { include_str!("softmax_few.wgsl") } else { include_str!("softmax.wgsl") };
    // The logarithm subtracts that of the sum, the other divides by the sum.
    let (scale, result) =
        if log { ("own_log(total)", "shifted - scale") } else { ("1.0 / total", "own_exp(shifted) * scale") };
    let text = text.replace("SCALE", scale).replace("RESULT", result);
    let body = for_text(&text) + &text;
    let builder = Program::builder(if log { "LogSoftmax" } else { "Softmax" })
        .alias("T", scalar)
        .read("x", scalar)
        .write("y", scalar)
        .param("classes", "u32");
    match few {
        true => builder.build(Entry::Elements, &body),
        false => builder.workgroup(128).build(Entry::Rows, &body),
    }
}

struct Softmax {
    scalar: Scalar,
    log: bool,
    few: OnceLock<Shader>,
    many: OnceLock<Shader>,
}

impl Softmax {
    fn new(ctx: &RawConstruction<'_>, log: bool) -> Result<Softmax> {
        let scalar = scalar_of(ctx.input_dtype_at(0)?)?;
        Ok(Softmax { scalar, log, few: OnceLock::new(), many: OnceLock::new() })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let logits = ctx.input_at(0)?;
        ensure_classes(logits.shape())?;
        let output = gpu.allocate_output(ctx, 0, logits.shape().clone())?;
        let classes = logits.shape()[logits.rank() - 1];
        if output.num_elements() > 0 {
            let rows = output.num_elements() / classes;
            let few = classes <= FEW;
            let slot = if few { &self.few } else { &self.many };
            let shader = slot.get_or_init(|| Shader::new(program(self.scalar, self.log, few)));
            let groups = if few { Groups::Elements(rows) } else { Groups::Rows(rows) };
            gpu.dispatch(shader, &[logits, &output], &[classes as u32], groups)?;
        }
        ctx.set_output_at(0, output)
    }
}

gpu_kernels! { Softmax { [f32] [f16; "f16"] } as Softmax: |ctx| Softmax::new(ctx, false) }
gpu_kernels! { LogSoftmax { [f32] [f16; "f16"] } as Softmax: |ctx| Softmax::new(ctx, true) }

/// All programs of the family.
pub(super) fn programs() -> Vec<Program> {
    let mut programs = Vec::new();
    for scalar in [scalar!(f32), scalar!(f16)] {
        for (log, few) in [(false, false), (false, true), (true, false), (true, true)] {
            programs.push(program(scalar, log, few));
        }
    }
    programs
}

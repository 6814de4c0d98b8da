//! Softmax and LogSoftmax: a workgroup for each row, or a thread where rows are short.

use std::sync::OnceLock;

use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink_geometry::loss::ensure_classes;
use kernlink_ops as ops;

use crate::device::{GpuDevice, Groups};
use crate::element_wise::for_text;
use crate::family::{gpu_kernels, scalar, scalar_of};
use crate::shader::{Entry, Program, Scalar, Shader};
use crate::team::Team;
use crate::windows::{read, written};

/// Classes up to which a thread does a row.
pub(super) const FEW: usize = 32;

/// The threads that do a long row.
pub(super) const THREADS: u32 = 128;

/// What a workgroup finds of a row's numbers: the greatest, NaN aside, and the sum.
pub(super) const FOUND: [(&str, &str); 2] = [("greatest", "return select(a, b, b > a);"), ("sum_of", "return a + b;")];

/// The shader for short rows, or for others by a team.
fn program(scalar: Scalar, log: bool, team: Option<Team>) -> Program {
    let few = team.is_none();
    let text = if few { include_str!("softmax_few.wgsl") } else { include_str!("softmax.wgsl") };
    // The logarithm subtracts that of the sum, the other divides by the sum.
    let (scale, result) =
        if log { ("own_log(total)", "shifted - scale") } else { ("1.0 / total", "own_exp(shifted) * scale") };
    let text = text.replace("SCALE", scale).replace("RESULT", result);
    let found = team.map_or_else(String::new, |team| team.functions("f32", &[], &FOUND));
    let body = for_text(&text) + &found + &text;
    let builder = Program::trusted(if log { "LogSoftmax" } else { "Softmax" })
        .alias("T", scalar)
        .read("x", scalar)
        .write("y", scalar)
        .param("classes", "u32");
    match team {
        None => builder.build(Entry::Elements, &body),
        Some(team) => team.declare(builder.workgroup(THREADS)).build(Entry::Rows, &body),
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
            gpu.ensure_rounds(3 * classes / THREADS as usize)?;
            let team = (!few).then(|| Team::on(gpu, Scalar::F32));
            let shader = slot.get_or_init(|| Shader::new(program(self.scalar, self.log, team)));
            gpu.in_windows(rows, &[read(logits), written(&output)], |rows, tensors| {
                let groups = if few { Groups::Elements(rows.len()) } else { Groups::Rows(rows.len()) };
                gpu.dispatch(shader, tensors, &[classes as u32], groups)
            })?;
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
        for team in [None, Some(Team::Halves), Some(Team::Subgroups)] {
            programs.extend([false, true].map(|log| program(scalar, log, team)));
        }
    }
    programs
}

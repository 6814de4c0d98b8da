//! Softmax and LogSoftmax: a workgroup for each row, or a thread where rows are short.

use std::sync::OnceLock;

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::Tensor;
use kernlink_geometry::loss::ensure_classes;
use kernlink_macros::register_kernel;
use kernlink_ops::{LogSoftmax, Softmax};

use crate::composition;
use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program, Scalar, Shader, scalar_of};
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
    let found = team.map_or_else(String::new, |team| team.functions("f32", &[], &FOUND));
    let body = found + &composition::compose(text, if log { &["log"] } else { &[] });
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

struct Normalised {
    scalar: Scalar,
    log: bool,
    few: OnceLock<Shader>,
    many: OnceLock<Shader>,
}

impl Normalised {
    fn new(dtype: DataType, log: bool) -> Result<Normalised> {
        Ok(Normalised { scalar: scalar_of(dtype)?, log, few: OnceLock::new(), many: OnceLock::new() })
    }

    fn run(&self, gpu: &GpuDevice, logits: &Tensor) -> Result<Tensor> {
        ensure_classes(logits.shape())?;
        let output = gpu.allocate(logits.dtype(), logits.shape().clone())?;
        let classes = logits.shape()[logits.rank() - 1];
        if output.num_elements() == 0 {
            return Ok(output);
        }
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
        Ok(output)
    }
}

#[register_kernel(device = Gpu, T = [f32, f16 if "f16"], programs = |T| programs(T, false))]
impl OpKernel<Softmax> for Normalised {
    fn new(ctx: &KernelConstruction<'_, Softmax>) -> Result<Self> {
        Normalised::new(ctx.input_dtype(Softmax::LOGITS), false)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, Softmax>) -> Result<()> {
        let output = self.run(GpuDevice::of(ctx)?, ctx.input(Softmax::LOGITS)?)?;
        ctx.set_output(Softmax::SOFTMAX, output)
    }
}

#[register_kernel(device = Gpu, T = [f32, f16 if "f16"], programs = |T| programs(T, true))]
impl OpKernel<LogSoftmax> for Normalised {
    fn new(ctx: &KernelConstruction<'_, LogSoftmax>) -> Result<Self> {
        Normalised::new(ctx.input_dtype(LogSoftmax::LOGITS), true)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, LogSoftmax>) -> Result<()> {
        let output = self.run(GpuDevice::of(ctx)?, ctx.input(LogSoftmax::LOGITS)?)?;
        ctx.set_output(LogSoftmax::LOGSOFTMAX, output)
    }
}

fn programs(dtype: DataType, log: bool) -> Result<Vec<Program>> {
    let scalar = scalar_of(dtype)?;
    Ok([None, Some(Team::Halves), Some(Team::Subgroups)].map(|team| program(scalar, log, team)).to_vec())
}

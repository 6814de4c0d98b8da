//! Softmax and LogSoftmax: a workgroup for each row, or a thread where rows are short.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::tensor::Tensor;
use kernlink_geometry::loss::ensure_classes;
use kernlink_macros::register_kernel;
use kernlink_ops::{LogSoftmax, Softmax};

use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program, Scalar, scalar_of};
use crate::team::Team;
use crate::windows::{read, written};

/// Classes up to which a thread does a row.
pub(super) const FEW: usize = 32;

/// The threads that do a long row.
pub(super) const THREADS: u32 = 128;

/// What a workgroup finds of a row's numbers: the greatest, NaN aside, and the sum.
pub(super) const FOUND: [(&str, &str); 2] = [("greatest", "return select(a, b, b > a);"), ("sum_of", "return a + b;")];

/// The shader for short rows, or for others by a team.
fn program((scalar, log, team): (Scalar, bool, Option<Team>)) -> Program {
    let builder = Program::trusted(if log { "LogSoftmax" } else { "Softmax" })
        .alias("T", scalar)
        .read("x", scalar)
        .write("y", scalar)
        .words("classes");
    let names: &[&str] = if log { &["log"] } else { &[] };
    match team {
        None => builder.compose(Entry::Elements, include_str!("softmax_few.wgsl"), names),
        Some(team) => {
            let builder = builder.workgroup(THREADS).declare(&team.functions("f32", &[], &FOUND));
            team.declare(builder).compose(Entry::Rows, include_str!("softmax.wgsl"), names)
        }
    }
}

fn normalised(gpu: &GpuDevice, logits: &Tensor, log: bool) -> Result<Tensor> {
    ensure_classes(logits.shape())?;
    let output = gpu.allocate(logits.dtype(), logits.shape().clone())?;
    let classes = logits.shape()[logits.rank() - 1];
    if output.num_elements() == 0 {
        return Ok(output);
    }
    let rows = output.num_elements() / classes;
    let few = classes <= FEW;
    gpu.ensure_rounds(3 * classes / THREADS as usize)?;
    let team = (!few).then(|| Team::on(gpu, Scalar::F32));
    let shader = gpu.shader(program, (scalar_of(logits.dtype())?, log, team));
    gpu.in_windows(rows, &[read(logits), written(&output)], |rows, tensors| {
        let groups = if few { Groups::Elements(rows.len()) } else { Groups::Rows(rows.len()) };
        gpu.dispatch(&shader, tensors, &[classes as u32], groups)
    })?;
    Ok(output)
}

fn programs(dtype: DataType, log: bool) -> Result<Vec<Program>> {
    let scalar = scalar_of(dtype)?;
    let ways = Team::ALL.map(Some).into_iter().chain([None]);
    Ok(ways.map(|team| program((scalar, log, team))).collect())
}

#[register_kernel(device = Gpu, T = [f32, f16 if "f16"], programs = |T| programs(T, false))]
fn softmax(ctx: &mut KernelContext<'_, Softmax>) -> Result<()> {
    let output = normalised(GpuDevice::of(ctx)?, ctx.input(Softmax::LOGITS)?, false)?;
    ctx.set_output(Softmax::SOFTMAX, output)
}

#[register_kernel(device = Gpu, T = [f32, f16 if "f16"], programs = |T| programs(T, true))]
fn log_softmax(ctx: &mut KernelContext<'_, LogSoftmax>) -> Result<()> {
    let output = normalised(GpuDevice::of(ctx)?, ctx.input(LogSoftmax::LOGITS)?, true)?;
    ctx.set_output(LogSoftmax::LOGSOFTMAX, output)
}

//! SoftmaxCrossEntropyWithLogits and SparseSoftmaxCrossEntropyWithLogits: a workgroup for each row.

use kernlink::error::{Code, Result};
use kernlink::kernel::KernelContext;
use kernlink::shape::Shape;
use kernlink_geometry::loss;
use kernlink_macros::register_kernel;
use kernlink_ops::{SoftmaxCrossEntropyWithLogits, SparseSoftmaxCrossEntropyWithLogits};

use super::softmax::{FOUND, THREADS};
use crate::device::{GpuDevice, Groups};
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program, Scalar, scalar_of};
use crate::team::Team;
use crate::windows::{read, read_if, whole, written};

fn dense_program((scalar, team): (Scalar, Team)) -> Program {
    let builder = Program::trusted("SoftmaxCrossEntropyWithLogits")
        .alias("T", scalar)
        .read("x", scalar)
        .read("labels", scalar)
        .write("loss", scalar)
        .write("gradient", scalar)
        .words("classes x_row x_column label_row label_column")
        .declare(&team.functions("f32", &[], &FOUND))
        .workgroup(THREADS);
    team.declare(builder).compose(Entry::Rows, include_str!("dense_entropy.wgsl"), &[])
}

fn sparse_program((scalar, labels, team): (Scalar, Scalar, Team)) -> Program {
    let builder = Program::trusted("SparseSoftmaxCrossEntropyWithLogits")
        .alias("T", scalar)
        .alias("L", labels)
        .read("x", scalar)
        .read("labels", labels)
        .write("loss", scalar)
        .write("gradient", scalar)
        .declare(&team.functions("f32", &[], &FOUND))
        .workgroup(THREADS);
    let builder = team.declare(refusal::declare(builder)).words("classes x_row x_column");
    builder.compose(Entry::Rows, include_str!("sparse_entropy.wgsl"), &[])
}

/// How far it is to the next row and the next column of a shape that broadcasts to a matrix.
fn steps(shape: &Shape) -> [u32; 2] {
    let size = |from_end: usize| shape.rank().checked_sub(from_end).map_or(1, |axis| shape[axis]);
    let (rows, columns) = (size(2), size(1));
    [if rows == 1 { 0 } else { columns as u32 }, u32::from(columns != 1)]
}

#[register_kernel(
    device = Gpu, op = SoftmaxCrossEntropyWithLogits, T = [f32, f16 if "f16"], programs = |T| {
        let scalar = scalar_of(T)?;
        Ok(Team::ALL.map(|team| dense_program((scalar, team))).to_vec())
    }
)]
fn dense(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let (logits, labels) = (ctx.input(O::FEATURES)?, ctx.input(O::LABELS)?);
    let [rows, classes] = loss::cross_entropy(logits.shape(), labels.shape())?;
    gpu.ensure_rounds(3 * classes / THREADS as usize)?;
    let loss = gpu.output(ctx, O::LOSS, [rows])?;
    let gradient = gpu.output(ctx, O::BACKPROP, [rows, classes])?;
    let [x_row, x_column] = steps(logits.shape());
    let [label_row, label_column] = steps(labels.shape());
    let params = [classes as u32, x_row, x_column, label_row, label_column];
    let shader = gpu.shader(dense_program, (scalar_of(logits.dtype())?, Team::on(gpu, Scalar::F32)));
    let parts = [read_if(x_row > 0, logits), read_if(label_row > 0, labels), written(&loss), written(&gradient)];
    gpu.in_windows(rows, &parts, |rows, tensors| gpu.dispatch(&shader, tensors, &params, Groups::Rows(rows.len())))?;
    ctx.set_output(O::LOSS, loss)?;
    ctx.set_output(O::BACKPROP, gradient)
}

const REFUSED: &str = "a label is outside the valid range of the classes";

#[register_kernel(
    device = Gpu, op = SparseSoftmaxCrossEntropyWithLogits, T = [f32, f16 if "f16"], Tlabels = [i32, i64 if "i64"],
    programs = |T, Tlabels| {
        let (scalar, labels) = (scalar_of(T)?, scalar_of(Tlabels)?);
        Ok(Team::ALL.map(|team| sparse_program((scalar, labels, team))).to_vec())
    },
    state = |ctx| Ok(Refusal::new(ctx, Code::InvalidArgument, REFUSED))
)]
fn sparse(refusal: &Refusal, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let (logits, labels) = (ctx.input(O::FEATURES)?, ctx.input(O::LABELS)?);
    let [rows, classes] = loss::sparse_cross_entropy(logits.shape(), labels.shape())?;
    gpu.ensure_rounds(3 * classes / THREADS as usize)?;
    let loss = gpu.output(ctx, O::LOSS, [rows])?;
    let gradient = gpu.output(ctx, O::BACKPROP, logits.shape().clone())?;
    let kinds = (scalar_of(logits.dtype())?, scalar_of(labels.dtype())?);
    let shader = gpu.shader(sparse_program, (kinds.0, kinds.1, Team::on(gpu, Scalar::F32)));
    let params = [refusal.number(), classes as u32, classes as u32, 1];
    let parts = [read(logits), read(labels), written(&loss), written(&gradient), whole(gpu.refusals()?)];
    gpu.in_windows(rows, &parts, |rows, tensors| gpu.dispatch(&shader, tensors, &params, Groups::Rows(rows.len())))?;
    ctx.set_output(O::LOSS, loss)?;
    ctx.set_output(O::BACKPROP, gradient)
}

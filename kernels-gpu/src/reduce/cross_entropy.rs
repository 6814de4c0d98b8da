//! SoftmaxCrossEntropyWithLogits and SparseSoftmaxCrossEntropyWithLogits: a workgroup for each row.

use std::sync::OnceLock;

use kernlink::dtype::DataType;
use kernlink::error::{Code, Result};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::shape::Shape;
use kernlink_geometry::loss;
use kernlink_macros::register_kernel;
use kernlink_ops::{SoftmaxCrossEntropyWithLogits, SparseSoftmaxCrossEntropyWithLogits};

use super::softmax::{FOUND, THREADS};
use crate::composition;
use crate::device::{GpuDevice, Groups};
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program, Scalar, Shader, scalar_of};
use crate::team::Team;
use crate::windows::{read, read_if, whole, written};

fn dense_program(scalar: Scalar, team: Team) -> Program {
    let body = team.functions("f32", &[], &FOUND) + &composition::compose(include_str!("dense_entropy.wgsl"), &[]);
    let builder = Program::trusted("SoftmaxCrossEntropyWithLogits")
        .alias("T", scalar)
        .read("x", scalar)
        .read("labels", scalar)
        .write("loss", scalar)
        .write("gradient", scalar)
        .param("classes", "u32")
        .param("x_row", "u32")
        .param("x_column", "u32")
        .param("label_row", "u32")
        .param("label_column", "u32")
        .workgroup(THREADS);
    team.declare(builder).build(Entry::Rows, &body)
}

fn sparse_program(scalar: Scalar, labels: Scalar, team: Team) -> Program {
    let found = team.functions("f32", &[], &FOUND) + refusal::FUNCTION;
    let body = found + &composition::compose(include_str!("sparse_entropy.wgsl"), &[]);
    let builder = Program::trusted("SparseSoftmaxCrossEntropyWithLogits")
        .alias("T", scalar)
        .alias("L", labels)
        .read("x", scalar)
        .read("labels", labels)
        .write("loss", scalar)
        .write("gradient", scalar);
    let builder = refusal::declare(builder)
        .param("classes", "u32")
        .param("x_row", "u32")
        .param("x_column", "u32")
        .workgroup(THREADS);
    team.declare(builder).build(Entry::Rows, &body)
}

/// How far it is to the next row and the next column of a shape that broadcasts to a matrix.
fn steps(shape: &Shape) -> [u32; 2] {
    let size = |from_end: usize| shape.rank().checked_sub(from_end).map_or(1, |axis| shape[axis]);
    let (rows, columns) = (size(2), size(1));
    [if rows == 1 { 0 } else { columns as u32 }, u32::from(columns != 1)]
}

struct Dense {
    scalar: Scalar,
    shader: OnceLock<Shader>,
}

#[register_kernel(device = Gpu, T = [f32, f16 if "f16"], programs = |T| dense_programs(T))]
impl OpKernel<SoftmaxCrossEntropyWithLogits> for Dense {
    fn new(ctx: &KernelConstruction<'_, SoftmaxCrossEntropyWithLogits>) -> Result<Self> {
        let scalar = scalar_of(ctx.input_dtype(SoftmaxCrossEntropyWithLogits::FEATURES))?;
        Ok(Dense { scalar, shader: OnceLock::new() })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, SoftmaxCrossEntropyWithLogits>) -> Result<()> {
        type Op = SoftmaxCrossEntropyWithLogits;
        let gpu = GpuDevice::of(ctx)?;
        let (logits, labels) = (ctx.input(Op::FEATURES)?, ctx.input(Op::LABELS)?);
        let [rows, classes] = loss::cross_entropy(logits.shape(), labels.shape())?;
        gpu.ensure_rounds(3 * classes / THREADS as usize)?;
        let loss = gpu.output(ctx, Op::LOSS, [rows])?;
        let gradient = gpu.output(ctx, Op::BACKPROP, [rows, classes])?;
        let [x_row, x_column] = steps(logits.shape());
        let [label_row, label_column] = steps(labels.shape());
        let params = [classes as u32, x_row, x_column, label_row, label_column];
        let made = || Shader::new(dense_program(self.scalar, Team::on(gpu, Scalar::F32)));
        let shader = self.shader.get_or_init(made);
        let parts = [read_if(x_row > 0, logits), read_if(label_row > 0, labels), written(&loss), written(&gradient)];
        gpu.in_windows(rows, &parts, |rows, tensors| gpu.dispatch(shader, tensors, &params, Groups::Rows(rows.len())))?;
        ctx.set_output(Op::LOSS, loss)?;
        ctx.set_output(Op::BACKPROP, gradient)
    }
}

struct Sparse {
    refusal: Refusal,
    shader: OnceLock<Shader>,
}

#[register_kernel(
    device = Gpu,
    T = [f32, f16 if "f16"],
    Tlabels = [i32, i64 if "i64"],
    programs = |T, Tlabels| sparse_programs(T, Tlabels)
)]
impl OpKernel<SparseSoftmaxCrossEntropyWithLogits> for Sparse {
    fn new(ctx: &KernelConstruction<'_, SparseSoftmaxCrossEntropyWithLogits>) -> Result<Self> {
        let refusal = Refusal::new(ctx, Code::InvalidArgument, "a label is outside the valid range of the classes");
        Ok(Sparse { refusal, shader: OnceLock::new() })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, SparseSoftmaxCrossEntropyWithLogits>) -> Result<()> {
        type Op = SparseSoftmaxCrossEntropyWithLogits;
        let gpu = GpuDevice::of(ctx)?;
        let (logits, labels) = (ctx.input(Op::FEATURES)?, ctx.input(Op::LABELS)?);
        let [rows, classes] = loss::sparse_cross_entropy(logits.shape(), labels.shape())?;
        gpu.ensure_rounds(3 * classes / THREADS as usize)?;
        let loss = gpu.output(ctx, Op::LOSS, [rows])?;
        let gradient = gpu.output(ctx, Op::BACKPROP, logits.shape().clone())?;
        let (scalar, kind) = (scalar_of(logits.dtype())?, scalar_of(labels.dtype())?);
        let made = || Shader::new(sparse_program(scalar, kind, Team::on(gpu, Scalar::F32)));
        let shader = self.shader.get_or_init(made);
        let refusals = gpu.refusals()?;
        let params = [self.refusal.number(), classes as u32, classes as u32, 1];
        let parts = [read(logits), read(labels), written(&loss), written(&gradient), whole(refusals)];
        gpu.in_windows(rows, &parts, |rows, tensors| gpu.dispatch(shader, tensors, &params, Groups::Rows(rows.len())))?;
        ctx.set_output(Op::LOSS, loss)?;
        ctx.set_output(Op::BACKPROP, gradient)
    }
}

fn dense_programs(dtype: DataType) -> Result<Vec<Program>> {
    let scalar = scalar_of(dtype)?;
    Ok(Team::ALL.map(|team| dense_program(scalar, team)).to_vec())
}

fn sparse_programs(dtype: DataType, labels: DataType) -> Result<Vec<Program>> {
    let (scalar, labels) = (scalar_of(dtype)?, scalar_of(labels)?);
    Ok(Team::ALL.map(|team| sparse_program(scalar, labels, team)).to_vec())
}

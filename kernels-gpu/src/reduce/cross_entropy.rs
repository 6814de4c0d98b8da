//! SoftmaxCrossEntropyWithLogits and SparseSoftmaxCrossEntropyWithLogits: a workgroup for each row.

use std::sync::OnceLock;

use kernlink::error::{Code, Result};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::softmax::FOUND;
use crate::device::{GpuDevice, Groups};
use crate::element_wise::for_text;
use crate::family::{gpu_kernels, scalar_of};
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program, Scalar, Shader};
use crate::team::Team;

/// What stands before the two shaders: the greatest logit of a row and the sum of the powers.
const POWERS: &str = include_str!("powers.wgsl");

fn dense_program(scalar: Scalar, team: Team) -> Program {
    let found = team.functions("f32", &[], &FOUND);
    let text = format!("{found}{POWERS}{}", include_str!("dense_entropy.wgsl"));
    let builder = Program::builder("SoftmaxCrossEntropyWithLogits")
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
        .workgroup(128);
    team.declare(builder).build(Entry::Rows, &(for_text(&text) + &text))
}

fn sparse_program(scalar: Scalar, labels: Scalar, team: Team) -> Program {
    let found = team.functions("f32", &[], &FOUND);
    let text = format!("{found}{POWERS}{}{}", refusal::FUNCTION, include_str!("sparse_entropy.wgsl"));
    let builder = Program::builder("SparseSoftmaxCrossEntropyWithLogits")
        .alias("T", scalar)
        .alias("L", labels)
        .read("x", scalar)
        .read("labels", labels)
        .write("loss", scalar)
        .write("gradient", scalar);
    let builder =
        refusal::declare(builder).param("classes", "u32").param("x_row", "u32").param("x_column", "u32").workgroup(128);
    team.declare(builder).build(Entry::Rows, &(for_text(&text) + &text))
}

/// The rows and columns of the matrix that two shapes broadcast to.
fn broadcast(logits: &Shape, labels: &Shape) -> Result<[usize; 2]> {
    let rank = logits.rank().max(labels.rank());
    let mut sizes = Vec::with_capacity(rank);
    for axis in 0..rank {
        let (a, b) = (size(logits, rank, axis), size(labels, rank, axis));
        ensure!(
            a == b || a == 1 || b == 1,
            InvalidArgument,
            "logits and labels must be broadcastable, not {logits} and {labels}"
        );
        sizes.push(if a == 1 { b } else { a });
    }
    let Ok(sizes) = <[usize; 2]>::try_from(sizes) else {
        bail!(InvalidArgument, "logits and labels must be matrices, or broadcast to one, not {logits} and {labels}");
    };
    Ok(sizes)
}

/// The size at an axis of the shape that is filled up to a rank.
fn size(shape: &Shape, rank: usize, axis: usize) -> usize {
    (axis + shape.rank()).checked_sub(rank).map_or(1, |axis| shape[axis])
}

/// How far it is to the next row and the next column of a shape that broadcasts to a matrix.
fn steps(shape: &Shape) -> [u32; 2] {
    let [rows, columns] = [0, 1].map(|axis| size(shape, 2, axis));
    [if rows == 1 { 0 } else { columns as u32 }, u32::from(columns != 1)]
}

struct Dense {
    scalar: Scalar,
    shader: OnceLock<Shader>,
}

impl Dense {
    fn new(ctx: &RawConstruction<'_>) -> Result<Dense> {
        Ok(Dense { scalar: scalar_of(ctx.input_dtype_at(0)?)?, shader: OnceLock::new() })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (logits, labels) = (ctx.input_at(0)?, ctx.input_at(1)?);
        let [rows, classes] = broadcast(logits.shape(), labels.shape())?;
        let loss = gpu.allocate_output(ctx, 0, [rows])?;
        let gradient = gpu.allocate_output(ctx, 1, [rows, classes])?;
        let [x_row, x_column] = steps(logits.shape());
        let [label_row, label_column] = steps(labels.shape());
        let params = [classes as u32, x_row, x_column, label_row, label_column];
        let made = || Shader::new(dense_program(self.scalar, Team::on(gpu, Scalar::F32)));
        let shader = self.shader.get_or_init(made);
        gpu.dispatch(shader, &[logits, labels, &loss, &gradient], &params, Groups::Rows(rows))?;
        ctx.set_output_at(0, loss)?;
        ctx.set_output_at(1, gradient)
    }
}

gpu_kernels! { SoftmaxCrossEntropyWithLogits { [f32] [f16; "f16"] } as Dense: |ctx| Dense::new(ctx) }

struct Sparse {
    refusal: Refusal,
    shader: OnceLock<Shader>,
}

type SparseOp = ops::SparseSoftmaxCrossEntropyWithLogits;

impl OpKernel<SparseOp> for Sparse {
    fn new(ctx: &KernelConstruction<'_, SparseOp>) -> Result<Self> {
        let refusal = Refusal::new(ctx, Code::InvalidArgument, "a label is outside the valid range of the classes");
        Ok(Sparse { refusal, shader: OnceLock::new() })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, SparseOp>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (logits, labels) = (ctx.input_at(0)?, ctx.input_at(1)?);
        let shape = logits.shape();
        ensure!(shape.rank() == 2, InvalidArgument, "logits must be 2-dimensional, not {shape}");
        ensure!(labels.rank() == 1, InvalidArgument, "labels must be 1-dimensional, not {}", labels.shape());
        let [rows, classes] = [shape[0], shape[1]];
        ensure!(
            rows == labels.shape()[0],
            InvalidArgument,
            "logits and labels must have the same first dimension, not {shape} and {}",
            labels.shape()
        );
        ensure!(classes > 0, InvalidArgument, "there must be at least one class: logits are {shape}");
        let loss = gpu.allocate_output(ctx, 0, [rows])?;
        let gradient = gpu.allocate_output(ctx, 1, shape.clone())?;
        let (scalar, kind) = (scalar_of(logits.dtype())?, scalar_of(labels.dtype())?);
        let made = || Shader::new(sparse_program(scalar, kind, Team::on(gpu, Scalar::F32)));
        let shader = self.shader.get_or_init(made);
        let refusals = gpu.refusals()?;
        let params = [self.refusal.number(), classes as u32, classes as u32, 1];
        gpu.dispatch(shader, &[logits, labels, &loss, &gradient, refusals], &params, Groups::Rows(rows))?;
        ctx.set_output_at(0, loss)?;
        ctx.set_output_at(1, gradient)
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

#[register_kernel(device = Gpu, op = ops::SparseSoftmaxCrossEntropyWithLogits, T = [f32], Tlabels = [int32])]
type OfInts = Sparse;

#[register_kernel(
    device = Gpu, op = ops::SparseSoftmaxCrossEntropyWithLogits, requires = ["i64"], T = [f32], Tlabels = [int64]
)]
type OfLongs = Sparse;

#[register_kernel(
    device = Gpu, op = ops::SparseSoftmaxCrossEntropyWithLogits, requires = ["f16"], T = [f16], Tlabels = [int32]
)]
type HalfOfInts = Sparse;

#[register_kernel(
    device = Gpu, op = ops::SparseSoftmaxCrossEntropyWithLogits, requires = ["f16", "i64"], T = [f16], Tlabels = [int64]
)]
type HalfOfLongs = Sparse;

/// All programs of the family.
pub(super) fn programs() -> Vec<Program> {
    let mut programs = Vec::new();
    for scalar in [Scalar::F32, Scalar::F16] {
        for team in Team::ALL {
            programs.push(dense_program(scalar, team));
            programs.extend([Scalar::I32, Scalar::I64].map(|kind| sparse_program(scalar, kind, team)));
        }
    }
    programs
}

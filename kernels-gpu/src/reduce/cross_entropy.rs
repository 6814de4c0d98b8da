//! SoftmaxCrossEntropyWithLogits and SparseSoftmaxCrossEntropyWithLogits: a workgroup for each row.

use std::sync::OnceLock;

use kernlink::error::{Code, Result};
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink_geometry::loss;
use kernlink_ops as ops;

use super::softmax::{FOUND, THREADS};
use crate::device::{GpuDevice, Groups};
use crate::element_wise::for_text;
use crate::family::{gpu_kernels, scalar_of};
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program, Scalar, Shader};
use crate::team::Team;
use crate::windows::{read, read_if, whole, written};

/// What stands before the two shaders: the greatest logit of a row and the sum of the powers.
const POWERS: &str = include_str!("powers.wgsl");

fn dense_program(scalar: Scalar, team: Team) -> Program {
    let found = team.functions("f32", &[], &FOUND);
    let text = format!("{found}{POWERS}{}", include_str!("dense_entropy.wgsl"));
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
    team.declare(builder).build(Entry::Rows, &(for_text(&text) + &text))
}

fn sparse_program(scalar: Scalar, labels: Scalar, team: Team) -> Program {
    let found = team.functions("f32", &[], &FOUND);
    let text = format!("{found}{POWERS}{}{}", refusal::FUNCTION, include_str!("sparse_entropy.wgsl"));
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
    team.declare(builder).build(Entry::Rows, &(for_text(&text) + &text))
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

impl Dense {
    fn new(ctx: &RawConstruction<'_>) -> Result<Dense> {
        Ok(Dense { scalar: scalar_of(ctx.input_dtype_at(0)?)?, shader: OnceLock::new() })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (logits, labels) = (ctx.input_at(0)?, ctx.input_at(1)?);
        let [rows, classes] = loss::cross_entropy(logits.shape(), labels.shape())?;
        gpu.ensure_rounds(3 * classes / THREADS as usize)?;
        let loss = gpu.allocate_output(ctx, 0, [rows])?;
        let gradient = gpu.allocate_output(ctx, 1, [rows, classes])?;
        let [x_row, x_column] = steps(logits.shape());
        let [label_row, label_column] = steps(labels.shape());
        let params = [classes as u32, x_row, x_column, label_row, label_column];
        let made = || Shader::new(dense_program(self.scalar, Team::on(gpu, Scalar::F32)));
        let shader = self.shader.get_or_init(made);
        let parts = [read_if(x_row > 0, logits), read_if(label_row > 0, labels), written(&loss), written(&gradient)];
        gpu.in_windows(rows, &parts, |rows, tensors| gpu.dispatch(shader, tensors, &params, Groups::Rows(rows.len())))?;
        ctx.set_output_at(0, loss)?;
        ctx.set_output_at(1, gradient)
    }
}

gpu_kernels! { SoftmaxCrossEntropyWithLogits { [f32] [f16; "f16"] } as Dense: |ctx| Dense::new(ctx) }

struct Sparse {
    refusal: Refusal,
    shader: OnceLock<Shader>,
}

impl Sparse {
    fn new(ctx: &RawConstruction<'_>) -> Result<Sparse> {
        let refusal = Refusal::new(ctx, Code::InvalidArgument, "a label is outside the valid range of the classes");
        Ok(Sparse { refusal, shader: OnceLock::new() })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (logits, labels) = (ctx.input_at(0)?, ctx.input_at(1)?);
        let [rows, classes] = loss::sparse_cross_entropy(logits.shape(), labels.shape())?;
        gpu.ensure_rounds(3 * classes / THREADS as usize)?;
        let loss = gpu.allocate_output(ctx, 0, [rows])?;
        let gradient = gpu.allocate_output(ctx, 1, logits.shape().clone())?;
        let (scalar, kind) = (scalar_of(logits.dtype())?, scalar_of(labels.dtype())?);
        let made = || Shader::new(sparse_program(scalar, kind, Team::on(gpu, Scalar::F32)));
        let shader = self.shader.get_or_init(made);
        let refusals = gpu.refusals()?;
        let params = [self.refusal.number(), classes as u32, classes as u32, 1];
        let parts = [read(logits), read(labels), written(&loss), written(&gradient), whole(refusals)];
        gpu.in_windows(rows, &parts, |rows, tensors| gpu.dispatch(shader, tensors, &params, Groups::Rows(rows.len())))?;
        ctx.set_output_at(0, loss)?;
        ctx.set_output_at(1, gradient)
    }
}

gpu_kernels! {
    SparseSoftmaxCrossEntropyWithLogits host [] as Sparse: |ctx| Sparse::new(ctx);
    { T = [f32], Tlabels = [int32] }
    { T = [f32], Tlabels = [int64]; "i64" }
    { T = [f16], Tlabels = [int32]; "f16" }
    { T = [f16], Tlabels = [int64]; "f16", "i64" }
}

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

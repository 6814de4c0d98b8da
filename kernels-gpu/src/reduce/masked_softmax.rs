//! _ScaledMaskedSoftmax: what attention takes of its scores, by a workgroup for each row.

use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::tensor::Tensor;
use kernlink_geometry::loss::{ensure_one_mask, masked};
use kernlink_geometry::rows::Rows;
use kernlink_macros::register_kernel;
use kernlink_ops::ScaledMaskedSoftmax;
use smallvec::{SmallVec, smallvec};

use super::softmax::{FOUND, THREADS};
use crate::composition;
use crate::device::{GpuDevice, Groups};
use crate::matmul::gemm::word;
use crate::places::{self, Places};
use crate::shader::{Entry, Program, Scalar};
use crate::team::Team;
use crate::windows::{Part, read, read_if, whole, written};

/// What broadcasts, beside the classes.
const OPERANDS: [&str; 2] = ["x", "mask"];

/// The mask of a shader.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Mask {
    /// Along how many dimensions rows broadcast.
    rank: usize,
    /// Whether there are fewer logits than results.
    spread: bool,
}

fn program((mask, team): (Option<Mask>, Team)) -> Program {
    let mut builder = Program::trusted("ScaledMaskedSoftmax").alias("T", Scalar::F32).read("x", Scalar::F32);
    let (mut names, mut body) = (vec!["scaled"], String::new());
    if let Some(mask) = mask {
        builder = builder.read("mask", Scalar::F32);
        names.push("masked");
        if mask.spread {
            names.push("spread");
        }
        body += &places::function(mask.rank, &OPERANDS);
    }
    builder = builder.write("y", Scalar::F32).words("classes x_step").param("scale", "f32");
    if let Some(mask) = mask {
        builder = places::declare(builder.words("mask_step first"), mask.rank, &OPERANDS);
    }
    builder = builder.workgroup(THREADS).declare(&team.functions("f32", &[], &FOUND));
    body += &composition::compose(include_str!("masked_softmax.wgsl"), &names);
    body += &composition::compose(include_str!("softmax.wgsl"), &names);
    team.declare(builder).build(Entry::Rows, &body)
}

fn programs() -> Vec<Program> {
    let ranks = places::shader_ranks(5).flat_map(|rank| [false, true].map(|spread| Some(Mask { rank, spread })));
    ranks.chain([None]).flat_map(|mask| Team::ALL.map(|team| program((mask, team)))).collect()
}

#[register_kernel(device = Gpu, T = [f32], programs = |T| Ok(programs()), state = |ctx| Ok(ctx.attrs().scale))]
fn scaled_masked_softmax(scale: &f32, ctx: &mut KernelContext<'_, ScaledMaskedSoftmax>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let (logits, masks) = (ctx.input(ScaledMaskedSoftmax::LOGITS)?, ctx.input_list(ScaledMaskedSoftmax::MASK));
    ensure_one_mask(masks.len())?;
    let mask = masks.iter().next();
    let shape = masked(logits.shape(), mask.map(Tensor::shape))?;
    let classes = shape[shape.rank() - 1];
    let output = gpu.output(ctx, ScaledMaskedSoftmax::SOFTMAX, shape)?;
    if output.num_elements() == 0 {
        return ctx.set_output(ScaledMaskedSoftmax::SOFTMAX, output);
    }
    gpu.ensure_rounds(3 * classes.div_ceil(THREADS as usize))?;
    let step = |tensor: &Tensor| u32::from(tensor.shape().last().is_some_and(|&size| size != 1));
    let mut params: SmallVec<[u32; 32]> = smallvec![word(classes)?, step(logits), scale.to_bits()];
    let team = Team::on(gpu, Scalar::F32);
    let rows = output.num_elements() / classes;
    let Some(mask) = mask else {
        let shader = gpu.shader(program, (None, team));
        gpu.in_windows(rows, &[read(logits), written(&output)], |rows, tensors| {
            gpu.dispatch(&shader, tensors, &params, Groups::Rows(rows.len()))
        })?;
        return ctx.set_output(ScaledMaskedSoftmax::SOFTMAX, output);
    };
    let spread = logits.shape() != output.shape();
    // A mask for each row moves with the logits, so that a window's first row is where it begins.
    let moves = !spread && mask.shape() == output.shape();
    let places = Rows::new(output.shape(), [logits.shape(), mask.shape()])?;
    let outer = places.outer.iter().rev().map(|&(size, steps)| (size, steps.map(|step| step as i64)));
    let places = Places::new(outer);
    let rank = places.shader_rank()?;
    params.extend_from_slice(&[step(mask), 0]);
    let first = params.len() - 1;
    params.extend_from_slice(&places.params(rank));
    let shader = gpu.shader(program, (Some(Mask { rank, spread }), team));
    let mask = if moves { read(mask) } else { whole(mask) };
    let parts: [Part<'_>; 3] = [read_if(!spread, logits), mask, written(&output)];
    gpu.in_windows(rows, &parts, |rows, tensors| {
        params[first] = if moves { 0 } else { word(rows.start)? };
        gpu.dispatch(&shader, tensors, &params, Groups::Rows(rows.len()))
    })?;
    ctx.set_output(ScaledMaskedSoftmax::SOFTMAX, output)
}

//! _LayerNorm: vectors of the last dimension, brought to mean 0 and variance 1, by a workgroup each.

use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink_geometry::channels;
use kernlink_macros::register_kernel;
use kernlink_ops::LayerNorm;

use super::softmax::{FOUND, THREADS};
use crate::device::{GpuDevice, Groups};
use crate::matmul::gemm::word;
use crate::shader::{Entry, Program, Scalar, scalar_of};
use crate::team::Team;
use crate::windows::{read, whole, written};

fn program((scalar, team): (Scalar, Team)) -> Program {
    let builder = Program::trusted("LayerNorm")
        .alias("T", scalar)
        .read("x", scalar)
        .read("scale", scalar)
        .read("offset", scalar)
        .write("y", scalar)
        .words("length")
        .param("epsilon", "f32")
        .declare(&team.functions("f32", &[], &FOUND[1..]))
        .workgroup(THREADS);
    team.declare(builder).compose(Entry::Rows, include_str!("layer_norm.wgsl"), &[])
}

#[register_kernel(
    device = Gpu, T = [f32, f16 if "f16"], state = |ctx| Ok(ctx.attrs().epsilon),
    programs = |T| {
        let scalar = scalar_of(T)?;
        Ok(Team::ALL.map(|team| program((scalar, team))).to_vec())
    }
)]
fn layer_norm(epsilon: &f32, ctx: &mut KernelContext<'_, LayerNorm>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let (x, scale, offset) = (ctx.input(LayerNorm::X)?, ctx.input(LayerNorm::SCALE)?, ctx.input(LayerNorm::OFFSET)?);
    let length = channels::layer_norm(x.shape(), scale.shape(), offset.shape())?;
    let y = gpu.output(ctx, LayerNorm::Y, x.shape().clone())?;
    if y.num_elements() > 0 {
        gpu.ensure_rounds(3 * length.div_ceil(THREADS as usize))?;
        let shader = gpu.shader(program, (scalar_of(x.dtype())?, Team::on(gpu, Scalar::F32)));
        let (rows, params) = (y.num_elements() / length, [word(length)?, epsilon.to_bits()]);
        gpu.in_windows(rows, &[read(x), whole(scale), whole(offset), written(&y)], |rows, tensors| {
            gpu.dispatch(&shader, tensors, &params, Groups::Rows(rows.len()))
        })?;
    }
    ctx.set_output(LayerNorm::Y, y)
}

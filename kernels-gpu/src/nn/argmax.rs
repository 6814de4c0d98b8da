//! MaxPoolWithArgmax and MaxPoolGradWithArgmax: where the greatest elements are, and what flows back to them.

use kernlink::error::{Code, Result};
use kernlink::kernel::KernelContext;
use kernlink_geometry::pooling::Pooling;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::element::Key;
use super::pooling::{PARAMS, Through, params};
use crate::array::merge::{self, Merge};
use crate::device::{GpuDevice, Groups};
use crate::indices::Indices;
use crate::matmul::gemm::word;
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program, ProgramBuilder, Scalar, scalar_of};
use crate::windows::{read, written};

/// What tells the shaders of a text from each other: elements and indices.
type Kind = (Scalar, Indices);

/// The parameters of a pooling, and whether indices count from the first image.
fn declare(builder: ProgramBuilder) -> ProgramBuilder {
    builder.words(PARAMS).words("across")
}

/// Those of its gradient: also how many channels it has, which are fewer than the input's if windows are over depth.
fn declare_back(builder: ProgramBuilder) -> ProgramBuilder {
    declare(builder).words("flow_depth")
}

fn builder(label: &str, scalar: Scalar) -> ProgramBuilder {
    Key::new(scalar, false).builder(label)
}

fn max_program((scalar, index): Kind) -> Program {
    let builder = builder("max pooling with places", scalar).read("input", scalar).write("output", scalar);
    let builder = declare(index.write(builder, "argmax"));
    builder.compose(Entry::Elements, include_str!("max_pool_argmax.wgsl"), index.names())
}

/// What flows back from windows that see the places to which their gradients go.
fn near_program((scalar, index): Kind) -> Program {
    let builder = builder("gradient of max pooling to places in sight", scalar).read("gradient", scalar);
    let builder = declare_back(index.read(builder, "indices").write("output", scalar));
    builder.compose(Entry::Elements, include_str!("argmax_near.wgsl"), index.names())
}

/// What goes to places that the windows do not see: an input of its own may name any of the image.
fn far_program((scalar, index): Kind) -> Program {
    let label = "gradient of max pooling to places out of sight";
    let builder = index.read(merge::read(Program::trusted(label), "updates", scalar), "indices");
    let builder = refusal::declare(declare_back(merge::write(builder, "y", scalar)));
    let names = [Merge::Add.names(scalar), index.names().to_vec()].concat();
    builder.compose(Entry::Elements, include_str!("argmax_far.wgsl"), &names)
}

#[register_kernel(
    device = Gpu, op = ops::MaxPoolWithArgmax, T = [f32, i32, u32, f16 if "f16", i64 if "i64"], Targmax = [i32, i64],
    programs = |T, Targmax| Ok(vec![max_program((scalar_of(T)?, Indices::of(Targmax)?))]),
    state = |ctx| Ok((Pooling::new(ctx.attrs)?, ctx.attrs().include_batch_in_index))
)]
fn max_pool((pooling, across): &(Pooling, bool), ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (gpu, input) = (GpuDevice::of(ctx)?, ctx.input(O::INPUT)?);
    let index_type = ctx.output_dtype(O::ARGMAX)?;
    let geometry = pooling.with_argmax(input.shape(), index_type, *across)?;
    word(input.num_elements())?;
    let output = gpu.output(ctx, O::OUTPUT, geometry.output())?;
    let argmax = gpu.output(ctx, O::ARGMAX, geometry.output())?;
    let mut params = params(gpu, &geometry, &[Through::Window])?;
    params.push(u32::from(*across));
    let shader = gpu.shader(max_program, (scalar_of(input.dtype())?, Indices::of(index_type)?));
    // Indices that count from the first image are of all images at once.
    let images = if *across { 1 } else { geometry.batch };
    gpu.in_windows(images, &[read(input), written(&output), written(&argmax)], |_, tensors| {
        gpu.dispatch(&shader, tensors, &params, Groups::Elements(tensors[1].num_elements()))
    })?;
    ctx.set_output(O::OUTPUT, output)?;
    ctx.set_output(O::ARGMAX, argmax)
}

const REFUSED: &str = "an index in argmax lies outside of the image";

#[register_kernel(
    device = Gpu, op = ops::MaxPoolGradWithArgmax, T = [f32, i32, u32, f16 if "f16", i64 if "i64"],
    Targmax = [i32, i64],
    programs = |T, Targmax| {
        let kind = (scalar_of(T)?, Indices::of(Targmax)?);
        Ok(vec![near_program(kind), far_program(kind)])
    },
    state = |ctx| {
        let refusal = Refusal::new(ctx, Code::InvalidArgument, REFUSED);
        Ok((Pooling::new(ctx.attrs)?, ctx.attrs().include_batch_in_index, refusal))
    }
)]
fn gradient((pooling, across, refusal): &(Pooling, bool, Refusal), ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let (input, grad, argmax) = (ctx.input(O::INPUT)?, ctx.input(O::GRAD)?, ctx.input(O::ARGMAX)?);
    let geometry = pooling.argmax_back(input.shape(), grad.shape(), argmax.shape())?;
    let output = gpu.output(ctx, O::OUTPUT, input.shape().clone())?;
    if output.num_elements() > 0 {
        let kind = (scalar_of(output.dtype())?, Indices::of(argmax.dtype())?);
        let mut params = params(gpu, &geometry, &[Through::Windows])?;
        params.extend([u32::from(*across), word(grad.shape()[3])?]);
        let (near, far) = (gpu.shader(near_program, kind), gpu.shader(far_program, kind));
        let images = if *across { 1 } else { geometry.batch };
        let parts = [read(grad), read(argmax), written(&output)];
        gpu.in_windows(images, &parts, |_, tensors| {
            gpu.dispatch(&near, tensors, &params, Groups::Elements(tensors[2].num_elements()))
        })?;
        gpu.in_windows(images, &parts, |_, tensors| {
            gpu.dispatch_refusing(*refusal, &far, tensors, &params, Groups::Elements(tensors[0].num_elements()))
        })?;
    }
    ctx.set_output(O::OUTPUT, output)
}

//! MaxPoolWithArgmax and MaxPoolGradWithArgmax: where the greatest elements are, and what flows back to them.

use kernlink::error::{Code, Result};
use kernlink::kernel::{GPU, KernelConstruction, KernelContext, OpKernel};
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
use crate::windows::{read, whole, written};

/// What tells the shaders of a text from each other: elements and indices.
type Kind = (Scalar, Indices);

/// The parameters of a pooling, and whether indices count from the first image.
fn declare(builder: ProgramBuilder) -> ProgramBuilder {
    builder.words(PARAMS).words("across")
}

fn builder(label: &str, scalar: Scalar) -> ProgramBuilder {
    Key { scalar, vectors: false }.builder(label)
}

fn max_program((scalar, index): Kind) -> Program {
    let builder = builder("max pooling with places", scalar).read("input", scalar).write("output", scalar);
    let builder = declare(index.write(builder, "argmax"));
    builder.compose(Entry::Elements, include_str!("max_pool_argmax.wgsl"), index.names())
}

/// What flows back from windows that see the places to which their gradients go.
fn near_program((scalar, index): Kind) -> Program {
    let builder = builder("gradient of max pooling to places in sight", scalar).read("gradient", scalar);
    let builder = declare(index.read(builder, "indices").write("output", scalar));
    builder.compose(Entry::Elements, include_str!("argmax_near.wgsl"), index.names())
}

/// What goes to places that the windows do not see: an input of its own may name any of the image.
fn far_program((scalar, index): Kind) -> Program {
    let label = "gradient of max pooling to places out of sight";
    let builder = index.read(merge::read(Program::trusted(label), "updates", scalar), "indices");
    let builder = refusal::declare(declare(merge::write(builder, "y", scalar)));
    let names = [Merge::Add.names(scalar), index.names().to_vec()].concat();
    builder.compose(Entry::Elements, include_str!("argmax_far.wgsl"), &names)
}

struct WithArgmax {
    pooling: Pooling,
    across: bool,
    scalar: Scalar,
}

#[register_kernel(
    device = Gpu,
    op = ops::MaxPoolWithArgmax,
    T = [f32, i32, u32, f16 if "f16", i64 if "i64"],
    Targmax = [i32, i64],
    programs = |T, Targmax| Ok(vec![max_program((scalar_of(T)?, Indices::of(Targmax)?))])
)]
impl OpKernel<O> for WithArgmax {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Ok(WithArgmax {
            pooling: Pooling::new(ctx.attrs, GPU)?,
            across: ctx.attrs().include_batch_in_index,
            scalar: scalar_of(ctx.input_dtype(O::INPUT))?,
        })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let input = ctx.input(O::INPUT)?;
        let index_type = ctx.output_dtype(O::ARGMAX)?;
        let geometry = self.pooling.with_argmax(input.shape(), index_type, self.across)?;
        word(input.num_elements())?;
        let (output, argmax) =
            (gpu.output(ctx, O::OUTPUT, geometry.output())?, gpu.output(ctx, O::ARGMAX, geometry.output())?);
        let mut params = params(gpu, &geometry, &[Through::Window])?;
        params.push(u32::from(self.across));
        let shader = gpu.shader(max_program, (self.scalar, Indices::of(index_type)?));
        // Indices that count from the first image are of all images at once.
        let images = if self.across { 1 } else { geometry.batch };
        gpu.in_windows(images, &[read(input), written(&output), written(&argmax)], |_, tensors| {
            gpu.dispatch(&shader, tensors, &params, Groups::Elements(tensors[1].num_elements()))
        })?;
        ctx.set_output(O::OUTPUT, output)?;
        ctx.set_output(O::ARGMAX, argmax)
    }
}

struct GradWithArgmax {
    pooling: Pooling,
    across: bool,
    scalar: Scalar,
    refusal: Refusal,
}

#[register_kernel(
    device = Gpu,
    op = ops::MaxPoolGradWithArgmax,
    T = [f32, i32, u32, f16 if "f16", i64 if "i64"],
    Targmax = [i32, i64],
    programs = |T, Targmax| gradient_programs((scalar_of(T)?, Indices::of(Targmax)?))
)]
impl OpKernel<O> for GradWithArgmax {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Ok(GradWithArgmax {
            pooling: Pooling::new(ctx.attrs, GPU)?,
            across: ctx.attrs().include_batch_in_index,
            scalar: scalar_of(ctx.output_dtype(O::OUTPUT))?,
            refusal: Refusal::new(ctx, Code::InvalidArgument, "an index in argmax lies outside of the image"),
        })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (input, grad, argmax) = (ctx.input(O::INPUT)?, ctx.input(O::GRAD)?, ctx.input(O::ARGMAX)?);
        let geometry = self.pooling.argmax_back(input.shape(), grad.shape(), argmax.shape())?;
        let output = gpu.output(ctx, O::OUTPUT, input.shape().clone())?;
        if output.num_elements() > 0 {
            let kind = (self.scalar, Indices::of(argmax.dtype())?);
            let mut params = params(gpu, &geometry, &[Through::Windows])?;
            params.push(u32::from(self.across));
            let near = gpu.shader(near_program, kind);
            let images = if self.across { 1 } else { geometry.batch };
            let parts = [read(grad), read(argmax), written(&output), whole(gpu.refusals()?)];
            gpu.in_windows(images, &parts[..3], |_, tensors| {
                gpu.dispatch(&near, tensors, &params, Groups::Elements(tensors[2].num_elements()))
            })?;
            params.push(self.refusal.number());
            let far = gpu.shader(far_program, kind);
            gpu.in_windows(images, &parts, |_, tensors| {
                gpu.dispatch(&far, tensors, &params, Groups::Elements(tensors[0].num_elements()))
            })?;
        }
        ctx.set_output(O::OUTPUT, output)
    }
}

fn gradient_programs(kind: Kind) -> Result<Vec<Program>> {
    Ok(vec![near_program(kind), far_program(kind)])
}

//! MaxPoolWithArgmax and MaxPoolGradWithArgmax: where the greatest elements are, and what flows back to them.

use kernlink::error::{Code, Result};
use kernlink::kernel::{GPU, KernelConstruction, KernelContext, OpKernel};
use kernlink_geometry::pooling::Pooling;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::element::Key;
use super::pooling::{PARAMS, Through, params};
use crate::array::{Merge, Merging};
use crate::composition;
use crate::device::{GpuDevice, Groups};
use crate::indices::Indices;
use crate::matmul::gemm::word;
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program, ProgramBuilder, Scalar, scalar_of};
use crate::variants::Variants;
use crate::windows::{read, whole, written};

/// What tells the shaders of a text from each other: elements and indices.
type Kind = (Scalar, Indices);

/// The parameters of a pooling, and whether indices count from the first image.
fn declare(builder: ProgramBuilder) -> ProgramBuilder {
    PARAMS.into_iter().chain(["across"]).fold(builder, |builder, name| builder.param(name, "u32"))
}

fn builder(label: &str, scalar: Scalar) -> ProgramBuilder {
    Key { scalar, vectors: false }.builder(label)
}

fn max_program(&(scalar, index): &Kind) -> Program {
    let builder = builder("max pooling with places", scalar).read("input", scalar).write("output", scalar);
    // Where nothing is seen the index is -1.
    let (builder, put) = match index {
        Indices::Narrow => (builder.write("argmax", Scalar::U32), "argmax[i] = place;"),
        Indices::Wide => (
            builder.write_vectors("argmax", Scalar::U32, 2),
            "argmax[i] = vec2<u32>(place, select(0u, NOWHERE, place == NOWHERE));",
        ),
    };
    let put = format!("fn put(i: u32, place: u32) {{\n    {put}\n}}\n");
    declare(builder).build(Entry::Elements, &(put + &composition::compose(include_str!("max_pool_argmax.wgsl"), &[])))
}

/// What flows back from windows that see the places to which their gradients go.
fn near_program(&(scalar, index): &Kind) -> Program {
    let builder = builder("gradient of max pooling to places in sight", scalar).read("gradient", scalar);
    let builder = index.read(builder).write("output", scalar);
    declare(builder).build(Entry::Elements, &composition::compose(include_str!("argmax_near.wgsl"), &[]))
}

/// What goes to places that the windows do not see: an input of its own may name any of the image.
fn far_program(&(scalar, index): &Kind) -> Program {
    let merging = Merging::new(Merge::Add, scalar);
    let builder = builder("gradient of max pooling to places out of sight", scalar);
    let builder = merging.write(index.read(merging.read(builder, "updates")), "y");
    let update = format!("fn update(i: u32, at: u32) {{\n    {}\n}}\n", merging.update);
    let far = composition::compose(include_str!("argmax_far.wgsl"), &[]);
    let body = [&merging.helpers, refusal::FUNCTION, &update, &far].concat();
    refusal::declare(declare(builder)).build(Entry::Elements, &body)
}

struct WithArgmax {
    pooling: Pooling,
    across: bool,
    scalar: Scalar,
    shaders: Variants<Kind>,
}

#[register_kernel(
    device = Gpu,
    op = ops::MaxPoolWithArgmax,
    T = [f32, i32, u32, f16 if "f16", i64 if "i64"],
    Targmax = [i32, i64],
    programs = |T, Targmax| Ok(vec![max_program(&(scalar_of(T)?, Indices::of(Targmax)?))])
)]
impl OpKernel<O> for WithArgmax {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Ok(WithArgmax {
            pooling: Pooling::new(ctx.attrs, GPU)?,
            across: ctx.attrs().include_batch_in_index,
            scalar: scalar_of(ctx.input_dtype(O::INPUT))?,
            shaders: Variants::new(max_program),
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
        let shader = self.shaders.get((self.scalar, Indices::of(index_type)?));
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
    near: Variants<Kind>,
    far: Variants<Kind>,
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
            near: Variants::new(near_program),
            far: Variants::new(far_program),
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
            let near = self.near.get(kind);
            let images = if self.across { 1 } else { geometry.batch };
            let parts = [read(grad), read(argmax), written(&output), whole(gpu.refusals()?)];
            gpu.in_windows(images, &parts[..3], |_, tensors| {
                gpu.dispatch(&near, tensors, &params, Groups::Elements(tensors[2].num_elements()))
            })?;
            params.push(self.refusal.number());
            let far = self.far.get(kind);
            gpu.in_windows(images, &parts, |_, tensors| {
                gpu.dispatch(&far, tensors, &params, Groups::Elements(tensors[0].num_elements()))
            })?;
        }
        ctx.set_output(O::OUTPUT, output)
    }
}

fn gradient_programs(kind: Kind) -> Result<Vec<Program>> {
    Ok(vec![near_program(&kind), far_program(&kind)])
}

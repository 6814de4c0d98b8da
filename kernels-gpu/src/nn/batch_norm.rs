//! FusedBatchNorm, FusedBatchNormV2, FusedBatchNormV3 and their gradients.

use std::sync::OnceLock;

use kernlink::attr::AttrMap;
use kernlink::device::Device as _;
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::tensor::{Tensor, scratch};
use kernlink_geometry::channels::{Layout, Norm, bessel};
use kernlink_geometry::fusion::{Activation, after_norm, ensure_side};
use kernlink_macros::register_kernel;
use kernlink_ops::{
    FusedBatchNorm, FusedBatchNormEx, FusedBatchNormGrad, FusedBatchNormGradV2, FusedBatchNormGradV3, FusedBatchNormV2,
    FusedBatchNormV3,
};
use smallvec::SmallVec;

use super::channel_sums::{self, Terms, key_of};
use super::element::{self, Key};
use crate::device::{GpuDevice, Groups};
use crate::epilogue::{Epilogue, Stage};
use crate::matmul::gemm::word;
use crate::shader::{Entry, Program, Scalar, scalar_of};
use crate::windows::{Part, read, whole, written};

/// Parameters that are numbers in the middle of counts.
fn bits(value: f32) -> u32 {
    value.to_bits()
}

fn apply_program(key: Key) -> Program {
    let builder = key
        .builder("batch normalisation")
        .read_vectors("x", key.scalar, key.width())
        .read_vectors("scale", Scalar::F32, key.width())
        .read_vectors("offset", Scalar::F32, key.width())
        .read_vectors("mean", Scalar::F32, key.width())
        .read_vectors("variance", Scalar::F32, key.width())
        .write_vectors("y", key.scalar, key.width())
        .words("channels inner")
        .param("epsilon", "f32");
    key.epilogue.declare(builder, key.scalar, key.width()).compose(
        Entry::Elements,
        include_str!("batch_norm.wgsl"),
        key.names(),
    )
}

/// The mean of each channel from the sums of its parts.
fn mean_of_parts((): ()) -> Program {
    Program::trusted("means of channels")
        .read("scratch", Scalar::F32)
        .write("mean", Scalar::F32)
        .words("parts")
        .param("elements", "f32")
        .build(Entry::Elements, include_str!("channel_means.wgsl"))
}

/// The variance of each channel from the sums of its parts, and what becomes of the running statistics.
fn variance_of_parts((): ()) -> Program {
    Program::trusted("variances of channels")
        .read("scratch", Scalar::F32)
        .read("mean", Scalar::F32)
        .read("old_mean", Scalar::F32)
        .read("old_variance", Scalar::F32)
        .write("variance", Scalar::F32)
        .write("new_mean", Scalar::F32)
        .write("new_variance", Scalar::F32)
        .words("parts")
        .param("elements", "f32")
        .param("adjust", "f32")
        .param("factor", "f32")
        .words("running")
        .build(Entry::Elements, include_str!("channel_variances.wgsl"))
}

/// What a node keeps.
struct BatchNorm {
    norm: Norm,
    factor: f32,
    /// What V3 has for a sixth output: only cuDNN reserves space.
    nothing: OnceLock<Tensor>,
}

impl BatchNorm {
    fn from_attrs(attrs: &AttrMap) -> Result<BatchNorm> {
        let factor = attrs.required("exponential_avg_factor")?;
        Ok(BatchNorm { norm: Norm::from_attrs(attrs)?, factor, nothing: OnceLock::new() })
    }

    /// All outputs. All versions share the order of inputs and outputs.
    fn all(&self, ctx: &mut RawContext<'_>, stage: &Stage) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let input = |index: usize| ctx.input_at(index);
        let outputs = self.normalise(gpu, [input(0)?, input(1)?, input(2)?, input(3)?, input(4)?], stage)?;
        for (index, output) in outputs.into_iter().enumerate() {
            ctx.set_output_at(index, output)?;
        }
        for more in 5..ctx.num_outputs() {
            if self.nothing.get().is_none() {
                let _ = self.nothing.set(gpu.to_device(&Tensor::scalar(0.0f32))?);
            }
            if let Some(nothing) = self.nothing.get() {
                ctx.set_output_at(more, nothing.clone())?;
            }
        }
        Ok(())
    }

    /// Normalised elements, the running statistics, and those of the batch. The elements take `stage` at the end.
    fn normalise(&self, gpu: &GpuDevice, inputs: [&Tensor; 5], stage: &Stage) -> Result<[Tensor; 5]> {
        let [x, scale, offset, mean, variance] = inputs;
        let shape = x.shape();
        let running = !self.norm.training || self.factor != 1.0;
        let layout = self.norm.forward(shape, [scale, offset, mean, variance].map(Tensor::shape), running)?;
        if shape.num_elements() == 0 {
            let y = gpu.allocate(x.dtype(), shape.clone())?;
            let nothing = Tensor::from_elements([layout.channels], &scratch::filled(f32::NAN, layout.channels)?)?;
            let nothing = gpu.to_device(&nothing)?;
            return Ok([y, nothing.clone(), nothing.clone(), nothing.clone(), nothing]);
        }
        if !self.norm.training {
            let y = self.apply(gpu, inputs, &layout, stage)?;
            return Ok([y, mean.clone(), variance.clone(), mean.clone(), variance.clone()]);
        }
        let channels = layout.channels;
        let vector = || gpu.allocate(DataType::Float, [channels]);
        let count = layout.count();
        let elements = bits(count as f32);

        let scratch = channel_sums::run(gpu, scalar_of(x.dtype())?, &layout, Terms::Elements, &[x])?;
        let (batch_mean, parts) = (vector()?, word(scratch.shape()[0])?);
        gpu.run(mean_of_parts, (), &[&scratch, &batch_mean], &[parts, elements], Groups::Elements(channels))?;

        let scratch = channel_sums::run(gpu, scalar_of(x.dtype())?, &layout, Terms::Squares, &[x, &batch_mean])?;
        let (batch_variance, new_mean, new_variance) = (vector()?, vector()?, vector()?);
        gpu.run(
            variance_of_parts,
            (),
            &[&scratch, &batch_mean, mean, variance, &batch_variance, &new_mean, &new_variance],
            &[parts, elements, bits(bessel(count)), bits(self.factor), u32::from(running)],
            Groups::Elements(channels),
        )?;
        let y = self.apply(gpu, [x, scale, offset, &batch_mean, &batch_variance], &layout, stage)?;
        Ok([y, new_mean, new_variance, batch_mean, batch_variance])
    }

    /// `(x - mean) * scale / sqrt(variance + epsilon) + offset`, and what follows.
    fn apply(&self, gpu: &GpuDevice, inputs: [&Tensor; 5], layout: &Layout, stage: &Stage) -> Result<Tensor> {
        let [x, scale, offset, mean, variance] = inputs;
        let y = gpu.allocate(x.dtype(), x.shape().clone())?;
        let mut params: SmallVec<[u32; 5]> =
            SmallVec::from_slice(&[word(layout.channels)?, word(layout.inner)?, bits(self.norm.epsilon)]);
        params.extend_from_slice(stage.params());
        let parts = [read(x), whole(scale), whole(offset), whole(mean), whole(variance), written(&y)];
        let (key, batch) = (key_of(layout, scalar_of(x.dtype())?), x.shape()[0]);
        let key = Key { epilogue: stage.epilogue(), ..key };
        let parts = parts.into_iter().chain(stage.parts());
        element::run(
            gpu,
            (apply_program, key),
            batch,
            &parts.collect::<SmallVec<[Part<'_>; 8]>>(),
            &params,
            y.num_elements(),
        )?;
        Ok(y)
    }
}

fn programs(dtype: DataType) -> Result<Vec<Program>> {
    let sums = channel_sums::programs(scalar_of(dtype)?, &[Terms::Elements, Terms::Squares]);
    Ok([element::programs(apply_program, dtype)?, sums, vec![mean_of_parts(()), variance_of_parts(())]].concat())
}

#[register_kernel(device = Gpu, op = FusedBatchNorm, T = [f32], programs = |T| programs(T))]
#[register_kernel(
    device = Gpu, op = [FusedBatchNormV2, FusedBatchNormV3], T = [f32, f16 if "f16"], programs = |T| programs(T)
)]
impl OpKernel<O> for BatchNorm {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        BatchNorm::from_attrs(ctx.attrs)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        self.all(ctx, &Stage::new(None, Activation::Identity))
    }
}

/// [`BatchNorm`] with what follows it in one node.
struct BatchNormEx {
    norm: BatchNorm,
    activation: Activation,
}

#[register_kernel(
    device = Gpu, T = [f32, f16 if "f16"], programs = |T| {
        let with = |epilogue| element::programs(|key| apply_program(Key { epilogue, ..key }), T);
        let endings = [false, true].map(|side| Epilogue::new(side, Activation::Relu));
        let endings = endings.into_iter().chain([Epilogue::new(true, Activation::Identity)]);
        Ok([programs(T)?, endings.map(with).collect::<Result<Vec<_>>>()?.concat()].concat())
    }
)]
impl OpKernel<FusedBatchNormEx> for BatchNormEx {
    fn new(ctx: &KernelConstruction<'_, FusedBatchNormEx>) -> Result<Self> {
        let activation = after_norm(ctx.attrs)?;
        Ok(BatchNormEx { norm: BatchNorm::from_attrs(ctx.attrs)?, activation })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, FusedBatchNormEx>) -> Result<()> {
        let side = ctx.input_list(FusedBatchNormEx::SIDE_INPUT).iter().next().cloned();
        if let Some(side) = &side {
            ensure_side(side.shape(), ctx.input(FusedBatchNormEx::X)?.shape())?;
        }
        self.norm.all(ctx, &Stage::new(side, self.activation))
    }
}

/// The gradients of scale and offset from the sums of parts, and for each channel the three numbers by which the gradient
/// of the elements is found.
fn coefficients_of_parts((): ()) -> Program {
    Program::trusted("gradients of channels")
        .read("scratch", Scalar::F32)
        .read("scale", Scalar::F32)
        .read("variance", Scalar::F32)
        .write("scale_gradient", Scalar::F32)
        .write("offset_gradient", Scalar::F32)
        .write("coefficients", Scalar::F32)
        .words("parts")
        .param("elements", "f32")
        .param("epsilon", "f32")
        .build(Entry::Elements, include_str!("channel_coefficients.wgsl"))
}

fn gradient_program(key: Key) -> Program {
    key.builder("gradient of batch normalisation")
        .read_vectors("gradient", key.scalar, key.width())
        .read_vectors("x", key.scalar, key.width())
        .read_vectors("mean", Scalar::F32, key.width())
        .read_vectors("coefficients", Scalar::F32, key.width())
        .write_vectors("result", key.scalar, key.width())
        .words("channels inner")
        .words("training")
        .compose(Entry::Elements, include_str!("batch_norm_grad.wgsl"), key.names())
}

/// The gradients of the elements, of the scale and of the offset.
fn flow_back(gpu: &GpuDevice, norm: &Norm, inputs: [&Tensor; 5]) -> Result<[Tensor; 3]> {
    let [gradient, x, scale, mean, variance] = inputs;
    let layout = norm.backward(x.shape(), gradient.shape(), [scale, mean, variance].map(Tensor::shape))?;
    let channels = layout.channels;
    let out = gpu.allocate(x.dtype(), x.shape().clone())?;
    if out.num_elements() == 0 {
        let zeros = gpu.to_device(&Tensor::zeros(DataType::Float, [channels])?)?;
        return Ok([out, zeros.clone(), zeros]);
    }
    let tensors = [gradient, x, mean];
    let scratch = channel_sums::run(gpu, scalar_of(x.dtype())?, &layout, Terms::Products, &tensors)?;
    let vector = |count: usize| gpu.allocate(DataType::Float, [count]);
    let (of_scale, of_offset, coefficients) = (vector(channels)?, vector(channels)?, vector(3 * channels)?);
    gpu.run(
        coefficients_of_parts,
        (),
        &[&scratch, scale, variance, &of_scale, &of_offset, &coefficients],
        &[word(scratch.shape()[0])?, bits(layout.count() as f32), bits(norm.epsilon)],
        Groups::Elements(channels),
    )?;
    let params = [word(channels)?, word(layout.inner)?, u32::from(norm.training)];
    let parts = [read(gradient), read(x), whole(mean), whole(&coefficients), written(&out)];
    let (key, batch) = (key_of(&layout, scalar_of(x.dtype())?), x.shape()[0]);
    element::run(gpu, (gradient_program, key), batch, &parts, &params, out.num_elements())?;
    Ok([out, of_scale, of_offset])
}

fn gradient_programs(dtype: DataType) -> Result<Vec<Program>> {
    let sums = channel_sums::programs(scalar_of(dtype)?, &[Terms::Products]);
    Ok([element::programs(gradient_program, dtype)?, sums, vec![coefficients_of_parts(())]].concat())
}

#[register_kernel(
    device = Gpu, op = FusedBatchNormGrad, T = [f32], programs = |T| gradient_programs(T), state = |ctx| {
        let attrs = ctx.attrs();
        Norm::new(attrs.epsilon, attrs.is_training, &attrs.data_format)
    }
)]
#[register_kernel(
    device = Gpu, op = [FusedBatchNormGradV2, FusedBatchNormGradV3], T = [f32, f16 if "f16"],
    programs = |T| gradient_programs(T)
)]
fn batch_norm_gradient(norm: &Norm, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let (gradient, x, scale) = (ctx.input(O::Y_BACKPROP)?, ctx.input(O::X)?, ctx.input(O::SCALE)?);
    let (mean, variance) = (ctx.input(O::RESERVE_SPACE_1)?, ctx.input(O::RESERVE_SPACE_2)?);
    let [of_x, of_scale, of_offset] = flow_back(gpu, norm, [gradient, x, scale, mean, variance])?;
    ctx.set_output(O::X_BACKPROP, of_x)?;
    ctx.set_output(O::SCALE_BACKPROP, of_scale)?;
    ctx.set_output(O::OFFSET_BACKPROP, of_offset)?;
    // The reserved space has no elements.
    (3..5).try_for_each(|more| ctx.set_output_at(more, gpu.allocate(DataType::Float, [0])?))
}

//! FusedBatchNorm, FusedBatchNormV2, FusedBatchNormV3 and their gradients.

use std::sync::OnceLock;

use kernlink::device::Device as _;
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{GPU, RawContext};
use kernlink::tensor::Tensor;
use kernlink_geometry::channels::{Layout, Norm, bessel};
use kernlink_ops as ops;

use super::channel_sums::{self, Terms, key_of};
use super::element::{self, Key};
use crate::device::{GpuDevice, Groups};
use crate::family::{gpu_kernels, scalar_of};
use crate::matmul::gemm::word;
use crate::matmul::text::conditional;
use crate::shader::{Entry, Program, Scalar, Shader};
use crate::variants::Variants;
use crate::windows::{read, whole, written};

/// Parameters that are numbers in the middle of counts.
fn bits(value: f32) -> u32 {
    value.to_bits()
}

fn apply(key: &Key) -> Program {
    key.builder("batch normalisation")
        .read_vectors("x", key.scalar, key.width())
        .read_vectors("scale", Scalar::F32, key.width())
        .read_vectors("offset", Scalar::F32, key.width())
        .read_vectors("mean", Scalar::F32, key.width())
        .read_vectors("variance", Scalar::F32, key.width())
        .write_vectors("y", key.scalar, key.width())
        .param("channels", "u32")
        .param("inner", "u32")
        .param("epsilon", "f32")
        .build(Entry::Elements, &conditional(include_str!("batch_norm.wgsl"), "vectors", key.vectors))
}

/// The mean of each channel from the sums of its parts.
fn mean_of_parts() -> Program {
    Program::trusted("means of channels")
        .read("scratch", Scalar::F32)
        .write("mean", Scalar::F32)
        .param("parts", "u32")
        .param("elements", "f32")
        .build(
            Entry::Elements,
            "fn element(i: u32) {
    var sum = 0.0;
    for (var part = 0u; part < params.parts; part++) {
        sum += scratch[part * params.count + i];
    }
    mean[i] = sum / params.elements;
}
",
        )
}

/// The variance of each channel from the sums of its parts, and what becomes of the running statistics.
fn variance_of_parts() -> Program {
    Program::trusted("variances of channels")
        .read("scratch", Scalar::F32)
        .read("mean", Scalar::F32)
        .read("old_mean", Scalar::F32)
        .read("old_variance", Scalar::F32)
        .write("variance", Scalar::F32)
        .write("new_mean", Scalar::F32)
        .write("new_variance", Scalar::F32)
        .param("parts", "u32")
        .param("elements", "f32")
        .param("adjust", "f32")
        .param("factor", "f32")
        .param("running", "u32")
        .build(
            Entry::Elements,
            "fn element(i: u32) {
    var sum = 0.0;
    for (var part = 0u; part < params.parts; part++) {
        sum += scratch[part * params.count + i];
    }
    let found = sum / params.elements;
    variance[i] = found;
    if (params.running != 0u) {
        let keep = 1.0 - params.factor;
        new_mean[i] = keep * old_mean[i] + params.factor * mean[i];
        new_variance[i] = keep * old_variance[i] + (params.factor * params.adjust) * found;
    } else {
        new_mean[i] = mean[i];
        new_variance[i] = found * params.adjust;
    }
}
",
        )
}

/// The three versions: they share the order of inputs and outputs.
struct BatchNorm {
    norm: Norm,
    factor: f32,
    scalar: Scalar,
    apply: Variants<Key>,
    sums: Variants<channel_sums::Key>,
    mean: Shader,
    variance: Shader,
    /// What V3 has for a sixth output: only cuDNN reserves space.
    nothing: Option<OnceLock<Tensor>>,
}

impl BatchNorm {
    fn new(dtype: DataType, norm: Norm, factor: f32) -> Result<BatchNorm> {
        Ok(BatchNorm {
            norm,
            factor,
            scalar: scalar_of(dtype)?,
            apply: Variants::new(apply),
            sums: Variants::new(channel_sums::program),
            mean: Shader::new(mean_of_parts()),
            variance: Shader::new(variance_of_parts()),
            nothing: None,
        })
    }

    fn v3(self) -> BatchNorm {
        BatchNorm { nothing: Some(OnceLock::new()), ..self }
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let x = ctx.input_at(0)?.clone();
        let shape = x.shape().clone();
        let running = !self.norm.training || self.factor != 1.0;
        let vector = |index: usize| ctx.input_at(index).map(Tensor::shape);
        let layout = self.norm.forward(&shape, [vector(1)?, vector(2)?, vector(3)?, vector(4)?], running)?;
        if let Some(nothing) = &self.nothing {
            if nothing.get().is_none() {
                let _ = nothing.set(gpu.to_device(&Tensor::scalar(0.0f32))?);
            }
            if let Some(nothing) = nothing.get() {
                ctx.set_output_at(5, nothing.clone())?;
            }
        }
        let (mean, variance) = (ctx.input_at(3)?.clone(), ctx.input_at(4)?.clone());
        if shape.num_elements() == 0 {
            ctx.set_output_at(0, gpu.allocate_output(ctx, 0, shape)?)?;
            let nothing = Tensor::from_elements([layout.channels], &vec![f32::NAN; layout.channels])?;
            let nothing = gpu.to_device(&nothing)?;
            return (1..5).try_for_each(|index| ctx.set_output_at(index, nothing.clone()));
        }
        if !self.norm.training {
            self.apply(gpu, ctx, &layout, &mean, &variance)?;
            for (index, tensor) in [(1, &mean), (2, &variance), (3, &mean), (4, &variance)] {
                ctx.set_output_at(index, tensor.clone())?;
            }
            return Ok(());
        }
        let channels = layout.channels;
        let vector = || gpu.allocate(DataType::Float, [channels]);
        let count = layout.count();
        let elements = bits(count as f32);

        let scratch = channel_sums::run(gpu, &self.sums, self.scalar, &layout, Terms::Elements, &[&x])?;
        let (batch_mean, parts) = (vector()?, word(scratch.shape()[0])?);
        gpu.dispatch(&self.mean, &[&scratch, &batch_mean], &[parts, elements], Groups::Elements(channels))?;

        let scratch = channel_sums::run(gpu, &self.sums, self.scalar, &layout, Terms::Squares, &[&x, &batch_mean])?;
        let (batch_variance, new_mean, new_variance) = (vector()?, vector()?, vector()?);
        gpu.dispatch(
            &self.variance,
            &[&scratch, &batch_mean, &mean, &variance, &batch_variance, &new_mean, &new_variance],
            &[parts, elements, bits(bessel(count)), bits(self.factor), u32::from(running)],
            Groups::Elements(channels),
        )?;
        self.apply(gpu, ctx, &layout, &batch_mean, &batch_variance)?;
        for (index, tensor) in [(1, new_mean), (2, new_variance), (3, batch_mean), (4, batch_variance)] {
            ctx.set_output_at(index, tensor)?;
        }
        Ok(())
    }

    /// Output 0: `(x - mean) * scale / sqrt(variance + epsilon) + offset`.
    fn apply(
        &self,
        gpu: &GpuDevice,
        ctx: &mut RawContext<'_>,
        layout: &Layout,
        mean: &Tensor,
        variance: &Tensor,
    ) -> Result<()> {
        let (x, scale, offset) = (ctx.input_at(0)?, ctx.input_at(1)?, ctx.input_at(2)?);
        let y = gpu.allocate_output(ctx, 0, x.shape().clone())?;
        let params = [word(layout.channels)?, word(layout.inner)?, bits(self.norm.epsilon)];
        let parts = [read(x), whole(scale), whole(offset), whole(mean), whole(variance), written(&y)];
        let (key, batch) = (key_of(layout, self.scalar), x.shape()[0]);
        element::run(gpu, &self.apply, key, batch, &parts, &params, y.num_elements())?;
        ctx.set_output_at(0, y)
    }
}

/// The kernel that a closure makes of attrs.
macro_rules! of_attrs {
    ($ctx:ident) => {{
        let attrs = $ctx.attrs();
        Norm::new(attrs.epsilon, attrs.is_training, &attrs.data_format)?
    }};
}

gpu_kernels! {
    FusedBatchNorm T { [f32] } host [] as BatchNorm: |ctx| {
        BatchNorm::new(ctx.input_dtype_at(0)?, of_attrs!(ctx), ctx.attrs().exponential_avg_factor)
    }
}
gpu_kernels! {
    FusedBatchNormV2 T { [f32] [f16; "f16"] } host [] as BatchNorm: |ctx| {
        BatchNorm::new(ctx.input_dtype_at(0)?, of_attrs!(ctx), ctx.attrs().exponential_avg_factor)
    }
}
gpu_kernels! {
    FusedBatchNormV3 T { [f32] [f16; "f16"] } host [] as BatchNorm: |ctx| {
        let factor = ctx.attrs().exponential_avg_factor;
        BatchNorm::new(ctx.input_dtype_at(0)?, of_attrs!(ctx), factor).map(BatchNorm::v3)
    }
}

/// The gradients of scale and offset from the sums of parts, and for each channel the three numbers by which the gradient
/// of the elements is found.
fn coefficients_of_parts() -> Program {
    Program::trusted("gradients of channels")
        .read("scratch", Scalar::F32)
        .read("scale", Scalar::F32)
        .read("variance", Scalar::F32)
        .write("scale_gradient", Scalar::F32)
        .write("offset_gradient", Scalar::F32)
        .write("coefficients", Scalar::F32)
        .param("parts", "u32")
        .param("elements", "f32")
        .param("epsilon", "f32")
        .build(
            Entry::Elements,
            "fn element(i: u32) {
    var offset = 0.0;
    var product = 0.0;
    for (var part = 0u; part < params.parts; part++) {
        offset += scratch[2u * part * params.count + i];
        product += scratch[(2u * part + 1u) * params.count + i];
    }
    let inverse = 1.0 / sqrt(variance[i] + params.epsilon);
    scale_gradient[i] = product * inverse;
    offset_gradient[i] = offset;
    coefficients[i] = scale[i] * inverse;
    coefficients[params.count + i] = offset / params.elements;
    coefficients[2u * params.count + i] = product / params.elements * inverse * inverse;
}
",
        )
}

fn apply_gradient(key: &Key) -> Program {
    key.builder("gradient of batch normalisation")
        .read_vectors("gradient", key.scalar, key.width())
        .read_vectors("x", key.scalar, key.width())
        .read_vectors("mean", Scalar::F32, key.width())
        .read_vectors("coefficients", Scalar::F32, key.width())
        .write_vectors("result", key.scalar, key.width())
        .param("channels", "u32")
        .param("inner", "u32")
        .param("training", "u32")
        .build(Entry::Elements, &conditional(include_str!("batch_norm_grad.wgsl"), "vectors", key.vectors))
}

/// The gradients of the three versions: they share the order of inputs and outputs.
struct BatchNormGrad {
    norm: Norm,
    scalar: Scalar,
    apply: Variants<Key>,
    sums: Variants<channel_sums::Key>,
    coefficients: Shader,
}

impl BatchNormGrad {
    fn new(dtype: DataType, norm: Norm) -> Result<BatchNormGrad> {
        Ok(BatchNormGrad {
            norm,
            scalar: scalar_of(dtype)?,
            apply: Variants::new(apply_gradient),
            sums: Variants::new(channel_sums::program),
            coefficients: Shader::new(coefficients_of_parts()),
        })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (gradient, x) = (ctx.input_at(0)?, ctx.input_at(1)?);
        let (flow, shape) = (gradient.shape(), x.shape());
        let vector = |index: usize| ctx.input_at(index).map(Tensor::shape);
        let layout = self.norm.backward(shape, flow, [vector(2)?, vector(3)?, vector(4)?], GPU)?;
        let channels = layout.channels;
        let out = gpu.allocate_output(ctx, 0, shape.clone())?;
        if out.num_elements() == 0 {
            let zeros = gpu.to_device(&Tensor::zeros(DataType::Float, [channels])?)?;
            ctx.set_output_at(1, zeros.clone())?;
            ctx.set_output_at(2, zeros)?;
        } else {
            let (scale, mean, variance) = (ctx.input_at(2)?, ctx.input_at(3)?, ctx.input_at(4)?);
            let tensors = [gradient, x, mean];
            let scratch = channel_sums::run(gpu, &self.sums, self.scalar, &layout, Terms::Products, &tensors)?;
            let vector = |count: usize| gpu.allocate(DataType::Float, [count]);
            let (of_scale, of_offset, coefficients) = (vector(channels)?, vector(channels)?, vector(3 * channels)?);
            gpu.dispatch(
                &self.coefficients,
                &[&scratch, scale, variance, &of_scale, &of_offset, &coefficients],
                &[word(scratch.shape()[0])?, bits(layout.count() as f32), bits(self.norm.epsilon)],
                Groups::Elements(channels),
            )?;
            let params = [word(channels)?, word(layout.inner)?, u32::from(self.norm.training)];
            let parts = [read(gradient), read(x), whole(mean), whole(&coefficients), written(&out)];
            let (key, batch) = (key_of(&layout, self.scalar), shape[0]);
            element::run(gpu, &self.apply, key, batch, &parts, &params, out.num_elements())?;
            ctx.set_output_at(1, of_scale)?;
            ctx.set_output_at(2, of_offset)?;
        }
        ctx.set_output_at(0, out)?;
        for index in [3, 4] {
            ctx.set_output_at(index, gpu.allocate(DataType::Float, [0])?)?;
        }
        Ok(())
    }
}

gpu_kernels! {
    FusedBatchNormGrad T { [f32] } host [] as BatchNormGrad: |ctx| {
        BatchNormGrad::new(ctx.input_dtype_at(0)?, of_attrs!(ctx))
    }
}
gpu_kernels! {
    FusedBatchNormGradV2 T { [f32] [f16; "f16"] } host [] as BatchNormGrad: |ctx| {
        BatchNormGrad::new(ctx.input_dtype_at(0)?, of_attrs!(ctx))
    }
}
gpu_kernels! {
    FusedBatchNormGradV3 T { [f32] [f16; "f16"] } host [] as BatchNormGrad: |ctx| {
        BatchNormGrad::new(ctx.input_dtype_at(0)?, of_attrs!(ctx))
    }
}

pub(super) fn programs() -> Vec<Program> {
    let mut programs = vec![mean_of_parts(), variance_of_parts(), coefficients_of_parts()];
    for (scalar, vectors) in [(Scalar::F32, false), (Scalar::F32, true), (Scalar::F16, false), (Scalar::F16, true)] {
        programs.push(apply(&Key { scalar, vectors }));
        programs.push(apply_gradient(&Key { scalar, vectors }));
    }
    [programs, channel_sums::programs()].concat()
}

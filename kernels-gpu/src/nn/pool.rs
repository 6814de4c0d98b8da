//! MaxPool, AvgPool and their gradients.

use std::borrow::Cow;

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{GPU, KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::convolution::ensure_channels_last;
use kernlink_geometry::pooling::{Geometry, Pooling};
use kernlink_macros::register_kernel;
use kernlink_ops::{
    AvgPool, AvgPoolGrad, MaxPool, MaxPoolGrad, MaxPoolGradGrad, MaxPoolGradGradV2, MaxPoolGradV2, MaxPoolV2,
};
use smallvec::SmallVec;

use super::element::{self, Key, Source};
use super::pooling::{PARAMS, Through, key_of, params};
use crate::device::GpuDevice;
use crate::matmul::gemm::word;
use crate::shader::{Access, Program, Scalar, scalar_of};
use crate::variants::Variants;
use crate::windows::{Part, read, written};

/// A shader that goes through windows.
const fn over_windows(label: &'static str, text: &'static str, buffers: &'static [(&'static str, Access)]) -> Source {
    Source { label, text, buffers, params: &PARAMS }
}

const POOLED: &[(&str, Access)] = &[("input", Access::Read), ("output", Access::Write)];
const MAX: Source = over_windows("max pooling", include_str!("max_pool.wgsl"), POOLED);
const AVERAGE: Source = over_windows("average pooling", include_str!("avg_pool.wgsl"), POOLED);
const AVERAGE_GRADIENT: Source = over_windows(
    "gradient of average pooling",
    include_str!("avg_pool_grad.wgsl"),
    &[("gradient", Access::Read), ("output", Access::Write)],
);
const PLACES: Source = over_windows(
    "places of maxima",
    include_str!("max_places.wgsl"),
    &[("input", Access::Read), ("places", Access::Write)],
);
const MAX_GRADIENT: Source = over_windows(
    "gradient of max pooling",
    include_str!("max_pool_grad.wgsl"),
    &[("gradient", Access::Read), ("places", Access::Read), ("output", Access::Write)],
);
const GRADIENT_OF_GRADIENT: Source = over_windows(
    "gradient of max pooling's gradient",
    include_str!("max_pool_grad_grad.wgsl"),
    &[("input", Access::Read), ("pooled", Access::Read), ("gradient", Access::Read), ("output", Access::Write)],
);
const OVER_DEPTH: Source = Source {
    label: "max pooling over depth",
    text: include_str!("max_pool_depth.wgsl"),
    buffers: &[("input", Access::Read), ("output", Access::Write)],
    params: &["channels"],
};

/// Where the window and its stride are.
enum Windows {
    /// In attrs.
    Known(Pooling),
    /// In two inputs from this one.
    Given { first: usize, padding: String },
}

impl Windows {
    fn given(first: usize, padding: &str, format: &str) -> Result<Windows> {
        ensure_channels_last(format, GPU)?;
        Ok(Windows::Given { first, padding: padding.to_owned() })
    }

    fn of(&self, ctx: &RawContext<'_>) -> Result<Cow<'_, Pooling>> {
        Ok(match self {
            Windows::Known(pooling) => Cow::Borrowed(pooling),
            Windows::Given { first, padding } => Cow::Owned(Pooling::from_inputs(ctx, *first, padding, GPU)?),
        })
    }
}

/// A pooling, or a gradient of one.
struct Pool {
    windows: Windows,
    scalar: Scalar,
    shaders: Variants<Key>,
    /// Those of another source that it needs.
    others: Variants<Key>,
}

impl Pool {
    fn new(dtype: DataType, windows: Windows, source: fn(&Key) -> Program, other: fn(&Key) -> Program) -> Result<Pool> {
        let (shaders, others) = (Variants::new(source), Variants::new(other));
        Ok(Pool { windows, scalar: scalar_of(dtype)?, shaders, others })
    }

    fn max(dtype: DataType, windows: Windows) -> Result<Pool> {
        Pool::new(dtype, windows, |key| MAX.program(key), |key| OVER_DEPTH.program(key))
    }

    fn max_gradient(dtype: DataType, windows: Windows) -> Result<Pool> {
        Pool::new(dtype, windows, |key| MAX_GRADIENT.program(key), |key| PLACES.program(key))
    }

    fn gradient_of_gradient(dtype: DataType, windows: Windows) -> Result<Pool> {
        let source = |key: &Key| GRADIENT_OF_GRADIENT.program(key);
        Pool::new(dtype, windows, source, source)
    }

    /// A tensor of this shape, by a shader that goes through windows for each of its elements.
    fn by_windows(
        &self,
        gpu: &GpuDevice,
        inputs: &[&Tensor],
        shape: Shape,
        geometry: &Geometry,
        through: Through,
    ) -> Result<Tensor> {
        let out = gpu.allocate(inputs[0].dtype(), shape)?;
        if out.num_elements() > 0 {
            let (key, params) = (key_of(geometry, self.scalar), params(gpu, geometry, &[through])?);
            let parts: SmallVec<[Part<'_>; 4]> =
                inputs.iter().map(|input| read(input)).chain([written(&out)]).collect();
            element::run(gpu, &self.shaders, key, geometry.batch, &parts, &params, out.num_elements())?;
        }
        Ok(out)
    }

    fn greatest(&self, gpu: &GpuDevice, input: &Tensor, pooling: &Pooling) -> Result<Tensor> {
        let geometry = pooling.geometry(input.shape())?;
        let Some((window, shape)) = pooling.over_depth(input.shape())? else {
            return self.by_windows(gpu, &[input], geometry.output(), &geometry, Through::Window);
        };
        let out = gpu.allocate(input.dtype(), shape)?;
        let key = Key { scalar: self.scalar, vectors: false };
        let (parts, params) = ([read(input), written(&out)], [word(window)?]);
        gpu.ensure_rounds(window)?;
        element::run(gpu, &self.others, key, geometry.batch, &parts, &params, out.num_elements())?;
        Ok(out)
    }

    /// Each element of `grad` at the place of its window's greatest element.
    fn to_greatest(&self, gpu: &GpuDevice, [input, pooled, grad]: [&Tensor; 3], pooling: &Pooling) -> Result<Tensor> {
        let geometry = pooling.maxima_back(input.shape(), pooled.shape(), grad.shape())?;
        let out = gpu.allocate(input.dtype(), input.shape().clone())?;
        if out.num_elements() > 0 {
            let (key, params) =
                (key_of(&geometry, self.scalar), params(gpu, &geometry, &[Through::Window, Through::Windows])?);
            let places = gpu.allocate(DataType::Uint32, geometry.output())?;
            let parts = [read(input), written(&places)];
            element::run(gpu, &self.others, key, geometry.batch, &parts, &params, places.num_elements())?;
            let parts = [read(grad), read(&places), written(&out)];
            element::run(gpu, &self.shaders, key, geometry.batch, &parts, &params, out.num_elements())?;
        }
        Ok(out)
    }

    /// The element of `grad` where the window's first element equal to that of `pooled` stands.
    fn at_greatest(&self, gpu: &GpuDevice, [input, pooled, grad]: [&Tensor; 3], pooling: &Pooling) -> Result<Tensor> {
        let geometry = pooling.maxima_back_back(input.shape(), pooled.shape(), grad.shape())?;
        self.by_windows(gpu, &[input, pooled, grad], geometry.output(), &geometry, Through::Window)
    }
}

/// The shaders of max pooling.
fn max_programs(dtype: DataType) -> Result<Vec<Program>> {
    let scalar = scalar_of(dtype)?;
    Ok([MAX.programs(scalar), vec![OVER_DEPTH.program(&Key { scalar, vectors: false })]].concat())
}

/// The shaders of max pooling's gradient.
fn max_gradient_programs(dtype: DataType) -> Result<Vec<Program>> {
    let scalar = scalar_of(dtype)?;
    Ok([PLACES.programs(scalar), MAX_GRADIENT.programs(scalar)].concat())
}

#[register_kernel(
    device = Gpu,
    op = MaxPool,
    T = [f32, i32, f16 if "f16", i64 if "i64"],
    programs = |T| max_programs(T)
)]
impl OpKernel<O> for Pool {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Pool::max(ctx.input_dtype(O::INPUT), Windows::Known(Pooling::of_maxima(ctx.attrs, GPU)?))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let out = self.greatest(GpuDevice::of(ctx)?, ctx.input(O::INPUT)?, self.windows.of(ctx)?.as_ref())?;
        ctx.set_output(O::OUTPUT, out)
    }
}

#[register_kernel(
    device = Gpu,
    op = MaxPoolV2,
    T = [f32, i32, f16 if "f16", i64 if "i64"],
    host_memory = ["ksize", "strides"],
    programs = |T| max_programs(T)
)]
impl OpKernel<O> for Pool {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let attrs = ctx.attrs();
        Pool::max(ctx.input_dtype(O::INPUT), Windows::given(1, &attrs.padding, &attrs.data_format)?)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let out = self.greatest(GpuDevice::of(ctx)?, ctx.input(O::INPUT)?, self.windows.of(ctx)?.as_ref())?;
        ctx.set_output(O::OUTPUT, out)
    }
}

#[register_kernel(
    device = Gpu,
    op = AvgPool,
    T = [f32, f16 if "f16"],
    programs = |T| Ok(AVERAGE.programs(scalar_of(T)?))
)]
impl OpKernel<O> for Pool {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let source = |key: &Key| AVERAGE.program(key);
        Pool::new(ctx.input_dtype(O::VALUE), Windows::Known(Pooling::new(ctx.attrs, GPU)?), source, source)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let input = ctx.input(O::VALUE)?;
        let geometry = self.windows.of(ctx)?.averaged(input.shape())?;
        let gpu = GpuDevice::of(ctx)?;
        let out = self.by_windows(gpu, &[input], geometry.output(), &geometry, Through::Window)?;
        ctx.set_output(O::OUTPUT, out)
    }
}

#[register_kernel(
    device = Gpu,
    op = AvgPoolGrad,
    T = [f32, f16 if "f16"],
    host_memory = ["orig_input_shape"],
    programs = |T| Ok(AVERAGE_GRADIENT.programs(scalar_of(T)?))
)]
impl OpKernel<O> for Pool {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let source = |key: &Key| AVERAGE_GRADIENT.program(key);
        Pool::new(ctx.output_dtype(O::OUTPUT), Windows::Known(Pooling::new(ctx.attrs, GPU)?), source, source)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let grad = ctx.input(O::GRAD)?;
        let (shape, geometry) = self.windows.of(ctx)?.averaged_back(ctx.input(O::ORIG_INPUT_SHAPE)?, grad.shape())?;
        let out = self.by_windows(GpuDevice::of(ctx)?, &[grad], shape, &geometry, Through::Windows)?;
        ctx.set_output(O::OUTPUT, out)
    }
}

#[register_kernel(
    device = Gpu,
    op = MaxPoolGrad,
    T = [f32, i32, u32, f16 if "f16", i64 if "i64"],
    programs = |T| max_gradient_programs(T)
)]
impl OpKernel<O> for Pool {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Pool::max_gradient(ctx.output_dtype(O::OUTPUT), Windows::Known(Pooling::new(ctx.attrs, GPU)?))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let inputs = [ctx.input(O::ORIG_INPUT)?, ctx.input(O::ORIG_OUTPUT)?, ctx.input(O::GRAD)?];
        let out = self.to_greatest(GpuDevice::of(ctx)?, inputs, self.windows.of(ctx)?.as_ref())?;
        ctx.set_output(O::OUTPUT, out)
    }
}

#[register_kernel(
    device = Gpu,
    op = MaxPoolGradV2,
    T = [f32, i32, u32, f16 if "f16", i64 if "i64"],
    host_memory = ["ksize", "strides"],
    programs = |T| max_gradient_programs(T)
)]
impl OpKernel<O> for Pool {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let attrs = ctx.attrs();
        Pool::max_gradient(ctx.output_dtype(O::OUTPUT), Windows::given(3, &attrs.padding, &attrs.data_format)?)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let inputs = [ctx.input(O::ORIG_INPUT)?, ctx.input(O::ORIG_OUTPUT)?, ctx.input(O::GRAD)?];
        let out = self.to_greatest(GpuDevice::of(ctx)?, inputs, self.windows.of(ctx)?.as_ref())?;
        ctx.set_output(O::OUTPUT, out)
    }
}

#[register_kernel(
    device = Gpu,
    op = MaxPoolGradGrad,
    T = [f32, i32, u32, f16 if "f16", i64 if "i64"],
    programs = |T| Ok(GRADIENT_OF_GRADIENT.programs(scalar_of(T)?))
)]
impl OpKernel<O> for Pool {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Pool::gradient_of_gradient(ctx.output_dtype(O::OUTPUT), Windows::Known(Pooling::new(ctx.attrs, GPU)?))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let inputs = [ctx.input(O::ORIG_INPUT)?, ctx.input(O::ORIG_OUTPUT)?, ctx.input(O::GRAD)?];
        let out = self.at_greatest(GpuDevice::of(ctx)?, inputs, self.windows.of(ctx)?.as_ref())?;
        ctx.set_output(O::OUTPUT, out)
    }
}

#[register_kernel(
    device = Gpu,
    op = MaxPoolGradGradV2,
    T = [f32, i32, u32, f16 if "f16", i64 if "i64"],
    host_memory = ["ksize", "strides"],
    programs = |T| Ok(GRADIENT_OF_GRADIENT.programs(scalar_of(T)?))
)]
impl OpKernel<O> for Pool {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let attrs = ctx.attrs();
        Pool::gradient_of_gradient(ctx.output_dtype(O::OUTPUT), Windows::given(3, &attrs.padding, &attrs.data_format)?)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let inputs = [ctx.input(O::ORIG_INPUT)?, ctx.input(O::ORIG_OUTPUT)?, ctx.input(O::GRAD)?];
        let out = self.at_greatest(GpuDevice::of(ctx)?, inputs, self.windows.of(ctx)?.as_ref())?;
        ctx.set_output(O::OUTPUT, out)
    }
}

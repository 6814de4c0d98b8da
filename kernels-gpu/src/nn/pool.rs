//! MaxPool, AvgPool and their gradients.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{GPU, RawContext};
use kernlink::shape::Shape;
use kernlink_geometry::convolution::ensure_channels_last;
use kernlink_geometry::pooling::{Geometry, Pooling};
use kernlink_ops as ops;

use super::element::{self, Key, Source};
use super::pooling::{PARAMS, Through, key_of, params};
use crate::device::GpuDevice;
use crate::family::{gpu_kernels, scalar_of};
use crate::matmul::gemm::word;
use crate::shader::{Access, Program, Scalar};
use crate::variants::Variants;
use crate::windows::{read, written};

/// A text after the functions that find windows.
macro_rules! over_windows {
    ($label:literal, $file:literal, $buffers:expr) => {
        Source {
            label: $label,
            text: concat!(include_str!("window.wgsl"), include_str!($file)),
            buffers: $buffers,
            params: &PARAMS,
        }
    };
}

const MAX: Source =
    over_windows!("max pooling", "max_pool.wgsl", &[("input", Access::Read), ("output", Access::Write)]);
const AVERAGE: Source =
    over_windows!("average pooling", "avg_pool.wgsl", &[("input", Access::Read), ("output", Access::Write)]);
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

    /// Runs `work` with the pooling.
    fn with(
        &self,
        ctx: &mut RawContext<'_>,
        work: impl FnOnce(&mut RawContext<'_>, &Pooling) -> Result<()>,
    ) -> Result<()> {
        match self {
            Windows::Known(pooling) => work(ctx, pooling),
            Windows::Given { first, padding } => {
                let pooling = Pooling::from_inputs(ctx, *first, padding, GPU)?;
                work(ctx, &pooling)
            }
        }
    }
}

/// MaxPool and MaxPoolV2.
struct MaxPool {
    windows: Windows,
    scalar: Scalar,
    shaders: Variants<Key>,
    over_depth: Variants<Key>,
}

impl MaxPool {
    fn new(dtype: DataType, windows: Windows) -> Result<MaxPool> {
        let shaders = Variants::new(|key| MAX.program(key));
        let over_depth = Variants::new(|key| OVER_DEPTH.program(key));
        Ok(MaxPool { windows, scalar: scalar_of(dtype)?, shaders, over_depth })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        self.windows.with(ctx, |ctx, pooling| self.pool(ctx, pooling))
    }

    fn pool(&self, ctx: &mut RawContext<'_>, pooling: &Pooling) -> Result<()> {
        let input = ctx.input_at(0)?;
        let geometry = pooling.geometry(input.shape())?;
        if let Some((window, shape)) = pooling.over_depth(input.shape())? {
            let gpu = GpuDevice::of(ctx)?;
            let out = gpu.allocate_output(ctx, 0, shape)?;
            let key = Key { scalar: self.scalar, vectors: false };
            let (parts, params) = ([read(input), written(&out)], [word(window)?]);
            gpu.ensure_rounds(window)?;
            element::run(gpu, &self.over_depth, key, geometry.batch, &parts, &params, out.num_elements())?;
            return ctx.set_output_at(0, out);
        }
        by_windows(ctx, 0, geometry.output(), (&geometry, Through::Window), (self.scalar, &self.shaders))
    }
}

/// Output 0, of this shape, by a shader that goes through windows for each of its elements.
fn by_windows(
    ctx: &mut RawContext<'_>,
    input: usize,
    shape: Shape,
    (geometry, through): (&Geometry, Through),
    (scalar, shaders): (Scalar, &Variants<Key>),
) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let out = gpu.allocate_output(ctx, 0, shape)?;
    if out.num_elements() > 0 {
        let (key, params) = (key_of(geometry, scalar), params(gpu, geometry, &[through])?);
        let parts = [read(ctx.input_at(input)?), written(&out)];
        element::run(gpu, shaders, key, geometry.batch, &parts, &params, out.num_elements())?;
    }
    ctx.set_output_at(0, out)
}

gpu_kernels! {
    MaxPool T { [f32, i32] [f16; "f16"] [i64; "i64"] } host [] as MaxPool: |ctx| {
        let pooling = Pooling::of_maxima(ctx.attrs, GPU)?;
        MaxPool::new(ctx.input_dtype_at(0)?, Windows::Known(pooling))
    }
}
gpu_kernels! {
    MaxPoolV2 T { [f32, i32] [f16; "f16"] [i64; "i64"] } host ["ksize", "strides"] as MaxPool: |ctx| {
        let a = ctx.attrs();
        MaxPool::new(ctx.input_dtype_at(0)?, Windows::given(1, &a.padding, &a.data_format)?)
    }
}

/// AvgPool.
struct AvgPool {
    pooling: Pooling,
    scalar: Scalar,
    shaders: Variants<Key>,
}

impl AvgPool {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let geometry = self.pooling.averaged(ctx.input_at(0)?.shape())?;
        by_windows(ctx, 0, geometry.output(), (&geometry, Through::Window), (self.scalar, &self.shaders))
    }
}

gpu_kernels! {
    AvgPool T { [f32] [f16; "f16"] } host [] as AvgPool: |ctx| {
        let pooling = Pooling::new(ctx.attrs, GPU)?;
        let shaders = Variants::new(|key| AVERAGE.program(key));
        scalar_of(ctx.input_dtype_at(0)?).map(|scalar| AvgPool { pooling, scalar, shaders })
    }
}

const AVERAGE_GRADIENT: Source = over_windows!(
    "gradient of average pooling",
    "avg_pool_grad.wgsl",
    &[("gradient", Access::Read), ("output", Access::Write)]
);

/// AvgPoolGrad.
struct AvgPoolGrad {
    pooling: Pooling,
    scalar: Scalar,
    shaders: Variants<Key>,
}

impl AvgPoolGrad {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let (shape, geometry) = self.pooling.averaged_back(ctx.input_at(0)?, ctx.input_at(1)?.shape())?;
        by_windows(ctx, 1, shape, (&geometry, Through::Windows), (self.scalar, &self.shaders))
    }
}

gpu_kernels! {
    AvgPoolGrad T { [f32] [f16; "f16"] } host ["orig_input_shape"] as AvgPoolGrad: |ctx| {
        let pooling = Pooling::new(ctx.attrs, GPU)?;
        let shaders = Variants::new(|key| AVERAGE_GRADIENT.program(key));
        scalar_of(ctx.output_dtype_at(0)?).map(|scalar| AvgPoolGrad { pooling, scalar, shaders })
    }
}

const PLACES: Source =
    over_windows!("places of maxima", "max_places.wgsl", &[("input", Access::Read), ("places", Access::Write)]);
const MAX_GRADIENT: Source = over_windows!(
    "gradient of max pooling",
    "max_pool_grad.wgsl",
    &[("gradient", Access::Read), ("places", Access::Read), ("output", Access::Write)]
);
const GRADIENT_OF_GRADIENT: Source = over_windows!(
    "gradient of max pooling's gradient",
    "max_pool_grad_grad.wgsl",
    &[("input", Access::Read), ("pooled", Access::Read), ("gradient", Access::Read), ("output", Access::Write)]
);

/// MaxPoolGrad and MaxPoolGradV2.
struct MaxPoolGrad {
    windows: Windows,
    scalar: Scalar,
    places: Variants<Key>,
    shaders: Variants<Key>,
}

impl MaxPoolGrad {
    fn new(dtype: DataType, windows: Windows) -> Result<MaxPoolGrad> {
        let places = Variants::new(|key| PLACES.program(key));
        let shaders = Variants::new(|key| MAX_GRADIENT.program(key));
        Ok(MaxPoolGrad { windows, scalar: scalar_of(dtype)?, places, shaders })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        self.windows.with(ctx, |ctx, pooling| self.gradient(ctx, pooling))
    }

    /// Output 0, of the shape of input 0: each element of input 2 at the place of its window's greatest element.
    fn gradient(&self, ctx: &mut RawContext<'_>, pooling: &Pooling) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (input, grad) = (ctx.input_at(0)?, ctx.input_at(2)?);
        let geometry = pooling.maxima_back(input.shape(), ctx.input_at(1)?.shape(), grad.shape())?;
        let out = gpu.allocate_output(ctx, 0, input.shape().clone())?;
        if out.num_elements() > 0 {
            let (key, params) =
                (key_of(&geometry, self.scalar), params(gpu, &geometry, &[Through::Window, Through::Windows])?);
            let places = gpu.allocate(DataType::Uint32, geometry.output())?;
            let parts = [read(input), written(&places)];
            element::run(gpu, &self.places, key, geometry.batch, &parts, &params, places.num_elements())?;
            let parts = [read(grad), read(&places), written(&out)];
            element::run(gpu, &self.shaders, key, geometry.batch, &parts, &params, out.num_elements())?;
        }
        ctx.set_output_at(0, out)
    }
}

/// MaxPoolGradGrad and MaxPoolGradGradV2.
struct MaxPoolGradGrad {
    windows: Windows,
    scalar: Scalar,
    shaders: Variants<Key>,
}

impl MaxPoolGradGrad {
    fn new(dtype: DataType, windows: Windows) -> Result<MaxPoolGradGrad> {
        let shaders = Variants::new(|key| GRADIENT_OF_GRADIENT.program(key));
        Ok(MaxPoolGradGrad { windows, scalar: scalar_of(dtype)?, shaders })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        self.windows.with(ctx, |ctx, pooling| self.gradient(ctx, pooling))
    }

    /// Output 0, of the shape of input 1: the element of input 2 where the window's first element equal to input 1 stands.
    fn gradient(&self, ctx: &mut RawContext<'_>, pooling: &Pooling) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (input, pooled, grad) = (ctx.input_at(0)?, ctx.input_at(1)?, ctx.input_at(2)?);
        let geometry = pooling.maxima_back_back(input.shape(), pooled.shape(), grad.shape())?;
        let out = gpu.allocate_output(ctx, 0, geometry.output())?;
        if out.num_elements() > 0 {
            let (key, params) = (key_of(&geometry, self.scalar), params(gpu, &geometry, &[Through::Window])?);
            let parts = [read(input), read(pooled), read(grad), written(&out)];
            element::run(gpu, &self.shaders, key, geometry.batch, &parts, &params, out.num_elements())?;
        }
        ctx.set_output_at(0, out)
    }
}

/// A kernel whose window and stride are attrs, and one whose window and stride are inputs.
macro_rules! gradients {
    ($($op:ident, $op_v2:ident as $kernel:ident;)+) => {$(
        gpu_kernels! {
            $op T { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } host [] as $kernel: |ctx| {
                let pooling = Pooling::new(ctx.attrs, GPU)?;
                $kernel::new(ctx.output_dtype_at(0)?, Windows::Known(pooling))
            }
        }
        gpu_kernels! {
            $op_v2 T { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } host ["ksize", "strides"] as $kernel: |ctx| {
                let attrs = ctx.attrs();
                $kernel::new(ctx.output_dtype_at(0)?, Windows::given(3, &attrs.padding, &attrs.data_format)?)
            }
        }
    )+};
}
gradients! {
    MaxPoolGrad, MaxPoolGradV2 as MaxPoolGrad;
    MaxPoolGradGrad, MaxPoolGradGradV2 as MaxPoolGradGrad;
}

pub(super) fn programs() -> Vec<Program> {
    const FLOATS: [Scalar; 2] = [Scalar::F32, Scalar::F16];
    const NUMBERS: [Scalar; 5] = [Scalar::F32, Scalar::I32, Scalar::F16, Scalar::I64, Scalar::U32];
    let mut programs = MAX.programs(&NUMBERS[..4]);
    programs.extend(NUMBERS[..4].iter().map(|&scalar| OVER_DEPTH.program(&Key { scalar, vectors: false })));
    programs.extend([AVERAGE, AVERAGE_GRADIENT].map(|source| source.programs(&FLOATS)).concat());
    programs.extend([PLACES, MAX_GRADIENT, GRADIENT_OF_GRADIENT].map(|source| source.programs(&NUMBERS)).concat());
    programs
}

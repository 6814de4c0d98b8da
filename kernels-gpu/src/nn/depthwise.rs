//! DepthwiseConv2dNative and its gradients.

use kernlink::dtype::DataType;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::kernel::window::{Axis, Format, Padding, explicit_paddings, four};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_ops as ops;
use smallvec::SmallVec;

use super::convolution::{Attrs, fits, reaches, shape_from};
use super::element::{self, Key, Source};
use crate::device::{GpuDevice, Groups};
use crate::family::{gpu_kernels, scalar_of};
use crate::matmul::gemm::word;
use crate::matmul::sum_parts;
use crate::matmul::text::{conditional, sum_of};
use crate::shader::{Access, Entry, Program, Scalar};
use crate::variants::Variants;
use crate::windows::{Piece, read, whole, written};

/// What attrs say.
struct Convolution {
    stride: i64,
    padding: Padding,
    paddings: [(i64, i64); 4],
    format: Format,
}

impl Convolution {
    fn new(attrs: &Attrs<'_>) -> Result<Convolution> {
        let format = attrs.format;
        let strides = four("strides", attrs.strides)?;
        let stride = strides[format.height()];
        ensure!(
            stride == strides[format.width()],
            InvalidArgument,
            "strides {strides:?} must be equal in rows and columns"
        );
        ensure!(
            strides[0] == 1 && strides[format.channels()] == 1,
            InvalidArgument,
            "strides {strides:?} must be 1 in the batch and depth dimensions"
        );
        let padding = Padding::from_attr(attrs.padding)?;
        let paddings = explicit_paddings(padding, attrs.explicit, format)?;
        let dilations = attrs.dilations;
        for value in dilations {
            ensure!(i32::try_from(*value).is_ok(), InvalidArgument, "dilations has {value} out of range for an int32");
        }
        ensure!(
            dilations.iter().all(|&dilation| dilation == 1),
            Unimplemented,
            "dilations {dilations:?} must be 1: tf.nn.depthwise_conv2d brings dilation by SpaceToBatchND"
        );
        Ok(Convolution { stride, padding, paddings, format })
    }

    /// [`Convolution::new`] for a gradient.
    fn of_gradient(attrs: &Attrs<'_>) -> Result<Convolution> {
        let convolution = Convolution::new(attrs)?;
        ensure!(convolution.format == Format::Nhwc, Unimplemented, "data_format must be NHWC");
        Ok(convolution)
    }

    /// The convolution of tensors of these shapes.
    fn forward(&self, input: &Shape, filter: &Shape) -> Result<Geometry> {
        ensure!(input.rank() == 4, InvalidArgument, "input must be 4-dimensional, not {input}");
        ensure!(filter.rank() == 4, InvalidArgument, "filter must be 4-dimensional, not {filter}");
        let (channels, format) = (input[self.format.channels()], self.format);
        ensure!(
            channels == filter[2],
            InvalidArgument,
            "input and filter must have the same depth, not {channels} and {}",
            filter[2]
        );
        let axis = |axis: usize, window: usize| {
            Axis::new(input[axis], window, self.stride, 1, self.padding, self.paddings[axis])
        };
        let (rows, columns) = (axis(format.height(), filter[0])?, axis(format.width(), filter[1])?);
        Ok(Geometry { batch: input[0], rows, columns, depth: channels, multiplier: filter[3] })
    }

    /// The convolution whose input, filter and output have these shapes.
    fn backward(&self, input: &Shape, filter: &Shape, gradient: &Shape) -> Result<Geometry> {
        for (name, shape) in [("input", input), ("filter", filter), ("out_backprop", gradient)] {
            ensure!(shape.rank() == 4, InvalidArgument, "{name} must be 4-dimensional, not {shape}");
        }
        ensure!(
            input[0] == gradient[0],
            InvalidArgument,
            "input and out_backprop must have the same batch size, not {} and {}",
            input[0],
            gradient[0]
        );
        let geometry = self.forward(input, filter)?;
        ensure!(
            geometry.out_depth() == gradient[3],
            InvalidArgument,
            "out_backprop must have {} times {} channels, not {}",
            filter[2],
            filter[3],
            gradient[3]
        );
        fits(&geometry.rows, gradient, 1)?;
        fits(&geometry.columns, gradient, 2)?;
        Ok(geometry)
    }
}

/// The sizes of a depthwise convolution.
struct Geometry {
    batch: usize,
    rows: Axis,
    columns: Axis,
    depth: usize,
    /// Output channels for each input channel.
    multiplier: usize,
}

const PARAMS: [&str; 12] = [
    "rows",
    "columns",
    "depth",
    "out_rows",
    "out_columns",
    "out_depth",
    "window_rows",
    "window_columns",
    "stride",
    "before_y",
    "before_x",
    "multiplier",
];

impl Geometry {
    fn out_depth(&self) -> usize {
        self.depth.saturating_mul(self.multiplier)
    }

    fn params(&self) -> Result<SmallVec<[u32; 14]>> {
        let (rows, columns) = (&self.rows, &self.columns);
        reaches(rows)?;
        reaches(columns)?;
        let sizes = [
            rows.input,
            columns.input,
            self.depth,
            rows.output,
            columns.output,
            self.out_depth(),
            rows.window,
            columns.window,
            rows.stride,
            rows.before,
            columns.before,
            self.multiplier,
        ];
        sizes.into_iter().map(word).collect()
    }

    /// The shader: threads take four channels if each has one filter.
    fn key(&self, scalar: Scalar) -> Key {
        Key { scalar, vectors: self.multiplier == 1 && self.depth.is_multiple_of(4) }
    }
}

/// The attrs that the ops have alike.
macro_rules! attrs {
    ($ctx:ident) => {{
        let attrs = $ctx.attrs();
        Attrs {
            strides: &attrs.strides,
            dilations: &attrs.dilations,
            padding: &attrs.padding,
            explicit: &attrs.explicit_paddings,
            format: Format::from_attr(&attrs.data_format)?,
        }
    }};
}

const FORWARD: Source = Source {
    label: "depthwise convolution",
    text: include_str!("depthwise.wgsl"),
    buffers: &[("input", Access::Read), ("weights", Access::Read), ("output", Access::Write)],
    params: &PARAMS,
};

/// DepthwiseConv2dNative.
struct Depthwise {
    convolution: Convolution,
    scalar: Scalar,
    shaders: Variants<Key>,
}

impl Depthwise {
    fn new(dtype: DataType, attrs: &Attrs<'_>) -> Result<Depthwise> {
        let shaders = Variants::new(|key| FORWARD.program(key));
        Ok(Depthwise { convolution: Convolution::new(attrs)?, scalar: scalar_of(dtype)?, shaders })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (input, filter) = (ctx.input_at(0)?, ctx.input_at(1)?);
        let geometry = self.convolution.forward(input.shape(), filter.shape())?;
        let (rows, columns) = (geometry.rows.output, geometry.columns.output);
        let format = self.convolution.format;
        let out = gpu.allocate_output(ctx, 0, format.shape(geometry.batch, rows, columns, geometry.out_depth()))?;
        let elements = out.num_elements();
        if elements > 0 {
            ensure!(
                format == Format::Nhwc,
                Unimplemented,
                "DepthwiseConv2dNative on the GPU supports data_format NHWC only, not NCHW"
            );
            let (key, params) = (geometry.key(self.scalar), geometry.params()?);
            let parts = [read(input), whole(filter), written(&out)];
            element::run(gpu, &self.shaders, key, geometry.batch, &parts, &params, elements)?;
        }
        ctx.set_output_at(0, out)
    }
}

gpu_kernels! {
    DepthwiseConv2dNative T { [f32] [f16; "f16"] } host [] as Depthwise: |ctx| {
        Depthwise::new(ctx.input_dtype_at(0)?, &attrs!(ctx))
    }
}

const OF_INPUT: Source = Source {
    label: "gradient of a depthwise convolution's input",
    text: include_str!("depthwise_input.wgsl"),
    buffers: &[("weights", Access::Read), ("gradient", Access::Read), ("output", Access::Write)],
    params: &PARAMS,
};

/// DepthwiseConv2dNativeBackpropInput.
struct BackpropInput {
    convolution: Convolution,
    scalar: Scalar,
    shaders: Variants<Key>,
}

impl BackpropInput {
    fn new(dtype: DataType, attrs: &Attrs<'_>) -> Result<BackpropInput> {
        let shaders = Variants::new(|key| OF_INPUT.program(key));
        Ok(BackpropInput { convolution: Convolution::of_gradient(attrs)?, scalar: scalar_of(dtype)?, shaders })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (filter, gradient) = (ctx.input_at(1)?, ctx.input_at(2)?);
        let shape = shape_from(ctx.input_at(0)?, "input_sizes")?;
        let geometry = self.convolution.backward(&shape, filter.shape(), gradient.shape())?;
        let out = gpu.allocate_output(ctx, 0, shape)?;
        let elements = out.num_elements();
        if elements > 0 {
            let (key, params) = (geometry.key(self.scalar), geometry.params()?);
            let parts = [whole(filter), read(gradient), written(&out)];
            element::run(gpu, &self.shaders, key, geometry.batch, &parts, &params, elements)?;
        }
        ctx.set_output_at(0, out)
    }
}

gpu_kernels! {
    DepthwiseConv2dNativeBackpropInput T { [f32] [f16; "f16"] } host ["input_sizes"] as BackpropInput: |ctx| {
        BackpropInput::new(ctx.output_dtype_at(0)?, &attrs!(ctx))
    }
}

/// What a workgroup takes of a tap's channels, and how many threads it has: see `depthwise_filter.wgsl`.
const SHARES: usize = 16;
const THREADS: u32 = 128;

fn of_filter(key: &Key) -> Program {
    let mut builder = key
        .builder("gradient of a depthwise convolution's filter")
        .workgroup(THREADS)
        .read_vectors("input", key.scalar, key.width())
        .read_vectors("gradient", key.scalar, key.width())
        .write_vectors("scratch", sum_of(key.scalar), key.width());
    for name in PARAMS.iter().chain(&["pixels", "chunk"]) {
        builder = builder.param(name, "u32");
    }
    builder.build(Entry::Rows, &conditional(include_str!("depthwise_filter.wgsl"), "vectors", key.vectors))
}

/// DepthwiseConv2dNativeBackpropFilter.
struct BackpropFilter {
    convolution: Convolution,
    scalar: Scalar,
    shaders: Variants<Key>,
    sums: Variants<sum_parts::Key>,
}

impl BackpropFilter {
    fn new(dtype: DataType, attrs: &Attrs<'_>) -> Result<BackpropFilter> {
        let convolution = Convolution::of_gradient(attrs)?;
        let (shaders, sums) = (Variants::new(of_filter), Variants::new(sum_parts::program));
        Ok(BackpropFilter { convolution, scalar: scalar_of(dtype)?, shaders, sums })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (input, gradient) = (ctx.input_at(0)?, ctx.input_at(2)?);
        let shape = shape_from(ctx.input_at(1)?, "filter_sizes")?;
        let geometry = self.convolution.backward(input.shape(), &shape, gradient.shape())?;
        let out = gpu.allocate_output(ctx, 0, shape)?;
        if out.num_elements() > 0 {
            self.add_up(gpu, &geometry, [input, gradient, &out])?;
        }
        ctx.set_output_at(0, out)
    }

    /// Adds up the gradient in parts, and the parts.
    fn add_up(&self, gpu: &GpuDevice, geometry: &Geometry, [input, gradient, out]: [&Tensor; 3]) -> Result<()> {
        /// Pixels of a part at least, and how many workgroups keep a device busy.
        const PIXELS: usize = 512;
        const BUSY: usize = 1024;
        let key = geometry.key(self.scalar);
        let is_empty = input.num_elements() == 0 || gradient.num_elements() == 0;
        let image = if is_empty { 0 } else { geometry.rows.output * geometry.columns.output };
        let taps = geometry.rows.window * geometry.columns.window;
        let tiles = geometry.out_depth().div_ceil(key.width() as usize).div_ceil(SHARES) * taps;
        // How many parts so many images are cut into, and how long each is.
        let share = |images: usize| {
            let pixels = images * image;
            let chunk = pixels.div_ceil((pixels / PIXELS).min(BUSY.div_ceil(tiles)).max(1));
            (if pixels == 0 { 1 } else { pixels.div_ceil(chunk) }, chunk)
        };
        let moving = [read(input), read(gradient)];
        let window = if gpu.fit(&[input, gradient]) { None } else { gpu.window(geometry.batch, &moving)? };
        let window = window.unwrap_or(geometry.batch).max(1);
        let windows = (0..geometry.batch.max(1)).step_by(window);
        let parts: usize = windows.map(|start| share(window.min(geometry.batch.saturating_sub(start))).0).sum();
        let sum = if self.scalar == Scalar::F16 { DataType::Float } else { out.dtype() };
        let scratch = if parts == 1 && sum == out.dtype() { None } else { Some([parts, out.num_elements()]) };
        let scratch = scratch.map(|shape| gpu.allocate(sum, shape)).transpose()?;
        let (shader, target, mut part) = (self.shaders.get(key), scratch.as_ref().unwrap_or(out), 0);
        gpu.in_windows(geometry.batch, &moving, |images, tensors| {
            let (parts, chunk) = share(images.len());
            let mut params = geometry.params()?;
            params.extend_from_slice(&[word(images.len() * image)?, word(chunk)?]);
            let (first, count) = (part * out.num_elements(), parts * out.num_elements());
            part += parts;
            gpu.with_pieces(&[Piece { tensor: target, first, count, written: true }], |target| {
                let groups = Groups::Rows(tiles.saturating_mul(parts));
                gpu.dispatch(&shader, &[tensors[0], tensors[1], target[0]], &params, groups)
            })
        })?;
        match scratch {
            Some(scratch) => sum_parts::run(gpu, &self.sums, self.scalar, &scratch, out),
            None => Ok(()),
        }
    }
}

gpu_kernels! {
    DepthwiseConv2dNativeBackpropFilter T { [f32] [f16; "f16"] } host ["filter_sizes"] as BackpropFilter: |ctx| {
        BackpropFilter::new(ctx.output_dtype_at(0)?, &attrs!(ctx))
    }
}

pub(super) fn programs() -> Vec<Program> {
    let scalars = [Scalar::F32, Scalar::F16];
    let mut programs = [FORWARD.programs(&scalars), OF_INPUT.programs(&scalars)].concat();
    for (scalar, vectors) in scalars.into_iter().flat_map(|scalar| [(scalar, false), (scalar, true)]) {
        programs.push(of_filter(&Key { scalar, vectors }));
    }
    programs
}

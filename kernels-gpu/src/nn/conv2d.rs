//! Conv2D and its gradients: products whose factors are read where the windows are.

use kernlink::dtype::DataType;
use kernlink::ensure;
use kernlink::error::{Code, Result};
use kernlink::kernel::RawContext;
use kernlink::kernel::window::Format;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_ops as ops;
use smallvec::SmallVec;

use super::convolution::{Attrs, Convolution, Geometry, shape_from};
use crate::device::GpuDevice;
use crate::family::gpu_kernels;
use crate::matmul::config::Extents;
use crate::matmul::gemm::{self, Factors, Gemm, Target, of_matrices};
use crate::matmul::text::Source;
use crate::shader::{Program, Scalar};
use crate::windows::{Piece, read, whole, written};

/// Conv2D.
struct Conv2D {
    convolution: Convolution,
    product: Gemm,
    /// The product where patches are rows of the input.
    plain: Gemm,
}

impl Conv2D {
    fn new(dtype: DataType, attrs: &Attrs<'_>) -> Result<Conv2D> {
        let convolution = Convolution::new(attrs, Code::Unimplemented)?;
        let product = Gemm::new(dtype, Source::Patches, Source::Columns)?;
        Ok(Conv2D { convolution, product, plain: Gemm::new(dtype, Source::Rows, Source::Columns)? })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (input, filter) = (ctx.input_at(0)?, ctx.input_at(1)?);
        let geometry = self.convolution.forward(input.shape(), filter.shape())?;
        let (rows, columns) = (geometry.rows.output, geometry.columns.output);
        let format = self.convolution.format;
        let out = gpu.allocate_output(ctx, 0, format.shape(geometry.batch, rows, columns, geometry.out_depth))?;
        if out.num_elements() > 0 {
            gpu.in_windows(geometry.batch, &[read(input), whole(filter), written(&out)], |images, tensors| {
                self.convolve(gpu, &geometry.of_images(images.len()), [tensors[0], tensors[1], tensors[2]])
            })?;
        }
        ctx.set_output_at(0, out)
    }

    fn convolve(&self, gpu: &GpuDevice, geometry: &Geometry, [input, filter, out]: [&Tensor; 3]) -> Result<()> {
        let is_empty = input.num_elements() == 0;
        ensure!(
            is_empty || self.convolution.format == Format::Nhwc,
            Unimplemented,
            "Conv2D on the GPU supports data_format NHWC only, not NCHW"
        );
        ensure!(is_empty || filter.num_elements() > 0, InvalidArgument, "filter {} must not be empty", filter.shape());
        let groups = if is_empty { 1 } else { geometry.depth / geometry.patch_depth };
        ensure!(
            groups > 0 && geometry.out_depth.is_multiple_of(groups),
            InvalidArgument,
            "output depth {} must be evenly divisible by the number of groups, {groups}",
            geometry.out_depth
        );
        let columns = geometry.out_depth / groups;
        let extents = Extents {
            rows: geometry.pixels(),
            columns,
            // Without an input all there is to see is padding.
            inner: if is_empty { 0 } else { geometry.patch() },
            batches: groups,
        };
        let out_by_fours = columns.is_multiple_of(4);
        let mut factors = Factors {
            a: input,
            b: filter,
            out,
            extents,
            vectors: [false, out_by_fours, out_by_fours],
            stride: geometry.out_depth,
            step: columns,
            target: Target::Whole,
            special: SmallVec::new(),
        };
        if geometry.is_product() {
            factors.vectors[0] = geometry.patch().is_multiple_of(4);
            factors.special = of_matrices([geometry.patch(), columns])?;
            return self.plain.run(gpu, &factors);
        }
        factors.vectors[0] = geometry.depth.is_multiple_of(4) && geometry.patch_depth.is_multiple_of(4);
        factors.special = geometry.params([0, geometry.out_depth], [geometry.patch_depth, columns])?;
        self.product.run(gpu, &factors)
    }
}

/// The attrs that Conv2D and its gradients have alike.
macro_rules! attrs {
    ($ctx:ident, $format:expr) => {{
        let attrs = $ctx.attrs();
        Attrs {
            strides: &attrs.strides,
            dilations: &attrs.dilations,
            padding: &attrs.padding,
            explicit: &attrs.explicit_paddings,
            format: $format,
        }
    }};
}

gpu_kernels! {
    Conv2D T { [f32, i32] [f16; "f16"] } host [] as Conv2D: |ctx| {
        let format = Format::from_attr(&ctx.attrs().data_format)?;
        Conv2D::new(ctx.input_dtype_at(0)?, &attrs!(ctx, format))
    }
}

/// The format of gradients.
fn channels_last(format: &str) -> Result<Format> {
    ensure!(format == "NHWC", InvalidArgument, "data_format must be NHWC, not {format}");
    Ok(Format::Nhwc)
}

/// Conv2DBackpropInput.
struct BackpropInput {
    convolution: Convolution,
    product: Gemm,
    /// The product where patches are rows of the input.
    plain: Gemm,
}

impl BackpropInput {
    fn new(dtype: DataType, attrs: &Attrs<'_>) -> Result<BackpropInput> {
        let convolution = Convolution::new(attrs, Code::Unimplemented)?;
        let product = Gemm::new(dtype, Source::Flows, Source::Filters)?;
        Ok(BackpropInput { convolution, product, plain: Gemm::new(dtype, Source::Rows, Source::Rows)? })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (filter, gradient) = (ctx.input_at(1)?, ctx.input_at(2)?);
        let mut shape = shape_from(ctx.input_at(0)?, "input_sizes")?;
        ensure!(
            matches!(shape.rank(), 2 | 4),
            InvalidArgument,
            "input_sizes must have 4 or 2 values, not {}",
            shape.rank()
        );
        if shape.rank() == 2 {
            let (flow, window) = (gradient.shape(), filter.shape());
            ensure!(flow.rank() == 4, InvalidArgument, "out_backprop must be 4-dimensional, not {flow}");
            ensure!(window.rank() == 4, InvalidArgument, "filter must be 4-dimensional, not {window}");
            shape = Shape::from([flow[0], shape[0], shape[1], window[2]]);
        }
        let geometry = self.convolution.backward(&shape, filter.shape(), gradient.shape())?;
        let out = gpu.allocate_output(ctx, 0, shape)?;
        if out.num_elements() > 0 {
            gpu.in_windows(geometry.batch, &[whole(filter), read(gradient), written(&out)], |images, tensors| {
                self.flow_back(gpu, &geometry.of_images(images.len()), [tensors[0], tensors[1], tensors[2]])
            })?;
        }
        ctx.set_output_at(0, out)
    }

    fn flow_back(&self, gpu: &GpuDevice, geometry: &Geometry, [filter, gradient, out]: [&Tensor; 3]) -> Result<()> {
        let is_empty = gradient.num_elements() == 0;
        let is_product = geometry.is_product();
        let taps = geometry.rows.window * geometry.columns.window;
        let (rows, columns, inner) = match is_product {
            true => (geometry.pixels(), geometry.patch(), geometry.out_depth),
            false => {
                let pixels = geometry.batch * geometry.rows.input * geometry.columns.input;
                (pixels, geometry.depth, taps * geometry.out_depth)
            }
        };
        let by_fours = geometry.out_depth.is_multiple_of(4);
        let factors = Factors {
            a: gradient,
            b: filter,
            out,
            extents: Extents { rows, columns, inner: if is_empty { 0 } else { inner }, batches: 1 },
            vectors: [by_fours, by_fours, columns.is_multiple_of(4)],
            stride: columns,
            step: 0,
            target: Target::Whole,
            special: match is_product {
                true => of_matrices([geometry.out_depth; 2])?,
                false => geometry.params([0, 0], [0, 0])?,
            },
        };
        let product = if is_product { &self.plain } else { &self.product };
        product.run(gpu, &factors)
    }
}

gpu_kernels! {
    Conv2DBackpropInput T { [f32, i32] [f16; "f16"] } host ["input_sizes"] as BackpropInput: |ctx| {
        let format = channels_last(&ctx.attrs().data_format)?;
        BackpropInput::new(ctx.output_dtype_at(0)?, &attrs!(ctx, format))
    }
}

/// Conv2DBackpropFilter.
struct BackpropFilter {
    convolution: Convolution,
    product: Gemm,
    /// The product where patches are rows of the input.
    plain: Gemm,
}

impl BackpropFilter {
    fn new(dtype: DataType, attrs: &Attrs<'_>) -> Result<BackpropFilter> {
        let convolution = Convolution::new(attrs, Code::InvalidArgument)?;
        let product = Gemm::new(dtype, Source::PatchesAcross, Source::Columns)?;
        Ok(BackpropFilter { convolution, product, plain: Gemm::new(dtype, Source::Columns, Source::Columns)? })
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

    /// Adds up what all images say: those in a window by themselves, if there are several.
    fn add_up(&self, gpu: &GpuDevice, geometry: &Geometry, [input, gradient, out]: [&Tensor; 3]) -> Result<()> {
        let (parts, product) = ([read(input), read(gradient)], self.product_of(geometry));
        let window = if gpu.fit(&[input, gradient]) { None } else { gpu.window(geometry.batch, &parts)? };
        let Some(window) = window else {
            return self.multiply(gpu, geometry, [input, gradient, out], Target::Whole);
        };
        let elements = out.num_elements();
        let terms = gpu.allocate(product.sum_dtype(), [geometry.batch.div_ceil(window), elements])?;
        gpu.in_windows(geometry.batch, &parts, |images, tensors| {
            let first = images.start / window * elements;
            let term = Piece { tensor: &terms, first, count: elements, written: true };
            gpu.with_pieces(&[term], |term| {
                let tensors = [tensors[0], tensors[1], term[0]];
                self.multiply(gpu, &geometry.of_images(images.len()), tensors, Target::Term)
            })
        })?;
        product.add(gpu, &terms, out)
    }

    fn product_of(&self, geometry: &Geometry) -> &Gemm {
        if geometry.is_product() { &self.plain } else { &self.product }
    }

    fn multiply(
        &self,
        gpu: &GpuDevice,
        geometry: &Geometry,
        [input, gradient, out]: [&Tensor; 3],
        target: Target,
    ) -> Result<()> {
        let is_empty = input.num_elements() == 0;
        let extents = Extents {
            rows: geometry.patch(),
            columns: geometry.out_depth,
            inner: if is_empty { 0 } else { geometry.pixels() },
            batches: 1,
        };
        let is_product = geometry.is_product();
        let neighbours = if is_product { geometry.patch() } else { geometry.depth };
        let out_by_fours = geometry.out_depth.is_multiple_of(4);
        let factors = Factors {
            a: input,
            b: gradient,
            out,
            extents,
            vectors: [neighbours.is_multiple_of(4), out_by_fours, out_by_fours],
            stride: geometry.out_depth,
            step: 0,
            target,
            special: match is_product {
                true => of_matrices([geometry.patch(), geometry.out_depth])?,
                false => geometry.params([0, geometry.out_depth], [0, 0])?,
            },
        };
        self.product_of(geometry).run(gpu, &factors)
    }
}

gpu_kernels! {
    Conv2DBackpropFilter T { [f32] [f16; "f16"] } host ["filter_sizes"] as BackpropFilter: |ctx| {
        let format = channels_last(&ctx.attrs().data_format)?;
        BackpropFilter::new(ctx.output_dtype_at(0)?, &attrs!(ctx, format))
    }
}

pub(super) fn programs() -> Vec<Program> {
    let mut programs = Vec::new();
    for scalar in [Scalar::F32, Scalar::I32, Scalar::F16] {
        programs.extend(gemm::programs(scalar, Source::Patches, Source::Columns));
        programs.extend(gemm::programs(scalar, Source::Flows, Source::Filters));
        if scalar != Scalar::I32 {
            programs.extend(gemm::programs(scalar, Source::PatchesAcross, Source::Columns));
        }
    }
    programs
}

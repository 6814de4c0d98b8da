//! DepthwiseConv2dNative: each input channel has filters of its own.

use std::marker::PhantomData;

use kernlink::dtype::{DataType, Number, bf16, f16};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::tensor::Tensor;
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::DepthwiseConv2dNative;

use super::narrow::{narrowed, widened};
use super::vector::widest;
use super::window::{Axis, Format, Padding, explicit_paddings, four};

struct DepthwiseKernel<T> {
    stride: i64,
    padding: Padding,
    paddings: [(i64, i64); 4],
    format: Format,
    element: PhantomData<T>,
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64])]
impl<T: Depthwise> OpKernel<DepthwiseConv2dNative> for DepthwiseKernel<T> {
    fn new(ctx: &KernelConstruction<'_, DepthwiseConv2dNative>) -> Result<Self> {
        let attrs = ctx.attrs();
        let format = Format::from_attr(&attrs.data_format)?;
        let strides = four("strides", &attrs.strides)?;
        let (stride, stride_width) = (strides[format.height()], strides[format.width()]);
        ensure!(stride == stride_width, InvalidArgument, "strides {strides:?} must be equal in rows and columns");
        ensure!(
            strides[0] == 1 && strides[format.channels()] == 1,
            InvalidArgument,
            "strides {strides:?} must be 1 in the batch and depth dimensions"
        );
        let padding = Padding::from_attr(&attrs.padding)?;
        let paddings = explicit_paddings(padding, &attrs.explicit_paddings, format)?;
        let dilations = &attrs.dilations;
        for value in dilations {
            ensure!(i32::try_from(*value).is_ok(), InvalidArgument, "dilations has {value} out of range for an int32");
        }
        ensure!(
            dilations.iter().all(|&dilation| dilation == 1),
            Unimplemented,
            "dilations {dilations:?} must be 1: tf.nn.depthwise_conv2d brings dilation by SpaceToBatchND"
        );
        Ok(Self { stride, padding, paddings, format, element: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, DepthwiseConv2dNative>) -> Result<()> {
        let input = ctx.input(DepthwiseConv2dNative::INPUT)?;
        let filter = ctx.input(DepthwiseConv2dNative::FILTER)?;
        let (shape, window) = (input.shape(), filter.shape());
        ensure!(shape.rank() == 4, InvalidArgument, "input must be 4-dimensional, not {shape}");
        ensure!(window.rank() == 4, InvalidArgument, "filter must be 4-dimensional, not {window}");
        let in_depth = shape[self.format.channels()];
        ensure!(
            in_depth == window[2],
            InvalidArgument,
            "input and filter must have the same depth, not {in_depth} and {}",
            window[2]
        );
        let axis = |axis: usize, window: usize| {
            Axis::new(shape[axis], window, self.stride, 1, self.padding, self.paddings[axis])
        };
        let geometry = Geometry {
            rows: axis(self.format.height(), window[0])?,
            columns: axis(self.format.width(), window[1])?,
            in_depth,
            multiplier: window[3],
        };
        let out_depth = in_depth.saturating_mul(window[3]);
        let shape = self.format.shape(shape[0], geometry.rows.output, geometry.columns.output, out_depth);
        let mut output = ctx.allocate_output(DepthwiseConv2dNative::OUTPUT, shape)?;
        if output.num_elements() > 0 {
            ensure!(
                self.format == Format::Nhwc,
                Unimplemented,
                "DepthwiseConv2dNative on the CPU supports data_format NHWC only, not NCHW"
            );
            T::convolve(ctx, &geometry, input, filter, &mut output)?;
        }
        ctx.set_output(DepthwiseConv2dNative::OUTPUT, output)
    }
}

/// The sizes of a depthwise convolution.
#[derive(Clone, Copy)]
struct Geometry {
    rows: Axis,
    columns: Axis,
    in_depth: usize,
    /// Output channels for each input channel.
    multiplier: usize,
}

/// How a dtype is convolved.
trait Depthwise: Number {
    fn convolve(
        ctx: &RawContext<'_>,
        geometry: &Geometry,
        input: &Tensor,
        filter: &Tensor,
        output: &mut Tensor,
    ) -> Result<()>;
}

macro_rules! depthwise {
    ($($t:ty => $line:ident),*) => {$(
        impl Depthwise for $t {
            fn convolve(
                ctx: &RawContext<'_>,
                geometry: &Geometry,
                input: &Tensor,
                filter: &Tensor,
                output: &mut Tensor,
            ) -> Result<()> {
                by_lines::<$t>(ctx, geometry, input, filter, output, $line)
            }
        }
    )*};
}
depthwise!(f32 => line_f32, f64 => line_f64);

macro_rules! depthwise_as_f32 {
    ($($t:ty),*) => {$(
        impl Depthwise for $t {
            fn convolve(
                ctx: &RawContext<'_>,
                geometry: &Geometry,
                input: &Tensor,
                filter: &Tensor,
                output: &mut Tensor,
            ) -> Result<()> {
                let (input, filter) = (widened::<$t>(ctx, input)?, widened::<$t>(ctx, filter)?);
                let mut wide = Tensor::alloc(DataType::Float, output.shape().clone())?;
                by_lines::<f32>(ctx, geometry, &input, &filter, &mut wide, line_f32)?;
                narrowed::<$t>(ctx, &wide, output)
            }
        }
    )*};
}
depthwise_as_f32!(f16, bf16);

/// Writes one line (all columns and channels) of the output: geometry, image, filter, row, line.
type Line<T> = fn(&Geometry, &[T], &[T], usize, &mut [T]);

/// Splits the output's lines among threads.
fn by_lines<T: Number>(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    input: &Tensor,
    filter: &Tensor,
    output: &mut Tensor,
    line: Line<T>,
) -> Result<()> {
    let (input, filter) = (input.as_slice::<T>()?, filter.as_slice::<T>()?);
    let (rows, columns) = (&geometry.rows, &geometry.columns);
    let length = columns.output * geometry.in_depth * geometry.multiplier;
    let image = rows.input * columns.input * geometry.in_depth;
    let taps = rows.window * columns.window;
    ctx.parallel_chunks(output.as_mut_slice::<T>()?, length, taps.div_ceil(16), |first, piece| {
        for (index, target) in piece.chunks_exact_mut(length).enumerate() {
            let index = first / length + index;
            let (batch, row) = (index / rows.output, index % rows.output);
            line(geometry, &input[batch * image..][..image], filter, row, target);
        }
    });
    Ok(())
}

widest! {
    fn line_f32(geometry: &Geometry, image: &[f32], filter: &[f32], row: usize, target: &mut [f32]) {
        line(geometry, image, filter, row, target);
    }
}

widest! {
    fn line_f64(geometry: &Geometry, image: &[f64], filter: &[f64], row: usize, target: &mut [f64]) {
        line(geometry, image, filter, row, target);
    }
}

/// Output pixels that share each filter element that is loaded.
const PIXELS: usize = 4;
/// Channels at a time.
const CHANNELS: usize = 16;

#[inline(always)]
fn line<T: Number>(geometry: &Geometry, image: &[T], filter: &[T], row: usize, target: &mut [T]) {
    let (columns, depth) = (&geometry.columns, geometry.in_depth);
    if geometry.multiplier != 1 {
        return multiplied(geometry, image, filter, row, target);
    }
    let interior = columns.interior();
    let mut column = 0;
    while column < columns.output {
        if interior.contains(&column) && interior.end - column >= PIXELS {
            let pixels = &mut target[column * depth..][..PIXELS * depth];
            block::<T, PIXELS>(geometry, image, filter, row, column, pixels);
            column += PIXELS;
        } else {
            let pixels = &mut target[column * depth..][..depth];
            block::<T, 1>(geometry, image, filter, row, column, pixels);
            column += 1;
        }
    }
}

/// `P` output pixels from `column` on, whose windows have the same columns inside the input.
#[inline(always)]
fn block<T: Number, const P: usize>(
    geometry: &Geometry,
    image: &[T],
    filter: &[T],
    row: usize,
    column: usize,
    target: &mut [T],
) {
    let (rows, columns, depth) = (&geometry.rows, &geometry.columns, geometry.in_depth);
    let (row_taps, column_taps) = (rows.taps(row), columns.taps(column));
    let (top, left) = (rows.start(row), columns.start(column));
    let line = columns.input * depth;
    let mut channel = 0;
    while channel < depth {
        let width = CHANNELS.min(depth - channel);
        let mut sums = [[T::ZERO; CHANNELS]; P];
        for row_tap in row_taps.clone() {
            let source = &image[(top + row_tap as i64) as usize * line..][..line];
            for column_tap in column_taps.clone() {
                let factors = &filter[(row_tap * columns.window + column_tap) * depth + channel..];
                let first = (left + column_tap as i64) as usize;
                for (pixel, sums) in sums.iter_mut().enumerate() {
                    let source = &source[(first + pixel * columns.stride) * depth + channel..];
                    if let (Some(source), Some(factors)) =
                        (source.first_chunk::<CHANNELS>(), factors.first_chunk::<CHANNELS>())
                        && width == CHANNELS
                    {
                        for ((sum, &element), &factor) in sums.iter_mut().zip(source).zip(factors) {
                            *sum = sum.add(element.mul(factor));
                        }
                    } else {
                        for ((sum, &element), &factor) in sums[..width].iter_mut().zip(source).zip(factors) {
                            *sum = sum.add(element.mul(factor));
                        }
                    }
                }
            }
        }
        for (target, sums) in target.chunks_exact_mut(depth).zip(&sums) {
            target[channel..channel + width].copy_from_slice(&sums[..width]);
        }
        channel += width;
    }
}

/// A line for several output channels to an input channel.
#[inline(always)]
fn multiplied<T: Number>(geometry: &Geometry, image: &[T], filter: &[T], row: usize, target: &mut [T]) {
    let (rows, columns, depth) = (&geometry.rows, &geometry.columns, geometry.in_depth);
    let multiplier = geometry.multiplier;
    for (column, target) in target.chunks_exact_mut(depth * multiplier).enumerate() {
        target.fill(T::ZERO);
        for row_tap in rows.taps(row) {
            let Some(input_row) = rows.at(row, row_tap) else { continue };
            for column_tap in columns.taps(column) {
                let Some(input_column) = columns.at(column, column_tap) else { continue };
                let source = &image[(input_row * columns.input + input_column) * depth..][..depth];
                let tap = row_tap * columns.window + column_tap;
                let factors = &filter[tap * depth * multiplier..][..depth * multiplier];
                let each = target.chunks_exact_mut(multiplier).zip(factors.chunks_exact(multiplier)).zip(source);
                for ((target, factors), &element) in each {
                    for (target, &factor) in target.iter_mut().zip(factors) {
                        *target = target.add(element.mul(factor));
                    }
                }
            }
        }
    }
}

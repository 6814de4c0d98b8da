//! QuantizedMatMul and QuantizedConv2D.

use bytemuck::{cast_slice, cast_slice_mut};
use kernlink::dtype::{QInt32, QUInt8};
use kernlink::kernel::{Attrs, KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_geometry::products::{Side, Sizes, ensure_matrices};
use kernlink_kernels_common::gemm::Matrix;
use kernlink_macros::register_kernel;
use kernlink_ops::shapes::{Axis, Padding, TensorFormat};
use kernlink_ops::{QuantizedConv2D, QuantizedMatMul};

use crate::arithmetic::ensure_length;
use crate::number::{range_of_products, unclamped};
use crate::product::{Right, multiply};
use crate::slices::{range, set_range};

/// The number that stands for zero.
fn zero(range: [f32; 2]) -> i32 {
    unclamped::<QUInt8>(0.0, range[0], range[1]) as i32
}

#[register_kernel(device = Cpu, T1 = [QUInt8], T2 = [QUInt8], Toutput = [QInt32])]
fn mat_mul(attrs: &Attrs<QuantizedMatMul>, ctx: &mut KernelContext<'_, QuantizedMatMul>) -> Result<()> {
    let (of_a, of_b) = (range(ctx, 2, "a")?, range(ctx, 4, "b")?);
    ensure_length(of_a, "a")?;
    ensure_length(of_b, "b")?;
    let (a, b) = (ctx.input_at(0)?.clone(), ctx.input_at(1)?.clone());
    ensure_matrices(a.shape(), b.shape())?;
    let side = |shape, transposed| Side { shape, transposed };
    let sizes = Sizes::new(side(a.shape(), attrs.transpose_a), side(b.shape(), attrs.transpose_b))?;
    let matrix = |data, shape: &Shape, transposed: bool| {
        if transposed { Matrix::transposed(data, shape[1]) } else { Matrix::rows(data, shape[1]) }
    };
    let left = matrix(cast_slice::<QUInt8, u8>(a.as_slice()?), a.shape(), attrs.transpose_a);
    let right = matrix(cast_slice::<QUInt8, u8>(b.as_slice()?), b.shape(), attrs.transpose_b);
    let right =
        Right::new(ctx, sizes.rows, [sizes.inner, sizes.columns], right, scratch::filled(zero(of_b), sizes.columns)?)?;
    let mut output = ctx.allocate_output_at(0, sizes.output.clone())?;
    multiply(ctx, sizes.rows, left, |_| zero(of_a), &right, cast_slice_mut::<QInt32, i32>(output.as_mut_slice()?))?;
    ctx.set_output_at(0, output)?;
    set_range(ctx, 1, range_of_products::<QUInt8, QUInt8>(of_a, of_b))
}

/// The attrs of a [`QuantizedConv2D`].
struct Convolution {
    stride: i64,
    padding: String,
}

impl KernelState for Convolution {
    fn new(ctx: &RawConstruction<'_>) -> Result<Convolution> {
        let strides: Vec<i64> = ctx.attrs.required("strides")?;
        ensure!(strides.len() == 4, InvalidArgument, "strides must have 4 numbers, not {}", strides.len());
        ensure!(
            strides[1] == strides[2] && strides[0] == 1 && strides[3] == 1,
            InvalidArgument,
            "the strides of rows and columns must be equal, and the others 1, not {strides:?}"
        );
        let dilations: Vec<i64> = ctx.attrs.required("dilations")?;
        ensure!(
            dilations == [1; 4],
            InvalidArgument,
            "QuantizedConv2D has no kernel for dilations other than 1, not for {dilations:?}"
        );
        Ok(Convolution { stride: strides[1], padding: ctx.attrs.required("padding")? })
    }
}

/// Bytes of patches that are multiplied at a time.
const PATCHES: usize = 1 << 20;

#[register_kernel(device = Cpu, Tinput = [QUInt8], Tfilter = [QUInt8], out_type = [QInt32])]
fn convolution(node: &Convolution, ctx: &mut KernelContext<'_, QuantizedConv2D>) -> Result<()> {
    let (input, filter) = (ctx.input_at(0)?.clone(), ctx.input_at(1)?.clone());
    let (of_input, of_filter) = (range(ctx, 2, "the input")?, range(ctx, 4, "the filter")?);
    ensure!(input.rank() == 4, InvalidArgument, "input must be 4-dimensional, not {}", input.shape());
    ensure!(filter.rank() == 4, InvalidArgument, "filter must be 4-dimensional, not {}", filter.shape());
    let (images, window) = (input.shape(), filter.shape());
    ensure!(
        images[3] == window[2],
        InvalidArgument,
        "input and filter must have the same depth: {} vs {}",
        images[3],
        window[2]
    );
    let padding = Padding::new(&node.padding, &[], TensorFormat::of_images("NHWC")?, 4)?;
    let axis = |axis: usize| Axis::new(images[axis], window[axis - 1], node.stride, 1, padding.along(axis));
    let (rows, columns) = (axis(1)?, axis(2)?);
    let shape = Shape::from([images[0], rows.output, columns.output, window[3]]);
    shape.check()?;
    ensure!(
        shape.num_elements() > 0 && window.num_elements() > 0,
        InvalidArgument,
        "neither the output, of shape {shape}, nor the filter, of shape {window}, may be empty"
    );
    let mut output = ctx.allocate_output_at(0, shape.clone())?;
    let patches = Patches {
        rows,
        columns,
        depth: images[3],
        offsets: if node.padding == "VALID" { [0; 2] } else { [&rows, &columns].map(offset) },
        // Beyond the border is the number that stands for zero; below the least it is none, and another is found below.
        outside: zero(of_input),
    };
    let (size, features) = (patches.size(), window[3]);
    let count = shape.num_elements() / features;
    let together = (PATCHES / size).clamp(1, count);
    let right = Matrix::rows(cast_slice::<QUInt8, u8>(filter.as_slice()?), features);
    let bytes = cast_slice::<QUInt8, u8>(input.as_slice()?);
    let target = cast_slice_mut::<QInt32, i32>(output.as_mut_slice()?);
    if patches.outside < 0 {
        patches.directly(ctx, bytes, right, zero(of_filter), target);
    } else {
        let zeros = scratch::filled(zero(of_filter), features)?;
        if patches.are_pixels() {
            let right = Right::new(ctx, count, [size, features], right, zeros)?;
            multiply(ctx, count, Matrix::rows(bytes, size), |_| patches.outside, &right, target)?;
        } else {
            let right = Right::new(ctx, together, [size, features], right, zeros)?;
            let mut buffer: Vec<u8> = scratch::zeros(together * size)?;
            for (index, target) in target.chunks_mut(together * features).enumerate() {
                let here = target.len() / features;
                ctx.parallel_chunks(&mut buffer[..here * size], size, 1, |first, buffer| {
                    for (patch, buffer) in buffer.chunks_mut(size).enumerate() {
                        patches.gather(index * together + first / size + patch, bytes, buffer);
                    }
                });
                multiply(ctx, here, Matrix::rows(&buffer, size), |_| patches.outside, &right, target)?;
            }
        }
    }
    ctx.set_output_at(0, output)?;
    set_range(ctx, 1, range_of_products::<QUInt8, QUInt8>(of_input, of_filter))
}

/// How far the first window begins before the input; TensorFlow centres the windows, which may be smaller than their steps.
fn offset(axis: &Axis) -> i64 {
    ((axis.output as i64 - 1) * axis.stride as i64 + axis.window as i64 - axis.input as i64) / 2
}

/// The parts of images that a filter is multiplied by.
struct Patches {
    rows: Axis,
    columns: Axis,
    depth: usize,
    offsets: [i64; 2],
    outside: i32,
}

impl Patches {
    fn size(&self) -> usize {
        self.rows.window * self.columns.window * self.depth
    }

    /// Whether patches are the pixels of the images, one after the other.
    fn are_pixels(&self) -> bool {
        [self.rows, self.columns].iter().all(|axis| axis.window == 1 && axis.stride == 1 && axis.output == axis.input)
    }

    /// Which image a patch is of, and where its first row and column are.
    fn start(&self, patch: usize) -> (usize, i64, i64) {
        let (column, row) = (patch % self.columns.output, patch / self.columns.output);
        let [top, left] = [(row % self.rows.output, self.rows.stride, 0), (column, self.columns.stride, 1)]
            .map(|(place, stride, axis)| (place * stride) as i64 - self.offsets[axis]);
        (row / self.rows.output, top, left)
    }

    /// Where each pixel of a patch lies, or `None` outside of the image.
    fn places(&self, patch: usize) -> impl Iterator<Item = Option<usize>> {
        let (rows, columns) = (self.rows, self.columns);
        let (image, top, left) = self.start(patch);
        (0..rows.window as i64).flat_map(move |y| {
            (0..columns.window as i64).map(move |x| {
                let (y, x) = (usize::try_from(top + y).ok()?, usize::try_from(left + x).ok()?);
                (y < rows.input && x < columns.input).then_some((image * rows.input + y) * columns.input + x)
            })
        })
    }

    /// The elements of a patch.
    fn gather(&self, patch: usize, bytes: &[u8], target: &mut [u8]) {
        let (width, depth) = (self.columns.window, self.depth);
        let (image, top, left) = self.start(patch);
        // Pixels of each row before the image, and all but those after it.
        let before = (-left).clamp(0, width as i64) as usize;
        let end = (self.columns.input as i64 - left).clamp(before as i64, width as i64) as usize;
        for (y, target) in (top..).zip(target.chunks_mut(width * depth)) {
            match usize::try_from(y) {
                Ok(y) if y < self.rows.input && before < end => {
                    let start = (image * self.rows.input + y) * self.columns.input + (left + before as i64) as usize;
                    target[..before * depth].fill(self.outside as u8);
                    target[before * depth..end * depth]
                        .copy_from_slice(&bytes[start * depth..][..(end - before) * depth]);
                    target[end * depth..].fill(self.outside as u8);
                }
                _ => target.fill(self.outside as u8),
            }
        }
    }

    /// The convolution of images whose zero no byte stands for.
    fn directly(&self, ctx: &RawContext<'_>, bytes: &[u8], filter: Matrix<'_, u8>, zero: i32, target: &mut [i32]) {
        let features = filter.row_stride;
        ctx.parallel_chunks(target, features, self.size(), |first, target| {
            for (patch, target) in target.chunks_mut(features).enumerate() {
                target.fill(0);
                for (index, place) in self.places(first / features + patch).enumerate() {
                    let Some(place) = place else { continue };
                    for channel in 0..self.depth {
                        let value = i32::from(bytes[place * self.depth + channel]).wrapping_sub(self.outside);
                        let weights = &filter.data[(index * self.depth + channel) * features..][..features];
                        for (target, &weight) in target.iter_mut().zip(weights) {
                            *target = target.wrapping_add(value.wrapping_mul(i32::from(weight).wrapping_sub(zero)));
                        }
                    }
                }
            }
        });
    }
}

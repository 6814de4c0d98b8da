//! UniformQuantizedConvolution and UniformQuantizedConvolutionHybrid.

use bytemuck::cast_slice;
use kernlink::dtype::{Pod, QInt8, QInt32};
use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_kernels_common::gemm::Matrix;
use kernlink_macros::register_kernel;
use kernlink_ops::{
    Dimensions, UniformConvolution, UniformGeometry, UniformQuantizedConvolution, UniformQuantizedConvolutionHybrid,
};

use crate::product::{Right, multiply};
use crate::uniform::{Scales, bounds};
use crate::uniform_product::{asymmetric, ways_of_products};

/// The attrs of a node.
struct Node {
    convolution: UniformConvolution,
    axes: [i64; 2],
    bounds: [i32; 2],
}

impl KernelState for Node {
    fn new(ctx: &RawConstruction<'_>) -> Result<Node> {
        let convolution = UniformConvolution::new(ctx.attrs)?;
        let has_output = ctx.attrs.get("output_quantization_axis").is_some();
        if !has_output {
            return Ok(Node { convolution, axes: [ctx.attrs.required("rhs_quantization_axis")?, -1], bounds: [0, 0] });
        }
        let lhs: i64 = ctx.attrs.required("lhs_quantization_axis")?;
        ensure!(lhs == -1, InvalidArgument, "lhs_quantization_axis Attr must be -1 (per-tensor), not {lhs}");
        Ok(Node {
            convolution,
            axes: [ctx.attrs.required("rhs_quantization_axis")?, ctx.attrs.required("output_quantization_axis")?],
            bounds: bounds(
                ctx.attrs.required("output_quantization_min_val")?,
                ctx.attrs.required("output_quantization_max_val")?,
            )?,
        })
    }
}

/// Elements between neighbours along each dimension.
fn strides(shape: &Shape) -> Vec<usize> {
    let mut strides = vec![1; shape.rank()];
    for axis in (0..shape.rank().saturating_sub(1)).rev() {
        strides[axis] = strides[axis + 1] * shape[axis + 1];
    }
    strides
}

/// Elements of patches that are multiplied at a time.
const PATCHES: usize = 1 << 20;

/// Where the elements of a tensor lie.
struct Layout {
    batch: usize,
    feature: usize,
    spatial: Vec<usize>,
}

impl Layout {
    fn new(shape: &Shape, dimensions: &Dimensions) -> Layout {
        let strides = strides(shape);
        Layout {
            batch: strides[dimensions.batch],
            feature: strides[dimensions.feature],
            spatial: dimensions.spatial.iter().map(|&dim| strides[dim]).collect(),
        }
    }
}

/// A convolution of numbers.
struct Convolved<'a> {
    geometry: &'a UniformGeometry,
    /// Features of the input, in as many groups.
    input: Layout,
    output: Layout,
    /// Positions of the output.
    positions: usize,
    /// Elements of a filter along space.
    window: usize,
}

/// The place along each dimension of space.
fn unravelled(mut index: usize, sizes: impl DoubleEndedIterator<Item = usize>, target: &mut [usize]) {
    for (target, size) in target.iter_mut().rev().zip(sizes.rev()) {
        *target = index % size;
        index /= size;
    }
}

impl Convolved<'_> {
    fn sizes_out(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.geometry.space.iter().map(|space| space.output.max(0) as usize)
    }

    /// The numbers of the input that the filter meets at a position, `None` outside of the input.
    fn gather(&self, numbers: &[i8], start: usize, position: usize, outside: i8, target: &mut [i8]) {
        let space = &self.geometry.space;
        let mut place = vec![0; space.len()];
        let mut tap = vec![0; space.len()];
        unravelled(position, self.sizes_out(), &mut place);
        for window in 0..self.window {
            unravelled(window, space.iter().map(|space| space.filter), &mut tap);
            let mut at = Some(start);
            for (axis, space) in space.iter().enumerate() {
                let found = (place[axis] * space.stride + tap[axis] * space.filter_step).checked_sub(space.before);
                let found = found.filter(|place| place.is_multiple_of(space.input_step));
                let found = found.map(|place| place / space.input_step).filter(|&place| place < space.input);
                at = at.zip(found).map(|(at, place)| at + place * self.input.spatial[axis]);
            }
            for feature in 0..self.geometry.depth {
                target[feature * self.window + window] =
                    at.map_or(outside, |at| numbers[at + feature * self.input.feature]);
            }
        }
    }

    /// All sums, written by `put` at the place in the output, with the batch of the input and the feature.
    fn run<T: Pod>(
        &self,
        ctx: &RawContext<'_>,
        numbers: &[i8],
        filter: (&[i8], Layout),
        zeros: (&(dyn Fn(usize) -> i32 + Sync), &dyn Fn(usize) -> i32),
        output: &mut [T],
        put: impl Fn(i32, usize, usize) -> T,
    ) -> Result<()> {
        let g = self.geometry;
        let (depth, size) = (g.depth, g.depth * self.window);
        let (of_input, of_filter) = zeros;
        if output.is_empty() {
            return Ok(());
        }
        let mut matrix: Vec<i8> = scratch::zeros(size.saturating_mul(g.features))?;
        let mut tap = vec![0; g.space.len()];
        for window in 0..self.window {
            unravelled(window, g.space.iter().map(|space| space.filter), &mut tap);
            let along: usize = tap.iter().zip(&filter.1.spatial).map(|(&tap, &stride)| tap * stride).sum();
            for inner in 0..depth {
                for feature in 0..g.features {
                    let from = along + inner * filter.1.batch + feature * filter.1.feature;
                    matrix[(inner * self.window + window) * g.features + feature] = filter.0[from];
                }
            }
        }
        let together = (PATCHES / size.max(1)).clamp(1, self.positions);
        let mut buffer: Vec<i8> = scratch::zeros(together.saturating_mul(size))?;
        let mut place = vec![0; g.space.len()];
        // Features that belong to one group of either kind.
        let (per_feature_group, per_batch_group) = (g.features / g.feature_groups, g.features / g.batch_groups);
        let mut first = 0;
        while first < g.features {
            let end = ((first / per_feature_group + 1) * per_feature_group)
                .min((first / per_batch_group + 1) * per_batch_group);
            let count = end - first;
            let right = Matrix { data: &matrix[first..], row_stride: g.features, column_stride: 1 };
            let of_columns = scratch::collected((first..end).map(of_filter))?;
            let right = Right::new(ctx, together, [size, count], right, of_columns)?;
            let mut sums: Vec<i32> = scratch::zeros(together.saturating_mul(count))?;
            for batch in 0..g.batches {
                let from = first / per_batch_group * g.batches + batch;
                let start = from * self.input.batch + first / per_feature_group * depth * self.input.feature;
                let zero = of_input(from);
                for position in (0..self.positions).step_by(together) {
                    let here = together.min(self.positions - position);
                    ctx.parallel_chunks(&mut buffer[..here * size], size.max(1), 4, |at, buffer| {
                        for (index, target) in buffer.chunks_mut(size.max(1)).enumerate() {
                            self.gather(numbers, start, position + at / size.max(1) + index, zero as i8, target);
                        }
                    });
                    let sums = &mut sums[..here * count];
                    multiply(ctx, here, Matrix::rows(&buffer, size), |_| zero, &right, sums)?;
                    for (index, sums) in sums.chunks(count).enumerate() {
                        unravelled(position + index, self.sizes_out(), &mut place);
                        let along: usize =
                            place.iter().zip(&self.output.spatial).map(|(&place, &stride)| place * stride).sum();
                        let to = along + batch * self.output.batch;
                        for (feature, &sum) in (first..end).zip(sums) {
                            output[to + feature * self.output.feature] = put(sum, from, feature);
                        }
                    }
                }
            }
            first = end;
        }
        Ok(())
    }
}

/// Fails unless an axis is -1 or the dimension of the features.
fn ensure_features(axis: i64, feature: usize, name: &str) -> Result<()> {
    ensure!(
        axis == -1 || usize::try_from(axis) == Ok(feature),
        InvalidArgument,
        "{name}_quantization_axis must be -1 (per-tensor) or {feature}, the dimension of the features (per-channel), not {axis}"
    );
    Ok(())
}

fn convolved<'a>(geometry: &'a UniformGeometry, input: &Shape, output: &Shape) -> Convolved<'a> {
    Convolved {
        input: Layout::new(input, &geometry.input),
        output: Layout::new(output, &geometry.output),
        positions: geometry.space.iter().map(|space| space.output.max(0) as usize).product(),
        window: geometry.space.iter().map(|space| space.filter).product(),
        geometry,
    }
}

#[register_kernel(device = Cpu, Tin = [QInt8], Tout = [QInt32])]
fn convolution(node: &Node, ctx: &mut KernelContext<'_, UniformQuantizedConvolution>) -> Result<()> {
    let (lhs, rhs) = (ctx.input_at(0)?.clone(), ctx.input_at(1)?.clone());
    let geometry = node.convolution.geometry(lhs.shape(), rhs.shape())?;
    let shape = geometry.output_shape()?;
    let of_lhs = Scales::new(ctx, 2, lhs.shape(), -1)?;
    ensure_features(node.axes[0], geometry.filter.feature, "rhs")?;
    ensure_features(node.axes[1], geometry.output.feature, "output")?;
    let of_rhs = Scales::new(ctx, 4, rhs.shape(), node.axes[0])?;
    let of_output = Scales::new(ctx, 6, &shape, node.axes[1])?;
    for (scales, name) in [(&of_lhs, "lhs"), (&of_rhs, "rhs"), (&of_output, "output")] {
        scales.ensure_positive(name)?;
    }
    let ways = ways_of_products(of_lhs.scale(0), &of_rhs, &of_output, geometry.features, node.bounds)?;
    let mut output = ctx.allocate_output_at(0, shape.clone())?;
    let filter = (cast_slice::<QInt8, i8>(rhs.as_slice()?), Layout::new(rhs.shape(), &geometry.filter));
    let numbers = cast_slice::<QInt8, i8>(lhs.as_slice()?);
    let zeros: (&(dyn Fn(usize) -> i32 + Sync), &dyn Fn(usize) -> i32) =
        (&|_| of_lhs.zero(0), &|feature| of_rhs.zero(feature));
    let whole = convolved(&geometry, lhs.shape(), &shape);
    whole.run(ctx, numbers, filter, zeros, output.as_mut_slice::<QInt32>()?, |sum, _, feature| {
        QInt32(ways[if ways.len() == 1 { 0 } else { feature }].number(sum))
    })?;
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, Tlhs = [f32], Trhs = [QInt8], Tout = [f32])]
fn convolution_hybrid(node: &Node, ctx: &mut KernelContext<'_, UniformQuantizedConvolutionHybrid>) -> Result<()> {
    let (lhs, rhs) = (ctx.input_at(0)?.clone(), ctx.input_at(1)?.clone());
    let geometry = node.convolution.geometry(lhs.shape(), rhs.shape())?;
    let shape = geometry.output_shape()?;
    ensure_features(node.axes[0], geometry.filter.feature, "rhs")?;
    let of_rhs = Scales::new(ctx, 2, rhs.shape(), node.axes[0])?;
    of_rhs.ensure_positive("rhs")?;
    // The batch comes first, so that each is quantized as a whole.
    let batches = lhs.shape()[geometry.input.batch];
    let values = lhs.as_slice::<f32>()?;
    let stride = strides(lhs.shape())[geometry.input.batch];
    let each = values.len() / batches.max(1);
    let mut numbers: Vec<i8> = scratch::zeros(values.len())?;
    let mut ways: Vec<(f32, i32)> = scratch::filled((1.0, 0), batches)?;
    let mut of_batch: Vec<f32> = scratch::zeros(each)?;
    let mut quantized: Vec<i8> = scratch::zeros(each)?;
    for (batch, way) in ways.iter_mut().enumerate() {
        // Runs of `stride` elements belong to one batch.
        let places = || (0..each).map(|index| (index / stride * batches + batch) * stride + index % stride);
        for (target, place) in of_batch.iter_mut().zip(places()) {
            *target = values[place];
        }
        *way = asymmetric(&of_batch, &mut quantized);
        for (&number, place) in quantized.iter().zip(places()) {
            numbers[place] = number;
        }
    }
    let mut output = ctx.allocate_output_at(0, shape.clone())?;
    let filter = (cast_slice::<QInt8, i8>(rhs.as_slice()?), Layout::new(rhs.shape(), &geometry.filter));
    let zeros: (&(dyn Fn(usize) -> i32 + Sync), &dyn Fn(usize) -> i32) =
        (&|batch| ways[batch].1, &|feature| of_rhs.zero(feature));
    let whole = convolved(&geometry, lhs.shape(), &shape);
    whole.run(ctx, &numbers, filter, zeros, output.as_mut_slice::<f32>()?, |sum, batch, feature| {
        sum as f32 * ways[batch].0 * of_rhs.scale(feature)
    })?;
    ctx.set_output_at(0, output)
}

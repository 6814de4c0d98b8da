//! Between space, depth and batch: DepthToSpace, SpaceToDepth, SpaceToBatchND, BatchToSpaceND.

use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::integers::{checked_shape, pairs, vector};
use super::strided::StridedCopy;

/// The side of the squares that become depth, or come from it.
struct Block(usize);

impl Block {
    fn new(size: i64, data_format: &str) -> Result<Block> {
        ensure!((2..=46_340).contains(&size), InvalidArgument, "Block size should be > 1 and <= 46340 but was: {size}");
        ensure!(data_format == "NHWC", InvalidArgument, "Only NHWC data_format supported on CPU. Got {data_format}");
        Ok(Block(size as usize))
    }

    /// Moves depth to space, or space to depth. `height`, `width` and `depth` are the smaller ones of the two tensors.
    fn copy(&self, ctx: &RawContext<'_>, to_space: bool) -> Result<Tensor> {
        let input = ctx.input_at(0)?;
        let [batch, height, width, channels] = *input.shape().dims() else {
            bail!(InvalidArgument, "Input rank should be 4 instead of {}", input.rank());
        };
        let side = self.0;
        let (height, width, depth) = if to_space {
            ensure!(
                channels.is_multiple_of(side * side),
                InvalidArgument,
                "Input depth dimension {channels} should be divisible by: {}",
                side * side
            );
            (height, width, channels / (side * side))
        } else {
            ensure!(
                height.is_multiple_of(side) && width.is_multiple_of(side),
                InvalidArgument,
                "Image width {width} and height {height} should be divisible by block_size: {side}"
            );
            (height / side, width / side, channels)
        };
        let deep = [Some(batch), Some(height), Some(width), depth.checked_mul(side * side)];
        let wide = [Some(batch), height.checked_mul(side), width.checked_mul(side), Some(depth)];
        let (deep, wide) = (checked_shape(deep)?, checked_shape(wide)?);
        let mut output = ctx.allocate_output_at(0, if to_space { &wide } else { &deep })?;
        if output.num_elements() == 0 {
            return Ok(output);
        }
        let (d, w) = (deep.strides(), wide.strides());
        let mut copy = StridedCopy::new(0, 0);
        for (count, in_deep, in_wide) in [
            (batch, d[0], w[0]),
            (height, d[1], w[1] * side),
            (width, d[2], w[2] * side),
            (side, side * depth, w[1]),
            (side, depth, w[2]),
            (depth, 1, 1),
        ] {
            copy = if to_space {
                copy.step(count, in_wide, in_deep as isize)
            } else {
                copy.step(count, in_deep, in_wide as isize)
            };
        }
        copy.run(ctx, &mut output, input)?;
        Ok(output)
    }
}

struct DepthToSpaceKernel(Block);

#[register_kernel(device = Cpu, T = [
    bfloat16, bool, complex128, complex64, double, float, half, int16, int32, int64, int8, resource, string, uint16,
    uint32, uint64, uint8, variant,
])]
impl OpKernel<ops::DepthToSpace> for DepthToSpaceKernel {
    fn new(ctx: &KernelConstruction<'_, ops::DepthToSpace>) -> Result<Self> {
        Ok(Self(Block::new(ctx.attrs().block_size, &ctx.attrs().data_format)?))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::DepthToSpace>) -> Result<()> {
        let output = self.0.copy(ctx, true)?;
        ctx.set_output(ops::DepthToSpace::OUTPUT, output)
    }
}

struct SpaceToDepthKernel(Block);

#[register_kernel(device = Cpu, T = [
    bfloat16, bool, complex128, complex64, double, float, half, int16, int32, int64, int8, qint8, resource, string,
    uint16, uint32, uint64, uint8, variant,
])]
impl OpKernel<ops::SpaceToDepth> for SpaceToDepthKernel {
    fn new(ctx: &KernelConstruction<'_, ops::SpaceToDepth>) -> Result<Self> {
        Ok(Self(Block::new(ctx.attrs().block_size, &ctx.attrs().data_format)?))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::SpaceToDepth>) -> Result<()> {
        let output = self.0.copy(ctx, false)?;
        ctx.set_output(ops::SpaceToDepth::OUTPUT, output)
    }
}

/// One blocked dimension: the samples of every `block`-th place, beginning before the image by `before`.
#[derive(Clone, Copy)]
struct BlockedDim {
    block: usize,
    before: usize,
    /// Size of the image.
    size: usize,
    /// Size in the tensor whose batches are the blocks.
    blocks: usize,
    image_stride: usize,
    batch_stride: usize,
}

impl BlockedDim {
    /// For place `offset` in the blocks: how many samples are inside the image, and the first of them in the tensor of
    /// batches and in the image.
    fn inside(&self, offset: usize) -> (usize, usize, usize) {
        let first = self.before.saturating_sub(offset).div_ceil(self.block);
        let end = (self.before + self.size).saturating_sub(offset).div_ceil(self.block).min(self.blocks);
        if end <= first {
            return (0, 0, 0);
        }
        (end - first, first, first * self.block + offset - self.before)
    }
}

/// The inputs that SpaceToBatchND and BatchToSpaceND have in common: block sizes, and paddings or crops.
fn blocks(ctx: &RawContext<'_>, name: &str) -> Result<(Vec<usize>, Vec<[usize; 2]>, usize)> {
    let input = ctx.input_at(0)?;
    let sizes = vector(ctx.input_at(1)?, "block_shape")?;
    ensure!(
        input.rank() > sizes.len(),
        InvalidArgument,
        "input rank should be >= {} instead of {}",
        1 + sizes.len(),
        input.rank()
    );
    let edges = pairs(ctx.input_at(2)?, sizes.len(), name)?;
    let mut product = 1usize;
    let mut blocks = Vec::with_capacity(sizes.len());
    for &size in &sizes {
        ensure!(size >= 1, InvalidArgument, "All values in block_shape must be positive, got {sizes:?}");
        product = product
            .checked_mul(size as usize)
            .filter(|&product| product <= i64::MAX as usize)
            .ok_or_else(|| Error::invalid_argument(format!("Product of block sizes {sizes:?} overflows")))?;
        blocks.push(size as usize);
    }
    let mut widths = Vec::with_capacity(edges.len());
    for edge in &edges {
        let (Ok(before), Ok(after)) = (usize::try_from(edge[0]), usize::try_from(edge[1])) else {
            bail!(InvalidArgument, "{name} must be non-negative, not {edges:?}");
        };
        widths.push([before, after]);
    }
    Ok((blocks, widths, product))
}

/// Copies between an image of `batch` samples and a tensor whose batches are `image` samples for each place in the
/// blocks.
struct SpaceBatch<'a> {
    ctx: &'a RawContext<'a>,
    source: &'a Tensor,
    dims: &'a [BlockedDim],
    batch: usize,
    /// Elements of the image, and of the tensor of batches, in one batch.
    image_batch: usize,
    batch_batch: usize,
    /// Elements that belong to one place.
    depth: usize,
    to_batch: bool,
}

impl SpaceBatch<'_> {
    /// Copies the places from dimension `axis` on; `place` numbers what came before, `first` are the first elements in
    /// the tensor of batches and in the image.
    fn copy(&self, target: &mut Tensor, copy: StridedCopy, place: usize, first: [usize; 2], axis: usize) -> Result<()> {
        let step = |copy: StridedCopy, count: usize, batches: usize, image: usize| {
            if self.to_batch {
                copy.step(count, batches, image as isize)
            } else {
                copy.step(count, image, batches as isize)
            }
        };
        let Some(dim) = self.dims.get(axis) else {
            let batches = first[0] + place * self.batch * self.batch_batch;
            let copy = step(step(copy, self.batch, self.batch_batch, self.image_batch), self.depth, 1, 1);
            let (to, from) = if self.to_batch { (batches, first[1]) } else { (first[1], batches) };
            return copy.beginning_at(to, from).run(self.ctx, target, self.source);
        };
        for offset in 0..dim.block {
            let (count, in_batch, in_image) = dim.inside(offset);
            if count > 0 {
                let copy = step(copy.clone(), count, dim.batch_stride, dim.image_stride * dim.block);
                let first = [first[0] + in_batch * dim.batch_stride, first[1] + in_image * dim.image_stride];
                self.copy(target, copy, place * dim.block + offset, first, axis + 1)?;
            }
        }
        Ok(())
    }
}

/// The elements that belong to one place, of a tensor whose first dimensions are the batch and `blocked` others.
fn depth(shape: &Shape, blocked: usize) -> usize {
    shape[1 + blocked..].iter().product()
}

struct SpaceToBatchNdKernel;

#[register_kernel(
    device = Cpu,
    host_memory = ["block_shape", "paddings"],
    T = [bfloat16, double, float, half, int16, int32, int64, int8, uint16, uint32, uint64, uint8],
    Tblock_shape = [int32, int64],
    Tpaddings = [int32, int64],
)]
impl OpKernel<ops::SpaceToBatchND> for SpaceToBatchNdKernel {
    fn new(_: &KernelConstruction<'_, ops::SpaceToBatchND>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::SpaceToBatchND>) -> Result<()> {
        let (blocks, paddings, product) = blocks(ctx, "paddings")?;
        let input = ctx.input(ops::SpaceToBatchND::INPUT)?;
        let image = input.shape();
        let mut dims = vec![image[0].checked_mul(product)];
        for (axis, (&block, &[before, after])) in blocks.iter().zip(&paddings).enumerate() {
            let padded = image[axis + 1].checked_add(before).and_then(|size| size.checked_add(after));
            ensure!(
                padded.is_none_or(|padded| padded.is_multiple_of(block)),
                InvalidArgument,
                "padded_shape[{axis}] ({} with paddings {before} and {after}) is not divisible by block_shape[{axis}]={block}",
                image[axis + 1]
            );
            dims.push(padded.map(|padded| padded / block));
        }
        dims.extend(image[1 + blocks.len()..].iter().map(|&dim| Some(dim)));
        let shape = checked_shape(dims)?;
        let mut output = if paddings.iter().all(|&padding| padding == [0, 0]) {
            ctx.allocate_output(ops::SpaceToBatchND::OUTPUT, shape)?
        } else {
            Tensor::zeros(input.dtype(), shape)?
        };
        if output.num_elements() > 0 && input.num_elements() > 0 {
            let (to, from) = (output.shape().strides(), image.strides());
            let dims: Vec<BlockedDim> = (0..blocks.len())
                .map(|axis| BlockedDim {
                    block: blocks[axis],
                    before: paddings[axis][0],
                    size: image[axis + 1],
                    blocks: output.shape()[axis + 1],
                    image_stride: from[axis + 1],
                    batch_stride: to[axis + 1],
                })
                .collect();
            let copies = SpaceBatch {
                ctx,
                source: input,
                dims: &dims,
                batch: image[0],
                image_batch: from[0],
                batch_batch: to[0],
                depth: depth(image, blocks.len()),
                to_batch: true,
            };
            copies.copy(&mut output, StridedCopy::new(0, 0), 0, [0, 0], 0)?;
        }
        ctx.set_output(ops::SpaceToBatchND::OUTPUT, output)
    }
}

struct BatchToSpaceNdKernel;

#[register_kernel(
    device = Cpu,
    host_memory = ["block_shape", "crops"],
    T = [bfloat16, double, float, half, int16, int32, int64, int8, uint16, uint32, uint64, uint8],
    Tblock_shape = [int32, int64],
    Tcrops = [int32, int64],
)]
impl OpKernel<ops::BatchToSpaceND> for BatchToSpaceNdKernel {
    fn new(_: &KernelConstruction<'_, ops::BatchToSpaceND>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::BatchToSpaceND>) -> Result<()> {
        let (blocks, crops, product) = blocks(ctx, "crops")?;
        let input = ctx.input(ops::BatchToSpaceND::INPUT)?;
        let batches = input.shape();
        ensure!(
            batches[0].is_multiple_of(product),
            InvalidArgument,
            "Input batch dimension ({}) is not divisible by product of block sizes ({product})",
            batches[0]
        );
        let mut dims = vec![Some(batches[0] / product)];
        for (axis, (&block, &[before, after])) in blocks.iter().zip(&crops).enumerate() {
            let cropped =
                batches[axis + 1].checked_mul(block).and_then(|size| size.checked_sub(before)?.checked_sub(after));
            ensure!(
                cropped.is_some(),
                InvalidArgument,
                "cropped_shape[{axis}] ({} times {block} less {before} and {after}) must be non-negative",
                batches[axis + 1]
            );
            dims.push(cropped);
        }
        dims.extend(batches[1 + blocks.len()..].iter().map(|&dim| Some(dim)));
        let mut output = ctx.allocate_output(ops::BatchToSpaceND::OUTPUT, checked_shape(dims)?)?;
        if output.num_elements() > 0 {
            let (to, from) = (output.shape().strides(), batches.strides());
            let dims: Vec<BlockedDim> = (0..blocks.len())
                .map(|axis| BlockedDim {
                    block: blocks[axis],
                    before: crops[axis][0],
                    size: output.shape()[axis + 1],
                    blocks: batches[axis + 1],
                    image_stride: to[axis + 1],
                    batch_stride: from[axis + 1],
                })
                .collect();
            let copies = SpaceBatch {
                ctx,
                source: input,
                dims: &dims,
                batch: output.shape()[0],
                image_batch: to[0],
                batch_batch: from[0],
                depth: depth(batches, blocks.len()),
                to_batch: false,
            };
            copies.copy(&mut output, StridedCopy::new(0, 0), 0, [0, 0], 0)?;
        }
        ctx.set_output(ops::BatchToSpaceND::OUTPUT, output)
    }
}

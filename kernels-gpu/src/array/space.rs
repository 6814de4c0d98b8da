//! Between space, depth and batch: DepthToSpace, SpaceToDepth, SpaceToBatchND, BatchToSpaceND.

use kernlink::error::{Error, Result};
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::{bail, ensure};

use super::fill::fill;
use super::integers::{checked_shape, vector, widths};
use super::mover::Mover;
use super::strided::StridedCopy;

/// The side of the squares that become depth, or come from it.
pub(super) struct Block(usize);

pub(super) fn block(ctx: &RawConstruction<'_>) -> Result<Block> {
    let size: i64 = ctx.attrs.required("block_size")?;
    ensure!((2..=46_340).contains(&size), InvalidArgument, "Block size should be > 1 and <= 46340 but was: {size}");
    let data_format: String = ctx.attrs.required("data_format")?;
    ensure!(data_format == "NHWC", InvalidArgument, "Only NHWC data_format supported. Got {data_format}");
    Ok(Block(size as usize))
}

impl Block {
    /// Moves depth to space, or space to depth.
    fn copy(&self, on: &Mover<'_>, ctx: &mut RawContext<'_>, to_space: bool) -> Result<()> {
        let input = ctx.input_at(0)?;
        let [batch, height, width, channels] = *input.shape().dims() else {
            bail!(InvalidArgument, "Input rank should be 4 instead of {}", input.rank());
        };
        let side = self.0;
        // The smaller ones of the two tensors.
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
        let output = on.output(ctx, 0, if to_space { &wide } else { &deep })?;
        if output.num_elements() > 0 {
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
                let (to, from) = if to_space { (in_wide, in_deep) } else { (in_deep, in_wide) };
                copy = copy.step(count, to, from as isize);
            }
            copy.run(on, &output, input)?;
        }
        ctx.set_output_at(0, output)
    }
}

pub(super) fn depth_to_space(block: &Block, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    block.copy(on, ctx, true)
}

pub(super) fn space_to_depth(block: &Block, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    block.copy(on, ctx, false)
}

/// The block sizes, their product, and the paddings or crops.
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
    let edges = widths(ctx.input_at(2)?, sizes.len(), name)?;
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
    Ok((blocks, edges, product))
}

/// One of the dimensions that blocks are cut from.
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

    /// Whether the blocks are the whole image and nothing more, so that their places are a loop like any other.
    fn is_exact(&self) -> bool {
        self.before == 0 && self.size == self.block * self.blocks
    }
}

/// Copies between an image and a tensor whose batches are the image's samples for each place in the blocks.
struct SpaceBatch<'a> {
    on: &'a Mover<'a>,
    target: &'a kernlink::tensor::Tensor,
    source: &'a kernlink::tensor::Tensor,
    dims: Vec<BlockedDim>,
    /// The distance in the tensor of batches between places in the blocks.
    place_stride: usize,
    to_batch: bool,
}

impl SpaceBatch<'_> {
    fn step(&self, copy: StridedCopy, count: usize, batches: usize, image: usize) -> StridedCopy {
        let (to, from) = if self.to_batch { (batches, image) } else { (image, batches) };
        copy.step(count, to, from as isize)
    }

    /// Copies the places from dimension `axis` on, one place of a dimension that is not exact at a time. `scale` is how
    /// many places there are in the dimensions behind it; `first` are the first elements in the tensor of batches and
    /// in the image.
    fn copy(&self, copy: StridedCopy, first: [usize; 2], axis: usize) -> Result<()> {
        let Some(dim) = self.dims.get(axis) else {
            let (to, from) = if self.to_batch { (first[0], first[1]) } else { (first[1], first[0]) };
            return copy.beginning_at(to, from).run(self.on, self.target, self.source);
        };
        let behind: usize = self.dims[axis + 1..].iter().map(|dim| dim.block).product();
        let place_stride = self.place_stride * behind;
        if dim.is_exact() {
            let copy = self.step(copy, dim.blocks, dim.batch_stride, dim.image_stride * dim.block);
            return self.copy(self.step(copy, dim.block, place_stride, dim.image_stride), first, axis + 1);
        }
        for offset in 0..dim.block {
            let (count, in_batch, in_image) = dim.inside(offset);
            if count > 0 {
                let copy = self.step(copy.clone(), count, dim.batch_stride, dim.image_stride * dim.block);
                let batch = first[0] + in_batch * dim.batch_stride + offset * place_stride;
                self.copy(copy, [batch, first[1] + in_image * dim.image_stride], axis + 1)?;
            }
        }
        Ok(())
    }
}

/// The elements that belong to one place, of a tensor whose first dimensions are the batch and `blocked` others.
fn depth(shape: &Shape, blocked: usize) -> usize {
    shape[1 + blocked..].iter().product()
}

pub(super) fn space_to_batch(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let (blocks, paddings, product) = blocks(ctx, "paddings")?;
    let input = ctx.input_at(0)?;
    let image = input.shape();
    let mut dims = vec![image[0].checked_mul(product)];
    for (axis, (&block, &[before, after])) in blocks.iter().zip(&paddings).enumerate() {
        let padded = image[axis + 1].checked_add(before).and_then(|size| size.checked_add(after));
        ensure!(
            padded.is_none_or(|padded| padded.is_multiple_of(block)),
            InvalidArgument,
            "padded_shape[{axis}] ({} with paddings {before} and {after}) is not divisible by \
             block_shape[{axis}]={block}",
            image[axis + 1]
        );
        dims.push(padded.map(|padded| padded / block));
    }
    dims.extend(image[1 + blocks.len()..].iter().map(|&dim| Some(dim)));
    let output = on.output(ctx, 0, checked_shape(dims)?)?;
    if paddings.iter().any(|&padding| padding != [0, 0]) {
        fill(on, &output, [0; 2])?;
    }
    if output.num_elements() > 0 && input.num_elements() > 0 {
        let (to, from) = (output.shape().strides(), image.strides());
        let dim = |axis: usize| BlockedDim {
            block: blocks[axis],
            before: paddings[axis][0],
            size: image[axis + 1],
            blocks: output.shape()[axis + 1],
            image_stride: from[axis + 1],
            batch_stride: to[axis + 1],
        };
        let copies = SpaceBatch {
            on,
            target: &output,
            source: input,
            dims: (0..blocks.len()).map(dim).collect(),
            place_stride: image[0] * to[0],
            to_batch: true,
        };
        let copy = copies.step(StridedCopy::new(0, 0), image[0], to[0], from[0]);
        copies.copy(copies.step(copy, depth(image, blocks.len()), 1, 1), [0, 0], 0)?;
    }
    ctx.set_output_at(0, output)
}

pub(super) fn batch_to_space(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let (blocks, crops, product) = blocks(ctx, "crops")?;
    let input = ctx.input_at(0)?;
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
    let output = on.output(ctx, 0, checked_shape(dims)?)?;
    if output.num_elements() > 0 {
        let (to, from) = (output.shape().strides(), batches.strides());
        let dim = |axis: usize| BlockedDim {
            block: blocks[axis],
            before: crops[axis][0],
            size: output.shape()[axis + 1],
            blocks: batches[axis + 1],
            image_stride: to[axis + 1],
            batch_stride: from[axis + 1],
        };
        let copies = SpaceBatch {
            on,
            target: &output,
            source: input,
            dims: (0..blocks.len()).map(dim).collect(),
            place_stride: output.shape()[0] * from[0],
            to_batch: false,
        };
        let copy = copies.step(StridedCopy::new(0, 0), output.shape()[0], from[0], to[0]);
        copies.copy(copies.step(copy, depth(batches, blocks.len()), 1, 1), [0, 0], 0)?;
    }
    ctx.set_output_at(0, output)
}

//! Between space, depth and batch: blocks of an image that become channels, or batches.

use super::integers::{checked_shape, pairs, vector};
use super::rearranged::Rearranged;
use super::strided::StridedCopy;
use kernlink::device::DeviceType;
use kernlink::error::{Error, Result};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};

/// The side of the squares that become depth, or come from it.
#[derive(Clone, Copy, Debug)]
pub struct Block(usize);

impl Block {
    /// What the attrs say to a kernel for a device.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for sizes and formats that TensorFlow does not have.
    pub fn new(size: i64, data_format: &str, device: DeviceType) -> Result<Block> {
        ensure!((2..=46_340).contains(&size), InvalidArgument, "Block size should be > 1 and <= 46340 but was: {size}");
        ensure!(
            data_format == "NHWC",
            InvalidArgument,
            "Only NHWC data_format supported on {device}. Got {data_format}"
        );
        Ok(Block(size as usize))
    }

    /// Images whose depth becomes space, or whose space becomes depth.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they are no images, or the squares do not fill them.
    pub fn moved(&self, input: &Shape, to_space: bool) -> Result<Rearranged> {
        let [batch, height, width, channels] = *input.dims() else {
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
        if deep.num_elements() == 0 {
            return Ok(Rearranged::same(if to_space { wide } else { deep }));
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
            let (to, from) = if to_space { (in_wide, in_deep) } else { (in_deep, in_wide) };
            copy = copy.step(count, to, from as isize);
        }
        Ok(Rearranged::copied(if to_space { wide } else { deep }, copy))
    }
}

/// The block sizes, the paddings or crops, and the product of the block sizes.
fn blocks(
    input: &Shape,
    block_shape: &Tensor,
    edges: &Tensor,
    name: &str,
) -> Result<(Vec<usize>, Vec<[usize; 2]>, usize)> {
    let sizes = vector(block_shape, "block_shape")?;
    ensure!(
        input.rank() > sizes.len(),
        InvalidArgument,
        "input rank should be >= {} instead of {}",
        1 + sizes.len(),
        input.rank()
    );
    let edges = pairs(edges, sizes.len(), name)?;
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
    let width = |edge: &[i64; 2]| match (usize::try_from(edge[0]), usize::try_from(edge[1])) {
        (Ok(before), Ok(after)) => Ok([before, after]),
        _ => bail!(InvalidArgument, "{name} must be non-negative, not {edges:?}"),
    };
    let widths = edges.iter().map(width).collect::<Result<_>>()?;
    Ok((blocks, widths, product))
}

/// One of the dimensions that blocks are cut from.
#[derive(Clone, Copy, Debug)]
struct BlockedDim {
    block: usize,
    /// How far before the image the first block begins.
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
#[derive(Clone, Debug)]
pub struct Blocks {
    /// The output's shape.
    pub shape: Shape,
    /// Whether the copies leave elements of the output, which are zeros.
    pub has_gaps: bool,
    /// The steps that all copies have.
    copy: StridedCopy,
    dims: Vec<BlockedDim>,
    /// The distance in the tensor of batches between places in the blocks.
    place_stride: usize,
    to_batch: bool,
}

impl Blocks {
    /// The blocks of an image as batches.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the blocks do not fill the image with its paddings.
    pub fn of_image(image: &Shape, block_shape: &Tensor, paddings: &Tensor) -> Result<Blocks> {
        let (blocks, paddings, product) = blocks(image, block_shape, paddings, "paddings")?;
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
        let shape = checked_shape(dims)?;
        let has_gaps = paddings.iter().any(|&padding| padding != [0, 0]);
        Ok(Blocks { has_gaps, ..Blocks::new(image, &shape, &blocks, &paddings, true) })
    }

    /// The image of which batches are the blocks.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there are not as many batches, or the image is smaller than what is cut off.
    pub fn of_batches(batches: &Shape, block_shape: &Tensor, crops: &Tensor) -> Result<Blocks> {
        let (blocks, crops, product) = blocks(batches, block_shape, crops, "crops")?;
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
        Ok(Blocks::new(&checked_shape(dims)?, batches, &blocks, &crops, false))
    }

    fn new(image: &Shape, batches: &Shape, blocks: &[usize], edges: &[[usize; 2]], to_batch: bool) -> Blocks {
        let (in_image, in_batch) = (image.strides(), batches.strides());
        let dim = |axis: usize| BlockedDim {
            block: blocks[axis],
            before: edges[axis][0],
            size: image[axis + 1],
            blocks: batches[axis + 1],
            image_stride: in_image[axis + 1],
            batch_stride: in_batch[axis + 1],
        };
        let own = Blocks {
            shape: if to_batch { batches } else { image }.clone(),
            has_gaps: false,
            copy: StridedCopy::new(0, 0),
            dims: (0..blocks.len()).map(dim).collect(),
            place_stride: image[0].saturating_mul(in_batch[0]),
            to_batch,
        };
        let depth = image[1 + blocks.len()..].iter().product();
        let copy = own.step(StridedCopy::new(0, 0), image[0], in_batch[0], in_image[0]);
        Blocks { copy: own.step(copy, depth, 1, 1), ..own }
    }

    fn step(&self, copy: StridedCopy, count: usize, batches: usize, image: usize) -> StridedCopy {
        let (to, from) = if self.to_batch { (batches, image) } else { (image, batches) };
        copy.step(count, to, from as isize)
    }

    /// Calls `run` with each of the copies, which together make the output of the input.
    ///
    /// # Errors
    /// Those of `run`.
    pub fn copies(&self, run: &mut dyn FnMut(&StridedCopy) -> Result<()>) -> Result<()> {
        if self.copy.steps.iter().any(|step| step.count == 0) || self.shape.num_elements() == 0 {
            return Ok(());
        }
        self.copies_from(run, self.copy.clone(), [0, 0], 0)
    }

    /// The copies of the places from dimension `axis` on, one place of a dimension that is not exact at a time; `first`
    /// are the first elements in the tensor of batches and in the image.
    fn copies_from(
        &self,
        run: &mut dyn FnMut(&StridedCopy) -> Result<()>,
        copy: StridedCopy,
        first: [usize; 2],
        axis: usize,
    ) -> Result<()> {
        let Some(dim) = self.dims.get(axis) else {
            let (to, from) = if self.to_batch { (first[0], first[1]) } else { (first[1], first[0]) };
            return run(&copy.beginning_at(to, from));
        };
        let behind: usize = self.dims[axis + 1..].iter().map(|dim| dim.block).product();
        let place_stride = self.place_stride * behind;
        if dim.is_exact() {
            let copy = self.step(copy, dim.blocks, dim.batch_stride, dim.image_stride * dim.block);
            return self.copies_from(run, self.step(copy, dim.block, place_stride, dim.image_stride), first, axis + 1);
        }
        for offset in 0..dim.block {
            let (count, in_batch, in_image) = dim.inside(offset);
            if count > 0 {
                let copy = self.step(copy.clone(), count, dim.batch_stride, dim.image_stride * dim.block);
                let batch = first[0] + in_batch * dim.batch_stride + offset * place_stride;
                self.copies_from(run, copy, [batch, first[1] + in_image * dim.image_stride], axis + 1)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rearranged::Elements;
    use kernlink::device::CPU;

    #[test]
    fn depth_and_space_have_the_same_elements() {
        let block = Block::new(2, "NHWC", CPU).unwrap();
        let deep = block.moved(&Shape::from([1, 4, 6, 3]), false).unwrap();
        assert_eq!(deep.shape, Shape::from([1, 2, 3, 12]));
        assert!(matches!(deep.elements, Elements::Copied(_)));
        assert_eq!(block.moved(&deep.shape, true).unwrap().shape, Shape::from([1, 4, 6, 3]));
        assert!(block.moved(&Shape::from([1, 3, 6, 3]), false).is_err());
        assert!(block.moved(&Shape::from([1, 3, 6, 3]), true).is_err());
        assert!(Block::new(1, "NHWC", CPU).is_err());
        let error = Block::new(2, "NCHW", CPU).unwrap_err();
        assert_eq!(error.message(), "Only NHWC data_format supported on CPU. Got NCHW");
    }

    /// How often each element of the output is written, and how many copies there are.
    fn counts(blocks: &Blocks) -> (Vec<u32>, usize) {
        let (mut counts, mut copies) = (vec![0; blocks.shape.num_elements()], 0);
        let mut count = |copy: &StridedCopy| {
            copies += 1;
            for mut turn in 0..copy.steps.iter().map(|step| step.count).product::<usize>() {
                let mut to = copy.target;
                for step in &copy.steps {
                    to += turn % step.count * step.target;
                    turn /= step.count;
                }
                counts[to] += 1;
            }
            Ok(())
        };
        blocks.copies(&mut count).unwrap();
        (counts, copies)
    }

    #[test]
    fn copies_meet_each_element_once() {
        let vector = |values: &[i32]| Tensor::vector(values).unwrap();
        let edges = |values: &[i32]| Tensor::from_elements([values.len() / 2, 2], values).unwrap();
        let image = Shape::from([2, 4, 6, 3]);
        let exact = Blocks::of_image(&image, &vector(&[2, 3]), &edges(&[0; 4])).unwrap();
        assert_eq!(exact.shape, Shape::from([12, 2, 2, 3]));
        assert_eq!(counts(&exact), (vec![1; 144], 1));
        let padded = Blocks::of_image(&image, &vector(&[2, 3]), &edges(&[1, 1, 0, 0])).unwrap();
        assert!(padded.has_gaps && !exact.has_gaps);
        let (written, copies) = counts(&padded);
        assert_eq!((written.iter().sum::<u32>(), copies), (144, 2));
        assert!(written.iter().all(|&count| count <= 1));
        let cropped = Blocks::of_batches(&padded.shape, &vector(&[2, 3]), &edges(&[1, 1, 2, 0])).unwrap();
        assert_eq!(cropped.shape, Shape::from([2, 4, 4, 3]));
        assert!(counts(&cropped).0.iter().all(|&count| count == 1));
        assert!(Blocks::of_image(&image, &vector(&[3, 3]), &edges(&[0; 4])).is_err());
        assert!(Blocks::of_batches(&Shape::from([5, 2, 2]), &vector(&[2]), &edges(&[0; 2])).is_err());
    }
}

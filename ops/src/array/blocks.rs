//! Moving blocks between the spatial dimensions and the depth or the batch.

use kernlink::shape::MAX_RANK;
use kernlink::shape_inference::{DimHandle, InferenceContext, ShapeHandle};
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: type"),
    attr("block_size: int >= 2", "The side of a square."),
    attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'", "Where the channels stand."),
    input("input: T"),
    output("output: T"),
    shape_fn = depth_to_space_shape,
)]
pub enum BlocksAndDepth {
    /// Depth moved into squares: each `block_size²` channels become a square of `block_size` × `block_size` pixels.
    ///
    /// The depth must be a multiple of `block_size²`.
    DepthToSpace,
    /// Squares moved into the depth: each `block_size` × `block_size` pixels become `block_size²` channels of one
    /// pixel.
    ///
    /// Height and width must be multiples of `block_size`.
    #[op(shape_fn = space_to_depth_shape)]
    SpaceToDepth,
}

/// Where height, width and channels stand in `data_format`, after checking the rank that it asks for.
fn image(c: &InferenceContext<'_>) -> Result<(ShapeHandle, [i64; 3])> {
    let format: String = c.attr("data_format")?;
    let (rank, axes) = match format.as_str() {
        "NHWC" => (4, [1, 2, 3]),
        "NCHW" => (4, [2, 3, 1]),
        "NCHW_VECT_C" => (5, [2, 3, 1]),
        _ => bail!(InvalidArgument, "Invalid data_format: {format}"),
    };
    let mut input = c.with_rank(c.input(0), rank)?;
    if rank == 5 {
        input = c.replace_dim(input, 4, c.make_dim(4))?;
    }
    Ok((input, axes))
}

/// The side and the area of a block.
fn block(c: &InferenceContext<'_>) -> Result<(i64, i64)> {
    let side: i64 = c.attr("block_size")?;
    match side.checked_mul(side) {
        Some(area) => Ok((side, area)),
        None => bail!(InvalidArgument, "block_size {side} is too large"),
    }
}

fn depth_to_space_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let ((mut shape, [height, width, channels]), (side, area)) = (image(c)?, block(c)?);
    for axis in [height, width] {
        shape = c.replace_dim(shape, axis, c.multiply(c.dim(shape, axis), side)?)?;
    }
    shape = c.replace_dim(shape, channels, c.divide(c.dim(shape, channels), area, true)?)?;
    shapes::output_shape(c, shape)
}

fn space_to_depth_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let ((mut shape, [height, width, channels]), (side, area)) = (image(c)?, block(c)?);
    for axis in [height, width] {
        shape = c.replace_dim(shape, axis, c.divide(c.dim(shape, axis), side, true)?)?;
    }
    shape = c.replace_dim(shape, channels, c.multiply(c.dim(shape, channels), area)?)?;
    shapes::output_shape(c, shape)
}

#[register_op(
    attr("T: type"),
    attr("Tblock_shape: {int32, int64} = DT_INT32"),
    input("input: T"),
    input("block_shape: Tblock_shape", "The block's size in each spatial dimension."),
    output("output: T"),
    shape_fn = space_to_batch_nd_shape,
)]
pub enum BlocksAndBatch {
    /// Blocks of the spatial dimensions, zero-padded first, moved into the batch dimension.
    ///
    /// `input` is `[batch, spatial…, rest…]`; each padded spatial dimension must be a multiple of its block's size.
    #[op(
        attr("Tpaddings: {int32, int64} = DT_INT32"),
        input("paddings: Tpaddings", "A row `[before, after]` for each spatial dimension.")
    )]
    SpaceToBatchND,
    /// Blocks moved from the batch dimension back into the spatial ones, which are then cropped: undoes
    /// [`SpaceToBatchND`].
    ///
    /// The batch must be a multiple of the product of `block_shape`.
    #[op(
        attr("Tcrops: {int32, int64} = DT_INT32"),
        input("crops: Tcrops", "A row `[start, end]` for each spatial dimension: how much to cut off."),
        shape_fn = batch_to_space_nd_shape,
    )]
    BatchToSpaceND,
}

fn space_to_batch_nd_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let blocks = of_shape(c, 2)?;
    space_to_batch_blocks(c, blocks)
}

fn space_to_batch_blocks(c: &InferenceContext<'_>, blocks: Blocks) -> Result<()> {
    blocks.infer(
        c,
        "paddings",
        |c, batch, side| c.multiply(batch, side),
        |c, size, [before, after], side| c.divide(c.add(c.add(size, before)?, after)?, side, true),
    )
}

fn batch_to_space_nd_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let blocks = of_shape(c, 2)?;
    batch_to_space_blocks(c, blocks)
}

fn batch_to_space_blocks(c: &InferenceContext<'_>, blocks: Blocks) -> Result<()> {
    blocks.infer(
        c,
        "crops",
        |c, batch, side| c.divide(batch, side, true),
        |c, size, [start, end], side| c.subtract(c.subtract(c.multiply(size, side)?, start)?, end),
    )
}

#[register_op(
    attr("T: type"),
    attr("block_size: int >= 2", "The side of a square."),
    input("input: T", "`[batch, height, width, depth]`"),
    output("output: T"),
    shape_fn = space_to_batch_shape,
)]
pub enum SquaresAndBatch {
    /// Squares of an image, zero-padded first, moved into the batch dimension: [`SpaceToBatchND`] of two dimensions.
    ///
    /// The padded height and width must be multiples of `block_size`.
    #[op(
        attr("Tpaddings: {int32, int64} = DT_INT32", before = "block_size"),
        input("paddings: Tpaddings", "`[[top, bottom], [left, right]]`")
    )]
    SpaceToBatch,
    /// Squares moved from the batch dimension back into the image, which is then cropped: undoes [`SpaceToBatch`].
    ///
    /// The batch must be a multiple of `block_size²`.
    #[op(
        attr("Tidx: {int32, int64} = DT_INT32"),
        input("crops: Tidx", "`[[top, bottom], [left, right]]`: how much to cut off."),
        shape_fn = batch_to_space_shape,
    )]
    BatchToSpace,
}

/// Squares of the attr's size, and what input 1 says of the borders.
fn of_squares(c: &InferenceContext<'_>) -> Result<Blocks> {
    let input = c.with_rank(c.input(0), 4)?;
    let side: i64 = c.attr("block_size")?;
    Blocks::new(c, input, 2, Some(vec![side; 2]), 1)
}

fn space_to_batch_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let blocks = of_squares(c)?;
    space_to_batch_blocks(c, blocks)
}

fn batch_to_space_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let blocks = of_squares(c)?;
    batch_to_space_blocks(c, blocks)
}

/// What is known of blocks and of what they are cut from.
struct Blocks {
    input: ShapeHandle,
    /// The number of spatial dimensions.
    count: i64,
    /// The size of a block in each.
    sides: Option<Vec<i64>>,
    /// Pairs of paddings or crops of each.
    borders: Option<Vec<i64>>,
}

/// The blocks whose shape is input 1, and whose borders are input `borders`.
fn of_shape(c: &InferenceContext<'_>, borders: usize) -> Result<Blocks> {
    ensure!(c.rank(c.input(1)) == Some(1), InvalidArgument, "block_shape must have rank 1.");
    let Some(count) = c.value(c.dim(c.input(1), 0)) else {
        bail!(InvalidArgument, "block_shape must have known size.");
    };
    let input = c.with_rank_at_least(c.input(0), (count as usize).saturating_add(1))?;
    Blocks::new(c, input, count, c.input_i64s(1)?, borders)
}

impl Blocks {
    fn new(
        c: &InferenceContext<'_>,
        input: ShapeHandle,
        count: i64,
        sides: Option<Vec<i64>>,
        borders: usize,
    ) -> Result<Self> {
        c.merge(c.input(borders), c.matrix(count, 2))?;
        ensure!(count as usize <= MAX_RANK, InvalidArgument, "block_shape has {count} entries");
        Ok(Self { input, count, sides, borders: c.input_i64s(borders)? })
    }

    /// What both directions share: `batch` computes the batch dimension from itself and the side of a block, `spatial`
    /// a spatial dimension from itself, its paddings or crops, and that side.
    fn infer(
        self,
        c: &InferenceContext<'_>,
        name: &str,
        batch: fn(&InferenceContext<'_>, DimHandle, i64) -> Result<DimHandle>,
        spatial: fn(&InferenceContext<'_>, DimHandle, [i64; 2], i64) -> Result<DimHandle>,
    ) -> Result<()> {
        let Blocks { input, count, sides, borders } = self;
        let mut dims = vec![c.dim(input, 0)];
        dims.extend((0..count).map(|_| c.unknown_dim()));
        for i in 0..count as usize {
            let side = sides.as_ref().and_then(|sides| sides.get(i)).copied();
            if let Some(side) = side {
                ensure!(side >= 1, InvalidArgument, "block_shape must be positive, not {side}");
            }
            dims[0] = match side {
                Some(side) if c.value_known(dims[0]) => batch(c, dims[0], side)?,
                _ => c.unknown_dim(),
            };
            if let Some(&[before, after]) = borders.as_ref().and_then(|borders| borders.as_chunks::<2>().0.get(i)) {
                ensure!(before >= 0 && after >= 0, InvalidArgument, "{name} cannot be negative: {before} {after}");
                if let Some(side) = side {
                    dims[i + 1] = spatial(c, c.dim(input, i as i64 + 1), [before, after], side)?;
                }
            }
        }
        let output = c.concatenate(c.make_shape(dims), c.subshape(input, count + 1)?)?;
        shapes::output_shape(c, output)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::infer;
    use kernlink::dtype::DataType;
    use kernlink::tensor::Tensor;

    use super::*;

    #[test]
    fn depth_and_space() {
        let op = || infer::<SpaceToDepth>().attr("T", DataType::Float).attr("block_size", 2i64);
        op().ok("[1,4,6,3]", "[d0_0,2,3,12]");
        op().ok("[?,?,6,?]", "[d0_0,?,3,?]");
        op().attr("data_format", "NCHW").ok("[1,3,4,6]", "[d0_0,12,2,3]");
        op().attr("data_format", "NCHW_VECT_C").ok("[1,3,4,6,4]", "[d0_0,12,2,3,4]");
        op().error("must be evenly divisible by 2 but is 5", "[1,5,6,3]");
        op().error("must be rank 4", "[1,4,6]");

        let op = |side: i64| infer::<DepthToSpace>().attr("T", DataType::Float).attr("block_size", side);
        op(2).ok("[1,2,3,12]", "[d0_0,4,6,3]");
        op(2).ok("?", "[?,?,?,?]");
        op(2).attr("data_format", "NCHW").ok("[1,12,2,3]", "[d0_0,3,4,6]");
        op(2).error("must be evenly divisible by 4 but is 10", "[1,2,3,10]");
        op(i64::MAX).error("too large", "[1,2,3,10]");
    }

    fn matrix(rows: &[i32]) -> Tensor {
        Tensor::from_elements([rows.len() / 2, 2], rows).unwrap()
    }

    #[test]
    fn space_to_batch() {
        let op = || infer::<SpaceToBatchND>().attr("T", DataType::Float);
        let sides = |sides: &[i32]| op().tensor(1, Tensor::vector(sides).unwrap());
        op().ok("?;[2];?", "?");
        op().ok("[?,?,?,?];[2];?", "[?,?,?,d0_3]");
        sides(&[2, 3]).ok("[1,?,?,2];[2];?", "[6,?,?,d0_3]");
        sides(&[2, 3]).tensor(2, matrix(&[1, 1, 0, 1])).ok("[?,2,2];[2];[2,2]", "[?,2,1]");
        sides(&[1, 5]).tensor(2, matrix(&[1, 1, 0, 1])).ok("[2,2,4,9];[2];[2,2]", "[10,4,1,d0_3]");
        op().tensor(2, matrix(&[1, 1, 0, 1])).ok("[2,2,4];[2];[2,2]", "[?,?,?]");
        sides(&[]).ok("[2,2];[0];?", "[d0_0,d0_1]");
        op().error("block_shape must have rank 1", "?;?;?");
        op().error("block_shape must have known size", "?;[?];?");
        op().error("must be at least rank 3 but is rank 2", "[1,2];[2];?");
        op().error("must be equal", "?;[2];[1,2]");
        sides(&[0, 2]).error("block_shape must be positive", "?;[2];?");
        sides(&[1, 2]).tensor(2, matrix(&[0, -1, 0, 0])).error("paddings cannot be negative", "?;[2];[2,2]");
        sides(&[2, 3]).tensor(2, matrix(&[1, 1, 0, 0])).error("evenly divisible by 3 but is 4", "[1,2,4];[2];[2,2]");
    }

    #[test]
    fn batch_to_space() {
        let op = || infer::<BatchToSpaceND>().attr("T", DataType::Float);
        let sides = |sides: &[i32]| op().tensor(1, Tensor::vector(sides).unwrap());
        op().ok("[?,?,?,?];[2];?", "[?,?,?,d0_3]");
        sides(&[2, 3]).ok("[12,?,?,2];[2];?", "[2,?,?,d0_3]");
        sides(&[2, 2]).tensor(2, matrix(&[1, 1, 0, 1])).ok("[20,8,4,2];[2];[2,2]", "[5,14,7,d0_3]");
        sides(&[2, 2]).tensor(2, matrix(&[0, 0, 0, 0])).ok("[?,8,?];[2];[2,2]", "[?,16,?]");
        op().error("block_shape must have known size", "?;[?];?");
        sides(&[2, 0]).error("block_shape must be positive", "?;[2];?");
        sides(&[2, 2]).error("evenly divisible by 2 but is 7", "[7,8,4];[2];?");
        sides(&[2, 2]).tensor(2, matrix(&[-1, 0, 0, 0])).error("crops cannot be negative", "[4,8,4];[2];[2,2]");
        sides(&[2, 2]).tensor(2, matrix(&[10, 10, 0, 0])).error("Negative dimension size", "[4,8,4];[2];[2,2]");
    }
}

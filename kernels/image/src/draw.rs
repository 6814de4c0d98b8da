//! DrawBoundingBoxes: the outlines of boxes.

use kernlink::dtype::Number;
use kernlink::kernel::RawContext;
use kernlink::tensor::scratch;
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::truncate::Truncate;
use kernlink_macros::register_kernel;
use kernlink_ops::{DrawBoundingBoxes, DrawBoundingBoxesV2};

/// The colours that take turns if none are given: yellow, blue, red, lime, purple, olive, maroon, navy blue, aqua, fuchsia.
const COLORS: [[f32; 4]; 10] = [
    [1.0, 1.0, 0.0, 1.0],
    [0.0, 0.0, 1.0, 1.0],
    [1.0, 0.0, 0.0, 1.0],
    [0.0, 1.0, 0.0, 1.0],
    [0.5, 0.0, 0.5, 1.0],
    [0.5, 0.5, 0.0, 1.0],
    [0.5, 0.0, 0.0, 1.0],
    [0.0, 0.0, 0.5, 1.0],
    [0.0, 1.0, 1.0, 1.0],
    [1.0, 0.0, 1.0, 1.0],
];

/// From where to where a box reaches in one direction of an image.
struct Span {
    from: i64,
    to: i64,
    size: i64,
}

impl Span {
    /// That of a box from `from` to `to`, which are parts of `size`; none if it is not to be seen.
    fn new(from: f32, to: f32, size: usize) -> Option<Span> {
        let last = size as i64 - 1;
        let (from, to) = ((from * last as f32).to_i64(), (to * last as f32).to_i64());
        (from <= to && from <= last && to >= 0).then_some(Span { from, to, size: size as i64 })
    }

    /// What of it is inside, which begins at one of its ends.
    #[track_caller]
    fn inside(&self) -> Result<std::ops::Range<usize>> {
        let last = self.to.min(self.size - 1);
        ensure!(last >= 0, InvalidArgument, "a box cannot be drawn in an image without pixels");
        Ok(self.from.max(0) as usize..last as usize + 1)
    }

    /// Its ends that are inside.
    fn ends(&self) -> impl Iterator<Item = usize> {
        let ends = [self.from, self.to];
        let size = self.size;
        ends.into_iter().filter(move |&end| end >= 0 && end < size).map(|end| end as usize)
    }
}

/// The colours, each of `channels` numbers: those of input 2, or the usual ones.
fn colors(ctx: &RawContext<'_>, channels: usize) -> Result<Vec<f32>> {
    if ctx.num_inputs() == 3 {
        let colors = ctx.input_at(2)?;
        let &[_, width] = &colors.shape()[..] else {
            bail!(InvalidArgument, "colors must be a 2-D matrix, not of shape {}", colors.shape());
        };
        ensure!(
            width >= channels,
            InvalidArgument,
            "colors must have equal or more channels than the image provided, {channels}: they are {}",
            colors.shape()
        );
        if colors.num_elements() > 0 {
            let rows = colors.as_slice::<f32>()?.chunks_exact(width);
            return scratch::collected(rows.flat_map(|row| row[..channels].iter().copied()));
        }
    }
    let gray = channels == 1;
    scratch::collected(COLORS.iter().flat_map(|color| {
        let first = if gray { 1.0 } else { color[0] };
        [first, color[1], color[2], color[3]].into_iter().take(channels)
    }))
}

#[register_kernel(device = Cpu, op = [DrawBoundingBoxes, DrawBoundingBoxesV2], T = [f16, f32])]
fn draw_bounding_boxes<T: Number>(ctx: &mut RawContext<'_>) -> Result<()> {
    let (images, boxes) = (ctx.input_at(0)?, ctx.input_at(1)?);
    let &[batch, rows, columns, channels] = &images.shape()[..] else {
        bail!(InvalidArgument, "The rank of the images should be 4: their shape is {}", images.shape());
    };
    let &[of, count, width] = &boxes.shape()[..] else {
        bail!(InvalidArgument, "The rank of the boxes tensor should be 3: its shape is {}", boxes.shape());
    };
    ensure!(of == batch, InvalidArgument, "The batch sizes should be the same: {batch} images, boxes of {of}");
    ensure!(
        matches!(channels, 1 | 3 | 4),
        InvalidArgument,
        "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA), not {channels}"
    );
    ensure!(width == 4, InvalidArgument, "The size of the third dimension of the box must be 4. Received: {width}");
    let colors: Vec<T> = scratch::collected(colors(ctx, channels)?.iter().map(|&part| T::from_f64(part.into())))?;
    let boxes = boxes.clone();
    let corners = boxes.as_slice::<f32>()?.as_chunks::<4>().0;

    let mut output = ctx.take_input_at(0)?;
    output.make_unique()?;
    let canvas = output.as_mut_slice::<T>()?;
    let image = rows * columns * channels;
    for (index, corners) in corners.iter().enumerate() {
        let color = index % count * channels % colors.len();
        let color = &colors[color..color + channels];
        let [y0, x0, y1, x1] = *corners;
        let (Some(down), Some(across)) = (Span::new(y0, y1, rows), Span::new(x0, x1, columns)) else { continue };
        let (inner_rows, inner_columns) = (down.inside()?, across.inside()?);
        let canvas = &mut canvas[index / count * image..][..image];
        let mut fill = |row: usize, from: usize, to: usize| {
            let line = &mut canvas[(row * columns + from) * channels..(row * columns + to) * channels];
            line.chunks_exact_mut(channels).for_each(|pixel| pixel.copy_from_slice(color));
        };
        for row in down.ends() {
            fill(row, inner_columns.start, inner_columns.end);
        }
        for column in across.ends() {
            inner_rows.clone().for_each(|row| fill(row, column, column + 1));
        }
    }
    ctx.set_output_at(0, output)
}

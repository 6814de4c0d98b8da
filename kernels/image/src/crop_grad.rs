//! The gradients of CropAndResize.

use kernlink::dtype::Pod;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, bail, ensure};
use kernlink_geometry::integers::checked_shape;
use kernlink_kernels_common::number::AsPrimitive;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::{CropAndResizeGradBoxes, CropAndResizeGradImage};

use super::crop::{Boxes, Line, Method, Place, images_with_pixels, lines};
use super::pixel::Summand;

/// Checks that there is a gradient for each box.
#[track_caller]
fn ensure_count(boxes: &Boxes<'_>, count: usize) -> Result<()> {
    ensure!(
        count == boxes.corners.len(),
        InvalidArgument,
        "boxes and grads have incompatible shape: {} boxes, {count} gradients",
        boxes.corners.len()
    );
    Ok(())
}

/// The gradients of the crops, and what they are of.
struct Flow<'a> {
    grads: &'a [f32],
    boxes: Boxes<'a>,
    /// Rows and columns of the crops.
    from: [usize; 2],
    /// Rows and columns of the images.
    to: [usize; 2],
    channels: usize,
}

impl Flow<'_> {
    fn line(&self, index: usize, y: usize) -> &[f32] {
        let line = self.from[1] * self.channels;
        &self.grads[(index * self.from[0] + y) * line..][..line]
    }

    /// Adds to rows of the images, from row `first` of all on, what flows back to them.
    fn add_to_rows<T: Summand>(&self, method: Method, first: usize, piece: &mut [T]) -> Result<()> {
        let ([rows, columns], channels) = (self.to, self.channels);
        let mut across = scratch::filled(None, self.from[1])?;
        let line = columns * channels;
        for (index, (&corners, &image)) in self.boxes.corners.iter().zip(self.boxes.images).enumerate() {
            let before = image as usize * rows;
            if before + rows <= first || before >= first + piece.len() / line {
                continue;
            }
            let (vertical, horizontal) = lines(corners, self.to, self.from);
            across.iter_mut().zip(0..).for_each(|(place, x)| *place = horizontal.at(x));
            for y in 0..self.from[0] {
                let Some(place) = vertical.at(y) else { continue };
                let grads = self.line(index, y);
                let mut add = |row: usize, weight: f32| {
                    let Some(row) = (before + row).checked_sub(first) else { return };
                    let Some(row) = piece.get_mut(row * line..(row + 1) * line) else { return };
                    add_line(grads, &across, method, weight, channels, row);
                };
                match method {
                    Method::Nearest => add(place.nearest, 1.0),
                    Method::Bilinear => {
                        add(place.lower, 1.0 - place.fraction);
                        add(place.upper, place.fraction);
                    }
                }
            }
        }
        Ok(())
    }

    /// The gradient of a box, by sums in the order of TensorFlow's.
    fn of_box<T: Pod + AsPrimitive<f32>>(&self, index: usize, images: &[T], places: &mut [Option<Place>]) -> [f32; 4] {
        let ([rows, columns], channels) = (self.to, self.channels);
        let [y0, x0, y1, x1] = self.boxes.corners[index];
        let vertical = Line::of_ratio(y0, y1, rows, self.from[0]);
        let horizontal = Line::of_ratio(x0, x1, columns, self.from[1]);
        places.iter_mut().zip(0..).for_each(|(place, x)| *place = horizontal.at(x));
        // How far each line of a crop moves with the first and the last line.
        let shares = |size: usize, count: usize| {
            let ratio = if count > 1 { (size - 1) as f32 / (count - 1) as f32 } else { 0.0 };
            move |sums: [&mut f32; 2], line: usize, flow: f32| {
                if count > 1 {
                    let after = line as f32 * ratio;
                    *sums[0] += flow * ((size - 1) as f32 - after);
                    *sums[1] += flow * after;
                } else {
                    let half = f64::from(flow) * 0.5 * (size - 1) as f64;
                    sums.into_iter().for_each(|sum| *sum = (f64::from(*sum) + half) as f32);
                }
            }
        };
        let (down, across) = (shares(rows, self.from[0]), shares(columns, self.from[1]));
        let [mut y0, mut x0, mut y1, mut x1] = [0.0f32; 4];
        let before = self.boxes.images[index] as usize * rows;
        for y in 0..self.from[0] {
            let Some(row) = vertical.at(y) else { continue };
            let line = |row: usize| &images[(before + row) * columns * channels..][..columns * channels];
            let (upper, lower) = (line(row.lower), line(row.upper));
            for ((x, column), grads) in places.iter().enumerate().zip(self.line(index, y).chunks_exact(channels)) {
                let Some(column) = column else { continue };
                let pixel =
                    |line: &[T], column: usize, channel: usize| -> f32 { line[column * channels + channel].as_() };
                for (channel, &grad) in grads.iter().enumerate() {
                    let (top_left, top_right) =
                        (pixel(upper, column.lower, channel), pixel(upper, column.upper, channel));
                    let (left, right) = (pixel(lower, column.lower, channel), pixel(lower, column.upper, channel));
                    let slope_y = (1.0 - column.fraction) * (left - top_left) + column.fraction * (right - top_right);
                    let slope_x = (1.0 - row.fraction) * (top_right - top_left) + row.fraction * (right - left);
                    down([&mut y0, &mut y1], y, slope_y * grad);
                    across([&mut x0, &mut x1], x, slope_x * grad);
                }
            }
        }
        [y0, x0, y1, x1]
    }
}

widest! {
    /// Adds to a line of an image what flows back to it from a line of a crop.
    fn add_line<T: Summand>(
        grads: &[f32],
        across: &[Option<Place>],
        method: Method,
        weight: f32,
        channels: usize,
        row: &mut [T],
    ) {
        // A number of channels that is known makes no loop.
        match channels {
            1 => add_pixels(grads, across, method, weight, 1, row),
            3 => add_pixels(grads, across, method, weight, 3, row),
            4 => add_pixels(grads, across, method, weight, 4, row),
            _ => add_pixels(grads, across, method, weight, channels, row),
        }
    }
}

#[inline(always)]
fn add_pixels<T: Summand>(
    grads: &[f32],
    across: &[Option<Place>],
    method: Method,
    weight: f32,
    channels: usize,
    row: &mut [T],
) {
    for (place, grad) in across.iter().zip(grads.chunks_exact(channels)) {
        let Some(place) = place else { continue };
        // Times 1, and once more, a gradient is what it was.
        let (columns, weights) = match method {
            Method::Nearest => ([place.nearest, place.nearest], [1.0, 0.0]),
            Method::Bilinear => ([place.lower, place.upper], [1.0 - place.fraction, place.fraction]),
        };
        let count = if method == Method::Nearest { 1 } else { 2 };
        for (column, across) in columns.into_iter().zip(weights).take(count) {
            let sums = &mut row[column * channels..][..channels];
            for (sum, &grad) in sums.iter_mut().zip(grad) {
                *sum = sum.wrapping_add(T::of_float(across * (weight * grad)));
            }
        }
    }
}

#[register_kernel(device = Cpu, host_memory = ["image_size"], T = [f16, f32, f64])]
fn crop_and_resize_grad_image<T: Summand>(
    attrs: &Attrs<CropAndResizeGradImage>,
    ctx: &mut KernelContext<'_, CropAndResizeGradImage>,
) -> Result<()> {
    let method = Method::new(&attrs.method)?;
    let [count, from_rows, from_columns, depth] = images_with_pixels(ctx.input_at(0)?.shape(), "grads")?;
    let boxes = Boxes::new(ctx.input_at(1)?, ctx.input_at(2)?)?;
    ensure_count(&boxes, count)?;
    let size = ctx.input_at(3)?;
    ensure!(size.rank() == 1, InvalidArgument, "image_size must be 1-D, not of shape {}", size.shape());
    let &[batch, rows, columns, channels] = size.as_slice::<i32>()? else {
        bail!(InvalidArgument, "image_size must have 4 elements, not {}", size.num_elements());
    };
    ensure!(rows > 0 && columns > 0, InvalidArgument, "image dimensions must be positive, not {rows} and {columns}");
    ensure!(
        usize::try_from(channels) == Ok(depth),
        InvalidArgument,
        "image_size and grads are incompatible: {channels} and {depth} channels"
    );
    ensure!(batch >= 0, InvalidArgument, "the batch size in image_size must not be negative: {batch}");
    let [batch, rows, columns] = [batch, rows, columns].map(|size| size as usize);
    let mut output = Tensor::zeros(T::DTYPE, checked_shape([batch, rows, columns, depth].map(Some))?)?;
    boxes.ensure_below(batch)?;
    if output.num_elements() > 0 {
        let from = [from_rows, from_columns];
        let grads = ctx.input_at(0)?.as_slice::<f32>()?;
        let (line, taps) = (columns * depth, grads.len().saturating_mul(4));
        let flow = Flow { grads, boxes, from, to: [rows, columns], channels: depth };
        let cost = 1 + taps / (batch * rows * line);
        ctx.try_parallel_chunks(output.as_mut_slice::<T>()?, line, cost, |first, piece| {
            flow.add_to_rows(method, first / line, piece)
        })?;
    }
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, T = [u8, u16, i8, i16, i32, i64, f16, f32, f64])]
fn crop_and_resize_grad_boxes<T: Pod + AsPrimitive<f32>>(
    ctx: &mut KernelContext<'_, CropAndResizeGradBoxes>,
) -> Result<()> {
    let [count, from_rows, from_columns, depth] = images_with_pixels(ctx.input_at(0)?.shape(), "grads")?;
    let [batch, rows, columns, channels] = images_with_pixels(ctx.input_at(1)?.shape(), "image")?;
    ensure!(channels == depth, InvalidArgument, "image, grads depth differ: {channels} and {depth}");
    let boxes = Boxes::new(ctx.input_at(2)?, ctx.input_at(3)?)?;
    ensure_count(&boxes, count)?;
    let mut output = ctx.allocate_output_at(0, [count, 4])?;
    boxes.ensure_below(batch)?;
    let (grads, images) = (ctx.input_at(0)?.as_slice::<f32>()?, ctx.input_at(1)?.as_slice::<T>()?);
    let flow = Flow { grads, boxes, from: [from_rows, from_columns], to: [rows, columns], channels };
    let target = output.as_mut_slice::<f32>()?.as_chunks_mut::<4>().0;
    let cost = (from_rows * from_columns).saturating_mul(2 * channels);
    ctx.try_parallel_chunks(target, 1, cost, |first, piece| {
        let mut places = scratch::filled(None, from_columns)?;
        for (index, target) in (first..).zip(piece) {
            *target = if channels > 0 { flow.of_box(index, images, &mut places) } else { [0.0; 4] };
        }
        Ok(())
    })?;
    ctx.set_output_at(0, output)
}

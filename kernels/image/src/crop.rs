//! CropAndResize: what boxes contain of images, each in the same size. Places are computed as TensorFlow does it, in `float`.

use kernlink::dtype::Pod;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, bail, ensure};
use kernlink_geometry::integers::checked_shape;
use kernlink_geometry::resize::{images, pair};
use kernlink_kernels_common::number::{AsPrimitive, mixed};
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::CropAndResize;

/// The sizes of images `[batch, rows, columns, channels]` with pixels.
#[track_caller]
pub(crate) fn images_with_pixels(shape: &Shape, name: &str) -> Result<[usize; 4]> {
    let sizes = images(shape, name)?;
    ensure!(sizes[1] > 0 && sizes[2] > 0, InvalidArgument, "{name} dimensions must be positive, not {shape}");
    Ok(sizes)
}

/// Boxes, and the images that they are in.
pub(crate) struct Boxes<'a> {
    pub(crate) corners: &'a [[f32; 4]],
    pub(crate) images: &'a [i32],
}

impl<'a> Boxes<'a> {
    /// Those of two inputs; their images are still to be checked.
    #[track_caller]
    pub(crate) fn new(boxes: &'a Tensor, images: &'a Tensor) -> Result<Boxes<'a>> {
        if boxes.num_elements() == 0 && images.num_elements() == 0 {
            return Ok(Boxes { corners: &[], images: &[] });
        }
        ensure!(boxes.rank() == 2, InvalidArgument, "boxes must be 2-D, not of shape {}", boxes.shape());
        ensure!(boxes.shape()[1] == 4, InvalidArgument, "boxes must have 4 columns, not {}", boxes.shape()[1]);
        ensure!(images.rank() == 1, InvalidArgument, "box_index must be 1-D, not of shape {}", images.shape());
        ensure!(
            images.num_elements() == boxes.shape()[0],
            InvalidArgument,
            "box_index has incompatible shape: {} for boxes {}",
            images.shape(),
            boxes.shape()
        );
        Ok(Boxes { corners: boxes.as_slice::<f32>()?.as_chunks().0, images: images.as_slice()? })
    }

    /// Fails unless all are in one of the images.
    #[track_caller]
    pub(crate) fn ensure_below(&self, batch: usize) -> Result<()> {
        let outside = self.images.iter().find(|&&image| usize::try_from(image).map_or(true, |image| image >= batch));
        ensure!(
            outside.is_none(),
            OutOfRange,
            "box_index has values outside [0, batch_size): {} of {batch}",
            outside.copied().unwrap_or_default()
        );
        Ok(())
    }
}

/// Where the lines of a crop lie between the lines of an image, in one direction.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    first: f32,
    step: f32,
    last: f32,
    size: usize,
}

/// A place between two lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) lower: usize,
    pub(crate) upper: usize,
    /// The weight of `upper`.
    pub(crate) fraction: f32,
    pub(crate) nearest: usize,
}

impl Line {
    /// From `start` to `end`, which are parts of an image of `size` lines, in a crop of `count` lines.
    pub(crate) fn new(start: f32, end: f32, size: usize, count: usize) -> Line {
        let last = (size - 1) as f32;
        if count > 1 {
            return Line { first: start * last, step: (end - start) * last / (count - 1) as f32, last, size };
        }
        // The middle; TensorFlow computes it in `double`.
        Line { first: (0.5 * f64::from(start + end) * (size - 1) as f64) as f32, step: 0.0, last, size }
    }

    /// As [`Line::new`], but that the ratio of the sizes is rounded before it is multiplied: so TensorFlow's gradient of boxes has
    /// it, and it alone.
    pub(crate) fn of_ratio(start: f32, end: f32, size: usize, count: usize) -> Line {
        let line = Line::new(start, end, size, count);
        if count > 1 { Line { step: (end - start) * (line.last / (count - 1) as f32), ..line } } else { line }
    }

    /// Where line `index` of the crop lies; none if that is outside of the image.
    #[inline(always)]
    pub(crate) fn at(&self, index: usize) -> Option<Place> {
        let place = self.first + index as f32 * self.step;
        if !(0.0..=self.last).contains(&place) {
            return None;
        }
        let lower = place.floor();
        // The last line of more than 2^24 may be rounded up to a `float` beyond it.
        let inside = |line: f32| (line as usize).min(self.size - 1);
        Some(Place {
            lower: inside(lower),
            upper: inside(place.ceil()),
            fraction: place - lower,
            nearest: inside(place.round()),
        })
    }
}

/// Both directions of a box in a crop of these sizes.
#[inline(always)]
pub(crate) fn lines([y0, x0, y1, x1]: [f32; 4], [rows, columns]: [usize; 2], to: [usize; 2]) -> (Line, Line) {
    (Line::new(y0, y1, rows, to[0]), Line::new(x0, x1, columns, to[1]))
}

/// Attr `method`.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Method {
    Bilinear,
    Nearest,
}

impl Method {
    pub(crate) fn new(method: &str) -> Result<Method> {
        match method {
            "bilinear" => Ok(Method::Bilinear),
            "nearest" => Ok(Method::Nearest),
            other => bail!(InvalidArgument, "method must be 'bilinear' or 'nearest', not `{other}`"),
        }
    }
}

/// A pixel between four others, all of as many channels as `target`.
#[inline(always)]
fn mix<T: AsPrimitive<f32>>(corners: [&[T]; 4], across: f32, down: f32, target: &mut [f32]) {
    let count = target.len();
    let [a, b, c, d] = corners.map(|corner| &corner[..count]);
    for channel in 0..count {
        let upper = mixed(a[channel].as_(), b[channel].as_(), across);
        let lower = mixed(c[channel].as_(), d[channel].as_(), across);
        target[channel] = mixed(upper, lower, down);
    }
}

widest! {
    /// A line of a crop between two lines of an image.
    fn mix_line<T: AsPrimitive<f32>>(
        upper: &[T],
        lower: &[T],
        down: f32,
        across: &[Option<Place>],
        outside: f32,
        channels: usize,
        target: &mut [f32],
    ) {
        // A number of channels that is known makes no loop.
        match channels {
            1 => each_pixel(upper, lower, down, across, outside, 1, target),
            3 => each_pixel(upper, lower, down, across, outside, 3, target),
            4 => each_pixel(upper, lower, down, across, outside, 4, target),
            _ => each_pixel(upper, lower, down, across, outside, channels, target),
        }
    }
}

#[inline(always)]
fn each_pixel<T: AsPrimitive<f32>>(
    upper: &[T],
    lower: &[T],
    down: f32,
    across: &[Option<Place>],
    outside: f32,
    channels: usize,
    target: &mut [f32],
) {
    for (place, target) in across.iter().zip(target.chunks_exact_mut(channels)) {
        let Some(place) = place else {
            target.fill(outside);
            continue;
        };
        let (left, right) = (place.lower * channels, place.upper * channels);
        let corners = [&upper[left..], &upper[right..], &lower[left..], &lower[right..]];
        mix(corners, place.fraction, down, target);
    }
}

/// What crops are made of.
struct Cropping<'a, T> {
    boxes: Boxes<'a>,
    image: &'a [T],
    sizes: [usize; 2],
    channels: usize,
    to: [usize; 2],
    method: Method,
    outside: f32,
}

impl<T: Pod + AsPrimitive<f32>> Cropping<'_, T> {
    /// Writes lines of the crops from line `first` of all on, as many as `lines_out` has room for.
    fn crop(&self, first: usize, lines_out: &mut [f32]) -> Result<()> {
        let ([rows, columns], channels) = (self.sizes, self.channels);
        let mut across = scratch::filled(None, self.to[1])?;
        let mut of = None;
        let mut down = None;
        for (number, target) in (first..).zip(lines_out.chunks_exact_mut(self.to[1] * channels)) {
            let (index, y) = (number / self.to[0], number % self.to[0]);
            if of != Some(index) {
                let (vertical, horizontal) = lines(self.boxes.corners[index], self.sizes, self.to);
                across.iter_mut().zip(0..).for_each(|(place, x)| *place = horizontal.at(x));
                (of, down) = (Some(index), Some(vertical));
            }
            let Some(place) = down.and_then(|down: Line| down.at(y)) else {
                target.fill(self.outside);
                continue;
            };
            let image = self.boxes.images[index] as usize;
            let line = |row: usize| &self.image[(image * rows + row) * columns * channels..][..columns * channels];
            if self.method == Method::Bilinear {
                let (upper, lower) = (line(place.lower), line(place.upper));
                mix_line(upper, lower, place.fraction, &across, self.outside, channels, target);
                continue;
            }
            let row = line(place.nearest);
            for (place, target) in across.iter().zip(target.chunks_exact_mut(channels)) {
                match place {
                    Some(place) => {
                        let source = &row[place.nearest * channels..][..channels];
                        target.iter_mut().zip(source).for_each(|(target, source)| *target = source.as_());
                    }
                    None => target.fill(self.outside),
                }
            }
        }
        Ok(())
    }
}

/// The rows and columns of crops, input `index`.
fn crop_size(ctx: &RawContext<'_>, index: usize) -> Result<[usize; 2]> {
    let [rows, columns] = pair::<i32>(ctx.input_at(index)?, "crop_size")?;
    ensure!(rows > 0 && columns > 0, InvalidArgument, "crop dimensions must be positive, not {rows} and {columns}");
    Ok([rows as usize, columns as usize])
}

#[register_kernel(device = Cpu, host_memory = ["crop_size"], T = [u8, u16, i8, i16, i32, i64, f16, f32, f64])]
fn crop_and_resize<T: Pod + AsPrimitive<f32>>(
    attrs: &Attrs<CropAndResize>,
    ctx: &mut KernelContext<'_, CropAndResize>,
) -> Result<()> {
    let method = Method::new(&attrs.method)?;
    let [batch, rows, columns, channels] = images_with_pixels(ctx.input_at(0)?.shape(), "image")?;
    let (boxes, indices) = (ctx.input_at(1)?, ctx.input_at(2)?);
    ensure!(boxes.rank() == 2, InvalidArgument, "boxes must be 2-D, not of shape {}", boxes.shape());
    ensure!(indices.rank() == 1, InvalidArgument, "box_indices must be rank 1, not of shape {}", indices.shape());
    let boxes = Boxes::new(boxes, indices)?;
    let to = crop_size(ctx, 3)?;
    let shape = checked_shape([boxes.corners.len(), to[0], to[1], channels].map(Some))?;
    let mut crops = ctx.allocate_output_at(0, shape)?;
    boxes.ensure_below(batch)?;
    ensure!(
        boxes.corners.as_flattened().iter().all(|corner| corner.is_finite()),
        InvalidArgument,
        "Boxes contains at least one element that is not finite"
    );
    if crops.num_elements() > 0 {
        let image = ctx.input_at(0)?.as_slice::<T>()?;
        let outside = attrs.extrapolation_value;
        let cropping = Cropping { boxes, image, sizes: [rows, columns], channels, to, method, outside };
        let line = to[1] * channels;
        ctx.try_parallel_chunks(crops.as_mut_slice::<f32>()?, line, 2, |first, piece| {
            cropping.crop(first / line, piece)
        })?;
    }
    ctx.set_output_at(0, crops)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_many_is_inside() {
        for size in [1, 2, (1 << 24) + 2, (1 << 24) + 4, (1 << 31) - 1] {
            for line in [Line::new(0.0, 1.0, size, 2), Line::of_ratio(0.0, 1.0, size, 2)] {
                let Place { lower, upper, nearest, .. } = line.at(1).unwrap();
                assert!(lower < size && upper < size && nearest < size, "{size}: {lower}, {upper}, {nearest}");
            }
            let Place { upper, nearest, .. } = Line::new(1.0, 1.0, size, 1).at(0).unwrap();
            assert!(upper < size && nearest < size, "{size}: {upper}, {nearest}");
        }
    }
}

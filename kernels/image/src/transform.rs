//! ImageProjectiveTransform: images seen through projective transforms. Places are computed as TensorFlow does it, in `float`.

use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::{Result, bail, ensure};
use kernlink_geometry::integers::{checked_shape, ensure_scalar};
use kernlink_geometry::resize::pair;
use kernlink_kernels_common::truncate::Truncate;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::{ImageProjectiveTransformV2, ImageProjectiveTransformV3};

use super::pixel::Pixel;

/// Attr `fill_mode`: what is outside of an image.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Constant,
    Nearest,
    Reflect,
    Wrap,
}

/// What the attrs say.
#[derive(Clone, Copy)]
struct Way {
    mode: Mode,
    is_bilinear: bool,
}

impl Way {
    fn new(ctx: &RawConstruction<'_>) -> Result<Way> {
        let (interpolation, mode): (String, String) =
            (ctx.attrs.required("interpolation")?, ctx.attrs.required("fill_mode")?);
        let is_bilinear = match &interpolation[..] {
            "BILINEAR" => true,
            "NEAREST" => false,
            // TensorFlow logs an error and goes on with what lay in memory.
            other => bail!(InvalidArgument, "Invalid interpolation `{other}`. Supported types: NEAREST, BILINEAR"),
        };
        let mode = match &mode[..] {
            "CONSTANT" => Mode::Constant,
            "NEAREST" => Mode::Nearest,
            "REFLECT" => Mode::Reflect,
            "WRAP" => Mode::Wrap,
            other => {
                bail!(InvalidArgument, "Invalid mode `{other}`. Supported types: REFLECT, WRAP, CONSTANT, NEAREST")
            }
        };
        Ok(Way { mode, is_bilinear })
    }
}

/// Between the first and the last of `size` places; NaN stays.
#[inline(always)]
fn clamped(place: f32, size: usize) -> f32 {
    let last = size as f32 - 1.0;
    let above = if place < 0.0 { 0.0 } else { place };
    if above > last { last } else { above }
}

/// A number of lines, counted with 64 bits as TensorFlow does it: places beyond them, infinite ones among them, are not brought
/// into the image but, at last, to one of its ends.
#[inline(always)]
fn times(size: usize, count: i64) -> f32 {
    (size as i64).wrapping_mul(count) as f32
}

impl Mode {
    /// Where in an image of `size` a place is taken from.
    #[inline(always)]
    fn place(self, place: f32, size: usize) -> f32 {
        let length = size as f32;
        match self {
            Mode::Constant => place,
            Mode::Nearest => clamped(place, size),
            _ if size <= 1 => {
                if (0.0..=length - 1.0).contains(&place) || place.is_nan() {
                    clamped(place, size)
                } else {
                    0.0
                }
            }
            Mode::Reflect => {
                let twice = 2.0 * length;
                let turns = |quotient: f32| times(2 * size, quotient.to_i64());
                let mut inside = place;
                if place < 0.0 {
                    inside += turns(-inside / twice);
                    inside = if inside < -length { inside + twice } else { -inside - 1.0 };
                } else if place > length - 1.0 {
                    inside -= turns(inside / twice);
                    if inside >= length {
                        inside = twice - inside - 1.0;
                    }
                }
                clamped(inside, size)
            }
            Mode::Wrap => {
                let period = length - 1.0;
                let mut inside = place;
                if place < 0.0 {
                    inside += times(size, (-inside / period).to_i64().wrapping_add(1));
                } else if place > period {
                    inside -= times(size, (inside / period).to_i64());
                }
                clamped(inside, size)
            }
        }
    }
}

/// An image, and what is outside of it.
struct Image<'a, T> {
    pixels: &'a [T],
    rows: usize,
    columns: usize,
    channels: usize,
    outside: T,
}

impl<T: Pixel> Image<'_, T> {
    /// The channels of a pixel, if it is inside.
    #[inline(always)]
    fn at(&self, y: i64, x: i64) -> Option<&[T]> {
        let (y, x) = (usize::try_from(y).ok()?, usize::try_from(x).ok()?);
        let is_inside = y < self.rows && x < self.columns;
        is_inside.then(|| &self.pixels[(y * self.columns + x) * self.channels..][..self.channels])
    }

    #[inline(always)]
    fn nearest(&self, y: f32, x: f32, target: &mut [T]) {
        match self.at(y.round().to_i64(), x.round().to_i64()) {
            Some(pixel) => target.copy_from_slice(pixel),
            None => target.fill(self.outside),
        }
    }

    #[inline(always)]
    fn bilinear(&self, y: f32, x: f32, target: &mut [T]) {
        let (top, left) = (y.floor(), x.floor());
        let (down, across) = ([top + 1.0 - y, y - top], [left + 1.0 - x, x - left]);
        let mix = |[a, b, c, d]: [f32; 4]| {
            let upper = across[0] * a + across[1] * b;
            let lower = across[0] * c + across[1] * d;
            T::of_float(down[0] * upper + down[1] * lower)
        };
        let (top, left) = (top.to_i64(), left.to_i64());
        // Most places are between four pixels, which are two pairs in two lines.
        if top >= 0 && left >= 0 && top + 1 < self.rows as i64 && left + 1 < self.columns as i64 {
            let (count, line) = (target.len(), self.columns * self.channels);
            let first = top as usize * line + left as usize * self.channels;
            let (upper, lower) = (&self.pixels[first..][..2 * count], &self.pixels[first + line..][..2 * count]);
            for channel in 0..count {
                let next = channel + count;
                target[channel] =
                    mix([upper[channel], upper[next], lower[channel], lower[next]].map(|pixel| pixel.as_()));
            }
            return;
        }
        let corners = [(top, left), (top, left + 1), (top + 1, left), (top + 1, left + 1)].map(|(y, x)| self.at(y, x));
        for (channel, target) in target.iter_mut().enumerate() {
            *target = mix(corners.map(|corner| corner.map_or(self.outside, |pixel| pixel[channel]).as_()));
        }
    }
}

widest! {
    /// Line `y` of what is seen through a transform.
    fn line<T: Pixel>(image: &Image<'_, T>, transform: &[f32; 8], y: usize, way: Way, target: &mut [T]) {
        // A number of channels that is known makes no loop.
        match image.channels {
            1 => line_of(image, transform, y, way, 1, target),
            3 => line_of(image, transform, y, way, 3, target),
            4 => line_of(image, transform, y, way, 4, target),
            channels => line_of(image, transform, y, way, channels, target),
        }
    }
}

#[inline(always)]
fn line_of<T: Pixel>(
    image: &Image<'_, T>,
    transform: &[f32; 8],
    y: usize,
    way: Way,
    channels: usize,
    target: &mut [T],
) {
    match way.is_bilinear {
        true => each_pixel(image, transform, y, way.mode, channels, target, |image, y, x, target| {
            image.bilinear(y, x, target);
        }),
        false => each_pixel(image, transform, y, way.mode, channels, target, |image, y, x, target| {
            image.nearest(y, x, target);
        }),
    }
}

#[inline(always)]
fn each_pixel<T: Pixel>(
    image: &Image<'_, T>,
    transform: &[f32; 8],
    y: usize,
    mode: Mode,
    channels: usize,
    target: &mut [T],
    pixel: impl Fn(&Image<'_, T>, f32, f32, &mut [T]),
) {
    let [a0, a1, a2, b0, b1, b2, c0, c1] = *transform;
    let to_y = y as f32;
    for (x, target) in target.chunks_exact_mut(channels).enumerate() {
        let to_x = x as f32;
        let projection = c0 * to_x + c1 * to_y + 1.0;
        if projection == 0.0 {
            target.fill(image.outside);
            continue;
        }
        let from_x = mode.place((a0 * to_x + a1 * to_y + a2) / projection, image.columns);
        let from_y = mode.place((b0 * to_x + b1 * to_y + b2) / projection, image.rows);
        pixel(image, from_y, from_x, target);
    }
}

#[register_kernel(
    device = Cpu,
    op = [ImageProjectiveTransformV2, ImageProjectiveTransformV3],
    dtype = [u8, i32, i64, f16, bf16, f32, f64],
    state = |ctx| Way::new(ctx),
)]
fn image_projective_transform<dtype: Pixel>(way: &Way, ctx: &mut RawContext<'_>) -> Result<()> {
    let (images, transforms) = (ctx.input_at(0)?, ctx.input_at(1)?);
    let &[batch, rows, columns, channels] = &images.shape()[..] else {
        bail!(InvalidArgument, "Input images must have rank 4, not shape {}", images.shape());
    };
    let is_right = matches!(transforms.shape()[..], [count, 8] if count == 1 || count == batch);
    ensure!(
        is_right,
        InvalidArgument,
        "Input transform should be {batch} x 8 or 1 x 8, not of shape {}",
        transforms.shape()
    );
    let [to_rows, to_columns] = pair::<i32>(ctx.input_at(2)?, "output shape")?;
    ensure!(
        to_rows > 0 && to_columns > 0,
        InvalidArgument,
        "output dimensions must be positive, not {to_rows} and {to_columns}"
    );
    let outside = if ctx.num_inputs() > 3 {
        ensure_scalar(ctx.input_at(3)?, "fill_value")?;
        ctx.input_at(3)?.to_scalar::<f32>()?
    } else {
        0.0
    };
    let outside = dtype::of_float(outside);
    let to = [to_rows as usize, to_columns as usize];
    let mut output = ctx.allocate_output_at(0, checked_shape([batch, to[0], to[1], channels].map(Some))?)?;
    if output.num_elements() > 0 {
        let (pixels, transforms) = (images.as_slice::<dtype>()?, transforms.as_slice::<f32>()?.as_chunks::<8>().0);
        let (width, image) = (to[1] * channels, rows * columns * channels);
        let cost = 2 + 16 / channels;
        ctx.parallel_chunks(output.as_mut_slice::<dtype>()?, width, cost, |first, piece| {
            for (number, target) in (first / width..).zip(piece.chunks_exact_mut(width)) {
                let (index, y) = (number / to[0], number % to[0]);
                let transform = &transforms[if transforms.len() == 1 { 0 } else { index }];
                let image = Image { pixels: &pixels[index * image..][..image], rows, columns, channels, outside };
                line(&image, transform, y, *way, target);
            }
        });
    }
    ctx.set_output_at(0, output)
}

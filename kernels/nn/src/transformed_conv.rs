//! FusedPadConv2D and FusedResizeAndPadConv2D: convolutions of images that are resized and padded with mirror images first.
//! What windows see is written down once, and then convolved as any images are.

use kernlink::dtype::Number;
use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, ensure};
use kernlink_geometry::convolution::Geometry;
use kernlink_geometry::pad::{is_reflection, mirrored};
use kernlink_geometry::resize::{images, pair};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::shapes::{Axis, Padding, TensorFormat, four};
use kernlink_ops::{FusedPadConv2D, FusedResizeAndPadConv2D};

use super::convolve::Convolve;
use super::narrow::{computed, widened};

/// The attrs.
struct Transformed {
    /// If images are resized, whether the centres of their corners stay where they are.
    aligns_corners: Option<bool>,
    reflects: bool,
    strides: [i64; 4],
    padding: Padding,
}

impl KernelState for Transformed {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let attrs = ctx.attrs;
        let strides = four("strides", &attrs.required::<Vec<i64>>("strides")?)?;
        ensure!(
            strides[0] == 1 && strides[3] == 1,
            InvalidArgument,
            "strides {strides:?} must be 1 in the batch and depth dimensions"
        );
        Ok(Self {
            aligns_corners: attrs
                .get("resize_align_corners")
                .map(|_| attrs.required("resize_align_corners"))
                .transpose()?,
            reflects: is_reflection(&attrs.required::<String>("mode")?)?,
            strides,
            padding: Padding::new(&attrs.required::<String>("padding")?, &[], TensorFormat::Nhwc, 4)?,
        })
    }
}

/// Where a line that windows see comes from: two lines of the images, and how far it is from the first to the second. None
/// if it is padding of zeros.
type Line = Option<(usize, usize, f32)>;

/// One dimension on its way from the images to what windows see.
struct Way {
    /// The images' size.
    size: usize,
    resized: usize,
    /// Padding before the first resized line.
    before: usize,
    padded: usize,
    /// How far neighbours in the resized image are from each other.
    step: f32,
}

impl Way {
    /// The lines that windows see, and how windows move over them.
    fn seen(
        &self,
        reflects: bool,
        window: usize,
        stride: i64,
        padding: Padding<(i64, i64)>,
    ) -> Result<(Vec<Line>, Axis)> {
        let whole = Axis::new(self.padded, window, stride, 1, padding)?;
        ensure!(
            whole.output > 0,
            InvalidArgument,
            "a window of {window} does not fit images that are padded to {}",
            self.padded
        );
        let reach = (whole.output - 1).saturating_mul(whole.stride).saturating_add(window);
        // Lines between two windows, which none sees, are left out: the size that images get is an input.
        let step = whole.stride.min(window);
        let count = (whole.output - 1).saturating_mul(step).saturating_add(window);
        let place = |line: usize| line / step * whole.stride + line % step;
        // Where there are lines that no window sees, TensorFlow leaves out some of them before the first window, too.
        let missing = reach as i64 - self.padded as i64 + i64::from(padding == Padding::Valid);
        let origin = -(missing / 2);
        let lines = (0..count).map(|line| self.line(place(line) as i64 + origin, reflects));
        Ok((scratch::collected(lines)?, Axis::new(count, window, step as i64, 1, Padding::Valid)?))
    }

    fn line(&self, line: i64, reflects: bool) -> Line {
        if !(0..self.padded as i64).contains(&line) {
            return None;
        }
        let edge = f32::from(u8::from(reflects));
        let mut place = (line - self.before as i64) as f32;
        if place < 0.0 {
            place = -(place + 1.0 - edge);
        } else if place >= self.resized as f32 {
            place = self.resized as f32 * 2.0 - (place + 1.0 + edge);
        }
        place *= self.step;
        let last = self.size - 1;
        let first = (place.floor().max(0.0) as usize).min(last);
        Some((first, (place.ceil().max(0.0) as usize).min(last), place - first as f32))
    }
}

/// What is `fraction` of the way from `a` to `b`, rounded at each step.
fn between<T: Number>(a: T, b: T, fraction: T) -> T {
    a.wrapping_add(b.wrapping_sub(a).wrapping_mul(fraction))
}

impl Transformed {
    fn run<T: Computed<Wide: Convolve>>(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let input = ctx.input_at(0)?;
        let [batch, rows, columns, depth] = images(input.shape(), "input")?;
        ensure!(
            input.num_elements() > 0,
            InvalidArgument,
            "input must not be empty, but is of shape {}",
            input.shape()
        );
        let (resized, next) = match self.aligns_corners {
            None => ([rows, columns], 1),
            Some(_) => {
                let size = pair::<i32>(ctx.input_at(1)?, "size")?;
                ensure!(size.iter().all(|&size| size > 0), InvalidArgument, "size must be positive, not {size:?}");
                (size.map(|size| size as usize), 2)
            }
        };
        let (paddings, filter) = (ctx.input_at(next)?, ctx.input_at(next + 1)?);
        let shape = Shape::from([batch, resized[0], resized[1], depth]);
        let (paddings, padded) = mirrored(&shape, paddings, self.reflects)?;
        ensure!(
            padded[0] == batch && padded[3] == depth,
            InvalidArgument,
            "paddings must be 0 for batch and channels: {shape} would become {padded}"
        );
        ensure!(filter.rank() == 4, InvalidArgument, "filter must be 4-dimensional, not of shape {}", filter.shape());
        let (window, in_depth, out_depth) =
            ([filter.shape()[0], filter.shape()[1]], filter.shape()[2], filter.shape()[3]);
        ensure!(
            in_depth == depth,
            InvalidArgument,
            "input and filter must have the same depth, not {depth} and {in_depth}"
        );
        ensure!(
            filter.num_elements() > 0,
            InvalidArgument,
            "filter must not be empty, but is of shape {}",
            filter.shape()
        );
        let aligns = self.aligns_corners.unwrap_or(false);
        let way = |axis: usize, size: usize| Way {
            size,
            resized: resized[axis],
            before: paddings[axis + 1].before,
            padded: padded[axis + 1],
            step: match resized[axis] {
                to if aligns && to > 1 => (size - 1) as f32 / (to - 1) as f32,
                to => size as f32 / to as f32,
            },
        };
        let seen = |axis: usize, size: usize| {
            way(axis, size).seen(self.reflects, window[axis], self.strides[axis + 1], self.padding.along(axis + 1))
        };
        let ((lines, rows_axis), (places, columns_axis)) = (seen(0, rows)?, seen(1, columns)?);
        let geometry =
            Geometry { batch, rows: rows_axis, columns: columns_axis, in_depth, patch_depth: in_depth, out_depth };
        let mut output = ctx.allocate_output_at(0, geometry.output())?;
        let geometry = geometry.into();
        let mut seen = Tensor::alloc(T::DTYPE, [batch, lines.len(), places.len(), depth])?;
        let elements = input.as_slice::<T>()?;
        let length = places.len() * depth;
        ctx.parallel_chunks(seen.as_mut_slice::<T>()?, length, 2, |start, piece| {
            for (index, target) in (start / length..).zip(piece.chunks_exact_mut(length)) {
                let (image, line) = (index / lines.len(), lines[index % lines.len()]);
                let Some((top, bottom, down)) = line else {
                    target.fill(T::ZERO);
                    continue;
                };
                let row = |row: usize| &elements[(image * rows + row) * columns * depth..][..columns * depth];
                self.write_line((row(top), row(bottom), down), &places, depth, target);
            }
        });
        let packed = T::Wide::pack(ctx, &geometry, &widened::<T>(Some(ctx), filter)?)?;
        let seen = widened::<T>(Some(ctx), &seen)?;
        computed::<T>(ctx, &mut output, |output| {
            T::Wide::convolve(ctx, &geometry, (&seen, &packed), output.as_mut_slice()?, None)
        })?;
        ctx.set_output_at(0, output)
    }

    /// Writes a line of pixels, which lies between two rows.
    fn write_line<T: Computed>(
        &self,
        (top, bottom, down): (&[T], &[T], f32),
        places: &[Line],
        depth: usize,
        target: &mut [T],
    ) {
        let fraction = |fraction: f32| T::from_f64(fraction.into());
        for (target, place) in target.chunks_exact_mut(depth).zip(places) {
            match *place {
                None => target.fill(T::ZERO),
                Some((left, ..)) if self.aligns_corners.is_none() => {
                    target.copy_from_slice(&top[left * depth..][..depth]);
                }
                Some((left, right, across)) => {
                    let (across, down) = (fraction(across), fraction(down));
                    for (channel, target) in target.iter_mut().enumerate() {
                        let at = |row: &[T], place: usize| row[place * depth + channel];
                        let above = between(at(top, left), at(top, right), across);
                        let below = between(at(bottom, left), at(bottom, right), across);
                        *target = between(above, below, down);
                    }
                }
            }
        }
    }
}

#[register_kernel(device = Cpu, op = FusedPadConv2D, T = [f16, bf16, f32, f64])]
#[register_kernel(device = Cpu, op = FusedResizeAndPadConv2D, T = [f16, f32, f64])]
fn transformed<T: Computed<Wide: Convolve>>(transformed: &Transformed, ctx: &mut RawContext<'_>) -> Result<()> {
    transformed.run::<T>(ctx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_see_their_lines_and_no_others_are_kept() {
        let way = Way { size: 4, resized: 5000, before: 0, padded: 5000, step: 4.0 / 5000.0 };
        for (window, stride) in [(1, 1), (3, 1), (3, 2), (3, 3), (2, 7), (1, 1000), (3, 4990)] {
            let (lines, axis) = way.seen(true, window, stride, Padding::Valid).unwrap();
            let reach = (axis.output - 1) as i64 * stride + window as i64;
            let origin = -((reach - 5000 + 1) / 2);
            assert_eq!(axis.output as i64, (5000 - window as i64) / stride + 1);
            assert!(lines.len() <= axis.output * window && lines.len() as i64 <= reach);
            for (place, tap) in (0..axis.output).flat_map(|place| (0..window).map(move |tap| (place, tap))) {
                let expected = way.line(place as i64 * stride + tap as i64 + origin, true);
                assert_eq!(lines[place * axis.stride + tap], expected, "{window} {stride}: {place} {tap}");
            }
        }
    }
}

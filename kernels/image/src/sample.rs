//! Boxes and crops that are drawn by lot, with the random numbers of TensorFlow.

use kernlink::dtype::Number;
use kernlink::kernel::{KernelContext, RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, bail, ensure};
use kernlink_geometry::integers::ensure_scalar;
use kernlink_geometry::random::philox::{Philox, Words};
use kernlink_geometry::random::source::{Stateful, seeded};
use kernlink_geometry::resize::pair;
use kernlink_kernels_common::random_floats::uniform32;
use kernlink_kernels_common::rows::take_rows;
use kernlink_kernels_common::truncate::Truncate;
use kernlink_macros::register_kernel;
use kernlink_ops::{
    RandomCrop, SampleDistortedBoundingBox, SampleDistortedBoundingBoxV2, StatelessSampleDistortedBoundingBox,
};

/// A rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rectangle {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

impl Rectangle {
    fn area(&self) -> f32 {
        (self.right.wrapping_sub(self.left)).wrapping_mul(self.bottom.wrapping_sub(self.top)) as f32
    }

    /// The area of what both cover.
    fn common_area(&self, other: &Rectangle) -> f32 {
        let both = Rectangle {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        };
        if both.left > both.right || both.top > both.bottom { 0.0 } else { both.area() }
    }

    /// Whether enough of one of the objects is in it.
    fn covers(&self, part: f32, objects: &[Rectangle]) -> bool {
        let is_covered = |object: &Rectangle| object.area() >= 1.0 && self.common_area(object) / object.area() >= part;
        self.area() >= 1.0 && objects.iter().any(is_covered)
    }
}

/// A number below `count`, all equally likely: those random numbers are left out by which the first ones would come more often.
fn below(words: &mut Words, count: i32) -> i32 {
    let count = count as u32;
    if count == 0 || count.is_power_of_two() {
        let word = words.word();
        return if count == 0 { 0 } else { (word & (count - 1)) as i32 };
    }
    let least = u32::MAX % count + 1;
    loop {
        let word = words.word();
        if word >= least {
            return (word % count) as i32;
        }
    }
}

/// The nearest whole number, of two the even one, as x86 has it: TensorFlow compares 64 bits, and keeps 32.
fn nearest(value: f32) -> i64 {
    value.round_ties_even().to_i64()
}

/// What the attrs say of a box.
struct Wanted {
    /// How large a part of an object is covered, at least; else that is an input.
    covered: Option<f32>,
    aspect: [f32; 2],
    area: [f32; 2],
    attempts: i32,
    uses_image: bool,
}

impl Wanted {
    fn new(ctx: &RawConstruction<'_>) -> Result<Wanted> {
        let range = |name: &str, word: &str| {
            let list: Vec<f32> = ctx.attrs.required(name)?;
            let &[least, greatest] = &list[..] else {
                bail!(InvalidArgument, "{word} range field must specify 2 dimensions, not {}", list.len());
            };
            ensure!(
                least > 0.0 && greatest > 0.0,
                InvalidArgument,
                "{word} range must be positive: [{least}, {greatest}]"
            );
            Ok([least, greatest])
        };
        let covered = match ctx.attrs.get("min_object_covered") {
            Some(_) => Some(ensure_part(ctx.attrs.required("min_object_covered")?)?),
            None => None,
        };
        let (aspect, area) = (range("aspect_ratio_range", "Aspect ratio")?, range("area_range", "Area")?);
        ensure!(
            area.iter().all(|&part| part <= 1.0),
            InvalidArgument,
            "Area range must be less than or equal to 1.0: {area:?}"
        );
        let attempts: i64 = ctx.attrs.required("max_attempts")?;
        let Ok(attempts @ 1..) = i32::try_from(attempts) else {
            bail!(InvalidArgument, "max_attempts must be positive, and below 2^31: {attempts}");
        };
        Ok(Wanted {
            covered,
            aspect,
            area,
            attempts,
            uses_image: ctx.attrs.required("use_image_if_no_bounding_boxes")?,
        })
    }

    /// A box of this aspect, anywhere in an image; none if it does not fit.
    fn rectangle(&self, words: &mut Words, [rows, columns]: [i32; 2], aspect: f32) -> Option<Rectangle> {
        let [least, greatest] = self.area;
        if greatest <= 0.0 || aspect <= 0.0 || columns <= 0 || rows <= 0 || least > greatest {
            return None;
        }
        let area = |part: f32| part * columns as f32 * rows as f32;
        let [least, greatest] = [area(least), area(greatest)];
        let wide = |height: i32| nearest(height as f32 * aspect);
        let mut height = nearest((least / aspect).sqrt()) as i32;
        let mut tallest = nearest((greatest / aspect).sqrt()) as i32;
        if wide(tallest) > i64::from(columns) {
            // The greatest that is as wide as the image at most.
            tallest = ((f64::from(columns) + 0.5 - f64::from(0.0000001f32)) / f64::from(aspect)).to_i32();
            if wide(tallest) > i64::from(columns) {
                tallest = tallest.wrapping_sub(1);
            }
        }
        tallest = tallest.min(rows);
        height = height.min(tallest);
        if height < tallest {
            height = height.wrapping_add(below(words, tallest.wrapping_sub(height).wrapping_add(1)));
        }
        let mut width = wide(height) as i32;
        let product = |width: i32, height: i32| width.wrapping_mul(height) as f32;
        if product(width, height) < least {
            height = height.wrapping_add(1);
            width = wide(height) as i32;
        }
        if product(width, height) > greatest {
            height = height.wrapping_sub(1);
            width = wide(height) as i32;
        }
        let area = product(width, height);
        let is_outside = width > columns || height > rows || width <= 0 || height <= 0;
        if area < least || area > greatest || is_outside {
            return None;
        }
        let top = if height < rows { below(words, rows - height) } else { 0 };
        let left = if width < columns { below(words, columns - width) } else { 0 };
        Some(Rectangle { left, top, right: left + width, bottom: top + height })
    }
}

#[track_caller]
fn ensure_part(covered: f32) -> Result<f32> {
    ensure!(covered >= 0.0, InvalidArgument, "Min object covered must be non-negative: {covered}");
    Ok(covered)
}

/// The rows and columns of the image whose size is input 0.
fn image_size<T: Number>(ctx: &RawContext<'_>) -> Result<[i32; 2]> {
    let size = ctx.input_at(0)?;
    ensure!(size.rank() == 1, InvalidArgument, "image_size must be 1-dimensional, not of shape {}", size.shape());
    let &[rows, columns, _] = size.as_slice::<T>()? else {
        bail!(InvalidArgument, "image_size must contain 3 elements, not {}", size.num_elements());
    };
    let checked = |size: T, name: &str| match i32::try_from(size.as_i64()) {
        Ok(size) if (0..i32::MAX).contains(&size) => Ok(size),
        _ => bail!(InvalidArgument, "image {name} must be from 0 to 2^31 - 2, not {}", size.as_i64()),
    };
    Ok([checked(rows, "height")?, checked(columns, "width")?])
}

/// The boxes that are input 1, in pixels.
fn objects(ctx: &RawContext<'_>, [rows, columns]: [i32; 2]) -> Result<Vec<Rectangle>> {
    let boxes = ctx.input_at(1)?;
    ensure!(
        boxes.rank() == 3 && boxes.shape()[2] == 4,
        InvalidArgument,
        "input boxes must be 3-dimensional [batch, num_boxes, 4], not of shape {}",
        boxes.shape()
    );
    let corners = boxes.as_slice::<f32>()?;
    let outside = corners.iter().find(|corner| !(0.0..=1.0).contains(*corner));
    ensure!(
        outside.is_none(),
        InvalidArgument,
        "All bounding box coordinates must be in [0.0, 1.0]: {}",
        outside.copied().unwrap_or_default()
    );
    let part = |corner: f32, size: i32| (corner * size as f32).to_i32();
    scratch::collected(corners.as_chunks::<4>().0.iter().map(|&[y0, x0, y1, x1]| Rectangle {
        left: part(x0, columns),
        top: part(y0, rows),
        right: part(x1, columns),
        bottom: part(y1, rows),
    }))
}

/// After so many attempts the kernel looks whether its step is to go on.
const ATTEMPTS_AT_ONCE: i32 = 4096;

/// Sets the outputs to a box that fits, or to the image.
fn sample<T: Number>(ctx: &mut RawContext<'_>, wanted: &Wanted, generator: Philox) -> Result<()> {
    let size = image_size::<T>(ctx)?;
    let mut objects = objects(ctx, size)?;
    let covered = match wanted.covered {
        Some(covered) => covered,
        None => {
            ensure_scalar(ctx.input_at(2)?, "min_object_covered")?;
            ensure_part(ctx.input_at(2)?.to_scalar::<f32>()?)?
        }
    };
    let [rows, columns] = size;
    let image = Rectangle { left: 0, top: 0, right: columns, bottom: rows };
    if objects.is_empty() {
        ensure!(
            wanted.uses_image,
            InvalidArgument,
            "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to not \
             provide any bounding boxes."
        );
        scratch::push(&mut objects, image)?;
    }
    let mut words = Words::new(generator);
    let [least, greatest] = wanted.aspect;
    // A kernel that runs without a step is not to be cancelled.
    let step = ctx.step().ok();
    let mut found = None;
    for attempt in 0..wanted.attempts {
        if attempt % ATTEMPTS_AT_ONCE == 0 {
            step.map_or(Ok(()), |step| step.check())?;
        }
        let aspect = uniform32(words.word()) * (greatest - least) + least;
        let rectangle = wanted.rectangle(&mut words, size, aspect);
        found = rectangle.filter(|rectangle| rectangle.covers(covered, &objects));
        if found.is_some() {
            break;
        }
    }
    let Rectangle { left, top, right, bottom } = found.unwrap_or(image);
    let number = |value: i32| T::from_i64(value.into());
    ctx.set_output_at(0, Tensor::vector(&[number(top), number(left), T::ZERO])?)?;
    ctx.set_output_at(1, Tensor::vector(&[number(bottom - top), number(right - left), number(-1)])?)?;
    let (rows, columns) = (rows as f32, columns as f32);
    let corners = [top as f32 / rows, left as f32 / columns, bottom as f32 / rows, right as f32 / columns];
    ctx.set_output_at(2, Tensor::from_elements([1, 1, 4], &corners)?)
}

#[register_kernel(
    device = Cpu,
    op = [SampleDistortedBoundingBox, SampleDistortedBoundingBoxV2],
    T = [u8, i8, i16, i32, i64],
    state = |ctx| Ok((Wanted::new(ctx)?, Stateful::from_attrs(ctx.attrs)?)),
)]
fn sample_distorted_bounding_box<T: Number>(
    (wanted, source): &(Wanted, Stateful),
    ctx: &mut RawContext<'_>,
) -> Result<()> {
    // Each attempt takes four numbers, or a few more now and then.
    let generator = source.reserve(wanted.attempts as u64);
    sample::<T>(ctx, wanted, generator)
}

#[register_kernel(
    device = Cpu,
    op = StatelessSampleDistortedBoundingBox,
    T = [u8, i8, i16, i32, i64],
    state = |ctx| Wanted::new(ctx),
)]
fn stateless_sample_distorted_bounding_box<T: Number>(wanted: &Wanted, ctx: &mut RawContext<'_>) -> Result<()> {
    let generator = seeded(ctx.input_at(3)?)?;
    sample::<T>(ctx, wanted, generator)
}

/// The rows and columns of a crop, input 1.
fn crop_size(ctx: &RawContext<'_>) -> Result<[i64; 2]> {
    let [rows, columns] = pair::<i64>(ctx.input_at(1)?, "size")?;
    ensure!(rows >= 0 && columns >= 0, InvalidArgument, "size must not be negative: {rows} and {columns}");
    Ok([rows, columns])
}

#[register_kernel(
    device = Cpu,
    T = [u8, i8, i16, i32, i64, f32, f64],
    state = |ctx| Stateful::from_attrs(ctx.attrs),
)]
fn random_crop(source: &Stateful, ctx: &mut KernelContext<'_, RandomCrop>) -> Result<()> {
    let image = ctx.input_at(0)?.clone();
    let &[rows, columns, channels] = &image.shape()[..] else {
        bail!(InvalidArgument, "input must be 3-dimensional, not of shape {}", image.shape());
    };
    let [height, width] = crop_size(ctx)?;
    for (name, size, wanted) in [("width", columns, width), ("height", rows, height)] {
        ensure!(
            size as i64 >= wanted,
            FailedPrecondition,
            "{name} must be >= target_{name}: {name} = {size}, target_{name} = {wanted}"
        );
    }
    let (height, width) = (height as usize, width as usize);
    let mut words = Words::new(source.reserve(1));
    // The number of places is counted with 32 bits, as in TensorFlow.
    let mut start = |size: usize, wanted: usize| match (size - wanted + 1) as u32 {
        _ if size == wanted => 0,
        places => words.word().checked_rem(places).unwrap_or(0) as usize,
    };
    let left = start(columns, width);
    let top = start(rows, height);
    let mut output = ctx.allocate_output_at(0, Shape::from([height, width, channels]))?;
    if output.num_elements() > 0 {
        take_rows(ctx, &mut output, &image, channels, &|pixel| {
            Some((top + pixel / width) * columns + left + pixel % width)
        })?;
    }
    ctx.set_output_at(0, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_below_a_bound() {
        let mut words = Words::new(Philox::new(1, [2, 3]));
        for count in [1, 2, 3, 7, 1000, i32::MAX] {
            for _ in 0..20 {
                assert!((0..count).contains(&below(&mut words, count)), "{count}");
            }
        }
        assert_eq!(below(&mut words, 0), 0);
    }

    #[test]
    fn numbers_are_rounded_as_x86_does() {
        assert_eq!([2.5, 3.5, 3e9, -3e9, 1e30].map(nearest), [2, 4, 3_000_000_000, -3_000_000_000, i64::MIN]);
        assert_eq!(nearest(f32::NAN), i64::MIN);
    }

    #[test]
    fn a_box_without_pixels_covers_nothing() {
        let unit = Rectangle { left: 0, top: 0, right: 1, bottom: 1 };
        let none = Rectangle { right: 0, ..unit };
        assert!(unit.covers(1.0, &[unit]) && !none.covers(0.0, &[unit]) && !unit.covers(0.0, &[none]));
    }
}

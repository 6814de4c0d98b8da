//! QuantizeAndDequantize, V2, V3, V4 and V4Grad.

use kernlink::dtype::{Element, Number};
use kernlink::kernel::{Attrs, KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::op::Op;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, ensure};
use kernlink_geometry::integers::ensure_scalar;
use kernlink_kernels_common::number::Float;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::{
    QuantizeAndDequantize, QuantizeAndDequantizeV2, QuantizeAndDequantizeV3, QuantizeAndDequantizeV4,
    QuantizeAndDequantizeV4Grad,
};

use crate::number::{flushed, max, min};
use crate::slices::{Slices, axis_of};

/// What all versions have as attrs or inputs.
#[derive(Clone, Copy)]
struct Manner {
    is_signed: bool,
    is_narrow: bool,
    is_range_given: bool,
    rounds_up: bool,
    axis: i64,
}

/// The range of a slice, and the scale of its numbers.
#[derive(Clone, Copy)]
struct Scaled<T> {
    least: T,
    greatest: T,
    scale: T,
    inverse: T,
}

impl<T: Rounded> Scaled<T> {
    /// Numbers of `bits`, from 1 to 62, for the range: the end that asks for the larger steps says how long they are.
    fn new(manner: Manner, bits: u32, mut least: T, mut greatest: T) -> Scaled<T> {
        let (lowest, highest) = match (manner.is_signed, manner.is_narrow) {
            (false, _) => (0, (1i64 << bits) - 1),
            (true, narrow) => (-(1i64 << (bits - 1)) + i64::from(narrow), (1i64 << (bits - 1)) - 1),
        };
        let (lowest, highest) = (T::from_i64(lowest), T::from_i64(highest));
        (least, greatest) = (flushed(least), flushed(greatest));
        let from = |number: T, end: T| if number * end > T::ZERO { flushed(number / end) } else { Float::max_value() };
        let (from_least, from_greatest) = (from(lowest, least), from(highest, greatest));
        let (scale, inverse) = if from_least < from_greatest {
            let inverse = flushed(least / lowest);
            greatest = flushed(highest * inverse);
            (from_least, inverse)
        } else {
            let inverse = flushed(greatest / highest);
            least = flushed(lowest * inverse);
            (from_greatest, inverse)
        };
        Scaled { least, greatest, scale, inverse }
    }

    #[inline(always)]
    fn cut(&self, x: T) -> T {
        max(min(x, self.greatest), self.least)
    }

    #[inline(always)]
    fn even(&self, x: T) -> T {
        (x * self.scale).to_even() * self.inverse
    }

    #[inline(always)]
    fn up(&self, x: T) -> T {
        (x * self.scale + T::from_f64(0.5)).below() * self.inverse
    }
}

/// `float` and `double`.
trait Rounded: Element + Number + Float {
    /// The nearest whole number, of two the even one.
    fn to_even(self) -> Self;

    /// The whole number below.
    fn below(self) -> Self;
}

impl Rounded for f32 {
    #[inline(always)]
    fn to_even(self) -> f32 {
        self.round_ties_even()
    }

    #[inline(always)]
    fn below(self) -> f32 {
        self.floor()
    }
}

impl Rounded for f64 {
    #[inline(always)]
    fn to_even(self) -> f64 {
        self.round_ties_even()
    }

    #[inline(always)]
    fn below(self) -> f64 {
        self.floor()
    }
}

impl Manner {
    /// The attrs of a node, those that it has.
    fn of(ctx: &RawConstruction<'_>) -> Result<Manner> {
        let attrs = ctx.attrs;
        let has = |name: &str| attrs.get(name).is_some();
        Ok(Manner {
            is_signed: attrs.required("signed_input")?,
            is_narrow: has("narrow_range") && attrs.required("narrow_range")?,
            is_range_given: attrs.required("range_given")?,
            rounds_up: has("round_mode") && attrs.required::<String>("round_mode")? == "HALF_UP",
            axis: if has("axis") { attrs.required("axis")? } else { -1 },
        })
    }

    /// `f` of the input of a node, slice by slice, whose range is that of inputs 1 and 2 if it is given.
    fn compute<T: Rounded>(self, ctx: &mut RawContext<'_>, bits: i64, given: Option<[T; 2]>) -> Result<()> {
        let input = ctx.input_at(0)?.clone();
        let bits = ensure_bits(bits, self.is_signed)?;
        let axis = axis_of(self.axis, input.shape())?;
        let slices = Slices::new(input.shape(), axis);
        let xs = input.as_slice::<T>()?;
        let ranges = match (given, self.is_range_given) {
            (Some(range), true) => scratch::copied(&[range])?,
            (None, true) => given_ranges::<T>(ctx, slices, axis.is_some())?,
            (_, false) => own_ranges(ctx, slices, xs)?,
        };
        let scales =
            scratch::collected(ranges.iter().map(|&[least, greatest]| Scaled::new(self, bits, least, greatest)))?;
        let mut output = ctx.allocate_output_at(0, input.shape())?;
        let target = output.as_mut_slice::<T>()?;
        match (self.is_range_given, self.rounds_up) {
            (true, false) => slices.map(ctx, &scales, xs, target, |scaled: &Scaled<T>, x| scaled.even(scaled.cut(x))),
            (true, true) => slices.map(ctx, &scales, xs, target, |scaled: &Scaled<T>, x| scaled.up(scaled.cut(x))),
            (false, false) => slices.map(ctx, &scales, xs, target, |scaled: &Scaled<T>, x| scaled.even(x)),
            (false, true) => slices.map(ctx, &scales, xs, target, |scaled: &Scaled<T>, x| scaled.up(x)),
        }
        ctx.set_output_at(0, output)
    }
}

/// The number of bits that an attr says.
fn bits_of(ctx: &RawConstruction<'_>, manner: Manner) -> Result<i64> {
    let bits = ctx.attrs.required("num_bits")?;
    ensure_bits(bits, manner.is_signed)?;
    Ok(bits)
}

fn ensure_bits(bits: i64, is_signed: bool) -> Result<u32> {
    let most = if is_signed { 62 } else { 63 };
    ensure!(
        bits > 0 && bits < most,
        InvalidArgument,
        "num_bits is out of range: {bits} with signed_input {is_signed}; it must be from 1 to {}",
        most - 1
    );
    Ok(bits as u32)
}

/// The ranges that inputs 1 and 2 say.
fn given_ranges<T: Rounded>(ctx: &RawContext<'_>, slices: Slices, has_axis: bool) -> Result<Vec<[T; 2]>> {
    let ends = [("input_min", ctx.input_at(1)?), ("input_max", ctx.input_at(2)?)];
    for (name, tensor) in ends {
        if has_axis {
            ensure!(
                tensor.rank() == 1 && tensor.num_elements() == slices.count,
                InvalidArgument,
                "{name} has incorrect size, was {} expected {} to match the axis of the input",
                tensor.shape(),
                slices.count
            );
        } else {
            ensure_scalar(tensor, name)?;
        }
    }
    let [least, greatest] = ends.map(|(_, tensor)| tensor.as_slice::<T>());
    let (least, greatest) = (least?, greatest?);
    if let ([least], [greatest], false) = (least, greatest, has_axis) {
        ensure_order(least.as_f64(), greatest.as_f64())?;
    }
    scratch::collected(least.iter().zip(greatest).map(|(&least, &greatest)| [least, greatest]))
}

fn ensure_order(least: f64, greatest: f64) -> Result<()> {
    ensure!(least <= greatest, InvalidArgument, "Invalid range: input_min {least} > input_max {greatest}");
    Ok(())
}

/// Elements whose least and greatest are found before they are compared with others'.
const PIECE: usize = 4096;
/// Elements that are compared side by side.
const LANES: usize = 32;

/// The best of each lane and of the elements that come to it, but for the last few.
#[inline(always)]
fn best<T: Copy>(xs: &[T], lanes: &mut [T; LANES], better: impl Fn(T, T) -> T) {
    let mut best = *lanes;
    for group in xs.as_chunks::<LANES>().0 {
        for (lane, &x) in best.iter_mut().zip(group) {
            *lane = better(*lane, x);
        }
    }
    *lanes = best;
}

// A function each, which gives lanes: of one for both, or of one that joins them, the compiler makes vectors of two.
widest! {
    fn least_of<T: Rounded>(xs: &[T], lanes: &mut [T; LANES]) {
        best(xs, lanes, min);
    }
}
widest! {
    fn greatest_of<T: Rounded>(xs: &[T], lanes: &mut [T; LANES]) {
        best(xs, lanes, max);
    }
}

/// Widens a range to the elements, which are read twice by pieces, so that they come from memory once.
fn range_of<T: Rounded>(xs: &[T], range: &mut [T; 2]) {
    let (mut least, mut greatest) = (range[0], range[1]);
    // Few elements are not worth the joining of lanes.
    if xs.len() >= LANES {
        let mut lanes = [[least; LANES], [greatest; LANES]];
        for piece in xs.chunks(PIECE) {
            least_of(piece, &mut lanes[0]);
            greatest_of(piece, &mut lanes[1]);
        }
        least = lanes[0].into_iter().fold(least, min);
        greatest = lanes[1].into_iter().fold(greatest, max);
    }
    let rest = xs.as_chunks::<LANES>().1;
    *range = [
        rest.iter().fold(least, |least, &x| min(least, x)),
        rest.iter().fold(greatest, |greatest, &x| max(greatest, x)),
    ];
}

/// The ranges that the values take.
fn own_ranges<T: Rounded>(ctx: &RawContext<'_>, slices: Slices, xs: &[T]) -> Result<Vec<[T; 2]>> {
    let none = [T::infinity(), T::neg_infinity()];
    let join = |range: &mut [T; 2], other: [T; 2]| *range = [min(range[0], other[0]), max(range[1], other[1])];
    let mut ranges = scratch::filled(none, slices.count)?;
    if xs.is_empty() {
        return Ok(ranges);
    }
    if slices.inner == 1 || slices.count == 1 {
        // Rows of one element a slice, or one slice.
        let width = if slices.count == 1 { 1 } else { slices.count };
        let together = (PIECE / width).max(1) * width;
        let mut pieces = scratch::filled(none, xs.len().div_ceil(together).saturating_mul(width))?;
        ctx.parallel_chunks(&mut pieces, width, together / width, |first, pieces| {
            for (index, ranges) in pieces.chunks_mut(width).enumerate() {
                let start = (first / width + index) * together;
                let part = &xs[start..(start + together).min(xs.len())];
                if let [range] = ranges {
                    range_of(part, range);
                } else {
                    for row in part.chunks(width) {
                        for (range, &x) in ranges.iter_mut().zip(row) {
                            join(range, [x, x]);
                        }
                    }
                }
            }
        });
        for piece in pieces.chunks(width) {
            for (range, &other) in ranges.iter_mut().zip(piece) {
                join(range, other);
            }
        }
    } else {
        ctx.parallel_chunks(&mut ranges, 1, xs.len() / slices.count, |first, ranges| {
            for (index, range) in ranges.iter_mut().enumerate() {
                for part in xs.chunks(slices.inner).skip(first + index).step_by(slices.count) {
                    range_of(part, range);
                }
            }
        });
    }
    Ok(ranges)
}

/// A node of the first version: its range is that of attrs.
struct First(Manner, i64, [f32; 2]);

impl KernelState for First {
    fn new(ctx: &RawConstruction<'_>) -> Result<First> {
        let manner = Manner { rounds_up: false, ..Manner::of(ctx)? };
        let range: [f32; 2] = [ctx.attrs.required("input_min")?, ctx.attrs.required("input_max")?];
        if manner.is_range_given {
            ensure_order(range[0].into(), range[1].into())?;
        }
        Ok(First(manner, bits_of(ctx, manner)?, range))
    }
}

#[register_kernel(device = Cpu, T = [f32, f64])]
fn in_range_of_attrs<T: Rounded>(node: &First, ctx: &mut KernelContext<'_, QuantizeAndDequantize>) -> Result<()> {
    node.0.compute(ctx, node.1, Some(node.2.map(|end| T::from_f64(end.into()))))
}

/// A node whose number of bits is an attr.
struct WithBits(Manner, i64);

impl KernelState for WithBits {
    fn new(ctx: &RawConstruction<'_>) -> Result<WithBits> {
        let manner = Manner::of(ctx)?;
        Ok(WithBits(manner, bits_of(ctx, manner)?))
    }
}

#[register_kernel(device = Cpu, op = [QuantizeAndDequantizeV2, QuantizeAndDequantizeV4], T = [f32, f64])]
fn with_bits<O: Op, T: Rounded>(node: &WithBits, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    if node.0.is_range_given {
        // TensorFlow's kernel asks for scalars, and with an axis for vectors, too: a range that is given always fails there with an axis.
        ensure_scalar(ctx.input_at(1)?, "input_min")?;
        ensure_scalar(ctx.input_at(2)?, "input_max")?;
    }
    node.0.compute::<T>(ctx, node.1, None)
}

impl KernelState for Manner {
    fn new(ctx: &RawConstruction<'_>) -> Result<Manner> {
        Manner::of(ctx)
    }
}

#[register_kernel(device = Cpu, T = [f32, f64])]
fn third<T: Rounded>(manner: &Manner, ctx: &mut KernelContext<'_, QuantizeAndDequantizeV3>) -> Result<()> {
    let bits = ctx.input_at(3)?;
    ensure_scalar(bits, "num_bits")?;
    let bits = bits.to_scalar::<i32>()?;
    // Alone among its kin TensorFlow's refuses a scalar, with any axis.
    ensure!(ctx.input_at(0)?.rank() > 0, InvalidArgument, "input must have a dimension, but is a scalar");
    manner.compute::<T>(ctx, bits.into(), None)
}

#[register_kernel(device = Cpu, T = [f32, f64])]
fn gradient<T: Rounded>(
    attrs: &Attrs<QuantizeAndDequantizeV4Grad>,
    ctx: &mut KernelContext<'_, QuantizeAndDequantizeV4Grad>,
) -> Result<()> {
    let (gradients, input) = (ctx.input_at(0)?.clone(), ctx.input_at(1)?.clone());
    ensure!(
        gradients.shape() == input.shape(),
        InvalidArgument,
        "gradient and input must be the same size, not {} and {}",
        gradients.shape(),
        input.shape()
    );
    let axis = axis_of(attrs.axis, input.shape())?;
    let slices = Slices::new(input.shape(), axis);
    let ends = [ctx.input_at(2)?.clone(), ctx.input_at(3)?.clone()];
    for (end, name) in ends.iter().zip(["input_min", "input_max"]) {
        let fits = if axis.is_some() { end.rank() == 1 && end.num_elements() == slices.count } else { end.rank() == 0 };
        ensure!(fits, InvalidArgument, "{name} has incorrect size, expected {} was {}", slices.count, end.shape());
    }
    let pairs = ends[0].as_slice::<T>()?.iter().zip(ends[1].as_slice::<T>()?);
    let ranges = scratch::collected(pairs.map(|(&least, &greatest)| [least, greatest]))?;
    let mut backprop = ctx.allocate_output_at(0, input.shape())?;
    let pairs = (gradients.as_slice::<T>()?, input.as_slice::<T>()?);
    slices.map(ctx, &ranges, pairs, backprop.as_mut_slice::<T>()?, |&[least, greatest]: &[T; 2], (flow, x)| {
        flow * if x >= least && x <= greatest { T::ONE } else { T::ZERO }
    });
    ctx.set_output_at(0, backprop)?;
    ctx.set_output_at(1, Tensor::zeros(T::DTYPE, ends[0].shape())?)?;
    ctx.set_output_at(2, Tensor::zeros(T::DTYPE, ends[1].shape())?)
}

#[cfg(test)]
mod tests {
    use kernlink::Code;
    use kernlink::registry::Registry;
    use kernlink::tensor::Tensor;
    use kernlink::testing::OpTest;
    use kernlink_ops as ops;

    #[test]
    fn a_given_range_is_that_of_scalars() {
        let providers = [&ops::KERNLINK_PROVIDER, &crate::KERNLINK_PROVIDER];
        let mut test = OpTest::new(&Registry::linked(&providers).unwrap().into());
        let xs = || Tensor::from_elements([2, 3], &[0.1f32, 0.2, 0.3, 1.4, -0.5, 0.6]).unwrap();
        let (least, greatest) = ([-1.0f32; 3], [1.0f32; 3]);
        for axis in [-1, 0, 1] {
            let said = "input_min must be a scalar";
            test.run(|op| {
                let node = ops::quantize_and_dequantize_v2(op, xs(), least, greatest);
                node.axis(axis).range_given(true).build()
            })
            .expect_error(Code::InvalidArgument, said);
            test.run(|op| {
                let node = ops::quantize_and_dequantize_v4(op, xs(), least, greatest);
                node.axis(axis).range_given(true).build()
            })
            .expect_error(Code::InvalidArgument, said);
        }
        // With an axis scalars fail, too, so that no range that is given is taken.
        for (axis, is_taken) in [(-1, true), (0, false), (1, false)] {
            let v2 = test.run(|op| {
                let node = ops::quantize_and_dequantize_v2(op, xs(), -1.0f32, 1.0f32);
                node.axis(axis).range_given(true).build()
            });
            let v4 = test.run(|op| {
                let node = ops::quantize_and_dequantize_v4(op, xs(), -1.0f32, 1.0f32);
                node.axis(axis).range_given(true).build()
            });
            if is_taken {
                v2.expect_shape(ops::QuantizeAndDequantizeV2::OUTPUT, [2, 3]);
                v4.expect_shape(ops::QuantizeAndDequantizeV4::OUTPUT, [2, 3]);
            } else {
                v2.expect_error(Code::InvalidArgument, "incorrect size");
                v4.expect_error(Code::InvalidArgument, "incorrect size");
            }
        }
        // The third version takes a range for each slice, and without a given one the ends count for nothing.
        test.run(|op| ops::quantize_and_dequantize_v3(op, xs(), least, greatest, 8).axis(1).build())
            .expect_shape(ops::QuantizeAndDequantizeV3::OUTPUT, [2, 3]);
        test.run(|op| ops::quantize_and_dequantize_v2(op, xs(), least, greatest).axis(1).build())
            .expect_shape(ops::QuantizeAndDequantizeV2::OUTPUT, [2, 3]);
        test.run(|op| ops::quantize_and_dequantize_v4(op, xs(), least, greatest).axis(1).build())
            .expect_shape(ops::QuantizeAndDequantizeV4::OUTPUT, [2, 3]);
    }
}

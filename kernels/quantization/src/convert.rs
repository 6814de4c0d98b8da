//! QuantizeV2 and Dequantize.

use kernlink::dtype::{Element, Pod, bf16};
use kernlink::kernel::{Attrs, KernelContext, KernelState, RawConstruction};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::float16::Float16;
use kernlink_kernels_common::truncate::Truncate as _;
use kernlink_macros::register_kernel;
use kernlink_ops::{Dequantize, QuantizeV2};

use crate::number::{Quantized, ToNumbers, ToValues, flushed, max, min};
use crate::slices::{Slices, axis_of, set_range};

/// How numbers follow from values.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    /// Even steps from the lower end of the range to the upper.
    MinCombined,
    /// Likewise, moved so that zero is a number.
    MinFirst,
    /// Zero is zero.
    Scaled,
}

impl Mode {
    fn new(text: &str) -> Result<Mode> {
        Ok(match text {
            "MIN_COMBINED" => Mode::MinCombined,
            "MIN_FIRST" => Mode::MinFirst,
            "SCALED" => Mode::Scaled,
            _ => bail!(InvalidArgument, "mode must be MIN_COMBINED, MIN_FIRST or SCALED, not {text:?}"),
        })
    }
}

/// Half of the numbers if some are below zero.
fn half_range<T: Quantized>() -> f32 {
    if T::LOWEST == 0 { 0.0 } else { (T::HIGHEST - T::LOWEST + 1) as f32 / 2.0 }
}

/// The attrs of a [`QuantizeV2`].
struct Quantizer {
    mode: Mode,
    to_even: bool,
    is_narrow: bool,
    axis: i64,
    least_length: f32,
}

impl KernelState for Quantizer {
    fn new(ctx: &RawConstruction<'_>) -> Result<Quantizer> {
        let mode = Mode::new(&ctx.attrs.required::<String>("mode")?)?;
        let to_even = match ctx.attrs.required::<String>("round_mode")?.as_str() {
            "HALF_TO_EVEN" => true,
            "HALF_AWAY_FROM_ZERO" => false,
            other => bail!(InvalidArgument, "round_mode must be HALF_AWAY_FROM_ZERO or HALF_TO_EVEN, not {other:?}"),
        };
        ensure!(
            !to_even || mode == Mode::Scaled,
            InvalidArgument,
            "round_mode HALF_TO_EVEN is only supported with mode SCALED"
        );
        Ok(Quantizer {
            mode,
            to_even,
            is_narrow: ctx.attrs.required("narrow_range")?,
            axis: ctx.attrs.required("axis")?,
            least_length: ctx.attrs.required("ensure_minimum_range")?,
        })
    }
}

/// How a slice becomes numbers.
#[derive(Clone, Copy)]
struct Slice {
    least: f32,
    greatest: f32,
    scale: f32,
    by_range: ToNumbers,
}

impl Quantizer {
    /// The range that is used in place of one that is given: zero lies in it, and it is not too short.
    fn slice<T: Quantized>(&self, least: f32, greatest: f32) -> Result<Slice> {
        if greatest < least {
            bail!(InvalidArgument, "input_max_range must be larger than input_min_range: {greatest} < {least}");
        }
        let magnitude = max(1.0, max(least.abs(), greatest.abs()));
        let (mut least, given) = (min(0.0, least), greatest);
        let mut greatest = max(0.0, max(given, least + magnitude * self.least_length));
        let (lowest, highest) = (T::LOWEST + i64::from(self.is_narrow), T::HIGHEST);
        let scale = match self.mode {
            Mode::MinFirst => 0.0,
            Mode::MinCombined => ((T::HIGHEST - T::LOWEST) as f64 / f64::from(greatest - least)) as f32,
            Mode::Scaled => {
                let from = |number: f32, end: f32| if number * end > 0.0 { number / end } else { f32::MAX };
                let scale = min(from(lowest as f32, least), from(highest as f32, greatest));
                let end = |number: i64| flushed(number as f32 / scale);
                (least, greatest) = (end(lowest), end(highest));
                scale
            }
        };
        Ok(Slice { least, greatest, scale, by_range: ToNumbers::new::<T>(least, greatest) })
    }
}

#[register_kernel(device = Cpu, T = [QInt8, QUInt8, QInt16, QUInt16, QInt32])]
fn quantize<T: Element + Quantized>(node: &Quantizer, ctx: &mut KernelContext<'_, QuantizeV2>) -> Result<()> {
    let input = ctx.input_at(0)?.clone();
    let axis = axis_of(node.axis, input.shape())?;
    let slices = Slices::new(input.shape(), axis);
    let ends = [ctx.input_at(1)?.clone(), ctx.input_at(2)?.clone()];
    for (end, name) in ends.iter().zip(["min_range", "max_range"]) {
        if axis.is_some() {
            ensure!(
                end.rank() == 1 && end.num_elements() == slices.count,
                InvalidArgument,
                "{name} must be a vector of {} elements, one for each slice along the axis, not of shape {}",
                slices.count,
                end.shape()
            );
        } else {
            // As in TensorFlow's kernel, of any rank.
            ensure!(
                end.num_elements() == 1,
                InvalidArgument,
                "If axis is not specified, {name} must contain a single float element, but it is of shape {}",
                end.shape()
            );
        }
    }
    ensure!(
        axis.is_none() || slices.count == 1 || node.mode != Mode::MinFirst,
        Unimplemented,
        "MIN_FIRST mode is not implemented for Quantize with axis != -1."
    );
    let pairs = ends[0].as_slice::<f32>()?.iter().zip(ends[1].as_slice::<f32>()?);
    let ranges = scratch::collected_ok(pairs.map(|(&least, &greatest)| node.slice::<T>(least, greatest)))?;
    let mut output = ctx.allocate_output_at(0, input.shape())?;
    let (xs, target) = (input.as_slice::<f32>()?, output.as_mut_slice::<T>()?);
    let half = half_range::<T>();
    let cut = |range: &Slice, x: f32| max(min(x, range.greatest), range.least);
    let number = |value: f32| T::from_low_bits(value.to_i32());
    match (node.mode, node.to_even) {
        (Mode::MinFirst, _) => slices.map(ctx, &ranges, xs, target, |r, x| T::from_low_bits(r.by_range.number(x))),
        (Mode::MinCombined, _) if half == 0.0 => {
            slices.map(ctx, &ranges, xs, target, |r, x| number((cut(r, x) - r.least) * r.scale + 0.5));
        }
        (Mode::MinCombined, _) => {
            slices.map(ctx, &ranges, xs, target, |r, x| number(((cut(r, x) - r.least) * r.scale - half).round()));
        }
        (Mode::Scaled, true) => {
            slices.map(ctx, &ranges, xs, target, |r, x| number((cut(r, x) * r.scale).round_ties_even()))
        }
        (Mode::Scaled, false) => slices.map(ctx, &ranges, xs, target, |r, x| number((cut(r, x) * r.scale).round())),
    }
    ctx.set_output_at(0, output)?;
    if axis.is_none() {
        return set_range(ctx, 1, [ranges[0].least, ranges[0].greatest]);
    }
    // Of one slice, too, though TensorFlow's kernel gives scalars then: its shape function says vectors.
    for (index, end) in [|range: &Slice| range.least, |range: &Slice| range.greatest].into_iter().enumerate() {
        let mut tensor = ctx.allocate_output_at(1 + index, [ranges.len()])?;
        for (target, range) in tensor.as_mut_slice::<f32>()?.iter_mut().zip(&ranges) {
            *target = end(range);
        }
        ctx.set_output_at(1 + index, tensor)?;
    }
    Ok(())
}

/// The values of a [`Dequantize`].
trait Value: Element + Pod {
    /// The nearest number.
    fn of(value: f32) -> Self;
}

impl Value for f32 {
    #[inline(always)]
    fn of(value: f32) -> f32 {
        value
    }
}

impl Value for bf16 {
    #[inline(always)]
    fn of(value: f32) -> bf16 {
        <bf16 as Float16>::nearest(value)
    }
}

/// `(number + before) * scale + after`, or what the range says.
#[derive(Clone, Copy)]
struct Line {
    before: f32,
    scale: f32,
    after: f32,
    by_range: ToValues,
}

impl Line {
    fn new<T: Quantized>(mode: Mode, is_narrow: bool, least: f32, greatest: f32) -> Line {
        let by_range = ToValues::new::<T>(least, greatest);
        if mode == Mode::Scaled {
            let (lowest, highest) = (T::LOWEST + i64::from(is_narrow), T::HIGHEST as f32);
            let scale =
                if T::LOWEST == 0 { greatest / highest } else { max(least / lowest as f32, greatest / highest) };
            return Line { before: 0.0, scale, after: 0.0, by_range };
        }
        let scale = (greatest - least) / (T::HIGHEST as f32 - T::LOWEST as f32);
        Line { before: half_range::<T>(), scale, after: least, by_range }
    }
}

#[register_kernel(device = Cpu, T = [QInt8, QUInt8, QInt16, QUInt16, QInt32], dtype = [f32, bf16])]
fn dequantize<T: Element + Quantized, dtype: Value>(
    attrs: &Attrs<Dequantize>,
    ctx: &mut KernelContext<'_, Dequantize>,
) -> Result<()> {
    let mode = Mode::new(&attrs.mode)?;
    ensure!(
        dtype::DTYPE == f32::DTYPE || mode == Mode::MinCombined,
        InvalidArgument,
        "mode must be MIN_COMBINED when the output is bfloat16, not {:?}",
        attrs.mode
    );
    let input = ctx.input_at(0)?.clone();
    let axis = axis_of(attrs.axis, input.shape())?;
    let slices = Slices::new(input.shape(), axis);
    let ends: [Tensor; 2] = [ctx.input_at(1)?.clone(), ctx.input_at(2)?.clone()];
    for (end, name) in ends.iter().zip(["min_range", "max_range"]) {
        ensure!(
            end.num_elements() == slices.count && (end.rank() <= 1 || attrs.axis == -1),
            InvalidArgument,
            "{name} must have as many elements as input on the dequantization axis ({}), got {}, expected {}",
            attrs.axis,
            end.num_elements(),
            slices.count
        );
    }
    ensure!(
        slices.count == 1 || mode != Mode::MinFirst,
        Unimplemented,
        "MIN_FIRST mode is not implemented for Dequantize with axis != -1."
    );
    let pairs = ends[0].as_slice::<f32>()?.iter().zip(ends[1].as_slice::<f32>()?);
    let line = |(&least, &greatest): (&f32, &f32)| Line::new::<T>(mode, attrs.narrow_range, least, greatest);
    let lines = scratch::collected(pairs.map(line))?;
    let mut output = ctx.allocate_output_at(0, input.shape())?;
    let (numbers, target) = (input.as_slice::<T>()?, output.as_mut_slice::<dtype>()?);
    match mode {
        Mode::MinFirst => slices.map(ctx, &lines, numbers, target, |line, x| dtype::of(line.by_range.value(x.get()))),
        Mode::MinCombined => slices.map(ctx, &lines, numbers, target, |line, x| {
            dtype::of((x.get() as f32 + line.before) * line.scale + line.after)
        }),
        // TensorFlow takes the numbers of one range through `float` to `int`, where the highest of 32 bits are none and become
        // the lowest; those of several ranges it does not.
        Mode::Scaled if slices.count == 1 => {
            slices
                .map(ctx, &lines, numbers, target, |line, x| dtype::of((x.get() as f32).to_i32() as f32 * line.scale));
        }
        Mode::Scaled => slices.map(ctx, &lines, numbers, target, |line, x| dtype::of(x.get() as f32 * line.scale)),
    }
    ctx.set_output_at(0, output)
}

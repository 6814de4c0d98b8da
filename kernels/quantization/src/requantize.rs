//! QuantizeDownAndShrinkRange, Requantize, RequantizationRange, and those for each channel.

use kernlink::dtype::{Element, QInt8, QInt32, QUInt8};
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::truncate::Truncate as _;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::{
    QuantizeDownAndShrinkRange, RequantizationRange, RequantizationRangePerChannel, Requantize, RequantizePerChannel,
};

use crate::number::{Quantized, ToNumbers, ToValues, max, min, rounded, value_of};
use crate::slices::{Slices, range, scalar, set_range};

/// Elements whose lowest and highest are found before they are compared with others'.
const PIECE: usize = 8192;

widest! {
    fn ends_of(numbers: &[QInt32], ends: &mut [i32; 2]) {
        for number in numbers {
            *ends = [ends[0].min(number.0), ends[1].max(number.0)];
        }
    }
}

/// The range of values that input 0, whose own range is given, takes; zero is not below it.
fn taken(ctx: &RawContext<'_>, [least, greatest]: [f32; 2]) -> Result<[f32; 2]> {
    let numbers = ctx.input_at(0)?.as_slice::<QInt32>()?;
    let mut pieces = scratch::filled([i32::MAX, i32::MIN], numbers.len().div_ceil(PIECE))?;
    ctx.parallel_chunks(&mut pieces, 1, PIECE / 4, |first, pieces| {
        for (index, ends) in pieces.iter_mut().enumerate() {
            let start = (first + index) * PIECE;
            ends_of(&numbers[start..(start + PIECE).min(numbers.len())], ends);
        }
    });
    let ends = pieces.iter().fold([i32::MAX, i32::MIN], |[a, b], &[c, d]| [a.min(c), b.max(d)]);
    let [lowest, highest] = ends.map(|end| value_of::<QInt32>(end, least, greatest));
    Ok([min(0.0, lowest), highest])
}

/// From 32 bits to 8 by whole numbers, as TensorFlow has it for `quint8`.
#[derive(Clone, Copy)]
struct ByShifts {
    scale: i64,
    offset: i64,
}

impl ByShifts {
    /// Bits behind the point.
    const SHIFT: u32 = 16;

    fn new([least, greatest]: [f32; 2], [to_least, to_greatest]: [f32; 2]) -> ByShifts {
        let (from, to) = (greatest - least, to_greatest - to_least);
        let middle = (least + greatest) / 2.0;
        let one = f64::from(1 << Self::SHIFT);
        let half = 1i64 << (Self::SHIFT - 1);
        if to == 0.0 {
            return ByShifts { scale: 0, offset: half };
        }
        // One product is that of numbers rounded to `float`.
        let inverse = (255.0 / f64::from(to)) as f32;
        let scale = (255.0 * one * f64::from(from) / f64::from(to)).to_i64();
        let input = (middle * inverse * one as f32).to_i64();
        let output = (one * (f64::from(to_least) * 255.0) / f64::from(to)).round().to_i64();
        ByShifts { scale, offset: input.wrapping_sub(output).wrapping_add(half) }
    }

    #[inline(always)]
    fn number(&self, number: QInt32) -> QUInt8 {
        // Eigen's numbers of 32 bits become others by way of `float`, which rounds those beyond 2^24.
        let moved = (rounded(number.0).wrapping_mul(self.scale) >> 32).wrapping_add(self.offset);
        QUInt8((moved >> Self::SHIFT).clamp(0, 255) as u8)
    }
}

/// How numbers of 32 bits become others.
trait From32: Element + Quantized {
    fn fill(ctx: &RawContext<'_>, numbers: &[QInt32], target: &mut [Self], from: [f32; 2], to: [f32; 2]);
}

impl From32 for QUInt8 {
    fn fill(ctx: &RawContext<'_>, numbers: &[QInt32], target: &mut [QUInt8], from: [f32; 2], to: [f32; 2]) {
        let slices = Slices { count: 1, inner: numbers.len() };
        slices.map(ctx, &[ByShifts::new(from, to)], numbers, target, ByShifts::number);
    }
}

impl From32 for QInt8 {
    fn fill(ctx: &RawContext<'_>, numbers: &[QInt32], target: &mut [QInt8], from: [f32; 2], to: [f32; 2]) {
        let slices = Slices { count: 1, inner: numbers.len() };
        let way = (ToValues::new::<QInt32>(from[0], from[1]), ToNumbers::new::<QInt8>(to[0], to[1]));
        slices.map(ctx, &[way], numbers, target, |way, x: QInt32| QInt8(way.1.number(way.0.value(x.0)) as i8));
    }
}

/// Input 0, whose range is inputs 1 and 2, in another.
fn requantized<T: From32>(ctx: &mut RawContext<'_>, to: [f32; 2]) -> Result<()> {
    let from = range(ctx, 1, "the input")?;
    let input = ctx.input_at(0)?.clone();
    let mut output = ctx.allocate_output_at(0, input.shape())?;
    T::fill(ctx, input.as_slice()?, output.as_mut_slice()?, from, to);
    ctx.set_output_at(0, output)?;
    set_range(ctx, 1, to)
}

#[register_kernel(device = Cpu, Tinput = [QInt32], out_type = [QUInt8])]
fn shrink<out_type: From32>(ctx: &mut KernelContext<'_, QuantizeDownAndShrinkRange>) -> Result<()> {
    let from = range(ctx, 1, "the input")?;
    let to = taken(ctx, from)?;
    requantized::<out_type>(ctx, to)
}

#[register_kernel(device = Cpu, Tinput = [QInt32], out_type = [QUInt8, QInt8])]
fn requantize<out_type: From32>(ctx: &mut KernelContext<'_, Requantize>) -> Result<()> {
    let to = range(ctx, 3, "the output")?;
    ensure!(to[0] <= 0.0, InvalidArgument, "requested_output_min must be <= 0, but got {}", to[0]);
    ensure!(
        to[1] >= to[0],
        InvalidArgument,
        "requested_output_max must be >= requested_output_min, but got {} and {}",
        to[1],
        to[0]
    );
    requantized::<out_type>(ctx, to)
}

#[register_kernel(device = Cpu, Tinput = [QInt32])]
fn find_range(ctx: &mut KernelContext<'_, RequantizationRange>) -> Result<()> {
    // TensorFlow takes the first of several numbers here.
    let first = |index: usize, name: &str| match ctx.input_at(index)?.as_slice::<f32>()? {
        [first, ..] => Ok(*first),
        [] => bail!(InvalidArgument, "{name} must not be empty"),
    };
    let taken = taken(ctx, [first(1, "input_min")?, first(2, "input_max")?])?;
    set_range(ctx, 0, taken)
}

/// How far the ends of each channel's range, two inputs, are from zero at most.
fn magnitudes(ctx: &RawContext<'_>) -> Result<Vec<f32>> {
    let (least, greatest) = (ctx.input_at(1)?, ctx.input_at(2)?);
    ensure!(
        least.rank() == 1 && greatest.rank() == 1 && least.num_elements() == greatest.num_elements(),
        InvalidArgument,
        "input_min and input_max must be vectors of one length, not of shapes {} and {}",
        least.shape(),
        greatest.shape()
    );
    let pairs = least.as_slice::<f32>()?.iter().zip(greatest.as_slice::<f32>()?);
    scratch::collected(pairs.map(|(least, greatest)| max(least.abs(), greatest.abs())))
}

/// What the numbers of 32 bits are divided by.
const HALF: f32 = 2_147_483_648.0;

/// Numbers of 8 bits that a value becomes by rounding, halves to even, and cutting.
trait Cut: Element + Quantized {
    /// The highest, of `qint8` and `quint8`.
    const FACTOR: f32;
}

impl Cut for QInt8 {
    const FACTOR: f32 = 127.0;
}

impl Cut for QUInt8 {
    const FACTOR: f32 = 255.0;
}

#[register_kernel(device = Cpu, T = [QInt32], out_type = [QInt8, QUInt8])]
fn requantize_channels<out_type: Cut>(ctx: &mut KernelContext<'_, RequantizePerChannel>) -> Result<()> {
    let input = ctx.input_at(0)?.clone();
    let magnitudes = magnitudes(ctx)?;
    let rank = input.rank();
    ensure!(
        rank == 4 && input.shape()[3] == magnitudes.len(),
        InvalidArgument,
        "input must have 4 dimensions, of which the last is that of the {} channels, not shape {}",
        magnitudes.len(),
        input.shape()
    );
    let to = [scalar(ctx, 3, "requested_output_min")?, scalar(ctx, 4, "requested_output_max")?];
    ensure!(
        out_type::LOWEST == 0 || to[0] < 0.0,
        InvalidArgument,
        "requested_output_min must be below zero for qint8, not {}",
        to[0]
    );
    let requested = max(to[0].abs(), to[1].abs());
    let scales = scratch::collected(magnitudes.iter().map(|&end| out_type::FACTOR * (end / requested / HALF)))?;
    let mut output = ctx.allocate_output_at(0, input.shape())?;
    let bounds = (out_type::LOWEST as f32, out_type::HIGHEST as f32);
    let slices = Slices::new(input.shape(), Some(rank - 1));
    slices.map(ctx, &scales, input.as_slice::<QInt32>()?, output.as_mut_slice::<out_type>()?, |scale, x| {
        let value = x.0 as f32 * scale;
        out_type::from_low_bits(min(max(value, bounds.0), bounds.1).round_ties_even().to_i32())
    });
    ctx.set_output_at(0, output)?;
    set_range(ctx, 1, to)
}

widest! {
    fn ends_of_channels(numbers: &[QInt32], ends: &mut [[i32; 2]]) {
        for row in numbers.chunks(ends.len()) {
            for (ends, number) in ends.iter_mut().zip(row) {
                *ends = [ends[0].min(number.0), ends[1].max(number.0)];
            }
        }
    }
}

#[register_kernel(device = Cpu, T = [QInt32])]
fn range_of_channels(
    attrs: &Attrs<RequantizationRangePerChannel>,
    ctx: &mut KernelContext<'_, RequantizationRangePerChannel>,
) -> Result<()> {
    let magnitudes = magnitudes(ctx)?;
    let input: &Tensor = ctx.input_at(0)?;
    ensure!(input.num_elements() > 0, InvalidArgument, "input must not be empty");
    ensure!(
        input.rank() == 4 && input.shape()[3] == magnitudes.len(),
        InvalidArgument,
        "input must be in NHWC format with the {} channels of input_min, not of shape {}",
        magnitudes.len(),
        input.shape()
    );
    let channels = magnitudes.len();
    let numbers = input.as_slice::<QInt32>()?;
    let together = (PIECE / channels).max(1) * channels;
    let mut pieces = scratch::filled([i32::MAX, i32::MIN], numbers.len().div_ceil(together).saturating_mul(channels))?;
    ctx.parallel_chunks(&mut pieces, channels, together / channels, |first, pieces| {
        for (index, ends) in pieces.chunks_mut(channels).enumerate() {
            let start = (first / channels + index) * together;
            ends_of_channels(&numbers[start..(start + together).min(numbers.len())], ends);
        }
    });
    let mut greatest = f32::MIN_POSITIVE;
    let mut is_below = false;
    for (channel, magnitude) in magnitudes.iter().enumerate() {
        let of_channel = pieces.iter().skip(channel).step_by(channels);
        let [low, high] = of_channel.fold([i32::MAX, i32::MIN], |[a, b], &[c, d]| [a.min(c), b.max(d)]);
        is_below |= low < 0;
        let most = low.wrapping_abs().max(high.wrapping_abs());
        greatest = max(greatest, magnitude * most as f32 / HALF);
    }
    if greatest > attrs.clip_value_max {
        greatest = attrs.clip_value_max;
    }
    set_range(ctx, 0, [if is_below { -greatest } else { 0.0 }, greatest])
}

//! FakeQuantWithMinMaxArgs, Vars and VarsPerChannel, and their gradients.

use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, ensure};
use kernlink_geometry::integers::ensure_scalar;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::{
    FakeQuantWithMinMaxArgs, FakeQuantWithMinMaxArgsGradient, FakeQuantWithMinMaxVars, FakeQuantWithMinMaxVarsGradient,
    FakeQuantWithMinMaxVarsPerChannel, FakeQuantWithMinMaxVarsPerChannelGradient,
};

use crate::number::{flushed, max, min};
use crate::slices::Slices;

/// The lowest and the highest number.
#[derive(Clone, Copy)]
struct Numbers([f32; 2]);

impl KernelState for Numbers {
    fn new(ctx: &RawConstruction<'_>) -> Result<Numbers> {
        let bits: i64 = ctx.attrs.required("num_bits")?;
        let narrow: bool = ctx.attrs.required("narrow_range")?;
        ensure!((2..=16).contains(&bits), InvalidArgument, "num_bits must be between 2 and 16, inclusive, not {bits}");
        Ok(Numbers([f32::from(u8::from(narrow)), ((1 << bits) - 1) as f32]))
    }
}

impl KernelState for Nudged {
    fn new(ctx: &RawConstruction<'_>) -> Result<Nudged> {
        let (least, greatest) = (flushed(ctx.attrs.required("min")?), flushed(ctx.attrs.required("max")?));
        ensure!(least < greatest, InvalidArgument, "min has to be smaller than max, was: {least} >= {greatest}");
        Ok(<Numbers as KernelState>::new(ctx)?.nudged(least, greatest))
    }
}

impl Numbers {
    /// A range that is moved so that zero is one of its numbers.
    fn nudged(self, least: f32, greatest: f32) -> Nudged {
        let Numbers([lowest, highest]) = self;
        let (least, greatest) = (flushed(least), flushed(greatest));
        if least == 0.0 && greatest == 0.0 {
            // All values become zero, and what flows passes.
            return Nudged { least: f32::NEG_INFINITY, greatest: f32::INFINITY, scale: 0.0, inverse: 0.0, zero: 0.0 };
        }
        let scale = (greatest - least) / (highest - lowest);
        let zero = lowest - least / scale;
        let zero = if zero < lowest {
            lowest
        } else if zero > highest {
            highest
        } else {
            f32::from(zero.round() as u16)
        };
        let inverse = (highest - lowest) / (greatest - least);
        let least = (lowest - zero) * scale;
        Nudged { least, greatest: (highest - zero) * scale, scale, inverse, zero: (-least * inverse + 0.5).floor() }
    }
}

/// A range of which zero is one of the numbers.
#[derive(Clone, Copy)]
struct Nudged {
    least: f32,
    greatest: f32,
    /// What one step stands for.
    scale: f32,
    inverse: f32,
    /// The number of steps from the lowest number to zero.
    zero: f32,
}

impl Nudged {
    #[inline(always)]
    fn cut(&self, x: f32) -> f32 {
        max(min(x, self.greatest), self.least) - self.least
    }

    /// Whether all values become zero.
    #[inline(always)]
    fn is_none(&self) -> bool {
        self.scale == 0.0 && self.least == f32::NEG_INFINITY
    }

    #[inline(always)]
    fn multiplied(&self, x: f32) -> f32 {
        if self.is_none() {
            return 0.0;
        }
        (self.cut(x) * self.inverse - self.zero + 0.5).floor() * self.scale
    }

    #[inline(always)]
    fn divided(&self, x: f32) -> f32 {
        if self.is_none() {
            return 0.0;
        }
        (self.cut(x) / self.scale - self.zero + 0.5).floor() * self.scale
    }

    /// What flows to an input: as TensorFlow has it a product, so that infinity outside of the range becomes NaN.
    #[inline(always)]
    fn flow(&self, (gradient, x): (f32, f32)) -> f32 {
        if self.is_none() {
            return gradient;
        }
        gradient * f32::from(u8::from(x >= self.least && x <= self.greatest))
    }
}

#[register_kernel(device = Cpu)]
fn args(range: &Nudged, ctx: &mut KernelContext<'_, FakeQuantWithMinMaxArgs>) -> Result<()> {
    let inputs = ctx.input_at(0)?.clone();
    let mut outputs = ctx.allocate_output_at(0, inputs.shape())?;
    let slices = Slices::new(inputs.shape(), None);
    slices.map(ctx, &[*range], inputs.as_slice::<f32>()?, outputs.as_mut_slice()?, Nudged::multiplied);
    ctx.set_output_at(0, outputs)
}

/// What flows to inputs of one range.
fn flow(ctx: &mut RawContext<'_>, range: &Nudged) -> Result<Tensor> {
    let (gradients, inputs) = (ctx.input_at(0)?.clone(), ctx.input_at(1)?.clone());
    ensure_same(&gradients, &inputs)?;
    let mut backprops = ctx.allocate_output_at(0, inputs.shape())?;
    let (from, xs) = (gradients.as_slice::<f32>()?, inputs.as_slice::<f32>()?);
    let slices = Slices::new(inputs.shape(), None);
    slices.map(ctx, &[*range], (from, xs), backprops.as_mut_slice()?, Nudged::flow);
    Ok(backprops)
}

fn ensure_same(gradients: &Tensor, inputs: &Tensor) -> Result<()> {
    ensure!(
        gradients.shape() == inputs.shape(),
        InvalidArgument,
        "gradient and input must be the same size, not {} and {}",
        gradients.shape(),
        inputs.shape()
    );
    Ok(())
}

#[register_kernel(device = Cpu)]
fn args_gradient(range: &Nudged, ctx: &mut KernelContext<'_, FakeQuantWithMinMaxArgsGradient>) -> Result<()> {
    let backprops = flow(ctx, range)?;
    ctx.set_output_at(0, backprops)
}

/// The range that two scalars from input `index` on say.
fn one_range(ctx: &RawContext<'_>, numbers: Numbers, index: usize) -> Result<Nudged> {
    let (least, greatest) = (ctx.input_at(index)?, ctx.input_at(index + 1)?);
    ensure_scalar(least, "min")?;
    ensure_scalar(greatest, "max")?;
    Ok(numbers.nudged(least.to_scalar()?, greatest.to_scalar()?))
}

#[register_kernel(device = Cpu)]
fn vars(numbers: &Numbers, ctx: &mut KernelContext<'_, FakeQuantWithMinMaxVars>) -> Result<()> {
    let range = one_range(ctx, *numbers, 1)?;
    let inputs = ctx.input_at(0)?.clone();
    let mut outputs = ctx.allocate_output_at(0, inputs.shape())?;
    let slices = Slices::new(inputs.shape(), None);
    slices.map(ctx, &[range], inputs.as_slice::<f32>()?, outputs.as_mut_slice()?, Nudged::divided);
    ctx.set_output_at(0, outputs)
}

/// Elements whose sums are added up before they are added to the others, and are not split over threads.
const PIECE: usize = 4096;
/// Sums that are added up side by side.
const LANES: usize = 16;

widest! {
    fn sums_of(gradients: &[f32], inputs: &[f32], range: &Nudged, sums: &mut [f32; 2]) {
        let mut lanes = [[0.0f32; LANES]; 2];
        let mut add = |lane: usize, gradient: f32, x: f32| {
            lanes[0][lane] += gradient * f32::from(u8::from(x < range.least));
            lanes[1][lane] += gradient * f32::from(u8::from(x > range.greatest));
        };
        let (groups, rest) = gradients.as_chunks::<LANES>();
        let (xs, last) = inputs.as_chunks::<LANES>();
        for (group, xs) in groups.iter().zip(xs) {
            for lane in 0..LANES {
                add(lane, group[lane], xs[lane]);
            }
        }
        for (lane, (&gradient, &x)) in rest.iter().zip(last).enumerate() {
            add(lane, gradient, x);
        }
        *sums = lanes.map(|lanes| lanes.iter().sum());
    }
}

#[register_kernel(device = Cpu)]
fn vars_gradient(numbers: &Numbers, ctx: &mut KernelContext<'_, FakeQuantWithMinMaxVarsGradient>) -> Result<()> {
    let range = one_range(ctx, *numbers, 2)?;
    let backprops = flow(ctx, &range)?;
    let (gradients, inputs) = (ctx.input_at(0)?.clone(), ctx.input_at(1)?.clone());
    let (from, xs) = (gradients.as_slice::<f32>()?, inputs.as_slice::<f32>()?);
    let mut sums: Vec<[f32; 2]> = scratch::zeros(xs.len().div_ceil(PIECE))?;
    ctx.parallel_chunks(&mut sums, 1, PIECE, |first, sums| {
        for (index, sums) in sums.iter_mut().enumerate() {
            let piece = (first + index) * PIECE..((first + index + 1) * PIECE).min(xs.len());
            sums_of(&from[piece.clone()], &xs[piece], &range, sums);
        }
    });
    ctx.set_output_at(0, backprops)?;
    for end in 0..2 {
        ctx.set_output_at(1 + end, Tensor::scalar(sums.iter().map(|sums| sums[end]).sum::<f32>()))?;
    }
    Ok(())
}

/// The ranges that two vectors from input `index` on say, for the last dimension of `inputs`.
fn ranges(ctx: &RawContext<'_>, numbers: Numbers, index: usize, inputs: &Tensor) -> Result<Vec<Nudged>> {
    ensure!(inputs.rank() >= 1, InvalidArgument, "inputs must have at least one dimension");
    let channels = inputs.shape()[inputs.rank() - 1];
    let ends = [("min", ctx.input_at(index)?), ("max", ctx.input_at(index + 1)?)];
    for (name, tensor) in ends {
        ensure!(
            tensor.rank() == 1 && tensor.num_elements() == channels,
            InvalidArgument,
            "{name} has incorrect size, expected {channels} was {}",
            tensor.shape()
        );
    }
    let [least, greatest] = ends.map(|(_, tensor)| tensor.as_slice::<f32>());
    scratch::collected(least?.iter().zip(greatest?).map(|(&least, &greatest)| numbers.nudged(least, greatest)))
}

/// Elements of a row that is worth a loop of its own.
const ROW: usize = 64;

/// Elements of as many rows of so many channels as are worth a loop of their own together, or of one.
fn row_width(channels: usize) -> usize {
    channels * (ROW / channels.max(1)).max(1)
}

widest! {
    /// [`Nudged::multiplied`] of rows, by ranges whose parts, in the order of the fields, lie each in a row: vectors of them are
    /// loaded as they are.
    fn multiplied_rows(inputs: &[f32], target: &mut [f32], parts: [&[f32]; 5]) {
        let width = parts[0].len();
        for (target, inputs) in target.chunks_mut(width).zip(inputs.chunks(width)) {
            let length = target.len();
            let [least, greatest, scale, inverse, zero] = parts.map(|part| &part[..length]);
            for (place, (target, &x)) in target.iter_mut().zip(inputs).enumerate() {
                let range = Nudged {
                    least: least[place],
                    greatest: greatest[place],
                    scale: scale[place],
                    inverse: inverse[place],
                    zero: zero[place],
                };
                *target = range.multiplied(x);
            }
        }
    }
}

#[register_kernel(device = Cpu)]
fn per_channel(numbers: &Numbers, ctx: &mut KernelContext<'_, FakeQuantWithMinMaxVarsPerChannel>) -> Result<()> {
    let inputs = ctx.input_at(0)?.clone();
    let ranges = ranges(ctx, *numbers, 1, &inputs)?;
    let mut outputs = ctx.allocate_output_at(0, inputs.shape())?;
    let (xs, target) = (inputs.as_slice::<f32>()?, outputs.as_mut_slice::<f32>()?);
    if !target.is_empty() {
        // Several short rows are one.
        let width = row_width(ranges.len());
        let part = |part: fn(&Nudged) -> f32| scratch::collected(ranges.iter().cycle().take(width).map(part));
        let parts = [
            part(|range| range.least)?,
            part(|range| range.greatest)?,
            part(|range| range.scale)?,
            part(|range| range.inverse)?,
            part(|range| range.zero)?,
        ];
        let parts = parts.each_ref().map(|part| &part[..]);
        ctx.parallel_chunks(target, width, 1, |first, target| multiplied_rows(&xs[first..], target, parts));
    }
    ctx.set_output_at(0, outputs)
}

widest! {
    /// Adds to each place of a row the gradients there of what is below its range, and of what is above it.
    fn add_rows(gradients: &[f32], inputs: &[f32], ends: [&[f32]; 2], sums: [&mut [f32]; 2]) {
        let ([least, greatest], [below, above]) = (ends, sums);
        for (gradients, inputs) in gradients.chunks(least.len()).zip(inputs.chunks(least.len())) {
            let length = gradients.len();
            let (least, greatest) = (&least[..length], &greatest[..length]);
            let (below, above) = (&mut below[..length], &mut above[..length]);
            for (place, (&gradient, &x)) in gradients.iter().zip(inputs).enumerate() {
                below[place] += gradient * f32::from(u8::from(x < least[place]));
                above[place] += gradient * f32::from(u8::from(x > greatest[place]));
            }
        }
    }
}

/// For each channel the gradients of what is below its range, and of what is above it. Neither operand is empty.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
fn sums_beyond(ctx: &RawContext<'_>, gradients: &[f32], inputs: &[f32], ranges: &[Nudged]) -> Result<Vec<[f32; 2]>> {
    // Several short rows are one.
    let width = row_width(ranges.len());
    let part = |part: fn(&Nudged) -> f32| scratch::collected(ranges.iter().cycle().take(width).map(part));
    let (least, greatest) = (part(|range| range.least)?, part(|range| range.greatest)?);
    let piece = width * (PIECE / width).max(1);
    let mut sums: Vec<f32> = scratch::zeros(inputs.len().div_ceil(piece).saturating_mul(2 * width))?;
    ctx.parallel_chunks(&mut sums, 2 * width, piece / width, |first, sums| {
        for (index, sums) in sums.chunks_mut(2 * width).enumerate() {
            let start = (first / (2 * width) + index) * piece;
            let part = start..(start + piece).min(inputs.len());
            add_rows(&gradients[part.clone()], &inputs[part], [&least, &greatest], sums.split_at_mut(width).into());
        }
    });
    let mut totals: Vec<[f32; 2]> = scratch::zeros(ranges.len())?;
    for sums in sums.chunks(2 * width) {
        let (below, above) = sums.split_at(width);
        for (place, (below, above)) in below.iter().zip(above).enumerate() {
            let total = &mut totals[place % ranges.len()];
            *total = [total[0] + below, total[1] + above];
        }
    }
    Ok(totals)
}

#[register_kernel(device = Cpu)]
fn per_channel_gradient(
    numbers: &Numbers,
    ctx: &mut KernelContext<'_, FakeQuantWithMinMaxVarsPerChannelGradient>,
) -> Result<()> {
    let (gradients, inputs) = (ctx.input_at(0)?.clone(), ctx.input_at(1)?.clone());
    ensure_same(&gradients, &inputs)?;
    let ranges = ranges(ctx, *numbers, 2, &inputs)?;
    let channels = ranges.len();
    let mut backprops = ctx.allocate_output_at(0, inputs.shape())?;
    let mut ends = [1, 2].map(|index| ctx.allocate_output_at(index, [channels]));
    let (from, xs) = (gradients.as_slice::<f32>()?, inputs.as_slice::<f32>()?);
    let mut totals: Vec<[f32; 2]> = scratch::zeros(channels)?;
    if !xs.is_empty() {
        let slices = Slices::new(inputs.shape(), Some(inputs.rank() - 1));
        slices.map(ctx, &ranges, (from, xs), backprops.as_mut_slice()?, Nudged::flow);
        totals = sums_beyond(ctx, from, xs, &ranges)?;
    }
    ctx.set_output_at(0, backprops)?;
    for (end, tensor) in ends.iter_mut().enumerate() {
        let mut tensor = std::mem::replace(tensor, Ok(Tensor::scalar(0.0f32)))?;
        for (target, total) in tensor.as_mut_slice::<f32>()?.iter_mut().zip(&totals) {
            *target = total[end];
        }
        ctx.set_output_at(1 + end, tensor)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::op::{OpDef, Signature};
    use kernlink::threads::ThreadPool;

    #[test]
    fn sums_beyond_ranges_are_those_of_all_pieces() {
        let signature = Signature::default();
        for threads in [1, 3] {
            let pool = ThreadPool::new("test", threads);
            let ctx = RawContext::new("sums", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(&pool));
            // One piece or several, of which the last is shorter, and whose last row is.
            for (rows, channels) in [(1, 1), (9001, 1), (2, 3), (1365, 3), (7001, 3), (200, 64), (131, 70), (3, 5000)] {
                let range = |channel: usize| {
                    let (least, greatest) = (-1.0 - (channel % 3) as f32, 1.0 + (channel % 2) as f32);
                    Nudged { least, greatest, scale: 1.0, inverse: 1.0, zero: 0.0 }
                };
                let ranges: Vec<Nudged> = (0..channels).map(range).collect();
                // Small whole numbers, so that every order of addition gives the same sum.
                let inputs: Vec<f32> = (0..rows * channels).map(|i| (i * 7 % 11) as f32 - 5.0).collect();
                let gradients: Vec<f32> = (0..rows * channels).map(|i| (i * 5 % 7) as f32 - 2.0).collect();
                let mut expected = vec![[0.0; 2]; channels];
                for (place, (&x, &gradient)) in inputs.iter().zip(&gradients).enumerate() {
                    let (range, sums) = (&ranges[place % channels], &mut expected[place % channels]);
                    if x < range.least {
                        sums[0] += gradient;
                    } else if x > range.greatest {
                        sums[1] += gradient;
                    }
                }
                let found = sums_beyond(&ctx, &gradients, &inputs, &ranges).unwrap();
                assert_eq!(found, expected, "{rows} x {channels} on {threads}");
            }
        }
    }
}

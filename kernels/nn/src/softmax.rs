//! Softmax and LogSoftmax.

use kernlink::Result;
use kernlink::dtype::Pod;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink_geometry::loss::ensure_classes;
use kernlink_kernels_common::fast;
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{LogSoftmax, Softmax};

use super::vector::widest;

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64])]
fn softmax<T: Computed<Wide: Normalize>>(ctx: &mut KernelContext<'_, Softmax>) -> Result<()> {
    let logits = ctx.input(Softmax::LOGITS)?.shape().clone();
    ensure_classes(&logits)?;
    let forwarded = ctx.forward_input(Softmax::LOGITS, Softmax::SOFTMAX, &logits);
    let output = match forwarded {
        Some(output) => normalized::<T>(ctx, None, output, false)?,
        None => {
            let output = ctx.allocate_output(Softmax::SOFTMAX, logits)?;
            normalized::<T>(ctx, Some(ctx.input(Softmax::LOGITS)?), output, false)?
        }
    };
    ctx.set_output(Softmax::SOFTMAX, output)
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64])]
fn log_softmax<T: Computed<Wide: Normalize>>(ctx: &mut KernelContext<'_, LogSoftmax>) -> Result<()> {
    let logits = ctx.input(LogSoftmax::LOGITS)?.shape().clone();
    ensure_classes(&logits)?;
    let forwarded = ctx.forward_input(LogSoftmax::LOGITS, LogSoftmax::LOGSOFTMAX, &logits);
    let output = match forwarded {
        Some(output) => normalized::<T>(ctx, None, output, true)?,
        None => {
            let output = ctx.allocate_output(LogSoftmax::LOGSOFTMAX, logits)?;
            normalized::<T>(ctx, Some(ctx.input(LogSoftmax::LOGITS)?), output, true)?
        }
    };
    ctx.set_output(LogSoftmax::LOGSOFTMAX, output)
}

/// Writes the softmax (or its logarithm) of each row of `logits`, or of the output itself, into the output.
fn normalized<T: Computed<Wide: Normalize>>(
    ctx: &RawContext<'_>,
    logits: Option<&Tensor>,
    mut output: Tensor,
    log: bool,
) -> Result<Tensor> {
    /// Nanoseconds an element takes, or so.
    const COST: usize = 1;
    let classes = output.shape().last().copied().unwrap_or(1);
    let logits = logits.map(|logits| logits.as_slice::<T>()).transpose()?;
    if output.num_elements() > 0 {
        let together = together(classes);
        ctx.try_parallel_chunks(output.as_mut_slice::<T>()?, classes, COST, |first, piece| {
            for (index, rows) in piece.chunks_mut(together).enumerate() {
                let normalize = |rows: &mut [T::Wide]| T::Wide::normalize(rows, classes, log);
                match logits {
                    Some(logits) => {
                        T::on_wide_from(&logits[first + index * together..][..rows.len()], rows, normalize)?
                    }
                    None => T::on_wide(rows, normalize)?,
                }
            }
            Ok(())
        })?;
    }
    Ok(output)
}

/// Elements of rows that are normalized at a time: several rows if they are short, as many as stay in the nearest cache.
pub(super) fn together(classes: usize) -> usize {
    (2048 / classes).max(1) * classes
}

/// How a dtype's rows are normalized.
pub(super) trait Normalize: Pod {
    /// Replaces the logits of rows of so many `classes` by their softmax or its logarithm.
    fn normalize(rows: &mut [Self], classes: usize, log: bool);
}

impl Normalize for f32 {
    fn normalize(rows: &mut [f32], classes: usize, log: bool) {
        if classes > NARROW {
            for row in rows.chunks_exact_mut(classes) {
                normalize_f32(row, log);
            }
            return;
        }
        let (blocks, rest) = rows.split_at_mut(rows.len() / (LANES * classes) * LANES * classes);
        normalize_side_by_side(blocks, classes, log);
        if !rest.is_empty() {
            // In the same way, so that no row's result depends on how many there are.
            let mut block = [0.0; LANES * NARROW];
            block[..rest.len()].copy_from_slice(rest);
            normalize_side_by_side(&mut block[..LANES * classes], classes, log);
            rest.copy_from_slice(&block[..rest.len()]);
        }
    }
}

impl Normalize for f64 {
    fn normalize(rows: &mut [f64], classes: usize, log: bool) {
        for row in rows.chunks_exact_mut(classes) {
            normalize_f64(row, log);
        }
    }
}

fn normalize_f64(row: &mut [f64], log: bool) {
    let largest = row.iter().fold(f64::NEG_INFINITY, |largest, &logit| largest.max(logit));
    if log {
        row.iter_mut().for_each(|logit| *logit -= largest);
        let total: f64 = row.iter().map(|shifted| shifted.exp()).sum();
        let log = total.ln();
        row.iter_mut().for_each(|shifted| *shifted -= log);
    } else {
        shifted_powers(row, largest);
        let scale = 1.0 / row.iter().sum::<f64>();
        for element in row {
            *element *= scale;
        }
    }
}

widest! {
    avx512:
    /// Replaces logits by the powers of e that are as far below the largest.
    fn shifted_powers(row: &mut [f64], largest: f64) {
        for logit in row {
            *logit = fast::exp(*logit - largest);
        }
    }
}

/// Sums kept side by side, so that they fill vectors.
const LANES: usize = 16;

/// As many classes as are worth to be normalized with several rows side by side.
const NARROW: usize = 2 * LANES;

/// What an operation makes of all lanes, by halves: one after the other, each would wait for the one before.
#[inline(always)]
fn folded(mut lanes: [f32; LANES], operation: impl Fn(f32, f32) -> f32) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = operation(lanes[lane], lanes[lane + width]);
        }
        width /= 2;
    }
    lanes[0]
}

widest! {
    avx512:
    /// Replaces logits by their softmax or its logarithm.
    fn normalize_f32(row: &mut [f32], log: bool) {
        // Chunks of a length that the compiler knows.
        let (chunks, rest) = row.as_chunks::<LANES>();
        let mut lanes = [f32::NEG_INFINITY; LANES];
        for chunk in chunks {
            for (lane, &logit) in lanes.iter_mut().zip(chunk) {
                *lane = if logit > *lane { logit } else { *lane };
            }
        }
        // What is left, filled up with what changes neither the largest nor the sum.
        let mut last = [f32::NEG_INFINITY; LANES];
        last[..rest.len()].copy_from_slice(rest);
        for (lane, logit) in lanes.iter_mut().zip(last) {
            *lane = if logit > *lane { logit } else { *lane };
        }
        let largest = folded(lanes, |a, b| if a > b { a } else { b });
        let mut sums = [0.0f32; LANES];
        let (chunks, rest) = row.as_chunks_mut::<LANES>();
        for chunk in chunks {
            for (element, sum) in chunk.iter_mut().zip(&mut sums) {
                let shifted = *element - largest;
                let power = exp(shifted);
                *element = if log { shifted } else { power };
                *sum += power;
            }
        }
        if !rest.is_empty() {
            for (element, sum) in last.iter_mut().zip(&mut sums) {
                let shifted = *element - largest;
                let power = exp(shifted);
                *element = if log { shifted } else { power };
                *sum += power;
            }
            rest.copy_from_slice(&last[..rest.len()]);
        }
        let total = folded(sums, |a, b| a + b);
        if log {
            let log = total.ln();
            for element in row {
                *element -= log;
            }
        } else {
            let scale = 1.0 / total;
            for element in row {
                *element *= scale;
            }
        }
    }
}

widest! {
    avx512:
    /// [`normalize_f32`] of [`LANES`] rows at a time, each in a lane. There are at most [`NARROW`] classes.
    fn normalize_side_by_side(rows: &mut [f32], classes: usize, log: bool) {
        let mut lanes = [[0.0f32; LANES]; NARROW];
        let lanes = &mut lanes[..classes];
        for block in rows.chunks_exact_mut(LANES * classes) {
            let mut largest = [f32::NEG_INFINITY; LANES];
            for (class, logits) in lanes.iter_mut().enumerate() {
                let from = &block[class..][..(LANES - 1) * classes + 1];
                for lane in 0..LANES {
                    let logit = from[lane * classes];
                    logits[lane] = logit;
                    largest[lane] = if logit > largest[lane] { logit } else { largest[lane] };
                }
            }
            let mut sums = [0.0f32; LANES];
            for logits in lanes.iter_mut() {
                for lane in 0..LANES {
                    let shifted = logits[lane] - largest[lane];
                    let power = exp(shifted);
                    logits[lane] = if log { shifted } else { power };
                    sums[lane] += power;
                }
            }
            let mut last = [0.0f32; LANES];
            for lane in 0..LANES {
                last[lane] = if log { fast::ln(sums[lane]) } else { 1.0 / sums[lane] };
            }
            for (class, results) in lanes.iter_mut().enumerate() {
                for lane in 0..LANES {
                    results[lane] = if log { results[lane] - last[lane] } else { results[lane] * last[lane] };
                }
                let to = &mut block[class..][..(LANES - 1) * classes + 1];
                for lane in 0..LANES {
                    to[lane * classes] = results[lane];
                }
            }
        }
    }
}

/// eˣ for x ≤ 0, within 2 units in the last place, in steps that the compiler can turn into vectors. NaN stays NaN.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Cody and Waite: x = n ln 2 + r with |r| <= ln 2 / 2, and a polynomial for e to the r.
    const LOG2_E: f32 = std::f32::consts::LOG2_E;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    const TO_INTEGER: f32 = 12_582_912.0;
    let clamped = if x < -87.3 { -87.3 } else { x };
    let shifted = clamped * LOG2_E + TO_INTEGER;
    let n = shifted - TO_INTEGER;
    let r = (clamped - n * LN_2_HIGH) - n * LN_2_LOW;
    let mut power = 1.987_569_2e-4f32;
    power = power * r + 1.398_199_9e-3;
    power = power * r + 8.333_452e-3;
    power = power * r + 4.166_579_6e-2;
    power = power * r + 1.666_666_6e-1;
    power = power * r + 0.5;
    power = power * r * r + r + 1.0;
    let scale = f32::from_bits(((shifted.to_bits() as i32).wrapping_shl(23)).wrapping_add(0x3f80_0000) as u32);
    // Below, the result is no normal number: nothing next to the row's largest term, which is 1.
    if x < -87.3 { 0.0 } else { power * scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_accurate() {
        for i in 0..87_000 {
            let x = -(i as f32) / 1000.0;
            let (expected, actual) = (f64::from(x).exp(), f64::from(exp(x)));
            assert!((actual - expected).abs() <= 2.5e-7 * expected, "{x}: {actual} {expected}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert!(exp(f32::NAN).is_nan());
    }
}

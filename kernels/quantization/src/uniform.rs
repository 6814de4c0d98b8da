//! UniformQuantize, UniformDequantize, UniformRequantize, UniformQuantizedAdd and UniformQuantizedClipByValue.

use kernlink::dtype::{Element, QInt8, QInt32};
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, bail, ensure};
use kernlink_geometry::broadcast::Broadcast;
use kernlink_kernels_common::truncate::Truncate as _;
use kernlink_macros::register_kernel;
use kernlink_ops::{
    UniformDequantize, UniformQuantize, UniformQuantizedAdd, UniformQuantizedClipByValue, UniformRequantize,
};

use crate::number::Quantized;
use crate::slices::Slices;

/// The scales and zero points of a tensor: one of each, or one for each slice along an axis.
pub(crate) struct Scales {
    pub(crate) scales: Vec<f32>,
    pub(crate) zeros: Vec<i32>,
    pub(crate) axis: Option<usize>,
}

impl Scales {
    /// Inputs `index` and `index + 1`, for a tensor of `shape`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if their shapes do not fit the axis.
    pub(crate) fn new(ctx: &RawContext<'_>, index: usize, shape: &Shape, axis: i64) -> Result<Scales> {
        let (scales, zeros) = (ctx.input_at(index)?, ctx.input_at(index + 1)?);
        ensure!(
            scales.shape() == zeros.shape(),
            InvalidArgument,
            "scales and zero_points shape must be same, but given scales shape {} and zero_points shape {}",
            scales.shape(),
            zeros.shape()
        );
        let axis = crate::slices::axis_of(axis, shape)?;
        match axis {
            None => ensure!(
                scales.rank() == 0,
                InvalidArgument,
                "If quantization_axis is -1, scales and zero_points must be scalar tensors, but given shape {}",
                scales.shape()
            ),
            Some(axis) => ensure!(
                scales.rank() == 1 && scales.num_elements() == shape[axis],
                InvalidArgument,
                "scales and zero_points must be vectors of {} elements, which {shape} has along axis {axis}, not of shape {}",
                shape[axis],
                scales.shape()
            ),
        }
        Ok(Scales { scales: scratch::copied(scales.as_slice()?)?, zeros: scratch::copied(zeros.as_slice()?)?, axis })
    }

    /// Fails unless all scales are above zero.
    pub(crate) fn ensure_positive(&self, name: &str) -> Result<()> {
        let all = self.scales.iter().all(|&scale| scale > 0.0);
        ensure!(all, InvalidArgument, "{name} scales elements must be all positive.");
        Ok(())
    }

    pub(crate) fn scale(&self, slice: usize) -> f32 {
        self.scales[if self.axis.is_some() { slice } else { 0 }]
    }

    pub(crate) fn zero(&self, slice: usize) -> i32 {
        self.zeros[if self.axis.is_some() { slice } else { 0 }]
    }

    /// How many slices have scales of their own.
    pub(crate) fn count(&self) -> usize {
        self.scales.len()
    }
}

/// Least and greatest numbers, which attrs say.
pub(crate) fn bounds(least: i64, greatest: i64) -> Result<[i32; 2]> {
    match (i32::try_from(least), i32::try_from(greatest)) {
        (Ok(least), Ok(greatest)) => Ok([least, greatest]),
        _ => bail!(InvalidArgument, "the least and the greatest number must be of 32 bits, not {least} and {greatest}"),
    }
}

/// A factor as a whole number and a shift.
#[derive(Clone, Copy)]
pub(crate) struct Factor {
    multiplier: i64,
    shift: u32,
}

impl Factor {
    /// # Errors
    /// INVALID_ARGUMENT unless the factor is a positive number.
    pub(crate) fn new(factor: f64) -> Result<Factor> {
        ensure!(
            factor.is_finite() && factor > 0.0,
            InvalidArgument,
            "the quotient of scales must be a positive finite number, not {factor}"
        );
        let (part, mut exponent) = parts(factor);
        let mut multiplier = (part * 2_147_483_648.0).round() as i64;
        if multiplier == 1 << 31 {
            multiplier /= 2;
            exponent += 1;
        }
        if exponent < -31 {
            (multiplier, exponent) = (0, 0);
        }
        if exponent > 30 {
            (multiplier, exponent) = ((1 << 31) - 1, 30);
        }
        Ok(Factor { multiplier, shift: (31 - exponent) as u32 })
    }

    /// The product, rounded, halves up.
    #[inline(always)]
    pub(crate) fn times(self, number: i32) -> i32 {
        let product = i64::from(number) * self.multiplier + (1i64 << (self.shift - 1));
        (product >> self.shift).clamp(i32::MIN.into(), i32::MAX.into()) as i32
    }
}

/// A positive number as one from a half to one times a power of two.
fn parts(number: f64) -> (f64, i32) {
    let bits = number.to_bits();
    let exponent = (bits >> 52) as i32;
    if exponent == 0 {
        // Denormal.
        let (part, exponent) = parts(number * 2f64.powi(64));
        return (part, exponent - 64);
    }
    (f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52), exponent - 1022)
}

/// `(number - from) * factor + to`, cut.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) from: i32,
    pub(crate) factor: Factor,
    pub(crate) to: i32,
    pub(crate) bounds: [i32; 2],
}

impl Way {
    #[inline(always)]
    pub(crate) fn number(&self, number: i32) -> i32 {
        let moved = self.factor.times(number.wrapping_sub(self.from)).wrapping_add(self.to);
        moved.min(self.bounds[1]).max(self.bounds[0])
    }
}

#[register_kernel(device = Cpu, Tin = [f32], Tout = [qint8, quint8, qint32])]
fn quantize<Tout: Element + Quantized>(
    attrs: &Attrs<UniformQuantize>,
    ctx: &mut KernelContext<'_, UniformQuantize>,
) -> Result<()> {
    let [least, greatest] = bounds(attrs.quantization_min_val, attrs.quantization_max_val)?;
    let input = ctx.input_at(0)?.clone();
    let scales = Scales::new(ctx, 1, input.shape(), attrs.quantization_axis)?;
    let ways = scratch::collected(scales.scales.iter().zip(&scales.zeros).map(|(&scale, &zero)| (1.0 / scale, zero)))?;
    let mut output = ctx.allocate_output_at(0, input.shape())?;
    let slices = Slices::new(input.shape(), scales.axis);
    slices.map(ctx, &ways, input.as_slice::<f32>()?, output.as_mut_slice::<Tout>()?, |way: &(f32, i32), x: f32| {
        let number = (x * way.0 + 0.5).floor().to_i32().wrapping_add(way.1);
        Tout::from_low_bits(number.min(greatest).max(least))
    });
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, Tin = [qint8, quint8, qint32], Tout = [f32])]
fn dequantize<Tin: Element + Quantized>(
    attrs: &Attrs<UniformDequantize>,
    ctx: &mut KernelContext<'_, UniformDequantize>,
) -> Result<()> {
    let input = ctx.input_at(0)?.clone();
    let scales = Scales::new(ctx, 1, input.shape(), attrs.quantization_axis)?;
    scales.ensure_positive("rhs")?;
    let ways = scratch::collected(scales.scales.iter().copied().zip(scales.zeros.iter().copied()))?;
    let mut output = ctx.allocate_output_at(0, input.shape())?;
    let slices = Slices::new(input.shape(), scales.axis);
    slices.map(ctx, &ways, input.as_slice::<Tin>()?, output.as_mut_slice::<f32>()?, |way: &(f32, i32), x: Tin| {
        (x.get() as f32 - way.1 as f32) * way.0
    });
    ctx.set_output_at(0, output)
}

/// The ways from some scales to others, whose zero points are `zeros`, and the slices that they belong to.
fn ways(from: &Scales, to: &Scales, zero: impl Fn(usize) -> i32, bounds: [i32; 2]) -> Result<Vec<Way>> {
    let count = if from.axis.is_some() || to.axis.is_some() { from.count().max(to.count()) } else { 1 };
    let count = if from.count() == 0 || to.count() == 0 { 0 } else { count };
    scratch::collected_ok((0..count).map(|slice| {
        let factor = Factor::new(f64::from(from.scale(slice)) / f64::from(to.scale(slice)))?;
        Ok(Way { from: from.zero(slice), factor, to: zero(slice), bounds })
    }))
}

#[register_kernel(device = Cpu, Tin = [qint8, qint32], Tout = [QInt8])]
fn requantize<Tin: Element + Quantized>(
    attrs: &Attrs<UniformRequantize>,
    ctx: &mut KernelContext<'_, UniformRequantize>,
) -> Result<()> {
    let (of_input, of_output) = (attrs.input_quantization_axis, attrs.output_quantization_axis);
    ensure!(
        of_input < 0 || of_output < 0 || of_input == of_output,
        InvalidArgument,
        "If input and output is both per-axis quantized, the quantization axis must be same, not {of_input} and {of_output}"
    );
    let bounds = bounds(attrs.output_quantization_min_val, attrs.output_quantization_max_val)?;
    let input = ctx.input_at(0)?.clone();
    let from = Scales::new(ctx, 1, input.shape(), of_input)?;
    let to = Scales::new(ctx, 3, input.shape(), of_output)?;
    from.ensure_positive("input")?;
    to.ensure_positive("output")?;
    let ways = ways(&from, &to, |slice| to.zero(slice), bounds)?;
    let mut output = ctx.allocate_output_at(0, input.shape())?;
    let slices = Slices::new(input.shape(), from.axis.or(to.axis));
    slices.map(ctx, &ways, input.as_slice::<Tin>()?, output.as_mut_slice::<QInt8>()?, |way: &Way, x: Tin| {
        QInt8::from_low_bits(way.number(x.get()))
    });
    ctx.set_output_at(0, output)
}

#[register_kernel(device = Cpu, T = [QInt32])]
fn clip(
    attrs: &Attrs<UniformQuantizedClipByValue>,
    ctx: &mut KernelContext<'_, UniformQuantizedClipByValue>,
) -> Result<()> {
    let operand = ctx.input_at(0)?.clone();
    let scales = Scales::new(ctx, 3, operand.shape(), attrs.quantization_axis)?;
    let ends = [ctx.input_at(1)?.clone(), ctx.input_at(2)?.clone()];
    for (end, name) in ends.iter().zip(["min", "max"]) {
        let shape = ctx.input_at(3)?.shape();
        ensure!(
            end.shape() == shape,
            InvalidArgument,
            "Input {name} shape must be same as scales/zero_points. Given {} and {shape}",
            end.shape()
        );
    }
    let pairs = ends[0].as_slice::<QInt32>()?.iter().zip(ends[1].as_slice::<QInt32>()?);
    let cuts = scratch::collected(pairs.map(|(&least, &greatest)| (least, greatest)))?;
    let mut output = ctx.allocate_output_at(0, operand.shape())?;
    let slices = Slices::new(operand.shape(), scales.axis);
    slices.map(
        ctx,
        &cuts,
        operand.as_slice::<QInt32>()?,
        output.as_mut_slice()?,
        |cut: &(QInt32, QInt32), x: QInt32| x.max(cut.0).min(cut.1),
    );
    ctx.set_output_at(0, output)
}

/// The numbers of a summand in the scales of a sum, without its zero point.
fn summand(
    ctx: &RawContext<'_>,
    tensor: &Tensor,
    own: &Scales,
    sum: &Scales,
    sum_rank: usize,
    name: &str,
) -> Result<Tensor> {
    let axis = match sum.axis {
        None => own.axis,
        // The axis of the sum, as the summand counts it.
        Some(axis) => {
            match (axis + tensor.rank()).checked_sub(sum_rank).filter(|&axis| tensor.shape()[axis] == sum.count()) {
                Some(of_summand) => {
                    ensure!(
                        own.axis.is_none_or(|own| own == of_summand),
                        InvalidArgument,
                        "If {name} and output is both per-axis quantized, the quantization axis must match."
                    );
                    Some(of_summand)
                }
                None => bail!(
                    InvalidArgument,
                    "{name} may not be broadcast along the axis along which the output is quantized"
                ),
            }
        }
    };
    let ways = ways(own, sum, |_| 0, [i32::MIN, i32::MAX])?;
    let mut scaled = ctx.allocate_temp(tensor.dtype(), tensor.shape())?;
    let slices = Slices::new(tensor.shape(), axis);
    slices.map(ctx, &ways, tensor.as_slice::<QInt32>()?, scaled.as_mut_slice::<QInt32>()?, |way: &Way, x: QInt32| {
        QInt32(way.number(x.0))
    });
    Ok(scaled)
}

#[register_kernel(device = Cpu, T = [QInt32])]
fn add(attrs: &Attrs<UniformQuantizedAdd>, ctx: &mut KernelContext<'_, UniformQuantizedAdd>) -> Result<()> {
    let [least, greatest] = bounds(attrs.output_quantization_min_val, attrs.output_quantization_max_val)?;
    let (lhs, rhs) = (ctx.input_at(0)?.clone(), ctx.input_at(1)?.clone());
    let of_lhs = Scales::new(ctx, 2, lhs.shape(), attrs.lhs_quantization_axis)?;
    let of_rhs = Scales::new(ctx, 4, rhs.shape(), attrs.rhs_quantization_axis)?;
    let broadcast = Broadcast::new([lhs.shape(), rhs.shape()], usize::MAX)?;
    let shape = broadcast.shape.clone();
    let of_sum = Scales::new(ctx, 6, &shape, attrs.output_quantization_axis)?;
    for scales in [&of_lhs, &of_rhs, &of_sum] {
        scales.ensure_positive("lhs/rhs/output")?;
    }
    let a = summand(ctx, &lhs, &of_lhs, &of_sum, shape.rank(), "lhs")?;
    let b = summand(ctx, &rhs, &of_rhs, &of_sum, shape.rank(), "rhs")?;
    let (xs, ys) = (a.as_slice::<QInt32>()?, b.as_slice::<QInt32>()?);
    let mut sums = ctx.allocate_temp(lhs.dtype(), shape.clone())?;
    let dims = &broadcast.dims;
    let last = dims[dims.len() - 1];
    ctx.parallel_chunks(sums.as_mut_slice::<QInt32>()?, last.size.max(1), 1, |first, target| {
        for (row, target) in target.chunks_mut(last.size.max(1)).enumerate() {
            let mut rest = first / last.size.max(1) + row;
            let mut starts = [0; 2];
            for dim in dims[..dims.len() - 1].iter().rev() {
                let place = rest % dim.size;
                rest /= dim.size;
                starts = [starts[0] + place * dim.steps[0], starts[1] + place * dim.steps[1]];
            }
            for (index, target) in target.iter_mut().enumerate() {
                let [x, y] = [xs[starts[0] + index * last.steps[0]], ys[starts[1] + index * last.steps[1]]];
                *target = QInt32(x.0.wrapping_add(y.0));
            }
        }
    });
    let mut output = ctx.allocate_output_at(0, shape.clone())?;
    let slices = Slices::new(&shape, of_sum.axis);
    slices.map(ctx, &of_sum.zeros, sums.as_slice::<QInt32>()?, output.as_mut_slice()?, |&zero: &i32, x: QInt32| {
        QInt32(x.0.wrapping_add(zero).min(greatest).max(least))
    });
    ctx.set_output_at(0, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_parts_of_powers_of_two() {
        for factor in [0.5, 1.0, 3.7, 1e-3, 1e9, 0.999_999_999_99] {
            for number in [0, 1, -1, 77, -1000] {
                let product = (f64::from(number) * factor + 0.5).floor().clamp(i32::MIN.into(), i32::MAX.into());
                let found = f64::from(Factor::new(factor).unwrap().times(number));
                assert!((found - product).abs() <= 1.0 + product.abs() * 1e-9, "{number} * {factor}: {found}");
            }
        }
        assert_eq!(Factor::new(1e-300).unwrap().times(i32::MAX), 0);
        assert_eq!(Factor::new(f64::MIN_POSITIVE / 4.0).unwrap().times(5), 0);
        assert!(Factor::new(0.0).is_err() && Factor::new(f64::NAN).is_err() && Factor::new(-1.0).is_err());
    }
}

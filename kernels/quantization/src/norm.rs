//! QuantizedInstanceNorm and QuantizedBatchNormWithGlobalNormalization.

use kernlink::dtype::{QInt32, QUInt8};
use kernlink::kernel::{Attrs, KernelContext, KernelState, RawConstruction};
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::{QuantizedBatchNormWithGlobalNormalization, QuantizedInstanceNorm};

use crate::number::{ToNumbers, max, min, number_of, value_of};
use crate::slices::{Slices, range, set_range};

/// A [`QuantizedInstanceNorm`].
struct InstanceNorm {
    given: Option<[f32; 2]>,
    epsilon: f32,
    least_length: f32,
}

impl KernelState for InstanceNorm {
    fn new(ctx: &RawConstruction<'_>) -> Result<InstanceNorm> {
        let given = if ctx.attrs.required("output_range_given")? {
            let ends: [f32; 2] = [ctx.attrs.required("given_y_min")?, ctx.attrs.required("given_y_max")?];
            ensure!(
                ends[0] < ends[1],
                InvalidArgument,
                "given_y_min must be less than given_y_max : {} >= {}",
                ends[0],
                ends[1]
            );
            Some(ends)
        } else {
            None
        };
        Ok(InstanceNorm {
            given,
            epsilon: ctx.attrs.required("variance_epsilon")?,
            least_length: ctx.attrs.required("min_separation")?,
        })
    }
}

#[register_kernel(device = Cpu, T = [QUInt8])]
fn instance_norm(node: &InstanceNorm, ctx: &mut KernelContext<'_, QuantizedInstanceNorm>) -> Result<()> {
    let [least, greatest] = range(ctx, 1, "x")?;
    ensure!(least < greatest, InvalidArgument, "x_min must be less than x_max : {least} >= {greatest}");
    let scale = (greatest - least) / 255.0;
    let x = ctx.input_at(0)?.clone();
    let &[images, rows, columns, channels] = &x.shape()[..] else {
        kernlink::bail!(InvalidArgument, "x must be 4-dimensional, not of shape {}", x.shape());
    };
    let numbers = x.as_slice::<QUInt8>()?;
    let pixels = rows * columns;
    // Of each channel of each image: its mean and what deviations are multiplied by.
    let mut ways: Vec<[f32; 2]> = scratch::zeros(images * channels)?;
    let (mut lowest, mut highest) = (f32::INFINITY, f32::NEG_INFINITY);
    let mut sums: Vec<[u64; 2]> = scratch::zeros(channels)?;
    for (image, ways) in numbers.chunks((pixels * channels).max(1)).zip(ways.chunks_mut(channels.max(1))) {
        sums.fill([0; 2]);
        let mut ends = scratch::filled([u8::MAX, 0], channels)?;
        for pixel in image.chunks(channels) {
            for ((sums, ends), number) in sums.iter_mut().zip(&mut ends).zip(pixel) {
                let value = u64::from(number.0);
                *sums = [sums[0] + value, sums[1] + value * value];
                *ends = [ends[0].min(number.0), ends[1].max(number.0)];
            }
        }
        for ((way, &[sum, squares]), ends) in ways.iter_mut().zip(&sums).zip(&ends) {
            let count = pixels as f64;
            let mean = sum as f64 / count;
            let variance = (squares as f64 / count - mean * mean).max(0.0) * f64::from(scale) * f64::from(scale);
            *way = [mean as f32, 1.0 / (variance as f32 + node.epsilon).sqrt()];
            let value = |number: u8| scale * (f32::from(number) - way[0]) * way[1];
            (lowest, highest) = (min(lowest, value(ends[0])), max(highest, value(ends[1])));
        }
    }
    let mut ends = node.given.unwrap_or([lowest, highest]);
    if ends[1] - ends[0] < node.least_length {
        ends[1] = ends[0] + node.least_length;
    }
    let to = ToNumbers::new::<QUInt8>(ends[0], ends[1]);
    let mut y = ctx.allocate_output_at(0, x.shape())?;
    let image = (pixels * channels).max(1);
    let target = y.as_mut_slice::<QUInt8>()?;
    for ((numbers, target), ways) in
        numbers.chunks(image).zip(target.chunks_mut(image)).zip(ways.chunks(channels.max(1)))
    {
        let slices = Slices { count: channels, inner: 1 };
        slices.map(ctx, ways, numbers, target, |way: &[f32; 2], x: QUInt8| {
            QUInt8(to.number(scale * (f32::from(x.0) - way[0]) * way[1]) as u8)
        });
    }
    ctx.set_output_at(0, y)?;
    set_range(ctx, 1, ends)
}

/// The ends of the range of the result of a [`QuantizedBatchNormWithGlobalNormalization`]: with the bits that are left, what lies
/// between is computed in whole numbers.
const ENDS: [f32; 2] = [-1_048_576.0, 1_048_576.0];

#[register_kernel(device = Cpu, Tinput = [QUInt8], out_type = [QInt32])]
fn batch_norm(
    attrs: &Attrs<QuantizedBatchNormWithGlobalNormalization>,
    ctx: &mut KernelContext<'_, QuantizedBatchNormWithGlobalNormalization>,
) -> Result<()> {
    let input = ctx.input_at(0)?.clone();
    ensure!(input.rank() == 4, InvalidArgument, "input must be 4-dimensional, not of shape {}", input.shape());
    let channels = input.shape()[3];
    let mut vectors = Vec::with_capacity(4);
    for (index, name) in [(3, "mean"), (6, "var"), (9, "beta"), (12, "gamma")] {
        let tensor = ctx.input_at(index)?.clone();
        ensure!(
            tensor.rank() == 1 && tensor.num_elements() == channels,
            InvalidArgument,
            "{name} must be a vector of {channels} elements, not of shape {}",
            tensor.shape()
        );
        vectors.push((tensor, range(ctx, index + 1, name)?));
    }
    let [from_least, from_greatest] = range(ctx, 1, "the input")?;
    let at = |vector: usize, channel: usize| -> Result<f32> {
        let (tensor, [least, greatest]) = &vectors[vector];
        Ok(value_of::<QUInt8>(tensor.as_slice::<QUInt8>()?[channel].0.into(), *least, *greatest))
    };
    let number = |value: f32| number_of::<QInt32>(value, ENDS[0], ENDS[1]);
    let one = number(1.0);
    let ways = scratch::collected_ok((0..channels).map(|channel| {
        let (mean, variance, beta, gamma) = (at(0, channel)?, at(1, channel)?, at(2, channel)?, at(3, channel)?);
        let inverse = 1.0 / (variance + attrs.variance_epsilon).sqrt();
        let scale = if attrs.scale_after_normalization { inverse * gamma } else { inverse };
        Ok([number(scale), number(-mean * scale + beta)])
    }))?;
    let mut table = [0; 256];
    for (index, entry) in table.iter_mut().enumerate() {
        *entry = number(value_of::<QUInt8>(index as i32, from_least, from_greatest));
    }
    let mut output = ctx.allocate_output_at(0, input.shape())?;
    let slices = Slices::new(input.shape(), Some(3));
    slices.map(ctx, &ways, input.as_slice::<QUInt8>()?, output.as_mut_slice::<QInt32>()?, |way: &[i32; 2], x| {
        QInt32((table[usize::from(x.0)].wrapping_mul(way[0]) / one).wrapping_add(way[1]))
    });
    ctx.set_output_at(0, output)?;
    set_range(ctx, 1, ENDS)
}

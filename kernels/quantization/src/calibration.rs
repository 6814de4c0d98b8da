//! CustomAggregator.

use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::Tensor;
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::extremes::{max_or_first, min_or_first};
use kernlink_kernels_common::truncate::Truncate as _;
use kernlink_macros::register_kernel;
use kernlink_ops::CustomAggregator;

struct AggregatorKernel {
    bins: usize,
}

#[register_kernel(device = Cpu)]
impl OpKernel<CustomAggregator> for AggregatorKernel {
    fn new(ctx: &KernelConstruction<'_, CustomAggregator>) -> Result<Self> {
        ensure!(ctx.attrs().calibration_method != 0, Aborted, "The calibration method must be specified.");
        match i32::try_from(ctx.attrs().num_bins) {
            Ok(bins @ 0..) => Ok(Self { bins: bins as usize }),
            _ => bail!(InvalidArgument, "num_bins must be an int32 from 0 on, not {}", ctx.attrs().num_bins),
        }
    }

    fn compute(&self, ctx: &mut KernelContext<'_, CustomAggregator>) -> Result<()> {
        let input = ctx.input(CustomAggregator::INPUT)?.clone();
        let values = input.as_slice::<f32>()?;
        // A NaN is passed over.
        let least = values.iter().copied().fold(f32::INFINITY, min_or_first);
        let greatest = values.iter().copied().fold(f32::NEG_INFINITY, max_or_first);
        let mut histogram = ctx.allocate_output(CustomAggregator::HISTOGRAM, [self.bins])?;
        let counts = histogram.as_mut_slice::<i64>()?;
        counts.fill(0);
        if let Some(last) = self.bins.checked_sub(1) {
            let width = ((greatest - least) / self.bins as f32).log2().ceil().exp2();
            let start = (least / width).floor() * width;
            for &value in values {
                let place = ((value - start) / width).floor().to_i32();
                counts[usize::try_from(place).unwrap_or(0).min(last)] += 1;
            }
        }
        ctx.set_output(CustomAggregator::OUTPUT, input.clone())?;
        ctx.set_output(CustomAggregator::MIN, Tensor::from(least))?;
        ctx.set_output(CustomAggregator::MAX, Tensor::from(greatest))?;
        ctx.set_output(CustomAggregator::HISTOGRAM, histogram)
    }
}
